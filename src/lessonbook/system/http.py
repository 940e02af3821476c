"""One request to a service that speaks JSON: bounded in time and size, never redirected.

A redirect would carry the key to another address, so none is followed. The deadline holds for the whole exchange: a
timer cuts the connection, however slowly the other side drips. Proxies of the environment are used as everywhere, but
never for this machine itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from lessonbook.core.errors import ModelError, SetupError

if TYPE_CHECKING:
    from lessonbook.system.http_deadline import Cut

ANSWER = 8 << 20
"""Bytes an answer may have."""


class UnansweredError(Exception):
    """There is no answer. The message says why and names the host.

    ``may_have_arrived`` is whether what was sent may have reached it all the same.
    """

    def __init__(self, said: str, *, may_have_arrived: bool = True) -> None:
        super().__init__(said)
        self.may_have_arrived = may_have_arrived


@dataclass(frozen=True, slots=True)
class Answer:
    """What a service answered: the status, where it redirects to (never followed), and the body."""

    status: int
    location: str
    body: bytes
    retry_after: str = ""
    """When it wants to be asked again, in its own words (RFC 9110 §10.2.3); empty where it does not say."""


def check_address(url: str, name: str) -> None:
    """Raise ``SetupError`` where ``url`` is not an address that can be asked; ``name`` is the setting that holds it."""
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        good = False
    if not good or not url.isascii() or any(char.isspace() for char in url):
        raise SetupError(f"{name} must be an http or https address, such as http://localhost:8888.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise SetupError(f"{name} must be a plain address: no name, password, query or fragment in it.")


def is_this_machine(url: str) -> bool:
    """Whether an address is this machine itself, so that what goes there is on no network."""
    return urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")


def post_json(url: str, document: Mapping[str, Any], headers: Mapping[str, str], *, timeout: float) -> Answer:
    """Send ``document`` to ``url`` and return what comes back, whatever its status.

    Raises ``ModelError`` where the service cannot be reached, takes longer than ``timeout`` seconds in all, breaks off,
    or answers with more than ``ANSWER`` bytes.
    """
    try:
        return ask("POST", url, document, headers, timeout=timeout)
    except UnansweredError as error:
        raise ModelError(str(error)) from None


def ask(
    method: str, url: str, document: Mapping[str, Any] | None, headers: Mapping[str, str], *, timeout: float
) -> Answer:
    """Send a request, with ``document`` where there is one, and return what comes back, whatever its status.

    Raises ``UnansweredError`` where the service cannot be reached, takes longer than ``timeout`` seconds in all, breaks
    off, or answers with more than ``ANSWER`` bytes.
    """
    import socket
    from http.client import HTTPException

    from lessonbook.core.clean import clean_line
    from lessonbook.core.redact import redact
    from lessonbook.system.http_deadline import Cut

    host = urlsplit(url).netloc
    with Cut(timeout) as cut:
        try:
            data = None if document is None else json.dumps(document).encode()
            answer, size = _exchange(method, url, data, headers, cut, timeout)
        except (OSError, HTTPException, ValueError) as error:
            if cut.made or isinstance(error, TimeoutError):
                raise UnansweredError(f"{host} did not answer within {timeout:g} seconds.") from None
            why = redact(clean_line(str(getattr(error, "reason", error)))).text[:200] or type(error).__name__
            # Nobody listens there, or there is no such host: then nothing was sent.
            cause = getattr(error, "reason", error)
            arrived = not isinstance(cause, (ConnectionRefusedError, socket.gaierror))
            raise UnansweredError(f"{host} cannot be reached: {why}.", may_have_arrived=arrived) from None
    if cut.made:
        raise UnansweredError(f"{host} did not answer within {timeout:g} seconds.")
    if len(answer.body) > ANSWER:
        raise UnansweredError(f"{host} answered with more than {ANSWER:,} bytes.")
    if len(answer.body) < size:
        raise UnansweredError(f"{host} broke off in the middle of its answer.")
    return answer


def _exchange(
    method: str, url: str, data: bytes | None, headers: Mapping[str, str], cut: Cut, timeout: float
) -> tuple[Answer, int]:
    """The answer, as much of it as is read, and how many bytes it said that it has."""
    import urllib.error
    import urllib.request

    from lessonbook.system.http_deadline import opener

    sent = {"Content-Type": "application/json", "Accept": "application/json", **headers}
    request = urllib.request.Request(url, data, sent, method=method)
    try:
        reply = opener(cut, direct=is_this_machine(url)).open(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        reply = error
    with reply:
        said = reply.headers.get("Content-Length") or ""
        location, later = (reply.headers.get(name) or "" for name in ("Location", "Retry-After"))
        answer = Answer(reply.status or 0, location, reply.read(ANSWER + 1), later)
    return answer, int(said) if said.isdecimal() else 0
