"""Builds a plugin folder for Claude Code or Codex from the very entries that set-up writes into their files.

Skills are copied into it, as agents copy a plugin when they install it: they are those of the day it was built.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from shlex import join
from typing import Any

from lessonbook.actions.setup_entries import Agent, Entry, Wanted, Where
from lessonbook.core.errors import InputError
from lessonbook.core.version import __version__
from lessonbook.system import files, links

Skills = Mapping[str, Mapping[str, bytes]]
_NAME = "lessonbook"
_MARKET = "lessonbook-market"
_ABOUT = "Lessons of earlier sessions, reviewed by you: briefed at the start, recalled and recorded while you work."

_LICENSE = "MIT"
_README = f"""\
# lessonbook

{_ABOUT}

Its parts are a server with the tools `learn`, `recall`, `remember` and `read_skill` among others, hooks that give a
session the lessons you accepted, and the skills that agents wrote or you accepted by the day it was built. It starts
`{{command}}` of this machine, so build it on every machine, and again for newer skills:
`lessonbook setup --plugin {{agent}} DIR`. Use it instead of `lessonbook setup`, not beside it: you would be briefed
twice. What is learned stays on this machine.
"""


def build(agent: Agent, where: Where, wanted: Wanted, folder: Path, skills: Skills) -> list[Path]:
    """Write a marketplace folder with one plugin in it and return its files; ``skills`` are files by skill's name.

    Raises ``InputError`` for an agent that takes no such plugin and for a folder that holds something else, and
    ``StoreError`` where it cannot be written.
    """
    if agent.name not in _LAYOUTS:
        raise InputError(f"{agent.title} takes no plugin folder; there are {', '.join(_LAYOUTS)}.")
    if not _is_ours(folder):
        raise InputError(f"{folder} holds other files; name a new or empty folder.")
    layout = _LAYOUTS[agent.name](list(agent.entries(where, wanted)), bool(skills))
    texts = {name: json.dumps(value, indent=2, ensure_ascii=False) + "\n" for name, value in layout.items()}
    texts[f"plugins/{_NAME}/README.md"] = _README.format(command=join(wanted.command), agent=agent.name)
    paths = []
    for name, text in texts.items():
        files.write_atomic(folder / name, text.encode())
        paths.append(folder / name)
    copies = {f"{name}/{path}": data for name, found in skills.items() for path, data in found.items()}
    links.write_folder(folder / f"plugins/{_NAME}/skills", copies)
    return paths + [folder / f"plugins/{_NAME}/skills" / name for name in copies]


def _is_ours(folder: Path) -> bool:
    if not folder.exists():
        return True
    if not folder.is_dir():
        return False
    known = {".claude-plugin", ".agents", "plugins"}
    return all(path.name in known for path in folder.iterdir())


def _claude(entries: list[Entry], with_skills: bool) -> Mapping[str, Any]:
    market = {
        "name": _MARKET,
        "owner": {"name": _NAME},
        "metadata": {"description": _ABOUT},
        "plugins": [{"name": _NAME, "source": f"./plugins/{_NAME}", "description": _ABOUT}],
    }
    manifest = {"name": _NAME, "version": __version__, "description": _ABOUT, "author": {"name": _NAME}}
    manifest |= {"license": _LICENSE}
    return {
        ".claude-plugin/marketplace.json": market,
        f"plugins/{_NAME}/.claude-plugin/plugin.json": manifest,
        **_parts(entries),
    }


def _codex(entries: list[Entry], with_skills: bool) -> Mapping[str, Any]:
    market = {
        "name": _MARKET,
        "plugins": [{"name": _NAME, "source": {"source": "local", "path": f"./plugins/{_NAME}"}}],
    }
    manifest = {"name": _NAME, "version": __version__, "description": _ABOUT, "license": _LICENSE}
    manifest |= {"mcpServers": "./.mcp.json", "hooks": "./hooks/hooks.json"}
    manifest |= {"skills": "./skills/"} if with_skills else {}
    return {
        ".agents/plugins/marketplace.json": market,
        f"plugins/{_NAME}/.codex-plugin/plugin.json": manifest,
        **_parts(entries),
    }


def _parts(entries: list[Entry]) -> Mapping[str, Any]:
    """The server and the hooks, as both agents read them from a plugin."""
    servers = {entry.keys[-1]: entry.value for entry in entries if not entry.item}
    hooks: dict[str, list[Any]] = {}
    for entry in entries:
        if entry.item:
            hooks.setdefault(entry.keys[-1], []).append(entry.value)
    return {
        f"plugins/{_NAME}/.mcp.json": {"mcpServers": servers},
        f"plugins/{_NAME}/hooks/hooks.json": {"hooks": hooks},
    }


_LAYOUTS: Mapping[str, Callable[[list[Entry], bool], Mapping[str, Any]]] = {"claude": _claude, "codex": _codex}
