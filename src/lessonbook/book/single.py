"""One candidate on HEAD, for the verbs that rewrite it: edit and split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lessonbook.book import exact
from lessonbook.book.accepting import head_of, target_of
from lessonbook.book.candidates import Waiting, read_waiting
from lessonbook.book.picking import Pick, Target
from lessonbook.book.repository import Book, find, pending_refs
from lessonbook.core.errors import InputError
from lessonbook.system.gitbatch import Change, read_objects


@dataclass(frozen=True, slots=True)
class Single:
    """The candidate and HEAD's tree, with the blobs of everything either of them may need."""

    book: Book
    head: str
    candidate: Waiting
    target: Target

    def pick(self, changes: Sequence[Change] | None = None) -> Pick | None:
        """Return what the candidate, or some of its ``changes``, comes to on HEAD; ``None`` for a conflict."""
        w = self.candidate
        # A commit that HEAD reaches is held, whatever was made of its lines since.
        return Pick() if w.base == w.commit else self.target.pick(w.changes if changes is None else changes)

    def text(self, path: bytes) -> bytes:
        """Return the file as HEAD holds it; empty where it does not."""
        return self.target.text(path)


def read(book: Book, id: str, paths: Sequence[bytes] = (), what: str = "changed", commit: str | None = None) -> Single:
    """Return the candidate, with HEAD's text of ``paths`` besides its own.

    Raises ``InputError`` where nothing waits under the id, it is another now than ``commit`` showed (``exact``), its
    branch is checked out somewhere or it is no one change.
    """
    w = read_waiting(book, [find(pending_refs(book)[0], id)])[0]
    exact.check(book, w, commit)
    head = head_of(book)
    if w.problem or w.held:
        raise InputError(w.problem or f"{id} cannot be {what}: {w.held}")
    target = target_of(book, head, [w], w.changes)
    own = (change.path for change in w.changes)
    wanted = [target.tree[path].oid for path in (*paths, *own) if path in target.tree]
    missing = [oid for oid in wanted if oid not in target.blobs]
    target.blobs.update({oid: found.data for oid, found in read_objects(book.folder, missing).items()})
    return Single(book, head, w, target)
