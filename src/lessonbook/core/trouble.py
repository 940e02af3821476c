"""The reasons for failing that every project shares, and the words agents' own tools put them in."""

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
    BAD_PATCH = "patch not understood"
    EXISTS = "exists already"
    NO_FILE = "no such file"
    IS_FOLDER = "is a folder"
    NOT_ABSOLUTE = "path not absolute"
    OUTSIDE = "path outside the workspace"
    NO_FOLDER = "no such folder to change to"
    TOO_LARGE = "output too large"
    PAST_END = "past the end of the file"
    BINARY = "not a text file"
    BAD_ARGUMENTS = "arguments refused"
    NO_TOOL = "no such tool"
    NO_TASK = "no such background task"
    NO_PAGE = "page not fetched"
    NOT_INSTALLED = "program not found"
    NO_MODULE = "module not installed"
    NOT_PREPARED = "not set up"
    WRONG_VERSION = "wrong version"
    BAD_SUBCOMMAND = "unknown subcommand"
    BAD_OPTION = "unknown option"
    BAD_CALL = "arguments missing or too many"
    NO_SCRIPT = "no such script"
    WRONG_FOLDER = "not the right folder"
    IGNORED_PATH = "path ignored by git"
    NO_REVISION = "no such revision"
    DIRTY = "uncommitted changes in the way"
    LOCKED = "locked by another process"
    NO_SERVER = "server not reached"
    NO_NETWORK = "network not reached"
    NO_LOGIN = "not logged in"
    NO_RIGHT = "not permitted"
    PORT_IN_USE = "port in use"
    TIMED_OUT = "timed out"
    SHELL_SYNTAX = "shell syntax"
    NO_GLOB = "pattern matched no file"
    BAD_EXPRESSION = "expression not understood"
    BROKEN_CODE = "code does not parse"
    NO_NAME = "name not defined"


_TOOL_TROUBLES = (
    (Trouble.UNREAD, r"has not been read yet|must (?:first )?(?:be )?read .{0,300}before|read it first"
     r"|must be read first"),
    (Trouble.STALE, r"modified since read|unexpectedly modified|changed since .{0,20}read|has been modified since"
     r"|changed on disk|was modified (?:externally|since)|stale (?:anchor|hash|content)"),
    (Trouble.BAD_PATCH, r"invalid (?:patch|hunk|diff)\b|malformed (?:patch|diff)|first line of the patch"
     r"|corrupt patch"),
    (Trouble.NO_MATCH, r"string to replace not found|old[_ ]?(?:string|text|str) not found"
     r"|could not find (?:the |a )?(?:exact )?(?:string|text|match|old_?string)|no occurrences? .{0,20}found"
     r"|failed to find (?:context|expected lines)|\b0 occurrences|did not appear verbatim"
     r"|search (?:text|block|string) .{0,20}not found|hunk .{0,20}failed"),
    (Trouble.NOT_UNIQUE, r"found (?:\d+|multiple) (?:matches|occurrences)|(?:is )?not unique|must be unique"
     r"|multiple (?:matches|occurrences)|found multiple times|expected \d+ occurrences? but found"),
    (Trouble.NO_CHANGE, r"no changes (?:to (?:make|apply)|made)|exactly the same|(?:are|produced) identical"
     r"|identical (?:content|strings)|must be different"),
    (Trouble.BROKEN_CODE, r"introduced new syntax error"),
    (Trouble.EXISTS, r"(?:file|folder|directory) already exists|cannot (?:create|overwrite) .{0,200}\bexists"),
    (Trouble.NOT_ABSOLUTE, r"must be (?:an )?absolute|(?:is )?not (?:an )?absolute"),
    (Trouble.OUTSIDE, r"(?:outside|not within|not in|be within)(?: of)? "
     r"(?:the |any |one |of |your |allowed )*(?:workspace|project|allowed|root|working director|sandbox)"),
    (Trouble.IS_FOLDER, r"EISDIR|is a (?:directory|folder)"),
    (Trouble.NO_FILE, r"\A(?!.*posix_spawn).*(?:(?:file|path|folder|directory) (?:\S{1,300} )?does(?: not|n't) exist"
     r"|no such file|(?:file|path|directory) not found|ENOENT|cannot find path|is not a directory)"),
    (Trouble.TOO_LARGE, r"exceeds maximum allowed|too large|exceeds the (?:\S+ ){0,2}(?:maximum|limit|size)"),
    (Trouble.PAST_END, r"beyond (?:the )?end of (?:the )?file|invalid .?view_range|past the end of the file"),
    (Trouble.BINARY, r"cannot (?:read|display) binary|binary files? (?:cannot|is not)|unsupported file type"),
    (Trouble.BAD_ARGUMENTS, r"InputValidationError|failed to parse function arguments|must have required property"
     r"|validation failed for tool|JSONDecodeError|could not parse commands|called with invalid arguments"
     r"|invalid JSON in (?:tool |function )?arguments|missing required (?:field|parameter|property)s?\b"
     r"|is a required property|params/\S{1,80} must be |must NOT have additional properties"
     r"|required (?:parameter|property) .{1,80} (?:is )?missing"),
    (Trouble.NO_TOOL, r"no such tool|unknown skill|unknown (?:tool|agent|subagent)|unavailable tool|unsupported call"
     r"|tool [\"'`]?[\w.:/-]{1,80}[\"'`]? (?:is |was )?(?:not (?:found|available)|does not exist)"
     r"|agent type .{1,80} not found|skill [\"'`]?[\w.:/-]{1,80}[\"'`]? (?:not found|does not exist)"),
    (Trouble.NO_TASK, r"no (?:task|shell|process|session) (?:found )?with|(?:unknown|no such) (?:process|task|shell)\b"
     r"|(?:shell|task|process|session) \S{1,80} (?:not found|is not running|has (?:already )?exited)"),
)  # fmt: skip
_WEB_TROUBLES = (
    (Trouble.NO_PAGE, r"\b(?:status(?: code)?|HTTP(?: error)?):? [45]\d\d\b|\b[45]\d\d (?:not found|forbidden)"
     r"|(?:unable|failed) to (?:fetch|verify)|ENOTFOUND|ECONNREFUSED|invalid url|certificate"),
)  # fmt: skip


def compiled(troubles: tuple[tuple[Trouble, str], ...]) -> tuple[tuple[Trouble, re.Pattern[str]], ...]:
    """Return a table of troubles with its patterns compiled, case aside."""
    return tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in troubles)


TOOL_PATTERNS = compiled(_TOOL_TROUBLES)
WEB_PATTERNS = compiled(_WEB_TROUBLES)
"""What only a tool that fetches pages says."""

NEVER_RAN = frozenset(
    {
        Trouble.NOT_INSTALLED,
        Trouble.NOT_PREPARED,
        Trouble.BAD_SUBCOMMAND,
        Trouble.BAD_OPTION,
        Trouble.BAD_CALL,
        Trouble.NO_SCRIPT,
        Trouble.WRONG_FOLDER,
        Trouble.NO_FOLDER,
        Trouble.SHELL_SYNTAX,
        Trouble.NO_GLOB,
        Trouble.IGNORED_PATH,
        Trouble.TIMED_OUT,
    }
)
"""Reasons that mean the command did not do its work at all: a mistake even where the command is a test run."""
