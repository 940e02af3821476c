"""Hermes (``hermes -z``). It exits 0 when it failed: the file it writes its usage to says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lessonbook.core.agent_run import Apart, Permission, Ran, Task
from lessonbook.system.agents.agent import Agent, linked
from lessonbook.system.agents.telling import count, document, failed, money, text

_USAGE = "usage.json"


_SETTINGS = ("config.yaml", "SOUL.md", ".env", "AGENTS.md", "plugins", "node", "bin")
_LOGIN = ("auth.json", "auth", "shared")


class Hermes(Agent):
    """Its toolsets do not keep it: ``file`` reads and writes anywhere, so it cannot be kept to reading.

    Its state is in the folder of the run, and its writes are kept to that where the system can (``guard``).
    """

    name = "hermes"
    reader = "hermes"
    permissions = frozenset((Permission.EDIT, Permission.SHELL))
    hosts = ("openrouter.ai", "anthropic.com", "openai.com", "nousresearch.com")

    def own_words(self, task: Task) -> Sequence[str]:
        """Return the options."""
        tools = "file,terminal" if task.permission is Permission.SHELL else "file"
        words = ["-t", tools, "--usage-file", str(Path(task.scratch) / _USAGE)]
        return [*words, *(["-m", task.model] if task.model else [])]

    def environment(self, task: Task) -> Mapping[str, str]:
        """Give it a folder of its own."""
        return {"HERMES_HOME": str(_folder(task)), "TMPDIR": task.scratch}

    def apart(self, task: Task, env: Mapping[str, str]) -> Apart:
        """Return its settings, and its login: files that it writes in their places when it renews it."""
        own = Path(env.get("HERMES_HOME") or Path.home() / ".hermes")
        login = linked(_folder(task), own, _LOGIN)
        return Apart(
            (*linked(_folder(task), own, _SETTINGS), *login), (*(place for _, place in login), *(self.writes or ()))
        )

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


def _folder(task: Task) -> Path:
    return Path(task.scratch) / "hermes"
