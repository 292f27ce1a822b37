"""What a budget means to one person, in words and as the curve of the best possible guess.

In: a draft and a level. Out: curves and sentences. The promise: every number is the upper bound of
`planning.best_guess`; the sentences state it as a bound, for every person and whatever the guesser knows.
"""

from __future__ import annotations

from dataclasses import dataclass

from safetab.explorer.draft import LevelRow
from safetab.params.plan import PlannedRun
from safetab.planning.best_guess import Guess, best_guesses
from safetab.planning.shown import at_most, percent

#: Chances of a false alarm: those that the sentences quote, and those of the curve.
QUOTED = (0.01, 0.05, 0.1)
_CURVE = tuple(sorted({*QUOTED, *(n / 40 for n in range(41)), 0.005, 0.0025}))


@dataclass(frozen=True, slots=True)
class OnePerson:
    """The curves by name, and what to say; no curves where losses are too large to follow."""

    curves: tuple[tuple[str, tuple[Guess, ...]], ...]
    sentences: tuple[str, ...]


def one_person(row: LevelRow, run: PlannedRun, epsilon: float, delta: str) -> OnePerson:
    """What the budget of a level means; `epsilon` is that of the level alone, at this delta."""
    of_level = best_guesses([row.planned.noise], _CURVE)
    of_run = best_guesses(run.noise, _CURVE)
    opening = (
        f"Suppose that someone knows everything about everybody else, and wants to find out whether one person is "
        f"counted in a group of {row.name} or not. This level alone, with a budget of {row.budget}, is "
        f"({at_most(epsilon)}, {delta})-differentially private."
    )
    if of_level is None or of_run is None:
        return OnePerson((), (opening, "The losses are too large to follow: such a guess may almost always be right."))
    curves = ((f"{row.name} alone", of_level), (f"All levels of run {run.name}", of_run))
    return OnePerson(curves, (opening, *(_sentence(each, of_level, of_run) for each in QUOTED)))


def _sentence(false_positive: float, of_level: tuple[Guess, ...], of_run: tuple[Guess, ...]) -> str:
    alone, together = (
        next(guess.true_positive for guess in guesses if guess.false_positive == false_positive)
        for guesses in (of_level, of_run)
    )
    return (
        f"A guesser who wrongly names {percent(false_positive)} of the people outside the group finds at most "
        f"{percent(alone)} of those in it; with all levels of the run at most {percent(together)}. "
        f"A blind guess finds {percent(false_positive)}."
    )
