"""What the steps of an ATIF trajectory mean. ATIF has no place for how a call ended: that is in ``extra``, if anywhere.

What ``lessonbook export`` puts there comes back as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lessonbook.core.seen import Seen
from lessonbook.core.session import CallStatus, Session, TurnState, Usage
from lessonbook.transcripts.building import OpenCall, Outcome, Talk
from lessonbook.transcripts.content import plain, typed
from lessonbook.transcripts.refusals import refusal
from lessonbook.transcripts.values import epoch, mapping, text, whole

AGENT = "atif"
COPY = "copy of a record already read"
OURS = "lessonbook"
"""The key of our own facts in an ``extra``."""
_FACTS = ("cwd", "repo", "branch", "commit", "title")
_FAILED = frozenset(("error", "failed", "failure", "timeout"))
Item = Mapping[str, Any]


class AtifTalk:
    """A trajectory while its steps are read, in order."""

    def __init__(self, seen: Seen, path: str, parent: AtifTalk | None = None) -> None:
        self.talk = Talk(AGENT, by_subagent=parent is not None)
        self.copied = 0
        self._seen = seen
        self._path = path
        self._above = parent
        self._parent: str | None = None
        self._names: dict[str, str] = {}
        self._turn: object = None
        self._ours: dict[int, Item] = {}
        """What our own export says of a turn, by its place."""

    @property
    def id(self) -> str:
        """The session's id, or that of the trajectory."""
        own = ("trajectory_id", "session_id") if self._above is not None else ("session_id", "trajectory_id")
        return next((self._names[name] for name in own if self._names.get(name)), "")

    def fact(self, name: str, value: Any) -> None:
        """Keep a fact of the trajectory."""
        if name in ("session_id", "trajectory_id"):
            self._names[name] = text(value)
        elif name == "agent":
            self.talk.note("model", mapping(value).get("model_name"))
            self.talk.note("agent_version", mapping(value).get("version"))
        elif name == "extra":
            ours = mapping(mapping(value).get(OURS))
            for fact in _FACTS:
                self.talk.note(fact, ours.get(fact))
            self._parent = text(ours.get("parent_id")) or None
            self.talk.by_subagent = self.talk.by_subagent or self._parent is not None
            offered = ours.get("offered")
            self.talk.offered.update(text(one) for one in offered if text(one)) if isinstance(offered, list) else None
            for moment in ("started", "ended"):
                self.talk.reach(epoch(ours.get(moment)))

    def step(self, step: Item) -> None:
        """Take one step; what is a copy is counted."""
        at, source = epoch(step.get("timestamp")), step.get("source")
        key = f"{self.id or self._path}\0{step.get('step_id')}\0{step.get('timestamp')}\0{source}"
        if step.get("is_copied_context") is True or not self._seen.first("atif step", key):
            self.copied += 1
            return
        ours = mapping(mapping(step.get("extra")).get(OURS))
        self._enter(ours, at)
        if source == "user":
            self._user(step, ours, at)
        elif source == "agent":
            self._agent(step, ours, at)
        self.talk.reach(at)

    def freeze(self, id: str) -> Session:
        """Return the session; ``id`` is its id where the document says none."""
        for n, ours in self._ours.items():
            turn, state = self.talk.turns[n], ours.get("state")
            turn.started, turn.ended = epoch(ours.get("started")), epoch(ours.get("ended"))
            turn.interrupted, turn.failed = state == TurnState.INTERRUPTED, state == TurnState.FAILED
            turn.answered = state != TurnState.UNFINISHED
        parent = (self._above.id or id) if self._above is not None else self._parent
        return self.talk.freeze(id=self.id or id, path=self._path, parent_id=parent)

    def _enter(self, ours: Item, at: float | None) -> None:
        """Begin the turn that our own export says a step belongs to."""
        if "turn" not in ours or ours["turn"] == self._turn:
            return
        self._turn = ours["turn"]
        self.talk.begin("", at)
        self._ours[len(self.talk.turns) - 1] = ours

    def _user(self, step: Item, ours: Item, at: float | None) -> None:
        said = typed(step.get("message")).strip()
        if ours.get("steered") is True:
            self.talk.steer(said)
        elif ours:
            self.talk.turn().prompt = said
        elif self.talk.by_subagent:  # its instruction was written by a model
            self.talk.note("title", said.partition("\n")[0])
            self.talk.begin("", at)
        elif said:
            self.talk.begin(said, at)

    def _agent(self, step: Item, ours: Item, at: float | None) -> None:
        self.talk.note("model", step.get("model_name"))
        turn = self.talk.turn()
        self.talk.reply(plain(step.get("message")))
        results = mapping(step.get("observation")).get("results")
        found = [mapping(one) for one in results] if isinstance(results, list) else []
        for n, call in enumerate(step["tool_calls"] if isinstance(step.get("tool_calls"), list) else ()):
            self._call(mapping(call), found, mapping(mapping(ours.get("calls")).get(str(n))), at)
        spent = _usage(mapping(step.get("metrics")), mapping(ours.get("usage")))
        if spent is not None:
            turn.usage[str(step.get("step_id"))] = spent

    def _call(self, said: Item, results: list[dict[str, Any]], ours: Item, at: float | None) -> None:
        id, name = text(said.get("tool_call_id")), text(said.get("function_name"))
        if not name:
            return
        sent = ours.get("args_raw") or said.get("arguments")
        call = self.talk.call(id or f"?{len(self.talk.calls)}", name, sent, epoch(ours.get("at")) or at)
        call.by_subagent = ours.get("by_subagent") is True
        own = [one for one in results if text(one.get("source_call_id")) == id or len(results) == 1]
        content = "\n".join(plain(one.get("content")) for one in own)
        if ours:
            _restore(call, ours, content)
        elif own:
            call.end(_outcome(content, [said, *own]), content, None)


def _restore(call: OpenCall, ours: Item, content: str) -> None:
    """Give a call the end our export noted."""
    status = text(ours.get("status"))
    known = CallStatus(status) if status in set(CallStatus) else CallStatus.OK
    code, secs = ours.get("exit_code"), ours.get("secs")
    call.outcome = Outcome(
        known,
        code if isinstance(code, int) and not isinstance(code, bool) else None,
        text(ours.get("deny_reason")) or None,
        float(secs) if isinstance(secs, int | float) and not isinstance(secs, bool) else None,
    )
    call.result = content


def _outcome(content: str, said: list[Item]) -> Outcome:
    """Return how a call ended, as far as an exporter noted it in any ``extra`` the format has."""
    extras = [mapping(one.get("extra")) for one in said]
    codes = [one.get("exit_code", one.get("returncode")) for one in extras]
    code = next((one for one in codes if isinstance(one, int) and not isinstance(one, bool)), None)
    failed = bool(code) or any(
        one.get("is_error") is True or bool(one.get("error")) or text(one.get("status")).lower() in _FAILED
        for one in extras
    )
    return refusal(content) or Outcome(CallStatus.FAILED if failed else CallStatus.OK, code)


def _usage(said: Item, ours: Item) -> Usage | None:
    """Return one step's tokens; ``prompt_tokens`` holds the cached ones already."""
    if not said:
        return None
    cost = said.get("cost_usd")
    found = Usage(
        input=whole(said.get("prompt_tokens")),
        output=whole(said.get("completion_tokens")),
        cache_read=whole(said.get("cached_tokens")),
        cache_write=whole(ours.get("cache_write")),
        reasoning=whole(ours.get("reasoning")),
        cost=float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None,
    )
    return found if found != Usage() else None
