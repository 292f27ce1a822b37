"""On a real cluster: a worker killed, a driver killed, tasks repeated, and what executors write down."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from safetab.synth.country import Country, make_country
from safetab.synth.shapes import SHAPES
from tests.contract.cluster import Cluster, cluster, wait_for_text
from tests.contract.conftest import QUICK, UnderContract, assert_same_release
from tests.worlds.faulty_records import FAULTY, POISON, record, write

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("cluster")]
#: Small tasks, many of them, so that there is always one under way.
SETTINGS = {key: value for key, value in QUICK.items() if not key.startswith("spark.driver.")} | {
    "spark.default.parallelism": "6",
    "spark.sql.files.maxPartitionBytes": "200000",
}


@pytest.fixture(scope="module")
def country(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A town, and its release by DuckDB."""
    folder = tmp_path_factory.mktemp("town") / "country"
    make_country(Country(SHAPES["town"].with_persons(20_000)), folder)
    UnderContract("duckdb", None).tabulate(folder / "params", folder / "data", folder / "expected")
    return folder


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Cluster]:
    with cluster(tmp_path / "cluster") as started:
        yield started


def start(
    running: Cluster, country: Path, out: Path, settings: dict[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Start a tabulation on the cluster, as from a shell."""
    listed = " ".join(f"--conf '{key}={value}'" for key, value in (SETTINGS | (settings or {})).items())
    words = ["tabulate", "params", "data", str(out), "--engine", "spark", "--master", running.address]
    return subprocess.Popen(
        [sys.executable, "-m", "safetab", *words, "--noise", "off", "--not-private"],
        cwd=country,
        env=running.environment | {"PYSPARK_SUBMIT_ARGS": f"{listed} pyspark-shell"},
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )


def events(folder: Path) -> list[dict[str, object]]:
    """What Spark wrote down so far about tasks; the last line may be half written."""
    found = []
    for path in folder.rglob("events_*"):
        for line in path.read_text().splitlines():
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
    return found


def logged(folder: Path) -> dict[str, str]:
    folder.mkdir()
    return {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": folder.as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.buffer.kb": "1k",
    }


def when_tasks_ended(folder: Path, number: int, action: Callable[[], None]) -> threading.Thread:
    """Act when so many tasks have ended."""

    def watch() -> None:
        deadline = time.monotonic() + 400
        while sum(event["Event"] == "SparkListenerTaskEnd" for event in events(folder)) < number:
            if time.monotonic() > deadline:
                return
            time.sleep(0.05)
        action()

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


def test_a_worker_killed_in_mid_count(running: Cluster, country: Path, tmp_path: Path) -> None:
    settings = logged(tmp_path / "events")
    process = start(running, country, tmp_path / "out", settings)
    watching = when_tasks_ended(tmp_path / "events", 120, lambda: running.kill_worker(0))
    assert process.wait(timeout=900) == 0
    watching.join()
    assert running.workers[0].poll() is not None, "the worker was killed while the tabulation ran"
    lost = [event for event in events(tmp_path / "events") if event["Event"] == "SparkListenerExecutorRemoved"]
    assert lost, "an executor was lost"
    assert_same_release(tmp_path / "out", country / "expected")


def test_tasks_repeated(running: Cluster, country: Path, tmp_path: Path) -> None:
    """Spark starts second copies of tasks at the slightest suspicion, and an executor dies under a task."""
    settings = logged(tmp_path / "events") | {
        "spark.speculation": "true",
        "spark.speculation.interval": "5ms",
        "spark.speculation.multiplier": "1.01",
        "spark.speculation.quantile": "0.1",
        "spark.speculation.minTaskRuntime": "1ms",
    }
    process = start(running, country, tmp_path / "out", settings)
    watching = when_tasks_ended(tmp_path / "events", 60, lambda: kill_an_executor(running))
    assert process.wait(timeout=900) == 0
    watching.join()
    tasks = [event for event in events(tmp_path / "events") if event["Event"] == "SparkListenerTaskStart"]
    details = [event["Task Info"] for event in tasks]
    assert any(isinstance(info, dict) and info["Speculative"] for info in details), "no task had a second copy"
    assert_same_release(tmp_path / "out", country / "expected")


def kill_an_executor(running: Cluster) -> None:
    """Kill the executor of the second worker, and leave the worker, which starts another."""
    listed = subprocess.run(
        ["ps", "-o", "pid=,args=", "-g", str(running.workers[1].pid)], capture_output=True, text=True, check=True
    )
    for line in listed.stdout.splitlines():
        if "CoarseGrainedExecutorBackend" in line:
            os.kill(int(line.split()[0]), signal.SIGKILL)


def test_a_driver_killed_leaves_no_output(running: Cluster, country: Path, tmp_path: Path) -> None:
    settings = logged(tmp_path / "events")
    process = start(running, country, tmp_path / "out", settings)
    when_tasks_ended(tmp_path / "events", 60, process.kill).join()
    assert process.wait(timeout=300) == -signal.SIGKILL
    wait_for_text(running.folder / "master.log", "Removing app")
    assert not (tmp_path / "out").exists()


def test_executors_write_nothing_of_the_records(running: Cluster, tmp_path: Path) -> None:
    """Records full of faults stop the run, and none of their values is in a log or, readable, on a disk."""
    write(tmp_path, [record(), *(line for _, _, line in FAULTY)], parquet=True)
    process = start(running, tmp_path, tmp_path / "out")
    assert process.wait(timeout=900) == 1
    assert "Spark Executor Command" in running.written_by_executors(), "the logs are where we look"
    holding = [path for path in running.folder.rglob("*") if path.is_file() and POISON.encode() in path.read_bytes()]
    assert not holding
    outside = [path for path in running.folder.rglob("blockmgr-*") if "executors" not in str(path)]
    assert not outside
