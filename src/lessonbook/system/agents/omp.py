"""oh-my-pi (``omp -p``). It exits 0 when its time ran out: only the last message's ``stopReason`` tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lessonbook.core.agent_run import Permission, Ran, Task
from lessonbook.system.agents.agent import Agent
from lessonbook.system.agents.telling import count, failed, money, records, summed, table, text

_MODES: Mapping[Permission, Sequence[str]] = {
    Permission.READ: ("--approval-mode=always-ask", "--tools=read,grep,find"),
    Permission.EDIT: ("--approval-mode=write",),
    Permission.SHELL: ("--approval-mode=yolo",),
}


class Omp(Agent):
    """Without extensions and skills of anybody's."""

    name = "omp"
    reader = "omp"
    hosts = ("anthropic.com", "openai.com", "openrouter.ai")

    def own_words(self, task: Task) -> Sequence[str]:
        """Return the options."""
        words = ["-p", "--mode=json", "--no-title", "--no-lsp", "--no-extensions", "--no-skills"]
        words += [f"--max-time={max(1, int(task.seconds))}", *_MODES[task.permission]]
        return [*words, *([f"--model={task.model}"] if task.model else [])]

    def last_words(self, task: Task) -> Sequence[str]:
        """Return the prompt; a space keeps one that starts with a dash from being an option."""
        return (f" {task.prompt}" if task.prompt.startswith(("-", "@")) else task.prompt,)

    def environment(self, task: Task) -> Mapping[str, str]:
        """Keep it from asking anybody but its model."""
        return {"PI_OFFLINE": "1"}

    def told(self, task: Task, code: int, out: str, err: str) -> Ran:
        """Return how it ended, by its last message."""
        session, last = None, dict[str, Any]()
        usages: list[Mapping[str, Any]] = []
        for record in records(out):
            if record.get("type") == "session":
                session = text(record.get("id")) or None
            message = table(record.get("message"))
            if record.get("type") == "message_end" and message.get("role") == "assistant":
                last = dict(message)
                usages.append(table(message.get("usage")))
        known: dict[str, Any] = {
            "session": session,
            "cost": summed(money(table(one.get("cost")).get("total")) for one in usages),
            "tokens_in": summed(count(one.get("input")) for one in usages),
            "tokens_out": summed(count(one.get("output")) for one in usages),
        }
        parts = last.get("content")
        found = [table(part) for part in parts] if isinstance(parts, list) else []
        reply = "".join(text(part.get("text")) for part in found if part.get("type") == "text").strip()
        if code or last.get("stopReason") != "stop" or not reply:
            said = text(last.get("errorMessage")) or text(last.get("stopReason"))
            return failed(self.name, code, said or err or out, **known)
        return Ran(reply, **known)
