"""Keeps what an agent wants remembered in a session, and lists it again (contract §4).

While learning is off (§2.6) what is remembered is a plain note: its words are kept and recalled, but not what would
make a lesson of it (when to think of it, what it is about, what it rests on, how sure it is), and nothing is listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from lessonbook.core.errors import InputError
from lessonbook.core.lesson import EMPTY, Kept, Lesson, Outcome, Receipt
from lessonbook.core.ports import Bank, Memory
from lessonbook.core.tidy import RECALL_CLOSING, RECALL_OPENING, as_item, redaction_notes, tidy, tidy_lesson
from lessonbook.core.value import Value

SOURCE = "coding-agent-remember"
NOTE = "note"
"""The kind of memory a plain note is."""
MOST = 100
"""How many lessons one answer lists."""
NOTHING = "Nothing is remembered for this project."
OFF = "Learning is off, so no lessons are listed; `lessonbook learned on` turns it on."
_NOTE_IMPORTANCE = 0.5
_OF_LESSONS = ("cue", "component", "evidence", "confidence")
_BESIDE_TEXT = ("title", "tags", "key", *_OF_LESSONS)
_NOTHING_TOLD: Mapping[str, str] = MappingProxyType({})


class Remembered(Value):
    """One lesson of a memory. ``at`` is when it was last told, in epoch seconds; ``None`` where that is not kept."""

    id: str
    lesson: Lesson
    bank: str
    at: float | None


def remember(
    memory: Memory,
    text: str,
    *,
    title: str | None = None,
    tags: Sequence[str] = (),
    key: str | None = None,
    cue: str | None = None,
    component: str | None = None,
    evidence: str | None = None,
    confidence: float | None = None,
    learning: bool = True,
    metadata: Mapping[str, str] = _NOTHING_TOLD,
) -> str:
    """Keep one lesson and return the sentences that say what became of it; with ``learning`` off, keep a plain note.

    ``key`` names it: told again under the same key, the new text takes the old one's place. ``cue`` is when to think of
    it, ``component`` what part of the project it is about, ``evidence`` what it rests on, ``confidence`` from 0 to 1.
    ``metadata`` is kept with it, such as the session's id. Raises ``InputError`` for what cannot be kept, and what the
    memory raises (``StoreError``, ``BusyError``, ``SetupError``).
    """
    lesson = Lesson(
        text,
        source=SOURCE,
        metadata=metadata,
        title=title,
        tags=tuple(tags),
        key=key,
        cue=cue,
        component=component,
        evidence=evidence,
        confidence=confidence,
    )
    return keep(memory, lesson, learning=learning)[1]


def keep(memory: Memory, lesson: Lesson, *, learning: bool = True) -> tuple[Receipt, str]:
    """Keep ``lesson`` as ``remember`` does; return the memory's receipt and the sentences for whoever told it."""
    if lesson.confidence is not None and not 0 <= lesson.confidence <= 1:
        raise InputError(f"confidence must be from 0 to 1, not {lesson.confidence}. Nothing was stored.")
    tidied = tidy_lesson(lesson)
    if not tidied.lesson.text:
        raise InputError(EMPTY)
    told = tidied.lesson if learning else _plain(tidied.lesson)
    receipt = memory.store(told)
    if receipt.outcome is Outcome.REFUSED:
        raise InputError(receipt.reason or f"The {memory.name} memory did not store it.")
    done = "queued for retention" if receipt.outcome is Outcome.QUEUED else "stored"
    what = "Lesson" if learning else "Note"
    notes = (*_not_kept(memory, told), *receipt.notes, *redaction_notes(tidied.redacted))
    return receipt, " ".join([f"{what} {done}.", *notes])


def lessons(
    memory: Memory, limit: int = 20, *, after: str | None = None, learning: bool = True
) -> tuple[Remembered, ...]:
    """Return up to ``limit`` lessons of ``memory``, newest first, without plain notes; none while ``learning`` is off.

    ``after`` is the last id of the page before; only a ``core.ports.Bank`` has pages. Raises ``InputError`` for a limit
    outside 1 to 100, and what the memory raises.
    """
    if not 1 <= limit <= MOST:
        raise InputError(f"The limit must be from 1 to {MOST}, not {limit}.")
    if not learning:
        return ()
    if isinstance(memory, Bank):
        return tuple(_of_bank(memory, limit, after))
    if after is not None:
        raise InputError(f"The {memory.name} memory lists its lessons at once: leave out `after`.")
    found = memory.recent(limit)
    return tuple(Remembered(f.id, _safe(Lesson(f.text, f.context, source=f.source)), f.bank, f.at) for f in found)


def as_text(found: Iterable[Remembered]) -> str:
    """Return the lessons as one text for an agent: a fixed first and last line, and one line for each lesson."""
    lines = [as_line(one) for one in found]
    return "\n".join((RECALL_OPENING, *lines, RECALL_CLOSING)) if lines else NOTHING


def as_line(found: Remembered) -> str:
    """Return one lesson as a Markdown list item of one line: its id, its words, and what is known beside them."""
    safe = _safe(found.lesson)
    beside = {"when": safe.cue, "about": safe.component, "key": safe.key, "context": safe.context}
    told = "; ".join(f"{name}: {value}" for name, value in beside.items() if value)
    headed = f"{safe.title}: {safe.text}" if safe.title else safe.text
    return f"- {as_item(headed)} ({'; '.join(filter(None, (f'id: {tidy(found.id).text}', told)))})"


def _plain(lesson: Lesson) -> Lesson:
    return lesson.but(memory_type=NOTE, importance=_NOTE_IMPORTANCE, **dict.fromkeys(_OF_LESSONS))


def _not_kept(memory: Memory, lesson: Lesson) -> tuple[str, ...]:
    """Say what of a lesson a memory has no place for: only a bank keeps all beside its words."""
    kept = getattr(memory, "keeps", ())
    beside = [name for name in _BESIDE_TEXT if getattr(lesson, name) not in (None, ()) and name not in kept]
    if not beside or isinstance(memory, Bank):
        return ()
    return (f"The {memory.name} memory keeps its words alone, not its {', '.join(beside)}.",)


def _of_bank(memory: Bank, limit: int, after: str | None) -> Iterator[Remembered]:
    left = limit
    while left > 0 and (page := memory.lessons(left, after)):
        found = [kept for kept in page if kept.lesson.memory_type != NOTE]
        yield from map(_remembered, found)
        left, after = left - len(found), page[-1].id


def _remembered(kept: Kept) -> Remembered:
    return Remembered(kept.id, _safe(kept.lesson), kept.bank, kept.seen)


def _safe(lesson: Lesson) -> Lesson:
    """Clean and redact once more: a person or another program may have changed what is kept."""
    return tidy_lesson(lesson).lesson
