"""Real servers for the tests of this folder. ``make test-real`` runs them; elsewhere they are skipped.

They are started once; each test has a bank or a schema of its own. ``LESSONBOOK_REQUIRE_SERVERS=1``, as CI sets it,
makes an error of everything that would be skipped.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator

import pytest
from tests.servers.running import Hindsight, PlainPostgres, Postgres, plain_programs

REQUIRED = os.environ.get("LESSONBOOK_REQUIRE_SERVERS") == "1"
ASKED = REQUIRED or os.environ.get("LESSONBOOK_TEST_SERVERS") == "1"


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    if not ASKED:
        pytest.skip("real servers are started by `make test-real`")
    try:
        made = Postgres()
    except Exception as error:
        if REQUIRED:
            raise
        pytest.skip(f"no PostgreSQL can be had here: {error}")
    yield made
    made.end()


@pytest.fixture(scope="session")
def plain_postgres() -> Iterator[PlainPostgres]:
    """One without pgvector, where the machine has one; ``test_without_pgvector_words_are_enough`` needs none."""
    programs = plain_programs()
    if not ASKED or programs is None:
        pytest.skip("no PostgreSQL is installed on this machine, or it is not asked for")
    made = PlainPostgres(programs)
    yield made
    made.end()


@pytest.fixture(scope="session")
def hindsight(postgres: Postgres) -> Iterator[Hindsight]:
    start = time.monotonic()
    made = Hindsight(postgres)
    print(f"\nHindsight is up after {time.monotonic() - start:.0f} s and takes {made.memory()} MiB", flush=True)
    yield made
    made.end()


@pytest.fixture
def bank() -> str:
    return f"t-{uuid.uuid4().hex[:12]}"
