"""Builds a plugin folder for Claude Code or Codex from the very entries that set-up writes into their files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lessonbook.actions.setup_entries import Agent, Entry, Wanted, Where
from lessonbook.core.errors import InputError
from lessonbook.core.version import __version__
from lessonbook.system import files

_NAME = "lessonbook"
_MARKET = "lessonbook-market"
_ABOUT = "Lessons of earlier sessions, reviewed by you: briefed at the start, recalled and recorded while you work."


def build(agent: Agent, where: Where, wanted: Wanted, folder: Path) -> list[Path]:
    """Write a marketplace folder with one plugin in it and return its files.

    Raises ``InputError`` for an agent that takes no such plugin and for a folder that holds something else, and
    ``StoreError`` where it cannot be written.
    """
    if agent.name not in _LAYOUTS:
        raise InputError(f"{agent.title} takes no plugin folder; there are {', '.join(_LAYOUTS)}.")
    if not _is_ours(folder):
        raise InputError(f"{folder} holds other files; name a new or empty folder.")
    layout = _LAYOUTS[agent.name](list(agent.entries(where, wanted)))
    paths = []
    for name, value in layout.items():
        files.write_atomic(folder / name, (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode())
        paths.append(folder / name)
    return paths


def _is_ours(folder: Path) -> bool:
    if not folder.exists():
        return True
    if not folder.is_dir():
        return False
    known = {".claude-plugin", ".agents", "plugins"}
    return all(path.name in known for path in folder.iterdir())


def _claude(entries: list[Entry]) -> Mapping[str, Any]:
    market = {
        "name": _MARKET,
        "owner": {"name": _NAME},
        "metadata": {"description": _ABOUT},
        "plugins": [{"name": _NAME, "source": f"./plugins/{_NAME}", "description": _ABOUT}],
    }
    manifest = {"name": _NAME, "version": __version__, "description": _ABOUT, "author": {"name": _NAME}}
    return {
        ".claude-plugin/marketplace.json": market,
        f"plugins/{_NAME}/.claude-plugin/plugin.json": manifest,
        **_parts(entries),
    }


def _codex(entries: list[Entry]) -> Mapping[str, Any]:
    market = {
        "name": _MARKET,
        "plugins": [{"name": _NAME, "source": {"source": "local", "path": f"./plugins/{_NAME}"}}],
    }
    manifest = {"name": _NAME, "version": __version__, "description": _ABOUT}
    manifest |= {"mcpServers": "./.mcp.json", "hooks": "./hooks/hooks.json"}
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


_LAYOUTS: Mapping[str, Callable[[list[Entry]], Mapping[str, Any]]] = {"claude": _claude, "codex": _codex}
