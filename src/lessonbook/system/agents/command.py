"""Any command line: what ``config.toml`` says starts an agent we have no module for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lessonbook.core.agent_run import Permission, Ran, Task
from lessonbook.system.agents.agent import Agent, as_data
from lessonbook.system.agents.telling import count, document, failed, money, table, text

_IN = "{prompt}"


class Command(Agent):
    """``{prompt}``, ``{folder}``, ``{model}``, ``{session}``, ``{permission}`` and ``{dollars}`` are filled in.

    Without ``{prompt}`` it reads the prompt on standard input. What it may do is its own affair: nothing of ours keeps
    it to the clone. It is believed to stop at a cost only where it is told one.
    """

    def __init__(self, name: str, words: Sequence[str], reader: str, transcripts: str, more: Sequence[str]) -> None:
        """``reader`` and ``transcripts`` say in whose form and where it writes its sessions."""
        super().__init__(words, more)
        self.name, self.reader, self.transcripts = name, reader, transcripts
        self.bounded = any("{dollars}" in word for word in self.program)

    permissions = frozenset(Permission)

    def words(self, task: Task) -> Sequence[str]:
        """Return the command with everything filled in."""
        values = {"prompt": task.prompt, "folder": task.folder, "model": task.model, "session": task.session}
        values |= {"permission": task.permission.value, "dollars": f"{task.dollars or 0:g}"}
        return [_filled(word, values) for word in (*self.program, *self.more)]

    def data(self, task: Task) -> bytes:
        """Return the prompt, unless it is among the words."""
        return b"" if any(_IN in word for word in self.program) else as_data(task.prompt)

    def told(self, task: Task, code: int, out: str, err: str) -> Ran:
        """Return how it ended: exit code 0 and a text, or the JSON object many print (``result``, ``is_error``)."""
        found = document(out)
        if not isinstance(found.get("result"), str):
            return super().told(task, code, out, err)
        used = table(found.get("usage"))
        known: dict[str, Any] = {
            "session": text(found.get("session_id")) or task.session,
            "cost": money(found.get("total_cost_usd")),
            "tokens_in": count(used.get("input_tokens")),
            "tokens_out": count(used.get("output_tokens")),
        }
        reply = found["result"].strip()
        return (
            failed(self.name, code, reply or err, **known)
            if code or found.get("is_error") or not reply
            else Ran(reply, **known)
        )


def _filled(word: str, values: Mapping[str, str]) -> str:
    """Fill one word in, each place once: a prompt that holds ``{folder}`` keeps it."""
    import re

    return re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], found[0]), word)
