"""Looks through a bank for a person: lists of lessons, one with all that belongs to it, and its history.

An action gives a document for programs and a text for people. Texts are cleaned and redacted once more on the way out
of the bank; who prints them makes them safe for a terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from time import localtime, strftime
from typing import Any

from lessonbook.core.care import Contradiction, Shown, Wanted
from lessonbook.core.care_ports import Looking
from lessonbook.core.clean import bound
from lessonbook.core.errors import InputError
from lessonbook.core.lesson import Change, Kept
from lessonbook.core.ports import Bank
from lessonbook.core.tidy import tidy

Answer = tuple[dict[str, Any], str]
"""A document for programs, with ``ok``, and a text for a person."""
MOST = 1_000
"""Lessons one list shows, at most."""
HEAD = ("id", "told", "type", "lesson")
_STATES = ("forgotten", "invalid", "superseded_by", "pinned")
"""What a change's own name says already, unless it was so before."""
_EXCERPT = 120
_LISTED = 300


def listed(
    care: Looking, wanted: Wanted, limit: int = 20, after: str | None = None
) -> tuple[dict[str, Any], list[list[str]]]:
    """Return the lessons that are wanted, newest first, as a document and as rows under ``HEAD``.

    ``after`` in the document is the id to go on after, ``None`` at the end. Raises ``InputError`` for a limit outside
    1 to 1,000 and for an id that is not there.
    """
    if not 1 <= limit <= MOST:
        raise InputError(f"The limit must be from 1 to {MOST:,}, not {limit}.")
    found = care.lessons(wanted, limit + 1, after)
    shown, more = found[:limit], len(found) > limit
    document = {"ok": True, "lessons": [as_document(one) for one in shown], "after": shown[-1].id if more else None}
    return document, [[one.id, at(one.seen), one.lesson.memory_type, _line(one)] for one in shown]


def shown(care: Looking, lesson: str) -> Answer:
    """Return everything about one lesson. Raises ``InputError`` for an id that is not there."""
    found = care.show(lesson)
    document = {
        **as_document(found.kept),
        "contexts": [
            {**one.as_dict(), "metadata": dict(one.metadata), "at": one.at if one.at == one.at else None}
            for one in found.contexts
        ],
        "entities": [one.as_dict() for one in found.entities],
        "facts": list(found.facts),
        "contradictions": [one.as_dict() for one in found.contradictions],
        "twins": [one.as_dict() for one in found.twins],
        "replaces": list(found.replaces),
        "history": [_change(one) for one in found.history],
    }
    return {"ok": True, "lesson": document}, "\n".join([tidy(found.kept.lesson.text).text, "", *_details(found)])


def history(memory: Bank, lesson: str) -> Answer:
    """Return the changes of one lesson, newest first. Raises ``InputError`` for an id that is not there."""
    changes = memory.history(lesson)
    text = "\n".join(change_text(one) for one in changes) or f"lesson {lesson} was never changed"
    return {"ok": True, "id": lesson, "history": [_change(one) for one in changes]}, text


def as_document(kept: Kept) -> dict[str, Any]:
    """Return a lesson for programs: its fields and those of its keeping, by their names, side by side."""
    own = {name: None if value != value else value for name, value in kept.as_dict().items()}
    del own["lesson"]
    lesson = kept.lesson.as_dict()
    return {
        "id": own.pop("id"),
        **lesson,
        "tags": list(kept.lesson.tags),
        "metadata": dict(kept.lesson.metadata),
        **own,
    }


def excerpt(text: str, most: int = _EXCERPT) -> str:
    """Return the beginning of a lesson, long enough to know it by."""
    return bound(tidy(text).text, most)[0]


def at(when: float | None) -> str:
    """Return a time as people read it, in this machine's zone; ``""`` for none, and what cannot be shown as it is."""
    if when is None or when != when:
        return ""
    try:
        return strftime("%Y-%m-%d %H:%M", localtime(when))
    except (OverflowError, ValueError, OSError):
        return f"{when:g}"


def change_text(change: Change) -> str:
    """Return one change as a line: when, what, what the fields were before, and whether it was undone."""
    told = ((name, value) for name, value in change.before.items() if name != "same" and (value or name not in _STATES))
    before = "; ".join(f"{name} was {_value(value)}" for name, value in told)
    undone = "  (undone)" if change.undone else ""
    return f"{at(change.at)}  {change.verb}  {before}{undone}".rstrip()


def amount(number: int, what: str) -> str:
    """Return ``1 lesson`` or ``2,000 lessons``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def rows_text(rows: Iterable[tuple[str, str]]) -> str:
    """Return names and values side by side, the values aligned; those without a value are left out."""
    told = [(name, value) for name, value in rows if value]
    width = max((len(name) for name, _ in told), default=0)
    return "\n".join(f"{name:<{width}}  {value}" for name, value in told)


def against(one: Contradiction) -> str:
    """Return two lessons that may contradict each other, as three lines."""
    let = f"  (let stand on {at(one.dismissed)})" if one.dismissed is not None else ""
    texts = ((one.newer, one.newer_text), (one.older, one.older_text))
    width = max(len(id) for id, _ in texts)
    lines = [f"  {id:>{width}}  {excerpt(text)}" for id, text in texts]
    return "\n".join([f"{one.said}{let}", *lines])


def _line(kept: Kept) -> str:
    """Return what a list shows of a lesson: its title and text, and what must be known of it."""
    lesson = kept.lesson
    told = f"{lesson.title}: {lesson.text}" if lesson.title else lesson.text
    state = "; ".join(_states(kept))
    return f"{excerpt(told, _LISTED)}{f' [{state}]' if state else ''}"


def _states(kept: Kept) -> Iterator[str]:
    if kept.pinned:
        yield "pinned"
    if kept.superseded_by is not None:
        yield f"replaced by {kept.superseded_by}"
    elif kept.invalid is not None:
        yield "no longer holds"
    if kept.lesson.veracity == "false":
        yield "found to be wrong"


def _details(found: Shown) -> Iterator[str]:
    yield rows_text(_fields(found.kept))
    parts: Sequence[tuple[str, Iterable[str]]] = (
        ("told in", (f"{one.context}{f'  ({when})' if (when := at(one.at)) else ''}" for one in found.contexts)),
        ("names", (f"{one.kind} {one.value}" for one in found.entities)),
        ("states", found.facts),
        ("may contradict", map(against, found.contradictions)),
        ("nearly the same", (f"{one.kept} and {one.other}, {one.likeness:.0%} alike" for one in found.twins)),
        ("holds in the place of", found.replaces),
        ("history", map(change_text, found.history)),
    )
    for name, items in parts:
        lines = [f"  {line}" for item in items for line in item.split("\n")]
        if lines:
            yield "\n".join(["", f"{name}:", *lines])


def _fields(kept: Kept) -> Iterator[tuple[str, str]]:
    lesson = kept.lesson
    yield "id", kept.id
    for name in ("title", "key", "cue", "component", "evidence"):
        yield name, getattr(lesson, name) or ""
    yield "tags", ", ".join(lesson.tags)
    yield "type", lesson.memory_type
    yield "veracity", lesson.veracity
    yield "importance", f"{lesson.importance:g}"
    yield "confidence", "" if lesson.confidence is None else f"{lesson.confidence:g}"
    yield "source", lesson.source
    yield "bank", kept.bank
    yield "branch", lesson.branch or ""
    yield "told first", at(kept.created)
    yield "told last", at(kept.seen)
    yield "recalled", f"{kept.recalled:,} times, last {at(kept.recalled_at)}" if kept.recalled else "never"
    yield "valid until", at(lesson.valid_until)
    yield "no longer holds since", at(kept.invalid)
    yield "replaced by", kept.superseded_by or ""
    yield "forgotten", at(kept.forgotten)
    yield "pinned", "yes" if kept.pinned else ""
    for name, value in lesson.metadata.items():
        yield f"metadata {name}", value


def _change(change: Change) -> dict[str, Any]:
    before = {name: tidy(value).text if isinstance(value, str) else value for name, value in change.before.items()}
    return {**change.as_dict(), "before": before}


def _value(value: object) -> str:
    return (
        "empty"
        if value is None
        else f"“{excerpt(value)}”"
        if isinstance(value, str)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )
