"""Our own export of lessons, as JSON Lines: writes its lines, and reads the file back past any damage.

A first line says what it is: ``{"lessonbook": 1, "kind": "lessons"}``. Then one object a line, a lesson each, with the
fields of ``core.lesson.Lesson`` and of ``Kept`` by their names; what a lesson does not have is left out. Times are
epoch seconds; ISO 8601 is read as well. ``origin`` names a lesson for good, so that importing twice stores it once.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from lessonbook.core.care import Imported
from lessonbook.core.errors import StoreError
from lessonbook.core.lesson import VERACITIES, Kept, Lesson, Scope
from lessonbook.memory.importing.lines import LINE_MAX, numbered
from lessonbook.memory.importing.values import (
    IMPORTED,
    ReadProblem,
    count,
    digest,
    epoch,
    finite,
    imported,
    named,
    texts,
)

FORMAT = 1
"""Goes up when a reader of the version before would get a lesson wrong; a new field alone does not need that."""
MARK = "lessonbook"
SUFFIX = ".jsonl"
_HEADER = {MARK: FORMAT, "kind": "lessons"}
_DIGITS = 300
_UNSAID = {"source": "import", "veracity": IMPORTED}
"""What a lesson gets that somebody else wrote into such a file without it."""


def header() -> str:
    """Return the first line of an export, without its line feed."""
    return json.dumps(_HEADER)


def origin_of(kept: Kept) -> str:
    """Return what names one of our own lessons for good, also beside those of another machine's bank."""
    return f"{MARK}:{kept.bank}:{kept.id}:{kept.created:.6f}"


def line(kept: Kept, origin: str = "", superseded_by: str = "") -> str:
    """Return a lesson as one line of an export, without its line feed.

    ``origin`` is for a lesson that was itself imported, its own origin; ``superseded_by`` is the origin of the lesson
    that holds in its place.
    """
    fields: dict[str, object] = {**kept.lesson.as_dict(), **kept.as_dict()}
    del fields["lesson"]
    fields |= {"origin": origin or origin_of(kept), "superseded_by": superseded_by or None}
    fields |= {"metadata": dict(kept.lesson.metadata), "scope": kept.lesson.scope.value}
    told = {key: value for key, value in fields.items() if not _says_nothing(value)}
    return json.dumps(told, ensure_ascii=False).encode("utf-8", "replace").decode()


def matches(path: Path, head: bytes) -> bool:
    """Whether a file is an export of ours: by its first line, or, where that is damaged, by its name and shape."""
    first = head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0]
    found = _parsed(first.decode("utf-8", "replace"))
    if isinstance(found, dict):
        return MARK in found
    return path.suffix == SUFFIX and b'"origin"' in head and b'"text"' in head


def read(path: Path) -> Iterator[Imported | ReadProblem]:
    """Yield every lesson of the file, and a problem that names the line for whatever cannot be read; a line at a time.

    An export that a newer version wrote in another format is refused whole: half understood is worse than not at all.
    """
    try:
        yield from _lines(path)
    except StoreError as error:
        yield ReadProblem(str(path), str(error).rstrip("."))


def _lines(path: Path) -> Iterator[Imported | ReadProblem]:
    for number, text in numbered(path):
        where = f"{path}, line {number}"
        if text is None:
            yield ReadProblem(where, f"it is longer than {LINE_MAX:,} characters")
        elif text.strip():
            found = _parsed(text)
            if isinstance(found, dict) and MARK in found:
                version = finite(found[MARK])
                if version is None or version > FORMAT:
                    yield ReadProblem(where, "a newer lessonbook wrote this export; update this one to read it")
                    return
            elif isinstance(found, dict):
                yield from _lesson(found, where)
            else:
                torn = "" if text.endswith("\n") else "; the file ends in the middle of it"
                yield ReadProblem(where, f"it is not a lesson in JSON{torn}")


def _lesson(found: Mapping[str, object], where: str) -> Iterator[Imported | ReadProblem]:
    values = {name: reading(found[name]) for name, reading in _FIELDS.items() if found.get(name) is not None}
    wrong = [name for name, value in values.items() if value is None]
    right = {**_UNSAID, **{name: value for name, value in values.items() if value is not None}}
    text = right.pop("text", None)
    own = {name: value for name in _OUTSIDE if (value := right.pop(name, "")) != ""}
    origin = own.pop("origin", None) or f"text:{own.get('bank', '')}:{digest(str(text), str(right.get('context')))}"
    kept = imported(Lesson("").but(**right, text=text), str(origin)) if isinstance(text, str) else None
    if kept is None:
        yield ReadProblem(where, "it has no text")
        return
    yield kept.but(**own)
    if wrong:
        yield ReadProblem(where, f"{', '.join(wrong)} cannot be read; its text was")


def _parsed(text: str) -> object:
    try:
        return json.loads(text, parse_int=_number)
    except (ValueError, RecursionError):
        return None


def _number(digits: str) -> float | None:
    """Read a whole number; JSON has no largest one, and none of our fields takes one so long."""
    return int(digits) if len(digits) <= _DIGITS else None


def _says_nothing(value: object) -> bool:
    return (
        value is None
        or value is False
        or value in ("", (), {})
        or not math.isfinite(value if isinstance(value, float) else 0)
    )


def _string(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _name(value: object) -> str | None:
    return named(value) if isinstance(value, str) else None


def _strings(value: object) -> tuple[str, ...] | None:
    right = isinstance(value, list) and all(isinstance(one, str) for one in value)
    return tuple(value) if right and isinstance(value, list) else None


def _names(value: object) -> tuple[str, ...] | None:
    return tuple(map(named, found)) if (found := _strings(value)) is not None else None


def _metadata(value: object) -> dict[str, str] | None:
    return texts(value) if isinstance(value, dict) else None


def _scope(value: object) -> Scope | None:
    return Scope(value) if isinstance(value, str) and value in list(Scope) else None


def _veracity(value: object) -> str | None:
    return value if isinstance(value, str) and value in VERACITIES else None


def _yes(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _times(value: object) -> int | None:
    return None if finite(value) is None else count(value)


_FIELDS: dict[str, Callable[[object], object]] = {
    **dict.fromkeys(("text", "context", "source", "memory_type"), _string),
    **dict.fromkeys(("title", "key", "cue", "component", "evidence", "branch"), _string),
    **dict.fromkeys(("importance", "confidence"), finite),
    **dict.fromkeys(("created", "seen", "recalled_at", "invalid", "forgotten", "valid_until"), epoch),
    **dict.fromkeys(("origin", "bank", "superseded_by"), _name),
    "tags": _strings,
    "derived_from": _names,
    "metadata": _metadata,
    "scope": _scope,
    "veracity": _veracity,
    "pinned": _yes,
    "recalled": _times,
}
"""How each field is read: ``None`` where what stands there is nothing of the kind."""
_OUTSIDE = tuple(name for name in Imported._fields if name in _FIELDS)
