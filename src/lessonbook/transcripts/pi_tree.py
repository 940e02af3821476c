"""Which entries of a pi session are in force: the path from the last one that carries talk up to the root."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping
from typing import Any

ORPHAN = "record whose parent is missing"
CIRCLE = "record that is its own ancestor"
_TALK = frozenset(("message", "compaction", "branch_summary", "branchSummary", "custom_message"))
_NONE, _ROOT = -1, -2


class Tree:
    """The tree of one file, 20 bytes and an id per entry; entries are known by the number of their record."""

    def __init__(self) -> None:
        self.records = 0
        self._numbers: dict[str, int] = {}
        self._parents = array("q")
        """By record: the number of its parent, ``_ROOT`` for none, ``_NONE`` where the record has no id."""
        self._missing: set[int] = set()
        self._talks = bytearray()
        self._force = bytearray()

    def add(self, item: Mapping[str, Any]) -> None:
        """Note one record."""
        number, self.records = self.records, self.records + 1
        id, parent = item.get("id"), item.get("parentId")
        kind = item.get("type")
        own = isinstance(id, str) and bool(id) and kind != "session" and "parentId" in item
        self._talks.append(own and isinstance(kind, str) and kind in _TALK)
        if not own:
            self._parents.append(_NONE)
            return
        above = _ROOT
        if isinstance(parent, str):
            found = self._numbers.get(parent)
            above = _ROOT if found is None else found
            if found is None:
                self._missing.add(number)
        self._parents.append(above)
        self._numbers[str(id)] = number

    def settle(self, skipped: Counter[str]) -> None:
        """Find the branch in force once all records are noted; what is odd about it is counted."""
        self._force = bytearray(parent == _NONE for parent in self._parents)
        self._numbers.clear()
        at = self._last_talk(self.records)
        while at >= 0:
            if self._force[at]:
                skipped[CIRCLE] += 1
                return
            self._force[at] = True
            above = self._parents[at]
            if above == _ROOT and at in self._missing:  # damage: what stands before it is what it went on from
                skipped[ORPHAN] += 1
                above = self._last_talk(at)
            at = above

    def in_force(self, number: int) -> bool:
        """Whether the record with this number is read."""
        return bool(self._force[number])

    def _last_talk(self, before: int) -> int:
        return self._talks.rfind(1, 0, before)
