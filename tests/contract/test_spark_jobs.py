"""Spark is asked twice a run: for the totals of all levels, then for the sex by age tables of all levels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from safetab.engines.spark.tables import SparkTables
from tests.contract.conftest import IN_SPARK, UnderContract
from tests.worlds import by_hand


@IN_SPARK
def test_one_job_for_totals_and_one_for_tables(
    spark_session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_hand.write(tmp_path)
    asked: list[str] = []
    batches = SparkTables.batches

    def heard(self: SparkTables, sql: str, most: int) -> Iterator[pa.Table]:
        asked.append("tables" if " cell," in sql else "totals")
        yield from batches(self, sql, most)

    monkeypatch.setattr(SparkTables, "batches", heard)
    UnderContract("spark", spark_session).tabulate(tmp_path / "params", tmp_path / "data", tmp_path / "out")
    assert asked == ["totals", "tables"] * 2, "the United States have four levels, Puerto Rico one"
