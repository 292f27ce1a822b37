"""A Spark session: one that we start and stop, or one that the user has.

In: a master's address, a private folder, perhaps a session. Out: a session to count with. Promises: a session of ours
keeps its temporary data and its log in the private folder, encrypts what it writes and sends wherever it can, shows
no web page, and is gone, its Java included, when it is stopped. A session of the user's is left as it was found.
"""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetab.engines.spark.java import java_home
from safetab.errors import Finding, MachineError
from safetab.rules import machine_rules

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: What a session of ours is set to, unless spark-submit or spark-defaults.conf say otherwise.
_SETTINGS = {
    "spark.app.name": "safetab",
    # Exception texts can quote values, and every level below FATAL writes exceptions into the executors' logs.
    "spark.log.level": "FATAL",
    "spark.executor.syncLogLevel.enabled": "true",
    # The web page and the event log show how many rows each step had: true counts.
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.eventLog.enabled": "false",
    # What shuffles, spills and cached blocks leave on disk is encrypted with a key that only this application has.
    "spark.io.encryption.enabled": "true",
    "spark.sql.catalogImplementation": "in-memory",
}
#: Java's second compiler takes more time than it saves on code that runs a few times, as most of Spark's does here. It
#: is left for what runs ten times as often as Java itself asks for: the loops over records. A Java that has no such
#: options starts without them; options of the user's come after these and win.
_JAVA_OPTIONS = (
    "-XX:+IgnoreUnrecognizedVMOptions -XX:Tier4InvocationThreshold=50000 -XX:Tier4MinInvocationThreshold=6000 "
    "-XX:Tier4CompileThreshold=150000 -XX:Tier4BackEdgeThreshold=400000"
)
#: Where nothing has to leave the machine, nothing listens outside it either.
_LOCAL = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
#: These cluster managers hand out a secret for each application. A standalone cluster has one secret for all, which
#: has to stand in its own configuration: see docs/how-to/run-on-a-cluster.md.
_WITH_SECRETS = {"spark.authenticate": "true", "spark.network.crypto.enabled": "true"}


class OpenSession:
    """A session and whether it, and the Java under it, are ours to stop."""

    def __init__(self, session: SparkSession, *, is_ours: bool, java: subprocess.Popen[bytes] | None = None) -> None:
        self.session, self._is_ours, self._java = session, is_ours, java
        self._active_before = None if is_ours else session.getActiveSession()

    def quieten(self) -> None:
        """Pass the log level of a session of ours on to every executor that is there by now.

        The setting alone reaches the driver only. An executor that starts while this is said misses it, so it is said
        before each reading of records; executors that start later hear of it by themselves.
        """
        if self._is_ours:
            context = self.session.sparkContext
            context.setLogLevel(context.getConf().get("spark.log.level", "FATAL") or "FATAL")

    def stop(self) -> None:
        """Stop the session if it is ours, and wait until the Java that we started is gone."""
        if not self._is_ours:
            self._activate_again()
            return
        from py4j.protocol import Py4JError
        from pyspark import SparkContext

        with suppress(Py4JError, OSError):
            self.session.stop()
        if self._java is None:
            return
        context: Any = SparkContext
        with suppress(Py4JError, OSError):
            context._gateway.shutdown()
        context._gateway = context._jvm = None
        # The gateway ends when its standard input does.
        if self._java.stdin is not None:
            with suppress(OSError):
                self._java.stdin.close()
        try:
            self._java.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self._java.kill()
            self._java.wait()

    def _activate_again(self) -> None:
        """Make the user's session the active one again: handing a table to Spark made ours that."""
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        if self._active_before is not None:
            # A session becomes active by being handed something; an empty table starts no work.
            with suppress(PySparkException, Py4JError, OSError):
                self._active_before.createDataFrame([], "nothing int")


def open_session(folder: Path, master: str | None, session: SparkSession | None) -> OpenSession:
    """The user's session, named or active in this process; else one of ours on `master`, by default on this machine."""
    try:
        from pyspark import SparkContext
        from pyspark.sql import SparkSession
    except ImportError:
        raise MachineError(Finding(machine_rules.NO_PYSPARK, "pyspark")) from None
    if session is not None:
        return OpenSession(session, is_ours=False)
    context: Any = SparkContext
    if context._active_spark_context is not None:
        return OpenSession(SparkSession(context._active_spark_context), is_ours=False)
    return _start(folder, master)


def _start(folder: Path, master: str | None) -> OpenSession:
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    _pass_over_pandas()
    if "," in str(folder):
        # Spark would read the path as a list of folders, and write into all of them.
        raise MachineError(Finding(machine_rules.COMMA_IN_FOLDER, str(folder.parent)))
    context: Any = SparkContext
    java: subprocess.Popen[bytes] | None = None
    try:
        if context._gateway is None:
            with _environment(folder), (folder / "spark.log").open("wb") as log:
                gateway = launch_gateway(popen_kwargs={"stdout": log, "stderr": log})  # type: ignore[no-untyped-call]
            context._gateway, context._jvm, java = gateway, gateway.jvm, gateway.proc
        conf = SparkConf()
        if master is not None:
            conf.setMaster(master)
        for key, value in (_SETTINGS | _for_master(conf.get("spark.master", "local[*]") or "")).items():
            conf.setIfMissing(key, value)
        conf.setIfMissing("spark.sql.warehouse.dir", str(folder / "warehouse"))
        if java is None:
            # The Java is spark-submit's and started without our environment. Executors, whose cluster managers name
            # their folders, do not heed this setting.
            conf.setIfMissing("spark.local.dir", str(folder))
        conf.setIfMissing("spark.master", "local[*]")
        with _handler_of_interrupts():
            started = SparkContext(conf=conf)
    except BaseException as error:
        if java is not None:
            java.kill()
            java.wait()
            context._gateway = context._jvm = None
        if not isinstance(error, PySparkException | Py4JError | OSError | ValueError):
            raise
        raise MachineError(Finding(machine_rules.NO_SPARK, "Spark", seen=type(error).__name__)) from None
    return OpenSession(SparkSession(started), is_ours=True, java=java)


def _pass_over_pandas() -> None:
    """Let PySpark look for pandas now, as it does in every process, without a warning about a version of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        importlib.import_module("pyspark.testing.utils")


@contextmanager
def _handler_of_interrupts() -> Iterator[None]:
    """Keep the handler of Ctrl-C: a new context replaces it, for good."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


def _for_master(master: str) -> dict[str, str]:
    if master.startswith("local"):
        return _LOCAL
    return _WITH_SECRETS if master.startswith(("yarn", "k8s")) else {}


@contextmanager
def _environment(folder: Path) -> Iterator[None]:
    """The environment to start Java in; ours again afterwards.

    SPARK_LOCAL_DIRS names the driver's folder for temporary data. Unlike the setting `spark.local.dir` it is not
    passed on to executors on other machines, which keep to the cluster's own folders.
    """
    options = f"{_JAVA_OPTIONS} {os.environ.get('JDK_JAVA_OPTIONS', '')}".strip()
    changes = {"SPARK_LOCAL_DIRS": str(folder), "JDK_JAVA_OPTIONS": options}
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        changes["JAVA_HOME"] = str(java_home(folder))
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
