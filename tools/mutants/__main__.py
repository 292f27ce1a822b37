"""Plant each mutant in a copy of the source, run the tests that should catch it, and print which did.

In: the names of mutants, or none for all. Out: a table, and exit status 1 if a mutant survives, 2 if one does not fit
the code. Before anything is run, the mutants are checked against the code. Then the tests are run on the untouched
copy: a test that fails there would "catch" everything.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tools.mutants.catalogue import MUTANTS
from tools.mutants.mutant import Mutant, misfits, mutated

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "safetab"
_AT_ONCE = 2
#: Seconds; far more than any of these tests takes, even on a busy machine.
_LONGEST = 3600
_TESTS_FAILED, _TIMED_OUT = 1, -1
_SURVIVED, _DO_NOT_FIT = 1, 2


@dataclass(frozen=True)
class Verdict:
    """What became of one mutant."""

    mutant: Mutant
    status: int
    output: str
    seconds: float

    @property
    def is_caught(self) -> bool:
        # Any other status means that the tests could not run, which says nothing about them.
        return self.status == _TESTS_FAILED and bool(self._failed_test) and not self._crash

    @property
    def words(self) -> str:
        """The test that caught the mutant, or why none did."""
        if self._crash:
            return f"NOBODY: the mutant is broken itself ({self._crash})"
        return self._failed_test if self.is_caught else f"NOBODY (pytest ended with {self.status})"

    @property
    def _failed_test(self) -> str:
        found = re.search(r"^FAILED (.*?)(?: - |$)", self.output, re.MULTILINE)
        return found[1] if found else ""

    @property
    def _crash(self) -> str:
        """The error of a mutant that uses a name which is no longer there: any test would notice that."""
        found = re.search(
            r"^\S+:\d+: ((?:Name|Attribute|Import|ModuleNotFound|Syntax)Error: .*)$", self.output, re.MULTILINE
        )
        return found[1] if found else ""


def run_tests(source: Path, tests: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run tests on a copy of the package, up to the first failure."""
    environment = os.environ | {
        "PYTHONPATH": str(source),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HYPOTHESIS_STORAGE_DIRECTORY": str(source / "hypothesis"),
    }
    words = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=line", "-p", "no:cacheprovider", *tests]
    return subprocess.run(
        words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=_LONGEST
    )


def judge(mutant: Mutant) -> Verdict:
    """Make one mutated copy and run its tests."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        copy = _copy(Path(folder))
        path = copy / mutant.file
        path.write_text(mutated(mutant, path.read_text(encoding="utf-8")), encoding="utf-8")
        try:
            done = run_tests(copy.parent, mutant.tests)
        except subprocess.TimeoutExpired:
            return Verdict(mutant, _TIMED_OUT, "", time.monotonic() - start)
    return Verdict(mutant, done.returncode, done.stdout, time.monotonic() - start)


def judge_untouched(mutants: Iterable[Mutant]) -> None:
    """Stop unless the tests pass on a copy without a mutant, and the copy is what they test."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        _copy(Path(folder))
        where = [sys.executable, "-c", "import safetab; print(safetab.__file__)"]
        seen = subprocess.run(
            where, env=os.environ | {"PYTHONPATH": folder}, capture_output=True, text=True, check=True
        )
        if not seen.stdout.startswith(folder):
            raise SystemExit(f"the tests would not use the copy but {seen.stdout}")
        done = run_tests(Path(folder), sorted({test for mutant in mutants for test in mutant.tests}))
        if done.returncode:
            raise SystemExit(f"the tests fail without a mutant:\n{done.stdout}{done.stderr}")


def _copy(folder: Path) -> Path:
    copy = folder / "safetab"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def choose(words: Sequence[str]) -> list[Mutant]:
    """The mutants of these names, or whose names contain one of the words; all of them without a word."""
    chosen: list[Mutant] = []
    for word in words:
        found = [mutant for mutant in MUTANTS if mutant.name == word] or [m for m in MUTANTS if word in m.name]
        if not found:
            raise SystemExit(f"no mutant is called {word!r}; --list prints the names")
        chosen += [mutant for mutant in found if mutant not in chosen]
    return chosen or list(MUTANTS)


def report_misfits(chosen: Sequence[Mutant]) -> bool:
    """Print every mutant that does not fit the code; True if there is one."""
    found = list(misfits(chosen, SOURCE, ROOT))
    for misfit in found:
        print(misfit)
    if found:
        many = len({misfit.mutant.name for misfit in found})
        print(f"{many} of {len(chosen)} mutants do not fit. Each text must be in its file once, and each test exist.")
    return bool(found)


def report_verdicts(chosen: Sequence[Mutant]) -> int:
    """Judge mutants, print a line for each, and return how many survived."""
    print(f"{'mutant':52} {'file':28} {'seconds':>7}  caught by")
    survivors = 0
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for verdict in pool.map(judge, chosen):
            survivors += not verdict.is_caught
            place = f"{verdict.mutant.name:52} {verdict.mutant.file:28}"
            print(f"{place} {verdict.seconds:7.1f}  {verdict.words}", flush=True)
    print(f"{len(chosen) - survivors} of {len(chosen)} mutants caught")
    return survivors


def main(words: Sequence[str]) -> int:
    """Check that all or some mutants fit the code, then list or judge them."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description="Show that the tests catch mutants.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a name or a part of it; all mutants without one")
    parser.add_argument("--list", action="store_true", help="print the names, and what does not fit; run nothing")
    options = parser.parse_args(words)
    chosen = choose(options.names)
    if options.list:
        for mutant in chosen:
            print(f"{mutant.name:60} {mutant.file}")
    if report_misfits(chosen):
        return _DO_NOT_FIT
    if options.list:
        return 0
    print(f"{len(chosen)} mutants; first the tests without any ...", flush=True)
    judge_untouched(chosen)
    return _SURVIVED if report_verdicts(chosen) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
