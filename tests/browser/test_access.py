"""Who may see a page: one browser, on this machine, and nobody else; and how it ends."""

from __future__ import annotations

import http.client
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser

from safetab.cli.main import main
from tests.browser.conftest import Served, Visitor, serving
from tests.worlds.merovia import MEROVIA


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving(str(MEROVIA / "params")) as found:
        yield found


def ask(served: Served, path: str, **headers: str) -> tuple[int, str, http.client.HTTPMessage]:
    """One request, its path as it is written."""
    there = urlsplit(served.root)
    connection = http.client.HTTPConnection(there.hostname or "", there.port)
    connection.putrequest("GET", path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read().decode("utf-8", "replace")
    connection.close()
    return answer.status, body, answer.headers


def shake_hands(**headers: str) -> dict[str, str]:
    return {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        **headers,
    }


def test_one_browser_gets_in_and_nobody_else(served: Served, browser: Browser) -> None:
    for path in ("/", "/?token=", "/?token=0", "/vega.js", "/assets/explorer.css", "/websocket/", "/session/a/b/c"):
        assert ask(served, path)[0] == 403, path
    # The token does not open anything but the page.
    assert ask(served, f"/assets/explorer.css?{urlsplit(served.address).query}")[0] == 403

    visitor = Visitor.of(browser, served.address)
    assert visitor.page.url == f"{served.root}/", "the token does not stay in the address"
    visitor.page.wait_for_selector("main")
    (cookie,) = visitor.context.cookies()
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    pair = f"{cookie['name']}={cookie['value']}"
    assert served.address.partition("token=")[2] not in pair

    status, told, _ = ask(served, urlsplit(served.address).path + "?" + urlsplit(served.address).query)
    assert status == 403, "a token works once"
    assert "start the command again" in told
    assert ask(served, "/", Cookie=f"{cookie['name']}=0")[0] == 403

    status, _, headers = ask(served, "/", Cookie=pair)
    assert status == 200
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["cache-control"] == "no-store"
    host = urlsplit(served.root).netloc
    for foreign in ("evil.example", host.replace("127.0.0.1", "evil.example"), "127.0.0.1:1", "127.0.0.1.evil.example"):
        assert ask(served, "/", Cookie=pair, Host=foreign)[0] == 403, foreign
    assert ask(served, "/", Cookie=pair, Host=host.replace("127.0.0.1", "localhost"))[0] == 200

    for wrong in ({}, {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1:1"}):
        assert ask(served, "/websocket/", Cookie=pair, **shake_hands(**wrong))[0] == 403, wrong
    assert ask(served, "/websocket/", **shake_hands(Origin=served.root))[0] == 403
    assert ask(served, "/websocket/", Cookie=pair, **shake_hands(Origin=served.root))[0] == 101

    for path in ("/assets/../serve.py", "/assets/%2e%2e/serve.py", "/assets/..%2fserve.py", "/..%2f..%2fetc/passwd"):
        assert ask(served, path, Cookie=pair)[0] == 404, path
    visitor.close()


def test_the_port_is_open_on_this_machine_alone(served: Served) -> None:
    port = urlsplit(served.root).port or 0
    listening = [line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines()[1:] if " 0A " in line]
    assert [place for place in listening if place.endswith(f":{port:04X}")] == [f"0100007F:{port:04X}"]


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.long)])
def test_a_signal_ends_it_with_a_browser_still_open(number: signal.Signals, browser: Browser) -> None:
    with serving(str(MEROVIA / "params")) as found:
        visitor = Visitor.of(browser, found.address)
        visitor.page.wait_for_function("Shiny.shinyapp.isConnected()")
        found.process.send_signal(number)
        assert found.process.wait(60) == 0
        visitor.page.wait_for_selector("#stopped:not([hidden])")
        visitor.context.close()
        with pytest.raises(ProcessLookupError):
            os.kill(found.process.pid, 0)


def test_a_port_in_use_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert main(["explore", str(MEROVIA / "params"), "--no-browser", "--port", str(port)]) == 3
    assert "MACHINE-012" in capsys.readouterr().err
