"""Shell commands that do what a dedicated tool of the agent does: ``cat a`` where it could have read the file."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lessonbook.core.session import Call, CallKind, Session
from lessonbook.core.shell import Command, simple_commands

_TOOL_KINDS = {
    CallKind.READ: ("Read", "read", "read_file", "view", "view_file"),
    CallKind.SEARCH: ("Grep", "grep", "grep_search", "search_file_content", "search_files"),
    CallKind.LIST: ("Glob", "LS", "glob", "ls", "list", "list_directory", "find"),
    CallKind.EDIT: ("Edit", "edit", "replace", "replace_text", "apply_patch", "patch", "edit_file"),
    CallKind.WRITE: ("Write", "write", "write_file", "create_file", "apply_patch"),
    CallKind.WEB: ("WebFetch", "webfetch", "web_fetch", "read_url", "web_extract"),
}
_GIT_TOOLS = {
    "status": "git_status",
    "diff": "git_diff",
    "log": "git_log",
    "commit": "git_commit",
    "checkout": "git_checkout",
    "switch": "git_checkout",
    "stash": "git_stash",
    "push": "git_remote",
    "pull": "git_remote",
    "fetch": "git_remote",
}
"""Git's own errands, for the agents that have a tool for each: most have none, and then the shell is the way."""
_MORE_THAN_THE_TOOL = re.compile(r"-(?:p|u|c|S|G|L).*|--(?:cc|raw|patch|name-status|numstat|shortstat|stat).*")
"""Options of ``git log`` that no such tool has."""
_BACKGROUND = "run_shell_bg"
_RAMABANA = ("view_file", "grep", "ls", "replace_text", "create_file", "read_url", _BACKGROUND, *_GIT_TOOLS.values())
_ALWAYS = {"claude": ("Read", "Edit", "Write"), "codex": ("apply_patch",), "ramabana": _RAMABANA}
"""Tools an agent always has. Searching and listing tools come and go with its version, so they must have been seen."""

_KINDS = {
    **dict.fromkeys(("grep", "rg", "egrep"), CallKind.SEARCH),
    **dict.fromkeys(("curl", "wget"), CallKind.WEB),
    **dict.fromkeys(("ls", "find", "tree"), CallKind.LIST),
}
"""What a program does whatever its options, where a tool does the same."""
_PAGERS = frozenset({"head", "tail", "cat", "less"})
_PLAIN_LISTS = frozenset({"LS", "ls", "list", "list_directory"})


def dedicated_tools(session: Session) -> dict[str, str]:
    """Return the tools this session is known to have had, by what they do: a kind, ``git VERB``, or ``&``."""
    used = {call.name for turn in session.turns for call in turn.calls}
    had = used | session.offered | set(_ALWAYS.get(session.agent, ()))
    found: dict[str, str] = {
        kind: name for kind, names in _TOOL_KINDS.items() for name in reversed(names) if name in had
    }
    found |= {f"git {verb}": name for verb, name in _GIT_TOOLS.items() if name in had}
    return found | ({"&": _BACKGROUND} if _BACKGROUND in had else {})


def bypassed(call: Call, tools: Mapping[str, str]) -> str | None:
    """Return the tool that the whole of a shell call stands in for; ``None`` where any part of it does more."""
    if call.kind is not CallKind.SHELL or call.command is None:
        return None
    names: list[str] = []
    for command in simple_commands(call.command):
        if command.joined == "|":
            if command.program not in _PAGERS:
                return None
            continue
        name = _stands_for(command, tools)
        if name is None:
            return None
        names.append(name)
    return names[0] if names else None


def _stands_for(command: Command, tools: Mapping[str, str]) -> str | None:
    if command.background:
        return tools.get("&")
    if command.program == "git":
        more = command.verb == "log" and any(map(_MORE_THAN_THE_TOOL.fullmatch, command.words[2:]))
        paths = command.verb == "diff" and any(not word.startswith("-") for word in command.words[2:])
        return None if more or paths else tools.get(command.family)
    kind = _kind(command)
    name = tools.get(kind) if kind else None
    if name is not None and command.program == "ls" and name not in _PLAIN_LISTS:
        return None
    return name


def _kind(command: Command) -> CallKind | None:
    program, words = command.program, command.words[1:]
    if command.writes not in (None, "/dev/null"):
        return CallKind.WRITE if program in ("cat", "echo", "printf") else None
    if program == "tee":
        return CallKind.WRITE
    if program == "sed":
        return (
            CallKind.EDIT if any(word.startswith("-i") for word in words) else CallKind.READ if "-n" in words else None
        )
    if program in ("cat", "head", "tail", "nl"):
        return CallKind.READ if any(not word.startswith("-") for word in words) else None
    if program == "find" and any(word in ("-exec", "-delete") for word in words):
        return None
    return _KINDS.get(program)
