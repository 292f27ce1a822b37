"""Samplers run on every bit string: what a sampler gives without any statistics.

A sampler is a function from bit strings to integers. `masses` runs it on all strings up to a depth. The strings that
end in k have a total mass, a dyadic rational; those still undecided have the rest. If each k's probability lies between
its mass and its mass plus the rest, and the rest is small, the sampler is right as far as the depth can see. The
strings beyond are decided by ball arithmetic, which is tested by draws forced onto a threshold.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

import numpy as np
from flint import arb

from safetab.noise.ball_arithmetic import ball, working_precision
from safetab.noise.inversion_tables import InversionTable
from safetab.noise.laws import DiscreteGaussian, TwoSidedGeometric
from tests.unit.noise.tape import Tape, TapeEndsError

Outcome = TypeVar("Outcome")

SMALL = [
    DiscreteGaussian(Fraction(1, 50)),
    DiscreteGaussian(Fraction(1, 3)),
    DiscreteGaussian(Fraction("2.058")),
    DiscreteGaussian(Fraction(20)),
    TwoSidedGeometric(Fraction(7)),
    TwoSidedGeometric(Fraction(1)),
    TwoSidedGeometric(Fraction("0.4280")),
    TwoSidedGeometric(Fraction(1, 8)),
]


def masses(run: Callable[[Tape], Outcome], depth: int) -> tuple[dict[Outcome, Fraction], Fraction]:
    """The mass of bit strings on which `run` ends, by outcome, and the mass that wants more than `depth` bits."""
    decided: dict[Outcome, Fraction] = defaultdict(Fraction)
    undecided = Fraction(0)
    strings = [""]
    while strings:
        string = strings.pop()
        tape = Tape(string)
        try:
            outcome = run(tape)
        except TapeEndsError:
            if len(string) == depth:
                undecided += Fraction(1, 2**depth)
            else:
                strings += [string + "0", string + "1"]
        else:
            assert tape.read == len(string)
            decided[outcome] += Fraction(1, 2 ** len(string))
    return decided, undecided


def one_draw(sampler: InversionTable, tape: Tape) -> int:
    out = np.empty(1, np.int64)
    sampler.fill(out, tape)
    return int(out[0])


def lies_between(value: arb, low: Fraction, high: Fraction) -> bool:
    with working_precision(200):
        return bool(ball(low) <= value <= ball(high))
