"""A scripted agent, for tests: it behaves like a coding agent that runs without a person, and asks no model.

``python -m lessonbook.testing_agent SCRIPT`` reads a prompt on standard input, does what the script says in the folder
it is in, writes the transcript of that as Claude Code writes one (below ``CLAUDE_CONFIG_DIR``, else ``~/.claude``), and
prints one JSON object with its answer. The configuration names it like any other agent::

    [agents.scripted]
    command = ["python", "-m", "lessonbook.testing_agent", "/path/script.json", "--session", "{session}"]
    reader = "claude"
    run_dollars = 0

A script is a JSON list of routes, ``{"when": TEXT, "steps": [STEP…], "cost": DOLLARS}``: the first one whose ``when``
is in the prompt is taken, so that another lesson leads another way; one without ``when`` always is. A step is
``{"run": COMMAND}`` (by ``sh``), ``{"write": PATH, "text": TEXT}``, ``{"sleep": SECONDS}``, ``{"say": TEXT}`` (the
answer), ``{"fail": TEXT}`` (the answer, as an error, with exit code 0) or ``{"exit": CODE}``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from lessonbook.system.files import append_line, write_atomic
from lessonbook.system.settings import environment

_RESULT_MOST = 4_000


def main(words: Sequence[str] | None = None) -> int:
    """Run one prompt. Exit code 0, also where it says that it failed, as some agents do."""
    parser = argparse.ArgumentParser(prog="testing_agent", description=__doc__.partition("\n")[0])
    parser.add_argument("script", type=Path)
    parser.add_argument("--session", default="", help="the session's id (default: a new one)")
    args = parser.parse_args(words)
    prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
    route = chosen(json.loads(args.script.read_text("utf-8")), prompt)
    session = _Session(args.session or str(uuid4()))
    session.note("user", {"role": "user", "content": prompt})
    for step in route["steps"]:
        session.do(step)
    print(json.dumps(session.told(route.get("cost"))))
    return session.code


def chosen(routes: Sequence[Mapping[str, Any]], prompt: str) -> Mapping[str, Any]:
    """Return the first route whose ``when`` is in the prompt. Raises ``SystemExit`` where none fits."""
    for route in routes:
        if route.get("when", "") in prompt:
            return route
    raise SystemExit("testing_agent: no route of the script fits this prompt")


@dataclass
class _Session:
    """One session: what is done in it, and its transcript."""

    id: str
    answer: str = ""
    failed: bool = False
    code: int = 0
    calls: int = 0
    last: str | None = field(default=None)

    @property
    def path(self) -> Path:
        """The transcript's file, where Claude Code would have it."""
        env = environment()
        top = Path(env.get("CLAUDE_CONFIG_DIR") or Path(env.get("HOME", "/"), ".claude"))
        return top / "projects" / re.sub(r"[^A-Za-z0-9]", "-", os.getcwd()) / f"{self.id}.jsonl"  # noqa: PTH109

    def note(self, kind: str, message: Mapping[str, Any]) -> None:
        """Write one record."""
        id = str(uuid4())
        record = {
            "type": kind,
            "uuid": id,
            "parentUuid": self.last,
            "sessionId": self.id,
            "timestamp": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}Z",
            "cwd": os.getcwd(),  # noqa: PTH109  as a shell has it
            "version": "2.1.0",
            "message": message,
        }
        self.last = id
        append_line(self.path, json.dumps(record).encode())

    def do(self, step: Mapping[str, Any]) -> None:
        """Do one step of the script."""
        if "run" in step:
            self._run(step["run"])
        elif "write" in step:
            self._write(step["write"], step.get("text", ""))
        elif "sleep" in step:
            time.sleep(step["sleep"])
        elif "exit" in step:
            self.code = step["exit"]
        else:
            self.failed = "fail" in step
            self.answer = step.get("say", step.get("fail", ""))
            self.note("assistant", _message([{"type": "text", "text": self.answer}]))

    def told(self, cost: float | None) -> dict[str, Any]:
        """Return what it prints at its end."""
        told = {"type": "result", "subtype": "success", "is_error": self.failed, "result": self.answer}
        usage = {"input_tokens": 100 * (self.calls + 1), "output_tokens": 10 * (self.calls + 1)}
        return {**told, "session_id": self.id, "usage": usage, "total_cost_usd": cost}

    def _run(self, command: str) -> None:
        done = subprocess.run(["sh", "-c", command], capture_output=True, stdin=subprocess.DEVNULL, check=False)
        said = (done.stdout + done.stderr).decode("utf-8", "replace")[-_RESULT_MOST:].strip()
        said = said if not done.returncode else f"Exit code {done.returncode}\n{said}"
        self._call("Bash", {"command": command, "description": "a step"}, said, bool(done.returncode))

    def _write(self, name: str, text: str) -> None:
        write_atomic(Path.cwd() / name, text.encode())
        self._call("Write", {"file_path": str(Path.cwd() / name), "content": text}, "File written.", False)

    def _call(self, tool: str, given: Mapping[str, Any], said: str, failed: bool) -> None:
        self.calls += 1
        id = f"toolu_{uuid4().hex[:24]}"
        self.note("assistant", _message([{"type": "tool_use", "id": id, "name": tool, "input": given}]))
        result = {"type": "tool_result", "tool_use_id": id, "content": said, "is_error": failed}
        self.note("user", {"role": "user", "content": [result]})


def _message(content: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"id": f"msg_{uuid4().hex}", "role": "assistant", "model": "scripted", "content": list(content)}


if __name__ == "__main__":
    sys.exit(main())
