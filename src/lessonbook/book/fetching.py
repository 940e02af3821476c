"""Fetches the refs of a team's book, and gets past those that cannot be fetched: one bad branch hides no other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lessonbook.book.repository import PENDING_REFS
from lessonbook.book.sharing import KEPT
from lessonbook.core.errors import StoreError
from lessonbook.system.gitremote import Line, listed, other_end

SKIPPED_MOST = 20
"""How many refs may be left out; where more are bad, so is the book."""

_OPTIONS = ("--no-tags", "--no-auto-gc", "--no-write-fetch-head", "--no-recurse-submodules", "--quiet")


def fetched(line: Line, branch: str, refs: Mapping[str, str]) -> list[str]:
    """Fetch the book on ``branch`` of the remote and what belongs to it into ``refs/theirs/``; return what is left out.

    ``refs`` are the remote's, with their objects. Raises ``StoreError`` where the remote cannot be reached, the branch
    itself cannot be fetched, or more than ``SKIPPED_MOST`` others.
    """
    head = f"+{branch}:refs/theirs/head"
    try:
        _fetch(line, [head, *(_spec(f"{start}*") for start in (PENDING_REFS, *KEPT))])
        return []
    except StoreError:
        _fetch(line, [head])
    return _sparing(line, {ref: oid for ref, oid in refs.items() if ref.startswith((PENDING_REFS, *KEPT))}, 0)


def _fetch(line: Line, specs: Sequence[str]) -> None:
    """Fetch these, all or none; they go in by a pipe, so that any number of them fits."""
    data = "".join(f"{spec}\n" for spec in specs).encode("utf-8", "surrogateescape")
    line.talk("fetch", *_OPTIONS, *other_end(line, "upload"), "--stdin", "--", line.remote.address, data=data)


def _spec(ref: str) -> str:
    there = ref.removeprefix("refs/heads/").removeprefix("refs/lessonbook/")
    return f"+{ref}:refs/theirs/{there}"


def _sparing(line: Line, refs: Mapping[str, str], skipped: int) -> list[str]:
    """Fetch as many of these as can be, and return the others. git names the object at fault, or halving finds it."""
    if not refs:
        return []
    try:
        _fetch(line, [_spec(ref) for ref in refs])
        return []
    except StoreError as error:
        listed(line)  # raises where it is the remote that cannot be reached any more
        names, said = list(refs), str(error)
        bad = [ref for ref, oid in refs.items() if oid in said] or (names if len(names) == 1 else [])
        if skipped + len(bad) > SKIPPED_MOST:
            raise
    if bad:
        return bad + _sparing(line, {ref: oid for ref, oid in refs.items() if ref not in bad}, skipped + len(bad))
    half = len(names) // 2
    first = _sparing(line, {ref: refs[ref] for ref in names[:half]}, skipped)
    return first + _sparing(line, {ref: refs[ref] for ref in names[half:]}, skipped + len(first))
