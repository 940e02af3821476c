"""The server over HTTP: for this machine, with a token, and for nobody whom a web page or another machine sent.

Every request is checked before anything else sees it: its ``Host`` (a page of another name that was made to resolve to
this machine), its ``Origin`` (a page that a browser shows), and the token, compared in constant time.
"""

from __future__ import annotations

import hmac
import sys
from collections.abc import Iterable
from secrets import token_urlsafe
from typing import TYPE_CHECKING

from lessonbook.core.errors import SetupError
from lessonbook.hosts.mcp.wire import LONGEST
from lessonbook.system.loopback import address_of, answer, is_loopback, listening, names, told, without_port
from lessonbook.system.serving import serve as serve_app
from lessonbook.system.settings import mcp_token

if TYPE_CHECKING:
    from lessonbook.hosts.mcp.server import Host
    from lessonbook.system.loopback import App, Receive, Scope, Send

PATH = "/mcp"
TOKEN = "LESSONBOOK_MCP_TOKEN"
SHORTEST = 16
"""Characters a token of a person's own must have."""


def serve(host: Host, address: str, port: int, allow_remote: bool) -> int:
    """Serve until this process is told to end; print where and how on standard error first.

    Raises ``InputError`` for an address of other machines that nobody allowed, or one that cannot be listened at.
    """
    given = mcp_token()
    token = _checked(given) or token_urlsafe(32)
    bound = listening(address, port, allow_remote)
    at, url = address_of(bound)
    _tell(f"{url}{PATH}", None if given else token, is_loopback(at))
    app = host.server.streamable_http_app(streamable_http_path=PATH, max_request_body_size=LONGEST)
    serve_app(Guard(app, token, names(address, at)), bound, host.close, host.announce)
    return 0


class Guard:
    """Lets through what comes from this machine's own clients and holds the token; answers all else itself."""

    def __init__(self, app: App, token: str, hosts: Iterable[str]) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check an HTTP request; other kinds of traffic (the server's own start and end) pass."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        refused = self.refusal(scope["headers"])
        if refused is None and scope["type"] == "http":
            await self._app(scope, receive, send)
            return
        status, sentence = refused or (400, "Only HTTP is served here.")
        await answer(send, status, sentence, *([(b"www-authenticate", b"Bearer")] if status == 401 else []))

    def refusal(self, headers: Iterable[tuple[bytes, bytes]]) -> tuple[int, str] | None:
        """Return the status and sentence for a request that must not pass, ``None`` for one that may."""
        found = [(bytes(name), bytes(value)) for name, value in headers]
        hosts = told(found, b"host")
        if len(hosts) != 1 or without_port(hosts[0]) not in self._hosts:
            return 421, "This server does not answer to that Host."
        if not all(map(self._is_own, told(found, b"origin"))):
            return 403, "Pages of another origin are not served."
        tokens = [value.partition(" ") for value in told(found, b"authorization")]
        held = tokens[0][2] if len(tokens) == 1 and tokens[0][0].lower() == "bearer" else ""
        if not hmac.compare_digest(held.encode("latin-1"), self._token):
            return 401, f"The token is missing or wrong: send the header Authorization: Bearer, with it; see {TOKEN}."
        return None

    def _is_own(self, origin: str) -> bool:
        scheme, _, host = origin.partition("://")
        return scheme in ("http", "https") and without_port(host) in self._hosts


def _checked(token: str) -> str:
    if token and (len(token) < SHORTEST or not token.isascii() or not token.isprintable() or " " in token):
        raise SetupError(f"{TOKEN} must hold at least {SHORTEST} ASCII characters without spaces.")
    return token


def _tell(shown: str, token: str | None, is_here: bool) -> None:
    lines = [f"lessonbook: serving the Model Context Protocol at {shown}"]
    if token is None:
        lines.append(f"Clients send the header  Authorization: Bearer  and what {TOKEN} holds.")
    else:
        lines.append(f"Clients send the header  Authorization: Bearer {token}")
        lines.append(f"This token is for this run; set {TOKEN} before starting for one that stays.")
    if not is_here:
        lines.append("Other machines can reach this address, and nothing is encrypted on the way, the token neither.")
    sys.stderr.write("\n".join((*lines, "Ctrl-C ends it.", "")))
    sys.stderr.flush()
