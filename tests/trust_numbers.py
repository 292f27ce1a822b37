"""What the suites that trust rests on have tried in this run: cases, faults, chances of a false alarm.

In: how many tests of each file passed. Out: a line for each suite that ran, for the end of the report.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.cli.test_broken_records import CASES, PARQUET_CASES, TEXT_CASES
from tests.cli.test_planted_values import BREAKINGS, PARQUET_BREAKINGS, PLANTED
from tests.contract import test_replay as spark_replay
from tests.property import test_fuzz, test_replay
from tests.statistical import test_black_box_audit
from tests.statistical.test_exact_audit import ALPHAS, KINDS
from tools.mutants.faults import FAULTS


def lines(passed: Mapping[str, int], *, long: bool) -> list[str]:
    """One line for each suite of which anything passed."""
    neighbours = test_replay.QUICK + (test_replay.MANY if long else 0)
    fuzzed = 4 * (test_fuzz.QUICK + (test_fuzz.MANY if long else 0))
    records = 2 * len(CASES) + len(TEXT_CASES) + len(PARQUET_CASES)
    audit = test_black_box_audit
    told = {
        "tests/property/test_replay.py": f"replay: {neighbours} random neighbours and {2 * len(test_replay.IN_GROUPS)} "
        "by hand with DuckDB",
        "tests/contract/test_replay.py": f"replay: {spark_replay.MANY if long else 0} random neighbours and "
        f"{2 if long else 1} by hand with Spark",
        "tests/statistical/test_exact_audit.py": f"exact audit: {len(KINDS)} worlds, pure epsilon and zCDP at "
        f"{len(ALPHAS)} orders; no chance involved",
        "tests/property/test_fuzz.py": f"fuzz: {fuzzed} damaged files",
        "tests/cli/test_broken_records.py": f"records: {records} ways to break them",
        "tests/cli/test_planted_values.py": f"planted values: {len(PLANTED)} values, "
        f"{4 * len(BREAKINGS) + 2 * len(PARQUET_BREAKINGS) + 1} runs searched" + (", 4 with Spark" if long else ""),
        "tests/cli/test_interrupts.py": "signals: every step boundary" + (", and 40 times in between" if long else ""),
    }
    if long:
        told["tests/statistical/test_black_box_audit.py"] = (
            f"audit from outside: 4 audits of {audit.LIKELY_RUNS + audit.UNLIKELY_RUNS} runs, "
            f"false alarm {audit.FALSE_ALARM:g} in each, half the noise missed with {audit.MISSED:g} at most"
        )
    found = [f"{text} ({passed[file]} tests passed)" for file, text in told.items() if passed.get(file)]
    return [*found, f"mutants: {len(FAULTS)} faults, run by `make mutants`"] if found else []
