"""How one record of a Codex session changes the session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lessonbook.core.seen import Seen
from lessonbook.transcripts.building import Talk
from lessonbook.transcripts.codex_calls import CodexCalls
from lessonbook.transcripts.codex_records import content_text, environment_cwd, remote, request, usage
from lessonbook.transcripts.values import epoch, mapping, text

AGENT = "codex"
Payload = Mapping[str, Any]


class CodexTalk:
    """A Codex session while it is read.

    A fork or a sub-agent begins with a copy of its parent's records. While that lasts (``copying``) prompts and calls
    that were read before are left out; the first new one ends it.
    """

    def __init__(self, seen: Seen, path: str) -> None:
        self.talk = Talk(AGENT)
        self.calls = CodexCalls(self.talk, seen, path)
        self.id = ""
        self.parent = ""
        self.copied = 0
        self.rolled_back = 0
        self._seen = seen
        self._path = path
        self._own_start: float | None = None
        self._copying = False
        self._events_speak = False
        """Whether the file has ``user_message`` events, the clean list of requests."""
        self._waiting: tuple[str, float | None, int] | None = None
        """A request known from a message only, until it is clear that no event follows it."""
        self._task = ""
        """Where the file marks tasks: ``open``, ``asked`` once its request came, or ``closed``."""
        self._spent: object = None

    def take(self, kind: str, payload: Payload, at: float | None) -> None:
        """Let one record change the session; ``kind`` is its line's type."""
        if kind == "session_meta":
            self._meta(payload)
            return
        if self._copying and at is not None and self._own_start is not None and at < self._own_start - 1:
            self.copied += 1
            return
        form = text(payload.get("type")) or ("message" if "role" in payload else "")
        handler = _HANDLERS.get((kind, form)) or _HANDLERS.get((kind, ""))
        if handler is not None:
            handler(self, payload, at)
        if not self._copying:
            self.talk.reach(at)

    def settle(self) -> None:
        """Take a message that no event followed for what it then is: a request."""
        if self._waiting is not None:
            said, at, position = self._waiting
            self._waiting, here = None, self.talk.position
            self.talk.position = position
            self._request(said, at)
            self.talk.position = here

    def learn(self, first: Callable[[CodexTalk], None], task: str) -> None:
        """Take the facts of the session from its first records, and nothing else; ``task`` is how its tasks stand."""
        other = CodexTalk(Seen(), self._path)
        first(other)
        self.id, self.parent, self.talk.facts = other.id, other.parent, other.talk.facts
        self.talk.started, self.talk.by_subagent = other.talk.started, other.talk.by_subagent
        self._own_start, self._events_speak, self._task = other._own_start, other._events_speak, task

    def _meta(self, payload: Payload) -> None:
        id = text(payload.get("id")) or text(payload.get("session_id"))
        if id and id == self.id:  # said again when a session is resumed
            return
        if self.id:  # the parent's own, copied along
            self._copying, self.parent = True, self.parent or id
            return
        self.id, self._own_start = id, epoch(payload.get("timestamp"))
        source = mapping(payload.get("source"))
        spawn = mapping(mapping(source.get("subagent")).get("thread_spawn"))
        self.talk.by_subagent = source.get("subagent") is not None or payload.get("thread_source") == "subagent"
        self.parent = text(spawn.get("parent_thread_id")) or text(payload.get("forked_from_id"))
        self._copying = bool(self.parent)
        git = mapping(payload.get("git"))
        self.talk.reach(self._own_start)
        self.talk.note("cwd", payload.get("cwd"))
        self.talk.note("agent_version", payload.get("cli_version"))
        self.talk.note("repo", remote(git.get("repository_url")))
        self.talk.note("branch", git.get("branch"))
        self.talk.note("commit", git.get("commit_hash"))

    def _context(self, payload: Payload, at: float | None) -> None:
        self.talk.note("cwd", payload.get("cwd"))
        self.talk.note("model", payload.get("model"))

    def _request(self, said: str, at: float | None) -> None:
        copied = self._copying and self._seen.knows("codex prompt", f"{self.parent}\0{said}")
        self._seen.first("codex prompt", f"{self.id}\0{said}")
        if copied:
            self.copied += 1
            return
        self._copying = False
        if self.talk.by_subagent:  # its instruction was written by a model
            self.talk.note("title", said.partition("\n")[0])
            said = ""
        if said and self._task == "asked" and not self.talk.turn().interrupted:
            self.talk.steer(said)
        else:
            self.talk.begin(said, at).note = self._task
            self._task = "asked" if self._task == "open" else self._task

    def _user_event(self, payload: Payload, at: float | None) -> None:
        self._events_speak, self._waiting = True, None
        said = request(text(payload.get("message"))) if payload.get("kind") in (None, "plain") else ""
        if said:
            self._request(said, at)

    def _message(self, payload: Payload, at: float | None) -> None:
        said = content_text(payload.get("content"))
        if payload.get("role") == "assistant":
            self._reply(said)
        elif payload.get("role") == "user":
            self.talk.note("cwd", environment_cwd(said))
            asked = "" if self._events_speak else request(said)
            if asked:
                self.settle()
                self._waiting = (asked, at, self.talk.position)

    def _agent_event(self, payload: Payload, at: float | None) -> None:
        self._reply(text(payload.get("message")))

    def _reply(self, said: str) -> None:
        self.settle()
        if not self._copying:
            self.talk.reply(said)

    def _call(self, payload: Payload, at: float | None) -> None:
        self.settle()
        self._count(self.calls.begin(payload, at))

    def _mcp(self, payload: Payload, at: float | None) -> None:
        self.settle()
        self._count(self.calls.mcp_event(payload, at))

    def _count(self, new: bool) -> None:
        self._copying = self._copying and not new
        self.copied += not new

    def _output(self, payload: Payload, at: float | None) -> None:
        self.calls.output(payload, at)

    def _exec_event(self, payload: Payload, at: float | None) -> None:
        self.calls.exec_event(payload, at)

    def _patch_event(self, payload: Payload, at: float | None) -> None:
        self.calls.patch_event(payload, at)

    def _tokens(self, payload: Payload, at: float | None) -> None:
        """Add one model call's tokens; a repeated tick, known by an unchanged total, adds nothing."""
        info = mapping(payload.get("info"))
        last, mark = mapping(info.get("last_token_usage")), info.get("total_token_usage")
        if not last or self._copying or not self.talk.turns or (mark is not None and mark == self._spent):
            return
        self._spent = mark
        turn = self.talk.turn()
        turn.usage[str(len(turn.usage))] = usage(last)

    def _aborted(self, payload: Payload, at: float | None) -> None:
        self.settle()
        self._task = self._task and "closed"
        if self.talk.turns and payload.get("reason") != "review_ended":
            self.talk.turn().interrupted = True

    def _undone(self, payload: Payload, at: float | None) -> None:
        """The person took back the last turns: what they asked there is no longer in force."""
        self.settle()
        count = payload.get("num_turns")
        if isinstance(count, int) and count > 0:
            gone = min(count, len(self.talk.turns))
            self.rolled_back += gone
            del self.talk.turns[len(self.talk.turns) - gone :]

    def _started(self, payload: Payload, at: float | None) -> None:
        self.settle()
        self._task = "open"

    def _ended(self, payload: Payload, at: float | None) -> None:
        self.settle()
        self._task = self._task and "closed"

    def _errored(self, payload: Payload, at: float | None) -> None:
        self.settle()
        if self.talk.turns:
            self.talk.turn().failed = True


_HANDLERS: dict[tuple[str, str], Callable[[CodexTalk, Payload, float | None], None]] = {
    ("turn_context", ""): CodexTalk._context,
    ("response_item", "message"): CodexTalk._message,
    ("event_msg", "user_message"): CodexTalk._user_event,
    ("event_msg", "agent_message"): CodexTalk._agent_event,
    **{
        ("response_item", f"{form}_call"): CodexTalk._call
        for form in ("function", "custom_tool", "local_shell", "web_search", "tool_search", "image_generation")
    },
    ("response_item", "function_call_output"): CodexTalk._output,
    ("response_item", "custom_tool_call_output"): CodexTalk._output,
    ("response_item", "tool_search_output"): CodexTalk._output,
    ("event_msg", "exec_command_end"): CodexTalk._exec_event,
    ("event_msg", "patch_apply_end"): CodexTalk._patch_event,
    ("event_msg", "mcp_tool_call_end"): CodexTalk._mcp,
    ("event_msg", "token_count"): CodexTalk._tokens,
    ("event_msg", "turn_aborted"): CodexTalk._aborted,
    ("event_msg", "thread_rolled_back"): CodexTalk._undone,
    ("event_msg", "error"): CodexTalk._errored,
    **{("event_msg", f"{name}_started"): CodexTalk._started for name in ("task", "turn")},
    **{("event_msg", f"{name}_complete"): CodexTalk._ended for name in ("task", "turn")},
}
