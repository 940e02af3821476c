"""What reading another store's file gives: lessons fit to keep, and a sentence for whatever could not be read."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime

from lessonbook.core.care import Imported
from lessonbook.core.lesson import MEMORY_TYPES, VERACITIES, Lesson
from lessonbook.core.tidy import same_text, tidy, tidy_lesson
from lessonbook.core.value import Value

IMPORTED = "imported"
"""The veracity of a lesson whose source does not say more."""
_WORD = 40
_NAME = 300
_MILLISECONDS = 1e11
"""A number of seconds past the year 5138; what is larger counts milliseconds."""


class ReadProblem(Value):
    """Something of a file that was not read: where it stands, and why."""

    where: str
    why: str

    @property
    def sentence(self) -> str:
        """What to tell a person."""
        return f"{self.where}: {self.why}."


def imported(lesson: Lesson, origin: str) -> Imported | None:
    """Return the lesson with every field of it fit to keep; ``None`` where cleaning leaves no text."""
    tidied = tidy_lesson(lesson)
    if not tidied.lesson.text:
        return None
    kept = tidied.lesson.but(
        importance=part(lesson.importance, Lesson("").importance),
        confidence=None if lesson.confidence is None else part(lesson.confidence, None),
        memory_type=word(lesson.memory_type) or MEMORY_TYPES[0],
    )
    return Imported(kept, named(origin), notes=tidied.notes)


def veracity(said: object) -> str:
    """Return how sure the source is, or ``imported`` where it does not say or says it in words of its own."""
    known = said.strip().lower() if isinstance(said, str) else ""
    return known if known in VERACITIES and known != "unknown" else IMPORTED


def word(said: object) -> str:
    """Return one clean word or two of another store's vocabulary."""
    return tidy(said.lower(), _WORD).text if isinstance(said, str) else ""


def named(said: str) -> str:
    """Return an identity fit to keep: clean, without secrets, and not longer than an identity needs to be."""
    text = tidy(said).text
    return text if len(text) <= _NAME else f"{text[: _NAME - 17]}-{digest(text)}"


def digest(*texts: str) -> str:
    """Return sixteen hex digits that two spellings of the same texts share."""
    whole = "\0".join(map(same_text, texts)).encode("utf-8", "replace")
    return hashlib.sha256(whole).hexdigest()[:16]


def part(said: object, otherwise: float | None) -> float | None:
    """Return a number from 0 to 1, the nearest of them; ``otherwise`` for what is no number."""
    number = finite(said)
    return otherwise if number is None else min(1.0, max(0.0, number))


def count(said: object) -> int:
    """Return how often, 0 for what is no number."""
    number = finite(said)
    return max(0, int(number)) if number is not None else 0


def finite(said: object) -> float | None:
    """Return a finite number, also one written as text; ``None`` for anything else."""
    if isinstance(said, bool) or not isinstance(said, int | float | str):
        return None
    try:
        number = float(said)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def epoch(said: object) -> float | None:
    """Return epoch seconds of an ISO 8601 time (UTC where it names no zone) or a number; ``None`` for anything else."""
    try:
        when = datetime.fromisoformat(said.strip()) if isinstance(said, str) else None
        if when:
            return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        pass  # a number may be written as text too
    number = finite(said)
    return number / 1000 if number is not None and abs(number) >= _MILLISECONDS else number


def texts(metadata: Mapping[object, object]) -> dict[str, str]:
    """Return metadata as lessons have it, text by text: what is null is left out, what is nested becomes JSON."""
    return {
        str(key): value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for key, value in metadata.items()
        if value is not None
    }
