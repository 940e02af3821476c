"""opencode (``opencode run``). The prompt goes to standard input: as an argument it is kept with quotes around it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from lessonbook.core.agent_run import Network, Permission, Ran, Task
from lessonbook.system.agents.agent import Agent, as_data
from lessonbook.system.agents.telling import count, failed, money, records, summed, table, text


class Opencode(Agent):
    """What it may do is a table in its environment, which wins over settings; a tool that is denied disappears."""

    name = "opencode"
    reader = "opencode"
    hosts = ("anthropic.com", "openai.com", "opencode.ai", "openrouter.ai")

    def own_words(self, task: Task) -> Sequence[str]:
        """Return the options; ``--pure`` starts no plugin, ours neither."""
        words = ["run", "--pure", "--format", "json", "--title", "Replay", "--dir", task.folder]
        return [*words, *(["--model", task.model] if task.model else [])]

    def environment(self, task: Task) -> Mapping[str, str]:
        """Return what it may do, and what keeps it from asking anybody but its model."""
        can = task.permission
        web = "allow" if task.network is Network.OPEN else "deny"
        allowed = {
            "edit": "deny" if can is Permission.READ else "allow",
            "bash": "allow" if can is Permission.SHELL else "deny",
            "webfetch": web,
            "websearch": web,
            "external_directory": "deny",
            "lessonbook_*": "deny",
        }
        quiet = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "SHARE")
        return {"OPENCODE_PERMISSION": json.dumps(allowed), **{f"OPENCODE_DISABLE_{name}": "1" for name in quiet}}

    def data(self, task: Task) -> bytes:
        """Return the prompt."""
        return as_data(task.prompt)

    def told(self, task: Task, code: int, out: str, err: str) -> Ran:
        """Return how it ended: no error, and a last step that ended with words."""
        session, said, reply, stopped = None, "", list[str](), ""
        steps: list[Mapping[str, Any]] = []
        for record in records(out):
            part, kind = table(record.get("part")), record.get("type")
            session = text(record.get("sessionID")) or session
            if kind == "step_start":
                reply.clear()
            elif kind == "text":
                reply.append(text(part.get("text")))
            elif kind == "step_finish":
                steps.append(part)
                stopped = text(part.get("reason"))
            elif kind == "error":
                error = table(record.get("error"))
                said = text(table(error.get("data")).get("message")) or text(error.get("name")) or "an error"
        tokens = [table(step.get("tokens")) for step in steps]
        known: dict[str, Any] = {
            "session": session,
            "cost": summed(money(step.get("cost")) for step in steps),
            "tokens_in": summed(count(one.get("input")) for one in tokens),
            "tokens_out": summed(count(one.get("output")) for one in tokens),
        }
        answer = "".join(reply).strip()
        if code or said or stopped != "stop" or not answer:
            return failed(self.name, code, said or err or out, **known)
        return Ran(answer, **known)
