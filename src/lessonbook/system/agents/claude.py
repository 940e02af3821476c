"""Claude Code (``claude -p``). Its last line says ``is_error``: an API error has ``subtype: success`` besides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lessonbook.core.agent_run import Permission, Ran, Task
from lessonbook.system.agents.agent import Agent, as_data
from lessonbook.system.agents.telling import count, failed, money, records, summed, table, text

_READ = "Read,Grep,Glob"
_TOOLS = {
    Permission.READ: _READ,
    Permission.EDIT: f"{_READ},Edit,Write",
    Permission.SHELL: f"{_READ},Edit,Write,Bash",
}
_IN = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class Claude(Agent):
    """Without settings, hooks and servers of anybody's, also of the clone; ``--max-budget-usd`` is its own limit."""

    name = "claude"
    reader = "claude"
    bounded = True
    hosts = ("anthropic.com", "claude.com", "claude.ai")

    def own_words(self, task: Task) -> Sequence[str]:
        """Return the options."""
        words = ["-p", "--output-format", "stream-json", "--verbose", "--session-id", task.session]
        words += ["--setting-sources", "", "--strict-mcp-config", "--tools", _TOOLS[task.permission]]
        if task.permission is Permission.SHELL:
            words += ["--allowedTools", "Bash"]
        words += ["--permission-mode", "acceptEdits" if task.permission is not Permission.READ else "default"]
        words += ["--max-budget-usd", f"{task.dollars:g}"] if task.dollars else []
        return [*words, *(["--model", task.model] if task.model else [])]

    def environment(self, task: Task) -> Mapping[str, str]:
        """Return what keeps it from asking anybody but its model."""
        quiet = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING")
        return dict.fromkeys((*quiet, "DISABLE_AUTOUPDATER"), "1")

    def data(self, task: Task) -> bytes:
        """Return the prompt."""
        return as_data(task.prompt)

    def told(self, task: Task, code: int, out: str, err: str) -> Ran:
        """Return how it ended, by its ``result`` line."""
        last: dict[str, Any] = {}
        for record in records(out):
            if record.get("type") == "result":
                last = record
        usage = table(last.get("usage"))
        known: dict[str, Any] = {
            "session": text(last.get("session_id")) or task.session,
            "cost": money(last.get("total_cost_usd")),
            "tokens_in": summed(count(usage.get(key)) for key in _IN),
            "tokens_out": count(usage.get("output_tokens")),
        }
        reply = text(last.get("result"))
        if code or last.get("is_error") is not False or last.get("subtype") != "success" or not reply.strip():
            return failed(self.name, code, reply or text(last.get("subtype")) or err or out, **known)
        return Ran(reply, **known)
