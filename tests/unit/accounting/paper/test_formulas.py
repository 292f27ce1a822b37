"""The paper's formulas are the paper's, and differ from the exact ones as the errata say."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from safetab.accounting.accuracy.calibration import level_budget
from safetab.accounting.composition import cost_of
from safetab.accounting.events import law_of
from safetab.accounting.paper.formulas import paper_budget, paper_moe, printed_divergence, printed_renyi_epsilon
from safetab.accounting.paper.tables import paper_levels as table_levels
from safetab.accounting.renyi import epsilon_on_grid, renyi_divergence
from safetab.noise.ball_arithmetic import ball
from safetab.noise.laws import Mechanism
from tests.unit.accounting.plans import DELTA, GAUSSIAN, GEOMETRIC, paper_levels


def in_balls(epsilon: Fraction, alpha: Fraction) -> arb:
    """The printed divergence, evaluated with certain bounds."""
    a, e = ball(alpha), ball(epsilon)
    first = a * ((a - 1) * e).exp()
    second = (a - 1) * (-a * e).exp()
    return ((e / 2).tanh() / e * 2 * (first + second) / (2 * a - 1)).log() / (a - 1)


@pytest.mark.parametrize("moe", [6, 11, 50])
def test_the_printed_divergence_claims_too_much_at_the_papers_parameters(moe: int) -> None:
    epsilon = Fraction(math.log(20) / (moe + 1) / 0.9)
    for alpha in (Fraction(3, 2), Fraction(2), Fraction("7.36"), Fraction("8.78")):
        assert in_balls(epsilon, alpha) < renyi_divergence(GEOMETRIC, epsilon, alpha)
        printed = printed_divergence(float(epsilon), np.array([float(alpha)]))
        assert printed[0] < float(renyi_divergence(GEOMETRIC, epsilon, alpha))


def test_the_printed_divergence_is_the_papers_expression() -> None:
    e, a = 0.4755, 7.36
    inner = 2 * a / (e * (2 * a - 1)) * math.exp((a - 1) * e) + 2 * (a - 1) / (e * (2 * a - 1)) * math.exp(-a * e)
    plain = math.log((math.exp(e) - 1) / (math.exp(e) + 1) * inner) / (a - 1)
    assert printed_divergence(e, np.array([a]))[0] == pytest.approx(plain, rel=1e-12)
    assert float(in_balls(Fraction("0.4755"), Fraction("7.36"))) == pytest.approx(plain, rel=1e-12)


def test_the_printed_theorem_gives_13_57_and_floats_are_enough_for_it() -> None:
    assert f"{printed_renyi_epsilon(paper_levels(GEOMETRIC), DELTA):.2f}" == "13.57"
    levels = table_levels(GEOMETRIC)
    cost = cost_of(levels)
    certified = epsilon_on_grid(lambda alpha: cost(lambda _, budget: in_balls(budget, alpha)), DELTA).value
    assert printed_renyi_epsilon(levels, DELTA) == pytest.approx(certified, rel=1e-12)


@pytest.mark.parametrize("moe", [1, 2, 6, 11, 50, 300])
def test_the_papers_geometric_budget_misses_its_target_and_the_gaussian_one_overpays(moe: int) -> None:
    assert paper_budget(GEOMETRIC, moe) < level_budget(GEOMETRIC, moe, 1, Fraction(0))
    assert paper_budget(GAUSSIAN, moe) > level_budget(GAUSSIAN, moe, 1, Fraction(0))


@pytest.mark.parametrize(("mechanism", "moe", "budget"), [(GEOMETRIC, 6.9, 0.4280), (GAUSSIAN, 6.9, 0.05333)])
def test_the_papers_formulas_round_the_target_down(mechanism: Mechanism, moe: float, budget: float) -> None:
    assert paper_budget(mechanism, moe) == pytest.approx(budget, rel=1e-3)


@pytest.mark.parametrize("mechanism", Mechanism)
@pytest.mark.parametrize("moe", [2, 6, 11, 50, 1000])
def test_the_papers_two_directions_agree_on_gaussian_noise_only(mechanism: Mechanism, moe: int) -> None:
    """Its own MOE formula says that its geometric budget gives MOE + 0 as well, which the exact quantile denies."""
    there_and_back = paper_moe(mechanism, paper_budget(mechanism, moe) * (1 + 1e-12))
    exact = law_of(mechanism, Fraction(paper_budget(mechanism, moe))).two_sided_quantile(Fraction("0.95"))
    assert there_and_back in {moe - 1, moe}
    assert exact <= moe if mechanism is GAUSSIAN else exact == moe + 1


def test_the_papers_margin_is_0_where_its_logarithm_is_negative() -> None:
    assert paper_moe(GEOMETRIC, 10.0) == 0
    assert paper_moe(GEOMETRIC, 1e6) == 0
