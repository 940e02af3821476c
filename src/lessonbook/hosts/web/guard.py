"""Lets through what the person's own browser sends from our own pages, and nothing else.

Every request, static files too: its ``Host`` is this machine's with our port (no other name that was made to resolve to
it), what the browser says of where it comes from is our own page, and its cookie is this run's. Whatever may change
something is a ``POST`` that names our own page as its ``Origin``. Every answer carries the policy that keeps a browser
from running or fetching anything but our own files.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Sequence
from http.cookies import CookieError, SimpleCookie
from secrets import token_urlsafe

from lessonbook.system.loopback import answer, told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import MutableMapping
    from typing import Any

    from lessonbook.system.loopback import App, Receive, Scope, Send

    Headers = Sequence[tuple[bytes, bytes]]

ENTER = "/enter"
"""Where the address that is opened leads, with its one-time token."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    # Not "no-referrer": a browser would then send "Origin: null" from our own pages.
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
    ("cache-control", "no-store"),
)
_STRICTER = (b"referrer-policy", b"no-referrer")
"""What a page may say for itself: the address it was opened by holds the token."""
NO_COOKIE = (
    "This page is for who started it. Open the address that `lessonbook review` printed; it works once, so where it "
    "has been used, start `lessonbook review` again."
)


class Keys:
    """What opens the page: a token that works once, and the secret it is exchanged for, both of this run alone."""

    def __init__(self) -> None:
        self.token = token_urlsafe(32)
        self.secret = token_urlsafe(32)
        self._is_used = False

    def take(self, token: str) -> bool:
        """Whether ``token`` is the one of this run and was not used yet; it is used then."""
        is_right = hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode())
        if not is_right or self._is_used:
            return False
        self._is_used = True
        return True


class Guard:
    """The door before every page: answers itself what must not pass, and puts our headers on every answer."""

    def __init__(self, app: App, keys: Keys, hosts: Iterable[str], port: int) -> None:
        self._app = app
        self._keys = keys
        self._cookie = cookie_name(port)
        self._hosts = frozenset(f"{name}:{port}" for name in hosts) | (frozenset(hosts) if port == 80 else frozenset())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check an HTTP request; the server's own start and end pass, and nothing else does."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return

        async def sealed(message: MutableMapping[str, Any]) -> None:
            """Put our headers on an answer, in the place of any of the same name."""
            if message["type"] == "http.response.start":
                ours = {name.encode(): value.encode() for name, value in _HEADERS}
                told_already = dict(message.get("headers", ()))
                if told_already.get(_STRICTER[0]) == _STRICTER[1]:
                    ours.update([_STRICTER])
                kept = [pair for pair in message.get("headers", ()) if pair[0].lower() not in ours]
                message = {**message, "headers": [*kept, *ours.items()]}
            await send(message)

        if scope["type"] != "http":
            await answer(sealed, 400, "Only HTTP is served here.")
            return
        refused = self.refusal(str(scope["method"]), str(scope["path"]), scope["headers"])
        if refused is not None:
            await answer(sealed, *refused)
        else:
            await self._app(scope, receive, sealed)

    def refusal(self, method: str, path: str, headers: Headers) -> tuple[int, str] | None:
        """Return the status and sentence for a request that must not pass, ``None`` for one that may."""
        hosts = told(headers, b"host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return 421, "This page does not answer to that Host."
        is_reading = method in ("GET", "HEAD")
        origins, sites = told(headers, b"origin"), told(headers, b"sec-fetch-site")
        own = [f"http://{hosts[0].lower()}"]
        if [origin.lower() for origin in origins] not in ([own, []] if is_reading else [own]):
            return 403, "Pages of another origin are not served."
        if is_reading and path == ENTER:
            return None
        if not all(site in ("same-origin", "none") for site in sites):
            return 403, "This page is not served to other pages; type or paste its address."
        if not self._holds_cookie(told(headers, b"cookie")):
            return 401, NO_COOKIE
        return None

    def _holds_cookie(self, lines: Iterable[str]) -> bool:
        wanted = self._keys.secret.encode()
        return any(
            hmac.compare_digest(value.encode("latin-1", "replace"), wanted)
            for line in lines
            for name, value in _cookies(line)
            if name == self._cookie
        )


def cookie_name(port: int) -> str:
    """Return what our cookie is called: cookies do not tell the ports of a machine apart."""
    return f"lessonbook-{port}"


def _cookies(line: str) -> Iterable[tuple[str, str]]:
    """Each cookie of a header: other servers of this machine set theirs for us too, and may set several of one name."""
    for part in line.split(";"):
        name, _, value = part.strip().partition("=")
        yield name, value


def cookie(name: str, value: str) -> str:
    """Return the header that sets a cookie for our own pages alone, which no script can read."""
    found: SimpleCookie = SimpleCookie()
    try:
        found[name] = value
    except CookieError as error:  # a name of ours is never such a one
        raise ValueError(name) from error
    found[name]["path"] = "/"
    found[name]["httponly"] = True
    found[name]["samesite"] = "Strict"
    return found[name].OutputString()
