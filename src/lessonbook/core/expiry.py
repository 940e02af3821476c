"""What leaves a book by itself: what was proposed, nobody pinned, and nothing used for some days (contract §3)."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from lessonbook.core.paragraphs import Paragraph, split

DAY = 86_400
DAYS = 30
"""How many days what was proposed stays without being used."""
DAYS_MOST = 36_500
"""How many days can be asked for."""

_LAST = 253_402_300_799
"""The last second of the year 9999, after which there is no date."""

PARAGRAPH, SKILL, DATED = "paragraph", "skill", "dated"


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that a book holds and that could leave it: a paragraph, a skill's folder, or a dated file."""

    kind: str
    path: str
    """``AGENTS.md``, ``skills/<name>``, or the dated file."""
    key: str
    """How pins and uses name it; see ``paragraph_key``."""
    text: str
    """Its first words, for people."""
    since: int
    """When it was last written, in epoch seconds; for what was accepted, when that was."""
    line: int = 0
    """For a paragraph, the number of its first line, from 1."""
    held: str | None = None
    """Why it stays whatever its age, such as that a person wrote it; else ``None``."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a part leaves, why or why not, and since when (epoch seconds) nothing wrote or used it."""

    part: Part
    leaves: bool
    why: str
    since: int


def paragraph_key(text: str) -> str:
    """Return how pins and uses name a paragraph: 32 hex digits that its line ends and outer blanks do not change."""
    lines = unicodedata.normalize("NFC", text).strip().split("\n")
    return _key(PARAGRAPH, "\n".join(line.rstrip() for line in lines))


def skill_key(name: str) -> str:
    """Return how pins and uses name a skill, by its folder's name: 32 hex digits."""
    return _key(SKILL, name)


def judged(
    parts: Sequence[Part], now: int, days: int, pinned: Collection[str], used: Mapping[str, int], *, worked: bool
) -> list[Verdict]:
    """Return what becomes of each part. ``used`` says when each key was last used, in epoch seconds.

    Where nobody ``worked`` in those days nothing had the chance to be used, so only dated files leave.
    """
    return [_judged(part, now - days * DAY, days, part.key in pinned, used.get(part.key, 0), worked) for part in parts]


def without(text: str, lines: Collection[int]) -> str:
    """Return a Markdown text without the paragraphs that start on these lines (from 1); the rest keeps its bytes.

    Only the blank lines between paragraphs go with them: the text ends as it ended.
    """
    paragraphs = split(text)
    kept = [paragraph for paragraph in paragraphs if paragraph.line + 1 not in lines]
    if not any(paragraph.text for paragraph in kept):
        return ""
    end = paragraphs[-1].after if kept[-1] is not paragraphs[-1] else kept[-1].after
    return "".join(_texts(kept, end))


def dated_until(path: str) -> int | None:
    """Return when the day in a dated file's name ends, in epoch seconds (UTC); ``None`` for a day that never was."""
    try:
        day = datetime.strptime(path[-13:-3], "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        return None
    return int(day.timestamp()) + DAY


def day_of(at: int) -> str:
    """Return the day of a moment (epoch seconds) as people read it, in UTC; a commit may claim any moment."""
    return f"{datetime.fromtimestamp(min(max(at, 0), _LAST), UTC):%Y-%m-%d}"


def _judged(part: Part, cutoff: int, days: int, pinned: bool, used: int, worked: bool) -> Verdict:
    since = part.since if part.kind == DATED else max(part.since, used)
    if part.held:
        return Verdict(part, False, part.held, since)
    if pinned:
        return Verdict(part, False, "it is pinned", since)
    if since >= cutoff:
        what = "used" if used > part.since and part.kind != DATED else "written"
        return Verdict(part, False, f"it was {what} less than {_days(days)} ago", since)
    if part.kind == DATED:
        return Verdict(part, True, f"it is more than {_days(days)} old", since)
    if not worked:
        last = "day" if days == 1 else _days(days)
        return Verdict(part, False, f"nobody worked in the last {last}, so nothing could be used", since)
    return Verdict(part, True, f"nothing used it for {_days(days)}", since)


def _days(number: int) -> str:
    return f"{number} day" + ("" if number == 1 else "s")


def _texts(kept: Sequence[Paragraph], end: str) -> Iterator[str]:
    for paragraph in kept[:-1]:
        yield paragraph.text + paragraph.after
    yield kept[-1].text + end


def _key(kind: str, text: str) -> str:
    from hashlib import sha256

    return sha256(f"{kind}\0{text}".encode("utf-8", "surrogateescape")).hexdigest()[:32]
