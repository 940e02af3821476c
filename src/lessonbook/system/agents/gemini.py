"""Gemini CLI (``gemini -p``). Its ``result`` line says whether it worked; an API error ends it with any exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lessonbook.core.agent_run import Permission, Ran, Task
from lessonbook.system.agents.agent import Agent
from lessonbook.system.agents.telling import count, failed, records, table, text

_MODES = {Permission.READ: "default", Permission.EDIT: "auto_edit", Permission.SHELL: "yolo"}


class Gemini(Agent):
    """The clone is trusted for the run, from which the clone's settings for it were taken out (``system.clones``)."""

    name = "gemini"
    reader = "gemini"
    hosts = ("googleapis.com", "accounts.google.com")

    def own_words(self, task: Task) -> Sequence[str]:
        """Return the options."""
        words = ["--skip-trust", "-o", "stream-json", "--approval-mode", _MODES[task.permission]]
        words += ["--session-id", task.session]
        return [*words, *(["-m", task.model] if task.model else [])]

    def last_words(self, task: Task) -> Sequence[str]:
        """Return the prompt, joined to its option: it may start with a dash."""
        return (f"--prompt={task.prompt}",)

    def environment(self, task: Task) -> Mapping[str, str]:
        """Trust the clone."""
        return {"GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def told(self, task: Task, code: int, out: str, err: str) -> Ran:
        """Return how it ended, by its ``result`` line; its answer is what it said after its last tool."""
        session, parts, said = task.session, list[str](), ""
        status, used = "", dict[str, Any]()
        for record in records(out):
            kind = record.get("type")
            if kind == "init":
                session = text(record.get("session_id")) or session
            elif kind == "message" and record.get("role") == "assistant":
                parts.append(text(record.get("content")))
            elif kind == "tool_use":
                parts.clear()
            elif kind == "error":
                said = text(record.get("message")) or said
            elif kind == "result":
                status, used = text(record.get("status")), dict(table(record.get("stats")))
                said = text(table(record.get("error")).get("message")) or said
        reply = "".join(parts).strip()
        known: dict[str, Any] = {"session": session, "tokens_in": count(used.get("input_tokens"))}
        known["tokens_out"] = count(used.get("output_tokens"))
        if code or status != "success" or not reply:
            return failed(self.name, code, said or err or out, **known)
        return Ran(reply, **known)
