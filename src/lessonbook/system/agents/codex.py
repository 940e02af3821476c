"""Codex (``codex exec --json``). Its sandbox keeps writes to the folder, and programs it runs from the network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lessonbook.core.agent_run import Network, Permission, Ran, Task
from lessonbook.system.agents.agent import Agent, as_data
from lessonbook.system.agents.telling import count, failed, records, table, text


class Codex(Agent):
    """Its shell is its tool for files: what it may do is what the sandbox lets it, so ``edit`` and ``shell`` are one.

    Without the person's settings, and so without servers and hooks of theirs; who needs one of them, such as a
    provider, gives it again as ``-c`` in ``args``.
    """

    name = "codex"
    reader = "codex"
    hosts = ("openai.com", "chatgpt.com")

    def own_words(self, task: Task) -> Sequence[str]:
        """Return the options."""
        sandbox = "read-only" if task.permission is Permission.READ else "workspace-write"
        words = ["exec", "--json", "-C", task.folder, "-s", sandbox, "--skip-git-repo-check", "--ignore-user-config"]
        words += ["--disable", "hooks"]
        if sandbox == "workspace-write":
            asked = "true" if task.network is Network.OPEN else "false"
            words += ["-c", f"sandbox_workspace_write.network_access={asked}"]
            words += ["-c", "sandbox_workspace_write.exclude_slash_tmp=true"]
        return [*words, *(["-m", task.model] if task.model else [])]

    def environment(self, task: Task) -> Mapping[str, str]:
        """Give it a folder of ours for temporary files: its sandbox lets everybody write to that one."""
        return {"TMPDIR": task.scratch}

    def last_words(self, task: Task) -> Sequence[str]:
        """Say that the prompt comes on standard input."""
        return ("-",)

    def data(self, task: Task) -> bytes:
        """Return the prompt."""
        return as_data(task.prompt)

    def told(self, task: Task, code: int, out: str, err: str) -> Ran:
        """Return how it ended: ``turn.completed`` is a success, and its last message the answer."""
        reply, session, said, done = "", None, "", False
        used: dict[str, Any] = {}
        for record in records(out):
            kind, item = record.get("type"), table(record.get("item"))
            if kind == "thread.started":
                session = text(record.get("thread_id")) or None
            elif kind == "item.completed" and item.get("type") == "agent_message":
                reply = text(item.get("text"))
            elif kind in ("turn.failed", "error"):
                said = text(table(record.get("error")).get("message")) or text(record.get("message")) or said
            if kind in ("turn.completed", "turn.failed"):
                done, used = kind == "turn.completed", dict(table(record.get("usage")))
        known: dict[str, Any] = {"session": session, "tokens_in": count(used.get("input_tokens"))}
        known["tokens_out"] = count(used.get("output_tokens"))
        if code or not done or not reply.strip():
            return failed(self.name, code, said or err or out, **known)
        return Ran(reply, **known)
