"""An engine is asked for the totals of every level, then once for all tables, and has to answer each question once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

import safetab
from safetab.engines.arrays.records import ArrayRecords
from safetab.engines.protocol import CellQuestion, Cells, Members, RegionOfBlockSet, Totals
from safetab.errors import Finding
from tests.worlds import by_hand


class Heard:
    """A watcher that writes down which step comes next, in one list with what an engine is asked."""

    def __init__(self, steps: list[str]) -> None:
        self._steps = steps

    def note(self, text: str) -> None:
        """Not of interest here."""

    def warn(self, findings: Sequence[Finding]) -> None:
        """Not of interest here."""

    def advance(self, done: int, planned: int, what: str) -> None:  # noqa: ARG002
        if what:
            self._steps.append(what)

    def read(self, share: float) -> None:
        """Not of interest here."""


def test_tables_are_asked_for_once_a_run_when_all_levels_have_totals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_hand.write(tmp_path)
    steps: list[str] = []
    totals, cells = ArrayRecords.totals, ArrayRecords.cells

    def asked_totals(self: ArrayRecords, regions: RegionOfBlockSet, members: Members) -> Iterator[Totals]:
        steps.append("counts totals")
        yield from totals(self, regions, members)

    def asked_cells(self: ArrayRecords, questions: Sequence[CellQuestion]) -> Iterator[Cells]:
        for number, answer in enumerate(cells(self, questions), start=1):
            steps.append(f"counts tables {number} of {len(questions)}")
            yield answer

    monkeypatch.setattr(ArrayRecords, "totals", asked_totals)
    monkeypatch.setattr(ArrayRecords, "cells", asked_cells)
    safetab.tabulate(tmp_path / "params", tmp_path / "data", tmp_path / "out", watcher=Heard(steps))
    assert steps == [
        *("totals of (AIANNH, 2)", "counts totals", "totals of (COUNTY, 2)", "counts totals"),
        *("totals of (USA, 2)", "counts totals", "totals of (USA, 1)", "counts totals"),
        *("the tables of all levels", *(f"counts tables {number} of 4" for number in range(1, 5))),
        *("totals of (PR-STATE, 2)", "counts totals", "the tables of all levels", "counts tables 1 of 1"),
    ]


def in_batches(answers: list[Cells]) -> list[Cells]:
    """The answer to the first question in two batches, as totals may come."""
    nothing = np.empty(0, dtype=np.int64)
    return [*answers[:1], Cells(nothing, nothing, nothing, nothing), *answers[1:]]


def without_the_first(answers: list[Cells]) -> list[Cells]:
    return answers[1:]


@pytest.mark.parametrize(("change", "word"), [(in_batches, "more"), (without_the_first, "fewer")])
def test_an_engine_that_does_not_answer_each_question_once_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[list[Cells]], list[Cells]], word: str
) -> None:
    """Levels would get each other's cells."""
    by_hand.write(tmp_path)
    cells = ArrayRecords.cells

    def changed(self: ArrayRecords, questions: Sequence[CellQuestion]) -> Iterator[Cells]:
        # Empty answers fit any question, so nothing else fails first.
        nobody = np.empty(0, dtype=np.int64)
        answers = [Cells(nobody, nobody, nobody, nobody) for _ in cells(self, questions)]
        yield from change(answers)

    monkeypatch.setattr(ArrayRecords, "cells", changed)
    with pytest.raises(AssertionError, match=f"{word} answers"):
        safetab.tabulate(tmp_path / "params", tmp_path / "data", tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "params"]
