"""Ramabana (``ramabana --json``). It exits 0 when the model failed or a limit stopped it: its one object tells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lessonbook.core.agent_run import Permission, Ran, Task
from lessonbook.system.agents.agent import Agent
from lessonbook.system.agents.telling import count, document, failed, money, table, text

_NOTHING = "(no reply)"


class Ramabana(Agent):
    """Without what it learned itself: the briefing stands in the prompt. It stops at its ``--max-cost``."""

    name = "ramabana"
    reader = "ramabana"
    bounded = True
    permissions = frozenset((Permission.READ, Permission.EDIT))
    hosts = ("anthropic.com", "openai.com", "openrouter.ai")

    def own_words(self, task: Task) -> Sequence[str]:
        """Return the options."""
        words = ["--json", "--root", task.folder, "--tmux", "off", "--pane", "off", "--no-learned", "--no-web"]
        words += ["--approve", "edits"] if task.permission is Permission.EDIT else []
        words += ["--max-cost", f"{task.dollars:g}"] if task.dollars else []
        return [*words, *(["--model", task.model] if task.model else [])]

    def last_words(self, task: Task) -> Sequence[str]:
        """Return the prompt."""
        return (f" {task.prompt}" if task.prompt.startswith("-") else task.prompt,)

    def told(self, task: Task, code: int, out: str, err: str) -> Ran:
        """Return how it ended: an answer, and nothing among its problems."""
        found = document(out[out.find("{") :] if "{" in out else "")
        used, session = table(found.get("usage")), found.get("session")
        known: dict[str, Any] = {
            "session": text(session) or text(table(session).get("id")) or None,
            "cost": money(used.get("cost")),
            "tokens_in": count(used.get("input")),
            "tokens_out": count(used.get("output")),
        }
        reply, problems = text(found.get("reply")).strip(), found.get("problems")
        # A failed call of the model has no tokens of an answer, and its reply starts with the failure.
        spoke = known["tokens_out"] is None or known["tokens_out"] > 0
        if code or not reply or reply == _NOTHING or problems or not spoke:
            return failed(self.name, code, reply or err or out, **known)
        return Ran(reply, **known)
