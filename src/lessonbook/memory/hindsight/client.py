"""Speaks to a Hindsight server: seven requests, each bounded in time, none ever redirected, the token in no message.

What fails is a ``SendError`` whose sentence names the request, the server and what is known of the outcome.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from lessonbook.core.errors import SetupError
from lessonbook.core.value import Value
from lessonbook.memory.outbox.sending import Became, Kind, SendError, Standing
from lessonbook.system import http

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.system.credentials import Token

_BUSY = frozenset({408, 425, 429, 502, 503, 504})
_WRONG = frozenset({400, 409, 413, 422})
_STANDING = {
    "completed": Standing.DONE,
    "failed": Standing.FAILED,
    "cancelled": Standing.CANCELLED,
    "not_found": Standing.GONE,
}
UNKNOWN = "Whether it was stored is not known; it is sent again under the same id."
_SAID = 300


class Scoped(Value):
    """Which memories of a bank are meant: those with one of ``tags``, and untagged ones."""

    bank: str
    tags: tuple[str, ...]


class Client:
    """A Hindsight server at ``url``. ``now`` is the clock in epoch seconds, for waits the server asks for as a date."""

    def __init__(self, url: str, token: Token, now: Callable[[], float], *, allow_http: bool = False) -> None:
        self.destination = url.rstrip("/")
        self.host = urlsplit(url).netloc
        self._token = token
        self._now = now
        self._is_safe = url.lower().startswith("https:") or http.is_this_machine(url) or allow_http

    def set_up(self, bank: str, missions: Mapping[str, str], limit: float) -> None:
        """Make a bank, or tell one that is there what it is for."""
        self._call("set-up", "PUT", _bank(bank), dict(missions), limit)

    def retain(self, bank: str, operation: str, items: Sequence[Mapping[str, Any]], limit: float) -> None:
        """Hand items over under an operation id, which the server takes once."""
        document = {"items": list(items), "async": True, "operation_id": operation}
        self._call("retain", "POST", f"{_bank(bank)}/memories", document, limit, after=UNKNOWN)

    def operation(self, bank: str, operation: str, limit: float) -> Became:
        """Return what became of an operation."""
        try:
            told = self._call("status", "GET", f"{_bank(bank)}/operations/{operation}", None, limit)
        except SendError as error:
            if _is_absent(error):  # the bank itself
                return Became(Standing.GONE)
            raise
        return Became(_STANDING.get(str(told.get("status")), Standing.GOING), _remark(told))

    def try_again(self, bank: str, operation: str, limit: float) -> None:
        """Have a failed operation tried again; one that is under way already is left alone."""
        try:
            self._call("retry", "POST", f"{_bank(bank)}/operations/{operation}/retry", {}, limit)
        except SendError as error:
            if error.status != "409":
                raise

    def recall(self, scoped: Scoped, query: str, tokens: int, limit: float) -> dict[str, Any]:
        """Return the server's whole answer to a question; ``{}`` where there is no such bank yet."""
        told = {
            "query": query,
            "budget": "mid",
            "max_tokens": tokens,
            "types": ["world", "experience"],
            "include": {"entities": None, "chunks": {"max_tokens": tokens}},
            "tags": list(scoped.tags),
            "tags_match": "any",
        }
        return self._found("recall", "POST", f"{_bank(scoped.bank)}/memories/recall", told, limit)

    def reflect(self, scoped: Scoped, query: str, limit: float) -> str:
        """Return the server's answer in its own words."""
        told = {"query": query, "budget": "low", "tags": list(scoped.tags), "tags_match": "any"}
        found = self._call("reflect", "POST", f"{_bank(scoped.bank)}/reflect", told, limit)
        return str(found.get("text") or "")

    def newest(self, scoped: Scoped, count: int, limit: float) -> dict[str, Any]:
        """Return the newest memories as the server lists them; ``{}`` where there is no such bank yet."""
        return self._listed("memories/list", scoped, count, limit)

    def count(self, scoped: Scoped, limit: float) -> int:
        """Return how many documents there are."""
        total = self._listed("documents", scoped, 1, limit).get("total", 0)
        return total if isinstance(total, int) else 0

    def documents(self, scoped: Scoped, count: int, offset: int, limit: float) -> dict[str, Any]:
        """Return some documents as the server lists them, the newest first; ``{}`` where there is no such bank yet."""
        return self._listed("documents", scoped, count, limit, offset)

    def document(self, bank: str, document: str, limit: float) -> dict[str, Any]:
        """Return one document with its words; ``{}`` where there is none."""
        return self._found("show", "GET", f"{_bank(bank)}/documents/{quote(document, safe='')}", None, limit)

    def remove(self, bank: str, document: str, limit: float) -> bool:
        """Remove a document and what was made of it, for good; whether it was there."""
        path = f"{_bank(bank)}/documents/{quote(document, safe='')}"
        return bool(self._found("erase", "DELETE", path, None, limit))

    def _listed(self, what: str, scoped: Scoped, count: int, limit: float, offset: int = 0) -> dict[str, Any]:
        asked = urlencode({"limit": count, "offset": offset, "tags": scoped.tags, "tags_match": "any"}, doseq=True)
        return self._found("list", "GET", f"{_bank(scoped.bank)}/{what}?{asked}", None, limit)

    def _found(
        self, verb: str, method: str, path: str, document: Mapping[str, Any] | None, limit: float
    ) -> dict[str, Any]:
        try:
            return self._call(verb, method, path, document, limit)
        except SendError as error:
            if _is_absent(error):
                return {}
            raise

    def _call(
        self, verb: str, method: str, path: str, document: Mapping[str, Any] | None, limit: float, after: str = ""
    ) -> dict[str, Any]:
        """Send one request and return the object it answers with. ``after`` is said of one that may have arrived."""
        what = f"{verb} at {self.host}"
        headers = self._headers(what)
        try:
            answer = http.ask(method, f"{self.destination}/v1/default{path}", document, headers, timeout=limit)
        except http.UnansweredError as error:
            after = after if error.may_have_arrived else ""
            raise SendError(Kind.AWAY, "unanswered", f"{verb}: {error} {after}".strip()) from None
        if not 200 <= answer.status < 300:
            raise self._error(what, answer, with_token=bool(headers))
        found = _parsed(answer.body)
        if found is None:
            said = f"{what}: the answer is not a Hindsight server's: {_shown(answer.body) or 'it is empty'}"
            raise SendError(Kind.AWAY, "strange", said)
        return found

    def _headers(self, what: str) -> dict[str, str]:
        try:
            token = self._token()
        except SetupError as error:
            raise SendError(Kind.DENIED, "token", f"{what}: {error}") from None
        if token and not self._is_safe:
            said = "the token is not sent unencrypted to another machine: use https, or set hindsight.allow_http"
            raise SendError(Kind.DENIED, "token", f"{what}: {said}.")
        if not all(" " < char <= "~" for char in token):
            raise SendError(Kind.DENIED, "token", f"{what}: the token has characters that none has.")
        return {"Authorization": f"Bearer {token}"} if token else {}

    def _error(self, what: str, answer: http.Answer, *, with_token: bool) -> SendError:
        """What an answer that is no success means for what was asked."""
        status, said = answer.status, _detail(answer.body)
        asked = seconds_asked(answer.retry_after, self._now())
        if status in _BUSY or 300 <= status < 400:
            if status < 400:
                said = f"it redirects to {urlsplit(answer.location).netloc}, where nothing was sent"
            return SendError(Kind.AWAY, str(status), f"{what}: {status}: {said}", asked)
        if status == 404 and "detail" not in (_parsed(answer.body) or {}):  # a proxy, or another program altogether
            return SendError(Kind.AWAY, "strange", f"{what}: 404, and not from a Hindsight server: {said}", asked)
        if status in (401, 403):
            self._token.forget()
            missing = "" if with_token else "; no token was sent, as none is set"
            return SendError(Kind.DENIED, str(status), f"{what}: {status}: {said}{missing}")
        kind = Kind.REFUSED if status in _WRONG else Kind.TROUBLED if status >= 500 else Kind.STRANGE
        return SendError(kind, str(status), f"{what}: {status}: {said}", asked)


def seconds_asked(told: str, now: float) -> float | None:
    """Return how many seconds a ``Retry-After`` asks for, which may be a number or a date; ``None`` for neither."""
    told = told.strip()
    if told.isdecimal() and told.isascii():
        return float(told[:9])
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(told).timestamp() - now)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _bank(bank: str) -> str:
    return f"/banks/{quote(bank, safe='')}"


def _is_absent(error: SendError) -> bool:
    """Whether a server of the kind says that it has no such bank; one without such a request says only "Not Found"."""
    return error.status == "404" and not error.said.endswith(": Not Found")


def _parsed(body: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _detail(body: bytes) -> str:
    """What the server says is wrong, without what it was sent, which it repeats."""
    detail = (_parsed(body) or {}).get("detail")
    if isinstance(detail, list):
        rows = [one for one in detail if isinstance(one, dict)]
        detail = "; ".join(f"{'.'.join(map(str, one.get('loc') or ()))}: {one.get('msg')}" for one in rows)
    return str(detail)[:_SAID] if detail else _shown(body) or "it does not say why"


def _shown(body: bytes) -> str:
    return " ".join(body[:_SAID].decode("utf-8", "replace").split())


def _remark(told: Mapping[str, Any]) -> str:
    """What there is to say of an operation: why it failed, or what of it could not be read."""
    children = told.get("child_operations") or ()
    errors = [told.get("error_message"), *(one.get("error_message") for one in children if isinstance(one, dict))]
    metadata = told.get("result_metadata")
    unread = metadata.get("extraction_errors_count") if isinstance(metadata, dict) else 0
    if isinstance(unread, int) and unread:
        errors.append(f"the server could not make out {unread} of its parts")
    return "; ".join(dict.fromkeys(str(one) for one in errors if one))
