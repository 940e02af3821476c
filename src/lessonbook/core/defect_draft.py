"""The draft of an issue about one defect: Markdown a person can read, edit and send to whoever keeps the tool.

Its last line holds a digest of the rest, so that a draft that somebody edited is known and left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import blake2b

from lessonbook.core.defect import DefectKind
from lessonbook.core.defects import WINDOW, DefectState, Repeated

_MARK = re.compile(r"\n<!-- lessonbook ([0-9a-f]{8}) ([0-9a-f]{16}): [^\n]*-->\n\Z")
_LINE = "\n<!-- lessonbook {id} {digest}: edit this as you like; an edited draft is never written again -->\n"
_WANTED = {
    DefectKind.CRASH: "The call does what it was asked, or says in words why it cannot; the tool does not crash.",
    DefectKind.PROTOCOL: "The call is answered as the protocol says, also where it fails.",
    DefectKind.SCHEMA: "What the tool says it takes and gives is what it takes and gives.",
    DefectKind.TIME_OUT: "The call is answered in time, or says beforehand that it takes longer.",
}


def draft_of(one: Repeated) -> str:
    """Return the draft: how often, where and since when it came, what was said, and what was expected."""
    text = "\n".join(_lines(one)) + "\n"
    return text + _LINE.format(id=one.id, digest=_digest(text))


def is_ours(text: str) -> bool:
    """Whether a draft is as it was written: nobody edited it."""
    found = _MARK.search(text)
    return found is not None and _digest(text[: found.start()]) == found[2]


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _lines(one: Repeated) -> Iterator[str]:
    defect = one.told.defect
    yield f"# {_plain(one.told.title)}"
    yield ""
    yield f"A {defect.kind} of {_code(defect.tool)}, met again and again by coding agents."
    yield ""
    yield f"- **how often**: {how_often(one)}"
    yield f"- **last {WINDOW} days**: {one.recent:,}; the {WINDOW} before: {one.before:,}"
    yield f"- **agents**: {'; '.join(_agent(name, versions) for name, versions in one.agents.items())}"
    if one.models:
        yield f"- **models**: {', '.join(map(_plain, one.models))}"
    if one.state is DefectState.BACK and one.decision and one.since:
        yield f"- **came back**: {one.since:,} times since it was said to be fixed ({day(one.decision.at)})"
    yield ""
    yield "## What it said"
    yield ""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", one.told.said)), default=0))
    yield f"{fence}text\n{one.told.said or defect.error}\n{fence}"
    if one.told.asked:
        yield f"\nIt was called with {_code(one.told.asked)} (values are left out)."
    yield ""
    yield "## What was expected"
    yield ""
    yield _WANTED[defect.kind]


def how_often(one: Repeated) -> str:
    """Return ``12 calls in 3 sessions of 2 projects, 2026-01-02 to 2026-03-04``."""
    places = f" of {_amount(one.projects, 'project')}" if one.projects else ""
    days = "" if one.first is None else f", {day(one.first)}"
    days += f" to {day(one.last)}" if one.last is not None and day(one.last) != day(one.first) else ""
    return f"{_amount(one.count, 'call')} in {_amount(len(one.sessions), 'session')}{places}{days}"


def day(at: float | None) -> str:
    """Return a time's day in UTC; ``an unknown day`` where there is none."""
    try:
        return "an unknown day" if at is None else f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"
    except (OverflowError, OSError, ValueError):
        return "an unknown day"


def _agent(name: str, versions: tuple[str, ...]) -> str:
    return _plain(f"{name} {', '.join(versions)}".strip())


def _amount(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _plain(text: str) -> str:
    """One line in which nothing is markup."""
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", " ".join(text.split()))


def _code(text: str) -> str:
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{' '.join(text.split())}{space}{fence}"
