"""How one entry of a pi or oh-my-pi session changes the session."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from lessonbook.core.seen import Seen
from lessonbook.core.session import CallKind, CallStatus, Session, Usage
from lessonbook.transcripts.building import Outcome, Talk
from lessonbook.transcripts.content import parts, plain, typed
from lessonbook.transcripts.refusals import refusal
from lessonbook.transcripts.values import epoch, mapping, scoped, text, whole

_SKILL = re.compile(r"<skill name=\"(?P<name>[^\"]{1,200})\"[^>]{0,2000}>.*?</skill>", re.DOTALL)
_FILE = re.compile(r"<file name=\"[^\"]{1,2000}\">.*?</file>", re.DOTALL)
_EXIT = re.compile(r"Command exited with code (\d{1,10})\s*\Z")
_MARKUP = re.compile(r"\s*<(?:system-reminder|system-notice|system-interrupt)\b", re.IGNORECASE)
Entry = Mapping[str, Any]


class PiTalk:
    """A session while its entries are read, one branch of the tree."""

    def __init__(self, agent: str, seen: Seen, path: str, parent: str | None) -> None:
        self.talk = Talk(agent, by_subagent=parent is not None)
        self._seen = seen
        self._path = path
        self._parent = parent
        self._id = ""
        self._working = False
        """Whether the agent had asked for calls and was about to go on."""

    def take(self, entry: Entry) -> bool:
        """Let one entry change the session; ``False`` where it is a copy of one read before."""
        handler = _ENTRIES.get(text(entry.get("type")))
        at = epoch(entry.get("timestamp"))
        if handler is None:
            return True
        if entry.get("type") == "message" and not self._first(entry):
            return False
        handler(self, entry, at)
        self.talk.reach(at)
        return True

    def freeze(self, id: str) -> Session:
        """Return the session; ``id`` is its id where no header says it."""
        return self.talk.freeze(id=self._id or id, path=self._path, parent_id=self._parent)

    def _first(self, entry: Entry) -> bool:
        id, at = text(entry.get("id")), text(entry.get("timestamp"))
        if not at:
            return True
        if not id:
            message = mapping(entry.get("message"))
            id = f"{text(message.get('role'))}\0{text(message.get('toolCallId'))}\0{message.get('timestamp')}"
        return self._seen.first("pi entry", f"{id}\0{at}")

    def _header(self, entry: Entry, at: float | None) -> None:
        self._id = self._id or text(entry.get("id"))
        self.talk.note("cwd", entry.get("cwd"))
        self._model(entry, at)

    def _model(self, entry: Entry, at: float | None) -> None:
        self.talk.note("model", entry.get("modelId"))

    def _title(self, entry: Entry, at: float | None) -> None:
        named = text(entry.get("name")) or text(entry.get("title"))
        if named:
            self.talk.facts["title"] = named

    def _init(self, entry: Entry, at: float | None) -> None:
        tools = entry.get("tools")
        names = [text(mapping(one).get("name")) or text(one) for one in tools] if isinstance(tools, list) else []
        self.talk.offered.update(name for name in names if name)

    def _message(self, entry: Entry, at: float | None) -> None:
        message = mapping(entry.get("message"))
        handler = _ROLES.get(text(message.get("role")))
        if handler is not None:
            handler(self, message, at, text(entry.get("id")) or None)

    def _user(self, message: Entry, at: float | None, key: str | None) -> None:
        said = typed(message.get("content"))
        if self.talk.by_subagent:  # its instruction was written by a model
            self.talk.note("title", said.strip().partition("\n")[0])
            self.talk.begin("", at, key)
            return
        asked = "" if message.get("synthetic") is True or _MARKUP.match(said) else own_words(said)
        if not asked and not plain(message.get("content")).startswith("["):
            return
        if self._working and asked and not self._waiting():
            self.talk.steer(asked)
            return
        self._working = False
        self.talk.begin(asked, at, key)

    def _waiting(self) -> bool:
        """Whether a call of this turn has no result: then what is typed now is a request after the agent stopped."""
        return any(call.outcome is None for call in self.talk.turn().calls)

    def _assistant(self, message: Entry, at: float | None, key: str | None) -> None:
        self.talk.note("model", message.get("model"))
        turn = self.talk.turn()
        if mapping(message.get("usage")):
            turn.usage[key or str(len(turn.usage))] = usage(mapping(message.get("usage")))
        for n, part in enumerate(parts(message.get("content"))):
            if part.get("type") == "text":
                self.talk.reply(text(part.get("text")), key)
            elif part.get("type") == "toolCall":
                self._call(part, at, f"?{key or len(self.talk.calls)}.{n}")
        stop = message.get("stopReason")
        self._working = stop == "toolUse"
        turn.interrupted = stop == "aborted"
        if stop == "error":
            turn.failed, turn.answered = True, False

    def _call(self, part: Entry, at: float | None, unnamed: str) -> None:
        id, name = text(part.get("id")), text(part.get("name"))
        if not name or (id and not self._seen.first("pi call", f"{scoped(id, self._path)}\0{name}\0{at}")):
            return
        self.talk.call(id or unnamed, name, part.get("arguments"), at)

    def _result(self, message: Entry, at: float | None, key: str | None) -> None:
        call = self.talk.calls.pop(text(message.get("toolCallId")), None)
        if call is not None:
            said = plain(message.get("content"))
            call.end(outcome(message.get("isError") is True, said, call.kind), said, at)


def own_words(said: str) -> str:
    """Return what the person typed: a skill they named by its name, files they attached left out."""
    if said.startswith("<skill name="):
        said = _SKILL.sub(lambda found: f"/skill:{found['name']}", said, count=1)
    return _FILE.sub("", said).strip() if said.startswith("<file name=") else said.strip()


def outcome(failed: bool, said: str, kind: CallKind) -> Outcome:
    """Return how a call ended."""
    if not failed:
        return Outcome(CallStatus.OK)
    refused = refusal(said) or (Outcome(CallStatus.CANCELLED) if said.endswith("Command aborted") else None)
    if refused is not None:
        return refused
    code = _EXIT.search(said[-200:]) if kind is CallKind.SHELL else None
    return Outcome(CallStatus.FAILED, exit_code=int(code[1]) if code else None)


def usage(said: Entry) -> Usage:
    """Return one model call's tokens; cached ones stand beside ``input`` and are counted in."""
    read, write = whole(said.get("cacheRead")), whole(said.get("cacheWrite"))
    cost = mapping(said.get("cost")).get("total")
    return Usage(
        input=whole(said.get("input")) + read + write,
        output=whole(said.get("output")),
        cache_read=read,
        cache_write=write,
        cost=float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None,
    )


_ENTRIES: dict[str, Callable[[PiTalk, Entry, float | None], None]] = {
    "session": PiTalk._header,
    "model_change": PiTalk._model,
    "session_info": PiTalk._title,
    "title": PiTalk._title,
    "title_change": PiTalk._title,
    "session_init": PiTalk._init,
    "message": PiTalk._message,
}
_ROLES: dict[str, Callable[[PiTalk, Entry, float | None, str | None], None]] = {
    "user": PiTalk._user,
    "assistant": PiTalk._assistant,
    "toolResult": PiTalk._result,
}
