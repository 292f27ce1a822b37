"""Pieces are worked on side by side: answers in order, few at a time, and nothing goes on after the end."""

from __future__ import annotations

import contextvars
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from safetab.engines import workers
from safetab.engines.workers import keeping_threads, side_by_side, usable_cores


@pytest.fixture(autouse=True)
def three_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "usable_cores", lambda: 3)


def counting_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name.startswith("counting")}


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
    assert not counting_threads()


def test_whoever_stops_asking_waits_for_what_is_under_way() -> None:
    begun, finished = [], []

    def work(number: int) -> None:
        begun.append(number)
        finished.append(number)

    answers = side_by_side(work, range(100))
    next(answers)
    answers.close()  # type: ignore[attr-defined]
    assert begun == finished
    assert not counting_threads()


def test_threads_that_are_kept_do_all_work_and_end_with_the_block() -> None:
    meeting = threading.Barrier(3)

    def own_thread(_: int) -> threading.Thread:
        meeting.wait(60)
        return threading.current_thread()

    with keeping_threads():
        first, second = (set(side_by_side(own_thread, range(3))) for _ in range(2))
        assert first == second == counting_threads()
    assert not counting_threads()
    third = set(side_by_side(own_thread, range(3)))
    assert not third & first
    assert not counting_threads()


def test_threads_that_are_kept_have_no_call_under_way_when_the_work_ends() -> None:
    begun, finished = [], []
    first_is_done = threading.Event()

    def work(number: int) -> None:
        begun.append(number)
        if number == 0:
            first_is_done.set()
            raise ValueError("nothing is enough")
        assert first_is_done.wait(60)
        finished.append(number)

    with keeping_threads():
        with pytest.raises(ValueError, match="nothing is enough"):
            list(side_by_side(work, range(100)))
        assert sorted(finished) == sorted(begun)[1:]
        assert len(begun) <= 3
        assert list(side_by_side(str, range(5))) == ["0", "1", "2", "3", "4"]


def test_work_inside_of_work_does_not_wait_for_threads_that_are_kept() -> None:
    meeting = threading.Barrier(3)

    def inner(number: int) -> list[int]:
        # Every thread that is kept is here, so none of them is free for what is inside.
        meeting.wait(60)
        # Some Pythons give a thread the context of the one that started it.
        return context.copy().run(list, side_by_side(lambda other: number * other, range(4)))

    with keeping_threads():
        context = contextvars.copy_context()
        assert list(side_by_side(inner, range(3))) == [[0, 0, 0, 0], [0, 1, 2, 3], [0, 2, 4, 6]]


def interrupt() -> None:
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="Windows sends no signal to a thread")
def test_an_interrupt_waits_for_the_call_that_is_waited_for() -> None:
    begun, finished = [], []
    meeting = threading.Barrier(3)

    def work(number: int) -> None:
        begun.append(number)
        if number == 0:
            # The second one comes while the first one waits for this call.
            for _ in range(2):
                interrupt()
                time.sleep(0.2)
        finished.append(number)

    with keeping_threads():
        # All threads are there: Python does not wait for one whose start was interrupted.
        list(side_by_side(lambda _: meeting.wait(60), range(3)))
        with pytest.raises(KeyboardInterrupt):
            list(side_by_side(work, range(100)))
        assert sorted(finished) == sorted(begun)
        assert len(begun) <= 3
    assert not counting_threads()


def test_an_interrupt_while_a_call_is_handed_over_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, finished = threading.Event(), threading.Event()
    submit = ThreadPoolExecutor.submit

    def interrupted(*words: Any) -> None:
        submit(*words)
        assert begun.wait(60)
        raise KeyboardInterrupt

    def work(_: int) -> None:
        begun.set()
        time.sleep(0.2)
        finished.set()

    with keeping_threads():
        monkeypatch.setattr(ThreadPoolExecutor, "submit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            list(side_by_side(work, range(100)))
        assert finished.is_set()


def test_there_is_a_core() -> None:
    assert usable_cores() >= 1
