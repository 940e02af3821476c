"""A team's PostgreSQL as the outbox sees it: lessons that were told while it was away, each put there once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lessonbook.core.errors import LessonbookError, SetupError, StoreError
from lessonbook.core.lesson import Lesson
from lessonbook.memory.outbox.sending import Became, Kind, SendError, Standing
from lessonbook.memory.postgres import changing
from lessonbook.memory.postgres.connection import Connection
from lessonbook.memory.postgres.items import destination, lesson_of
from lessonbook.memory.postgres.rows import same_hash
from lessonbook.memory.postgres.telling import Teller
from lessonbook.memory.postgres.vectors import Vectors

KEPT_SECONDS = 90 * 86_400.0
"""How long is remembered what was delivered: longer than anything waits."""
_DENIED = ("28", "3D", "3F", "42501")
_WRONG = ("22", "23")
_STRANGE = ("42", "0A")
_REFUSALS = ("authentication failed", "no password supplied", "permission denied", "does not exist", "no pg_hba.conf")


class PostgresSender:
    """Meets ``outbox.sending.Sender``. An operation and its lessons are one transaction, so that each is done once."""

    def __init__(self, connection: Connection, vectors: Vectors, now: Callable[[], float]) -> None:
        self.destination = destination(connection)
        self._connection, self._vectors, self._now = connection, vectors, now

    def send(self, bank: str, operation: str, items: Sequence[Mapping[str, Any]], limit: float) -> None:
        """Put lessons into a bank, unless that was done under this operation before. Raises ``SendError``."""
        try:
            told = [(lesson_of(item), float(item["timestamp"])) for item in items]
        except (ValueError, TypeError, KeyError) as error:
            raise SendError(Kind.REFUSED, "lesson", f"it is no lesson: {error}") from error
        try:
            with self._connection.used(limit) as db:
                self._connection.lock(db, bank)
                if self._take(db, operation):
                    for lesson, at in told:
                        self._tell(db, bank, lesson, min(at, self._now()))
        except LessonbookError as error:
            raise send_error(error) from error

    def ask(self, bank: str, operation: str, limit: float) -> Became:
        """Return whether an operation was done. Raises ``SendError``."""
        try:
            with self._connection.used(limit) as db:
                found = db.execute("SELECT 1 FROM taken WHERE operation = %s", (operation,)).fetchone()
        except LessonbookError as error:
            raise send_error(error) from error
        return Became(Standing.DONE if found else Standing.GONE)

    def retry(self, bank: str, operation: str, limit: float) -> None:
        """Do nothing: what was taken is done."""

    def _take(self, db: Any, operation: str) -> bool:
        """Note the operation; whether it is the first time."""
        now = self._now()
        db.execute("DELETE FROM taken WHERE at < %s", (now - KEPT_SECONDS,))
        insert = "INSERT INTO taken (operation, at) VALUES (%s, %s) ON CONFLICT (operation) DO NOTHING RETURNING 1"
        return db.execute(insert, (operation, now)).fetchone() is not None

    def _tell(self, db: Any, bank: str, lesson: Lesson, at: float) -> None:
        """Tell a lesson as of then; what was told under its key since holds in its place."""
        teller = Teller(db, self._vectors, at)
        holder = teller.find(bank, "key", lesson.key)
        later = holder is not None and changing.get(db, holder).seen > at
        if holder is None or not later or teller.find(bank, "same_hash", same_hash(lesson.text)) is not None:
            teller.tell(bank, lesson)
            return
        receipt = teller.tell(bank, lesson.but(key=None))
        given = {"invalid": self._now(), "superseded_by": holder}
        changing.change(db, int(str(receipt.id)), "invalidated", given, self._now())


def send_error(error: LessonbookError) -> SendError:
    """Return what an error of the server's connection means for what was to be sent."""
    said = str(error)
    if isinstance(error, SetupError):
        return SendError(Kind.DENIED, "setup", said)
    cause = error.__cause__
    state = str(getattr(cause, "sqlstate", None) or "")
    if state.startswith(_DENIED) or (not state and any(words in said for words in _REFUSALS)):
        return SendError(Kind.DENIED, state or "denied", said)
    if state.startswith(_WRONG):
        return SendError(Kind.REFUSED, state, said)
    if state.startswith(_STRANGE) or (cause is None and isinstance(error, StoreError)):
        return SendError(Kind.STRANGE, state or "strange", said)
    return SendError(Kind.AWAY, state or "unanswered", said)
