"""Books with many candidates, built in one ``git fast-import`` so that building is not what is measured."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

START = 1_792_000_000
RULES = "".join(f"- Rule {number:02d} that a person wrote by hand.\n" for number in range(20))
LINES = 60
SIXTY = "".join(f"- Rule {number:02d} by hand.\n" for number in range(LINES))
MIXES = ("skills", "append", "lines")
"""Each candidate adds a skill file of its own, or a paragraph to ``AGENTS.md``, or edits one of its sixty lines."""
BODY = "First look at the sizes, then read the part that matters, case {number}.\n" * 12


def identifier(number: int) -> str:
    """Return the id of candidate ``number``; ids sort as they were proposed."""
    hours, rest = divmod(number, 3600)
    return f"20261019-{hours:02d}{rest // 60:02d}{rest % 60:02d}-{number:06x}"


def build(folder: Path, count: int, mix: str = "skills") -> Path:
    """Make the book with ``count`` candidates of a mix, its files checked out, and return its folder."""
    folder.mkdir(parents=True)
    _git(folder, "init", "-q", "-b", "main")
    _git(folder, "fast-import", "--quiet", data=b"".join(_stream(count, mix)))
    _git(folder, "reset", "-q", "--hard", "main")
    return folder


def _stream(count: int, mix: str) -> Iterator[bytes]:
    rules = SIXTY if mix == "lines" else RULES
    yield _commit("refs/heads/main", "A Person", START, "Rules", "AGENTS.md", rules) + b"\n"
    change = {"skills": _skill, "append": _paragraph, "lines": _line}[mix]
    for number in range(count):
        ref, at = f"refs/heads/pending/{identifier(number)}", START + 60 + number
        subject = f"Lesson from a replay: case {number}"
        yield _commit(ref, "Dhrona", at, subject, *change(number), b"from refs/heads/main\n")


def _skill(number: int) -> tuple[str, str]:
    head = f"---\nname: case-{number}\ndescription: What to do in case {number}.\n---\n\n"
    return f"skills/case-{number}/SKILL.md", head + BODY.format(number=number)


def _paragraph(number: int) -> tuple[str, str]:
    return "AGENTS.md", f"{RULES}\nIn case {number} look at the sizes first, then read the part that matters.\n"


def _line(number: int) -> tuple[str, str]:
    lines = SIXTY.splitlines(keepends=True)
    lines[number % LINES] = f"- Rule {number % LINES:02d} after case {number}.\n"
    return "AGENTS.md", "".join(lines)


def _commit(ref: str, who: str, at: int, subject: str, path: str, text: str, parent: bytes = b"") -> bytes:
    person = f"{who} <{who.split()[0].lower()}@localhost> {at} +0000"
    head = f"commit {ref}\nauthor {person}\ncommitter {person}\n".encode()
    return head + _data(subject) + parent + f"M 100644 inline {path}\n".encode() + _data(text)


def _data(text: str) -> bytes:
    return b"data %d\n%s\n" % (len(text.encode()), text.encode())


def _git(folder: Path, *args: str, data: bytes = b"") -> None:
    subprocess.run(["git", "-C", str(folder), *args], input=data, check=True, capture_output=True)
