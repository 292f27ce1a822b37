"""What the page needs from the machine, without a browser."""

from __future__ import annotations

import signal
import socket
import struct
import subprocess
import sys
import threading

import pytest

from safetab.cli.main import main
from safetab.explorer import serve
from tests.worlds.merovia import MEROVIA


def test_a_missing_package_is_reported_with_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(serve, "find_spec", lambda name: None if name == "altair" else object())
    assert main(["explore", str(MEROVIA / "params")]) == 3
    told = " ".join(capsys.readouterr().err.split())
    assert "MACHINE-011" in told
    assert "missing: altair" in told
    assert "pip install 'safetab[explore]'" in told


def test_the_package_imports_no_shiny_before_a_page_is_made() -> None:
    script = (
        "import sys; import safetab.cli.explore; "
        "print(*{name.partition('.')[0] for name in sys.modules} & {'shiny', 'altair', 'vl_convert', 'uvicorn'})"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


# An application that answers a websocket with many messages at once, after it was told that the browser is gone.
_TALKATIVE = """
import socket, sys
from safetab.explorer.serve import run_until_stopped

async def talk(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": message["type"] + ".complete"})
            if message["type"] == "lifespan.shutdown":
                return
    await receive()
    await send({"type": "websocket.accept"})
    sys.stdin.readline()
    sent = 0
    try:
        for sent in range(20):
            await send({"type": "websocket.send", "text": "x"})
    finally:
        print(sent, flush=True)

with socket.socket() as listening:
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    run_until_stopped(talk, listening, lambda: print(listening.getsockname()[1], flush=True))
"""


def test_a_tab_that_is_closed_in_the_middle_of_an_answer_leaves_nothing_on_the_screen() -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", _TALKATIVE], stdin=pipe, stdout=pipe, stderr=pipe, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        port = int(server.stdout.readline())
        with socket.create_connection(("127.0.0.1", port)) as browser:
            browser.sendall(
                f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
            )
            assert browser.recv(12) == b"HTTP/1.1 101"
            # Gone without a word, as when a tab is killed.
            browser.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        server.stdin.write("it is gone\n")
        server.stdin.flush()
        assert int(server.stdout.readline()) > 5, "too few messages for asyncio to complain"
        server.send_signal(signal.SIGINT)
        _, complaints = server.communicate(timeout=60)
    assert complaints == ""
    assert server.returncode == 0


# Applications that wait for the browser, and that are still busy when the server has waited long enough.
_WAITING = """
import asyncio, socket, sys
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from safetab.explorer.serve import run_until_stopped

async def talk(websocket):
    await websocket.accept()
    if "busy" in sys.argv:
        await asyncio.sleep(3600)
    async for _ in websocket.iter_text():
        pass

with socket.create_server(("127.0.0.1", 0)) as listening:
    ready = lambda: print(listening.getsockname()[1], flush=True)
    run_until_stopped(Starlette(routes=[WebSocketRoute("/", talk)]), listening, ready)
"""
_HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


def _knock(port: int, opened: list[socket.socket], number: int) -> None:
    """Open websockets until nobody answers, `number` at the most."""
    for _ in range(number):
        try:
            opened.append(socket.create_connection(("127.0.0.1", port), 5))
            opened[-1].sendall(_HANDSHAKE)
        except OSError:
            return


@pytest.mark.parametrize("kind", ["waiting", "busy"])
def test_browsers_that_come_while_it_stops_leave_nothing_on_the_screen(kind: str) -> None:
    pipe = subprocess.PIPE
    opened: list[socket.socket] = []
    with subprocess.Popen([sys.executable, "-c", _WAITING, kind], stdout=pipe, stderr=pipe, text=True) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        _knock(port, opened, 5)
        visitors = [threading.Thread(target=_knock, args=(port, opened, 5_000)) for _ in range(2)]
        for visitor in visitors:
            visitor.start()
        server.send_signal(signal.SIGTERM)
        _, complaints = server.communicate(timeout=60)
        for visitor in visitors:
            visitor.join()
        for websocket in opened:
            websocket.close()
    assert complaints == ""
    assert server.returncode == 0
    assert len(opened) > 5, "nobody came while it stopped"
