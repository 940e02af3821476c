"""Turns a lesson into what a Hindsight server is sent, and back into what is recalled of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from lessonbook.core.lesson import Lesson, Recalled
from lessonbook.core.tidy import same_text, tidy
from lessonbook.memory.hindsight.banks import Banks, own_tags
from lessonbook.memory.outbox.items import LESSON, Item, Row, document_id

KEPT = ("title", "key", "cue", "component", "evidence", "confidence")
"""The fields of a lesson that go along beside its words, its context and its tags."""
CONTEXT_MOST = 4_000
_GAP = "; "
_CONTEXT = "\n\n(context: "
_PROVENANCE = ("session_id", "tool")
"""What goes along of where a lesson was told; the folder does not, which often names a person."""


def lesson_item(lesson: Lesson, banks: Banks, destination: str, now: float) -> Item:
    """Return a tidied lesson on its way. One that has a key takes the place of the one told under it before."""
    metadata = {name: lesson.metadata[name] for name in _PROVENANCE if name in lesson.metadata}
    metadata |= {name: str(getattr(lesson, name)) for name in KEPT if getattr(lesson, name) is not None}
    metadata |= {"kind": LESSON, "source": lesson.source}
    payload: dict[str, Any] = {
        "content": lesson.text,
        "timestamp": datetime.fromtimestamp(now, UTC).isoformat(),
        "tags": [*banks.written, *own_tags(lesson.tags)],
        "metadata": metadata,
    }
    if lesson.context:
        payload["context"] = lesson.context
    named = ("key", lesson.key) if lesson.key else ("text", same_text(lesson.text))
    return Item(destination, banks.bank, document_id(banks.bank, banks.scope, *named), payload, LESSON, banks.scope)


def with_contexts(item: Item, last: Row | None) -> Item:
    """Return ``item`` with the contexts its lesson was told in before, which replacing the document would lose.

    They go into the content too: a server leaves a document alone whose content is the same.
    """
    told = last.told if last is not None else {}
    text = item.payload["content"]
    if apart(str(told.get("content") or ""))[0] != text:
        return item
    before, new = str(told.get("context") or ""), str(item.payload.get("context") or "")
    if not new or new in before.split(_GAP):
        kept = {"content": told["content"], "context": before} if before else {}
        return item.but(payload={**item.payload, **kept})
    joined = _GAP.join(filter(None, (before, new)))
    if len(joined) > CONTEXT_MOST:
        joined = new
    return item.but(payload={**item.payload, "content": f"{text}{_CONTEXT}{joined})", "context": joined})


def apart(content: str) -> tuple[str, str]:
    """Return a lesson's words, and the contexts that stand with them; words are one line, so no other is meant."""
    text, mark, contexts = content.partition(_CONTEXT)
    return (text, contexts.removesuffix(")")) if mark else (content, "")


def from_row(row: Row, score: float = 0.0) -> Recalled:
    """Return a row of the outbox as the lesson that was told."""
    told = row.told
    metadata = told.get("metadata") or {}
    context = tidy(str(told.get("context") or "")).text or None
    text, title = tidy(apart(str(told.get("content") or ""))[0]).text, metadata.get("title")
    marks = (f"not on the server: {row.last_error}",) if row.state == "dead" else ()
    source = str(metadata.get("source") or "")
    return Recalled(row.document, text, context, score, row.seen, row.bank, source, title, marks=marks)


def from_fact(fact: Mapping[str, Any], bank: str, chunks: Mapping[str, Any], score: float = 0.0) -> Recalled:
    """Return what the server found, in the words it was told where the server gives them, else in its own."""
    metadata = fact.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    chunk = chunks.get(str(fact.get("chunk_id")))
    told = chunk.get("text") if isinstance(chunk, dict) and not chunk.get("truncated") else None
    whole = told if metadata.get("kind") == LESSON and isinstance(told, str) and told.strip() else None
    words, contexts = apart(whole) if whole else (fact.get("text"), "")
    text = tidy(str(words or "")).text
    return Recalled(
        id=tidy(str((fact.get("document_id") if whole else None) or fact.get("id") or "")).text,
        text=text,
        context=tidy(contexts or str(fact.get("context") or ""), CONTEXT_MOST).text or None,
        score=score,
        at=epoch(fact.get("mentioned_at") or fact.get("date")),
        bank=bank,
        source=tidy(str(metadata.get("source") or "")).text,
        title=tidy(str(metadata.get("title") or "")).text or None,
    )


def epoch(told: object) -> float | None:
    """Return the epoch seconds of a time as a server writes it; ``None`` for anything else."""
    try:
        return datetime.fromisoformat(str(told)).timestamp()
    except (ValueError, OverflowError):
        return None
