"""Reads shell scripts as agents write them: which programs ran, with which words.

A script is split into simple commands; what only prepares a command (``cd x &&``, ``A=b``, ``sudo``, ``timeout 30``,
``bash -lc '…'``, ``git -C dir``) is taken off. It is a reader for statistics, not a shell: nothing is expanded, and
text that is not valid shell gives a best guess, never an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from lessonbook.core.shelltokens import segments, without_heredocs, word_set

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_REDIRECT = re.compile(r"(?:\d*|&)(?:>>|>\||>&|<&|>|<<<|<<-?|<)")
_VERB = re.compile(r"[A-Za-z][A-Za-z0-9_:-]*\Z")
_NUMBER = re.compile(r"-?[\d.]+[smhd]?\Z")

_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh"})
_WRAPPERS = frozenset({"sudo", "time", "nohup", "command", "exec", "builtin", "env", "timeout", "gtimeout", "nice"}) | {
    "stdbuf",
    "caffeinate",
    "setsid",
    "doas",
}
_LOOKUP = re.compile(r"(?:PYTHON|NODE_|GEM_|RUBY|PERL5?)?(?:PATH|LIB|HOME)=")
"""Variables that say where programs and modules are looked for."""
_PREPARING = frozenset({"cd", "pushd", "popd", "set", "export", "unset", "source", "."})
_KEYWORDS = frozenset({"do", "then", "else", "elif", "if", "while", "until", "!", "{", "}", "(", ")"})
_NOT_COMMANDS = frozenset({"for", "case", "select", "function", "done", "fi", "esac", "in"})
_OPTIONS_WITH_VALUE = {
    "git": frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace"}),
    "make": frozenset({"-C", "-f", "-j"}),
    "npm": frozenset({"--prefix", "-w", "--workspace"}),
    "pnpm": frozenset({"-C", "--dir", "--filter", "-F"}),
    "yarn": frozenset({"--cwd"}),
    "bun": frozenset({"--cwd"}),
    "go": frozenset({"-C"}),
    "docker": frozenset({"-H", "--context", "-c"}),
    "kubectl": frozenset({"-n", "--namespace", "--context"}),
    "gh": frozenset({"-R", "--repo"}),
}
_PLACES = frozenset({"-C", "--prefix", "--dir", "--cwd", "--git-dir", "--work-tree"})
_REMEMBERED_MOST = 2_000
_NO_VERB = word_set(
    "awk basename bc cat chmod chown cmp column cp curl cut date dd df diff dirname du echo egrep env fd fgrep file "
    "find grep gzip head hexdump hostname jq kill killall less ln ls lsof md5 md5sum mkdir mktemp more mv nl node "
    "open paste patch pgrep ping pkill printf ps pwd python python3 readlink realpath rg rm rmdir rsync ruby sed "
    "seq sha256sum shasum sleep sort split ssh scp stat strings tail tar tee test timeout touch tr tree true type "
    "uname uniq unzip wc wget which whoami xargs xxd yes yq zip [ [[ source . perl php"
)


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command of a script, without what only prepares it."""

    words: tuple[str, ...]
    """Program first, quotes removed, redirections and place options (``git -C dir``) left out."""
    joined: str = ""
    """How it follows the command before it: ``""``, ``&&``, ``||``, ``;``, ``|`` or ``&``."""
    writes: str | None = None
    """The file its output is sent to, where it is."""
    background: bool = False
    place: str | None = None
    """The folder it ran in, where the script says so (``cd dir &&``, ``git -C dir``)."""
    environment: tuple[str, ...] = ()
    """What it finds programs and modules by, typed before it: ``PYTHONPATH=src``, ``source venv/bin/activate &&``."""

    @property
    def program(self) -> str:
        """The program's name: the last part of an absolute path, else as typed without ``./``."""
        word = self.words[0]
        return word.rsplit("/", 1)[-1] if word.startswith(("/", "~")) else word.removeprefix("./")

    @property
    def verb(self) -> str | None:
        """The subcommand (``commit`` of ``git commit``, ``-m pytest`` of ``python -m pytest``), where there is one."""
        return _verb(self.program, self.words[1:])

    @property
    def plain_utility(self) -> bool:
        """Whether the program has no subcommands, so that its words are files and patterns (``grep``, ``sed``)."""
        return self.program in _NO_VERB

    @property
    def family(self) -> str:
        """Program and verb as one text: ``git commit``."""
        return f"{self.program} {self.verb}" if self.verb else self.program


def simple_commands(script: str) -> tuple[Command, ...]:
    """Return the simple commands of ``script`` in order; ``cd``, assignments and control words are left out.

    Pipes give every stage, each with ``joined == "|"`` after the first. Never raises.
    """
    return _remembered(script) if len(script) <= _REMEMBERED_MOST else tuple(_commands(script, depth=0))


@lru_cache(maxsize=2_048)
def _remembered(script: str) -> tuple[Command, ...]:
    """One script is read by several findings and proposers in a row; 2,048 short ones are remembered."""
    return tuple(_commands(script, depth=0))


def family(script: str) -> str:
    """Return program and verb of the script's first command: ``git commit``; ``""`` where there is none."""
    return next((command.family for command in simple_commands(script)), "")


def _commands(script: str, depth: int) -> Iterator[Command]:
    place: str | None = None
    environment: tuple[str, ...] = ()
    for joined, words, background in segments(without_heredocs(script)):
        plain, writes = _without_redirections(words)
        bare = _without_wrappers(plain)
        if not bare or bare[0] in _PREPARING:
            environment += _prepared(plain)
        if bare[:1] in (["cd"], ["pushd"]):
            place = bare[1] if len(bare) > 1 else None
        if not bare or bare[0] in _PREPARING:
            continue
        inner = _inner_script(bare)
        if inner is not None and depth < 3:
            yield from _commands(inner, depth + 1)
            continue
        kept, named = _without_places(bare)
        own = tuple(word for word in plain[: len(plain) - len(bare)] if _LOOKUP.match(word))
        yield Command(kept, joined, writes, background, named or place, (*environment, *own))


def _prepared(words: list[str]) -> tuple[str, ...]:
    """What ``source .venv/bin/activate`` or ``export PYTHONPATH=src`` sets for the commands that follow."""
    if words[:1] in (["source"], ["."]) and len(words) == 2 and words[1].endswith("activate"):
        return ("source", words[1], "&&")
    return tuple(word for word in words if _LOOKUP.match(word))


def _without_redirections(words: list[str]) -> tuple[list[str], str | None]:
    kept: list[str] = []
    writes: str | None = None
    takes_next = ""
    for word in words:
        if takes_next:
            writes = word if takes_next in (">", ">>") else writes
            takes_next = ""
            continue
        match = _REDIRECT.match(word)
        if match is None:
            kept.append(word)
            continue
        sign, target = match[0].lstrip("0123456789&"), word[match.end() :]
        if not target:
            takes_next = sign if not match[0].startswith("2") else "2>"
        elif sign in (">", ">>") and not match[0].startswith("2"):
            writes = target
    return kept, writes


def _without_wrappers(words: list[str]) -> list[str]:
    """Take off control words, assignments and wrappers such as ``sudo`` and ``timeout 30``, from the front."""
    rest = list(words)
    while rest:
        head = rest[0]
        if head in _NOT_COMMANDS:
            return []
        name = head.rsplit("/", 1)[-1]
        if not head or head in _KEYWORDS or _ASSIGNMENT.match(head):
            rest = rest[1:]
        elif name in _WRAPPERS and len(rest) > 1:
            rest = _after_wrapper(rest[1:])
        else:
            return [head, *rest[1:]]
    return []


def _after_wrapper(words: list[str]) -> list[str]:
    at = 0
    while at < len(words) and (words[at].startswith("-") or _NUMBER.match(words[at]) or _ASSIGNMENT.match(words[at])):
        at += 1
    return words[at:]


def _inner_script(words: list[str]) -> str | None:
    """The script of ``bash -lc '…'``; ``None`` for every other command."""
    if words[0].rsplit("/", 1)[-1] not in _SHELLS:
        return None
    for at, word in enumerate(words[1:], 1):
        if not word.startswith("-"):
            return None
        if not word.startswith("--") and "c" in word and at + 1 < len(words):
            return words[at + 1]
    return None


def _without_places(words: list[str]) -> tuple[tuple[str, ...], str | None]:
    """Leave out options that only say where (``git -C dir``, ``npm --prefix dir``), and return the folder they name."""
    valued = _OPTIONS_WITH_VALUE.get(words[0].rsplit("/", 1)[-1], frozenset()) & _PLACES
    kept: list[str] = []
    place: str | None = None
    rest = iter(words)
    for word in rest:
        option, equals, value = word.partition("=")
        if word in valued:
            place = next(rest, None)
        elif equals and option in valued:
            place = value
        else:
            kept.append(word)
    return tuple(kept), place


def _verb(program: str, rest: tuple[str, ...]) -> str | None:
    if program.startswith("python") and rest[:1] == ("-m",) and len(rest) > 1:
        return f"-m {rest[1]}"
    if program in _NO_VERB or "/" in program:
        return None
    valued = _OPTIONS_WITH_VALUE.get(program, frozenset())
    skip = False
    for word in rest:
        if skip:
            skip = False
        elif word in valued:
            skip = True
        elif not word.startswith(("-", "+")):
            return word if _VERB.match(word) else None
    return None
