"""Finds, among all lessons, the few whose score is worth working out: by their words, in bounded time.

FTS5 takes about a microsecond to score a row, and before the first, one for every row that has a word of the question,
so what common words match in a bank of 100,000 is too much for a person who waits. Where a question matches few rows,
all are scored. Where it matches many, lessons that have more of its words are looked at first: "all of the words", then
"all but one", until there are enough; of these, where there are vectors, those that are likest the question are taken.
A word that more than half of the lessons have says nothing (BM25 counts it as nothing too) and is left out while a
rarer one is there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence

from lessonbook.core.words import Term
from lessonbook.memory.mnemopi import index

AFFORDABLE = 200
"""Rows scored without a second thought: a quarter of a millisecond."""
TOO_MANY = 5_000
"""Rows past which words are too common to make one lesson better than another: the newest are taken."""
_COMMON = 50
Likest = Callable[[Sequence[int], int], list[int]]
"""Returns, of the lessons it is given, as many as are wanted: those whose vectors are likest the question's."""
_JOINED = 5
"""How many of a long question's rarest words are combined; all subsets of more would be too many."""


class Statistics:
    """How many lessons there are and how many have a word, remembered until the bank has grown by a twentieth."""

    def __init__(self) -> None:
        self._of: sqlite3.Connection | None = None
        self.lessons = 0
        self._having: dict[str, int] = {}
        self._own: dict[tuple[str, ...], int] = {}

    def refresh(self, db: sqlite3.Connection) -> None:
        """Look at the bank's size; call it before the others, inside the same transaction."""
        last = db.execute("SELECT coalesce(max(id), 0) FROM lessons").fetchone()[0]
        if self._of is not db or abs(last - self.lessons) > 0.05 * self.lessons:
            self._of, self.lessons, self._having, self._own = db, last, {}, {}

    def having(self, db: sqlite3.Connection, stems: Sequence[str]) -> Mapping[str, int]:
        """Return in how many lessons each stem stands."""
        return {stem: self._having.get(stem) or self._look_up(db, stem) for stem in stems}

    def _look_up(self, db: sqlite3.Connection, stem: str) -> int:
        found = db.execute("SELECT doc FROM temp.words_rows WHERE term = ?", (stem,)).fetchone()
        if found is None:
            return 0
        if found[0] >= _COMMON:  # of a rare word, one lesson more makes a difference, and it is looked up fast
            self._having[stem] = found[0]
        return int(found[0])

    def own(self, db: sqlite3.Connection, banks: Sequence[str]) -> int:
        """Return how many lessons stand in these banks."""
        key = tuple(banks)
        if key not in self._own:
            marks = ", ".join("?" * len(banks))
            count = f"SELECT count(*) FROM lessons WHERE bank IN ({marks})"
            self._own[key] = db.execute(count, key).fetchone()[0]
        return self._own[key]


def by_words(
    db: sqlite3.Connection,
    terms: Sequence[Term],
    having: Mapping[str, int],
    lessons: int,
    wanted: int,
    within: str,
    likest: Likest | None,
) -> list[int]:
    """Return up to ``wanted`` lessons that share words with the question, those with most and rarest words first.

    ``within`` is an FTS5 expression every lesson must match too, empty for none; ``likest`` chooses by vectors.
    """
    there = sorted((having[term.stem], term.stem) for term in terms if having[term.stem])
    rare = [(count, stem) for count, stem in there if 2 * count <= lessons] or there
    found: list[int] = []
    is_many = sum(count for count, _ in rare) > AFFORDABLE
    for expression, rows in _expressions(rare, lessons, wanted):
        match = f"({expression}) AND {within}" if within else expression
        if is_many and rows <= TOO_MANY and likest is not None:
            every = [row[0] for row in db.execute("SELECT rowid FROM words WHERE words MATCH ?", (match,))]
            found = likest(every, wanted)
        else:
            found = _best(db, match, rows, wanted)
        if len(found) >= wanted:
            break
    return found


def _expressions(rare: Sequence[tuple[int, str]], lessons: int, wanted: int) -> Iterator[tuple[str, int]]:
    """Yield expressions from the narrowest worth trying to the widest, each with how many rows it may match."""
    if not rare:
        return
    total = sum(count for count, _ in rare)
    if total > AFFORDABLE:
        joined = rare[:_JOINED]
        shares = [count / max(lessons, 1) for count, _ in joined]
        for least in range(len(joined), 1, -1):
            expected = int(lessons * _at_least(shares, least))
            if expected >= wanted or least == 2:
                yield at_least_of([_quoted(stem) for _, stem in joined], least), expected
    yield " OR ".join(_quoted(stem) for _, stem in rare), total


def at_least_of(words: Sequence[str], least: int) -> str:
    """Return the expression of at least ``least`` of the words, each named as seldom as can be.

    FTS5 reads the whole list of a word once for every time it is named before it ranks anything.
    """
    if least == 1:
        return f"({' OR '.join(words)})"
    if least == len(words):
        return f"({' AND '.join(words)})"
    first, rest = words[0], words[1:]
    return f"(({first} AND {at_least_of(rest, least - 1)}) OR {at_least_of(rest, least)})"


def _at_least(shares: Sequence[float], least: int) -> float:
    """Return the chance that at least ``least`` of the words stand in a lesson, if they stood there independently."""
    chances = [1.0]
    for share in shares:
        chances = [
            (chances[n] if n < len(chances) else 0) * (1 - share) + (chances[n - 1] if n else 0) * share
            for n in range(len(chances) + 1)
        ]
    return sum(chances[least:])


def _best(db: sqlite3.Connection, match: str, rows: int, wanted: int) -> list[int]:
    # In every column: that of the banks has words nobody says, and to leave it out takes FTS5 a tenth longer.
    order = "rowid DESC" if rows > TOO_MANY else "bm25(words, 1.0, 1.0, 0.5, 0.0), rowid DESC"
    query = f"SELECT rowid FROM words WHERE words MATCH ? ORDER BY {order} LIMIT ?"
    return [row[0] for row in db.execute(query, (match, wanted))]


def within_banks(banks: Sequence[str]) -> str:
    """Return the FTS5 expression of all lessons of these banks."""
    return f"bank : ({' OR '.join(_quoted(index.bank_word(bank)) for bank in banks)})"


def _quoted(stem: str) -> str:
    return '"' + stem.replace('"', '""') + '"'
