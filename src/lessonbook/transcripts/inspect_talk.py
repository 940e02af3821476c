"""What the messages and events of an Inspect sample mean. Nobody types in an evaluation: its input is the request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lessonbook.core.session import CallStatus, Session, Usage
from lessonbook.transcripts.building import OpenCall, Outcome, Talk
from lessonbook.transcripts.content import plain
from lessonbook.transcripts.values import RESULT_MAX, TEXT_MAX, clip, epoch, mapping, text, whole

AGENT = "inspect"
COPY = "copy of a record already read"
_ATTACHED = re.compile(r"attachment://([0-9a-zA-Z]{1,128})")
_HUMAN = frozenset(("human", "user"))
Item = Mapping[str, Any]


class InspectTalk:
    """A sample while its members are read, in any order."""

    def __init__(self, path: str, facts: Item) -> None:
        self.talk = Talk(AGENT)
        self.key = ""
        """What tells this sample from any other."""
        self._path = path
        self._run = mapping(facts.get("eval"))
        self._sample: dict[str, Any] = {}
        self._results: dict[str, tuple[str, Item]] = {}
        self._events: dict[str, Item] = {}
        self._refused: dict[str, Item] = {}
        self._attached: dict[str, str] = {}

    def take(self, name: str, value: Any) -> None:
        """Take one member of the sample."""
        if name == "messages[]":
            self._message(mapping(value))
        elif name == "events[]":
            self._event(mapping(value))
        elif name.startswith("attachments."):
            self._attached[name.partition(".")[2]] = clip(text(value), TEXT_MAX, errors=True)
        elif "." not in name and name != "-":
            self._sample[name] = value

    def freeze(self) -> Session:
        """Return the session: calls get their results, times and texts from all over the sample."""
        for id, call in self.talk.calls.items():
            self._end(id, call)
        for turn in self.talk.turns:
            turn.prompt, turn.reply = self._text(turn.prompt), self._text(turn.reply)
        sample = self._sample
        for name in ("started_at", "completed_at"):
            self.talk.reach(epoch(sample.get(name)))
        if self.talk.turns:
            self._spend()
            self.talk.turns[-1].failed = bool(sample.get("error"))
        self.talk.note("model", self._run.get("model"))
        self.talk.note("title", self._run.get("task"))
        named = f"{text(self._run.get('run_id'))} {sample.get('id')} {sample.get('epoch')}".strip()
        id = text(sample.get("uuid")) or named
        self.key = id if text(sample.get("uuid")) else f"{id}\0{self.talk.started}\0{self._path}"
        return self.talk.freeze(id=id, path=self._path, parent_id=None)

    def _message(self, message: Item) -> None:
        role, said = message.get("role"), plain(_worded(message.get("content")))
        if role == "user" and (not self.talk.turns or message.get("source") == "input") and said:
            self.talk.begin(said, None, text(message.get("id")) or None)
        elif role == "assistant":
            self.talk.note("model", message.get("model"))
            self.talk.reply(said, text(message.get("id")) or None)
            for n, call in enumerate(message["tool_calls"] if isinstance(message.get("tool_calls"), list) else ()):
                self._call(mapping(call), f"{text(message.get('id'))}.{n}")
        elif role == "tool":
            found = clip(plain(message.get("content")), RESULT_MAX, errors=True)
            self._results[text(message.get("tool_call_id"))] = found, mapping(message.get("error"))

    def _call(self, call: Item, unnamed: str) -> None:
        name, args = text(call.get("function")), call.get("arguments")
        if name:
            opened = self.talk.call(text(call.get("id")) or unnamed, name, args, None)
            if call.get("parse_error"):
                opened.args_raw = opened.args_raw or text(call.get("parse_error"))

    def _event(self, event: Item) -> None:
        kind = event.get("event")
        if kind == "tool":
            self._events[text(event.get("id"))] = {
                name: event.get(name) for name in ("timestamp", "completed", "working_time", "failed", "error")
            }
        elif kind == "approval" and event.get("decision") in ("reject", "terminate"):
            id = text(mapping(event.get("call")).get("id"))
            self._refused[id] = {"approver": event.get("approver"), "explanation": event.get("explanation")}

    def _end(self, id: str, call: OpenCall) -> None:
        event, refused = self._events.get(id, {}), self._refused.get(id)
        call.at = call.at or epoch(event.get("timestamp"))
        said, error = self._results.get(id, ("", {}))
        if id not in self._results and not event and refused is None:
            return
        error = error or mapping(event.get("error"))
        status, reason = _status(error, event, refused)
        secs = event.get("working_time")
        known = float(secs) if isinstance(secs, int | float) and not isinstance(secs, bool) else None
        shown = "\n".join(part for part in (self._text(said), text(error.get("message"))) if part)
        call.end(Outcome(status, deny_reason=reason, secs=known), shown, epoch(event.get("completed")))

    def _text(self, said: str) -> str:
        """Return a text with what it only names put in."""
        return _ATTACHED.sub(lambda found: self._attached.get(found[1], found[0]), said) if "://" in said else said

    def _spend(self) -> None:
        spent = self._sample.get("model_usage")
        for model, said in mapping(spent).items():
            self.talk.turns[-1].usage[model] = _usage(mapping(said))


def _worded(content: object) -> object:
    """Return a content without what the model thought."""
    if not isinstance(content, list):
        return content
    return [part for part in content if mapping(part).get("type") != "reasoning"]


def _status(error: Item, event: Item, refused: Item | None) -> tuple[CallStatus, str | None]:
    if refused is not None and refused.get("approver") in _HUMAN:
        return CallStatus.DENIED, text(refused.get("explanation")) or None
    if refused is not None or error.get("type") == "approval":
        return CallStatus.BLOCKED, None
    failed = bool(error) or event.get("failed") is True
    return CallStatus.FAILED if failed else CallStatus.OK, None


def _usage(said: Item) -> Usage:
    """Return what one model spent; cached tokens stand beside ``input_tokens`` and are counted in."""
    read, write = whole(said.get("input_tokens_cache_read")), whole(said.get("input_tokens_cache_write"))
    cost = said.get("total_cost")
    return Usage(
        input=whole(said.get("input_tokens")) + read + write,
        output=whole(said.get("output_tokens")),
        cache_read=read,
        cache_write=write,
        reasoning=whole(said.get("reasoning_tokens")),
        cost=float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None,
    )
