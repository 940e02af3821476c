"""What a row of a Ramabana history means, and how it becomes a turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lessonbook.core.seen import Seen
from lessonbook.core.session import CallStatus, Session, Usage
from lessonbook.transcripts.building import Outcome, Talk
from lessonbook.transcripts.ramabana_beside import Beside
from lessonbook.transcripts.refusals import refusal
from lessonbook.transcripts.values import epoch, mapping, text, whole

AGENT = "ramabana"
COPY = "copy of a record already read"
_OPEN = frozenset(("running", "awaiting"))
Item = Mapping[str, Any]


class RamabanaTalk:
    """A session while its rows are read, in order."""

    def __init__(self, seen: Seen, path: str, id: str, beside: Beside) -> None:
        self.talk = Talk(AGENT)
        self._seen = seen
        self._path = path
        self._id = id
        self._beside = beside

    def turn(self, row: Item) -> bool:
        """Take one turn; ``False`` where it is a copy of one read before."""
        at, turn_id = epoch(row.get("at")), text(row.get("turn_id"))
        key = f"{self._id}\0{turn_id or row.get('at')}"
        if not self._seen.first("ramabana turn", key):
            return False
        reference = text(row.get("details"))
        full = self._beside.details(reference, turn_id) if reference else {}
        activity = row.get("activity")
        actions = [mapping(one) for one in activity] if isinstance(activity, list) else []
        secs = sum(one["secs"] for one in actions if _is_number(one.get("secs")) and not one.get("parent_action_id"))
        began = at - secs if at is not None else None
        turn = self.talk.begin(text(full.get("prompt")) or text(row.get("prompt")), began, turn_id or None)
        self.talk.note("model", row.get("model"))
        for said in row["steered"] if isinstance(row.get("steered"), list) else ():
            self.talk.steer(text(said))
        for action in actions:
            self._action(action, mapping(full.get("details")), began)
        self.talk.reply(text(row.get("reply")))
        spent = _usage(mapping(row.get("usage")))
        if spent is not None:
            turn.usage[turn_id] = spent
        turn.interrupted = row.get("state") == "interrupted"
        turn.failed = row.get("state") == "failed"
        turn.answered = turn.answered or row.get("state") == "complete"
        self.talk.reach(at)
        return True

    def freeze(self, id: str) -> Session:
        """Return the session with what is noted of it beside the history."""
        start, noted = self._beside.start(self._id), self._beside.session(self._id)
        roots = noted.get("roots")
        self.talk.note("cwd", start.get("folder"))
        self.talk.note("cwd", roots[0] if isinstance(roots, list) and roots else None)
        self.talk.note("branch", start.get("branch"))
        self.talk.note("commit", start.get("head"))
        self.talk.note("title", noted.get("title"))
        return self.talk.freeze(id=id, path=self._path, parent_id=None)

    def _action(self, action: Item, full: Mapping[str, Any], at: float | None) -> None:
        name, asked = text(action.get("tool")), action.get("kind") == "ask"
        if not name or (asked and action.get("ok") is True):  # approved: the call itself has a row of its own
            return
        id = text(action.get("action_id")) or text(action.get("id"))
        call = self.talk.call(id or f"?{len(self.talk.calls)}", name, action.get("args"), at)
        call.by_subagent = bool(action.get("parent_action_id"))
        if action.get("state") in _OPEN or action.get("done") is False:
            return
        said = text(full.get(text(action.get("id")))) or text(action.get("detail"))
        secs = float(action["secs"]) if _is_number(action.get("secs")) else None
        call.end(_outcome(action, said, asked, secs), said, None)


def _outcome(action: Item, said: str, asked: bool, secs: float | None) -> Outcome:
    if action.get("ok") is True:
        return Outcome(CallStatus.OK, secs=secs)
    refused = refusal(said)
    if refused is not None:
        return replace(refused, secs=secs)
    return Outcome(CallStatus.DENIED if asked else CallStatus.FAILED, secs=secs)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9


def _usage(said: Item) -> Usage | None:
    """Return what a turn spent; ``input`` holds the cached tokens already."""
    if not said:
        return None
    cost = said.get("cost")
    return Usage(
        input=whole(said.get("input")),
        output=whole(said.get("output")),
        cache_read=whole(said.get("cached")),
        cache_write=whole(said.get("cache_write")),
        reasoning=whole(said.get("reasoning")),
        cost=float(cost) if _is_number(cost) and isinstance(cost, int | float) else None,
    )
