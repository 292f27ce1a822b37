"""The exact divergence between the outputs of neighbours, against what the ledger claims: never more, hardly less."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest

from safetab.accounting.events import CountEvent, LevelPlan, Stage
from tests.oracle.divergence import (
    LARGEST_ALPHA,
    Noise,
    TotalOnlyGroup,
    TwoStageGroup,
    count_outcomes,
    epsilon,
    multiplied_out,
    passed_the_gate,
    published,
    renyi,
)
from tests.statistical.exact_world import claimed, groups_of, write_world

KINDS = {
    "one total": ("total only",),
    "one of two stages": ("two stage",),
    "one of each": ("total only", "two stage"),
    "two of two stages": ("two stage", "two stage"),
    "three": ("two stage", "total only", "two stage"),
}
ALPHAS = ("1.25", "2", "4", "16", str(LARGEST_ALPHA))
BUDGET = {"zcdp": "0.4", "puredp": "1.5"}
#: mpmath's own rounding.
SLACK = mpmath.mpf(10) ** -30


@dataclasses.dataclass(frozen=True)
class Spent:
    """What the outputs differ by, as the tables show it and as it passed the gate, and what the ledger says."""

    published: dict[str, mpmath.mpf]
    at_the_gate: dict[str, mpmath.mpf]
    claimed: Fraction


def audit(folder: Path, name: str, privacy: str, gamma: str = "0.1") -> Spent:
    write_world(folder, KINDS[name], privacy, budget=BUDGET[privacy], gamma=gamma)
    groups = groups_of(folder, KINDS[name])
    shown = [published(group) for group in groups]
    inside = [part for group in groups for part in passed_the_gate(group)]
    if privacy == "puredp":
        return Spent(
            {"epsilon": sum(map(epsilon, shown), mpmath.mpf(0))},
            {"epsilon": sum(map(epsilon, inside), mpmath.mpf(0))},
            claimed(folder),
        )
    # Divided by alpha, so that every order is compared with rho.
    orders = {alpha: mpmath.mpf(alpha) for alpha in ALPHAS}
    return Spent(
        {alpha: sum(renyi(part, order) for part in shown) / order for alpha, order in orders.items()},
        {alpha: sum(renyi(part, order) for part in inside) / order for alpha, order in orders.items()},
        claimed(folder),
    )


def exceeds(spent: Spent) -> bool:
    most = mpmath.mpf(spent.claimed.numerator) / spent.claimed.denominator + SLACK
    return bool(max(*spent.published.values(), *spent.at_the_gate.values()) > most)


@pytest.mark.parametrize("privacy", BUDGET)
@pytest.mark.parametrize("name", KINDS)
def test_what_is_spent_is_what_is_claimed(name: str, privacy: str, tmp_path: Path) -> None:
    spent = audit(tmp_path, name, privacy)
    claim = float(spent.claimed)
    assert spent.claimed == Fraction(BUDGET[privacy])
    assert not exceeds(spent)
    assert max(spent.at_the_gate.values()) > 0.999 * claim, "the noise is larger than the claim needs"
    # A stat level tells a little less than the count it comes from.
    assert max(spent.published.values()) > 0.97 * claim


def scaled(factor: Fraction) -> object:
    original = LevelPlan.event

    def event(self: LevelPlan, stage: Stage) -> CountEvent:
        found = original(self, stage)
        return dataclasses.replace(found, budget=found.budget * factor)

    return event


@pytest.mark.parametrize("privacy", BUDGET)
def test_a_scale_that_is_too_small_is_told(privacy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LevelPlan, "event", scaled(Fraction(101, 100)))
    assert exceeds(audit(tmp_path, "one of each", privacy))


@pytest.mark.parametrize("noise", [Noise(Fraction(3), 1), Noise(Fraction(2), 2)], ids=["geometric", "gaussian"])
def test_divergences_of_independent_groups_add(noise: Noise) -> None:
    one = published(TotalOnlyGroup(noise, 3, 4))
    other = published(TwoStageGroup(noise, 3, 4, (2, 4, 6), noise, ((3, 4),) * 4))
    both = multiplied_out(one, other)
    assert abs(mpmath.fsum(p for p, _ in both) - 1) < SLACK
    assert abs(epsilon(both) - epsilon(one) - epsilon(other)) < SLACK
    assert abs(renyi(both, 3) - renyi(one, 3) - renyi(other, 3)) < SLACK


def test_the_oracle_by_closed_forms() -> None:
    """Whole orders of the Gaussian spend rho to the last digit; the geometric one is randomized response."""
    rho = Fraction(1, 10)
    outcomes = count_outcomes(Noise(rho, 2), 0, 1)
    assert all(abs(renyi(outcomes, alpha) - alpha * mpmath.mpf("0.1")) < SLACK for alpha in (2, 3, 8, 64))
    assert renyi(outcomes, mpmath.mpf("2.5")) <= mpmath.mpf("0.25")
    e, alpha = mpmath.mpf(1) / 2, 3
    exact = mpmath.log((mpmath.exp(alpha * e) + mpmath.exp(-(alpha - 1) * e)) / (mpmath.exp(e) + 1)) / (alpha - 1)
    assert abs(renyi(count_outcomes(Noise(Fraction(1, 2), 1), 7, 8), alpha) - exact) < SLACK
