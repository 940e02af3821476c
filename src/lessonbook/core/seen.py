"""Remembers what was already read, so that a copy of it is not read twice."""

from __future__ import annotations

from collections.abc import Collection
from hashlib import blake2b


class Seen:
    """A set of record and call ids that costs 8 bytes of digest each, however long the ids are.

    One object is passed along while many files are read in order of time: resumed and forked sessions repeat the
    records of the session they came from, and only the first of them counts.
    """

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: set[bytes] = set()

    def first(self, kind: str, key: str) -> bool:
        """Return whether ``key`` is met for the first time among its ``kind``, and remember it."""
        digest = _digest(kind, key)
        if digest in self._known:
            return False
        self._known.add(digest)
        return True

    def knows(self, kind: str, key: str) -> bool:
        """Return whether ``key`` was met before among its ``kind``; remembers nothing."""
        return _digest(kind, key) in self._known

    def knows_none_of(self, digests: Collection[bytes]) -> bool:
        """Return whether nothing of this, as another set tells of it, was met before."""
        return self._known.isdisjoint(digests)

    def remember(self, digests: Collection[bytes]) -> None:
        """Remember what another set has met."""
        self._known.update(digests)

    def __len__(self) -> int:
        return len(self._known)


class Recording(Seen):
    """A set of its own that also remembers what it was asked: whether another would have answered the same.

    What was read with it is what reading with ``other`` gives where ``other.knows_none_of(recording.asked())``.
    """

    __slots__ = ("_looked_up",)

    def __init__(self) -> None:
        super().__init__()
        self._looked_up: set[bytes] = set()

    def knows(self, kind: str, key: str) -> bool:
        """Return whether ``key`` was met before among its ``kind``."""
        digest = _digest(kind, key)
        self._looked_up.add(digest)
        return digest in self._known

    def asked(self) -> frozenset[bytes]:
        """Return the digests of all it was asked about."""
        return frozenset(self._known | self._looked_up)

    def remembered(self) -> frozenset[bytes]:
        """Return the digests of all it remembers."""
        return frozenset(self._known)


def _digest(kind: str, key: str) -> bytes:
    return blake2b(f"{kind}\0{key}".encode("utf-8", "replace"), digest_size=8).digest()
