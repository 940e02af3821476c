"""Reads a unified diff into rows for people: old and new side by side, with the words that differ marked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lessonbook.core.linediff import diff
from lessonbook.core.value import Value

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_ESCAPE = re.compile(r"\\([0-7]{3}|.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
ALIKE = 0.4
"""Which share of their words two lines must have in common for one to be read as the other, changed."""
_LONGEST = 4_000
"""Longer lines are not compared word by word."""
_NEAR = 50
"""How many lines further on, at most, one is looked for that a line may have become: so time grows with the lines."""


class Piece(Value):
    """A stretch of a line; ``marked`` where the other side says something else."""

    text: str
    marked: bool = False


class Side(Value):
    """One line of one side, with its number from 1."""

    number: int
    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        """The whole line."""
        return "".join(piece.text for piece in self.pieces)


class Row(Value):
    """One row: what stood there and what stands there now; ``None`` where a side has no such line."""

    old: Side | None
    new: Side | None

    @property
    def kind(self) -> str:
        """``same``, ``changed``, ``removed`` or ``added``."""
        if self.old is None:
            return "added"
        if self.new is None:
            return "removed"
        return "same" if self.old.text == self.new.text else "changed"


class FilePatch(Value):
    """One file's change: its path, what the diff says of it as a whole, and its hunks, each a run of rows."""

    path: str
    notes: tuple[str, ...]
    hunks: tuple[tuple[Row, ...], ...]


def read_patch(text: str) -> tuple[FilePatch, ...]:
    """Return the files of a diff as git prints it; what is no diff is no file."""
    return tuple(map(_file, _files(text.split("\n"))))


def _files(lines: Sequence[str]) -> Iterator[list[str]]:
    part: list[str] = []
    for line in lines:
        if line.startswith("diff --git "):
            if part:
                yield part
            part = [line]
        elif part:
            part.append(line)
    if part:
        yield part


def _file(lines: Sequence[str]) -> FilePatch:
    start = next((at for at, line in enumerate(lines) if _HUNK.match(line)), len(lines))
    head = lines[:start]
    named = [line[4:].split("\t")[0] for line in head if line.startswith(("--- ", "+++ "))]
    paths = [_path(name) for name in reversed(named) if name != "/dev/null"]
    notes = tuple(line for line in head if line.startswith(("new file", "deleted file", "old mode", "new mode", "Bin")))
    return FilePatch(paths[0] if paths else _path_of(lines[0]), notes, tuple(_hunks(lines[start:])))


def _path(name: str) -> str:
    return _unquoted(name)[2:]


def _path_of(line: str) -> str:
    """The path in ``diff --git a/x b/x``, where nothing else names it; both halves are the same."""
    pair = line.removeprefix("diff --git ")
    return _path(pair[: len(pair) // 2])


def _unquoted(name: str) -> str:
    """The name that git wrote between quotes, its bytes read as UTF-8."""
    if not (len(name) > 1 and name.startswith('"') and name.endswith('"')):
        return name

    def sign(found: re.Match[str]) -> str:
        said = found[1]
        return chr(int(said, 8)) if len(said) == 3 else _ESCAPED.get(said, said)

    return _ESCAPE.sub(sign, name[1:-1]).encode("latin-1", "replace").decode("utf-8", "replace")


def _hunks(lines: Sequence[str]) -> Iterator[tuple[Row, ...]]:
    rows: list[Row] = []
    gone: list[str] = []
    come: list[str] = []
    old = new = 0

    def flush() -> None:
        rows.extend(_rows(gone, come, old - len(gone), new - len(come)))
        gone.clear()
        come.clear()

    for line in lines:
        found = _HUNK.match(line)
        if found:
            flush()
            if rows:
                yield tuple(rows)
            rows, old, new = [], int(found[1]), int(found[2])
        elif line.startswith("-"):
            if come:
                flush()
            gone.append(line[1:])
            old += 1
        elif line.startswith("+"):
            come.append(line[1:])
            new += 1
        elif line.startswith(" "):
            flush()
            rows.append(Row(Side(old, (Piece(line[1:]),)), Side(new, (Piece(line[1:]),))))
            old, new = old + 1, new + 1
    flush()
    if rows:
        yield tuple(rows)


def _rows(gone: Sequence[str], come: Sequence[str], old: int, new: int) -> Iterator[Row]:
    """The lines that went and came in one place: those alike beside each other, in their order."""
    at = 0
    said, says = list(map(_words, gone)), list(map(_words, come))
    for index, line in enumerate(gone):
        near = range(at, min(len(come), at + _NEAR))
        match = next((place for place in near if _alike(said[index], says[place])), None)
        if match is None:
            yield Row(Side(old + index, (Piece(line, marked=True),)), None)
            continue
        yield from (Row(None, Side(new + place, (Piece(come[place], marked=True),))) for place in range(at, match))
        before, after = marked(line, come[match])
        yield Row(Side(old + index, before), Side(new + match, after))
        at = match + 1
    yield from (Row(None, Side(new + place, (Piece(come[place], marked=True),))) for place in range(at, len(come)))


def _words(line: str) -> frozenset[str]:
    return frozenset(token for token in _TOKEN.findall(line) if token.strip()) if len(line) <= _LONGEST else frozenset()


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    most = max(len(one), len(other))
    return most > 0 and len(one & other) >= ALIKE * most


def marked(old: str, new: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Return both lines in pieces, with the words that the other line does not have there marked."""
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    left, right = list[Piece](), list[Piece]()
    a = b = 0
    for hunk in diff(before, after):
        b_start = b + hunk.start - a
        left += [Piece("".join(before[a : hunk.start])), Piece("".join(before[hunk.start : hunk.end]), marked=True)]
        right += [Piece("".join(after[b:b_start])), Piece("".join(hunk.lines), marked=True)]
        a, b = hunk.end, b_start + len(hunk.lines)
    left.append(Piece("".join(before[a:])))
    right.append(Piece("".join(after[b:])))
    return tuple(piece for piece in left if piece.text), tuple(piece for piece in right if piece.text)
