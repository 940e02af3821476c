"""Whether a call may have changed something: what separates a repeated mistake from a test loop."""

from __future__ import annotations

from functools import lru_cache

from lessonbook.core.checks import is_check
from lessonbook.core.session import Call, CallKind, CallStatus
from lessonbook.core.shell import Command, simple_commands
from lessonbook.core.shelltokens import word_set

_READING_KINDS = frozenset(
    {CallKind.READ, CallKind.SEARCH, CallKind.LIST, CallKind.WEB, CallKind.ASK, CallKind.SKILL, CallKind.OTHER}
)
_READING_PROGRAMS = word_set(
    "awk basename cat cmp column cut date df diff dirname du echo egrep env fd fgrep file find grep head hexdump "
    "hostname jq less ls lsof md5sum nl pgrep printf ps pwd readlink realpath rg sed seq sha256sum sleep sort stat "
    "strings tail test tr tree true type uname uniq wc which whoami xxd [ [[ false"
)
_READING_GIT = frozenset(
    {"status", "diff", "log", "show", "blame", "ls-files", "rev-parse", "describe", "grep", "shortlog", "reflog"}
)
_READING_FAMILIES = frozenset({"pip list", "pip show", "pip freeze", "uv tree", "npm ls", "npm list", "poetry show"})
_FIXES = ("fix", "write", "update", "format", "fmt", "install", "generate", "migrate", "-u", "-w", "-i")


def changes_state(call: Call) -> bool:
    """Whether the call succeeded in something that may have changed a file, a repository or the machine.

    Errs on the side of yes: a command nobody knows counts as a change.
    """
    if call.status is not CallStatus.OK or call.kind in _READING_KINDS:
        return False
    if call.kind is not CallKind.SHELL:
        return True
    return _script_changes(call.command or "")


@lru_cache(maxsize=4_096)
def _script_changes(script: str) -> bool:
    return any(command_changes(command) for command in simple_commands(script))


@lru_cache(maxsize=4_096)
def command_changes(command: Command) -> bool:
    """Whether one command may change something when it works."""
    if command.writes is not None and command.writes != "/dev/null":
        return True
    asked = any(mark in word for word in command.words[1:] for mark in _FIXES if not mark.startswith("-"))
    if command.program in _READING_PROGRAMS:
        return command.program == "sed" and any(word.startswith("-i") for word in command.words)
    if command.program == "git":
        return command.verb not in _READING_GIT
    if command.family in _READING_FAMILIES or command.words[1:] in (("--version",), ("--help",)):
        return False
    return not (is_check(command) and not asked)
