"""One connection to the team's schema, opened at its first use and again after it broke; for one thread at a time."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from lessonbook.core.errors import SetupError, StoreError
from lessonbook.core.redact import redact
from lessonbook.memory.postgres import schema
from lessonbook.system import sockets

CONNECT_SECONDS = 3
STATEMENT_SECONDS = 10
ANSWER_SECONDS = 12.0
"""How long all that one call asks the server may take."""
_NEEDS = "The postgres memory needs the extra `postgres`: install `lessonbook[postgres]`, as you installed lessonbook."
_PASSWORD = re.compile(r"://[^/@\s]*:[^/@\s]*@|(?<![a-z_])(?:ssl)?password\s*=", re.IGNORECASE)
_ADDRESS = re.compile(r"postgres(?:ql)?://\S*|\s*[a-z_]+\s*=.*", re.IGNORECASE | re.DOTALL)
_TEAM = re.compile(r"[a-z][a-z0-9_]{0,40}")


def check_address(address: str) -> None:
    """Raise ``SetupError`` for what is no address, and for one with a password, which is none for settings."""
    if not _ADDRESS.fullmatch(address):
        raise SetupError(
            f"postgres.url is an address such as postgresql://ana@db.example.org/lessons, not {address[:60]!r}."
        )
    if _PASSWORD.search(address):
        raise SetupError(
            "postgres.url must not hold a password: PGPASSWORD, PGPASSFILE or ~/.pgpass has it, as for psql."
        )


def check_team(team: str) -> None:
    """Raise ``SetupError`` for a name that no team can have: it names a schema."""
    if not _TEAM.fullmatch(team):
        raise SetupError(
            f"postgres.team is a name of lower-case letters, digits and _, up to 41 characters, not {team[:60]!r}."
        )


class Connection:
    """The schema of ``team`` on the server at ``address`` (a connection string of libpq's, without a password)."""

    def __init__(self, address: str, team: str) -> None:
        check_address(address)
        check_team(team)
        self.address, self.team = address, team
        self.schema = f"lessonbook_{team}"
        self.patience = ANSWER_SECONDS
        self._hurry = threading.local()
        self._db: Any = None
        self._lock = threading.RLock()

    @contextmanager
    def used(self, seconds: float | None = None) -> Iterator[Any]:
        """Give the connection inside a transaction: committed at the end, undone when anything is raised.

        A server that has not answered after ``seconds`` altogether is hung up on, ``patience`` by default. Raises
        ``SetupError`` where the extra is missing, ``StoreError`` where the server cannot be used; whether what was
        written last is there is open only where it broke off at the very end, and then it is said.
        """
        psycopg = _psycopg()
        with self._lock:
            seconds = seconds or getattr(self._hurry, "seconds", None) or self.patience
            patience = _Patience(seconds)
            try:
                db = self._opened(psycopg, seconds)
                with patience.on(db), db.transaction():
                    yield db
            except psycopg.Error as error:
                self._drop()
                said = f"it did not answer within {seconds:g} seconds." if patience.is_over else _said(error)
                raise StoreError(f"The PostgreSQL server cannot be used: {said}") from error

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Let every use in this thread take so long at most: for who would rather have no answer than a late one."""
        self._hurry.seconds = seconds
        try:
            yield
        finally:
            self._hurry.seconds = None

    def lock(self, db: Any, bank: str) -> None:
        """Let nobody else write a bank of the team until the transaction ends."""
        db.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"{self.schema} {bank}",))

    def close(self) -> None:
        """Close the connection; the next use opens it again."""
        with self._lock:
            self._drop()

    def _opened(self, psycopg: Any, seconds: float) -> Any:
        if self._db is None or self._db.closed or self._db.broken:
            options = f"-c statement_timeout={STATEMENT_SECONDS}s -c lock_timeout={STATEMENT_SECONDS}s"
            # The path and the team hold for the whole session: no statement can come before them.
            options += f" -c search_path={self.schema},public -c lessonbook.team={self.team}"
            told = {"autocommit": True, "application_name": "lessonbook", "prepare_threshold": None}
            told |= {"connect_timeout": max(2, min(CONNECT_SECONDS, int(seconds))), "options": options}
            db = _connected(psycopg, lambda: psycopg.connect(self.address, **told), seconds)
            try:
                with _Patience(2 * ANSWER_SECONDS).on(db):
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


def _connected(psycopg: Any, connect: Callable[[], Any], seconds: float) -> Any:
    """Return a new connection. libpq waits for two seconds at least: where that is too long, a thread waits for it."""
    if seconds >= 2:
        return connect()
    made, is_late = list[Any](), threading.Event()

    def work() -> None:
        try:
            made.append(connect())
        except psycopg.Error as error:
            made.append(error)
        if is_late.is_set() and not isinstance(made[0], psycopg.Error):
            made[0].close()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    if not made:
        is_late.set()
        raise psycopg.OperationalError(f"it did not answer within {seconds:g} seconds")
    if isinstance(made[0], psycopg.Error):
        raise made[0]
    return made[0]


class _Patience:
    """Hangs up after some seconds: a server that is stopped answers nothing, and no limit of its own holds then."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.is_over = False

    @contextmanager
    def on(self, db: Any) -> Iterator[None]:
        """Hang up on the server of ``db`` when this takes longer."""
        timer = threading.Timer(self._seconds, self._hang_up, [db])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _hang_up(self, db: Any) -> None:
        self.is_over = True
        with suppress(Exception):  # it may be closed already
            sockets.hang_up(db.fileno())


def _psycopg() -> Any:
    try:
        import psycopg
    except ImportError as error:
        raise SetupError(_NEEDS) from error
    return psycopg


def _said(error: Exception) -> str:
    text = redact(" ".join(str(error).split())).text[:300] or type(error).__name__
    return text if text.endswith((".", "?")) else f"{text}."
