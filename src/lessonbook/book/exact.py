"""Ties a decision to the commit that was shown: what stands there now is that commit, or that very patch moved.

Whenever a candidate is accepted the others are moved onto the new HEAD, so a commit changes while what it proposes does
not. Who decided on the old commit decided on the new one too where that is just what moving the old one makes: the same
author and message, and files that picking the shown change onto the new place comes to, with nothing left out, and that
come to the same on HEAD. Anything else is another candidate, however alike it looks. All of it is worked out from the
two commits, so no record of moves has to be kept or trusted.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lessonbook.book.candidates import Waiting, read_waiting
from lessonbook.book.moving import target_of
from lessonbook.book.picking import Pick
from lessonbook.book.repository import Book, PendingRef
from lessonbook.core.errors import InputError
from lessonbook.core.linediff import diff
from lessonbook.core.paragraphs import lines_of
from lessonbook.core.screen import quoted
from lessonbook.system import git
from lessonbook.system.gitbatch import Change

NO_COMMIT = "{text} is not a commit: say 7 hex digits or more of the one that `diff` shows"
SEVERAL = "{text} may be each of several commits; say more of the one that `diff` shows"
CHANGED_SINCE = (
    "{id} has changed since it was shown: it is commit {commit} now, and nothing was done with it; "
    "look at it again with `/learned diff {id}`"
)

_COMMIT = re.compile(r"[0-9a-f]{7,64}\Z", re.ASCII)
_AT_ONCE = 1000

Shown = tuple[dict[str, Waiting], dict[str, str]]


def parted(text: str) -> tuple[str, str | None]:
    """Return the id and the commit that ``ID@COMMIT`` names; a plain ``ID`` names no commit.

    Raises ``InputError`` where what follows the ``@`` can be no commit.
    """
    id, at, commit = text.partition("@")
    if at and not _COMMIT.match(commit.lower()):
        raise InputError(NO_COMMIT.format(text=quoted(commit)))
    return id, commit if at else None


def named(texts: Iterable[str]) -> tuple[list[str], dict[str, str]]:
    """Return the ids that these ``ID@COMMIT`` or ``ID`` name, each once and in order, and the commits by id.

    Raises ``InputError`` where one id is given two commits, and as ``parted`` does.
    """
    commits: dict[str, str] = {}
    ids: dict[str, None] = {}
    for id, commit in map(parted, texts):
        ids[id] = None
        if commit is not None and commits.setdefault(id, commit) != commit:
            raise InputError(f"{quoted(id)} is given two commits; say the one that you saw")
    return list(ids), commits


def check(book: Book, w: Waiting, commit: str | None) -> None:
    """Raise ``InputError`` where the candidate is not what ``commit`` showed. With ``None`` anything goes."""
    refused = shown(book, {w.id: w}, {w.id: commit} if commit is not None else {})[1]
    if refused:
        raise InputError(refused[w.id])


def shown(book: Book, waiting: Mapping[str, Waiting], commits: Mapping[str, str]) -> Shown:
    """Return, by id, the candidates as ``commits`` showed them, and why those that have changed since are refused.

    ``waiting`` is what stands on the branches, by id; call it with the book's lock held, and move the branches from
    these very commits. The number of processes does not depend on how many there are, where all lie on one commit.
    """
    said, refused = _said(commits)
    known = _objects(book, [text for id, text in said.items() if len(text) != len(waiting[id].commit)])
    found, before = dict[str, Waiting](), dict[str, str]()
    for id, text in said.items():
        w = waiting[id]
        hits = [text] if len(text) == len(w.commit) else _starting(known, text)
        if len(hits) > 1:
            refused[id] = SEVERAL.format(text=text)
        elif hits in ([], [w.commit]) and w.commit.startswith(text):
            found[id] = w
        else:
            before.update((id, oid) for oid in hits)
    found |= _moved(book, waiting, before)
    refused |= {
        id: CHANGED_SINCE.format(id=id, commit=waiting[id].commit) for id in said if id not in {*found, *refused}
    }
    return found, refused


def _said(commits: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """What is given as commits, in lower case, and what is wrong with the rest."""
    said, refused = dict[str, str](), dict[str, str]()
    for id, text in commits.items():
        if isinstance(text, str) and _COMMIT.match(text.lower()):
            said[id] = text.lower()
        else:
            refused[id] = NO_COMMIT.format(text=quoted(text))
    return said, refused


def _objects(book: Book, texts: Iterable[str]) -> list[str]:
    """Every object whose id starts with one of these, sorted. A branch of such a name is never taken for one."""
    asked = [f"--disambiguate={text}" for text in dict.fromkeys(texts)]
    found = set[str]()
    for at in range(0, len(asked), _AT_ONCE):
        found.update(git.run(book.folder, "rev-parse", *asked[at : at + _AT_ONCE]).decode().split())
    return sorted(found)


def _starting(known: Sequence[str], text: str) -> list[str]:
    """The first two of the sorted ids that start with ``text``."""
    at = bisect_left(known, text)
    return [oid for oid in known[at : at + 2] if oid.startswith(text)]


def _moved(book: Book, waiting: Mapping[str, Waiting], before: Mapping[str, str]) -> dict[str, Waiting]:
    """Those candidates, as they were at the commits ``before``, which moving just those made what stands there now."""
    read = read_waiting(book, [PendingRef(id, oid, None) for id, oid in before.items()])
    by_base: dict[str, list[Waiting]] = {}
    for then in read:
        now = waiting[then.id]
        if _alike(then, now) and now.base:
            by_base.setdefault(now.base, []).append(then)
    found = {}
    for base, some in by_base.items():
        target = target_of(book, base, some, ())
        for then in some:
            pick = target.pick(then.changes)
            if pick is not None and _is_all(then, waiting[then.id], pick, target.blobs):
                found[then.id] = then
    return _alike_on_head(book, waiting, found)


def _alike_on_head(book: Book, waiting: Mapping[str, Waiting], found: Mapping[str, Waiting]) -> dict[str, Waiting]:
    """Those that come to the same on HEAD as what stands there now.

    What was moved onto HEAD does. Somebody may have moved it onto an older commit, from where its lines would come to
    stand under another heading.
    """
    away = {id for id in found if waiting[id].base != book.head}
    if not away or book.head is None:
        return dict(found)
    target = target_of(book, book.head, [w for id in away for w in (found[id], waiting[id])], ())
    picks = {id: [target.pick(w.changes) for w in (found[id], waiting[id])] for id in away}
    elsewhere = {id for id, (then, now) in picks.items() if not (then and now and then.entries == now.entries)}
    return {id: w for id, w in found.items() if id not in elsewhere}


def _alike(then: Waiting, now: Waiting) -> bool:
    """Whether both are one commit with the same author and message that changes the same files.

    Of what was several commits, or no longer lies on HEAD's history, nobody can say what the person was shown.
    """
    single = all(w.direct and not w.problem and w.base != w.commit for w in (then, now))
    paths = [{change.path for change in w.changes} for w in (then, now)]
    return single and then.proposal == now.proposal and paths[0] == paths[1]


def _is_all(then: Waiting, now: Waiting, pick: Pick, blobs: Mapping[str, bytes]) -> bool:
    """Whether ``pick``, of what was shown, is what stands there now, and no line of it was left out on the way."""
    if set(pick.entries) != set(now.changes):
        return False
    made = {c.new.oid: w.data for c, w in zip(pick.entries, pick.writes, strict=True) if c.new and w.data is not None}
    was = {change.path: change for change in then.changes}
    return all(_same_lines(was[change.path], change, {**blobs, **made}) for change in pick.entries)


def _same_lines(then: Change, now: Change, blobs: Mapping[str, bytes]) -> bool:
    return (then.old, then.new) == (now.old, now.new) or _lines(then, blobs) == _lines(now, blobs)


def _lines(change: Change, blobs: Mapping[str, bytes]) -> tuple[Counter[str], Counter[str]]:
    """The lines it takes away and those it brings, blank ones apart: a merge sets paragraphs apart as it must."""
    sides = []
    for entry in (change.old, change.new):
        data = blobs.get(entry.oid, b"\0") if entry else b""
        if b"\0" in data:
            return Counter([repr(change)]), Counter()  # unlike any other
        text = data.decode("utf-8", "surrogateescape")
        sides.append([line.removesuffix("\n").removesuffix("\r") for line in lines_of(text)])
    hunks = diff(*sides)
    gone = Counter(line for hunk in hunks for line in sides[0][hunk.start : hunk.end] if line.strip())
    return gone, Counter(line for hunk in hunks for line in hunk.lines if line.strip())
