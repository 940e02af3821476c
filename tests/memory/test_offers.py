"""What each memory offers of ``lessonbook memory`` stands in the documentation, as the command itself goes by it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from lessonbook.memory import offers
from lessonbook.memory.registry import BACKENDS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "verbs" / "memory.md"
SHOWN = ("mnemopi", "postgres", "hindsight", "local")
NAMES = {"place": "learned.md", "schema": "lessonbook_TEAM", "id": "ID"}
WITH = {"edit": ["1", "--text", "Another."], "backup": ["copy.db"], "import": ["lessons.jsonl"]}


def words(action: str, id: str = "1") -> list[str]:
    """A call of an action, as right as it can be."""
    names = [id] if action in offers.ONE else [id, id] if action in ("dismiss", "merge", "apart") else []
    return ["memory", action, *WITH.get(action, names), *(["--yes"] if action == "erase" else [])]


def table() -> str:
    """The table of the documentation."""
    head = ["| action | " + " | ".join(f"`{name}`" for name in SHOWN) + " |", "|---" * (len(SHOWN) + 1) + "|"]
    rows = [
        f"| `{action}` | " + " | ".join("–" if offers.instead(name, action) else "yes" for name in SHOWN) + " |"
        for action in offers.ACTIONS
    ]
    return "\n".join([*head, *rows])


def instead() -> str:
    """What the documentation says of what is not offered."""
    lines = []
    for name in SHOWN:
        said: dict[str, list[str]] = {}
        for action in offers.ACTIONS:
            if sentence := offers.instead(name, action):
                said.setdefault(sentence.format(**NAMES), []).append(f"`{action}`")
        lines += [f"- `{name}`, {', '.join(actions)}: {sentence}" for sentence, actions in said.items()]
    return "\n".join(lines)


def test_the_documentation_says_what_each_memory_offers() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert set(SHOWN) == set(BACKENDS) - {"off"}
    assert table() in page and instead() in page, f"\n{table()}\n\n{instead()}"


@pytest.mark.parametrize("action", offers.ACTIONS)
@pytest.mark.parametrize("backend", ["off", "local", "mnemopi"])
def test_what_is_not_offered_says_what_to_do_instead(
    backend: str, action: str, run: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    run("config", "set", "memory.backend", backend)
    if backend != "off":
        run("learn", "Quote every path.")
    id = "1"
    if backend == "local":
        id = run("memory", "list").stdout.split()[0]
    done = run(*words(action, id))
    if backend == "off":
        assert done.returncode == 4 and "set memory.backend mnemopi" in done.stderr
    elif sentence := offers.instead(backend, action):
        assert done.returncode == 4 and sentence.partition("{")[0] in done.stderr and "{" not in done.stderr
        assert done.stderr.count("\n") == 1, "one sentence"
    else:
        assert done.returncode in (0, 2), done.stderr  # 2: there is no second lesson, no change, no such file
