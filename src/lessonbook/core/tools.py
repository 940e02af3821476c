"""What a tool does, whatever its agent calls it; and the script inside a shell call.

The names are those the agents' own sources and recorded sessions use (Claude Code, Codex, Gemini CLI, opencode, pi,
Hermes and others).
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from lessonbook.core.session import CallKind

_NAMES: dict[CallKind, str] = {
    CallKind.SHELL: "bash shell shell_command exec_command local_shell local_shell_call run_shell run_shell_bg "
    "run_shell_command terminal unified_exec container.exec powershell",
    CallKind.READ: "read read_file view view_file view_image read_many_files notebookread",
    CallKind.SEARCH: "grep grep_search search_file_content search_files search_code rg toolsearch tool_search",
    CallKind.LIST: "glob ls list list_directory list_dir find list_files",
    CallKind.EDIT: "edit multiedit replace replace_text patch apply_patch edit_file str_replace notebookedit",
    CallKind.WRITE: "write write_file create_file",
    CallKind.WEB: "webfetch websearch web_fetch web_search google_web_search read_url web_extract",
    CallKind.TASK: "task agent spawn_agent delegate_task invoke_agent subagent",
    CallKind.ASK: "askuserquestion ask_user question clarify request_user_input exitplanmode",
    CallKind.SKILL: "skill activate_skill skill_view skill_manage",
}
_KINDS = {name: kind for kind, names in _NAMES.items() for name in names.split()}
_SHELLS = frozenset(["bash", "sh", "zsh", "dash", "ksh", "fish"])
_POWERSHELLS = frozenset(["powershell", "pwsh", "powershell.exe", "pwsh.exe"])


@lru_cache(maxsize=1_024)
def kind_of(name: str) -> CallKind:
    """Return what the tool ``name`` does; ``OTHER`` for a name we do not know."""
    low = name.lower()
    if low.startswith(("mcp__", "mcp:")):
        return CallKind.MCP
    return _KINDS.get(low, CallKind.OTHER)


def command_of(args: Mapping[str, Any]) -> str | None:
    """Return the script of a shell call's arguments as a person would type it; ``None`` where there is none."""
    for field in ("command", "cmd", "script"):
        found = args.get(field)
        if isinstance(found, str) and found.strip():
            return unwrap(found)
        if isinstance(found, list) and found and all(isinstance(word, str) for word in found):
            return unwrap(found)
    return None


def unwrap(command: str | Sequence[str]) -> str:
    """Return the script inside ``bash -lc SCRIPT`` (a list of words, or one line); any other command as it is."""
    if isinstance(command, str):
        inner = _script(_words(command)) if "-" in command and len(command) < 100_000 else None
        return command if inner is None else inner
    inner = _script(list(command))
    return shlex.join(command) if inner is None else inner


def _words(line: str) -> list[str]:
    program = line.lstrip().partition(" ")[0].rpartition("/")[2]
    if program not in _SHELLS and program.lower() not in _POWERSHELLS:
        return []
    try:
        return shlex.split(line)
    except ValueError:  # a quote that never closes: the line stays as it was typed
        return []


def _script(words: list[str]) -> str | None:
    """Return the one script a shell was started with; ``None`` where words follow it or it is no such call."""
    if len(words) < 3:
        return None
    program = words[0].rpartition("/")[2].rpartition("\\")[2]
    flags = words[1:-1]
    if program in _SHELLS:
        carries = all(flag.startswith("-") for flag in flags) and flags[-1].startswith("-") and "c" in flags[-1]
        return words[-1] if carries and not flags[-1].startswith("--") else None
    if program.lower() in _POWERSHELLS and flags[-1].lower() in ("-command", "-c"):
        return words[-1]
    return None
