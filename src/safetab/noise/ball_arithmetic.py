"""Ball arithmetic that several threads may use, and comparisons that are always certain.

In: a computation in python-flint's `arb`. Out: a ball that certainly contains the true real number, as tight as was
asked for, or a comparison that is certainly right. The promise: nothing here is ever "probably" on one side. The
true number is in the ball at every working precision; the precision only decides how tight the ball is. This matters
because flint has one precision for the whole process. It is set under a lock, and if other code changes it anyway,
a ball becomes wider and is computed again, but it is never wrong. The definitions of section "Base Mechanisms" of the
paper are computed with it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from operator import index

from flint import arb, ctx, fmpq

from safetab.errors import Finding, MachineError
from safetab.rules.noise_rules import COMPARISON_ENDS

_FLINT_LOCK = threading.RLock()


def _renew_lock() -> None:
    """A forked child has one thread; a lock that another thread held at that moment would never be released."""
    global _FLINT_LOCK
    _FLINT_LOCK = threading.RLock()


if hasattr(os, "register_at_fork"):  # there is no fork on Windows
    os.register_at_fork(after_in_child=_renew_lock)

#: Bits of work beyond the accuracy asked for, at the first try.
FIRST_GUARD = 32
#: Where `is_at_least` gives up. Two different numbers this close do not occur; equal ones would loop forever.
MOST_BITS = 1 << 20


@contextmanager
def working_precision(bits: int) -> Iterator[None]:
    """Hold flint's process-wide precision at `bits`, alone, and restore the old one afterwards."""
    with _FLINT_LOCK:
        before = ctx.prec
        ctx.prec = bits
        try:
            yield
        finally:
            ctx.prec = before


def ball(value: Fraction | int) -> arb:
    """The tightest ball at the working precision that contains a rational."""
    if isinstance(value, int):
        return arb(value)
    return arb(fmpq(value.numerator, value.denominator))


def between_zero_and(bound: arb) -> arb:
    """A ball that contains everything from 0 to `bound`: how a proven remainder joins a sum."""
    return arb(0).union(bound)


def refined(compute: Callable[[int], arb], bits: int) -> arb:
    """The value of `compute`, which must not be zero, with at least `bits` bits of relative accuracy.

    `compute` is called with the working precision it runs at, more and more until its ball is tight enough.
    """
    guard = FIRST_GUARD
    while True:
        with working_precision(bits + guard):
            value = compute(bits + guard)
            if value.rel_accuracy_bits() >= bits:
                return value
        guard *= 2


def is_at_least(enclose: Callable[[int], arb], target: Fraction) -> bool:
    """Whether the real number behind `enclose(bits)` is >= `target`, for certain; precision doubles until decided."""
    bits = 64 + target.denominator.bit_length()
    while bits <= MOST_BITS:
        value = enclose(bits)
        with working_precision(bits + FIRST_GUARD):
            bound = ball(target)
            if value > bound:
                return True
            if value < bound:
                return False
        bits *= 2
    raise MachineError(Finding(COMPARISON_ENDS, "noise law", key="quantile", seen="undecided"))


def smallest_integer_near(holds: Callable[[int], bool], guess: int) -> int:
    """The smallest integer for which `holds`, as `smallest_integer` finds it; the nearer the guess, the sooner."""
    step = 1
    if holds(guess):
        reached, missed = guess, guess - 1
        while holds(missed):
            step *= 2
            reached, missed = missed, missed - step
    else:
        missed, reached = guess, guess + 1
        while not holds(reached):
            step *= 2
            missed, reached = reached, reached + step
    return _between(holds, missed, reached)


def smallest_integer(holds: Callable[[int], bool]) -> int:
    """The smallest integer for which `holds`, which must be false far below, true far above, and change once."""
    if holds(-1):
        reached, missed = -1, -2
        while holds(missed):
            reached, missed = missed, 2 * missed
    else:
        missed, reached = -1, 0
        while not holds(reached):
            missed, reached = reached, 2 * reached + 1
    return _between(holds, missed, reached)


def _between(holds: Callable[[int], bool], missed: int, reached: int) -> int:
    """The smallest integer for which `holds`, above one for which it does not and up to one for which it does."""
    while reached - missed > 1:
        middle = (reached + missed) // 2
        if holds(middle):
            reached = middle
        else:
            missed = middle
    return reached


def floors(values: list[arb], shift: int) -> list[int | None]:
    """floor(value * 2^shift) of each; None where the ball does not decide it. Runs at the caller's precision."""
    scale = arb(1 << index(shift))
    whole = ((value * scale).floor().unique_fmpz() for value in values)
    return [None if number is None else int(number) for number in whole]
