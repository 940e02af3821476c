"""Keeps one vector for each lesson beside the rows, and finds the nearest ones by looking at every one.

Vectors lie in blocks of 64 in the bank's own file, lesson ``n`` in slot ``n % 64`` of block ``n // 64``, as 16-bit
floats of length 1; an empty slot is all zeros. They change in the same transaction as their row, so no crash can part
the two, and a reader loads only the blocks whose revision it has not seen, into one contiguous array.

Who writes without an embedder, or before it is loaded, which takes longer than the write, lists the lesson in
``unembedded``; the next recall with one catches up.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lessonbook.memory.vectors.embedder import Embedder

SLOTS = 64
"""Lessons in one block: a write changes one page of the file, and 100,000 lessons are 1,563 rows to load."""
_BYTES = 2
_WORTH_LOADING = 64
"""Telling as many takes longer than loading the embedder."""
_MODEL = "vectors"


class Vectors:
    """The vectors of one open file; ``embedder`` is ``None`` where the extra is not installed: none are made then."""

    def __init__(self, embedder: Embedder | None) -> None:
        self.embedder = embedder
        self._of: sqlite3.Connection | None = None
        self._revision = 0
        self._array: NDArray[np.float32] | None = None

    def get_ready(self, lessons: int) -> None:
        """Load the embedder where as many ``lessons`` are about to be told that loading it pays."""
        if self.embedder is not None and lessons >= _WORTH_LOADING:
            self.embedder.embed(["ready"])

    def keep(self, db: sqlite3.Connection, number: int, text: str) -> None:
        """Keep the vector of a lesson's text, inside the transaction that changed the text."""
        if self.embedder is None or not self.embedder.is_loaded:
            self.clear(db, number)
            db.execute("INSERT OR IGNORE INTO unembedded (lesson) VALUES (?)", (number,))
            return
        if not self.is_ours(db):
            self._begin_anew(db)
        self._write(db, number, self._packed([text])[0])
        db.execute("DELETE FROM unembedded WHERE lesson = ?", (number,))

    def clear(self, db: sqlite3.Connection, number: int) -> None:
        """Remove the vector of a lesson that is forgotten, or whose text changed where nobody can embed it."""
        size = db.execute("SELECT length(vectors) FROM vector_blocks WHERE block = ?", (number // SLOTS,)).fetchone()
        db.execute("DELETE FROM unembedded WHERE lesson = ?", (number,))
        if size is not None:
            self._write(db, number, bytes(size[0] // SLOTS))

    def catch_up(self, db: sqlite3.Connection, most: int) -> int:
        """Embed up to ``most`` lessons that were written without an embedder, or with another; return how many."""
        if self.embedder is None:
            return 0
        if not self.is_ours(db):
            self._begin_anew(db)
        waiting = db.execute(
            "SELECT u.lesson, l.text FROM unembedded u JOIN lessons l ON l.id = u.lesson"
            " WHERE l.forgotten IS NULL ORDER BY u.lesson DESC LIMIT ?",
            (most,),
        ).fetchall()
        for (number, _), packed in zip(waiting, self._packed([text for _, text in waiting]), strict=True):
            self._write(db, number, packed)
        db.executemany("DELETE FROM unembedded WHERE lesson = ?", [(number,) for number, _ in waiting])
        return len(waiting)

    def is_waiting(self, db: sqlite3.Connection) -> bool:
        """Whether there is anything for ``catch_up`` to do."""
        if self.embedder is None:
            return False
        return not self.is_ours(db) or db.execute("SELECT 1 FROM unembedded LIMIT 1").fetchone() is not None

    def likeness(self, db: sqlite3.Connection, words: Sequence[tuple[str, float]]) -> NDArray[np.float32] | None:
        """Return the cosine of every lesson with a question's words, lesson ``n`` at index ``n``; 0 without a vector.

        ``None`` where nothing can be compared: no embedder, another one's vectors, or words without a vector.
        """
        if self.embedder is None or not self.is_ours(db):
            return None
        import numpy as np

        array = self._loaded(db)
        vector = self.embedder.embed_words(words)
        # Not ``array @ vector``: it is slower (memory is the limit), and where other programs keep the cores busy, its
        # threads wait for one another for 8 ms, twenty times as long as the sums take for 10,000 lessons.
        return np.vecdot(array, vector) if len(array) and vector.any() else None

    def nearest(
        self,
        db: sqlite3.Connection,
        likeness: NDArray[np.float32],
        wanted: int,
        banks: Sequence[str] | None,
        least: float,
    ) -> list[int]:
        """Return up to ``wanted`` lessons whose likeness is above ``least``, likest first; of ``banks`` where given."""
        if banks is not None:
            marks = ", ".join("?" * len(banks))
            rows = db.execute(f"SELECT id FROM lessons WHERE bank IN ({marks})", tuple(banks))
            return likest(likeness, [row[0] for row in rows], wanted, least)
        return likest(likeness, None, wanted, least)

    def _loaded(self, db: sqlite3.Connection) -> NDArray[np.float32]:
        import numpy as np

        assert self.embedder is not None
        if self._of is not db:
            self._of, self._array, self._revision = db, None, 0
        array = self._array
        if array is None:
            array = np.zeros((0, self.embedder.dimensions), np.float32)
        last, newest = db.execute(
            "SELECT (SELECT max(block) FROM vector_blocks), (SELECT max(revision) FROM vector_blocks)"
        ).fetchone()
        if newest == self._revision and last is not None and (last + 1) * SLOTS <= len(array):
            return array
        if last is not None and (last + 1) * SLOTS > len(array):
            grown = np.zeros(((last + 1 + (last // 4 if len(array) else 0)) * SLOTS, array.shape[1]), np.float32)
            grown[: len(array)] = array
            array = grown
        changed = "SELECT block, revision, vectors FROM vector_blocks WHERE revision > ?"
        rows = db.execute(changed, (self._revision,)).fetchall()
        if rows:
            blocks, revisions, packed = zip(*rows, strict=True)
            slots = np.frombuffer(b"".join(packed), np.float16)
            array.reshape(-1, SLOTS, array.shape[1])[list(blocks)] = slots.reshape(len(rows), SLOTS, -1)
            self._revision = max(revisions)
        self._array = array
        return array

    def _packed(self, texts: Sequence[str]) -> list[bytes]:
        import numpy as np

        assert self.embedder is not None
        return [row.tobytes() for row in self.embedder.embed(texts).astype(np.float16)] if texts else []

    def _write(self, db: sqlite3.Connection, number: int, packed: bytes) -> None:
        block, slot = divmod(number, SLOTS)
        newest = db.execute("SELECT coalesce(max(revision), 0) + 1 FROM vector_blocks").fetchone()[0]
        db.execute(
            "INSERT INTO vector_blocks (block, revision, vectors) VALUES (?, ?, zeroblob(?))"
            " ON CONFLICT (block) DO UPDATE SET revision = excluded.revision",
            (block, newest, SLOTS * len(packed)),
        )
        with db.blobopen("vector_blocks", "vectors", block) as blob:
            blob.seek(slot * len(packed))
            blob.write(packed)

    def is_ours(self, db: sqlite3.Connection) -> bool:
        """Whether the vectors that are kept are this embedder's."""
        assert self.embedder is not None
        found = db.execute("SELECT value FROM about WHERE name = ?", (_MODEL,)).fetchone()
        return found is not None and found[0] == self.embedder.id

    def _begin_anew(self, db: sqlite3.Connection) -> None:
        """Another embedder's vectors cannot be compared with this one's: all lessons are embedded again."""
        assert self.embedder is not None
        db.execute(
            "UPDATE vector_blocks SET vectors = zeroblob(?), revision = 1 + (SELECT max(revision) FROM vector_blocks)",
            (SLOTS * self.embedder.dimensions * _BYTES,),
        )
        db.execute("INSERT OR IGNORE INTO unembedded SELECT id FROM lessons WHERE forgotten IS NULL")
        db.execute("INSERT OR REPLACE INTO about (name, value) VALUES (?, ?)", (_MODEL, self.embedder.id))


def likest(likeness: NDArray[np.float32], numbers: Sequence[int] | None, wanted: int, least: float = -2.0) -> list[int]:
    """Return up to ``wanted`` of the lessons ``numbers``, or of all, whose likeness is above ``least``, likest first.

    One that has no vector yet is as unlike as one that shares nothing.
    """
    import numpy as np

    mine = None if numbers is None else np.fromiter(numbers, np.int64, len(numbers))
    if mine is not None:
        likeness = np.where(mine < len(likeness), likeness[np.minimum(mine, len(likeness) - 1)], np.float32(0))
    # A whole partition, then what is not below its border: a quarter of the time that ``argpartition`` takes.
    border = np.partition(likeness, -wanted)[-wanted] if len(likeness) > wanted else least
    places = np.flatnonzero((likeness > least) & (likeness >= border))
    places = places[np.argsort(-likeness[places], kind="stable")][:wanted]
    return [int(place) for place in (places if mine is None else mine[places])]
