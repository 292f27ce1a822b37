"""Put each fault into a copy of the source, run the tests that ought to notice, and say which did.

In: the faults. Out: a table, and exit status 1 if any fault went unnoticed. The tests are run on the untouched copy
first: a test that fails there would "notice" everything. Prints fault, file, the test that caught it, and seconds.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tools.mutants.faults import FAULTS, Fault

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "safetab"
_AT_ONCE = 2
#: Seconds; far more than any of these tests takes, even on a busy machine.
_LONGEST = 3600
_TESTS_FAILED, _TIMED_OUT = 1, -1


@dataclass(frozen=True)
class Verdict:
    """What became of one fault."""

    fault: Fault
    status: int
    caught_by: str
    seconds: float

    @property
    def is_caught(self) -> bool:
        # Any other status means that the tests could not run, which says nothing about them.
        return self.status == _TESTS_FAILED and bool(self.caught_by)


def applied(fault: Fault, text: str) -> str:
    """The source with the fault in it."""
    for old, new in fault.swaps:
        found = text.count(old)
        if found != 1:
            raise SystemExit(f"fault `{fault.name}`: its text stands {found} times in {fault.file}, not once:\n{old}")
        text = text.replace(old, new)
    return text


def run_tests(source: Path, tests: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run tests on a copy of the package; the first failure ends it."""
    environment = os.environ | {
        "PYTHONPATH": str(source),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HYPOTHESIS_STORAGE_DIRECTORY": str(source / "hypothesis"),
    }
    words = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider", *tests]
    return subprocess.run(  # noqa: S603
        words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=_LONGEST
    )


def judge(fault: Fault) -> Verdict:
    """Make one faulty copy and run its tests."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        copy = Path(folder) / "safetab"
        shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        path = copy / fault.file
        path.write_text(applied(fault, path.read_text(encoding="utf-8")), encoding="utf-8")
        try:
            done = run_tests(copy.parent, fault.tests)
        except subprocess.TimeoutExpired:
            return Verdict(fault, _TIMED_OUT, "", time.monotonic() - start)
    found = re.search(r"^FAILED (\S+)", done.stdout, re.MULTILINE)
    return Verdict(fault, done.returncode, found[1] if found else "", time.monotonic() - start)


def judge_untouched() -> None:
    """The tests pass on a copy without a fault, and it is the copy that they test."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        shutil.copytree(SOURCE, Path(folder) / "safetab", ignore=shutil.ignore_patterns("__pycache__"))
        where = [sys.executable, "-c", "import safetab; print(safetab.__file__)"]
        seen = subprocess.run(  # noqa: S603
            where, env=os.environ | {"PYTHONPATH": folder}, capture_output=True, text=True, check=True
        )
        if not seen.stdout.startswith(folder):
            raise SystemExit(f"the tests would not see the copy but {seen.stdout}")
        done = run_tests(Path(folder), sorted({test for fault in FAULTS for test in fault.tests}))
        if done.returncode:
            raise SystemExit(f"the tests fail without any fault:\n{done.stdout}{done.stderr}")


def main(words: Sequence[str]) -> int:
    """Judge all faults, or those whose name has one of the words in it."""
    chosen = [fault for fault in FAULTS if not words or any(word in fault.name for word in words)]
    print(f"{len(chosen)} faults; first the tests without any ...", flush=True)
    judge_untouched()
    print(f"{'fault':52} {'file':28} {'seconds':>7}  caught by")
    survivors = 0
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for verdict in pool.map(judge, chosen):
            survivors += not verdict.is_caught
            told = verdict.caught_by if verdict.is_caught else f"NOBODY (pytest ended with {verdict.status})"
            print(f"{verdict.fault.name:52} {verdict.fault.file:28} {verdict.seconds:7.1f}  {told}", flush=True)
    print(f"{len(chosen) - survivors} of {len(chosen)} faults caught")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
