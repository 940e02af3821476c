"""Rows are found in the pages of a file as SQLite wrote them, and no bytes whatever make the search fail."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from lessonbook.system.sqlite_pages import rows

VALUES = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(st.characters(codec="utf-8"), max_size=40),
    st.binary(max_size=40),
    st.integers(0, 3).map(lambda number: "x" * (10 ** (number + 1))),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=30), st.sampled_from([512, 4096, 65536]), st.booleans())
def test_every_row_is_found(told: list[tuple[object, object]], size: int, logged: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.db"
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute(f"PRAGMA page_size = {size}")
            db.execute("PRAGMA journal_mode = WAL" if logged else "PRAGMA journal_mode = DELETE").fetchone()
            db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c DEFAULT 1)")
            db.executemany("INSERT INTO t (a, b) VALUES (?, ?)", told)
            log = path.with_name("a.db-wal")
            data, journal = path.read_bytes(), log.read_bytes() if log.exists() else b""
            expected = db.execute("SELECT id, a, b FROM t").fetchall()
    found = dict(rows(data, journal, 4))
    assert [(number, *found[number][1:3]) for number in sorted(found)] == expected


@given(st.binary(max_size=3_000), st.binary(max_size=3_000))
@example(b"\x0d" + b"\xff" * 5_000, b"\x37\x7f\x06\x82" + b"\0" * 5_000)
@example(b"\0" * 100 + b"\x0d\0\0\xff\xff\0\0\0" + b"\x00\x6c" * 500, b"")
def test_no_bytes_make_it_fail(data: bytes, log: bytes) -> None:
    assert all(len(values) == 2 for _, values in rows(data, log, 2))
