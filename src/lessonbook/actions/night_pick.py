"""Picks the sessions whose first request is worth running once more: ended, replayable, not tried, and with mistakes.

What hooks noted of a session says where its transcript is and how its repository stood before the first turn. What can
never be replayed is refused once, with the reason, and not looked at again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lessonbook.actions.names import learn_names
from lessonbook.actions.noting import REPLAYS, in_their_own_words
from lessonbook.actions.session_notes import ended, read_start, session_folder
from lessonbook.core.compaction import scrubbed
from lessonbook.core.finding import RouteCost, findings, route_cost
from lessonbook.core.night import Played, Try, TryState
from lessonbook.core.redact_names import Names
from lessonbook.core.session import Session
from lessonbook.system.clones import has_commit
from lessonbook.system.settings import Places
from lessonbook.transcripts.registry import READERS
from lessonbook.transcripts.walk import read_paths

DIRTY = "it began with uncommitted changes, so nobody else can start where it did"
UNNOTED = "nothing was noted of its repository at its start (`lessonbook setup` connects the agent)"
GONE = "the commit it began at is not in its repository any more"
COMMAND = "its first request is a command of the agent's own, or empty"
SMOOTH = "nothing went wrong on its way"
UNREAD = "its transcript is not there, or holds no such session"
_PROMPT_MOST = 60_000


@dataclass(frozen=True, slots=True)
class Request:
    """A session's first request and where it was made."""

    agent: str
    session: str
    path: str
    """The transcript."""
    source: Path
    commit: str
    inside: str
    """The folder it was made in, below the repository's; ``.`` for that itself."""
    prompt: str
    """What the person typed."""
    cost: RouteCost
    """What its way cost then."""
    at: int
    scrub: Callable[[str], str] = scrubbed
    """Takes out of a text what identifies people, and secrets."""

    @property
    def key(self) -> str:
        """How its tries are kept."""
        return f"{self.agent}/{self.session}"


@dataclass(slots=True)
class Picked:
    """The requests, the most costly ways first, and the sessions that are refused for good."""

    requests: list[Request] = field(default_factory=list)
    refused: list[Played] = field(default_factory=list)


def pick(places: Places, tries: Mapping[str, Try], env: Mapping[str, str]) -> Picked:
    """Return what is worth a try. Reads the transcripts of sessions that nobody tried, and nothing else of them."""
    picked = Picked()
    rows = [row for row in ended(places.state) if _is_open(row, tries)]
    for row, session in _read(rows, places, env):
        found = _request(row, session, places)
        if isinstance(found, Request):
            picked.requests.append(found)
        elif found:
            picked.refused.append(Played(row["agent"], row["session"], TryState.REFUSED, found))
    picked.requests.sort(key=lambda one: (one.cost, one.at), reverse=True)
    return picked


def _is_open(row: Mapping[str, Any], tries: Mapping[str, Try]) -> bool:
    named = all(isinstance(row.get(name), str) and row[name] for name in ("agent", "session"))
    if not named or REPLAYS in str(row.get("cwd", "")):
        return False
    tried = tries.get(f"{row['agent']}/{row['session']}")
    return tried is None or not tried.is_over


def _read(
    rows: list[dict[str, Any]], places: Places, env: Mapping[str, str]
) -> Iterator[tuple[dict[str, Any], Session | None]]:
    """Yield each row with its session; agents that note no transcript are looked through as a whole, once."""
    alone = [row for row in rows if isinstance(row.get("transcript"), str)]
    for row in alone:
        yield row, _session(read_paths([Path(row["transcript"])]), row["session"])
    for agent in dict.fromkeys(row["agent"] for row in rows if row not in alone):
        roots = [Path(root) for one in READERS if one.agent == agent for root in one.roots(str(places.home), dict(env))]
        wanted = {row["session"]: row for row in rows if row["agent"] == agent and row not in alone}
        for item in read_paths([root for root in roots if root.exists()]):
            if isinstance(item, Session) and item.id in wanted:
                yield wanted.pop(item.id), item
        for row in wanted.values():
            yield row, None


def _session(found: Iterator[Any], id: str) -> Session | None:
    sessions = [item for item in found if isinstance(item, Session) and item.parent_id is None]
    named = [session for session in sessions if session.id == id]
    return named[0] if named else sessions[0] if len(sessions) == 1 else None


def _request(row: Mapping[str, Any], session: Session | None, places: Places) -> Request | str:
    """The request, or why there is none."""
    start = _start(row, places)
    if start is None:
        return UNNOTED
    if start.get("dirty"):
        return DIRTY
    if session is None or not session.turns:
        return UNREAD
    session = in_their_own_words(session)
    turn, source = session.turns[0], Path(start["repo"])
    prompt = turn.prompt.strip()
    if not prompt or prompt.startswith("/") or len(prompt) > _PROMPT_MOST:
        return COMMAND
    cost = route_cost(turn, [one for one in findings(session) if one.turn == turn.n])
    if not cost.findings and not cost.failed:
        return SMOOTH
    if not source.is_dir() or not has_commit(source, start["head"]):
        return GONE
    cwd = Path(str(row.get("cwd") or start.get("folder") or source))
    inside = str(cwd.relative_to(source)) if cwd.is_relative_to(source) else "."
    at = row.get("at")
    return Request(
        row["agent"], row["session"], session.path, source, start["head"], inside, prompt, cost,
        at if isinstance(at, int) else 0, _scrub(session),
    )  # fmt: skip


def _scrub(session: Session) -> Callable[[str], str]:
    """What takes out of a text whatever identifies a person: the names this session gives away, and what looks so."""
    names = Names()
    learn_names(session, names)
    return lambda text: names.without(scrubbed(text), guess=True)


def _start(row: Mapping[str, Any], places: Places) -> dict[str, Any] | None:
    """What was noted of the repository the session began in."""
    noted = read_start(session_folder(places.state, row["agent"], row["session"]))
    whole = [one for one in noted if isinstance(one.get("repo"), str) and isinstance(one.get("head"), str)]
    here = [one for one in whole if one.get("folder") == row.get("cwd")]
    return next(iter(here or whole), None)
