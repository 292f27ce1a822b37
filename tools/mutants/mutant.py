"""A mutant, and whether it still fits the code.

In: mutants and the folders of the code and the tests. Out: the text of a mutated file, and every mutant whose texts or
tests are not where it says they are, all at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Mutant:
    """One mistake: its name, the file below src/safetab, replacements as (old, new), and the tests to run."""

    name: str
    file: str
    swaps: tuple[tuple[str, str], ...]
    tests: tuple[str, ...]


def plant(name: str, file: str, *texts: str, tests: tuple[str, ...]) -> Mutant:
    """A mutant that replaces each first text by the second that follows it."""
    return Mutant(name, file, tuple(zip(texts[::2], texts[1::2], strict=True)), tests)


@dataclass(frozen=True)
class Misfit:
    """A text or a test of a mutant that its file does not have exactly once; `found` is None without the file."""

    mutant: Mutant
    file: str
    found: int | None
    text: str

    def __str__(self) -> str:
        count = "no such file" if self.found is None else f"found {self.found} times"
        text = self.text.strip().splitlines()[0] if self.text.strip() else repr(self.text)
        return f"{self.mutant.name}\n    {self.file}: {count}: {text}"


def mutated(mutant: Mutant, text: str) -> str:
    """The text of the file with the mistake in it; ValueError if the mutant does not fit."""
    for old, new in mutant.swaps:
        if text.count(old) != 1:
            raise ValueError(f"{mutant.file} must have this text once, not {text.count(old)} times: {old!r}")
        text = text.replace(old, new)
    return text


def misfits(mutants: Iterable[Mutant], source: Path, root: Path) -> Iterator[Misfit]:
    """Every text that does not appear exactly once, and every test that is not there."""
    for mutant in mutants:
        yield from _misfits_of_code(mutant, source)
        yield from _misfits_of_tests(mutant, root)


def _misfits_of_code(mutant: Mutant, source: Path) -> Iterator[Misfit]:
    path = source / mutant.file
    if not path.is_file():
        yield Misfit(mutant, mutant.file, None, mutant.swaps[0][0])
        return
    text = path.read_text(encoding="utf-8")
    for old, new in mutant.swaps:
        found = text.count(old)
        if found == 1:
            text = text.replace(old, new)
        else:
            yield Misfit(mutant, mutant.file, found, old)


def _misfits_of_tests(mutant: Mutant, root: Path) -> Iterator[Misfit]:
    for test in mutant.tests:
        file, _, function = test.partition("::")
        path = root / file
        if not path.is_file():
            yield Misfit(mutant, file, None, function)
        elif function:
            definition = f"def {function.partition('[')[0]}("
            found = path.read_text(encoding="utf-8").count(definition)
            if found != 1:
                yield Misfit(mutant, file, found, definition)
