"""Commands a text names: in Markdown code, or plainly ("run pnpm install"), and the programs they start."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lessonbook.core.entity import Entity, Kind, Page, compiled
from lessonbook.core.entity_subcommands import RUNNERS, SUBCOMMANDS, TARGETS
from lessonbook.core.entity_tools import NAMES, PROGRAMS, tool_key
from lessonbook.core.shell import Command, simple_commands

_LONGEST = 400
_RUNS = re.compile(r"(?i)\b(?:re-?)?(?:run|runs|running|execute|executing|invoke|invoking|via)\s+\Z")
_NOT_COMMANDS = frozenset(("cd", "echo", "export", "printf", "source", "true"))
_PROGRAM = re.compile(r"(?:\$ )?(?:[A-Z_]+=\S* )*(?:sudo |time |cd \S+ && )?(\.{0,2}/?[A-Za-z][\w./+-]*)(?=\s+\S)")
_PLAIN_PROGRAM = re.compile(r"[A-Za-z][\w.+-]*\Z|\.{0,2}/[\w./-]+\Z")
_WORD = re.compile(r"-{0,2}[\w@./][\w@./:+=~-]{0,80}\Z")

_PLAIN = (
    rf"({'|'.join(sorted(map(re.escape, SUBCOMMANDS), key=len, reverse=True))})"
    r"((?: --?[a-z][\w-]*(?:=\S{1,40})?){0,3} )([a-z][\w:.-]*+)(?: ([a-z][\w:./-]*+))?"
)
_TARGET = r"(make|just|task|nox|go|npx|uvx|tox|rake|invoke) ([a-z][\w:.-]*+|-[a-z] [\w.-]++)"
_USED = re.compile(r"(?i)\b(?:run|running|with|via|use|using|execute|executing|invoke|invoking|by)[ `]+\Z")
_MODULE = r"python3? -m ([a-z][\w.]*+)"


def find(page: Page) -> Iterator[Entity]:
    """Yield the commands of ``page`` and the programs they start."""
    seen: set[str] = set()
    for at, line, sure in _lines(page):
        if line not in seen and len(line) <= _LONGEST:
            seen.add(line)
            yield from _typed(page, at, line, sure)
    yield from _plain(page)


def _lines(page: Page) -> Iterator[tuple[int, str, bool]]:
    """Yield what is written as code: where it starts, what it is, and whether something says that it is run."""
    for start, end in zip(page.code.starts, page.code.ends, strict=True):
        inner = page.text[start:end].strip("`")
        if inner.strip() and "\n" not in inner:
            yield page.text.index(inner, start), inner, _RUNS.search(page.before(start)) is not None
    for start, end in page.scripts:
        script = page.text[start:end]
        prompts, at = "\n$ " in script, start
        for line in script.split("\n"):
            bare = line.strip()
            if bare and bare[0] not in "#`~" and (not prompts or bare.startswith("$ ")):
                yield at + line.index(bare), bare, prompts
            at += len(line) + 1


def _typed(page: Page, at: int, line: str, sure: bool) -> Iterator[Entity]:
    """Yield what a line of code comes to as commands: programs that are known, or that the text runs."""
    opening = _PROGRAM.match(line)
    if opening is None:
        if sure and _PLAIN_PROGRAM.match(line) and "." not in line and "/" not in line:
            yield page.entity(Kind.TOOL, at, at + len(line), tool_key(line))
        return
    known = opening[1].rpartition("/")[2] in PROGRAMS
    if not known and not sure and not opening[1].startswith("./"):
        return
    place = at + (2 if line.startswith("$ ") else 0)
    for number, command in enumerate(simple_commands(line.removeprefix("$ "))):
        begin = page.text.find(command.words[0], place, at + len(line))
        usable = _PLAIN_PROGRAM.match(command.words[0]) and (number == 0 or command.program in PROGRAMS)
        if begin >= 0 and usable and command.program not in _NOT_COMMANDS:
            place = begin + len(command.words[0])
            yield from _command(page, command, begin, at + len(line))


def _command(page: Page, command: Command, begin: int, limit: int) -> Iterator[Entity]:
    """Yield a command up to its subcommand or first word, and its program."""
    after = begin + len(command.words[0])
    told = (command.verb or (command.words[1] if len(command.words) > 1 else "")).rpartition(" ")[2]
    place = page.text.find(told, after, limit)
    if _WORD.match(told) and place > after:
        key, stop = command.family if command.verb else f"{command.program} {told}", place + len(told)
        more = compiled(r" ([a-z][\w:./-]*)(?=\s|\Z)").match(page.text, stop, limit)
        if more and told in RUNNERS.get(command.program, ()):
            key, stop = f"{key} {more[1]}", more.end()
        yield page.entity(Kind.COMMAND, begin, stop, key)
    if "/" not in command.words[0] and "." not in command.words[0]:
        yield page.entity(Kind.TOOL, begin, after, tool_key(command.program))


def _plain(page: Page) -> Iterator[Entity]:
    """Yield the commands that stand in a sentence without any mark."""
    for match in compiled(_PLAIN).finditer(page.text):
        if match[3].rstrip(".:-") in SUBCOMMANDS[match[1]] and _is_plain(page, match.start()):
            yield page.entity(Kind.COMMAND, match.start(), *_asked(match))
    for match in compiled(_TARGET).finditer(page.text):
        target = match[2].rstrip(".:")
        named = target in TARGETS or re.search(r"[-_:./]", target)
        if named and _is_plain(page, match.start()) and _USED.search(page.before(match.start())):
            yield page.entity(Kind.COMMAND, match.start(), match.start(2) + len(target), f"{match[1]} {target}")
            yield page.entity(Kind.TOOL, *match.span(1))
    for match in compiled(_MODULE).finditer(page.text):
        name = match[1].rstrip(".")
        if not _is_plain(page, match.start()):
            continue
        yield page.entity(Kind.COMMAND, match.start(), match.start(1) + len(name), f"python -m {name}")
        if name in NAMES:
            yield page.entity(Kind.TOOL, match.start(1), match.start(1) + len(name), tool_key(name))


def _asked(match: re.Match[str]) -> tuple[int, str]:
    """Return where a plain command ends, and its key: with what is run where its verb is one that runs something."""
    verb, more = match[3].rstrip(".:-"), (match[4] or "").rstrip(".:-/")
    key = f"{match[1]} {verb}"
    if match[3] in RUNNERS.get(match[1], ()) and (more in TARGETS or re.search(r"[-_:./]", more)):
        return match.start(4) + len(more), f"{key} {more}"
    return match.start(3) + len(verb), key


def _is_plain(page: Page, at: int) -> bool:
    """Whether a word starts at ``at`` that is not in code."""
    return compiled(r"[\w./@$-]").match(page.text[at - 1 : at]) is None and not page.in_code(at)
