"""Spark's surroundings: Java, PySpark, sessions, addresses, and where confidential temporary data lie."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import safetab
from safetab.engines import java, queries, spark_records_file, spark_session
from safetab.engines.protocol import RecordLayout
from safetab.engines.spark_engine import SparkEngine
from safetab.errors import InputError, MachineError, UsageError
from tests.contract.cluster import spark_home
from tests.contract.conftest import IN_SPARK, QUICK, UnderContract, assert_same_release
from tests.golden.test_by_hand import write_world

DUCKDB = UnderContract("duckdb", None)
#: What a user would set in the environment, here to make tiny worlds quick.
SUBMIT = {"PYSPARK_SUBMIT_ARGS": " ".join(f"--conf '{key}={value}'" for key, value in QUICK.items()) + " pyspark-shell"}


def fake_java(folder: Path, version: str) -> Path:
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2020-01-01' >&2\n")
    program.chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("version", "is_taken"), [("17.0.1", True), ("25", True), ("11.0.2", False), ("1.8.0_292", False), ("odd", False)]
)
def test_the_machines_java_is_taken_if_recent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, is_taken: bool
) -> None:
    home = fake_java(tmp_path / "jdk", version)
    monkeypatch.setenv("JAVA_HOME", str(home))
    found = java.java_home(tmp_path)
    assert (found == home) == is_taken
    assert is_taken or found == tmp_path / "java"


@pytest.mark.parametrize(("version", "seen"), [("11.0.2", "Java 11 found"), ("", "none found")])
def test_no_java_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, seen: str) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path, version) if version else tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(java, "_packaged_java", lambda: None)
    with pytest.raises(MachineError) as caught:
        java.java_home(tmp_path)
    assert str(caught.value) == f"MACHINE-008  Java ({seen}): Spark needs Java 17 or later."


def test_the_packaged_java_starts_without_the_module_it_lacks(tmp_path: Path) -> None:
    packaged = java._packaged_java()
    assert packaged is not None
    program = java._with_starter(packaged, tmp_path) / "bin" / "java"
    words = [str(program), "--add-modules=jdk.incubator.vector", "-Dword=two words", "-version"]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stderr
    assert "version" in told


def test_no_pyspark_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(MachineError, match="MACHINE-007") as caught:
        SparkEngine(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_comma_in_the_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "a,b"
    folder.mkdir()
    with pytest.raises(MachineError, match="MACHINE-010"):
        spark_session._start(folder, None)


@pytest.mark.parametrize(
    "options",
    [{"records": "s3a://bucket/people"}, {"master": "local"}, {"session": object()}],
    ids=["records", "master", "session"],
)
def test_what_is_for_spark_is_refused_elsewhere(tmp_path: Path, options: dict[str, Any]) -> None:
    write_world(tmp_path)
    with pytest.raises(UsageError, match="OUTPUT-008"):
        safetab.tabulate(tmp_path / "params", tmp_path / "data", tmp_path / "out", **options)


def test_importing_safetab_imports_no_engine() -> None:
    script = "import sys, safetab.cli.main, safetab.pipeline.run; print({'pyspark', 'duckdb'} & set(sys.modules))"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert told == "set()\n"


@IN_SPARK
def test_records_at_an_address(spark_session: Any, tmp_path: Path) -> None:
    """The address goes to Spark as it is, wildcard and all; the registry counts without a fingerprint."""
    write_world(tmp_path)
    elsewhere = tmp_path / "else where [1]"
    elsewhere.mkdir()
    (tmp_path / "data" / "person-records.txt").rename(elsewhere / "people.txt")
    address = f"file:{tmp_path}/else*/people.txt"
    release = safetab.tabulate(
        tmp_path / "params",
        tmp_path / "data",
        tmp_path / "out",
        engine="spark",
        session=spark_session,
        records=address,
        registry=tmp_path / "registry",
    )
    assert release.ledger["inputs"]["records"] is None
    assert json.loads((tmp_path / "registry").read_text().splitlines()[1])["records"] is None
    # A local path, whatever its name, is that path.
    one = tmp_path / "one"
    UnderContract("spark", spark_session).tabulate(
        tmp_path / "params", tmp_path / "data", one, records=elsewhere / "people.txt"
    )
    two = DUCKDB.tabulate(tmp_path / "params", tmp_path / "data", tmp_path / "two", records=elsewhere / "people.txt")
    assert_same_release(one, two)


@IN_SPARK
def test_the_users_session_is_left_as_it_was(spark_session: Any, tmp_path: Path) -> None:
    # Spark itself enters its warehouse into the settings when a session is first asked for something.
    views = [table.name for table in spark_session.catalog.listTables()]
    before = dict(spark_session.sparkContext.getConf().getAll()), spark_session.conf.get("spark.sql.caseSensitive")
    write_world(tmp_path)
    UnderContract("spark", spark_session).tabulate(tmp_path / "params", tmp_path / "data", tmp_path / "out")
    after = dict(spark_session.sparkContext.getConf().getAll()), spark_session.conf.get("spark.sql.caseSensitive")
    assert after == before
    assert [table.name for table in spark_session.catalog.listTables()] == views
    assert type(spark_session).getActiveSession()._jsparkSession.equals(spark_session._jsparkSession)
    assert spark_session.sparkContext._jsc.getPersistentRDDs().size() == 0
    assert spark_session.range(3).count() == 3


@IN_SPARK
def test_an_error_of_sparks_is_not_printed(
    spark_session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """PySpark writes errors that know their query to standard error, with the value at fault."""
    write_world(tmp_path)
    monkeypatch.setattr(queries, "FAULT_COUNTS", "SELECT CAST('Zq7' AS INT) AS faults, count(*) FROM coded")
    with pytest.raises(MachineError, match="MACHINE-005") as caught:
        UnderContract("spark", spark_session).tabulate(tmp_path / "params", tmp_path / "data", tmp_path / "out")
    printed = capfd.readouterr()
    assert "Zq7" not in printed.out + printed.err + str(caught.value)


@IN_SPARK
@pytest.mark.parametrize("name", ["_part.parquet", ".part.parquet"])
def test_a_part_that_spark_would_pass_over(spark_session: Any, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "records"
    folder.mkdir()
    (folder / "part.parquet").touch()
    (folder / name).touch()
    layout = RecordLayout(str(folder), True, *[None] * 7)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="RECORDS-011") as caught:
        spark_records_file.read_records(spark_session, layout, [])
    assert name in str(caught.value)


#: Runs twice in one process, the second time with a fault, and says what Spark was set to and where it wrote.
OWN_SESSION = """
import json, os, sys
from pathlib import Path
import safetab
from safetab.engines import spark_engine
seen = {"folders": [], "settings": {}}
judge = spark_engine.SparkRecords._judge
def watch(self, counts):
    seen["settings"] = dict(self._session.sparkContext.getConf().getAll())
    places = [Path(name) for name in sys.argv[2:]]
    seen["folders"].append(sorted({str(path.relative_to(place)).split("/")[0]
        for place in places for path in place.rglob("blockmgr-*")}))
    judge(self, counts)
spark_engine.SparkRecords._judge = watch
world = Path(sys.argv[1])
for out in ("first", "second"):
    safetab.tabulate(world / "params", world / "data", world / out, engine="spark", noise=False, not_private=True)
text = (world / "data" / "person-records.txt")
text.write_text(text.read_text().replace("1010", "Zq7x"))
try:
    safetab.tabulate(world / "params", world / "data", world / "third", engine="spark")
except safetab.InputError as error:
    seen["told"] = str(error)
print(json.dumps(seen))
"""


@IN_SPARK
@pytest.mark.long
def test_a_session_of_our_own(tmp_path: Path) -> None:
    """Temporary data lie beside the output and are gone at the end; nothing is printed; no Java stays behind."""
    write_world(tmp_path)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    environment = os.environ | SUBMIT | {"TMPDIR": str(temporary)}
    words = [sys.executable, "-c", OWN_SESSION, str(tmp_path), str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)
    assert done.stderr == ""
    seen = json.loads(done.stdout)
    assert all(len(folders) == 1 and ".safetab-" in folders[0] for folders in seen["folders"]), seen["folders"]
    assert len(seen["folders"]) == 5
    assert len({folders[0] for folders in seen["folders"]}) == 3
    assert seen["settings"]["spark.io.encryption.enabled"] == "true"
    assert seen["settings"]["spark.ui.enabled"] == "false"
    assert "RECORDS-004" in seen["told"]
    assert "Zq7x" not in seen["told"]
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["data", "first", "params", "second", "tmp"]
    assert_same_release(tmp_path / "first", tmp_path / "second")


@IN_SPARK
@pytest.mark.long
def test_the_packaged_java_counts_too(tmp_path: Path) -> None:
    write_world(tmp_path)
    environment = os.environ | SUBMIT | {"JAVA_HOME": str(fake_java(tmp_path / "old", "11.0.2"))}
    words = ["tabulate", "params", "data", "out", "--engine", "spark", "--noise", "off", "--not-private"]
    subprocess.run([sys.executable, "-m", "safetab", *words], cwd=tmp_path, check=True, env=environment)
    two = DUCKDB.tabulate(tmp_path / "params", tmp_path / "data", tmp_path / "two")
    assert_same_release(tmp_path / "out", two)


@IN_SPARK
@pytest.mark.long
def test_spark_submit_as_the_page_says(tmp_path: Path) -> None:
    """With the script of the page on clusters, and the records at an address."""
    page = Path(__file__).parents[2] / "docs" / "how-to" / "run-on-a-cluster.md"
    write_world(tmp_path)
    (tmp_path / "run_safetab.py").write_text(page.read_text().split("```python\n")[1].split("```")[0])
    settings = [word for key, value in QUICK.items() for word in ("--conf", f"{key}={value}")]
    submit = [str(spark_home() / "bin" / "spark-submit"), "--master", "local[2]", *settings, "run_safetab.py"]
    words = ["tabulate", "params", "data", "out", "--engine", "spark", "--noise", "off", "--not-private"]
    address = f"file:{tmp_path}/data/person-records.txt"
    (tmp_path / "java").mkdir()
    environment = os.environ | {
        "JAVA_HOME": str(java.java_home(tmp_path / "java")),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    done = subprocess.run(
        [*submit, *words, "--records", address],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    two = DUCKDB.tabulate(tmp_path / "params", tmp_path / "data", tmp_path / "two")
    assert_same_release(tmp_path / "out", two)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"data", "java", "out", "params", "run_safetab.py", "two"}


@pytest.mark.long
def test_a_master_that_makes_no_sense_is_one_sentence(tmp_path: Path) -> None:
    write_world(tmp_path)
    words = [sys.executable, "-m", "safetab", "tabulate", "params", "data", "out", "--engine", "spark"]
    done = subprocess.run([*words, "--master", "nowhere"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "MACHINE-009" in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "params"]
