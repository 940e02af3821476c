"""What the messages of a Hermes session mean, and how they become turns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from lessonbook.core.seen import Seen
from lessonbook.core.session import CallStatus, Session, Usage
from lessonbook.transcripts.building import Outcome, Talk
from lessonbook.transcripts.content import plain, typed
from lessonbook.transcripts.refusals import refusal
from lessonbook.transcripts.values import epoch, mapping, text, whole

AGENT = "hermes"
COPY = "copy of a record already read"
TAKEN_BACK = "message the person took back"
_NOT_REQUESTS = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY", "Review the conversation above and", "[SYSTEM:", "[System:")
_SPEAKER = re.compile(r"\[[^\]\n]{1,80}\] ")
_DELEGATED = frozenset(("tool", "subagent", "delegate", "delegation"))
_PERSONS = re.compile(r"BLOCKED: (?:User denied|Action denied by user)")
_BLOCKED = "BLOCKED"
_SKIPPED = re.compile(r"\[Tool execution (?:cancelled|skipped)|\[?Interrupted|Execution interrupted", re.IGNORECASE)
_FAILED = re.compile(r"Error\b|Tool '[^']{1,100}' (?:does not exist|not found)|Unknown tool\b|Invalid (?:JSON|arg)")
_MARK = "\0json:"
Item = Mapping[str, Any]


class HermesTalk:
    """A session while its messages are read, in order."""

    def __init__(self, seen: Seen, path: str, id: str) -> None:
        self.talk = Talk(AGENT)
        self.copied = 0
        self.taken_back = 0
        self._seen = seen
        self._path = path
        self._id = id
        self._parent: str | None = None
        self._gateway = False
        self._spent: dict[str, object] = {}
        self._met: Counter[str] = Counter()

    def fact(self, name: str, value: object) -> None:
        """Keep a fact of the session, by the name the database or a snapshot gives it."""
        handled = {"cwd": "cwd", "model": "model", "git_branch": "branch", "title": "title", "version": "agent_version"}
        if name in handled:
            self.talk.note(handled[name], value)
        elif name in ("session_id", "id") and text(value):
            self._id = text(value)
        elif name in ("source", "platform"):
            self._gateway = text(value) not in ("", "cli", *_DELEGATED)
            self.talk.by_subagent = self.talk.by_subagent or text(value) in _DELEGATED
        elif name == "parent_session_id":
            self._parent = text(value) or None
        elif name == "model_config":
            self.talk.by_subagent = self.talk.by_subagent or "_delegate_from" in str(value)
        elif name == "tools" and isinstance(value, list):
            self.talk.offered.update(filter(None, map(_tool_name, value)))
        elif name in ("started_at", "ended_at", "session_start", "last_updated"):
            self.talk.reach(epoch(value))
        elif name.endswith(("_tokens", "_cost_usd")):
            self._spent[name] = value

    def message(self, item: Item) -> None:
        """Take one message; what is a copy, or taken back by the person, is counted."""
        role = text(item.get("role"))
        if role == "session_meta":
            for name, value in item.items():
                self.fact(name, value)
            return
        if item.get("active") == 0 and item.get("compacted") != 1:
            self.taken_back += 1
            return
        if not self._first(role, item):
            self.copied += 1
            return
        at = epoch(item.get("timestamp"))
        handler = {"user": self._user, "assistant": self._assistant, "tool": self._result}.get(role)
        if handler is not None:
            handler(item, at)
            self.talk.reach(at)

    def freeze(self) -> Session:
        """Return the session; what it spent is known as a whole only, and stands with its last turn."""
        spent = usage(self._spent)
        if spent is not None and self.talk.turns:
            self.talk.turns[-1].usage["session"] = spent
        parent = self._parent if self.talk.by_subagent else None
        if self.talk.by_subagent:
            for turn in self.talk.turns:
                self.talk.note("title", turn.prompt.partition("\n")[0])
                turn.prompt = ""
        return self.talk.freeze(id=self._id, path=self._path, parent_id=parent)

    def _first(self, role: str, item: Item) -> bool:
        """Whether the message is no copy: the n-th of the session with these words and this call."""
        ids = (text(mapping(call).get("id")) for call in _calls(item))
        said = f"{role}\0{text(item.get('tool_call_id'))}\0{' '.join(ids)}\0{plain(_content(item))}"
        self._met[said[:400]] += 1
        return self._seen.first("hermes message", f"{self._id}\0{self._met[said[:400]]}\0{said}")

    def _user(self, item: Item, at: float | None) -> None:
        said = typed(_content(item)).strip()
        if said.startswith(_NOT_REQUESTS):
            return
        if self._gateway and (speaker := _SPEAKER.match(said)):
            said = said[speaker.end() :].strip()
        if said:
            self.talk.begin(said, at)

    def _assistant(self, item: Item, at: float | None) -> None:
        key = f"{len(self.talk.calls)}.{at}"
        self.talk.reply(plain(_content(item)), key)
        for n, call in enumerate(_calls(item)):
            function = mapping(mapping(call).get("function"))
            name = text(function.get("name")) or text(mapping(call).get("name"))
            id = text(mapping(call).get("id")) or text(mapping(call).get("call_id"))
            if name:
                self.talk.call(id or f"?{key}.{n}", name, function.get("arguments", mapping(call).get("args")), at)
        if item.get("finish_reason") == "error":
            self.talk.turn().failed, self.talk.turn().answered = True, False

    def _result(self, item: Item, at: float | None) -> None:
        call = self.talk.calls.pop(text(item.get("tool_call_id")), None)
        if call is not None:
            said = plain(_content(item))
            ended, shown = outcome(said, failed=item.get("finish_reason") == "error")
            call.end(ended, shown, at)


def outcome(said: str, *, failed: bool = False) -> tuple[Outcome, str]:
    """Return how a call ended, and its result's text: most tools answer an object that says both."""
    found = _decoded(said) if said.lstrip().startswith("{") else None
    if not isinstance(found, dict):
        bare = said.strip()
        ended = _refused(bare) or Outcome(CallStatus.FAILED if failed or _FAILED.match(bare) else CallStatus.OK)
        return ended, said
    error, code = found.get("error"), found.get("exit_code")
    told = error if isinstance(error, str) else ""
    known = code if isinstance(code, int) and not isinstance(code, bool) else None
    shown = "\n".join(part for part in (text(found.get("output")), told) if part) or said
    refused = _refused(told)
    if refused is not None or found.get("status") == "blocked":
        return refused or Outcome(CallStatus.BLOCKED), shown
    wrong = failed or bool(known) or bool(error) or found.get("success") is False
    return Outcome(CallStatus.FAILED if wrong else CallStatus.OK, known), shown


def _refused(said: str) -> Outcome | None:
    if _PERSONS.match(said):
        return Outcome(CallStatus.DENIED)
    if said.startswith(_BLOCKED):
        return refusal(said) or Outcome(CallStatus.BLOCKED)
    return Outcome(CallStatus.CANCELLED) if _SKIPPED.match(said) else refusal(said)


def _calls(item: Item) -> list[Any]:
    found = _decoded(item.get("tool_calls"))
    return found if isinstance(found, list) else []


def _content(item: Item) -> object:
    """Return a message's content; the database keeps one that is no text behind a mark."""
    content = item.get("content")
    return (
        _decoded(content.removeprefix("\0json:")) if isinstance(content, str) and content[:6] == "\0json:" else content
    )


def _decoded(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def _tool_name(tool: object) -> str:
    said = mapping(tool)
    return text(mapping(said.get("function")).get("name")) or text(said.get("name")) or text(tool)


def usage(said: Mapping[str, object]) -> Usage | None:
    """Return what a session spent; cached tokens stand beside ``input_tokens`` and are counted in."""
    read, write = whole(said.get("cache_read_tokens")), whole(said.get("cache_write_tokens"))
    cost = said.get("actual_cost_usd") or said.get("estimated_cost_usd")
    found = Usage(
        input=whole(said.get("input_tokens")) + read + write,
        output=whole(said.get("output_tokens")),
        cache_read=read,
        cache_write=write,
        reasoning=whole(said.get("reasoning_tokens")),
        cost=float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None,
    )
    return found if found != Usage() else None
