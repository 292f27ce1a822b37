"""Who may see the page: the browser that was given the address, on this machine, and nobody else.

In: every request and every websocket that reaches the port. Out: the same to the application, or a refusal. The
promise: nothing is answered without the cookie that the one-time token was exchanged for; nothing under a name that is
not this machine's, so that no foreign web page can reach the port by a name of its own; no websocket that another
site's page opens; and no page that tells the browser to fetch anything from elsewhere.
"""

from __future__ import annotations

import hmac
from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from safetab.noise.source import SystemSource

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

_NAMES = ("127.0.0.1", "localhost")
_WITHOUT_COOKIE = (
    "403: this page is for the person who started `safetab explore`.\n"
    "Open the address that the command printed. It works once; to open the page again, start the command again.\n"
)
_FOREIGN_NAME = "403: this server answers to localhost and 127.0.0.1 only.\n"
_FOREIGN_PAGE = "403: another page may not use this server.\n"


def new_secret() -> str:
    """A word of 256 random bits."""
    return "".join(f"{int(word):016x}" for word in SystemSource().bits(4, 64))


def safety_headers(port: int, inline_scripts: Iterable[str]) -> list[tuple[bytes, bytes]]:
    """What every answer tells the browser: use this server alone, show it in no frame, keep nothing.

    Scripts within the document run only if they are among `inline_scripts`.
    """
    digests = [b64encode(sha256(script.encode()).digest()).decode() for script in inline_scripts]
    scripts = " ".join(["'self'", "'unsafe-eval'", *(f"'sha256-{digest}'" for digest in digests)])
    sockets = " ".join(f"ws://{name}:{port}" for name in _NAMES)
    # Vega compiles its expressions, hence unsafe-eval; Shiny and Vega set styles on elements.
    policy = (
        f"default-src 'none'; script-src {scripts}; style-src 'self' 'unsafe-inline'; "
        f"img-src 'self' data:; font-src 'self' data:; connect-src 'self' {sockets}; "
        "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
    )
    return [
        (b"content-security-policy", policy.encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"x-frame-options", b"DENY"),
        (b"referrer-policy", b"no-referrer"),
        (b"cross-origin-resource-policy", b"same-origin"),
        (b"cache-control", b"no-store"),
    ]


class Access:
    """The rules of one server. `token` is good for one visit, in which it is exchanged for the cookie."""

    def __init__(self, application: Application, port: int, inline_scripts: Iterable[str] = ()) -> None:
        self._application, self._port = application, port
        self.token = new_secret()
        self._is_token_used = False
        self._cookie = new_secret()
        # A browser shares cookies among all ports of a machine; the name keeps two servers apart.
        self._cookie_name = f"safetab-{port}"
        self._hosts = {f"{name}:{port}" for name in _NAMES}
        self._headers = safety_headers(port, inline_scripts)

    @property
    def address(self) -> str:
        """The address to open, with the token."""
        return f"http://127.0.0.1:{self._port}/?token={self.token}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is None:
            await self._application(scope, receive, self._with_headers(send))
        elif refusal == _WITHOUT_COOKIE and self._takes_token(scope):
            cookie = f"{self._cookie_name}={self._cookie}; HttpOnly; SameSite=Strict; Path=/"
            # Away from the address with the token, so that it is in no history entry that still works.
            await self._answer(send, 303, "", [(b"location", b"/"), (b"set-cookie", cookie.encode())])
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self._answer(send, 403, refusal, [])

    def _refusal(self, scope: Scope) -> str | None:
        """Why a request is not answered; None where it is."""
        hosts = _header(scope, b"host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return _FOREIGN_NAME
        origins = _header(scope, b"origin")
        needs_origin = scope["type"] == "websocket" or scope["method"] not in {"GET", "HEAD"}
        if (needs_origin and not origins) or any(origin != f"http://{hosts[0].lower()}" for origin in origins):
            return _FOREIGN_PAGE
        return None if self._has_cookie(scope) else _WITHOUT_COOKIE

    def _has_cookie(self, scope: Scope) -> bool:
        for text in _header(scope, b"cookie"):
            try:
                morsel = SimpleCookie(text).get(self._cookie_name)
            except CookieError:
                continue
            if morsel is not None and hmac.compare_digest(morsel.value.encode(), self._cookie.encode()):
                return True
        return False

    def _takes_token(self, scope: Scope) -> bool:
        if self._is_token_used or scope["type"] != "http" or scope["method"] != "GET" or scope["path"] != "/":
            return False
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        self._is_token_used = hmac.compare_digest(given.encode(), self.token.encode())
        return self._is_token_used

    def _with_headers(self, send: Send) -> Send:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                ours = {name for name, _ in self._headers}
                kept = [pair for pair in message.get("headers", ()) if pair[0].lower() not in ours]
                message = {**message, "headers": [*kept, *self._headers]}
            await send(message)

        return sending

    async def _answer(self, send: Send, status: int, text: str, headers: Iterable[tuple[bytes, bytes]]) -> None:
        plain = [(b"content-type", b"text/plain; charset=utf-8"), *headers, *self._headers]
        await send({"type": "http.response.start", "status": status, "headers": plain})
        await send({"type": "http.response.body", "body": text.encode()})


def _header(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]
