"""One night in words for a person, and as a record for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from lessonbook.actions import health_told
from lessonbook.actions.night_told import Night
from lessonbook.actions.watch import Watched
from lessonbook.core.night import Played


def note_of(night: Night) -> str:
    """Return the note of a night."""
    if night.note:
        return f"{night.note}; nothing was touched"
    return "\n".join(_lines(night))


def record_of(night: Night) -> dict[str, Any]:
    """Return the record of a night: everything the note says, for programs."""
    proposed = night.proposed
    offered = (
        [{"id": one.id, "book": str(one.book), "title": one.title} for one in proposed.offered] if proposed else []
    )
    return {
        "ok": not night.failed,
        "note": night.note,
        "dry_run": night.dry_run,
        "night": night.name,
        "began": int(night.began),
        "ended": int(night.ended),
        "cut_off": night.cut_off,
        "expired": night.expired,
        "compacted": night.compacted,
        "sessions": sum(one.sessions for one in proposed.agents.values()) if proposed else 0,
        "findings": dict(proposed.findings) if proposed else {},
        "offered": offered + [_round_offer(one) for one in night.rounds if one.offered],
        "watched": [_watched(one) for one in night.watched.lessons] if night.watched else [],
        "health": health_told.document(night.health) if night.health else None,
        "replays": night.replays,
        "rounds": [asdict(one) for one in night.rounds],
        "waiting": night.waiting,
        "refused": [asdict(one) for one in night.refused],
        "spent": round(night.spent, 6),
        "most": night.most,
        "cleaned": night.cleaned,
        "failed": night.failed,
    }


def _watched(one: Watched) -> dict[str, Any]:
    effect, changes = one.outcome.effect.value, {"retirement": one.retirement, "rewrite": one.rewrite}
    return {"book": one.book.name, "id": one.lesson.id, "effect": effect, **changes}


def _round_offer(one: Played) -> dict[str, Any]:
    return {"id": one.offered, "book": one.book, "title": one.title}


def _lines(night: Night) -> Iterator[str]:
    would = "would be " if night.dry_run else ""
    when = f"{datetime.fromtimestamp(night.began, UTC):%Y-%m-%d %H:%M} UTC"
    yield f"The night of {when}{' (dry run: nothing was written)' if night.dry_run else ''}"
    yield ""
    for one in night.cut_off:
        yield f"- the night {one} was cut off; this one carries on"
    yield from _of_books(night, would)
    yield from _of_proposers(night, would)
    yield from _of_watch(night)
    yield from (f"- {sentence}" for sentence in (health_told.said(night.health) if night.health else ()))
    yield from _of_replays(night)
    if night.cleaned:
        many = "" if len(night.cleaned) == 1 else "s"
        yield f"- removed the work folders of {len(night.cleaned)} earlier night{many}"
    for sentence in night.failed:
        yield f"- failed: {sentence}"
    if not night.dry_run:
        yield f"- spent at most ${night.spent:.2f} of ${night.most:.2f}"


def _of_books(night: Night, would: str) -> Iterator[str]:
    for book, told in night.expired.items():
        for row in told.get("expired", ()):
            yield f"- {would}expired from {book}: {row['text']} ({row['why']})"
    for book, told in night.compacted.items():
        if told["ok"] and told["id"]:
            yield f"- proposed a shorter AGENTS.md of {book} as {told['id']}: {told['before']:,} → {told['after']:,}"
        elif told["ok"]:
            yield f"- would propose a shorter AGENTS.md of {book}"


def _of_proposers(night: Night, would: str) -> Iterator[str]:
    if night.proposed is None:
        return
    sessions = sum(one.sessions for one in night.proposed.agents.values())
    yield f"- read {sessions:,} sessions with {night.proposed.calls:,} calls"
    for one in night.proposed.offered:
        yield f"- {would}offered{f' as {one.id}' if one.id else ''}: {one.title} ({one.why})"
    if not night.proposed.offered:
        yield "- nothing new came up again and again"


def _of_watch(night: Night) -> Iterator[str]:
    lessons = night.watched.lessons if night.watched else ()
    if lessons:
        effects = Counter(one.outcome.effect.value for one in lessons)
        yield f"- accepted lessons: {', '.join(f'{count} {effect}' for effect, count in effects.most_common())}"
    for one in lessons:
        if one.retirement:
            yield f"- proposed to take out as {one.retirement}: {one.lesson.title}"
        if one.rewrite:
            yield f"- proposed to rewrite as {one.rewrite}: {one.lesson.title}"


def _of_replays(night: Night) -> Iterator[str]:
    if night.replays:
        yield f"- replays: {night.replays}"
    for one in night.rounds:
        yield f"- replayed {one.agent} {one.session} with {one.by}, ${one.spent:.2f}: {one.why}"
        if one.before:
            yield f"  - as things are: {'; '.join(one.before)}"
        if one.after:
            yield f"  - with “{one.title}”: {one.after}"
        if one.offered:
            yield f"  - offered as {one.offered} to {one.book}"
    for one in night.refused:
        yield f"- not replayed: {one.agent} {one.session}: {one.why}"
    if night.waiting:
        what = "would replay" if night.dry_run else "wait for another night"
        yield f"- {what}: {', '.join(night.waiting[:5])}{' and more' if len(night.waiting) > 5 else ''}"
