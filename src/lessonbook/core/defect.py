"""Whether a failed call tells of a defect of its tool, rather than of a mistake that a lesson can prevent.

A tool that crashes, breaks its protocol, does not keep to its own schema or does not answer in time has a defect. A
file that is not there, a text to replace that is not found or a program that is not installed is a mistake. A tool that
runs what it is given (a shell, an interpreter, a query) passes on what that said, which is neither.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b

from lessonbook.core.checks import is_check
from lessonbook.core.clean import bound, clean_body, clean_line
from lessonbook.core.compaction import scrubbed
from lessonbook.core.errorline import LINE_LIMIT, error_of, mask, plain_lines
from lessonbook.core.failure import Failure, Trouble, read_failure
from lessonbook.core.session import Call, CallKind


class DefectKind(StrEnum):
    """What is wrong with a tool, by the names people are told."""

    CRASH = "crash"
    PROTOCOL = "protocol error"
    SCHEMA = "schema error"
    TIME_OUT = "time-out"


class Proof(StrEnum):
    """What has to differ between the sessions that met it, before it is the tool's defect and nobody else's."""

    SESSIONS = "sessions"
    MODELS = "models"
    """One model may be wrong about the arguments; two that are wrong in the same way were told wrong."""
    PROJECTS = "projects"
    """A program that dies in one project may run that project's own code."""


@dataclass(frozen=True, slots=True)
class Defect:
    """One way in which one tool fails: equal ones are the same defect, whoever met it."""

    kind: DefectKind
    tool: str
    error: str
    """The first telling line, secrets and identifying values taken out, particulars masked."""
    proof: Proof = Proof.SESSIONS

    @property
    def id(self) -> str:
        """Eight hexadecimal digits that stay the same from night to night."""
        text = f"{self.tool}\0{self.kind}\0{self.error}"
        return blake2b(text.encode("utf-8", "replace"), digest_size=4).hexdigest()


_RUNS = frozenset(
    (
        *("exec", "execute", "eval", "evaluate", "run", "python", "javascript", "js", "repl", "jupyter", "notebook"),
        *("terminal", "shell", "bash", "sh", "test", "tests", "query", "sql", "script", "console"),
    )
)
"""Words in names of tools that do what they are given: what they say of it is an answer."""
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_SCHEMA = re.compile(
    r"missing \d+ required (?:positional|keyword-only) arguments?|got an unexpected keyword argument"
    r"|output ?schema|structured ?content|(?:input|tool) ?_?schema\b.{0,60}\b(?:invalid|not valid|not match)"
)
_REFUSED = re.compile(r"-32602|[Ii]nvalid params")
_TIME_OUT = re.compile(r"timed[ -]?out|time-?out\b|deadline exceeded|ETIMEDOUT|-32001", re.IGNORECASE)
_PROTOCOL = re.compile(
    r"MCP error -32[07]\d\d|JSON-?RPC|connection closed|transport (?:is )?closed|(?:is|are) not connected"
    r"|server (?:is |has )?(?:disconnected|not running|exited|crashed)|socket hang up|ECONNRESET|EPIPE|broken pipe"
    r"|unexpected end of (?:JSON|stream|file)|stream (?:closed|ended)|malformed (?:response|message|result)",
    re.IGNORECASE,
)
_CRASH = re.compile(
    r"\b(?:Type|Attribute|Key|Index|Name|UnboundLocal|Assertion|Recursion|Reference|Range|UnicodeDecode|UnicodeEncode)"
    r"Error\b|\b(?:NullPointer|IllegalState|ArrayIndexOutOfBounds)Exception\b"
    r"|Cannot read propert(?:y|ies) of (?:undefined|null)|undefined is not an? |\bis not (?:a function|iterable)\b"
    r"|panicked at|panic: |nil pointer dereference|[Ss]egmentation fault|core dumped|stack overflow"
    r"|Maximum call stack|out of memory|heap limit|[Uu]nhandled (?:exception|rejection|error)"
    r"|[Ii]nternal (?:server |tool )?error|[Aa]ssertion failed|posix_spawn|\bspawn \S+ E[A-Z]{3,}"
)
_INTERNAL = re.compile(r"internal (?:server |tool )?error", re.IGNORECASE)
_NO_SHELL = re.compile(
    r"posix_spawn|\bspawn \S+ E[A-Z]{3,}|shell (?:process|session) (?:has )?(?:died|exited|closed|crashed)"
    r"|failed to (?:start|create|open) (?:the |a )?(?:shell|pty|terminal)",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"\[(?:PHONE|IP)\]")
"""Labels of what looks like a number that identifies somebody."""
_REFUSAL = 3
"""Lines of a refusal of arguments: which one is wrong often stands below the first."""
_CUT = re.compile(r"\n\[… \d+ characters left out …\]\n")
_MIDDLE = "\n[…]\n"
"""Where a reader shortened a result: its head, lines of its middle that speak of an error, its tail."""
_FIRST, _LAST = re.compile(r"\A\S+"), re.compile(r"\S+\Z")
"""The word that a cut may have gone through."""
_UNCUT_LINE, _UNCUT_LINES = 100, 900
"""Characters: lines of the middle, and all of them, that are longer may have been cut."""
_DIED = {132: "SIGILL", 134: "SIGABRT", 135: "SIGBUS", 136: "SIGFPE", 139: "SIGSEGV"}
"""What shells say where a program was ended by a fault of its own: 128 and the number of the signal."""
_OUTSIDE = frozenset({CallKind.WEB, CallKind.ASK})
"""Tools that wait for a site or for a person: who is late there is not the tool."""


def defect_of(call: Call) -> Defect | None:
    """Return the defect of its tool that a failed call tells of; ``None`` for any other call."""
    failure = read_failure(call)
    if failure is None:
        return None
    if call.kind is CallKind.SHELL:
        return _of_shell(call, failure)
    if failure.trouble is Trouble.BAD_ARGUMENTS and call.args_raw is None:
        return _defect(DefectKind.SCHEMA, call, Proof.MODELS, _REFUSAL)
    if failure.trouble is not None or _runs_what_it_is_given(call.name):
        return None
    kind = _kind(call, failure.error)
    refused = kind is DefectKind.SCHEMA and _REFUSED.search(failure.error)
    return _defect(kind, call, Proof.MODELS if refused else Proof.SESSIONS) if kind else None


def _runs_what_it_is_given(tool: str) -> bool:
    return any(word.lower() in _RUNS for word in _WORDS.findall(tool))


def _kind(call: Call, error: str) -> DefectKind | None:
    if _SCHEMA.search(error) or _REFUSED.search(error):
        return DefectKind.SCHEMA
    if _TIME_OUT.search(error):
        return None if call.kind in _OUTSIDE else DefectKind.TIME_OUT
    if _CRASH.search(error):
        return None if call.kind in _OUTSIDE and _INTERNAL.search(error) else DefectKind.CRASH
    return DefectKind.PROTOCOL if _PROTOCOL.search(error) and call.kind not in _OUTSIDE else None


def _of_shell(call: Call, failure: Failure) -> Defect | None:
    """The shell that could not be started, or a program that every project shares and that died of itself."""
    if _NO_SHELL.search(failure.error):
        return _defect(DefectKind.CRASH, call)
    signal, command = _DIED.get(call.exit_code or 0), failure.command
    if signal is None or command is None or is_check(command) or "/" in command.program:
        return None
    return Defect(DefectKind.CRASH, _named(command.program), f"ended by {signal}", Proof.PROJECTS)


def _defect(kind: DefectKind, call: Call, proof: Proof = Proof.SESSIONS, first: int = 0) -> Defect:
    """The defect, with the telling line, or the ``first`` lines, of what was said."""
    # What identifies goes first, so that no cut and no mask takes its shape from a secret.
    lines = plain_lines(said(call))
    error = _NUMBERS.sub("0", " ".join(lines[:first]) if first else error_of(lines))
    masked = bound(mask(error).replace("<hex>", "N"), LINE_LIMIT)[0]  # a long number is a number all the same
    return Defect(kind, _named(call.name), masked, proof)


def _named(tool: str) -> str:
    return bound(scrubbed(clean_line(tool)), LINE_LIMIT)[0]


def said(call: Call) -> str:
    """Return what a call answered, cleaned and scrubbed; without words that were cut in two, which may be secrets."""
    head, *rest = _CUT.split(call.result, maxsplit=1)
    if not rest:
        return scrubbed(clean_body(head))
    middle, _, tail = rest[0].rpartition(_MIDDLE)
    lines = [_uncut(line) if len(line) > _UNCUT_LINE else line for line in middle.split("\n")]
    if len(middle) > _UNCUT_LINES:
        lines[-1] = _LAST.sub("", lines[-1])
    whole = [_LAST.sub("", head), *lines, _FIRST.sub("", tail)]
    return scrubbed(clean_body("\n…\n".join(part for part in whole if part.strip())))


def _uncut(line: str) -> str:
    return _LAST.sub("", _FIRST.sub("", line)).strip()


@dataclass(frozen=True, slots=True)
class Sighting:
    """One call that met a defect. ``agent``, ``session`` and ``place`` tell it from every other call."""

    defect: str
    """The defect's id."""
    agent: str
    session: str
    place: str
    """The call's id, or its turn and number where the format has none."""
    root: str = ""
    """The session that a sub-agent's session belongs to; else the session itself."""
    version: str = ""
    """The agent's."""
    model: str = ""
    project: str = ""
    """A digest that tells projects apart, and no more."""
    at: float | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """A defect with what its first sighting said: scrubbed, and fit to be shown."""

    id: str
    defect: Defect
    said: str = ""
    """The beginning of what the tool answered."""
    asked: str = ""
    """What it was called with: names and types, no values."""

    @property
    def title(self) -> str:
        """One line that names it."""
        return f"{self.defect.tool}: {self.defect.error or self.defect.kind}"
