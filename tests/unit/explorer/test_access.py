"""The rules of access, without a browser."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

import pytest

from safetab.explorer.access import Access, safety_headers

PORT = 4321
HOST = (b"host", b"127.0.0.1:4321")


async def _hello(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:  # noqa: ARG001
    await send({"type": "http.response.start", "status": 200, "headers": [(b"cache-control", b"public")]})


def ask(access: Access, path: str, *headers: tuple[bytes, bytes], method: str = "GET") -> tuple[int, dict[str, str]]:
    """The status and the headers of the answer; nothing here waits, so no loop of events is needed."""
    path, _, query = path.partition("?")
    scope = {"type": "http", "method": method, "path": path, "query_string": query.encode(), "headers": headers}
    sent: list[MutableMapping[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def receive() -> MutableMapping[str, Any]:
        raise AssertionError("nothing is sent to the server")

    with pytest.raises(StopIteration):
        access(scope, receive, send).__await__().__next__()
    return sent[0]["status"], {name.decode(): value.decode() for name, value in sent[0]["headers"]}


@pytest.fixture
def access() -> Access:
    return Access(_hello, PORT)


def test_the_token_is_exchanged_once(access: Access) -> None:
    assert ask(access, "/", HOST)[0] == 403
    status, headers = ask(access, f"/?token={access.token}", HOST)
    assert status == 303
    assert headers["location"] == "/"
    pair, *rest = headers["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=Strict"} <= set(rest)
    assert access.token not in pair
    assert ask(access, f"/?token={access.token}", HOST)[0] == 403
    status, headers = ask(access, "/", HOST, (b"cookie", f"other=1; {pair}".encode()))
    assert status == 200
    assert headers["cache-control"] == "no-store"
    assert ask(access, "/", HOST, (b"cookie", f"{pair}0".encode()))[0] == 403


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [(b"host", b"safetab.example:4321")],
        [(b"host", b"127.0.0.1")],
        [(b"host", b"127.0.0.1:80")],
        [HOST, (b"host", b"localhost:4321")],
        [HOST, (b"origin", b"http://safetab.example")],
        [HOST, (b"origin", b"http://localhost:4321")],
    ],
    ids=str,
)
def test_other_names_and_other_pages_get_nothing(access: Access, headers: list[tuple[bytes, bytes]]) -> None:
    assert ask(access, f"/?token={access.token}", *headers)[0] == 403
    assert ask(access, f"/?token={access.token}", HOST)[0] == 303, "the token was not used up"


def test_writing_needs_a_page_of_ours(access: Access) -> None:
    pair = ask(access, f"/?token={access.token}", HOST)[1]["set-cookie"].partition(";")[0].encode()
    assert ask(access, "/session/a/upload/b", HOST, (b"cookie", pair), method="POST")[0] == 403
    ours = (b"origin", b"http://127.0.0.1:4321")
    assert ask(access, "/session/a/upload/b", HOST, ours, (b"cookie", pair), method="POST")[0] == 200


def test_the_secrets_of_two_servers_differ() -> None:
    one, other = Access(_hello, PORT), Access(_hello, PORT)
    assert one.token != other.token
    assert len(one.token) == 64


def test_a_page_may_fetch_from_this_server_alone() -> None:
    policy = dict(safety_headers(PORT, ["go()"]))[b"content-security-policy"].decode()
    sources = {word for rule in policy.split("; ") for word in rule.split()[1:]}
    # printf 'go()' | openssl dgst -sha256 -binary | base64
    digest = "'sha256-5KYv+PUboo5h+0+YAtGRPbwv5d/QxzHslP4YGnUaxRw='"
    assert sources == {
        *("'none'", "'self'", "'unsafe-eval'", "'unsafe-inline'", "data:", digest),
        *("ws://127.0.0.1:4321", "ws://localhost:4321"),
    }
    assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]
