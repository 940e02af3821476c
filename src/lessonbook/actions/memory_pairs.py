"""Shows a person the pairs of lessons that wait for a decision, and notes what they decide."""

from __future__ import annotations

from lessonbook.actions.memory import Answer, against, excerpt
from lessonbook.core.care_ports import Pairing
from lessonbook.core.ports import Bank


def contradictions(care: Pairing) -> Answer:
    """Return the pairs of lessons that may contradict each other and that nobody settled, newest first."""
    found = care.contradictions()
    parts = [
        f"{against(one)}\n  `lessonbook memory invalidate {one.older} --by {one.newer}`,"
        f" or `lessonbook memory dismiss {one.newer} {one.older}`"
        for one in found
    ]
    document = {"ok": True, "contradictions": [one.as_dict() for one in found]}
    return document, "\n\n".join(parts) or "no lessons are known to contradict each other"


def dismiss(care: Pairing, one: str, other: str) -> Answer:
    """Note that two lessons do not contradict each other. Raises ``InputError`` where nothing says they do."""
    care.dismiss(one, other)
    return {"ok": True, "lessons": [one, other]}, f"{one} and {other} both stand"


def merges(care: Pairing, memory: Bank) -> Answer:
    """Return the pairs of lessons that say nearly the same, likest first, with what they say."""
    found = care.merges()
    text = {id: excerpt(memory.get(id).lesson.text) for pair in found for id in (pair.kept, pair.other)}
    parts = [
        f"{pair.likeness:.0%} alike\n  {pair.kept}  {text[pair.kept]}\n  {pair.other}  {text[pair.other]}\n"
        f"  `lessonbook memory merge {pair.kept} {pair.other}`, or `lessonbook memory apart {pair.kept} {pair.other}`"
        for pair in found
    ]
    rows = [{**pair.as_dict(), "kept_text": text[pair.kept], "other_text": text[pair.other]} for pair in found]
    none = "no lessons are proposed for merging; `lessonbook memory sleep` looks for some"
    return {"ok": True, "merges": rows}, "\n\n".join(parts) or none


def merge(care: Pairing, kept: str, other: str) -> Answer:
    """Let one lesson take the place of another. Raises ``InputError`` where one of them no longer holds."""
    care.merge(kept, other)
    text = f"{kept} holds in the place of {other}; `lessonbook memory undo {other}` parts them"
    return {"ok": True, "kept": kept, "other": other}, text


def apart(care: Pairing, one: str, other: str) -> Answer:
    """Note that two lessons stay apart, so that they are not proposed for merging again."""
    care.apart(one, other)
    return {"ok": True, "lessons": [one, other]}, f"{one} and {other} stay apart"
