"""The calls of a Codex session: how each is recorded, and the several places that say how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lessonbook.core.seen import Seen
from lessonbook.core.session import CallKind, CallStatus
from lessonbook.transcripts.building import OpenCall, Outcome, Talk
from lessonbook.transcripts.codex_records import content_text, outcome
from lessonbook.transcripts.values import mapping, scoped, text

_BY_ITSELF = ("web_search_call", "image_generation_call", "tool_search_call")
Payload = Mapping[str, Any]


class CodexCalls:
    """Records calls in a session under construction and gives each its end."""

    def __init__(self, talk: Talk, seen: Seen, path: str) -> None:
        self._talk = talk
        self._seen = seen
        self._path = path
        self._processes: dict[str, OpenCall] = {}
        """Commands that still run, by the id of their process."""
        self._polls: dict[str, str] = {}
        """Calls that look at such a process: call id → process id."""

    def begin(self, payload: Payload, at: float | None) -> bool:
        """Record a call of any form; ``False`` where it is a copy of one that was read before."""
        form = text(payload.get("type"))
        name = text(payload.get("name")) or form.removesuffix("_call")
        id = text(payload.get("call_id")) or text(payload.get("id"))
        call = self._new(id, name, _sent(form, payload), at)
        if call is None:
            return False
        if form in _BY_ITSELF:  # no result of its own follows
            failed = payload.get("status") in ("failed", "incomplete")
            call.end(Outcome(CallStatus.FAILED if failed else CallStatus.OK), "", None)
        if name == "write_stdin":
            self._polls[id] = str(call.args.get("session_id", ""))
        return True

    def _new(self, id: str, name: str, args: object, at: float | None) -> OpenCall | None:
        if id and not self._seen.first("codex call", f"{scoped(id, self._path)}\0{name}"):
            return None
        return self._talk.call(id or f"?{len(self._talk.calls)}", name, args, at)

    def _known(self, payload: Payload) -> OpenCall | None:
        return self._talk.calls.get(text(payload.get("call_id")))

    def output(self, payload: Payload, at: float | None) -> None:
        """Give a call its result."""
        call = self._known(payload)
        if call is None:
            return
        ended, said, process = outcome(payload.get("output"), call.kind)
        if call.id in self._polls:
            ended = self._polled(self._polls.pop(call.id), ended, said, at)
        elif process is not None:
            self._processes[process] = call
        known = call.outcome
        if known is not None and ended.status is CallStatus.OK and ended.exit_code is None:
            ended = known  # an event said more than the result does
        call.end(ended, said, at)

    def _polled(self, process: str, ended: Outcome, said: str, at: float | None) -> Outcome:
        """Hand a long command's end to the call that started it; looking at it has itself gone well."""
        started = self._processes.get(process)
        if started is not None and ended.exit_code is not None:
            del self._processes[process]
            started.end(Outcome(ended.status, ended.exit_code), f"{started.result}\n{said}".strip(), at)
            return Outcome(CallStatus.OK, secs=ended.secs)
        return Outcome(CallStatus.OK, secs=ended.secs) if ended.status is CallStatus.UNFINISHED else ended

    def exec_event(self, payload: Payload, at: float | None) -> None:
        """Use the exit code an event states where the result states none."""
        call, code = self._known(payload), payload.get("exit_code")
        if call is None or not isinstance(code, int) or isinstance(code, bool) or not _open(call):
            return
        said = call.result or content_text(payload.get("aggregated_output"))
        call.end(Outcome(CallStatus.FAILED if code else CallStatus.OK, code), said, at)

    def patch_event(self, payload: Payload, at: float | None) -> None:
        """A patch that did not apply has failed, whatever its result says."""
        call = self._known(payload)
        if call is None or payload.get("success") is not False or not _open(call):
            return
        said = call.result or text(payload.get("stderr")) or text(payload.get("stdout"))
        call.end(Outcome(CallStatus.FAILED), said, at)

    def mcp_event(self, payload: Payload, at: float | None) -> bool:
        """End an MCP call; it may be known from its own record, or from here alone. ``False`` for a copy."""
        asked, ended = mapping(payload.get("invocation")), mapping(payload.get("result"))
        call = self._known(payload)
        if call is None:
            name = f"mcp__{text(asked.get('server'))}__{text(asked.get('tool'))}"
            call = self._new(text(payload.get("call_id")), name, asked.get("arguments"), at)
            if call is None:
                return False
        call.kind = CallKind.MCP
        good = mapping(ended.get("Ok"))
        failed = "Err" in ended or good.get("isError") is True or good.get("is_error") is True
        if call.outcome is None or (failed and _open(call)):
            said = call.result or content_text(good.get("content")) or content_text(ended.get("Err"))
            call.end(Outcome(CallStatus.FAILED if failed else CallStatus.OK), said, at)
        return True


def _open(call: OpenCall) -> bool:
    """Whether more may still be learned of how the call ended: nothing yet, or no more than that it returned."""
    known = call.outcome
    return known is None or (known.exit_code is None and known.status in (CallStatus.OK, CallStatus.UNFINISHED))


def _sent(form: str, payload: Payload) -> object:
    """Return a call's arguments as they were sent; free text of a custom tool is its ``input``, not malformed."""
    if form == "custom_tool_call":
        sent = payload.get("input")
        free = isinstance(sent, str) and not sent.lstrip().startswith("{")
        return {"input": sent} if free else sent
    if form == "function_call":
        return payload.get("arguments")
    return payload.get("action") or payload.get("arguments") or {}
