"""What the messages of a mini-swe-agent run mean: its only tool is the shell, and results come as the user's words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from lessonbook.core.session import CallStatus, Session, Usage
from lessonbook.transcripts.building import OpenCall, Outcome, Talk
from lessonbook.transcripts.content import plain
from lessonbook.transcripts.values import epoch, mapping, text, whole

AGENT = "mini-swe-agent"
_BLOCK = re.compile(r"```(?:bash|sh|mswea_bash_command)\s*\n(.*?)\n?```", re.DOTALL)
_CODE = re.compile(
    r"\s*(?:<exception>.{0,2000}?</exception>\s*)?<returncode>\s*(-?\d{1,10})\s*</returncode>", re.DOTALL
)
_OUTPUT = re.compile(r"<output>\n?(.*?)\n?</output>", re.DOTALL)
_REFUSED = re.compile(
    r"Command not executed\. The user rejected your command(?: with the following message:?\s*(.*))?", re.DOTALL
)
_FORMAT = re.compile(r"Please always provide EXACTLY ONE|Format error|Tool call error", re.IGNORECASE)
_TIMED_OUT = re.compile(r"The last command (?:<command>|`).{0,8000}? (?:has been killed|timed out)", re.DOTALL)
_STOPPED = re.compile(r"(?:Temporary )?Interrupt(?:ed|ion) by user:?\s*(.*)", re.DOTALL | re.IGNORECASE)
_NEW_TASK = re.compile(r"The user added a new task:\s*(.*)", re.DOTALL)
_TASK = (
    re.compile(
        r"<pr_description>\s*(?:Consider the following PR description:\s*)?(.*?)\s*</pr_description>", re.DOTALL
    ),
    re.compile(r"Please solve this issue: (.*?)\n\nYou can execute bash commands", re.DOTALL),
)
_SUBMIT = re.compile(r"echo [\"']?(?:COMPLETE_TASK_AND_SUBMIT|MINI_SWE_AGENT)_FINAL_OUTPUT")
Message = Mapping[str, Any]


class MiniTalk:
    """A run while its messages are read, in order."""

    def __init__(self) -> None:
        self.talk = Talk(AGENT)
        self._open: list[OpenCall] = []
        """Calls whose results are to come, in order."""
        self._calls = 0
        self._spent: Usage | None = None
        self._exit = ""

    def message(self, message: Message) -> None:
        """Take one message."""
        extra = mapping(message.get("extra"))
        at = epoch(extra.get("timestamp")) or epoch(message.get("timestamp"))
        said = plain(message.get("content"))
        role = message.get("role")
        if role == "assistant":
            self._assistant(message, said, at)
        elif role in ("user", "tool"):
            self._answer(message, said, at)
        elif role == "exit":
            self._status(text(extra.get("exit_status")))
        self.talk.reach(at)

    def info(self, info: Message) -> None:
        """Take the facts of the run."""
        config = mapping(info.get("config"))
        self.talk.note("model", mapping(config.get("model")).get("model_name"))
        self.talk.note("cwd", mapping(config.get("environment")).get("cwd"))
        self.talk.note("agent_version", info.get("mini_version"))
        spent = mapping(info.get("model_stats"))
        cost = spent.get("instance_cost")
        if spent and isinstance(cost, int | float) and not isinstance(cost, bool):
            self._spent = Usage(whole(spent.get("tokens_sent")), whole(spent.get("tokens_received")), cost=float(cost))
        self._exit = text(info.get("exit_status"))

    def freeze(self, id: str, path: str) -> Session:
        """Return the session."""
        if self.talk.turns:
            self._status(self._exit)
            turn = self.talk.turn()
            turn.answered = turn.answered or bool(turn.calls and _SUBMIT.match(turn.calls[-1].command or ""))
            if self._spent is not None:
                self.talk.turns[-1].usage["run"] = self._spent
        return self.talk.freeze(id=id, path=path, parent_id=None)

    def _status(self, state: str) -> None:
        if state and self.talk.turns:
            self.talk.turn().failed = state.lower() != "submitted"

    def _assistant(self, message: Message, said: str, at: float | None) -> None:
        self.talk.turn()
        self._open.clear()
        self.talk.reply(_BLOCK.sub("", said).strip() or said)
        found = commands(message)
        for command in found if len(found) == 1 or "tool_calls" in message or _acted(message) else ():
            self._calls += 1
            self._open.append(self.talk.call(f"call-{self._calls}", "bash", {"command": command}, at))

    def _answer(self, message: Message, said: str, at: float | None) -> None:
        if not self.talk.turns:
            self.talk.begin(_task(said), at)
            return
        task = _NEW_TASK.match(said)
        stopped = _STOPPED.match(said)
        if task:
            self.talk.begin(task[1].strip(), at)
        elif stopped:
            self.talk.steer(stopped[1])
            if self._open:
                self._open.pop(0).end(Outcome(CallStatus.CANCELLED), said, at)
        elif self._open and not _FORMAT.match(said):
            output = _OUTPUT.search(said)
            ended = outcome(said, mapping(message.get("extra")))
            self._open.pop(0).end(ended, output[1] if output and ended.exit_code is not None else said, at)


def commands(message: Message) -> list[str]:
    """Return the commands an answer of the model holds: as recorded, as tool calls, or as blocks in its text."""
    acted = _acted(message)
    if acted:
        return acted
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        return [found for call in calls if (found := _argument(mapping(mapping(call).get("function"))))]
    return [found.strip() for found in _BLOCK.findall(plain(message.get("content"))) if found.strip()]


def _acted(message: Message) -> list[str]:
    actions = mapping(message.get("extra")).get("actions")
    named = [mapping(one).get("command") for one in actions] if isinstance(actions, list) else []
    return [one for one in named if isinstance(one, str) and one]


def _argument(function: Message) -> str:
    sent = function.get("arguments")
    if isinstance(sent, str):
        try:
            sent = msgspec.json.decode(sent.encode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return str(sent)
    return text(mapping(sent).get("command"))


def outcome(said: str, extra: Message) -> Outcome:
    """Return how a call ended: by the code its result states, or the person's refusal."""
    refused = _REFUSED.match(said)
    if refused:
        return Outcome(CallStatus.DENIED, deny_reason=(refused[1] or "").strip()[:2_000] or None)
    stated = _CODE.match(said)
    code = extra.get("returncode")
    known = code if isinstance(code, int) and not isinstance(code, bool) else int(stated[1]) if stated else None
    failed = bool(known) or _TIMED_OUT.match(said) is not None
    return Outcome(CallStatus.FAILED if failed else CallStatus.OK, known)


def _task(said: str) -> str:
    """Return the task alone, where the template around it is one of the program's own."""
    return next((found[1].strip() for one in _TASK if (found := one.search(said))), said.strip())
