"""dp-accounting as a second opinion: it agrees, and the message where it is not installed says how to get it."""

from __future__ import annotations

import sys
from fractions import Fraction

import pytest

from safetab.accounting.loss_distributions.composed import pld_epsilon
from safetab.accounting.second_opinion import dp_accounting_epsilon
from safetab.errors import MachineError
from safetab.noise.laws import Mechanism
from tests.unit.accounting.plans import DELTA, GAUSSIAN, level, paper_levels


@pytest.mark.parametrize("mechanism", Mechanism)
@pytest.mark.parametrize("total_only", [True, False])
def test_dp_accounting_agrees(mechanism: Mechanism, total_only: bool) -> None:
    ours = pld_epsilon(paper_levels(mechanism, total_only, not total_only), DELTA)
    theirs = dp_accounting_epsilon(paper_levels(mechanism), DELTA, total_only=total_only)
    assert ours <= theirs <= ours + 0.015


def test_the_message_without_the_package_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "dp_accounting"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    with pytest.raises(MachineError, match="ACCOUNT-008") as caught:
        dp_accounting_epsilon([level(GAUSSIAN, "0.1")], Fraction(1, 10**6), total_only=True)
    assert "pip install 'safetab[crosscheck]'" in caught.value.findings[0].rule.next_step
