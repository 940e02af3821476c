"""Findings: single mistakes on the route of a session, and what a route cost.

What makes each kind fair: a test that is run again after an edit is no repeat, a refusal counts only when a person
refused, a shell command bypasses a tool only where the agent had it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lessonbook.core.bypass import bypassed, dedicated_tools
from lessonbook.core.consent import consents, refused_again
from lessonbook.core.effect import changes_state
from lessonbook.core.failure import Failure, Trouble, read_failure
from lessonbook.core.route import Route, off_route
from lessonbook.core.session import Call, CallKind, CallStatus, Session, Turn, TurnState
from lessonbook.core.truncation import made_again

_VOLATILE_ARGS = frozenset(
    {"description", "timeout", "timeout_ms", "explanation", "justification", "yield_time_ms", "max_output_tokens"}
)
_DETAIL = 200


class FindingKind(StrEnum):
    """The kinds of mistakes, by the names reports use."""

    SCHEMA = "schema"
    TOOL_PROTOCOL = "tool_protocol"
    REPEAT_FAILURE = "repeat_failure"
    DENIAL_RETRY = "denial_retry"
    BYPASS = "bypass"
    EDIT_BEFORE_READ = "edit_before_read"
    SANDBOX_ESCALATED = "sandbox_escalated"
    REREAD = "reread_unchanged"
    INTERRUPTED = "interrupted"
    ABORTED = "aborted"
    TRUNCATED = "truncated_rerun"
    ROUTE = "route"


@dataclass(frozen=True, slots=True)
class Finding:
    """One mistake: where it is, and what is wrong. ``detail`` is text of the transcript: redact before showing."""

    kind: FindingKind
    turn: int
    call_id: str | None
    tool: str | None
    what: str
    detail: str = ""


@dataclass(frozen=True, slots=True, order=True)
class RouteCost:
    """What a route cost, compared in this order: findings, then failed calls, then calls."""

    findings: int
    failed: int
    calls: int


def findings(session: Session, routes: Sequence[Route] = ()) -> tuple[Finding, ...]:
    """Return every mistake of the session, in order of turns. ``routes`` are the person's own rules of the way."""
    tools = dedicated_tools(session)
    found: list[Finding] = []
    before: Turn | None = None
    for turn in session.turns:
        found += _of_calls(turn)
        found += _repeats(turn)
        found += _refused_again(turn, before)
        found += _bypasses(turn, tools)
        found += _rereads(turn)
        found += _escalations(turn)
        found += _cut_short(turn)
        found += _past_rules(turn, routes)
        found += _stopped(turn)
        before = turn
    return tuple(found)


def route_cost(turn: Turn, found: Iterable[Finding] | None = None) -> RouteCost:
    """Return what one turn cost. ``found`` are its session's findings; without them the turn is judged by itself."""
    if found is None:
        found = findings(Session(agent="", id="", path="", turns=(turn,)))
    failed = sum(call.status is CallStatus.FAILED for call in turn.calls)
    return RouteCost(sum(finding.turn == turn.n for finding in found), failed, len(turn.calls))


def same_call(call: Call) -> str:
    """Return a text that is equal for calls that ask for the same, whatever they are described as."""
    kept = {name: value for name, value in call.args.items() if name not in _VOLATILE_ARGS}
    return f"{call.name} {json.dumps(kept, sort_keys=True, default=str)} {call.args_raw or ''}"


def _of_calls(turn: Turn) -> Iterator[Finding]:
    for call in turn.calls:
        failure = read_failure(call)
        if failure is None:
            continue
        kind, what = _call_kind(call, failure)
        if kind is not None:
            yield Finding(kind, turn.n, call.id, call.name, what, failure.error[:_DETAIL])


def _call_kind(call: Call, failure: Failure) -> tuple[FindingKind | None, str]:
    if call.args_raw is not None or failure.trouble in (Trouble.BAD_ARGUMENTS, Trouble.NO_TOOL):
        return FindingKind.SCHEMA, "the call did not fit the tool"
    if failure.trouble is Trouble.UNREAD:
        return FindingKind.EDIT_BEFORE_READ, "a file was changed before it was read"
    misused = (Trouble.NOT_INSTALLED, Trouble.BAD_SUBCOMMAND, Trouble.BAD_OPTION, Trouble.NO_SCRIPT)
    if call.kind is CallKind.SHELL and (failure.trouble in misused or failure.error.lower().startswith("usage:")):
        return FindingKind.TOOL_PROTOCOL, "the command was called in a way it does not know"
    return None, ""


def _repeats(turn: Turn) -> Iterator[Finding]:
    """A call that failed before in this turn and fails again, with nothing changed in between."""
    failed: set[str] = set()
    for call in turn.calls:
        if failed and changes_state(call):
            failed.clear()
        if call.status is not CallStatus.FAILED:
            continue
        same = same_call(call)
        if same in failed:
            failure = read_failure(call)
            detail = failure.error[:_DETAIL] if failure else ""
            yield Finding(FindingKind.REPEAT_FAILURE, turn.n, call.id, call.name, "failed again unchanged", detail)
        failed.add(same)


def _refused_again(turn: Turn, before: Turn | None) -> Iterator[Finding]:
    """A call a person had refused, tried again without being allowed in between."""
    refused: list[Call] = []
    if before is not None and "?" not in before.reply and not consents(turn.prompt):
        refused = [call for call in before.calls if call.status is CallStatus.DENIED]
    for call in turn.calls:
        if any(refused_again(call, earlier) for earlier in refused) and not any(map(consents, turn.steered)):
            yield Finding(FindingKind.DENIAL_RETRY, turn.n, call.id, call.name, "tried again what a person refused")
        if call.status is CallStatus.DENIED:
            refused.append(call)


def _bypasses(turn: Turn, tools: Mapping[str, str]) -> Iterator[Finding]:
    told: set[str] = set()
    for call in turn.calls:
        tool = bypassed(call, tools)
        if tool is not None and tool not in told:
            told.add(tool)
            detail = (call.command or "")[:_DETAIL]
            yield Finding(
                FindingKind.BYPASS, turn.n, call.id, call.name, f"the shell was used where {tool} exists", detail
            )


def _rereads(turn: Turn) -> Iterator[Finding]:
    """A file read again with the same arguments and the same answer, with nothing changed in between."""
    seen: dict[object, str] = {}
    for call in turn.calls:
        if seen and changes_state(call):
            seen.clear()
        if call.kind is not CallKind.READ or call.status is not CallStatus.OK or not call.result:
            continue
        same = _asked(call)
        if seen.get(same) == call.result:
            yield Finding(FindingKind.REREAD, turn.n, call.id, call.name, "read again though nothing had changed")
        seen[same] = call.result


def _asked(call: Call) -> object:
    """What equal readings share: cheap for plain arguments, as nearly all are."""
    plain = all(isinstance(value, str | int | None) for value in call.args.values())
    if not plain or not _VOLATILE_ARGS.isdisjoint(call.args):
        return same_call(call)
    return call.name, tuple(sorted(call.args.items())), call.args_raw


def _escalations(turn: Turn) -> Iterator[Finding]:
    """A command the sandbox stopped, sent again with a request to leave the sandbox."""
    stopped: set[str] = set()
    for call in turn.calls:
        if call.command is None:
            continue
        if call.command in stopped and _asks_to_leave(call):
            yield Finding(FindingKind.SANDBOX_ESCALATED, turn.n, call.id, call.name, "needed to leave the sandbox")
        if call.status is CallStatus.BLOCKED or "sandbox" in call.result[:200]:
            stopped.add(call.command)


def _cut_short(turn: Turn) -> Iterator[Finding]:
    for call in made_again(turn.calls):
        what = "made again because the answer had been cut"
        yield Finding(FindingKind.TRUNCATED, turn.n, call.id, call.name, what, (call.command or "")[:_DETAIL])


def _past_rules(turn: Turn, routes: Sequence[Route]) -> Iterator[Finding]:
    for route, call in off_route(turn, routes):
        what = f"{route.first.pattern} comes first here"
        yield Finding(FindingKind.ROUTE, turn.n, call.id, call.name, what, (call.command or "")[:_DETAIL])


def _stopped(turn: Turn) -> Iterator[Finding]:
    """A person stopped the turn: one finding, of the call that was running where one was."""
    if turn.state is not TurnState.INTERRUPTED:
        return
    running = (CallStatus.UNFINISHED, CallStatus.CANCELLED)
    last = turn.calls[-1] if turn.calls else None
    if last is not None and last.status in running:
        what = "the person stopped it while it ran"
        yield Finding(FindingKind.ABORTED, turn.n, last.id, last.name, what, (last.command or "")[:_DETAIL])
    else:
        yield Finding(FindingKind.INTERRUPTED, turn.n, None, None, "the person stopped the agent")


def _asks_to_leave(call: Call) -> bool:
    return bool(
        call.args.get("with_escalated_permissions")
        or call.args.get("sandbox_permissions") == "require_escalated"
        or call.args.get("dangerouslyDisableSandbox")
    )
