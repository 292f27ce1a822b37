"""Certain comparisons, and one precision for the process that threads and forked children do not trip over."""

from __future__ import annotations

import os
import threading
from fractions import Fraction

import pytest
from flint import arb, ctx

from safetab.errors import MachineError
from safetab.noise import ball_arithmetic
from safetab.noise.ball_arithmetic import working_precision
from safetab.noise.laws import DiscreteGaussian


def test_a_quantile_at_equality_ends_with_an_error_instead_of_a_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ball_arithmetic, "MOST_BITS", 1 << 10)
    with pytest.raises(MachineError, match="NOISE-004"):
        ball_arithmetic.is_at_least(lambda _bits: arb(0.5), Fraction(1, 2))


def test_flint_precision_is_put_back_and_threads_do_not_disturb_each_other() -> None:
    before = ctx.prec
    law = DiscreteGaussian(Fraction("31.45"))
    failures: list[tuple[int, int]] = []

    def work(bits: int) -> None:
        failures.extend((k, bits) for k in range(60) if law.tail(k, bits).rel_accuracy_bits() < bits)

    threads = [threading.Thread(target=work, args=(bits,)) for bits in (53, 300, 900)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert ctx.prec == before


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_forked_while_a_thread_computes_is_not_stuck() -> None:
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with working_precision(100):
            entered.set()
            leave.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait()
    child = os.fork()
    if child == 0:
        os._exit(DiscreteGaussian(Fraction("31.45")).quantile(Fraction("0.9999")))
    status = os.waitpid(child, 0)[1]
    leave.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 21


@pytest.mark.parametrize("answer", [-1000, -3, -1, 0, 1, 2, 17, 12345])
@pytest.mark.parametrize("off", [-5000, -7, -1, 0, 1, 2, 8, 5000])
def test_the_smallest_integer_is_the_same_wherever_the_search_begins(answer: int, off: int) -> None:
    asked = []

    def holds(number: int) -> bool:
        asked.append(number)
        return number >= answer

    assert ball_arithmetic.smallest_integer_near(holds, answer + off) == answer
    assert ball_arithmetic.smallest_integer(lambda number: number >= answer) == answer
    # So near a guess saves nearly all of the search.
    assert abs(off) > 2 or len(asked) <= 4
