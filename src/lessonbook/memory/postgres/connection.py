"""One connection to the team's schema, opened at its first use and again after it broke; for one thread at a time."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from lessonbook.core.errors import SetupError, StoreError
from lessonbook.core.redact import redact
from lessonbook.memory.postgres import schema

CONNECT_SECONDS = 3
STATEMENT_SECONDS = 10
_NEEDS = "The postgres memory needs the extra `postgres`: install `lessonbook[postgres]`, as you installed lessonbook."
_PASSWORD = re.compile(r"://[^/@\s]*:[^/@\s]*@|\bpassword\s*=|[?&]password=", re.IGNORECASE)


def check_address(address: str) -> None:
    """Raise ``SetupError`` for an address with a password in it: what is configured is no place for secrets."""
    if _PASSWORD.search(address):
        raise SetupError(
            "postgres.url must not hold a password: PGPASSWORD, PGPASSFILE or ~/.pgpass has it, as for psql."
        )


class Connection:
    """The schema of ``team`` on the server at ``address`` (a connection string of libpq's, without a password)."""

    def __init__(self, address: str, team: str) -> None:
        check_address(address)
        if not re.fullmatch(r"[a-z][a-z0-9_]{0,40}", team):
            raise SetupError(
                f"postgres.team is a name of lower-case letters, digits and _, up to 41 characters, not {team[:60]!r}."
            )
        self._address, self._team = address, team
        self.schema = f"lessonbook_{team}"
        self._db: Any = None
        self._lock = threading.RLock()

    @contextmanager
    def used(self) -> Iterator[Any]:
        """Give the connection inside a transaction: committed at the end, undone when anything is raised.

        Raises ``SetupError`` where the extra is missing, ``StoreError`` where the server cannot be used; whether what
        was written last is there is open only where it broke off at the very end, and then it is said.
        """
        psycopg = _psycopg()
        with self._lock:
            try:
                db = self._opened(psycopg)
                with db.transaction():
                    yield db
            except psycopg.Error as error:
                self._drop()
                raise StoreError(f"The PostgreSQL server cannot be used: {_said(error)}") from error

    def close(self) -> None:
        """Close the connection; the next use opens it again."""
        with self._lock:
            self._drop()

    def _opened(self, psycopg: Any) -> Any:
        if self._db is None or self._db.closed or self._db.broken:
            options = f"-c statement_timeout={STATEMENT_SECONDS}s -c lock_timeout={STATEMENT_SECONDS}s"
            # The path and the team hold for the whole session: no statement can come before them.
            options += f" -c search_path={self.schema},public -c lessonbook.team={self._team}"
            db = psycopg.connect(
                self._address,
                autocommit=True,
                connect_timeout=CONNECT_SECONDS,
                application_name="lessonbook",
                options=options,
                prepare_threshold=None,
            )
            try:
                schema.bring_up_to_date(db, self.schema)
            except BaseException:  # also an interrupt: what was half done is undone with the connection
                db.close()
                raise
            self._db = db
        return self._db

    def _drop(self) -> None:
        db, self._db = self._db, None
        if db is not None:
            with suppress(Exception):  # it may be broken already
                db.close()


def _psycopg() -> Any:
    try:
        import psycopg
    except ImportError as error:
        raise SetupError(_NEEDS) from error
    return psycopg


def _said(error: Exception) -> str:
    text = redact(" ".join(str(error).split())).text[:300] or type(error).__name__
    return text if text.endswith(".") else f"{text}."
