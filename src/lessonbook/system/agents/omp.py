"""oh-my-pi (``omp -p``). It exits 0 when its time ran out: only the last message's ``stopReason`` tells."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lessonbook.core.agent_run import Apart, Permission, Ran, Task
from lessonbook.system.agents.agent import Agent, linked
from lessonbook.system.agents.telling import count, failed, money, records, summed, table, text

_MODES: Mapping[Permission, Sequence[str]] = {
    Permission.READ: ("--approval-mode=always-ask", "--tools=read,grep,find"),
    Permission.EDIT: ("--approval-mode=write",),
    Permission.SHELL: ("--approval-mode=yolo",),
}


_SETTINGS = (
    *("config.yml", "config.yaml", "settings.json", "models.yml", "models.yaml", "models.json", ".env"),
    *("auth.json", "AGENTS.md", "SYSTEM.md", "APPEND_SYSTEM.md", "rules", "prompts"),
)
"""What of its agent folder a run begins with."""
_LOGIN = "agent.db"
_TOKENS = ("auth-broker.token", ".env")


class Omp(Agent):
    """Without extensions and skills of anybody's, and with its state in the folder of the run."""

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
        """Keep it from asking anybody but its model, and give it a folder of its own."""
        root, agent = _folders(task)
        apart = {"PI_CONFIG_DIR": os.path.relpath(root, Path.home()), "PI_CODING_AGENT_DIR": str(agent)}
        return {"PI_OFFLINE": "1", "OMP_PROFILE": "", "TMPDIR": task.scratch, **apart}

    def apart(self, task: Task, env: Mapping[str, str]) -> Apart:
        """Return its settings, and its login: a database that has to stay where it is, as renewing it writes there."""
        root, agent = _folders(task)
        base = Path.home() / (env.get("PI_CONFIG_DIR") or ".omp")
        profile = env.get("OMP_PROFILE", env.get("PI_PROFILE", "")).strip()
        top = base / "profiles" / profile if profile not in ("", "default") else base
        own = Path(env.get("PI_CODING_AGENT_DIR") or top / "agent") if top == base else top / "agent"
        links = (*linked(root, base, _TOKENS), *linked(agent, own, _SETTINGS))
        moved = Path(env["XDG_DATA_HOME"]) / "omp" if env.get("XDG_DATA_HOME") else own
        login = next((place for place in (moved, own) if (place / _LOGIN).exists()), None)
        writes = self.writes or ()
        if login is None:
            return Apart(links, writes)
        return Apart((*links, *linked(agent, login, (_LOGIN,))), (str(login), *writes))

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


def _folders(task: Task) -> tuple[Path, Path]:
    """Its root and its agent folder in the folder of a run: not the one in the other, or it looks elsewhere, too."""
    return Path(task.scratch) / "omp", Path(task.scratch) / "omp-agent"
