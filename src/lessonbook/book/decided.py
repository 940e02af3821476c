"""What became of every candidate a book has seen, and what each said: so that near twins are told (``core.twins``)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lessonbook.book.candidates import COMPACTION, Message, Waiting, message_of
from lessonbook.book.content import AGENTS
from lessonbook.book.history import accepted, history
from lessonbook.book.marks import value_of
from lessonbook.book.messages import SPLIT
from lessonbook.book.remembered import candidate_commit, id_of_ref, reason_of
from lessonbook.book.repository import Book
from lessonbook.core.candidate import Twin, is_candidate_id
from lessonbook.core.twins import Index, Print, print_of
from lessonbook.system.gitbatch import Change, compare, read_objects

KEY = "Evidence-key"
"""The trailer that names what a candidate is about, whatever its wording."""
MOST = 5
"""Near twins that are told of one candidate, at most: what was decided before what waits."""

_ORDER = {"rejected": 0, "accepted": 1, "pending": 2}
_FRONTMATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Record:
    """One candidate the book has seen."""

    twin: Twin
    keys: frozenset[str]
    text: Print
    whole: str | None = None
    """The candidate it was split from: the other parts of that are no twins of it."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """A record whose text is not read yet."""

    twin: Twin
    message: Message
    changes: tuple[Change, ...]


class Decided:
    """Every candidate a book has seen, to ask for near twins."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.records = tuple(records)
        self._index = Index([record.text for record in records])
        self._by_key: dict[str, list[int]] = {}
        for place, record in enumerate(records):
            for key in record.keys:
                self._by_key.setdefault(key, []).append(place)

    def twins(self, keys: Iterable[str], text: Print, but: Waiting | None = None) -> tuple[Twin, ...]:
        """Return the candidates about the same ``keys`` or with nearly the same ``text``.

        Not among them are the candidate ``but`` itself, and the other parts of what it was split from.
        """
        own, whole = (but.id, value_of(but.proposal, SPLIT)) if but else ("", None)
        places = {place for key in keys for place in self._by_key.get(key, ())} | set(self._index.near(text))
        records = [self.records[place] for place in sorted(places)]
        found = dict.fromkeys(record.twin for record in records if not whole or record.whole != whole)
        ordered = sorted((twin for twin in found if twin.id != own), key=lambda twin: (_ORDER[twin.became], twin.id))
        return tuple(ordered[:MOST])


def decided(book: Book, waiting: Sequence[Waiting], rejected: Mapping[str, str]) -> Decided:
    """Return what became of every candidate of the book, in six processes whatever their number.

    ``rejected`` are the refs under ``refs/lessonbook/rejected/`` with their commits.
    """
    seen = [_Seen(Twin(w.id, "pending"), w.proposal, w.changes) for w in waiting]
    seen += _rejected(book, rejected)
    # A compaction says again what others said: only once it is HEAD is that a lesson of its own.
    seen = [one for one in seen if not one.message.subject.startswith(COMPACTION)] + _accepted(book)
    blobs = read_objects(book.folder, (e.oid for one in seen for c in one.changes for e in (c.old, c.new) if e))
    data = {oid: found.data for oid, found in blobs.items()}
    return Decided([_record(one, data) for one in seen])


def _record(seen: _Seen, blobs: Mapping[str, bytes]) -> Record:
    text = print_of(brought_text(seen.changes, blobs))
    return Record(seen.twin, keys_of(seen.message), text, value_of(seen.message, SPLIT))


def keys_of(message: Message) -> frozenset[str]:
    """Return what a candidate's trailers say that it is about."""
    return frozenset(value for key, value in message.trailers if key == KEY and value)


def brought_text(changes: Iterable[Change], blobs: Mapping[str, bytes]) -> str:
    """Return the lines a candidate brings, without a skill's frontmatter."""
    parts = []
    for change in changes:
        old, new = (blobs.get(entry.oid, b"") if entry else b"" for entry in (change.old, change.new))
        if b"\0" in new:
            continue
        known = set(old.splitlines())
        lines = b"\n".join(line for line in new.splitlines() if line not in known or change.path != AGENTS)
        parts.append(_FRONTMATTER.sub("", lines.decode("utf-8", "replace")))
    return "\n".join(parts)


def _accepted(book: Book) -> list[_Seen]:
    steps = accepted(history(book))
    changed = compare(book.folder, ((step.commit, step.parent) for step in steps.values()))
    return [_Seen(Twin(id, "accepted"), step.message, changed.get(step.commit, ())) for id, step in steps.items()]


def _rejected(book: Book, refs: Mapping[str, str]) -> list[_Seen]:
    names = [name for name in refs if is_candidate_id(id_of_ref(name))]
    found = read_objects(book.folder, (refs[name] for name in names))
    commits = {name: candidate_commit(refs[name], found.get(refs[name])) for name in names}
    texts = read_objects(book.folder, commits.values())
    changed = compare(book.folder, ((commit, None) for commit in dict.fromkeys(commits.values()) if commit in texts))
    return [
        _Seen(
            Twin(id_of_ref(name), "rejected", reason_of(found.get(refs[name]))),
            message_of(texts[commit].data),
            changed.get(commit, ()),
        )
        for name, commit in commits.items()
        if commit in texts
    ]
