"""Who last wrote each paragraph of ``AGENTS.md``, and when: the proposer's, or a person's (contract §2.4, §3).

The history of the file is walked from the newest version down, each version compared with the one before it, until
every line has found the commit that wrote it. At most three git processes do it for up to 500 versions, and one
more for each further 500. At most ``VERSIONS`` versions are looked at. A line older than that, or from
before the start of a shallow clone, counts as a person's: what is not known is never taken for the proposer's.
What taking an acceptance back (``undoing``) brings back has the hands it had before.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lessonbook.book.candidates import COMPACTION, is_proposers, message_of
from lessonbook.book.content import AGENTS
from lessonbook.book.history import taken_back
from lessonbook.book.repository import Book
from lessonbook.core.compaction import Written
from lessonbook.core.compaction_reply import line_key
from lessonbook.core.linediff import diff
from lessonbook.core.paragraphs import is_blank, lines_of, split
from lessonbook.system import git
from lessonbook.system.gitbatch import Found, read_objects

VERSIONS = 2000
"""How many versions of ``AGENTS.md`` are looked at, newest first."""
TIMES = "Lesson-times"
"""The trailer of a compaction that says how old its lines are: one JSON object, ``line_key`` → epoch seconds."""

_ROUND = 500
_COMMITTED = re.compile(rb"^committer [^\n]*> (\d{1,12}) ", re.MULTILINE)


class Hand(NamedTuple):
    """Who last wrote one line: whether a commit of the proposer's did, and when (epoch seconds)."""

    proposed: bool
    at: int


@dataclass(frozen=True, slots=True)
class _Version:
    """One commit that changed the file, what it says of itself, and the lines it left."""

    commit: str
    parents: tuple[str, ...]
    lines: tuple[str, ...] | None
    hand: Hand
    times: Mapping[str, int]
    compacts: bool
    root: bool
    """Whether the commit itself names no parent, so that history truly starts here."""
    restores: str | None
    """For one that takes an acceptance back, the version before that: what it brings back was there."""

    def wrote(self, line: str) -> Hand:
        """The hand of a line this commit wrote."""
        key = line_key(line)
        at = self.times.get(key, self.hand.at)
        # A compaction lists every line it wrote; what it does not list came from a person's candidate folded in.
        return Hand(self.hand.proposed and (not self.times or key in self.times), min(at, self.hand.at))


@dataclass(slots=True)
class _Walk:
    """The lines that have not found their commit yet, per version, and what the others found."""

    open: dict[str, dict[int, set[int]]]
    """Commit → place in its version → places in the text that was asked about."""
    found: dict[int, list[Hand]] = field(default_factory=lambda: defaultdict(list))

    def settle(self, places: Iterable[int], hand: Hand) -> None:
        for place in places:
            self.found[place].append(hand)


def hands(book: Book, commit: str, text: str) -> list[Hand]:
    """Return the hand of each line of ``text``; a blank one is nobody's.

    ``text`` is ``AGENTS.md`` of ``commit`` decoded with ``surrogateescape``, with or without its byte order mark.
    Raises ``StoreError`` where git cannot read the history.
    """
    rows = _history(book, commit)
    lines = lines_of(text)
    if not rows:
        return [Hand(False, 0)] * len(lines)
    walk = _Walk({rows[0][0]: {place: {place} for place, line in enumerate(lines) if not is_blank(line)}})
    known = dict(rows)
    for start in range(0, len(rows), _ROUND):
        if not walk.open:
            break
        for version, above in _versions(book, rows[start : start + _ROUND], known):
            _step(book, walk, version, above, known)
    for waiting in walk.open.values():
        walk.settle((place for places in waiting.values() for place in places), Hand(False, 0))
    return [_together(walk.found[place]) for place in range(len(lines))]


def written(text: str, hands: Sequence[Hand]) -> tuple[Written, ...]:
    """Return the paragraphs of ``text`` with who wrote them; ``hands`` are those of its lines.

    A paragraph is the proposer's when each of its lines is; blank lines (inside a fence) count for nothing.
    """
    found = []
    for paragraph in split(text):
        lines = enumerate(lines_of(paragraph.text), paragraph.line)
        own = [hands[place] for place, line in lines if not is_blank(line)] or [Hand(False, 0)]
        found.append(Written(paragraph, all(hand.proposed for hand in own), max(hand.at for hand in own)))
    return tuple(found)


def laid_over(old: str, hands: Sequence[Hand], new: str, hand: Hand) -> list[Hand]:
    """Return the hands of ``new``, where what it changes of ``old`` is by ``hand``."""
    carried = _carried(_bare(old), _bare(new))
    return [hands[carried[place][0]] if place in carried else hand for place in range(len(lines_of(new)))]


def _together(found: Sequence[Hand]) -> Hand:
    # Of several places a line may come from, a person's wins: what a person wrote never expires.
    return Hand(bool(found) and all(hand.proposed for hand in found), max((hand.at for hand in found), default=0))


def _history(book: Book, commit: str) -> list[tuple[str, tuple[str, ...]]]:
    """The commits that changed the file, newest first, each with those that did before it."""
    options = ("--topo-order", "--parents", f"--max-count={VERSIONS}")
    out = git.run(book.folder, "rev-list", *options, commit, "--", AGENTS.decode())
    rows = (line.split() for line in out.decode().splitlines())
    return [(row[0], tuple(row[1:])) for row in rows]


def _versions(
    book: Book, rows: Sequence[tuple[str, tuple[str, ...]]], known: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[_Version, Mapping[str, tuple[str, ...] | None]]]:
    """Each version of the rows, with the lines of those before it and of the one it restores."""
    commits = dict.fromkeys(commit for commit, _ in rows)
    texts = dict.fromkeys(commit for own, parents in rows for commit in (own, *parents))
    found = read_objects(book.folder, [*commits, *(_blob(commit) for commit in texts)])
    versions = [_version(commit, parents, found, known) for commit, parents in rows]
    old = dict.fromkeys(v.restores for v in versions if v.restores and v.restores not in texts)
    found |= read_objects(book.folder, map(_blob, old))
    for version in versions:
        before = [*version.parents, *([version.restores] if version.restores else [])]
        yield version, {commit: _lines(found.get(_blob(commit))) for commit in before}


def _version(
    commit: str, parents: tuple[str, ...], found: Mapping[str, Found], known: Mapping[str, tuple[str, ...]]
) -> _Version:
    data = found[commit].data if commit in found else b""
    message = message_of(data)
    when = _COMMITTED.search(data.partition(b"\n\n")[0])
    subject = message.subject
    compacts = subject.startswith(COMPACTION)
    return _Version(
        commit=commit,
        parents=parents,
        lines=_lines(found.get(_blob(commit))),
        hand=Hand(is_proposers(message), int(when[1]) if when else 0),
        times=_times(dict(message.trailers).get(TIMES, "")) if compacts else {},
        compacts=compacts,
        root=b"\nparent " not in data.partition(b"\n\n")[0],
        restores=next(iter(known.get(taken_back(data) or "", ())), None),
    )


def _step(
    book: Book,
    walk: _Walk,
    version: _Version,
    above: Mapping[str, tuple[str, ...] | None],
    known: Mapping[str, tuple[str, ...]],
) -> None:
    """Let the open lines of one version pass to those before it, and settle those that it wrote."""
    waiting = walk.open.pop(version.commit, {})
    if not waiting:
        return
    for parent, before in above.items():
        if version.lines is None or before is None:
            continue
        if parent in known:
            _pass(walk.open.setdefault(parent, {}), waiting, version, before)
        else:
            passed: dict[int, set[int]] = {}
            _pass(passed, waiting, version, before)
            walk.settle((place for places in passed.values() for place in places), Hand(False, 0))
    lost = version.lines is None or (not version.parents and not version.root and _is_shallow(book))
    for place, places in waiting.items():
        walk.settle(places, Hand(False, 0) if lost else version.wrote((version.lines or ())[place]))
    for commit in [commit for commit, lines in walk.open.items() if not lines]:
        del walk.open[commit]


def _pass(into: dict[int, set[int]], waiting: dict[int, set[int]], version: _Version, before: tuple[str, ...]) -> None:
    after = version.lines or ()
    carried = _copied(before, after) if version.compacts else _carried(before, after)
    for place in [place for place in waiting if place in carried]:
        places = waiting.pop(place)
        for old in carried[place]:
            into.setdefault(old, set()).update(places)


def _carried(before: Sequence[str], after: Sequence[str]) -> dict[int, tuple[int, ...]]:
    """Which line of ``before`` each unchanged line of ``after`` is."""
    carried: dict[int, tuple[int, ...]] = {}
    old, new = 0, 0
    for hunk in diff(before, after):
        carried |= {new + step: (old + step,) for step in range(hunk.start - old)}
        new += hunk.start - old + len(hunk.lines)
        old = hunk.end
    return carried | {new + step: (old + step,) for step in range(len(before) - old)}


def _copied(before: Sequence[str], after: Sequence[str]) -> dict[int, tuple[int, ...]]:
    """Where each line of a compaction may come from: it writes no line that was there, so every equal one counts."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, line in enumerate(before):
        places[line].append(place)
    return {place: tuple(places[line]) for place, line in enumerate(after) if line in places}


def _times(text: str) -> dict[str, int]:
    try:
        table = json.loads(text) if text else {}
    except (ValueError, RecursionError):  # damaged: the commit's own time counts then
        return {}
    items = table.items() if isinstance(table, dict) else ()
    return {key: int(value) for key, value in items if isinstance(value, (int, float)) and 0 <= value < 1e12}


def _is_shallow(book: Book) -> bool:
    return git.run(book.folder, "rev-parse", "--is-shallow-repository").strip() == b"true"


def _blob(commit: str) -> str:
    return f"{commit}:{AGENTS.decode()}"


def _lines(found: Found | None) -> tuple[str, ...] | None:
    if found is None or found.kind != "blob":
        return None
    return tuple(_bare(found.data.decode("utf-8", "surrogateescape")))


def _bare(text: str) -> list[str]:
    """The lines without their ends and without a byte order mark: neither is anybody's words."""
    return [line.rstrip("\r\n") for line in lines_of(text.removeprefix("\ufeff"))]
