"""A browser for the tests of pages, and the real command that serves them.

`serving` starts `safetab explore ...` and stops it as Ctrl-C does; `Visitor` is a browser that was given its address.
A visitor notes every error of the console and every request that leaves this machine; `Visitor.close` fails if there
was any. Tests of one page share a server and a visitor through a fixture of their own of scope "package".
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

#: Milliseconds that the browser waits for what a test looks for; far more than it takes.
PATIENCE = 30_000
_OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One process runs all tests of pages, so that they share servers and the browser."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("browser"))


@dataclass(frozen=True)
class Served:
    """A running command; `address` has the token, which works once."""

    process: subprocess.Popen[str]
    address: str

    @property
    def root(self) -> str:
        """The address without the token, such as http://127.0.0.1:1234."""
        return self.address.partition("/?")[0]


@contextmanager
def serving(*words: str, folder: Path | None = None) -> Iterator[Served]:
    """`safetab explore` with these words in a process of its own; it must end well when it is interrupted."""
    process = subprocess.Popen(
        [sys.executable, "-m", "safetab", "explore", *words, "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=os.environ | {"COLUMNS": "100"},
        preexec_fn=_heed_interrupts,
    )
    assert process.stdout is not None
    try:
        address = next((line.strip() for line in process.stdout if line.startswith("http://")), "")
        if not address:
            pytest.fail(f"the command ended: {process.communicate()[1]}")
        yield Served(process, address)
        process.send_signal(signal.SIGINT)
        _, complaints = process.communicate(timeout=60)
        assert process.returncode == 0, complaints
        assert complaints == "", complaints
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def _heed_interrupts() -> None:
    # A test run in the background of a shell has interrupts switched off, and its children would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass
class Visitor:
    """A browser that was given the address of a page, what its console complained of and where it asked elsewhere."""

    context: BrowserContext
    page: Page
    errors: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, browser: Browser, address: str, **options: Any) -> Visitor:
        context = browser.new_context(**options)
        context.set_default_timeout(PATIENCE)
        visitor = cls(context, context.new_page())
        visitor.watch(visitor.page)
        visitor.page.goto(address)
        return visitor

    def watch(self, page: Page) -> None:
        """Note errors and requests of a further page of this browser."""
        page.on("console", lambda said: self._note_words(said.type, said.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("response", lambda answer: self._note_answer(answer.status, answer.url))
        page.on("request", lambda request: self._note_request(request.url))
        page.on("websocket", lambda socket: self._note_request(socket.url))

    def _note_words(self, kind: str, text: str) -> None:
        # Shiny loads a calendar that says this of its own files.
        is_calendar = kind == "warning" and text.startswith("DEPRECATED: ")
        if kind in {"error", "warning"} and not is_calendar:
            self.errors.append(text)

    def _note_answer(self, status: int, url: str) -> None:
        if status >= 400:
            self.errors.append(f"{status} {url}")

    def _note_request(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"data", "blob"} and parts.hostname != "127.0.0.1":
            self.elsewhere.append(url)

    def close(self) -> None:
        """Leave; nothing may have gone wrong on the way."""
        self.context.close()
        assert self.errors == []
        assert self.elsewhere == []


def serious_faults(page: Page) -> list[tuple[str, list[str]]]:
    """What axe-core calls serious or critical: the rule, and what breaks it.

    Nothing is told of what is sound: to describe that takes longer than to judge it. Styles are in the page already;
    axe-core would ask for them again at a wrong address.
    """
    found = Axe().run(page, options={"preload": False, "resultTypes": ["violations"]}).response["violations"]
    return [
        (fault["id"], [node["html"][:200] for node in fault["nodes"]])
        for fault in found
        if fault["impact"] in {"serious", "critical"}
    ]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium without a screen; tests that need it are skipped where there is none."""
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("there is no chromium on this machine")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=list(_OPTIONS))
        yield started
        started.close()
