"""The tables of the original's bank that hold memories, and how a row of each becomes a lesson.

Read off files that its versions 17.2 to 18.2 wrote: a session's memories (``working_memory``), what it summed up of
them (``episodic_memory``), and what it took out of them by itself (all others). A column that a file does not have, as
older ones do not, counts as empty.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping

from lessonbook.core.care import Imported
from lessonbook.core.lesson import Lesson, Scope
from lessonbook.core.value import Value
from lessonbook.memory.importing.values import (
    count,
    digest,
    epoch,
    finite,
    imported,
    named,
    part,
    texts,
    veracity,
)

SOURCE = "mnemopi"
SHARED = "default"
"""The bank that every project of the original recalls: its main file."""
MEMORIES = ("working_memory", "episodic_memory")

Row = Mapping[str, object]

_TOLD = ("session_id", "channel_id", "author_id", "author_type", "trust_tier", "event_date", "validator", "tier")
_SAYS_NOTHING = frozenset((None, "", SHARED, "STATED", 1, "1"))
_PLAIN_SUBJECTS = frozenset(("", "fact", "entity"))
_TAKEN_OUT = frozenset(("metric", "date", "version", "entity", "sequence", "timeline", "negation", "decision"))


class Draft(Value):
    """A row as a lesson, before cleaning: its text as it stands, and the ids of the memories it was made from."""

    lesson: Lesson
    made_from: tuple[str, ...] = ()
    id: str = ""
    """Empty where the table only numbers its rows: such numbers are the same in every file."""
    lost: str = ""
    """Which field could not be read, where one could not."""
    invalid: float | None = None


def finished(draft: Draft, row: Row, table: str, bank: str, known: Callable[[str], bool]) -> Imported | None:
    """Return the lesson of a draft; ``known`` tells whether the file has a memory of an id."""
    found = imported(draft.lesson, _origin(bank, draft.id or f"{table}:{digest(draft.lesson.text)}"))
    if found is None:
        return None
    made, told = (
        _time(row, names) for names in (("created_at", "first_seen"), ("timestamp", "last_seen", "updated_at"))
    )
    replaced = _text(row.get("superseded_by"))
    return found.but(
        bank=named(bank),
        # Its host may tell it when something happened, which is before it was written down.
        created=min(filter(None, (made, told)), default=None),
        seen=told or made,
        recalled=count(row.get("recall_count")),
        recalled_at=epoch(row.get("last_recalled")),
        superseded_by=_origin(bank, replaced) if replaced else None,
        invalid=draft.invalid if draft.invalid is not None or not replaced else draft.lesson.valid_until or 0.0,
        derived_from=tuple(_origin(bank, id) for id in draft.made_from if known(id)),
    )


def _memory(row: Row, bank: str) -> Draft:
    """A row of ``working_memory`` or ``episodic_memory``, as its host and its library write them."""
    metadata, lost = _metadata(row.get("metadata_json"))
    context = metadata.pop("context", None)
    for name in _TOLD:
        if row.get(name) not in _SAYS_NOTHING and row[name] != bank:
            metadata.setdefault(name, row[name])
    ends = row.get("valid_until")
    return Draft(
        Lesson(
            text=_text(row.get("content")),
            context=context if isinstance(context, str) else None,
            scope=_scope(bank, row.get("scope")),
            source=_text(row.get("source")) or SOURCE,
            importance=part(row.get("importance"), 0.5) or 0.0,
            veracity=veracity(row.get("veracity")),
            memory_type=_type(row.get("memory_type"), "episode" if "summary_of" in row else "fact"),
            metadata=texts(metadata),
            valid_until=epoch(ends),
        ),
        made_from=tuple(filter(None, (id.strip() for id in _text(row.get("summary_of")).split(",")))),
        id=_text(row.get("id")),
        lost=lost or ("the time it is valid until" if ends and epoch(ends) is None else ""),
    )


def _fact(row: Row, bank: str) -> Draft:
    """Subject, predicate and object as one sentence; what rules took out of a text is the sentence itself."""
    subject, verb, thing = (_text(row.get(name)) for name in ("subject", "predicate", "object"))
    if verb in _TAKEN_OUT:
        return _taken(_noted(subject, thing), row, bank, "fact")
    return _taken(" ".join(filter(None, (subject, verb.replace("_", " "), thing))), row, bank, "fact")


def _memoria_fact(row: Row, bank: str) -> Draft:
    return _taken(_noted(_text(row.get("key")), _text(row.get("value"))), row, bank, "fact")


def _instruction(row: Row, bank: str) -> Draft:
    draft = _taken(_text(row.get("instruction")), row, bank, "instruction")
    return draft.but(invalid=0.0) if row.get("active") in (0, "0") else draft


def _preference(row: Row, bank: str) -> Draft:
    return _taken(_text(row.get("preference")), row, bank, "preference")


def _event(row: Row, bank: str) -> Draft:
    when, what = _text(row.get("date")), _text(row.get("description"))
    return _taken(what if when in what else f"{when}: {what}", row, bank, "event")


def _gist(row: Row, bank: str) -> Draft:
    return _taken(_text(row.get("text")), row, bank, "note")


def _belief(row: Row, bank: str) -> Draft:
    draft = _fact(row, bank)
    return draft.but(lesson=draft.lesson.but(veracity="inferred"))


def _scratch(row: Row, bank: str) -> Draft:
    return _taken(_text(row.get("content")), row, bank, "note")


def _taken(text: str, row: Row, bank: str, kind: str) -> Draft:
    """A lesson of what a table of its own holds, with the little that all of them say about it."""
    snippet = _text(row.get("context_snippet"))
    ids = (_text(row.get(name)) for name in ("source_memory_id", "source_msg_id", "memory_id"))
    lesson = Lesson(
        text=text,
        context=snippet if snippet and snippet not in text else None,
        scope=_scope(bank, row.get("scope")),
        source=SOURCE,
        importance=part(row.get("importance"), 0.5) or 0.0,
        veracity=veracity(row.get("veracity")),
        memory_type=kind,
        metadata=texts({name: row.get(name) for name in ("topic", "previous_value") if row.get(name)}),
        confidence=finite(row.get("confidence")),
        valid_until=epoch(row.get("valid_until")),
    )
    own = next((row[name] for name in ("fact_id", "belief_id", "id") if row.get(name)), "")
    return Draft(lesson, (*dict.fromkeys(filter(None, ids)), *_sources(row)), own if isinstance(own, str) else "")


TABLES: dict[str, Callable[[Row, str], Draft]] = {
    "working_memory": _memory,
    "episodic_memory": _memory,
    "facts": _fact,
    "consolidated_facts": _fact,
    "memoria_facts": _memoria_fact,
    "memoria_instructions": _instruction,
    "memoria_preferences": _preference,
    "memoria_timelines": _event,
    "memoria_kg": _fact,
    "triples": _fact,
    "harmonic_beliefs": _belief,
    "gists": _gist,
    "scratchpad": _scratch,
}
"""In the order they are read: whole memories first, so that what was made from them comes after them."""


def _noted(name: str, value: str) -> str:
    return value if name in _PLAIN_SUBJECTS or name in value else f"{name}: {value}"


def _origin(bank: str, id: str) -> str:
    return named(f"{SOURCE}:{bank}:{id}")


def _scope(bank: str, said: object) -> Scope:
    return Scope.GLOBAL if bank == SHARED or said == "global" else Scope.PROJECT


def _type(said: object, otherwise: str) -> str:
    known = _text(said).strip().lower()
    return otherwise if known in ("", "unknown") else known


def _time(row: Row, names: tuple[str, ...]) -> float | None:
    return next((when for name in names if (when := epoch(row.get(name))) is not None), None)


def _sources(row: Row) -> Iterator[str]:
    """The ids a merged fact was made from, as ``consolidated_facts`` keeps them."""
    try:
        found = json.loads(_text(row.get("sources_json")) or "[]")
    except (ValueError, RecursionError):
        return
    yield from (id for id in found if isinstance(id, str)) if isinstance(found, list) else ()


def _metadata(said: object) -> tuple[dict[object, object], str]:
    """Return what a memory's JSON says about it, and what was lost where it says nothing that can be read."""
    if said in (None, ""):
        return {}, ""
    try:
        found = json.loads(_text(said))
    except (ValueError, RecursionError):
        found = None
    return (found, "") if isinstance(found, dict) else ({}, "its metadata")


def _text(said: object) -> str:
    """Return a column as text: SQLite keeps any kind of value in any column."""
    if isinstance(said, bytes):
        return said.decode("utf-8", "replace")
    return "" if said is None else str(said)
