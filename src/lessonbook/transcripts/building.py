"""Putting a session together while its records are read, whatever agent wrote them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from lessonbook.core.cursor import Resume
from lessonbook.core.session import Call, CallKind, CallStatus, Session, Turn, TurnState, Usage
from lessonbook.core.tools import command_of, kind_of
from lessonbook.transcripts.values import RESULT_MAX, TEXT_MAX, clip, keep_args


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended, read from its result."""

    status: CallStatus
    exit_code: int | None = None
    deny_reason: str | None = None
    secs: float | None = None


@dataclass(slots=True)
class OpenCall:
    """A call whose result may still come."""

    id: str
    name: str
    kind: CallKind
    args: dict[str, Any]
    args_raw: str | None
    command: str | None
    at: float | None
    outcome: Outcome | None = None
    result: str = ""
    by_subagent: bool = False
    """Whether a sub-agent made it, where the format says so of single calls."""

    def end(self, outcome: Outcome, result: str, at: float | None) -> None:
        """Give the call its result; a duration the result does not state is the time between the two records."""
        secs = outcome.secs
        if secs is None and at is not None and self.at is not None and at >= self.at:
            secs = at - self.at
        self.outcome = outcome if secs == outcome.secs else replace(outcome, secs=secs)
        self.result = clip(result, RESULT_MAX, errors=outcome.status is not CallStatus.OK)

    def freeze(self, by_subagent: bool) -> Call:
        """Return the call as a value; without a result it is ``UNFINISHED``."""
        outcome = self.outcome or Outcome(CallStatus.UNFINISHED)
        return Call(
            id=self.id,
            name=self.name,
            kind=self.kind,
            status=outcome.status,
            args=self.args,
            args_raw=self.args_raw,
            command=self.command,
            result=self.result,
            exit_code=outcome.exit_code,
            secs=outcome.secs,
            deny_reason=outcome.deny_reason,
            at=self.at,
            by_subagent=by_subagent or self.by_subagent,
        )


@dataclass(slots=True)
class OpenTurn:
    """A turn under construction. ``key`` is the id of the record that began it."""

    prompt: str
    started: float | None
    key: str | None = None
    calls: list[OpenCall] = field(default_factory=list)
    reply: str = ""
    reply_key: str | None = None
    ended: float | None = None
    steered: list[str] = field(default_factory=list)
    usage: dict[str, Usage] = field(default_factory=dict)
    interrupted: bool = False
    failed: bool = False
    position: int = 0
    """Where in the file the line is that began it."""
    note: str = ""
    """What its reader has to remember to begin there again."""
    answered: bool = False
    """Whether the last thing that happened is a reply."""

    def freeze(self, n: int, by_subagent: bool, last: bool) -> Turn:
        """Return the turn as a value; only the last turn of a file can be unfinished."""
        return Turn(
            n=n,
            prompt=self.prompt,
            calls=tuple(call.freeze(by_subagent) for call in self.calls),
            reply=clip(self.reply, TEXT_MAX),
            started=self.started,
            ended=self.ended,
            state=self._state(last),
            steered=tuple(self.steered),
            usage=total(self.usage.values()) if self.usage else None,
        )

    def _state(self, last: bool) -> TurnState:
        if self.interrupted:
            return TurnState.INTERRUPTED
        if self.failed:
            return TurnState.FAILED
        return TurnState.UNFINISHED if last and not self.answered else TurnState.COMPLETE


class Talk:
    """One session under construction: what its records say goes in, a ``Session`` comes out."""

    def __init__(self, agent: str, *, by_subagent: bool = False) -> None:
        self.agent = agent
        self.by_subagent = by_subagent
        self.turns: list[OpenTurn] = []
        self.calls: dict[str, OpenCall] = {}
        self.queue: list[str] = []
        """What was typed ahead and not yet taken up."""
        self.facts: dict[str, str] = {}
        """The session's facts as first seen: cwd, repo, branch, commit, model, agent_version, title."""
        self.position = 0
        """Where in the file the line is that is read at the moment."""
        self.offered: set[str] = set()
        """Tools the format says the session had, beside those that were used."""
        self.started: float | None = None
        self.ended: float | None = None

    def note(self, fact: str, value: object) -> None:
        """Keep a fact of the session the first time it is said."""
        if isinstance(value, str) and value and fact not in self.facts:
            self.facts[fact] = value

    def reach(self, at: float | None) -> None:
        """Stretch the session, and its current turn, to this moment."""
        if at is None:
            return
        self.started = at if self.started is None else min(self.started, at)
        self.ended = at if self.ended is None else max(self.ended, at)
        if self.turns:
            turn = self.turns[-1]
            turn.started = at if turn.started is None else turn.started
            turn.ended = at if turn.ended is None else max(turn.ended, at)

    def begin(self, prompt: str, at: float | None, key: str | None = None) -> OpenTurn:
        """Start a turn with what the person typed."""
        turn = OpenTurn(clip(prompt, TEXT_MAX), at, key, ended=at, position=self.position)
        self.turns.append(turn)
        self.reach(at)
        return turn

    def turn(self) -> OpenTurn:
        """Return the turn that is going on; one without a prompt where the file starts in the middle."""
        return self.turns[-1] if self.turns else self.begin("", None)

    def call(self, id: str, name: str, args: object, at: float | None) -> OpenCall:
        """Record a call; ``args`` is what was sent: an object, its JSON text, or something else, kept as text."""
        return self.add(open_call(id, name, args, at))

    def add(self, call: OpenCall) -> OpenCall:
        """Record a call that was opened before."""
        turn = self.turn()
        turn.calls.append(call)
        turn.answered = turn.failed = False
        self.calls[call.id] = call
        return call

    def reply(self, said: str, key: str | None = None) -> None:
        """Keep the agent's latest text; parts of one message (same ``key``) are joined."""
        if not said.strip():
            return
        turn = self.turn()
        same = key is not None and key == turn.reply_key
        turn.reply = f"{turn.reply}\n{said}" if same and turn.reply else said
        turn.reply_key = key
        turn.answered, turn.failed = True, False

    def steer(self, said: str) -> None:
        """Keep what the person typed while the agent was working; the same words once per turn."""
        said = clip(said.strip(), TEXT_MAX)
        turn = self.turn()
        if said and said not in turn.steered:
            turn.steered.append(said)

    def freeze(self, *, id: str, path: str, parent_id: str | None, turns: Iterable[OpenTurn] | None = None) -> Session:
        """Return the session as a value, with ``turns`` in place of all it has where given."""
        kept = list(self.turns if turns is None else turns)
        frozen = tuple(turn.freeze(n, self.by_subagent, turn is kept[-1]) for n, turn in enumerate(kept, 1))
        facts = self.facts
        return Session(
            agent=self.agent,
            id=id,
            path=path,
            turns=frozen,
            cwd=facts.get("cwd"),
            repo=facts.get("repo"),
            branch=facts.get("branch"),
            commit=facts.get("commit"),
            started=self.started,
            ended=self.ended,
            model=facts.get("model"),
            agent_version=facts.get("agent_version"),
            parent_id=parent_id,
            title=clip(facts["title"], 200) if "title" in facts else None,
            offered=frozenset(call.name for turn in frozen for call in turn.calls) | self.offered,
        )


def resume_of(turns: Sequence[OpenTurn], session: str, before: Resume | None = None) -> Resume | None:
    """Return where a file can be read on from: at its last turn. ``before`` is where this reading itself began."""
    if not turns:
        return before
    earlier = before.turns.get(session, 0) if before is not None else 0
    return Resume(turns[-1].position, {session: earlier + len(turns) - 1}, turns[-1].note)


def open_call(id: str, name: str, args: object, at: float | None) -> OpenCall:
    """Return a call without its result; ``args`` is what was sent: an object, its JSON text, or something else."""
    parsed, raw = _arguments(args)
    kind = kind_of(name)
    command = command_of(parsed) if kind is CallKind.SHELL else None
    return OpenCall(
        id=id,
        name=name,
        kind=kind,
        args=keep_args(parsed),
        args_raw=raw,
        command=clip(command, TEXT_MAX) if command else None,
        at=at,
    )


def total(usages: Iterable[Usage]) -> Usage:
    """Return the sum of the tokens of several model calls."""
    known = list(usages)
    costs = [usage.cost for usage in known if usage.cost is not None]
    return Usage(
        input=sum(usage.input for usage in known),
        output=sum(usage.output for usage in known),
        cache_read=sum(usage.cache_read for usage in known),
        cache_write=sum(usage.cache_write for usage in known),
        reasoning=sum(usage.reasoning for usage in known),
        cost=sum(costs) if costs else None,
    )


def _arguments(sent: object) -> tuple[dict[str, Any], str | None]:
    if isinstance(sent, dict):
        return sent, None
    if sent is None or sent == "":
        return {}, None
    if not isinstance(sent, str):
        return {}, clip(repr(sent), TEXT_MAX)
    try:
        parsed = msgspec.json.decode(sent.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        parsed = None
    return (parsed, None) if isinstance(parsed, dict) else ({}, clip(sent, TEXT_MAX))
