"""Writes a long history of turns as the original keeps it, always the same, with mistakes planted in it."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

START = 1_787_000_000.0
TURNS_A_SESSION = 12
CALLS_A_TURN = 14
SIZES = (100, 400, 1_500, 4_000, 12_000, 24_000, 36_000)
"""How long results are, in characters: on average as the raw sessions of three public projects, some 10 KB a call."""
FAILING = 14
"""One call in so many fails, as it does there."""
_WORDS = (
    "def",
    "return",
    "import",
    "self",
    "value",
    "path",
    "class",
    "index",
    "result",
    "node",
    "list",
    "item",
    "cache",
)
_MISTAKES = ("schema", "tool_protocol", "repeat_failure", "denial_retry", "bypass")
"""Kinds that both sides know; one turn in three holds one of them."""


def write(folder: Path, size: int) -> Path:
    """Write ``agent-history.jsonl`` of about ``size`` bytes and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "agent-history.jsonl"
    chance = random.Random(7)
    written = number = 0
    pool = [_text(chance, chance.choice(SIZES)) for _ in range(400)]
    with path.open("w", encoding="utf-8") as file:
        while written < size:
            written += file.write(json.dumps(_turn(number, chance, pool)) + "\n")
            number += 1
    return path


def _turn(number: int, chance: random.Random, pool: list[str]) -> dict[str, Any]:
    session = f"2026_{number // TURNS_A_SESSION:06}"
    calls = list(_calls(chance, pool)) if number else []
    if number % 3 == 0:
        at = chance.randrange(len(calls) + 1)
        calls[at:at] = _mistake(_MISTAKES[number // 3 % len(_MISTAKES)])
    acts = [_act(f"{number}-{at}", *call) for at, call in enumerate(calls)]
    return {
        "at": START + 60.0 * number,
        "session": session,
        "state": "complete",
        "turn_id": f"{session}:turn_{number % TURNS_A_SESSION:06}",
        "branch_id": "main",
        "model": "m-1",
        "prompt": f"go on with part {number}",
        "steered": [],
        "reply": "Done.",
        "error": "",
        "usage": {"model": "m-1", "input": 1200, "output": 80, "total": 1280, "cached": 900},
        "activity": acts,
    }


def _calls(chance: random.Random, pool: list[str]) -> Iterator[tuple[str, dict[str, Any], str, bool]]:
    for _ in range(CALLS_A_TURN):
        told = chance.choice(pool)
        kind = chance.randrange(FAILING)
        if kind < 4:
            yield "view_file", {"path": f"src/part_{chance.randrange(500)}.py"}, told, True
        elif kind < 6:
            yield "replace_text", {"path": "src/a.py", "old": told[:300], "new": told[:310]}, "changed", True
        elif kind < 8:
            yield "grep", {"pattern": f"word_{chance.randrange(900)}", "path": "src"}, told, True
        elif kind < 11:
            yield "run_shell", {"command": f"pytest -q tests/test_{chance.randrange(90)}.py"}, told, True
        elif kind < FAILING - 1:
            yield "run_shell", {"command": f"make build PART={chance.randrange(90)} && make docs"}, told, True
        else:
            test = f"tests/test_{chance.randrange(10**9)}.py"  # never the same: both sides count what is planted
            yield "run_shell", {"command": f"pytest -q {test} -x"}, f"FAILED {test}\n{told}", False


def _mistake(kind: str) -> list[tuple[str, dict[str, Any], str, bool]]:
    if kind == "schema":
        return [
            ("edit_file", {"path": "a.py", "commands": "[["}, "ERROR could not parse commands: Expecting value", False)
        ]
    if kind == "tool_protocol":
        return [("run_shell", {"command": "tool x --nope"}, "tool: error: unrecognized arguments: --nope", False)]
    if kind == "repeat_failure":
        return [("run_shell", {"command": "deploy staging"}, "ERROR: no route to the host", False)] * 2
    if kind == "denial_retry":
        refused = (
            "run_shell",
            {"command": "terraform apply"},
            "Denied by human operator. Reason given: not yet",
            False,
        )
        return [refused, ("run_shell", {"command": "terraform apply"}, "applied", True)]
    return [("run_shell", {"command": "cat src/a.py"}, "text", True)]


def _act(id: str, tool: str, args: dict[str, Any], detail: str, ok: bool) -> dict[str, Any]:
    denied = detail.startswith("Denied")
    return {
        "id": id, "action_id": id, "revision": 0, "branch_id": "main", "parent_action_id": "", "run_id": "r",
        "state": "complete" if ok else "failed", "ask_id": "", "tool": tool, "kind": "ask" if denied else "tool",
        "summary": tool, "line": tool, "detail": detail, "ok": ok, "done": True, "secs": 0.4, "args": args,
    }  # fmt: skip


def _text(chance: random.Random, size: int) -> str:
    lines: list[str] = []
    while sum(map(len, lines)) < size:
        indent = " " * chance.choice((0, 4, 8))
        lines.append(indent + " ".join(chance.choice(_WORDS) for _ in range(chance.randrange(3, 12))))
    return "\n".join(lines)
