"""Pieces are worked on side by side: answers in order, few at a time, and nothing goes on after the end."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from safetab.engines import workers
from safetab.engines.workers import side_by_side, usable_cores


@pytest.fixture(autouse=True)
def three_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "usable_cores", lambda: 3)


def test_answers_come_in_the_order_of_the_questions() -> None:
    later = threading.Event()

    def double(number: int) -> int:
        if number == 0:
            # The first answer is ready last.
            assert later.wait(60)
        if number == 1:
            later.set()
        return 2 * number

    assert list(side_by_side(double, range(20))) == [2 * number for number in range(20)]
    assert list(side_by_side(double, [])) == []


def test_no_more_are_under_way_than_there_are_threads() -> None:
    asked, answered = 0, 0

    def questions() -> Iterator[int]:
        nonlocal asked
        for number in range(30):
            asked += 1
            yield number

    for _ in side_by_side(lambda number: number, questions()):
        answered += 1
        assert asked - answered < 3
    assert asked == answered == 30


def test_calls_do_run_at_the_same_time() -> None:
    meeting = threading.Barrier(3)
    assert len(list(side_by_side(lambda _: meeting.wait(60), range(6)))) == 6


def test_an_error_ends_the_work_and_nothing_goes_on() -> None:
    begun, finished = [], []

    def work(number: int) -> None:
        begun.append(number)
        if number == 1:
            raise ValueError("one is enough")
        finished.append(number)

    with pytest.raises(ValueError, match="one is enough"):
        list(side_by_side(work, range(100)))
    assert len(finished) == len(begun) - 1
    assert len(begun) < 10
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("counting")]


def test_whoever_stops_asking_waits_for_what_is_under_way() -> None:
    begun, finished = [], []

    def work(number: int) -> None:
        begun.append(number)
        finished.append(number)

    answers = side_by_side(work, range(100))
    next(answers)
    answers.close()  # type: ignore[attr-defined]
    assert begun == finished
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("counting")]


def test_there_is_a_core() -> None:
    assert usable_cores() >= 1
