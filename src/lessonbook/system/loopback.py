"""Listening at an address of this machine, and telling our own clients from whatever a web page sends there."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from contextlib import suppress

from lessonbook.core.errors import InputError, reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Scope = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
    App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
"""The names of this machine as a ``Host`` says them, without the port."""


def listening(address: str, port: int, allow_remote: bool) -> socket.socket:
    """Return a socket that listens at ``address``; port 0 is a free one.

    Raises ``InputError`` for an address of other machines that nobody allowed, for every address at once, and for one
    that cannot be listened at.
    """
    if not 0 <= port <= 65535:
        raise InputError(f"--port must be from 0 to 65535, not {port}.")
    try:
        family, _, _, _, where = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        raise InputError(f"--host {address!r} is no address of this machine: {reason(error)}.") from error
    if ipaddress.ip_address(str(where[0]).partition("%")[0]).is_unspecified:
        raise InputError(f"--host {address} would be every address of this machine; name one of them.")
    if not is_loopback(str(where[0])) and not allow_remote:
        raise InputError(
            f"{address} can be reached from other machines, and nothing is encrypted. Leave out --host, or add "
            "--allow-remote if you mean it."
        )
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind(where)
        found.listen()  # who read the address may connect at once
    except OSError as error:
        raise InputError(f"{address} port {port} cannot be listened at: {reason(error)}; try --port 0.") from error
    return found


def is_loopback(address: str) -> bool:
    """Whether only this machine reaches the address."""
    with suppress(ValueError):
        return ipaddress.ip_address(address.partition("%")[0]).is_loopback
    return False


def as_host(name: str) -> str:
    """Return a name or an address as it stands in a ``Host``: one of IPv6 between brackets."""
    return f"[{name.lower()}]" if ":" in name else name.lower()


def address_of(listening: socket.socket) -> tuple[str, str]:
    """Return the address a socket listens at, and the beginning of every URL there: ``http://127.0.0.1:8377``."""
    at, bound = listening.getsockname()[:2]
    return str(at), f"http://{as_host(str(at))}:{bound}"


def names(address: str, at: str) -> frozenset[str]:
    """Return what ``Host`` may say, without the port, of a server that was told ``address`` and listens at ``at``."""
    return frozenset((*LOOPBACK, as_host(address), as_host(at)))


def without_port(host: str) -> str:
    """Return the name in a ``Host``, in lower case."""
    name, colon, port = host.lower().rpartition(":")
    return name if colon and port.isdigit() else host.lower()


def told(headers: Iterable[tuple[bytes, bytes]], wanted: bytes) -> list[str]:
    """Return every value of a header, as text."""
    return [value.decode("latin-1") for name, value in headers if name.lower() == wanted]


async def answer(send: Send, status: int, sentence: str, *more: tuple[bytes, bytes]) -> None:
    """Answer with a sentence and nothing else."""
    body = f"{sentence}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode()), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
