"""Two gates for tests: one writes down what passes, the other hands out what was written down.

A mechanism that is private looks at the records through its noisy answers only. So a second run, on other records but
with the answers of the first, must ask the same questions in the same order and publish the same bytes; what the
records may change is the true counts that go in, and of those only so many, each by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from safetab.accounting.events import CountEvent
from safetab.noise.source import BitSource
from safetab.pipeline.measure import Counts, Gate
from safetab.pipeline.request import MakeGate


@dataclass(frozen=True)
class Measurement:
    """One question and its answer: the event, the true counts, the noisy ones."""

    event: CountEvent
    true: Counts
    noisy: Counts


@dataclass
class Tape:
    """The measurements of a tabulation; each run has a gate, and so a list, of its own."""

    runs: list[list[Measurement]] = field(default_factory=list)


class RecordingGate(Gate):
    """Measures as the gate does and keeps both sides."""

    def __init__(self, source: BitSource | None, tape: Tape) -> None:
        super().__init__(source)
        self._kept: list[Measurement] = []
        tape.runs.append(self._kept)

    def measure(self, true_counts: Counts, event: CountEvent) -> Counts:
        true = true_counts.copy()
        noisy = super().measure(true_counts, event)
        self._kept.append(Measurement(event, true, noisy.copy()))
        return noisy


class ReplayingGate(Gate):
    """Answers with what was recorded, whatever the counts, and keeps the counts."""

    def __init__(self, source: BitSource | None, recorded: Tape, tape: Tape) -> None:
        super().__init__(source)
        self._kept: list[Measurement] = []
        self._answers = iter(recorded.runs[len(tape.runs)])
        tape.runs.append(self._kept)

    def measure(self, true_counts: Counts, event: CountEvent) -> Counts:
        answer = next(self._answers, None)
        assert answer is not None, "one measurement more than on the other records"
        assert event == answer.event, "another measurement than on the other records"
        assert true_counts.shape == answer.true.shape, "another number of counts than on the other records"
        self.counts_of_event[event] += true_counts.size
        self._kept.append(Measurement(event, true_counts.copy(), answer.noisy))
        return answer.noisy.copy()


def recording(tape: Tape) -> MakeGate:
    """Makes the gates of a tabulation that is recorded on `tape`."""
    return lambda source: RecordingGate(source, tape)


@contextmanager
def replaying(recorded: Tape, tape: Tape) -> Iterator[MakeGate]:
    """Makes the gates of a tabulation that gets the recorded answers and has to use up all of them."""
    yield lambda source: ReplayingGate(source, recorded, tape)
    assert [len(run) for run in tape.runs] == [len(run) for run in recorded.runs], "a measurement is missing"
