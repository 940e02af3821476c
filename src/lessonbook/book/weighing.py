"""Weighs what came from elsewhere before anything looks into it.

A tree that names one folder ten times, ten levels deep, is ten small objects and ten thousand million files: whoever
lists them never comes to an end. Here each object is read once, however often it is named.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path

from lessonbook.book.content import AGENTS
from lessonbook.core.value import Value
from lessonbook.system import git
from lessonbook.system.gitbatch import read_objects, sizes

FILES_MOST = 20_000
"""How many files a book or a candidate may hold."""
DEPTH_MOST = 32
"""How many folders one within the other."""
FILE_MOST = 4 << 20
"""How many bytes a file may have that a candidate brings."""
TEXT_MOST = 64 << 10
"""How many bytes its ``AGENTS.md``, its message and a pin may have: every list reads all of those."""


class _Tree(Value):
    """One folder: how many files are in it, those that HEAD does not hold, its ``AGENTS.md``, and the folders in it."""

    files: int
    new: tuple[str, ...]
    rules: str
    folders: tuple[str, ...]


def too_heavy(folder: Path, head: str, others: Mapping[str, str]) -> set[str]:
    """Return which of the names ``others`` (name → object) are too much to look into, and ``""`` where ``head`` is.

    What ``head`` holds may have any size: it is a book that people made. The objects are in ``folder`` already.
    """
    kinds = sizes(folder, others.values())
    commits = {oid for oid, (kind, _) in kinds.items() if kind == "commit"}
    heavy = {oid for oid, (kind, size) in kinds.items() if kind != "commit" and size > TEXT_MOST}
    lines = _lines(folder, commits, head)
    above = {up for line in lines.values() for up in line} - lines.keys()
    weights = _Weights(folder, head, {*lines, *above})
    heavy |= {oid for oid in lines if weights.is_heavy(oid)} | {oid for oid in above if weights.holds_too_many(oid)}
    found = {name for name, oid in others.items() if heavy and _reaches(oid, lines, heavy)}
    return found | ({""} if weights.holds_too_many(head) else set())


def _lines(folder: Path, tips: Iterable[str], head: str) -> dict[str, list[str]]:
    """The parents of each commit that a tip reaches and ``head`` does not."""
    asked = "".join(f"{name}\n" for name in (*tips, f"^{head}")).encode()
    out = git.run(folder, "rev-list", "--parents", "--ignore-missing", "--stdin", data=asked).decode()
    return {row.split(" ")[0]: row.split(" ")[1:] for row in out.splitlines()}


def _reaches(oid: str, lines: Mapping[str, list[str]], heavy: Container[str]) -> bool:
    seen, left = set[str](), [oid]
    while left:
        at = left.pop()
        if at in heavy:
            return True
        if at not in seen:
            seen.add(at)
            left += lines.get(at, ())
    return False


class _Weights:
    """What the trees of some commits come to."""

    def __init__(self, folder: Path, head: str, commits: Iterable[str]) -> None:
        asked = {head, *commits}
        self._messages = {oid: size for oid, (_, size) in sizes(folder, asked).items()}
        found = read_objects(folder, (oid for oid in asked if oid == head or self._messages.get(oid, 0) <= TEXT_MOST))
        self._roots = {oid: item.data[5:].partition(b"\n")[0].decode() for oid, item in found.items()}
        self._trees: dict[str, _Tree] = {}
        known: set[str] = set()
        self._read(folder, {self._roots.get(head, "")}, known, learn=True)
        self._read(folder, self._roots.values(), known)
        new = (oid for tree in self._trees.values() for oid in (*tree.new, tree.rules) if oid)
        self._sizes = {oid: size for oid, (_, size) in sizes(folder, new).items()}
        self._known: dict[str, tuple[int, int]] = {}

    def _read(self, folder: Path, roots: Iterable[str], known: set[str], *, learn: bool = False) -> None:
        """Read every tree that these hold, level by level, each once."""
        level = {root for root in roots if root} - self._trees.keys()
        for _ in range(DEPTH_MOST):
            for oid, item in read_objects(folder, sorted(level)).items():
                tree = _tree(item.data if item.kind == "tree" else b"", len(oid) // 2, () if learn else known)
                known.update(tree.new if learn else ())
                self._trees[oid] = tree.but(new=()) if learn else tree
            level = {oid for up in level if up in self._trees for oid in self._trees[up].folders} - self._trees.keys()
            if not level:
                return

    def holds_too_many(self, commit: str) -> bool:
        """Whether the commit holds too many files, or folders too deep."""
        return self._of(self._roots.get(commit, ""), DEPTH_MOST)[0] > FILES_MOST

    def is_heavy(self, commit: str) -> bool:
        """Whether the commit is too much in any way."""
        root = self._roots.get(commit, "")
        rules = self._trees[root].rules if root in self._trees else ""
        return (
            self._messages.get(commit, 0) > TEXT_MOST
            or self.holds_too_many(commit)
            or self._of(root, DEPTH_MOST)[1] > FILE_MOST
            or self._sizes.get(rules, 0) > TEXT_MOST
        )

    def _of(self, oid: str, depth: int) -> tuple[int, int]:
        """How many files a tree holds, and how many bytes the largest new one has."""
        tree = self._trees.get(oid)
        if not depth:
            return FILES_MOST + 1, 0
        if oid not in self._known and tree is not None:
            below = [self._of(folder, depth - 1) for folder in tree.folders]
            sizes = [self._sizes.get(new, 0) for new in tree.new] + [size for _, size in below]
            self._known[oid] = tree.files + sum(files for files, _ in below), max(sizes, default=0)
        return self._known.get(oid, (0, 0))


def _tree(data: bytes, width: int, known: Container[str]) -> _Tree:
    new, folders, files, rules = [], [], 0, ""
    for name, oid, is_folder in _entries(data, width):
        if is_folder:
            folders.append(oid)
            continue
        files += 1
        rules = oid if name == AGENTS else rules
        if oid not in known:
            new.append(oid)
    return _Tree(files, tuple(new), rules, tuple(folders))


def _entries(data: bytes, width: int) -> Iterator[tuple[bytes, str, bool]]:
    """Name, id and whether it is a folder, of each entry of a raw tree."""
    at = 0
    while (end := data.find(b"\0", at)) >= 0:
        mode, _, name = data[at:end].partition(b" ")
        at = end + 1 + width
        yield name, data[end + 1 : at].hex(), mode in (b"40000", b"040000")
