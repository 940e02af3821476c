"""The server over HTTP: for this machine, with a token, and for nobody whom a web page or another machine sent.

Every request is checked before anything else sees it: its ``Host`` (a page of another name that was made to resolve to
this machine), its ``Origin`` (a page that a browser shows), and the token, compared in constant time.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from contextlib import suppress
from secrets import token_urlsafe
from threading import Timer
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from lessonbook.core.errors import InputError, SetupError, reason
from lessonbook.hosts.mcp.wire import GRACE, INTERRUPTED, LONGEST, leave
from lessonbook.system.settings import mcp_token

if TYPE_CHECKING:
    from lessonbook.hosts.mcp.server import Host

    Scope = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
    App = Callable[[Scope, Receive, Send], Awaitable[None]]

PATH = "/mcp"
TOKEN = "LESSONBOOK_MCP_TOKEN"
SHORTEST = 16
"""Characters a token of a person's own must have."""
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def serve(host: Host, address: str, port: int, allow_remote: bool) -> int:
    """Serve until this process is told to end; print where and how on standard error first.

    Raises ``InputError`` for an address of other machines that nobody allowed, or one that cannot be listened at.
    """
    given = mcp_token()
    token = _checked(given) or token_urlsafe(32)
    listening = _listening(address, port, allow_remote)
    at, bound = listening.getsockname()[:2]
    shown = f"http://{f'[{at}]' if ':' in at else at}:{bound}{PATH}"
    _tell(shown, None if given else token, _is_loopback(at))
    names = dict.fromkeys((*_LOOPBACK, _as_host(address), _as_host(at)))
    app = host.server.streamable_http_app(streamable_http_path=PATH, max_request_body_size=LONGEST)
    guarded = Guard(app, token, names)

    def ended(number: int, frame: object) -> NoReturn:
        """End: uvicorn hands a signal on to us when it has let what was being answered come to its end."""
        host.close()
        leave(INTERRUPTED if number == signal.SIGINT else 0)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, ended)
    asyncio.run(_run(host, guarded, listening))
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
        await _answer(send, *(refused or (400, "Only HTTP is served here.")))

    def refusal(self, headers: Iterable[tuple[bytes, bytes]]) -> tuple[int, str] | None:
        """Return the status and sentence for a request that must not pass, ``None`` for one that may."""
        told = [(name.lower(), value.decode("latin-1")) for name, value in headers]
        hosts = [value for name, value in told if name == b"host"]
        if len(hosts) != 1 or _without_port(hosts[0]) not in self._hosts:
            return 421, "This server does not answer to that Host."
        if not all(self._is_own(value) for name, value in told if name == b"origin"):
            return 403, "Pages of another origin are not served."
        tokens = [value.partition(" ") for name, value in told if name == b"authorization"]
        held = tokens[0][2] if len(tokens) == 1 and tokens[0][0].lower() == "bearer" else ""
        if not hmac.compare_digest(held.encode("latin-1"), self._token):
            return 401, f"The token is missing or wrong: send the header Authorization: Bearer, with it; see {TOKEN}."
        return None

    def _is_own(self, origin: str) -> bool:
        scheme, _, host = origin.partition("://")
        return scheme in ("http", "https") and _without_port(host) in self._hosts


async def _run(host: Host, app: Guard, listening: socket.socket) -> None:
    import uvicorn

    class Bounded(uvicorn.Server):
        """A server that ends within ``GRACE`` seconds of a signal, whatever still hangs."""

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            limit = Timer(GRACE, leave, (INTERRUPTED if sig == signal.SIGINT else 0,))
            limit.daemon = True
            limit.start()
            super().handle_exit(sig, frame)

    settings = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, ws="none", timeout_graceful_shutdown=1
    )
    announcing = asyncio.create_task(host.announce())
    try:
        await Bounded(settings).serve(sockets=[listening])
    finally:
        announcing.cancel()


def _checked(token: str) -> str:
    if token and (len(token) < SHORTEST or not token.isascii() or not token.isprintable() or " " in token):
        raise SetupError(f"{TOKEN} must hold at least {SHORTEST} ASCII characters without spaces.")
    return token


def _listening(address: str, port: int, allow_remote: bool) -> socket.socket:
    if not 0 <= port <= 65535:
        raise InputError(f"--port must be from 0 to 65535, not {port}.")
    try:
        family, _, _, _, where = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        raise InputError(f"--host {address!r} is no address of this machine: {reason(error)}.") from error
    if ipaddress.ip_address(str(where[0]).partition("%")[0]).is_unspecified:
        raise InputError(f"--host {address} would be every address of this machine; name one of them.")
    if not _is_loopback(str(where[0])) and not allow_remote:
        raise InputError(
            f"{address} can be reached from other machines, and nothing is encrypted. Leave out --host, or add "
            "--allow-remote if you mean it."
        )
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(where)
        listening.listen()  # who read the address may connect at once
    except OSError as error:
        raise InputError(f"{address} port {port} cannot be listened at: {reason(error)}; try --port 0.") from error
    return listening


def _tell(shown: str, token: str | None, is_loopback: bool) -> None:
    lines = [f"lessonbook: serving the Model Context Protocol at {shown}"]
    if token is None:
        lines.append(f"Clients send the header  Authorization: Bearer  and what {TOKEN} holds.")
    else:
        lines.append(f"Clients send the header  Authorization: Bearer {token}")
        lines.append(f"This token is for this run; set {TOKEN} before starting for one that stays.")
    if not is_loopback:
        lines.append("Other machines can reach this address, and nothing is encrypted on the way, the token neither.")
    sys.stderr.write("\n".join((*lines, "Ctrl-C ends it.", "")))
    sys.stderr.flush()


def _is_loopback(address: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(address.partition("%")[0]).is_loopback
    return False


def _as_host(name: str) -> str:
    return f"[{name.lower()}]" if ":" in name else name.lower()


def _without_port(host: str) -> str:
    name, colon, port = host.lower().rpartition(":")
    return name if colon and port.isdigit() else host.lower()


async def _answer(send: Send, status: int, sentence: str) -> None:
    body = f"{sentence}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
