"""Books with many candidates, built in one ``git fast-import`` so that building is not what is measured."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

START = 1_792_000_000
RULES = "".join(f"- Rule {number:02d} that a person wrote by hand.\n" for number in range(20))
BODY = "First look at the sizes, then read the part that matters, case {number}.\n" * 12


def identifier(number: int) -> str:
    """Return the id of candidate ``number``; ids sort as they were proposed."""
    hours, rest = divmod(number, 3600)
    return f"20261019-{hours:02d}{rest // 60:02d}{rest % 60:02d}-{number:06x}"


def stream(count: int) -> bytes:
    """Return the import stream of a book with ``count`` candidates, each adding a skill file of its own."""
    return b"".join(_stream(count))


def build(folder: Path, count: int) -> Path:
    """Make the book, its files checked out, and return its folder."""
    folder.mkdir(parents=True)
    _git(folder, "init", "-q", "-b", "main")
    _git(folder, "fast-import", "--quiet", data=stream(count))
    _git(folder, "reset", "-q", "--hard", "main")
    return folder


def _stream(count: int) -> Iterator[bytes]:
    yield _commit("refs/heads/main", "A Person", START, "Rules", "AGENTS.md", RULES) + b"\n"
    for number in range(count):
        ref, at = f"refs/heads/pending/{identifier(number)}", START + 60 + number
        head = f"---\nname: case-{number}\ndescription: What to do in case {number}.\n---\n\n"
        path, text = f"skills/case-{number}/SKILL.md", head + BODY.format(number=number)
        yield _commit(ref, "Dhrona", at, f"Lesson from a replay: case {number}", path, text, b"from refs/heads/main\n")


def _commit(ref: str, who: str, at: int, subject: str, path: str, text: str, parent: bytes = b"") -> bytes:
    person = f"{who} <{who.split()[0].lower()}@localhost> {at} +0000"
    head = f"commit {ref}\nauthor {person}\ncommitter {person}\n".encode()
    return head + _data(subject) + parent + f"M 100644 inline {path}\n".encode() + _data(text)


def _data(text: str) -> bytes:
    return b"data %d\n%s\n" % (len(text.encode()), text.encode())


def _git(folder: Path, *args: str, data: bytes = b"") -> None:
    subprocess.run(["git", "-C", str(folder), *args], input=data, check=True, capture_output=True)
