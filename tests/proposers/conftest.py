"""Builds sessions in memory, short enough to read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from lessonbook.core.session import Call, CallKind, CallStatus, Session, Turn, TurnState

DAY = 86_400.0


@dataclass
class Talk:
    """One session being written: prompts, and what the agent did after each."""

    id: str
    cwd: str | None = "/srv/shop"
    repo: str | None = None
    agent: str = "claude"
    day: int = 0
    turns: list[Turn] = field(default_factory=list)

    def ask(self, prompt: str, state: TurnState = TurnState.COMPLETE, steered: tuple[str, ...] = ()) -> Talk:
        started = self.day * DAY + 1_700_000_000.0
        self.turns.append(Turn(len(self.turns) + 1, prompt, started=started, state=state, steered=steered))
        return self

    def sh(self, command: str, result: str = "", code: int = 0) -> Talk:
        status = CallStatus.FAILED if code else CallStatus.OK
        return self._add("Bash", CallKind.SHELL, status, {"command": command}, command, result, code)

    def refuse(self, command: str, reason: str | None = None) -> Talk:
        return self._add("Bash", CallKind.SHELL, CallStatus.DENIED, {"command": command}, command, "", None, reason)

    def tool(self, name: str, status: CallStatus = CallStatus.OK, result: str = "", **args: Any) -> Talk:
        kinds = {"Edit": CallKind.EDIT, "Read": CallKind.READ, "Skill": CallKind.SKILL}
        reason = args.pop("reason", None)
        return self._add(name, kinds.get(name, CallKind.OTHER), status, args, None, result, None, reason)

    def done(self) -> Session:
        started = self.day * DAY + 1_700_000_000.0
        return Session(
            self.agent, self.id, f"/t/{self.id}.jsonl", tuple(self.turns), self.cwd, self.repo, started=started
        )

    def _add(
        self,
        name: str,
        kind: CallKind,
        status: CallStatus,
        args: dict[str, Any],
        command: str | None,
        result: str,
        code: int | None,
        reason: str | None = None,
    ) -> Talk:
        if not self.turns:
            self.ask("go on with the work")
        last = self.turns[-1]
        id = f"{self.id}-{last.n}-{len(last.calls)}"
        call = Call(id, name, kind, status, args, None, command, result, code, deny_reason=reason)
        self.turns[-1] = Turn(
            last.n, last.prompt, (*last.calls, call), last.reply, last.started, last.ended, last.state, last.steered
        )
        return self


@pytest.fixture
def talk() -> Callable[..., Talk]:
    """Return a function that starts a session: ``talk("a", day=2).ask("…").sh("ls").done()``."""

    def start(id: str, **how: Any) -> Talk:
        return Talk(id, **how)

    return start
