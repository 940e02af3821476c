"""What the messages and parts of an opencode session mean, and how they become turns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from lessonbook.core.seen import Seen
from lessonbook.core.session import CallKind, CallStatus, Session, Usage
from lessonbook.transcripts.building import Outcome, Talk
from lessonbook.transcripts.refusals import reason_given, refusal
from lessonbook.transcripts.values import epoch, mapping, scoped, text, whole

AGENT = "opencode"
COPY = "copy of a record already read"
TAKEN_BACK = "message the person took back"
_REFUSED = "The user rejected permission"
_BLOCKED = re.compile(r"PermissionDenied|The user has specified a rule which prevents|.{0,80}denied by (?:rule|config)")
_ABORTED = re.compile(r"Tool execution (?:was )?aborted|The operation was aborted|Aborted\b|Tool execution interrupted")
_OPEN = frozenset(("pending", "running"))
_QUOTED = re.compile(r'"([^"\\]*)"\s*')
Item = Mapping[str, Any]


class OpencodeTalk:
    """A session while its messages are read, in order."""

    def __init__(self, seen: Seen, path: str, id: str = "") -> None:
        self.talk = Talk(AGENT)
        self.copied = 0
        self.taken_back = 0
        self._seen = seen
        self._path = path
        self._id = id
        self._parent: str | None = None
        self._reverted = ""
        self._gone = False

    def info(self, session: Item) -> None:
        """Take the facts of the session."""
        self._id = text(session.get("id")) or self._id
        self._parent = text(session.get("parentID")) or text(session.get("parent_id")) or None
        self.talk.by_subagent = self._parent is not None
        self._reverted = text(mapping(session.get("revert")).get("messageID"))
        self.talk.note("cwd", session.get("directory"))
        self.talk.note("title", session.get("title"))
        self.talk.note("agent_version", session.get("version"))
        self.talk.reach(epoch(mapping(session.get("time")).get("created") or session.get("time_created")))

    def message(self, message: Item, parts: Iterable[Item]) -> None:
        """Take one message with its parts; what is a copy, or taken back by the person, is counted."""
        id = text(message.get("id"))
        self._gone = self._gone or bool(id and id == self._reverted)
        if self._gone:
            self.taken_back += 1
            return
        if id and not self._seen.first("opencode message", scoped(id, self._path)):
            self.copied += 1
            return
        at = epoch(mapping(message.get("time")).get("created"))
        if message.get("role") == "user":
            self._user(id, at, parts)
        elif message.get("role") == "assistant":
            self._assistant(id, at, message, parts)
        self.talk.reach(at)

    def freeze(self) -> Session:
        """Return the session."""
        return self.talk.freeze(id=self._id, path=self._path, parent_id=self._parent)

    def _user(self, id: str, at: float | None, parts: Iterable[Item]) -> None:
        typed = [
            part for part in parts if part.get("type") == "text" and not (part.get("synthetic") or part.get("ignored"))
        ]
        said = "\n".join(text(part.get("text")) for part in typed).strip()
        whole_quote = _QUOTED.fullmatch(said)
        said = whole_quote[1].strip() if whole_quote else said
        if not said:
            return
        if self.talk.by_subagent:  # its instruction was written by a model
            self.talk.note("title", said.partition("\n")[0])
            said = ""
        self.talk.begin(said, at, id or None)

    def _assistant(self, id: str, at: float | None, message: Item, parts: Iterable[Item]) -> None:
        self.talk.note("cwd", mapping(message.get("path")).get("cwd"))
        self.talk.note("model", message.get("modelID"))
        turn = self.talk.turn()
        spent = usage(message)
        if spent is not None:
            turn.usage[id or str(len(turn.usage))] = spent
        summary = message.get("summary") is True
        for n, part in enumerate(parts):
            if part.get("type") == "text" and not part.get("synthetic") and not summary:
                self.talk.reply(text(part.get("text")), id or None)
            elif part.get("type") == "tool":
                self._call(part, f"{id}.{n}", at)
        self.talk.reach(epoch(mapping(message.get("time")).get("completed")))
        error = text(mapping(message.get("error")).get("name"))
        turn.interrupted = error == "MessageAbortedError"
        if error and not turn.interrupted:
            turn.failed, turn.answered = True, False

    def _call(self, part: Item, unnamed: str, at: float | None) -> None:
        state = mapping(part.get("state"))
        name, args = text(part.get("tool")), state.get("input")
        malformed = name == "invalid"
        if malformed:
            name = text(mapping(args).get("tool")) or name
        elif not mapping(args) and text(state.get("raw")):
            args = state.get("raw")
        if not name:
            return
        times = mapping(state.get("time"))
        started, ended = epoch(times.get("start")), epoch(times.get("end"))
        call = self.talk.call(text(part.get("callID")) or unnamed, name, args, started or at)
        said = text(state.get("output")) or text(state.get("error")) or text(mapping(args).get("error")) * malformed
        status = text(state.get("status"))
        if status and status not in _OPEN:
            ended_as = Outcome(CallStatus.FAILED) if malformed else outcome(status, state, said, call.kind)
            call.end(ended_as, said, ended)
        self.talk.reach(ended)


def outcome(status: str, state: Item, said: str, kind: CallKind) -> Outcome:
    """Return how a call ended. A shell command that fails is ``completed``, its exit code beside it."""
    if status != "error":
        code = mapping(state.get("metadata")).get("exit")
        known = code if isinstance(code, int) and not isinstance(code, bool) else None
        return Outcome(CallStatus.FAILED if known else CallStatus.OK, known)
    bare = said.removeprefix("Error: ")
    if bare.startswith(_REFUSED):
        return Outcome(CallStatus.DENIED, deny_reason=reason_given(bare))
    if _BLOCKED.match(bare):
        return Outcome(CallStatus.BLOCKED)
    if _ABORTED.match(bare):
        return Outcome(CallStatus.CANCELLED)
    return refusal(said) or Outcome(CallStatus.FAILED)


def usage(message: Item) -> Usage | None:
    """Return one model call's tokens; cached ones stand beside ``input`` and are counted in."""
    said, cost = mapping(message.get("tokens")), message.get("cost")
    cache = mapping(said.get("cache"))
    read, write = whole(cache.get("read")), whole(cache.get("write"))
    if not said:
        return None
    return Usage(
        input=whole(said.get("input")) + read + write,
        output=whole(said.get("output")),
        cache_read=read,
        cache_write=write,
        reasoning=whole(said.get("reasoning")),
        cost=float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None,
    )
