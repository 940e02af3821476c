"""Picks a candidate onto a tree, in memory: path by path, and by a paragraph-aware merge where both sides changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lessonbook.book.content import AGENTS, DATED
from lessonbook.system.gitbatch import Change, Entry, Write, blob_id

_REGULAR = ("100644", "100755")


@dataclass(frozen=True, slots=True)
class Pick:
    """What picking comes to: what to write (nothing where the tree holds it already), as a commit and as entries."""

    writes: tuple[Write, ...] = ()
    entries: tuple[Change, ...] = ()


class Target:
    """A tree to pick onto: its paths, its folders, and the blobs that merges may need."""

    def __init__(self, tree: Mapping[bytes, Entry], blobs: Mapping[str, bytes]) -> None:
        self.tree = dict(tree)
        self.blobs = dict(blobs)
        self._folders = _folders(tree)

    def pick(self, changes: Iterable[Change]) -> Pick | None:
        """Return what the candidate's changes come to here, or ``None`` where they conflict."""
        writes, entries = [], []
        for change in changes:
            ours = self.tree.get(change.path)
            if ours == change.new:
                continue
            if ours == change.old:
                data, entry = None, change.new
            else:
                data = self._merged(change, ours)
                if data is None or ours is None:
                    return None
                entry = Entry(ours.mode, blob_id(data, ours.oid))
                if entry == ours:
                    continue
            writes.append(Write(change.path, data, entry.oid if entry else None))
            entries.append(Change(change.path, ours, entry))
        if self._collides(entries):
            return None
        return Pick(tuple(writes), tuple(entries))

    def advance(self, pick: Pick) -> None:
        """Make the pick's changes in this tree, so that others are picked onto the result."""
        for write, change in zip(pick.writes, pick.entries, strict=True):
            if change.new is None:
                self.tree.pop(change.path, None)
            else:
                self.tree[change.path] = change.new
                if write.data is not None:
                    self.blobs[change.new.oid] = write.data
        self._folders = _folders(self.tree)

    def text(self, path: bytes) -> bytes:
        """The file's bytes; empty where there is none or it was not read."""
        entry = self.tree.get(path)
        return self.blobs.get(entry.oid, b"") if entry else b""

    def _merged(self, change: Change, ours: Entry | None) -> bytes | None:
        """The merged bytes; ``None`` where one side removed the file, a kind or mode changed, or texts conflict."""
        old, new = change.old, change.new
        if ours is None or new is None or ours.mode != new.mode or ours.mode not in _REGULAR:
            return None
        if old is None and change.path != AGENTS and not DATED.match(change.path):
            return None  # two skills of one name are two skills: joining their files would make nonsense
        if old is not None and old.mode != ours.mode:
            return None
        texts = [self.blobs.get(entry.oid) if entry else b"" for entry in (old, ours, new)]
        if texts[0] is None or texts[1] is None or texts[2] is None:
            return None
        from lessonbook.core.merge import merge3

        return merge3(texts[0], texts[1], texts[2])

    def _collides(self, entries: Iterable[Change]) -> bool:
        """Whether a new path would need a file and a folder of one name."""
        added = [change.path for change in entries if change.old is None]
        if not any(path in self._folders or any(up in self.tree for up in _above(path)) for path in added):
            return False
        tree = dict(self.tree)
        for change in entries:
            if change.new is None:
                tree.pop(change.path, None)
            else:
                tree[change.path] = change.new
        return not _folders(tree).isdisjoint(tree)


def needed(changes: Iterable[Change], tree: Mapping[bytes, Entry], touched: Iterable[bytes] = ()) -> list[str]:
    """Return the blobs that picking these changes onto ``tree`` may have to merge.

    ``touched`` are paths that will change in the tree before it is picked onto.
    """
    touched = frozenset(touched)
    ids: list[str] = []
    for change in changes:
        ours = tree.get(change.path)
        if change.path in touched or ours not in (change.old, change.new):
            ids += [entry.oid for entry in (change.old, ours, change.new) if entry and entry.mode in _REGULAR]
    return ids


def _folders(tree: Iterable[bytes]) -> set[bytes]:
    return {up for path in tree for up in _above(path)}


def _above(path: bytes) -> list[bytes]:
    parts = path.split(b"/")
    return [b"/".join(parts[:depth]) for depth in range(1, len(parts))]
