"""A candidate as the queue lists it, and the rule for its id; nothing else, because listing loads it at every start."""

from __future__ import annotations

import re

from lessonbook.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.core.suspicion import Sign

_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{6}\Z", re.ASCII)


def is_candidate_id(text: object) -> bool:
    """Whether ``text`` is an id of the form ``YYYYMMDD-HHMMSS-xxxxxx`` (six lower-case hex digits).

    Nothing else is ever passed to git.
    """
    return isinstance(text, str) and _ID.match(text) is not None


class Twin(Value):
    """A candidate that says nearly the same as another one: ``became`` is ``accepted``, ``pending`` or ``rejected``."""

    id: str
    became: str
    reason: str = ""
    """Why it was rejected, in the words of the person who did."""


class Candidate(Value):
    """One row of the queue. ``at`` is when it was proposed (epoch seconds); ``stale`` why it cannot be accepted."""

    id: str
    at: int
    subject: str
    files: tuple[str, ...]
    commit: str
    stale: str | None = None
    includes: tuple[str, ...] = ()
    trailers: tuple[tuple[str, str], ...] = ()
    """The commit message's trailers in order: the evidence a person can check."""
    over: int | None = None
    """How many characters ``AGENTS.md`` would have, where that is more than may be accepted; else ``None``."""
    signs: tuple[Sign, ...] = ()
    """Signs of poisoning in what it brings; filled only where a person looks (``reviewing.reviewed``)."""
    twins: tuple[Twin, ...] = ()
    """Others that say nearly the same, and what became of them; filled where ``signs`` are."""
