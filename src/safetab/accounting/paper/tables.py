"""Every numeric table of the paper, including those its source comments out, with three figures for each number.

In: nothing. Out: for each printed number, the text as printed, what the paper's own formula gives, and the exact value.
The promise: the printed text is the paper's; the formula column follows the arithmetic that leads to the print, which
`notes` spells out; the exact column is the certified computation. Figures here are rounded to the nearest, as
in the paper; what a release guarantees is printed by `safetab account`, rounded up.
Tables `tab:tpdp-moe-targets`, `tab:moe-targets` (twice), `tab:tpdp-privacy-loss-results`,
`tab:privacy-loss-results` and `tab:alternate-moes`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import log, sqrt

from safetab.accounting.accuracy.calibration import level_budget
from safetab.accounting.accuracy.margins import moe_95_of_sum
from safetab.accounting.events import LevelEvents, Stage
from safetab.accounting.paper.formulas import paper_budget, paper_moe, printed_renyi_epsilon
from safetab.accounting.privacy_loss import PrivacyLoss, loss_of
from safetab.accounting.renyi import epsilon_on_grid, renyi_curve
from safetab.noise.laws import Mechanism

STABILITY = 9
STAGE_1_FRACTION = Fraction(1, 10)
DELTA = Fraction(1, 10**10)
#: What the printed digits follow: "1.92" is 1.96^2 / 2, and the logarithm of 20 was cut to 2.99.
_GAUSSIAN_CONSTANT = 1.96**2 / 2
_CUT_LOGARITHM = 2.99

_LEVELS = (
    ("(Nation, Detailed)", 6),
    ("(State, Detailed)", 6),
    ("(County, Detailed)", 11),
    ("(AIANNH, Detailed)", 11),
    ("(Nation, Regional)", 50),
    ("(State, Regional)", 50),
    ("(County, Regional)", 50),
)
#: Geometric step 2 and total, discrete Gaussian step 2 and total.
_BUDGETS = {
    6: ("3.84", "4.27", "0.481", "0.534"),
    11: ("2.24", "2.49", "0.143", "0.159"),
    50: ("0.531", "0.59", "0.007", "0.008"),
}
_STAGES = (
    (
        "1, 2",
        6,
        (("Total Only", Stage.TOTAL_ONLY, "5"), ("Stage 1", Stage.STAGE_1, "50"), ("Stage 2", Stage.STAGE_2, "6")),
    ),
    ("3, 4", 11, (("Stage 1", Stage.STAGE_1, "100"), ("Stage 2", Stage.STAGE_2, "11"))),
    ("5, 6, 7", 50, (("Stage 1", Stage.STAGE_1, "500"), ("Stage 2", Stage.STAGE_2, "50"))),
)
#: Pure DP, RDP, zCDP analytical, zCDP experimental, by the MOE of (Nation, Detailed) and (State, Detailed).
_LOSSES = {
    5: ("16.7", "14.6", "15.0", "14.3"),
    6: ("15.3", "13.2", "12.8", "12.2"),
    7: ("14.2", "12.1", "11.3", "10.7"),
    8: ("13.4", "11.3", "10.2", "9.7"),
    9: ("12.7", "10.7", "9.5", "9.0"),
    10: ("12.2", "10.2", "8.9", "8.4"),
    11: ("11.7", "9.7", "8.4", "8.0"),
}


@dataclass(frozen=True, slots=True)
class PaperFigure:
    """One number: its row and column, and its three values as text; empty where there is none."""

    row: str
    column: str
    printed: str
    formula: str
    exact: str


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table of the paper, its labels in the source, and notes that explain it."""

    title: str
    labels: tuple[str, ...]
    figures: tuple[PaperFigure, ...]
    notes: tuple[str, ...]


def paper_levels(mechanism: Mechanism, moe: int = 6) -> tuple[LevelEvents, ...]:
    """The paper's seven levels with its formula budgets; `moe` is that of the first two."""
    targets = [moe, moe, *(target for _, target in _LEVELS[2:])]
    plans = []
    for (name, _), target in zip(_LEVELS, targets, strict=True):
        base = log(20) / (target + 1) if mechanism is Mechanism.GEOMETRIC else _GAUSSIAN_CONSTANT / target**2
        budget = Fraction(base) * STABILITY / (1 - STAGE_1_FRACTION)
        plans.append(LevelEvents(name, mechanism, budget, STABILITY, STAGE_1_FRACTION))
    return tuple(plans)


def paper_tables() -> tuple[PaperTable, ...]:
    """All tables of the paper."""
    return (_budget_table(), _stage_table(), _loss_table(), _alternate_table())


def _budget_table() -> PaperTable:
    return PaperTable(
        "MOE targets and the budgets they need, for step 2 and for the whole level",
        ("tab:tpdp-moe-targets", "tab:moe-targets"),
        tuple(figure for name, moe in _LEVELS for figure in _budget_figures(name, moe)),
        (
            "By formula: the total is ln 20 / (MOE + 1), or 1.96^2 / 2 / MOE^2, times 9 / 0.9, rounded as printed; "
            "step 2 is 90 % of the rounded total. The print needs ln 20 = 2.99: unrounded, MOE 6 would print as 4.28 "
            "and 3.85. It also needs 1.96^2 / 2 = 1.9208 where the text has 1.92, which would print as 0.533.",
            "Exact: the least budget whose noise certainly keeps within the target with 95 %. The printed epsilon is "
            "too small for its target, the printed rho larger than needed.",
        ),
    )


def _budget_figures(name: str, moe: int) -> Iterator[PaperFigure]:
    constants = {
        Mechanism.GEOMETRIC: _CUT_LOGARITHM / (moe + 1),
        Mechanism.DISCRETE_GAUSSIAN: _GAUSSIAN_CONSTANT / moe**2,
    }
    places = {Mechanism.GEOMETRIC: 2, Mechanism.DISCRETE_GAUSSIAN: 3}
    words = {Mechanism.GEOMETRIC: "geometric epsilon", Mechanism.DISCRETE_GAUSSIAN: "Gaussian rho"}
    printed = iter(_BUDGETS[moe])
    for mechanism, base in constants.items():
        total = round(base * 10, places[mechanism])
        exact = level_budget(mechanism, moe, STABILITY, STAGE_1_FRACTION)
        for step, formula, least in (("step 2", 0.9 * total, exact * (1 - STAGE_1_FRACTION)), ("total", total, exact)):
            text = next(printed)
            yield PaperFigure(
                f"{name}, MOE {moe}",
                f"{words[mechanism]}, {step}",
                text,
                _as_printed(formula, text),
                f"{float(least):.4g}",
            )


def _stage_table() -> PaperTable:
    figures = [
        PaperFigure(
            f"levels {levels}, {word}",
            "geometric MOE" if mechanism is Mechanism.GEOMETRIC else "Gaussian MOE",
            printed,
            str(paper_moe(mechanism, float(event.budget))),
            str(moe_95_of_sum(event.law, 1)),
        )
        for levels, moe, stages in _STAGES
        for word, stage, printed in stages
        for mechanism in Mechanism
        for event in [
            LevelEvents("", mechanism, Fraction(paper_budget(mechanism, moe)) * 10, STABILITY, STAGE_1_FRACTION).event(
                stage
            )
        ]
    ]
    return PaperTable(
        "MOE targets by stage (commented out in the source)",
        ("tab:moe-targets",),
        tuple(figures),
        (
            "The printed numbers are targets. By formula and exact: the margins that the budgets of the first table "
            "buy at each stage; only the stage 2 target set them.",
        ),
    )


def _loss_table() -> PaperTable:
    return PaperTable(
        "Privacy loss (epsilon, delta = 1e-10; pure DP: delta = 0)",
        ("tab:tpdp-privacy-loss-results", "tab:privacy-loss-results"),
        tuple(_loss_figures(6)),
        (
            "Exact: the same analysis at the paper's budgets without its slips: the divergence as a sum over the "
            "integers, alpha free of the grid. The privacy loss distributions are not in the paper.",
            "The RDP lemma integrates where the noise is discrete, and 13.2 does not follow from it either. Neither "
            "is a guarantee.",
        ),
    )


def _alternate_table() -> PaperTable:
    return PaperTable(
        "Privacy loss for other MOEs of (Nation, Detailed) and (State, Detailed) (commented out in the source)",
        ("tab:alternate-moes",),
        tuple(figure for moe in _LOSSES for figure in _loss_figures(moe)),
        ("MOE 9 prints 9.0 with 1.96^2 / 2 (8.952); with 1.92 it would print 8.9 (8.9495).",),
    )


def _loss_figures(moe: int) -> Iterator[PaperFigure]:
    geometric, gaussian = (paper_levels(mechanism, moe) for mechanism in Mechanism)
    pure, rdp, analytical, experimental = _LOSSES[moe]
    rho = sum(float(level.budget) for level in gaussian)
    exact_geometric, exact_gaussian = (loss_of("", levels, DELTA) for levels in (geometric, gaussian))
    formulas = (
        ("geometric, pure DP", pure, float(exact_geometric.budget), float(exact_geometric.budget)),
        (
            "geometric, RDP",
            rdp,
            printed_renyi_epsilon(geometric, DELTA),
            exact_geometric.renyi.value,
        ),
        (
            "Gaussian, zCDP analytical",
            analytical,
            rho + sqrt(4 * rho * log(1 / DELTA)),
            exact_gaussian.epsilon_zcdp_analytic,
        ),
        (
            "Gaussian, zCDP experimental",
            experimental,
            epsilon_on_grid(renyi_curve(gaussian), DELTA).value,
            exact_gaussian.renyi.value,
        ),
    )
    for column, printed, formula, exact in formulas:
        yield PaperFigure(f"MOE {moe}", column, printed, _as_printed(formula, printed), f"{exact:.2f}")
    for column, loss in (
        ("geometric, loss distribution", exact_geometric),
        ("Gaussian, loss distribution", exact_gaussian),
    ):
        yield PaperFigure(f"MOE {moe}", column, "", "", _loss_distribution(loss))


def _loss_distribution(loss: PrivacyLoss) -> str:
    return "" if loss.epsilon_loss_distribution is None else f"{loss.epsilon_loss_distribution:.2f}"


def _as_printed(value: float, printed: str) -> str:
    """Rounded like the print where that agrees with it, else with one more digit."""
    digits = len(printed.partition(".")[2])
    text = f"{value:.{digits}f}"
    return text if text == printed else f"{value:.{digits + 1}f}"
