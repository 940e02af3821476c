"""The reasons for failing that every project shares, and the words agents' tools and shells put them in."""

from __future__ import annotations

import re
from enum import StrEnum


class Trouble(StrEnum):
    """A reason for failing that every project shares, whatever the words an agent's tool puts it in."""

    UNREAD = "file not read first"
    STALE = "file changed since it was read"
    NO_MATCH = "text to replace not found"
    NOT_UNIQUE = "text to replace not unique"
    NO_CHANGE = "edit changes nothing"
    NO_FILE = "no such file"
    IS_FOLDER = "is a folder"
    TOO_LARGE = "output too large"
    BAD_ARGUMENTS = "arguments refused"
    NO_TOOL = "no such tool"
    NOT_INSTALLED = "program not found"
    NO_MODULE = "module not installed"
    BAD_SUBCOMMAND = "unknown subcommand"
    BAD_OPTION = "unknown option"
    NO_SCRIPT = "no such script"
    WRONG_FOLDER = "not the right folder"
    IGNORED_PATH = "path ignored by git"
    TIMED_OUT = "timed out"
    SHELL_SYNTAX = "shell syntax"
    NO_GLOB = "pattern matched no file"


_TOOL_TROUBLES = (
    (Trouble.UNREAD, r"has not been read yet|must (?:first )?(?:be )?read .{0,40}before|read it first"),
    (Trouble.STALE, r"modified since read|unexpectedly modified|changed since .{0,20}read|has been modified since"),
    (Trouble.NO_MATCH, r"string to replace not found|failed to find expected lines|old_?(?:string|text) not found"
     r"|could not find (?:the )?(?:exact )?(?:string|text|old_?string)|no occurrences? .{0,20}found"
     r"|failed to find context|0 occurrences found"),
    (Trouble.NOT_UNIQUE, r"found \d+ (?:matches|occurrences)|(?:is )?not unique|multiple (?:matches|occurrences)"),
    (Trouble.NO_CHANGE, r"no changes to make|exactly the same|identical (?:content|strings)"),
    (Trouble.IS_FOLDER, r"EISDIR|is a directory"),
    (Trouble.NO_FILE, r"\A(?!.*posix_spawn).*(?:file does not exist|path does not exist|no such file|file not found"
     r"|ENOENT|directory does not exist)"),
    (Trouble.TOO_LARGE, r"exceeds maximum allowed|too large|exceeds the (?:maximum|limit)"),
    (Trouble.BAD_ARGUMENTS, r"InputValidationError|failed to parse function arguments|must have required property"
     r"|validation failed for tool|JSONDecodeError|could not parse commands"),
    (Trouble.NO_TOOL, r"no such tool|unknown skill|tool .{1,60} not found|agent type .{1,80} not found|unknown tool"),
)  # fmt: skip
_SHELL_TROUBLES = (
    (Trouble.NO_MODULE, r"ModuleNotFoundError: No module named '\w+'|Cannot find (?:module|package) '[@\w/-]+'"),
    (Trouble.NOT_INSTALLED, r"command not found|: No module named \w|not recognized as (?:an internal|the name)"
     r"|: not found\Z|executable file not found|ERR_PNPM_RECURSIVE_EXEC_FIRST_FAIL"),
    (Trouble.BAD_SUBCOMMAND, r"(?:unrecogni[sz]ed|unknown|no such|invalid) (?:sub)?command\b(?! code)"
     r"|is not a \S+ command"),
    (Trouble.BAD_OPTION, r"(?:unrecogni[sz]ed|unknown|illegal|invalid|unexpected|no such) (?:option|argument|flag)s?\b"
     r"|unknown shorthand flag|flag provided but not defined|unrecognized arguments"),
    (Trouble.WRONG_FOLDER, r"could not find .?(?:Cargo|pyproject)\.toml|go\.mod file not found|cannot find main module"
     r"|not a git repository|no such file or directory.{0,40}package\.json|could not read package\.json"
     r"|no_importer_manifest|no configuration file provided|no makefile found|ENOENT.{0,60}package\.json"),
    (Trouble.NO_SCRIPT, r"script not found|missing script|no rule to make target|no tasks? .{0,30}found"
     r"|unknown task|command \S+ not found in"),
    (Trouble.IGNORED_PATH, r"ignored by one of your \.gitignore"),
    (Trouble.TIMED_OUT, r"command timed out|timed out after"),
    (Trouble.NO_GLOB, r"no matches found:"),
    (Trouble.SHELL_SYNTAX, r"parse error near|syntax error near unexpected token|unexpected EOF while looking"
     r"|bad substitution|unmatched [\"'`]"),
    (Trouble.NO_FILE, r"no such file or directory|can't open file"),
)  # fmt: skip
TOOL_PATTERNS = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _TOOL_TROUBLES)
SHELL_PATTERNS = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _SHELL_TROUBLES)
SHELL_SIGNS = (
    "not found", "no module", "cannot find", "no such", "unrecogni", "not recogni", "unknown", "invalid", "illegal",
    "unexpected", "missing", "could not", "not a", "ignored by", "timed out", "no matches", "parse error",
    "syntax error", "bad substitution", "unmatched", "can't open", "not defined", "exec_first_fail", "_manifest",
    "no configuration", "no makefile", "no rule", "no task", "enoent",
)  # fmt: skip
"""One of these, in small letters, is in every line that a pattern of the shell's troubles matches."""

NEVER_RAN = frozenset(
    {
        Trouble.NOT_INSTALLED,
        Trouble.BAD_SUBCOMMAND,
        Trouble.BAD_OPTION,
        Trouble.NO_SCRIPT,
        Trouble.WRONG_FOLDER,
        Trouble.SHELL_SYNTAX,
        Trouble.NO_GLOB,
        Trouble.IGNORED_PATH,
        Trouble.TIMED_OUT,
    }
)
"""Reasons that mean the command did not do its work at all: a mistake even where the command is a test run."""
