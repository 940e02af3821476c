"""Pins: the paragraphs and skills that a person wants to stay, whatever their age and whoever shortens the rest.

A pin is a ref under ``refs/lessonbook/pins/``, named by the key of what is pinned (``core.expiry``), that points to a
few words about it. No file and no commit changes, so every agent, the originals too, reads the book as before; a
fetch of these refs joins the pins of two clones. A pinned paragraph whose words change is another paragraph: whoever
accepted the change decided about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lessonbook.book.content import AGENTS
from lessonbook.book.repository import PIN_REFS, Book, exists, is_pin, open_book
from lessonbook.book.sentences import CHANGED
from lessonbook.core.errors import BusyError, InputError, LessonbookError, reason
from lessonbook.core.expiry import PARAGRAPH, SKILL, paragraph_key, skill_key
from lessonbook.core.paragraphs import split
from lessonbook.core.screen import quoted
from lessonbook.system import git
from lessonbook.system.gitbatch import RefMove, move_refs, read_objects, read_tree

_SHORT = 6
_WORDS = 80


@dataclass(frozen=True, slots=True)
class Pin:
    """One pin: its key, whether a ``paragraph`` or a ``skill``, and the first words or the name."""

    key: str
    kind: str
    text: str
    whole: str = field(repr=False)
    """All its words in one line, to find it by."""
    here: bool = True
    """Whether HEAD holds it; a pin of what is gone does no harm and comes into force when it comes back."""


def pinned(book: Book) -> frozenset[str]:
    """Return the keys of everything that is pinned, in one process."""
    return frozenset(_refs(book))


def pins(folder: Path) -> list[Pin]:
    """Return every pin, skills first, each by its words; ``[]`` where there is no repository. Never waits.

    Raises ``StoreError`` and ``SetupError`` as the queue's list does.
    """
    book = open_book(folder)
    return sorted(_pins(book).values(), key=_order) if book else []


def holds(folder: Path, what: str, *, pinned: bool = False) -> bool:
    """Whether the book holds anything that ``what`` may mean (``pin``); with ``pinned``, whether such a pin exists."""
    book = open_book(folder)
    return book is not None and bool(_meant(what, _pins(book) if pinned else _pinnable(book)))


def pin(folder: Path, what: str) -> dict[str, Any]:
    """Pin one paragraph or skill of HEAD: ``{ok, key, kind, text}``; one that is pinned already stays so.

    ``what`` is a skill's name, words that only one paragraph of ``AGENTS.md`` holds, or the start of a key. Works
    while a batch runs. Never raises: ``{ok: False, error}``.
    """
    return _told(folder, lambda book: _pin(book, what))


def unpin(folder: Path, what: str) -> dict[str, Any]:
    """Take one pin away: ``{ok, key, kind, text}``, or ``{ok: False, error}``. ``what`` is as for ``pin``."""
    return _told(folder, lambda book: _unpin(book, what))


def _pin(book: Book, what: str) -> Pin:
    found = _one(what, _pinnable(book), "HEAD holds")
    refs = _refs(book)
    if found.key not in refs:
        note = f"{found.kind}\n{found.text}\n".encode("utf-8", "replace")
        blob = git.run(book.folder, "hash-object", "-w", "-t", "blob", "--stdin", data=note).decode().strip()
        _move(book, RefMove(PIN_REFS + found.key, None, blob))
    return found


def _unpin(book: Book, what: str) -> Pin:
    found = _one(what, _pins(book), "is pinned,")
    _move(book, RefMove(PIN_REFS + found.key, _refs(book).get(found.key), None))
    return found


def _move(book: Book, move: RefMove) -> None:
    if not move_refs(book.folder, [move], "lessonbook: pin"):
        raise BusyError(CHANGED)


def _told(folder: Path, act: Any) -> dict[str, Any]:
    try:
        book = open_book(folder) if exists(folder) else None
        if book is None:
            raise InputError(f"{folder} holds no book, so nothing in it can be pinned")
        found = act(book)
        return {"ok": True, "key": found.key, "kind": found.kind, "text": found.text}
    except LessonbookError as error:
        return {"ok": False, "error": str(error)}
    except OSError as error:
        return {"ok": False, "error": f"{folder} cannot be worked on: {reason(error)}"}


def _refs(book: Book) -> dict[str, str]:
    out = git.run(book.folder, "for-each-ref", "--format=%(refname)%00%(objectname)", PIN_REFS).decode()
    rows = (line.removeprefix(PIN_REFS).partition("\0") for line in out.splitlines())
    return {key: oid for key, _, oid in rows if is_pin(PIN_REFS + key)}


def _pins(book: Book) -> dict[str, Pin]:
    refs = _refs(book)
    if not refs:
        return {}
    here, notes = _pinnable(book), read_objects(book.folder, refs.values())
    found = {}
    for key, oid in refs.items():
        note = notes[oid].data[:1000].decode("utf-8", "replace") if oid in notes else ""
        kind, _, said = note.partition("\n")
        kind = kind if kind in (PARAGRAPH, SKILL) else PARAGRAPH
        found[key] = here.get(key) or Pin(key, kind, words(said), _line(said), here=False)
    return found


def _pinnable(book: Book) -> dict[str, Pin]:
    """The skills and paragraphs of HEAD, by key."""
    tree = read_tree(book.folder, book.head) if book.head else {}
    names = dict.fromkeys(path.split(b"/")[1].decode("utf-8", "replace") for path in tree if path.count(b"/") > 1)
    found = {skill_key(name): Pin(skill_key(name), SKILL, name, name) for name in names}
    entry = tree.get(AGENTS)
    data = read_objects(book.folder, [entry.oid])[entry.oid].data if entry and entry.mode == "100644" else b""
    text = data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    for paragraph in split(text):
        if paragraph.text:
            key = paragraph_key(paragraph.text)
            found[key] = Pin(key, PARAGRAPH, words(paragraph.text), _line(paragraph.text))
    return found


def _one(what: str, among: Mapping[str, Pin], where: str) -> Pin:
    found = _meant(what, among)
    if not found:
        raise InputError(
            f"nothing that {where} is called {quoted(what)}: say a skill's name, or words of one paragraph"
        )
    if len(found) > 1:
        names = "; ".join(f"{pin.key[: _SHORT * 2]} {pin.text!r}" for pin in found[:5])
        raise InputError(f"{quoted(what)} means {len(found)} things: {names}; say more words, or the start of a key")
    return found[0]


def _meant(what: str, among: Mapping[str, Pin]) -> list[Pin]:
    """What ``what`` may mean: a skill's very name comes before a key, and that before words of a paragraph."""
    said = " ".join(what.split())
    name = said.removeprefix("skills/").rstrip("/")
    for found in (
        [pin for pin in among.values() if pin.kind == SKILL and pin.text == name],
        [pin for pin in among.values() if len(said) >= _SHORT and pin.key.startswith(said.casefold())],
        [pin for pin in among.values() if said and pin.kind == PARAGRAPH and said.casefold() in pin.whole.casefold()],
    ):
        if found:
            return found
    return []


def _order(pin: Pin) -> tuple[bool, str, str]:
    return pin.kind != SKILL, pin.text, pin.key


def words(text: str) -> str:
    """Return the first words of a text in one line, safe to keep: what looks like a secret is taken out."""
    from lessonbook.core.redact import redact

    line = redact(_line(text)).text
    return line if len(line) <= _WORDS else line[: _WORDS - 1] + "…"


def _line(text: str) -> str:
    return " ".join(text.encode("utf-8", "replace").decode().split())
