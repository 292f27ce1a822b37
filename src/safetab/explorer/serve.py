"""Serving a page on this machine: from a free port to the last browser that leaves.

In: a `Page`, and optionally a port. Out: nothing, when it is stopped. The promise: the port is open on 127.0.0.1 alone;
the address is announced when it answers; Ctrl-C, SIGTERM and a closed terminal stop the server within two seconds, and
no process or thread stays behind.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import socket
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import FrameType

from safetab.errors import Finding, MachineError
from safetab.explorer.page import Page
from safetab.rules.machine_rules import NO_EXPLORER, PORT_IN_USE

_HERE = "127.0.0.1"
_PACKAGES = ("shiny", "altair", "vl_convert")
#: Seconds that open connections have to end after a stop.
_GRACE = 1


def require_packages() -> None:
    """Raise unless the packages of the extra are installed."""
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        raise MachineError(Finding(NO_EXPLORER, "safetab explore", seen=f"missing: {', '.join(missing)}"))


def serve(page: Page, port: int | None, announce: Callable[[str], None], *, opens_browser: bool) -> None:
    """Serve a page until the process is told to stop. `announce` gets the address with the token when it answers."""
    require_packages()
    with _bound(port) as listening:
        from safetab.explorer.access import Access
        from safetab.explorer.shell import application

        app, inline_scripts = application(page)
        access = Access(app, listening.getsockname()[1], inline_scripts)

        def ready() -> None:
            announce(access.address)
            if opens_browser:
                webbrowser.open(access.address)

        with keeping_what_is_loaded():
            run_until_stopped(access, listening, ready)


@contextmanager
def keeping_what_is_loaded() -> Iterator[None]:
    """Spare every answer the search for garbage among groups and packages, which stay until the server ends."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextmanager
def _bound(port: int | None) -> Iterator[socket.socket]:
    """A socket of this machine alone: at the port, or at any free one."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        # A port that was closed a moment ago may be used again.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((_HERE, port or 0))
            listening.listen()
        except OSError as error:
            seen = f"port {port}: {error.strerror}"
            raise MachineError(Finding(PORT_IN_USE, "--port", seen=seen)) from None
        yield listening


def run_until_stopped(application: object, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Answer at a socket until a signal says stop. `ready` is called when it answers."""
    import uvicorn

    class Server(uvicorn.Server):
        """Stops at a signal and returns, where uvicorn would raise the signal again."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                ready()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            latecomers = asyncio.create_task(self._end_connections())
            await super().shutdown(sockets)
            latecomers.cancel()

        async def _end_connections(self) -> None:
            # Uvicorn tells the connections that are open when it stops. One that the system accepted just before is
            # made just after, and would be waited for in vain.
            told = set(self.server_state.connections)
            while True:
                await asyncio.sleep(0)
                for connection in self.server_state.connections - told:
                    connection.shutdown()
                    told.add(connection)
                await asyncio.sleep(0.02)

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            before = {number: signal.signal(number, self._stop) for number in _stopping_signals()}
            try:
                yield
            finally:
                for number, handler in before.items():
                    signal.signal(number, handler)

        def _stop(self, _number: int, _frame: FrameType | None) -> None:
            # A second Ctrl-C does not wait for open connections.
            self.force_exit = self.should_exit
            self.should_exit = True

    config = uvicorn.Config(
        application,  # type: ignore[arg-type]
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE,
        ws_max_size=1 << 20,
    )
    server = Server(config)
    with (
        _silent("asyncio", _is_about_a_browser_that_left),
        _silent("uvicorn.error", lambda record: server.should_exit and _is_about_the_end(record)),
    ):
        server.run(sockets=[listening])


@contextmanager
def _silent(logger: str, is_no_news: Callable[[logging.LogRecord], bool]) -> Iterator[None]:
    """Keep off the screen what nobody can do anything about."""

    def is_news(record: logging.LogRecord) -> bool:
        return not is_no_news(record)

    logging.getLogger(logger).addFilter(is_news)
    try:
        yield
    finally:
        logging.getLogger(logger).removeFilter(is_news)


def _is_about_a_browser_that_left(record: logging.LogRecord) -> bool:
    """That a tab was closed in the middle of an answer; it comes once for each message that was still to be sent."""
    return record.msg == "socket.send() raised exception."


def _is_about_the_end(record: logging.LogRecord) -> bool:
    """That an answer was cut off by the end of the server, or that its browser left before it was let in."""
    from starlette.websockets import WebSocketDisconnect

    cause = record.exc_info[1] if record.exc_info else None
    is_cut_off = isinstance(cause, (asyncio.CancelledError, WebSocketDisconnect))
    return is_cut_off or str(record.msg).startswith("Cancel %s running task(s)")


def _stopping_signals() -> list[signal.Signals]:
    names = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
    return [getattr(signal, name) for name in names if hasattr(signal, name)]
