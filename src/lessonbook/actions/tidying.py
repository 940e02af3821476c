"""What a person asks about what leaves the books: shorten them, expire what nothing uses, and pin what must stay."""

from __future__ import annotations

from typing import Any

from lessonbook.actions.review import NamedBook
from lessonbook.book import expiring, pins, usage
from lessonbook.core.errors import InputError, LessonbookError, StoreError
from lessonbook.core.expiry import DATED, DAYS, PARAGRAPH, day_of
from lessonbook.core.screen import quoted
from lessonbook.system.settings import Places


def expire(
    where: Places, book: NamedBook, now: int, days: int = DAYS, *, worked: bool = True, dry_run: bool = False
) -> dict[str, Any]:
    """Expire what nothing used in one book, with the uses this machine has noted; see ``expiring.expire``."""
    try:
        used = usage.used(where.state, book.folder)
    except LessonbookError as error:
        return {"ok": False, "error": str(error)}
    return expiring.expire(book.folder, now, days, used, worked=worked, dry_run=dry_run)


def expired_text(told: dict[str, Any], *, dry_run: bool = False) -> str:
    """Return what an expiry did to one book, as people read it; empty where there was nothing to say."""
    if not told["ok"]:
        return str(told["error"])
    verb = "would expire" if dry_run else "expired"
    lines = [f"{verb}  {_row(row)}" for row in told["expired"]]
    lines += [f"kept  {_row(row)}" for row in told["kept"] if row["why"] == "it is pinned"]
    if told["commit"]:
        more = [f"as {told['commit']}"]
        more += [f"moved {', '.join(told['moved'])} onto it"] if told["moved"] else []
        more += [f"{', '.join(told['stale'])} no longer apply: reject them"] if told["stale"] else []
        lines.append("; ".join(more))
    return "\n".join(lines)


def pin(books: list[NamedBook], what: str, *, unpin: bool = False) -> tuple[NamedBook, dict[str, Any]]:
    """Pin, or unpin, the one paragraph or skill among ``books`` that ``what`` means; return its book and the result.

    Raises ``InputError`` where ``what`` is empty, or means something in no book or in two.
    """
    if not what.strip():
        raise InputError("Say what: a skill's name, or words of one paragraph.")
    found = [book for book in books if _holds(book, what, unpin, alone=len(books) == 1)]
    if len(found) > 1:
        raise InputError(f"Books {' and '.join(book.name for book in found)} both hold it; say which with --book.")
    if not found:
        raise InputError(f"No book {'has a pin' if unpin else 'holds a skill or words'} {quoted(what)}.")
    act = pins.unpin if unpin else pins.pin
    return found[0], act(found[0].folder, what)


def compacted(book: NamedBook, id: str | None, now: int) -> dict[str, Any]:
    """Propose a shorter ``AGENTS.md`` by this machine's editor model: ``{ok, id, before, after}``.

    Raises what is wrong, as ``compacting.proposed`` does: ``ModelError`` where the model did not answer, or not as
    asked.
    """
    import secrets

    from lessonbook.book.command import editor
    from lessonbook.book.compacting import proposed

    return proposed(book.folder, id, editor, now, lambda: secrets.token_hex(3))


def _holds(book: NamedBook, what: str, unpin: bool, *, alone: bool) -> bool:
    try:
        return pins.holds(book.folder, what, pinned=unpin)
    except StoreError:
        if alone:
            raise
        return False  # one bad book must not hide the others; the doctor says what is wrong with it


def pins_text(book: NamedBook) -> list[str]:
    """Return one line per pin of a book; a pin of what HEAD does not hold says so."""
    return [f"pinned  {pin.kind} {pin.text}" + ("" if pin.here else "  (not in the book now)") for pin in _pins(book)]


def pin_rows(book: NamedBook) -> list[dict[str, Any]]:
    """Return the pins of a book as programs read them: ``{key, kind, text, here}``."""
    return [{"key": pin.key, "kind": pin.kind, "text": pin.text, "here": pin.here} for pin in _pins(book)]


def _pins(book: NamedBook) -> list[pins.Pin]:
    return pins.pins(book.folder)


def _row(row: dict[str, Any]) -> str:
    name = f"{row['path']}:{row['line']}  {row['text']}" if row["kind"] == PARAGRAPH else row["path"]
    since = "" if row["kind"] == DATED else f", since {day_of(row['since'])}"
    return f"{name}  ({row['why']}{since})"
