"""What waits for a server, what was set aside, and what a person does about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import gmtime, strftime
from typing import Any, TypeAlias

from lessonbook.core.errors import SetupError
from lessonbook.memory import aside
from lessonbook.memory.outbox.delivery import Delivery
from lessonbook.memory.outbox.destinations import Destination, Destinations
from lessonbook.memory.outbox.items import WAITING, Row, State
from lessonbook.memory.outbox.outbox import OUTBOX_FILE, Outbox
from lessonbook.system.settings import Settings

Answer: TypeAlias = tuple[dict[str, Any], str]
HEAD = ("id", "state", "since", "tries", "what", "why")
SHOWN = 100
NOTHING = "Nothing waits."
_EXCERPT = 80
_OLD = "{} was damaged and set aside; all that could be read of it is here. Delete it when you need it no more."
NO_SERVER = (
    "No server is configured to deliver to; set memory.backend to hindsight and hindsight.url, or to postgres and "
    "postgres.url."
)


def open_outbox(settings: Settings) -> Outbox:
    """Return the outbox of this machine; opens no file before its first use."""
    return Outbox(settings.agent_dir / OUTBOX_FILE)


def current(settings: Settings) -> str | None:
    """Return what the server that is configured is called in the outbox; ``None`` for none."""
    if settings.memory_backend == "postgres" and settings.postgres_url:
        from lessonbook.memory.postgres.connection import Connection
        from lessonbook.memory.postgres.items import destination

        return destination(Connection(settings.postgres_url, settings.postgres_team))
    return settings.hindsight_url if settings.memory_backend == "hindsight" else None


def listed(
    outbox: Outbox, limit: int, now: float, to: str | None
) -> tuple[dict[str, Any], list[tuple[str, ...]], list[str]]:
    """Return what waits and what was set aside as a document, as rows of ``HEAD``, and a sentence for each server.

    ``to`` is the server that is configured, as ``current`` says; what waits for another one says so.
    """
    rows, counts = outbox.rows((*WAITING, State.DEAD), limit), outbox.counts()
    servers = [known for known in Destinations(outbox).everywhere() if known.said]
    mended = outbox.told()
    document = {
        "ok": True,
        "counts": counts,
        "items": [_document(row) for row in rows],
        "servers": [{**known.as_dict(), "asked_again": known.open_until} for known in servers],
        "mended": mended,
    }
    olds = [_OLD.format(old.name) for old in aside.found(outbox.file.path)]
    said = [*([mended] if mended else olds), *(_server(known, now) for known in servers)]
    return document, [_line(row, to) for row in rows], said


def retry(outbox: Outbox, ids: Sequence[int], now: float) -> Answer:
    """Put what was set aside in line again, all of it where no ids are given. Raises ``InputError``."""
    count = outbox.retry(ids or None, now)
    text = f"{_items(count)} in line again; `lessonbook outbox flush` sends now." if count else "Nothing was set aside."
    return {"ok": True, "retried": count}, _with(text, outbox)


def move(outbox: Outbox, to: str | None, now: float) -> Answer:
    """Let what waits for servers that are not configured now go to the one that is. Raises ``SetupError`` for none."""
    if to is None:
        raise SetupError(NO_SERVER)
    is_http = _is_http(to)
    count = outbox.move(to.rstrip("/"), lambda other: _is_http(other) == is_http, now)
    text = f"{_items(count)} for {to} now; `lessonbook outbox flush` sends." if count else "Nothing waits elsewhere."
    return {"ok": True, "moved": count}, _with(text, outbox)


def _is_http(destination: str) -> bool:
    """Whether a destination is a Hindsight server's, which is told lessons in another form than PostgreSQL."""
    return destination.startswith(("http://", "https://"))


def drop(outbox: Outbox, ids: Sequence[int]) -> Answer:
    """Remove what was set aside for good, or what waits where its id is given. Raises ``InputError``."""
    count = outbox.drop(ids or None)
    text = f"Dropped {_items(count)}." if count else "Nothing was set aside."
    return {"ok": True, "dropped": count}, _with(text, outbox)


def flush(memory: object, outbox: Outbox, seconds: float, wait: Callable[[float], object], *, insist: bool) -> Answer:
    """Deliver for at most ``seconds`` and say what arrived, what was set aside and what still waits.

    ``insist`` asks a server too that is left alone for a while. Raises ``SetupError`` where no server is configured.
    """
    delivery = getattr(memory, "delivery", None)
    if not isinstance(delivery, Delivery):
        raise SetupError(NO_SERVER)
    came = delivery.deliver(seconds, wait, insist=insist)
    counts = outbox.counts()
    left = sum(counts[state] for state in WAITING)
    mended = outbox.told()
    told = {"arrived": came.done, "set_aside": came.dead, "waiting": left, "trouble": came.trouble}
    said = [f"{_items(came.done)} arrived", *([f"{_items(came.dead)} set aside"] if came.dead else [])]
    said += [f"{_items(left)} waiting"] if left else []
    text = f"{', '.join(said)}." if came.done or came.dead or left else NOTHING
    return {"ok": not left and not came.dead, **told}, " ".join(filter(None, (text, came.trouble, mended)))


def _with(text: str, outbox: Outbox) -> str:
    """Say too what was done about a damaged file."""
    return " ".join(filter(None, (text, outbox.told())))


def _document(row: Row) -> dict[str, Any]:
    told = {name: getattr(row, name) for name in ("destination", "bank", "document", "kind", "attempts", "next_at")}
    why = {"status": row.last_status, "error": row.last_error}
    return {"id": row.seq, "state": str(row.state), "at": row.created, **told, **why, "text": row.told.get("content")}


def _line(row: Row, to: str | None) -> tuple[str, ...]:
    text = " ".join(str(row.told.get("content") or "").split())
    excerpt = text if len(text) <= _EXCERPT else f"{text[: _EXCERPT - 1]}…"
    since = strftime("%Y-%m-%d %H:%M", gmtime(row.created))
    state = "set aside" if row.state == State.DEAD else "at the server" if row.state == State.ACCEPTED else "waiting"
    elsewhere = f"for {row.destination}, which is not configured now: `lessonbook outbox move`"
    why = row.last_error or ("" if row.destination == (to or "").rstrip("/") else elsewhere)
    return str(row.seq), state, since, str(row.attempts), excerpt, why


def _server(known: Destination, now: float) -> str:
    said = known.said if (known.said or "").endswith((".", "?", "!")) else f"{known.said}."
    if known.is_paused:
        return f"{said} Nothing is sent to {known.address} until that is set right."
    wait = known.open_until - now
    return f"{said} " + (f"It is asked again in {wait:.0f} seconds." if wait > 0 else "It is asked again.")


def _items(count: int) -> str:
    return "1 item" if count == 1 else f"{count:,} items"
