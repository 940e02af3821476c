"""What a failed call says: which program failed, for what reason, and whether it was a mistake at all.

A red test, a lint finding, a type error or a failed build is the answer the agent asked for; so is ``grep`` that finds
nothing. A program that is not there, an option it does not know or a file that was never read is a mistake.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lessonbook.core.checks import is_check
from lessonbook.core.errorline import LINE_LIMIT, error_of, mask, plain_lines
from lessonbook.core.session import Call, CallKind, CallStatus
from lessonbook.core.shell import Command, simple_commands
from lessonbook.core.trouble import NEVER_RAN as NEVER_RAN
from lessonbook.core.trouble import TOOL_PATTERNS, WEB_PATTERNS
from lessonbook.core.trouble import Trouble as Trouble
from lessonbook.core.trouble_shell import RAISED_PATTERNS, SHELL_PATTERNS, SHELL_SIGNS

_SUBJECTS = {
    Trouble.BAD_OPTION: re.compile(
        r"(?<![\w-])(--?[A-Za-z][\w-]*)|(?:option|argument|parameter name) (?:-- )?['\"`]?(\w+)|flag: ['\"]?(\w)"
        r"|(?:switch|field):? ['\"`]?(\w+)"
    ),
    Trouble.NOT_INSTALLED: re.compile(
        r"(?:not found|[Uu]nknown command): ([\w.+-]{1,60})\Z"
        r"|(?:^|[\s:])([A-Za-z_][\w.+-]{0,60}): (?:command )?not found|No module named '?([\w.-]{1,60})"
        r"|['\"`]([\w.+-]{1,60})['\"`]:? (?:is not recognized|executable file|No such file)|env: ([\w.+-]{1,60}): "
        r"|spawn:? `?([\w.+-]{1,60})|utility \"([\w.+-]{1,60})"
    ),
    Trouble.NO_MODULE: re.compile(r"'([@\w/-]+)'|load such file -- ([\w/-]+)|locate ([\w/]+)\.pm|called .([\w.]+)"),
    Trouble.NO_SCRIPT: re.compile(
        r"[\"'“`]([\w:.@/-]{1,60})[\"'”`]|(?:[Mm]issing script|[Tt]ask not found|such service):? ([\w:.-]{1,60})"
    ),
    Trouble.NO_TOOL: re.compile(
        r"(?:[Ss]kill|available|[Tt]ool):? [\"']?([\w:.-]{1,80})[\"']?(?: not found)?"
        r"|[\"']([\w:.-]{1,80})[\"'] not found"
    ),
}
_VERSIONED = re.compile(r"\Apython[\d.]+(?= |\Z)")
_INTERPRETER = re.compile(r"(?:python|node|ruby|perl|php|deno|bun)[\d.]*\Z")
_RAISED = re.compile(r"(?:\w+\.)*[A-Z]\w*(?:Error|Exception): ")
_SEARCHES = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "ack", "diff", "cmp", "test", "[", "[[", "pgrep", "which"})
_HOOKED = frozenset({"commit", "push", "rebase", "merge", "pull", "cherry-pick", "revert", "stash"})
_GIT_OWN = re.compile(r"(?:error|fatal): |git: |usage: git|unknown (?:option|switch)", re.IGNORECASE)
_DIAGNOSTIC = re.compile(
    r"\S+[:(]\d+[:,]\d+\)?: (?:fatal )?error\b|error(?:\[E\d+\]|: linking with)|\S+: error [A-Z]+\d+: "
)
"""What a compiler says of the code it was given, whatever ran it."""
_NOT_FOUND = 127
_READ_MOST = 256
_READ: dict[int, tuple[Call, Failure]] = {}
"""What was read of the calls met last: several findings and proposers ask about the same one in a row."""
_EARLY = 6
"""A command that never ran says so in its first lines; a red test may print the same words much later."""
_PLACED = re.compile(r"\S+?[:(]\d+[:,]\d+\)?:")
"""How a line begins that tells of a place in some code."""
_LONGEST = 400
"""How much of one of them is looked at, in characters: what a file holds may stand in one line."""
_ABSENT_MODULE = re.compile(
    r"(?:E )?((?:\w+Error(?: \[\w+\])?: )?(?:No module named|Cannot find (?:module|package)) ['\"][@\w./-]+['\"].*)"
)
_SOME_TEST_RAN = re.compile(r"\b[1-9]\d* (?:passed|failed|passing|failing)\b|\bpass [1-9]|\bRan [1-9]\d* tests?\b")
_OF_MODULE = ("No module named", "Cannot find")
"""One of these is in every line that ``_ABSENT_MODULE`` matches."""
_OF_FILES = re.compile(r"Test (?:Suites|Files):? ")


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed call, read: who failed, why, and whether that was an answer rather than a mistake."""

    family: str
    """Program and verb for a shell call, else the tool's name."""
    error: str
    """The first telling line, unmasked; may hold anything the program printed."""
    reason: str
    """The shared trouble's name, or the masked error line."""
    trouble: Trouble | None
    answer: bool
    command: Command | None = None
    subject: str = ""
    """What the trouble is about, where the program names it: the option, script, skill or ignored path."""
    unrun: bool = False
    """An answer of a check that stopped at a module it could not import, before its first test: a mistake after all
    where another way to launch it is all that it took."""

    @property
    def key(self) -> str:
        """Equal keys are the same mistake: who failed, why, and about what."""
        who = self.family.split(" ", 1)[0] if self.trouble is Trouble.BAD_OPTION else self.family
        if self.trouble is not Trouble.NOT_INSTALLED:  # one interpreter by any name: python3 is python
            who = _VERSIONED.sub("python", who)
        return f"{who} | {self.reason}: {self.subject}" if self.subject else f"{who} | {self.reason}"


def read_failure(call: Call) -> Failure | None:
    """Return what a failed call says; ``None`` for a call that did not fail. Reading one again costs nothing."""
    if call.status is not CallStatus.FAILED:
        return None
    known = _READ.get(id(call))
    if known is not None and known[0] is call:
        return known[1]
    if len(_READ) >= _READ_MOST:
        _READ.clear()
    failure = _read(call)
    _READ[id(call)] = call, failure
    return failure


def _read(call: Call) -> Failure:
    lines = plain_lines(call.result)
    error = error_of(lines)
    if call.kind is CallKind.SHELL and call.command is not None:
        return _shell_failure(call, call.command, lines, error)
    patterns = WEB_PATTERNS if call.kind is CallKind.WEB else ()
    trouble = _first((*TOOL_PATTERNS, *patterns), lines[0] if lines else error)
    told = lines[0][:LINE_LIMIT] if lines and trouble else error
    subject = _subject(trouble, told, "")
    return Failure(call.name, told, _reason(trouble, told), trouble, answer=False, subject=subject)


def _shell_failure(call: Call, script: str, lines: list[str], error: str) -> Failure:
    commands = simple_commands(script)
    trouble, line = _shell_trouble(lines)
    if trouble is None and any(_prefixed(error, command) for command in commands):
        trouble, line = _shell_trouble([error])
    absent = _absent_module(lines) if trouble in (None, Trouble.NO_MODULE) else ""
    if trouble is Trouble.NO_FOLDER:  # nothing that follows ran
        return Failure("cd", line, str(trouble), trouble, answer=False, command=Command(("cd",)))
    command = _adding(commands) if trouble is Trouble.IGNORED_PATH else _responsible(commands, line or error)
    if command is None:
        return Failure("shell", error, _reason(None, error), None, answer=False)
    if absent and is_check(command):
        missing = Trouble.NO_MODULE
        return Failure(command.family, absent, str(missing), missing, answer=True, command=command, unrun=True)
    if trouble is None:
        answer = _is_answer(call, commands, error)
        trouble = None if answer else _first(RAISED_PATTERNS, error)
        return Failure(command.family, error, _reason(trouble, error), trouble, answer, command)
    after = lines[lines.index(line) + 1] if trouble is Trouble.IGNORED_PATH and line in lines[:-1] else ""
    subject = _subject(trouble, line, after)
    if trouble is Trouble.NOT_INSTALLED and subject:
        return _not_installed(call, script, commands, _Missing(command, subject, line))
    answer = trouble not in NEVER_RAN and _is_answer(call, commands, line)
    return Failure(command.family, line, str(trouble), trouble, answer, command, subject)


@dataclass(frozen=True, slots=True)
class _Missing:
    """A program that is not there, and the command it was missed at."""

    command: Command
    name: str
    line: str


def _not_installed(call: Call, script: str, commands: tuple[Command, ...], missing: _Missing) -> Failure:
    """A program the script names, a wrapper such as ``timeout``, or what a script of the project needs."""
    trouble, name = Trouble.NOT_INSTALLED, missing.name
    for command in (missing.command, *commands):
        if f"-m {name}" == command.verb:
            return Failure(command.family, missing.line, str(trouble), trouble, False, command)
        if command.program.rsplit("/", 1)[-1] == name:
            return Failure(command.program, missing.line, str(trouble), trouble, False, command)
    if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", script):
        return Failure(name, missing.line, str(trouble), trouble, False, Command((name,)))
    answer = call.exit_code != _NOT_FOUND and _is_answer(call, commands, missing.line)
    return Failure(missing.command.family, missing.line, str(trouble), trouble, answer, missing.command, name)


def _subject(trouble: Trouble | None, line: str, after: str) -> str:
    """What the message names: the option, the script, the skill; ``git add`` names the ignored path one line below."""
    if trouble is Trouble.IGNORED_PATH:
        return after[:80]
    pattern = _SUBJECTS.get(trouble) if trouble else None
    match = pattern.search(line) if pattern else None
    if match is None:
        return ""
    named = next(group for group in match.groups() if group)
    return f"-{named}" if trouble is Trouble.BAD_OPTION and len(named) == 1 else named


def _shell_trouble(lines: list[str]) -> tuple[Trouble | None, str]:
    early = [line[:_LONGEST] for line in lines[:_EARLY]]
    low = "\n".join(early).lower()
    places = {at for sign, reasons in SHELL_SIGNS if sign in low for at in reasons}
    if not places:
        return None, ""
    likely = tuple(SHELL_PATTERNS[at] for at in sorted(places))
    for line in early:
        kind = None if _PLACED.match(line) else _first(likely, line)
        if kind is not None:
            return kind, line[:LINE_LIMIT]
    return None, ""


def _absent_module(lines: list[str]) -> str:
    """The line that names the module a check could not import; ``""`` where there is none, or a test ran."""
    whole = "\n".join(lines)
    if not any(sign in whole for sign in _OF_MODULE):
        return ""
    found = next((match[1] for line in lines if _of_module(line) and (match := _ABSENT_MODULE.match(line))), "")
    if not found or any(_SOME_TEST_RAN.search(line) and not _OF_FILES.match(line) for line in lines):
        return ""
    return found[:LINE_LIMIT]


def _of_module(line: str) -> bool:
    return any(sign in line for sign in _OF_MODULE)


def _responsible(commands: tuple[Command, ...], error: str) -> Command | None:
    """The command a chain failed at: the one its error names, else the first that checks or commits, else the first.

    What only an interpreter raises was raised by the first that runs one.
    """
    named = [command for command in commands if command.program and _names(error, command)]
    if named:
        return named[0]
    checking = [command for command in commands if is_check(command) or _hooked(command)]
    raising = [command for command in commands if _INTERPRETER.match(command.program)] if _RAISED.match(error) else []
    return next(iter(checking or raising or commands), None)


def _prefixed(error: str, command: Command) -> bool:
    """Whether a line opens with the program's name, as what it says of itself does: ``rg: docs: No such file``."""
    return error.startswith((f"{command.program}: ", f"{command.program.rsplit('/', 1)[-1]}: "))


def _adding(commands: tuple[Command, ...]) -> Command | None:
    """Git does not name itself when it refuses an ignored path: it was ``git add``, wherever it stands."""
    return next((c for c in commands if "git" in c.words[:2] and "add" in c.words[1:4]), None) or next(
        iter(commands), None
    )


def _names(error: str, command: Command) -> bool:
    program = command.program.rsplit("/", 1)[-1]
    wanted = (command.verb or "").removeprefix("-m ") if program.startswith("python") else program
    return bool(wanted) and re.search(rf"(?<![\w-]){re.escape(wanted)}(?![\w-])", error) is not None


def _is_answer(call: Call, commands: tuple[Command, ...], error: str) -> bool:
    if any(is_check(command) for command in commands) or _DIAGNOSTIC.match(error):
        return True
    if any(_hooked(command) for command in commands) and not _GIT_OWN.match(error):
        return True
    last = commands[-1].program if commands else ""
    found_nothing = last in _SEARCHES and call.exit_code in (1, None)
    return found_nothing or (not error and call.exit_code in (1, 141))


def _hooked(command: Command) -> bool:
    return "git" in command.words[:2] and not _HOOKED.isdisjoint(command.words[1:4])


def _first(patterns: tuple[tuple[Trouble, re.Pattern[str]], ...], text: str) -> Trouble | None:
    return next((kind for kind, pattern in patterns if pattern.search(text)), None)


def _reason(trouble: Trouble | None, error: str) -> str:
    return mask(error) if trouble is None else str(trouble)
