"""The bank of a team on a real PostgreSQL: the contract, many writers, teams kept apart, with pgvector and without."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.servers.conftest import REQUIRED
from tests.servers.running import PASSWORD, PlainPostgres, Postgres

from lessonbook.core.care import Wanted
from lessonbook.core.errors import InputError, SetupError, StoreError
from lessonbook.core.lesson import Lesson, Outcome, Scope
from lessonbook.core.ports import Bank, Memory
from lessonbook.memory.postgres import schema
from lessonbook.memory.postgres.bank import PostgresMemory
from lessonbook.memory.postgres.connection import Connection
from lessonbook.memory.postgres.rows import columns
from lessonbook.memory.vectors.registry import open_embedder
from lessonbook.testing_banks import BankContract

if not REQUIRED:
    pytest.importorskip("psycopg", reason="needs the extra `postgres`")


@pytest.fixture(autouse=True)
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)


@pytest.fixture
def address(postgres: Postgres) -> str:
    return f"postgresql://tests@127.0.0.1:{postgres.port}/tests"


@pytest.fixture
def team() -> str:
    return f"t{uuid.uuid4().hex[:10]}"


@pytest.fixture
def bank(address: str, team: str) -> Iterator[Any]:
    made = PostgresMemory(Connection(address, team), "app-1", lambda: 1_700_000_000.0)
    yield made
    made.close()


class TestWithoutVectors(BankContract):
    """What every backend must do, without an embedder here."""

    @pytest.fixture(autouse=True)
    def _where(self, address: str, team: str) -> None:
        self.address, self.team = address, team

    def open(self, folder: Path, now: Callable[[], float]) -> Memory:
        return PostgresMemory(Connection(self.address, self.team), "app-1", now)


class TestWithVectors(TestWithoutVectors):
    """And with one, on a server that has pgvector."""

    def open(self, folder: Path, now: Callable[[], float]) -> Memory:
        embedder = open_embedder()
        if embedder is None and not REQUIRED:
            pytest.skip("needs the extra `vectors`")
        return PostgresMemory(Connection(self.address, self.team), "app-1", now, embedder=embedder)


class TestPlainServer(BankContract):
    """And on a PostgreSQL of this machine's own, without pgvector, though an embedder is here."""

    @pytest.fixture(autouse=True)
    def _where(self, plain_postgres: PlainPostgres, team: str) -> None:
        self.address = f"postgresql://tests@127.0.0.1:{plain_postgres.port}/postgres"
        self.team = team

    def open(self, folder: Path, now: Callable[[], float]) -> Memory:
        return PostgresMemory(Connection(self.address, self.team), "app-1", now, embedder=open_embedder())


def test_it_is_a_bank_whose_changes_can_be_undone(bank: Any) -> None:
    assert isinstance(bank, Bank)
    one = bank.store(Lesson("The port is 5433.", context="a red build", tags=("db",), title="Port")).id
    two = bank.store(Lesson("Quote every path.")).id
    assert bank.update(one, {"text": "The port is 5434.", "title": None}).lesson.text == "The port is 5434."
    assert bank.recall("5434")[0].id == one and bank.recall("5433") == []
    assert bank.undo(one).lesson.title == "Port" and bank.recall("5433")[0].id == one
    bank.forget(one)
    assert bank.recall("port") == [] and bank.count() == 1 and [k.id for k in bank.lessons(forgotten=True)] == [one]
    with pytest.raises(InputError, match="forgotten already"):
        bank.forget(one)
    bank.undo(one)
    bank.invalidate(one, two)
    assert bank.recall("port")[0].marks == (f"lesson {two} took its place",)
    with pytest.raises(InputError, match="replaces itself"):
        bank.invalidate(two, one)
    assert bank.pin(two).pinned and not bank.pin(two, False).pinned
    assert [change.verb for change in bank.history(one)] == ["invalidated", "forgotten", "updated"]
    with pytest.raises(InputError, match="already has this text"):
        bank.update(one, {"text": "Quote every path."})
    for wrong in ("0", "x", "99999999", "-1"):
        with pytest.raises(InputError, match="no lesson"):
            bank.get(wrong)
    bank.erase(one)
    assert [kept.id for kept in bank.lessons()] == [two] and bank.lessons(5, after=two) == []


def test_a_key_replaces_and_what_was_is_in_the_history(bank: Any) -> None:
    first = bank.store(Lesson("The port is 1.", key="port"))
    second = bank.store(Lesson("The port is 2.", key="port"))
    assert first.id == second.id and "takes the place" in second.notes[0] and bank.count() == 1
    assert bank.undo(first.id).lesson.text == "The port is 1."


def test_projects_see_their_own_and_the_shared_lessons(address: str, team: str) -> None:
    one, two = (PostgresMemory(Connection(address, team), name, lambda: 1.0) for name in ("app-1", "app-2"))
    one.store(Lesson("of one"))
    two.store(Lesson("of two"))
    one.store(Lesson("of all", scope=Scope.GLOBAL))
    assert {found.text for found in one.recent()} == {"of one", "of all"}
    assert {found.text for found in two.recall("of")} == {"of two", "of all"}
    with pytest.raises(InputError):
        two.get(next(found.id for found in one.recent() if found.text == "of one"))
    one.close(), two.close()


def test_many_machines_tell_the_same_and_different_lessons(address: str, team: str) -> None:
    outcomes: list[Outcome] = []

    def work(who: int) -> None:
        memory = PostgresMemory(Connection(address, team), "app-1", lambda: 1.0)
        for number in range(15):
            outcomes.append(memory.store(Lesson(f"shared {number}")).outcome)
            outcomes.append(memory.store(Lesson(f"own {who} {number}")).outcome)
        memory.close()

    threads = [threading.Thread(target=work, args=(who,)) for who in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    memory = PostgresMemory(Connection(address, team), "app-1", lambda: 1.0)
    assert memory.count() == 15 + 6 * 15 == outcomes.count(Outcome.STORED) and len(outcomes) == 180
    memory.close()


def test_teams_are_kept_apart_by_rights_and_by_rows(postgres: Postgres, address: str) -> None:
    import psycopg

    a, b = (f"t{uuid.uuid4().hex[:10]}" for _ in range(2))
    with psycopg.connect(postgres.dsn, autocommit=True) as admin:
        for team in (a, b):
            admin.execute(f"CREATE ROLE {team} LOGIN PASSWORD '{PASSWORD}'")
            admin.execute(f"CREATE SCHEMA lessonbook_{team} AUTHORIZATION {team}")
    memories = {
        team: PostgresMemory(Connection(address.replace("tests@", f"{team}@"), team), "p", lambda: 1.0)
        for team in (a, b)
    }
    for team, memory in memories.items():
        memory.store(Lesson(f"of {team}"))
    with psycopg.connect(address.replace("tests@", f"{b}@"), autocommit=True) as other:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            other.execute(f"SELECT * FROM lessonbook_{a}.lessons")
        assert other.execute(f"SELECT * FROM lessonbook_{b}.lessons").fetchall() == [], "no team said: no rows"
        other.execute(f"SET lessonbook.team = '{a}'")
        assert other.execute(f"SELECT * FROM lessonbook_{b}.lessons").fetchall() == [], "another team said: no rows"
        other.execute(f"SET lessonbook.team = '{b}'")
        assert len(other.execute(f"SELECT * FROM lessonbook_{b}.lessons").fetchall()) == 1
    with pytest.raises(StoreError):
        PostgresMemory(Connection(address.replace("tests@", f"{b}@"), a), "p", lambda: 1.0).count()
    for memory in memories.values():
        memory.close()


def test_a_server_that_is_away_or_goes_away(address: str, team: str, bank: Any, postgres: Postgres) -> None:
    import psycopg

    away = PostgresMemory(Connection("postgresql://tests@127.0.0.1:9/tests", team), "p", lambda: 1.0)
    with pytest.raises(StoreError, match="cannot be used"):
        away.store(Lesson("a"))
    bank.store(Lesson("a"))
    with psycopg.connect(postgres.dsn, autocommit=True) as admin:
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lessonbook'")
    with pytest.raises(StoreError):
        bank.count()
    assert bank.count() == 1, "it is opened again"


def test_without_pgvector_words_are_enough(postgres: Postgres, team: str) -> None:
    """In a database without the extension, as a role that may not make it."""
    import psycopg

    with psycopg.connect(postgres.dsn, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {team}")
        admin.execute(f"CREATE ROLE {team} LOGIN PASSWORD '{PASSWORD}'")
        admin.execute(f"GRANT CREATE ON DATABASE {team} TO {team}")
    embedder = open_embedder()
    address = f"postgresql://{team}@127.0.0.1:{postgres.port}/{team}"
    memory = PostgresMemory(Connection(address, team), "p", lambda: 1.0, embedder=embedder)
    memory.store(Lesson("Quote every path."))
    assert memory.recall("path")[0].text == "Quote every path."
    with memory._connection.used() as db:
        assert not memory._vectors.is_on(db)
    memory.close()


def test_with_pgvector_it_is_found_by_what_it_means(address: str, team: str) -> None:
    embedder = open_embedder()
    if embedder is None:
        if REQUIRED:
            raise AssertionError("CI needs the extra `vectors`")
        pytest.skip("needs the extra `vectors`")
    plain = PostgresMemory(Connection(address, team), "p", lambda: 1.0)
    plain.store(Lesson("The database refuses connections after midnight."))  # told without an embedder
    plain.store(Lesson("Quote every path in scripts."))
    memory = PostgresMemory(Connection(address, team), "p", lambda: 1.0, embedder=embedder)
    with memory._connection.used() as db:
        assert memory._vectors.is_on(db), "the server has pgvector"
    found = memory.recall("postgres sql server rejects clients at night")
    assert found and found[0].text.startswith("The database") and "meaning" in {part.name for part in found[0].parts}
    plain.close(), memory.close()


def test_tables_of_the_first_version_are_brought_up_to_date(address: str, team: str) -> None:
    """With what is in them: what its lessons name and state is noted when it is first asked for."""
    import psycopg

    options = f"-c search_path=lessonbook_{team},public -c lessonbook.team={team}"
    with psycopg.connect(address, autocommit=True, options=options) as db:
        db.execute(f"CREATE SCHEMA lessonbook_{team}")
        db.execute("CREATE TABLE about (name text PRIMARY KEY, value text NOT NULL)")
        db.execute("INSERT INTO about VALUES ('version', '1')")
        db.execute(schema.STEPS[0])
        for text in ("Use npm.", "Use pnpm, not npm."):
            told = columns(Lesson(text), [])
            values = ("app-1", told["same"], told["same_hash"], told["told"], told["words"])
            db.execute(
                "INSERT INTO lessons (bank, same, same_hash, told, words, created, seen)"
                " VALUES (%s, %s, %s, CAST(%s AS jsonb), array_to_tsvector(CAST(%s AS text[])), 5, 5)",
                values,
            )
    memory = PostgresMemory(Connection(address, team), "app-1", lambda: 9.0)
    assert memory.count() == 2 and memory.recall("pnpm")[0].text == "Use pnpm, not npm."
    assert [one.lesson.text for one in memory.care.lessons(Wanted(about="pnpm"))] == ["Use pnpm, not npm."]
    assert [(one.newer, one.older) for one in memory.care.contradictions()] == [("2", "1")]
    assert [one.said for one in memory.care.diagnose(deep=True) if one.problem] == []
    memory.close()


def test_tables_of_a_newer_version_are_left_alone(address: str, team: str) -> None:
    import psycopg

    memory = PostgresMemory(Connection(address, team), "app-1", lambda: 9.0)
    memory.store(Lesson("a"))
    memory.close()
    with psycopg.connect(address, autocommit=True) as db:
        db.execute(f"UPDATE lessonbook_{team}.about SET value = '99'")
    with pytest.raises(StoreError, match="newer lessonbook"):
        memory.count()


def test_no_password_in_the_settings() -> None:
    more = ("postgresql://host/db?sslpassword=pw", "host=x sslpassword=pw")
    for address in ("postgresql://me:pw@host/db", "host=x password=pw", "postgresql://host/db?password=pw", *more):
        with pytest.raises(SetupError, match="must not hold a password"):
            Connection(address, "team")
    for address in ("mysql://host/db", "not an address", "", "postgresql://host/a b", "http://host"):
        with pytest.raises(SetupError, match="is an address such as"):
            Connection(address, "team")
    for team in ("", "Team", "a-b", '"; drop', "x" * 60):
        with pytest.raises(SetupError, match=r"postgres\.team"):
            Connection("postgresql://host/db", team)
    for address in ("postgresql:///", "postgres://h/d?sslmode=verify-full", "host=/tmp dbname=x passfile=/p"):
        Connection(address, "team")
