"""What the messages of a Gemini CLI session mean, and how they become turns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lessonbook.core.seen import Seen
from lessonbook.core.session import CallKind, CallStatus, Session, Usage
from lessonbook.transcripts.building import OpenCall, Outcome, Talk, open_call
from lessonbook.transcripts.content import parts, plain, typed
from lessonbook.transcripts.refusals import refusal
from lessonbook.transcripts.values import TEXT_MAX, clip, epoch, mapping, scoped, text, whole

AGENT = "gemini"
COPY = "copy of a record already read"
REWOUND = "message the person took back"
_INJECTED = re.compile(
    r"<(hook_context|system-reminder|session_context)>.*?(?:</\1>|\Z)"
    r"|\s*--- Content from referenced files ---.*?(?:--- End of content ---|\Z)",
    re.DOTALL,
)
_NOT_REQUESTS = ("This is the Gemini CLI.", "<state_snapshot>", "System: Please continue")
_EXIT = re.compile(r"^Exit Code: (-?\d{1,10})\s*$", re.MULTILINE)
_CUT_SHORT = re.compile(r"(?:Command was (?:automatically )?cancel)", re.IGNORECASE)
_CANCEL = re.compile(r"\[Operation Cancelled\] Reason: ")
_DENIED = re.compile(r"User (?:denied|did not allow|rejected|declined)\b")
_OPEN = frozenset(("validating", "scheduled", "executing", "awaiting_approval", "pending"))


@dataclass(slots=True)
class _Message:
    """One message with long texts cut, as it is kept until the file has been read."""

    id: str
    kind: str
    said: str
    at: float | None
    model: str = ""
    usage: Usage | None = None
    calls: list[OpenCall] = field(default_factory=list)


class GeminiTalk:
    """A session while its file is read."""

    def __init__(self, seen: Seen, path: str) -> None:
        self.talk = Talk(AGENT)
        self.project = ""
        """The digest that names the project."""
        self.copied = 0
        self.rewound = 0
        self._seen = seen
        self._path = path
        self._id = ""
        self._parent: str | None = None
        self._messages: dict[str, _Message] = {}

    def fact(self, name: str, value: object) -> None:
        """Keep a fact of the session."""
        if name == "sessionId":
            self._id = self._id or text(value)
        elif name == "projectHash":
            self.project = self.project or text(value)
        elif name == "summary":
            self.talk.note("title", value)
        elif name == "kind" and value == "subagent":
            self.talk.by_subagent = True
        elif name in ("startTime", "lastUpdated"):
            self.talk.reach(epoch(value))

    def note_place(self, cwd: str | None, parent: str | None) -> None:
        """Keep the project's folder, and the session this is a sub-agent's of."""
        self.talk.note("cwd", cwd)
        if parent is not None:
            self.talk.by_subagent, self._parent = True, parent

    def message(self, item: Mapping[str, Any]) -> None:
        """Take one message; the same one grown takes the place of what it was."""
        id = text(item.get("id")) or f"?{len(self._messages)}"
        self._messages[id] = _message(id, item)

    def replace(self, items: Iterable[Mapping[str, Any]]) -> None:
        """Take these messages for all there are."""
        self._messages.clear()
        for item in items:
            self.message(item)

    def rewind(self, id: str) -> None:
        """Take back a message and all behind it; all, where it is not known."""
        ids = list(self._messages)
        for gone in ids[ids.index(id) if id in self._messages else 0 :]:
            del self._messages[gone]
            self.rewound += 1

    def freeze(self, id: str) -> Session:
        """Return the session; ``id`` is its id where the file says none."""
        for message in self._messages.values():
            if self._seen.first("gemini message", scoped(message.id, self._path)):
                self._take(message)
            else:
                self.copied += 1
        return self.talk.freeze(id=self._id or id, path=self._path, parent_id=self._parent)

    def _take(self, message: _Message) -> None:
        if message.kind == "user":
            self._user(message)
        elif message.kind == "gemini":
            self._model(message)
        elif message.kind == "info" and message.said.startswith("Request cancelled") and self.talk.turns:
            self.talk.turn().interrupted = True
        elif message.kind == "error" and self.talk.turns:
            self.talk.turn().failed, self.talk.turn().answered = True, False
        self.talk.reach(message.at)

    def _user(self, message: _Message) -> None:
        if self.talk.by_subagent:  # its instruction was written by a model
            self.talk.note("title", message.said.partition("\n")[0])
            self.talk.begin("", message.at, message.id)
        elif message.said:
            self.talk.begin(message.said, message.at, message.id)

    def _model(self, message: _Message) -> None:
        self.talk.note("model", message.model)
        turn = self.talk.turn()
        if message.usage is not None:
            turn.usage[message.id] = message.usage
        self.talk.reply(message.said, message.id)
        for call in message.calls:
            self.talk.add(call)


def _message(id: str, item: Mapping[str, Any]) -> _Message:
    kind = text(item.get("type"))
    at = epoch(item.get("timestamp"))
    if kind == "user":
        return _Message(id, kind, clip(_typed(item), TEXT_MAX), at)
    said = clip(plain(item.get("content")), TEXT_MAX)
    message = _Message(id, kind, said, at, text(item.get("model")), _usage(mapping(item.get("tokens"))))
    for n, one in enumerate(item["toolCalls"] if isinstance(item.get("toolCalls"), list) else ()):
        if text(mapping(one).get("name")):
            message.calls.append(_call(one, f"{id}.{n}", at))
    return message


def _typed(item: Mapping[str, Any]) -> str:
    """Return what the person typed: as it was shown, where that is recorded; without what was put beside it."""
    said = typed(item.get("displayContent")) or typed(item.get("content"))
    said = _INJECTED.sub("", said).strip()
    return "" if said.startswith(_NOT_REQUESTS) else said


def _call(item: Mapping[str, Any], unnamed: str, at: float | None) -> OpenCall:
    call = open_call(text(item.get("id")) or unnamed, text(item.get("name")), item.get("args"), at)
    said, failed = _result(item)
    status = text(item.get("status"))
    if status not in _OPEN and (status or said):
        call.end(outcome(status, said, failed, call.kind), said, epoch(item.get("timestamp")))
    return call


def _result(item: Mapping[str, Any]) -> tuple[str, bool]:
    """Return the text of a call's result, and whether it is an error."""
    said: list[str] = []
    failed = False
    for part in parts(item.get("result")):
        response = mapping(mapping(part.get("functionResponse")).get("response"))
        failed = failed or "error" in response
        inner = response.get("output", response.get("error", response.get("content")))
        said.append(plain(inner) if response else plain([part]) if "text" in part else "")
    found = "\n".join(one for one in said if one)
    return found or text(item.get("resultDisplay")), failed


def outcome(status: str, said: str, failed: bool, kind: CallKind) -> Outcome:
    """Return how a call ended. A shell command that fails is a ``success`` whose text states the exit code."""
    cancelled = _CANCEL.match(said)
    if status == "cancelled" or cancelled:
        refused = _DENIED.match(said, cancelled.end() if cancelled else 0)
        return Outcome(CallStatus.DENIED if refused else CallStatus.CANCELLED)
    if status == "error" or (not status and failed):
        return refusal(said) or Outcome(CallStatus.FAILED, exit_code=_exit_code(said, kind))
    if kind is CallKind.SHELL and _CUT_SHORT.match(said):
        return Outcome(CallStatus.CANCELLED)
    code = _exit_code(said, kind)
    return Outcome(CallStatus.FAILED if code else CallStatus.OK, code)


def _exit_code(said: str, kind: CallKind) -> int | None:
    """Return the exit code a shell result states: the last such line, as the command's own output comes before it."""
    found = _EXIT.findall(said[-4_000:]) if kind is CallKind.SHELL else []
    return int(found[-1]) if found else None


def _usage(said: Mapping[str, Any]) -> Usage | None:
    """Return one model call's tokens; ``input`` holds the cached ones already."""
    if not said:
        return None
    return Usage(
        input=whole(said.get("input")),
        output=whole(said.get("output")),
        cache_read=whole(said.get("cached")),
        reasoning=whole(said.get("thoughts")),
    )
