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
from safetab.cli.main import main
from safetab.engines.choice import Spark
from safetab.engines.layout import RecordLayout
from safetab.engines.spark import java, reading, session
from safetab.engines.spark.engine import SparkEngine
from safetab.engines.spark.people import PeopleQueries
from safetab.errors import InputError, MachineError, UsageError
from tests.contract.cluster import spark_home
from tests.contract.conftest import IN_SPARK, QUICK, UnderContract, assert_same_release
from tests.worlds import by_hand

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
    (finding,) = caught.value.findings
    assert finding.rule.code == "MACHINE-008"
    assert finding.sentence() == f"Java ({seen}): Spark needs Java 17 or later."


def test_the_packaged_java_starts_without_the_module_it_lacks(tmp_path: Path) -> None:
    packaged = java._packaged_java()
    assert packaged is not None
    program = java._with_starter(packaged, tmp_path) / "bin" / "java"
    words = [str(program), "--add-modules=jdk.incubator.vector", "-Dword=two words", "-version"]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stderr
    assert "version" in told


def test_java_is_started_with_options_that_can_be_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "-XX:Tier4CompileThreshold=7 -XX:NoSuchOption=3")
    with session._environment(tmp_path):
        words = [str(Path(os.environ["JAVA_HOME"]) / "bin" / "java"), "-XX:+PrintFlagsFinal", "-version"]
        told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    flags = dict(line.split()[1:4:2] for line in told.splitlines() if "Tier4" in line)
    assert flags["Tier4CompileThreshold"] == "7"
    assert flags["Tier4BackEdgeThreshold"] == "400000"
    assert os.environ["JDK_JAVA_OPTIONS"] == "-XX:Tier4CompileThreshold=7 -XX:NoSuchOption=3"


def test_no_pyspark_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(MachineError, match="MACHINE-007") as caught:
        SparkEngine(tmp_path)
    (finding,) = caught.value.findings
    assert "\n" not in finding.sentence()
    assert len(str(caught.value).splitlines()) == 2


def test_a_comma_in_the_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "a,b"
    folder.mkdir()
    with pytest.raises(MachineError, match="MACHINE-010"):
        session._start(folder, None)


def test_records_at_an_address_are_for_spark(tmp_path: Path) -> None:
    by_hand.write(tmp_path)
    with pytest.raises(UsageError, match="OUTPUT-008"):
        safetab.tabulate(tmp_path / "params", tmp_path / "data", tmp_path / "out", records="s3a://bucket/people")


def test_a_master_is_for_spark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    by_hand.write(tmp_path)
    words = ["tabulate", *(str(tmp_path / name) for name in ("params", "data", "out")), "--master", "local"]
    assert main(words) == 2
    assert "OUTPUT-008" in capsys.readouterr().err


def test_an_engine_is_chosen_by_value(tmp_path: Path) -> None:
    by_hand.write(tmp_path)
    places = tmp_path / "params", tmp_path / "data", tmp_path / "out"
    with pytest.raises(ValueError, match="duckdb"):
        safetab.tabulate(*places, engine="sqlite")
    with pytest.raises(TypeError, match="duckdb"):
        safetab.tabulate(*places, engine=3)  # type: ignore[arg-type]
    assert safetab.Spark(master="local[2]") == safetab.Spark(master="local[2]")
    assert not (tmp_path / "out").exists()


def test_importing_safetab_imports_no_engine() -> None:
    script = "import sys, safetab.cli.main, safetab.pipeline.tabulate; print({'pyspark', 'duckdb'} & set(sys.modules))"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert told == "set()\n"


@IN_SPARK
def test_records_at_an_address(spark_session: Any, tmp_path: Path) -> None:
    """The address goes to Spark as it is, wildcard and all; the registry counts without a fingerprint."""
    by_hand.write(tmp_path, by_hand.SHORT)
    elsewhere = tmp_path / "else where [1]"
    elsewhere.mkdir()
    (tmp_path / "data" / "person-records.txt").rename(elsewhere / "people.txt")
    address = f"file:{tmp_path}/else*/people.txt"
    release = safetab.tabulate(
        tmp_path / "params",
        tmp_path / "data",
        tmp_path / "out",
        engine=Spark(session=spark_session),
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
    by_hand.write(tmp_path, by_hand.SHORT)
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
    by_hand.write(tmp_path, by_hand.SHORT)
    monkeypatch.setattr(PeopleQueries, "kinds", lambda _: "SELECT CAST('Zq7' AS INT) AS faults FROM people")
    with pytest.raises(MachineError, match="MACHINE-005") as caught:
        UnderContract("spark", spark_session).tabulate(tmp_path / "params", tmp_path / "data", tmp_path / "out")
    printed = capfd.readouterr()
    assert "Zq7" not in printed.out + printed.err + str(caught.value)


@IN_SPARK
@pytest.mark.parametrize("name", ["_part.parquet", ".part.parquet"])
def test_a_part_that_spark_would_pass_over(spark_session: Any, tmp_path: Path, name: str) -> None:
    """In a folder no engine takes it for a part; by itself it is a table that Spark alone cannot read."""
    folder = tmp_path / "records"
    folder.mkdir()
    (folder / "part.parquet").touch()
    (folder / name).touch()
    for place, code in ((folder, "FILE-020"), (folder / name, "RECORDS-011")):
        layout = RecordLayout(str(place), True, *[None] * 7)  # type: ignore[arg-type]
        with pytest.raises(InputError, match=code) as caught:
            reading.read_records(spark_session, layout, [])
        assert name in str(caught.value)


#: Runs twice in one process, the second time with a fault, and says what Spark was set to and where it wrote.
OWN_SESSION = """
import json, os, sys
from pathlib import Path
import safetab
from safetab.engines.spark.records import SparkRecords
seen = {"folders": [], "settings": {}}
judge = SparkRecords._judge
def watch(self, *words):
    seen["settings"] = dict(self._tables.session.sparkContext.getConf().getAll())
    places = [Path(name) for name in sys.argv[2:]]
    seen["folders"].append(sorted({str(path.relative_to(place)).split("/")[0]
        for place in places for path in place.rglob("blockmgr-*")}))
    judge(self, *words)
SparkRecords._judge = watch
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
    by_hand.write(tmp_path, by_hand.SHORT)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    environment = os.environ | SUBMIT | {"TMPDIR": str(temporary)}
    words = [sys.executable, "-c", OWN_SESSION, str(tmp_path), str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)
    assert done.stderr == ""
    seen = json.loads(done.stdout)
    assert all(len(folders) == 1 and ".safetab-" in folders[0] for folders in seen["folders"]), seen["folders"]
    # Both runs of all three tabulations are judged: a fault in the first run does not spare the second.
    assert len(seen["folders"]) == 6
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
    by_hand.write(tmp_path, by_hand.SHORT)
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
    by_hand.write(tmp_path, by_hand.SHORT)
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
    by_hand.write(tmp_path)
    words = [sys.executable, "-m", "safetab", "tabulate", "params", "data", "out", "--engine", "spark"]
    done = subprocess.run([*words, "--master", "nowhere"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "MACHINE-009" in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "params"]
