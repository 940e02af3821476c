"""Hermes (``hermes -z``). It exits 0 when it failed: the file it writes its usage to says so."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lessonbook.core.agent_run import Permission, Ran, Task
from lessonbook.system.agents.agent import Agent
from lessonbook.system.agents.telling import count, document, failed, money, text

_USAGE = "usage.json"


class Hermes(Agent):
    """Its toolsets are all that keeps it: ``file`` reads and writes anywhere, so it cannot be kept to reading."""

    name = "hermes"
    reader = "hermes"
    permissions = frozenset((Permission.EDIT, Permission.SHELL))
    hosts = ("openrouter.ai", "anthropic.com", "openai.com", "nousresearch.com")

    def own_words(self, task: Task) -> Sequence[str]:
        """Return the options."""
        tools = "file,terminal" if task.permission is Permission.SHELL else "file"
        words = ["-t", tools, "--usage-file", str(Path(task.scratch) / _USAGE)]
        return [*words, *(["-m", task.model] if task.model else [])]

    def last_words(self, task: Task) -> Sequence[str]:
        """Return the prompt."""
        return ("-z", f" {task.prompt}" if task.prompt.startswith("-") else task.prompt)

    def told(self, task: Task, code: int, out: str, err: str) -> Ran:
        """Return how it ended, by its usage file."""
        try:
            used = document((Path(task.scratch) / _USAGE).read_text("utf-8", "replace"))
        except OSError:
            used = {}
        known: dict[str, Any] = {
            "session": text(used.get("session_id")) or None,
            "cost": money(used.get("estimated_cost_usd")),
            "tokens_in": count(used.get("input_tokens")),
            "tokens_out": count(used.get("output_tokens")),
        }
        reply = out.strip()
        if code or used.get("failed") is not False or used.get("completed") is False or not reply:
            return failed(self.name, code, reply or err, **known)
        return Ran(reply, **known)
