"""A real Spark cluster on this machine: one master, two workers, each a process of its own that can be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from safetab.engines.spark.java import java_home

#: What the cluster's own configuration says: who may join, and that what they say is encrypted.
SECURITY = {
    "spark.authenticate": "true",
    "spark.authenticate.secret": "shared by the whole cluster",
    "spark.network.crypto.enabled": "true",
}
_DEADLINE = 180


def spark_home() -> Path:
    """Where pip put Spark."""
    found = find_spec("pyspark")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent


@dataclass
class Cluster:
    """A running cluster: its address, its processes, and the folder with everything its workers write."""

    folder: Path
    environment: dict[str, str]
    address: str = ""
    master: subprocess.Popen[bytes] | None = None
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start_process(self, name: str, *words: str, host: str = "127.0.0.1") -> subprocess.Popen[bytes]:
        """Start one of Spark's daemons in a process group of its own, so that it can go with its children."""
        with (self.folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                [str(spark_home() / "bin" / "spark-class"), *words],
                env=self.environment | {"SPARK_LOCAL_IP": host},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def start_worker(self) -> None:
        number = len(self.workers)
        # Spark gives a task's second copy to another host only, so each worker has an address of its own.
        host = f"127.0.0.{number + 1}"
        place = ["--host", host, "--cores", "1", "--memory", "700m"]
        folders = ["--work-dir", str(self.folder / f"work-{number}"), "--webui-port", "0"]
        words = ("org.apache.spark.deploy.worker.Worker", *place, *folders, self.address)
        self.workers.append(self.start_process(f"worker-{number}", *words, host=host))
        wait_for_text(self.folder / f"worker-{number}.log", "Successfully registered")

    def kill_worker(self, number: int) -> None:
        """Kill a worker and its executors on the spot."""
        os.killpg(self.workers[number].pid, signal.SIGKILL)
        self.workers[number].wait()

    def stop(self) -> None:
        for process in (*self.workers, *([self.master] if self.master else [])):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def written_by_executors(self) -> str:
        """Everything in the executors' logs."""
        logs = [path for path in self.folder.glob("work-*/*/*/std*") if path.is_file()]
        return "".join(path.read_text(errors="replace") for path in logs)


def wait_for_text(path: Path, text: str) -> str:
    """Wait until a log holds a text; returns the log."""
    deadline = time.monotonic() + _DEADLINE
    while text not in (found := path.read_text(errors="replace")):
        assert time.monotonic() < deadline, found
        time.sleep(0.1)
    return found


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """Start a cluster with two workers, and stop it."""
    conf = folder / "conf"
    conf.mkdir(parents=True)
    memory = {"spark.executor.memory": "600m", "spark.driver.memory": "700m", "spark.driver.host": "127.0.0.1"}
    lines = [f"{key} {value}" for key, value in (SECURITY | memory).items()]
    (conf / "spark-defaults.conf").write_text("\n".join(lines) + "\n")
    environment = os.environ | {
        "JAVA_HOME": str(java_home(folder)),
        "SPARK_CONF_DIR": str(conf),
        "SPARK_DAEMON_MEMORY": "200m",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_NO_DAEMONIZE": "1",
        "SPARK_WORKER_OPTS": f"-Dspark.local.dir={folder / 'executors'}",
        "PYSPARK_PYTHON": sys.executable,
    }
    running = Cluster(folder, environment)
    try:
        words = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        running.master = running.start_process("master", "org.apache.spark.deploy.master.Master", *words)
        log = wait_for_text(folder / "master.log", "Starting Spark master at ")
        running.address = log.split("Starting Spark master at ")[1].split()[0]
        wait_for_text(folder / "master.log", "I have been elected leader")
        running.start_worker()
        running.start_worker()
        yield running
    finally:
        running.stop()
