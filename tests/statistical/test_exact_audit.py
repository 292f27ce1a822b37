"""The exact divergence between the outputs of neighbours, against what the ledger claims: never more, hardly less."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest

from safetab.accounting.events import CountEvent, LevelEvents, Stage
from tests import profile
from tests.oracle.divergence import (
    LARGEST_ALPHA,
    Noise,
    Outcome,
    TotalOnlyGroup,
    TwoStageGroup,
    count_outcomes,
    epsilon,
    multiplied_out,
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
    """What the tables differ by, stage 1 counts included, and what the ledger says."""

    published: dict[str, mpmath.mpf]
    claimed: Fraction


def audit(folder: Path, name: str, privacy: str, gamma: str = "0.1") -> Spent:
    write_world(folder, KINDS[name], privacy, budget=BUDGET[privacy], gamma=gamma)
    groups = groups_of(folder, KINDS[name])
    shown = [part for group in groups for part in published(group)]
    if privacy == "puredp":
        return Spent({"epsilon": sum(map(epsilon, shown), mpmath.mpf(0))}, claimed(folder))
    # Divided by alpha, so that every order is compared with rho.
    orders = {alpha: mpmath.mpf(alpha) for alpha in ALPHAS}
    return Spent(
        {alpha: sum(renyi(part, order) for part in shown) / order for alpha, order in orders.items()},
        claimed(folder),
    )


def exceeds(spent: Spent) -> bool:
    most = mpmath.mpf(spent.claimed.numerator) / spent.claimed.denominator + SLACK
    return bool(max(spent.published.values()) > most)


@profile.tries(f"worlds audited exactly, under pure epsilon or under zCDP at {len(ALPHAS)} orders; no chance involved")
@pytest.mark.parametrize("privacy", BUDGET)
@pytest.mark.parametrize("name", KINDS)
def test_what_is_spent_is_what_is_claimed(name: str, privacy: str, tmp_path: Path) -> None:
    spent = audit(tmp_path, name, privacy)
    claim = float(spent.claimed)
    assert spent.claimed == Fraction(BUDGET[privacy])
    assert not exceeds(spent)
    # The tables show everything that was measured, so they cost all of it.
    assert max(spent.published.values()) > 0.999 * claim, "the noise is larger than the claim needs"


def scaled(factor: Fraction) -> object:
    original = LevelEvents.event

    def event(self: LevelEvents, stage: Stage) -> CountEvent:
        found = original(self, stage)
        return dataclasses.replace(found, budget=found.budget * factor)

    return event


@pytest.mark.parametrize("privacy", BUDGET)
def test_a_scale_that_is_too_small_is_reported(privacy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LevelEvents, "event", scaled(Fraction(101, 100)))
    assert exceeds(audit(tmp_path, "one of each", privacy))


@pytest.mark.parametrize("noise", [Noise(Fraction(9), 1), Noise(Fraction(2), 2)], ids=["geometric", "gaussian"])
def test_divergences_of_independent_groups_add(noise: Noise) -> None:
    (one,) = map(likely, published(TotalOnlyGroup(noise, 3, 4)))
    other = multiplied_out(*map(likely, published(TwoStageGroup(noise, 3, 4, noise, ((3, 4),) * 4))))
    both = multiplied_out(one, other)
    assert abs(mpmath.fsum(p for p, _ in both) - 1) < SLACK
    assert abs(epsilon(both) - epsilon(one) - epsilon(other)) < SLACK
    assert abs(renyi(both, 3) - renyi(one, 3) - renyi(other, 3)) < SLACK


def likely(outcomes: list[Outcome]) -> list[Outcome]:
    """Without those that only orders far above 3 notice: three times as many make 27 times as many triples."""
    return [pair for pair in outcomes if min(pair) > mpmath.mpf(10) ** -100]


def test_the_oracle_by_closed_forms() -> None:
    """Whole orders of the Gaussian spend rho to the last digit; the geometric one is randomized response."""
    rho = Fraction(1, 10)
    outcomes = count_outcomes(Noise(rho, 2), 0, 1)
    assert all(abs(renyi(outcomes, alpha) - alpha * mpmath.mpf("0.1")) < SLACK for alpha in (2, 3, 8, 64))
    assert renyi(outcomes, mpmath.mpf("2.5")) <= mpmath.mpf("0.25")
    e, alpha = mpmath.mpf(1) / 2, 3
    exact = mpmath.log((mpmath.exp(alpha * e) + mpmath.exp(-(alpha - 1) * e)) / (mpmath.exp(e) + 1)) / (alpha - 1)
    assert abs(renyi(count_outcomes(Noise(Fraction(1, 2), 1), 7, 8), alpha) - exact) < SLACK
