"""The original's bank is read whole, whoever wrote it and whoever has it open, and nothing of it ever changes."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lessonbook.core.care import Imported
from lessonbook.core.lesson import Scope
from lessonbook.memory.importing.mnemopi_db import matches, read
from lessonbook.memory.importing.values import ReadProblem

Row = Mapping[str, object]
MakeBank = Callable[..., Path]

COLUMNS = {
    "working_memory": "id TEXT PRIMARY KEY, content TEXT NOT NULL, source TEXT, timestamp TEXT, session_id TEXT,"
    " importance REAL, metadata_json TEXT, veracity TEXT, memory_type TEXT, recall_count INTEGER, last_recalled TEXT,"
    " valid_until TEXT, superseded_by TEXT, scope TEXT, author_id TEXT, trust_tier TEXT, created_at TEXT",
    "episodic_memory": "rowid INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL, content TEXT NOT NULL,"
    " source TEXT, timestamp TEXT, metadata_json TEXT, summary_of TEXT, veracity TEXT, memory_type TEXT, scope TEXT",
    "facts": "fact_id TEXT PRIMARY KEY, session_id TEXT, subject TEXT, predicate TEXT, object TEXT, timestamp TEXT,"
    " source_msg_id TEXT, confidence REAL",
    "memoria_facts": "id INTEGER PRIMARY KEY, fact_type TEXT, key TEXT, value TEXT, context_snippet TEXT,"
    " importance REAL, timestamp TEXT, previous_value TEXT, source_memory_id TEXT",
    "memoria_instructions": "id INTEGER PRIMARY KEY, instruction TEXT, active INTEGER, source_memory_id TEXT",
    "memoria_preferences": "id INTEGER PRIMARY KEY, preference TEXT, topic TEXT, source_memory_id TEXT",
    "memoria_timelines": "event_id INTEGER PRIMARY KEY, date TEXT, description TEXT, source_memory_id TEXT",
    "memoria_kg": "id INTEGER PRIMARY KEY, subject TEXT, predicate TEXT, object TEXT, confidence REAL",
    "consolidated_facts": "id TEXT PRIMARY KEY, subject TEXT, predicate TEXT, object TEXT, confidence REAL,"
    " first_seen TEXT, last_seen TEXT, sources_json TEXT, veracity TEXT, superseded_by TEXT",
    "harmonic_beliefs": "belief_id TEXT PRIMARY KEY, subject TEXT, predicate TEXT, object TEXT, confidence REAL",
    "gists": "id TEXT PRIMARY KEY, text TEXT, timestamp TEXT, memory_id TEXT",
    "scratchpad": "id TEXT PRIMARY KEY, content TEXT, created_at TEXT, updated_at TEXT",
}


MAY = 1_777_636_800.0
"""2026-05-01T12:00:00Z"""
PAGE = 4096


def fill(file: Path, tables: Mapping[str, list[Row]], columns: Mapping[str, str] = COLUMNS) -> Path:
    """Write the tables into a file, closed and checkpointed, in WAL mode as the original's are."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(file)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        for table, rows in tables.items():
            db.execute(f"CREATE TABLE IF NOT EXISTS {table} ({columns[table]})")
            for row in rows:
                names = ", ".join(row)
                db.execute(f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(row))})", [*row.values()])
        db.commit()
    return file


@pytest.fixture
def bank(tmp_path: Path) -> MakeBank:
    """``bank("banks/app-1", working_memory=[{…}])``: the path of a bank with these rows."""

    def make(folder: str = ".", columns: Mapping[str, str] = COLUMNS, **tables: list[Row]) -> Path:
        return fill(tmp_path / "theirs" / folder / "mnemopi.db", tables, columns)

    return make


def lessons(found: Iterator[Imported | ReadProblem]) -> list[Imported]:
    """Only the lessons; and there may be no problem."""
    everything = list(found)
    assert [one for one in everything if isinstance(one, ReadProblem)] == []
    return [one for one in everything if isinstance(one, Imported)]


def parted(found: Iterator[Imported | ReadProblem]) -> tuple[list[Imported], list[ReadProblem]]:
    """The lessons, and the problems."""
    everything = list(found)
    return (
        [one for one in everything if isinstance(one, Imported)],
        [one for one in everything if isinstance(one, ReadProblem)],
    )


def bytes_below(folder: Path) -> dict[str, bytes]:
    """Every file of a folder with what is in it."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def every() -> Callable[[Path], AbstractContextManager[None]]:
    """``with every(path):`` another process adds ``Rule 200``, ``Rule 201`` … to a bank as fast as it can."""

    @contextmanager
    def writing(path: Path) -> Iterator[None]:
        process = subprocess.Popen([sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE)
        try:
            assert process.stdout
            process.stdout.readline()
            yield
        finally:
            process.kill()
            process.communicate()

    return writing


_WRITER = """
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)
db.execute("PRAGMA synchronous = OFF")
db.execute("PRAGMA wal_autocheckpoint = 20")
for number in range(200, 1_000_000):
    db.execute("INSERT INTO working_memory (id, content) VALUES (?, ?)", (f"m{number}", f"Rule {number} " + "x" * 200))
    time.sleep(0.001)
    if number == 220:
        print("at work", flush=True)
"""


def rows(how_many: int, length: int = 200) -> list[dict[str, object]]:
    return [{"id": f"m{number:05d}", "content": f"Rule {number} " + "x" * length} for number in range(how_many)]


def test_every_field_of_a_memory(bank: MakeBank) -> None:
    path = bank(
        working_memory=[
            {
                "id": "0a1b",
                "content": "Run the linter\nbefore the tests.",
                "source": "coding-agent-learn",
                "timestamp": "2026-05-01T12:00:00.250Z",
                "session_id": "default",
                "importance": 0.65,
                "metadata_json": '{"session_id":"s-1","cwd":"/work/app","context":"a red build","n":3,"none":null}',
                "veracity": "tool",
                "memory_type": "preference",
                "recall_count": 4,
                "last_recalled": "2026-05-01T13:00:00Z",
                "valid_until": "2026-05-02T12:00:00Z",
                "superseded_by": "2c3d",
                "scope": "bank",
                "author_id": "coding-agent",
                "trust_tier": "STATED",
                "created_at": "2026-05-01 12:00:00",
            }
        ]
    )
    (one,) = lessons(read(path))
    told = one.lesson
    assert (told.text, told.context, told.source) == (
        "Run the linter before the tests.",
        "a red build",
        "coding-agent-learn",
    )
    assert (told.importance, told.veracity, told.memory_type, told.scope) == (0.65, "tool", "preference", Scope.GLOBAL)
    assert told.metadata == {"session_id": "s-1", "cwd": "/work/app", "n": "3", "author_id": "coding-agent"}
    assert (one.origin, one.bank, one.superseded_by) == (
        "mnemopi:default:0a1b",
        "default",
        "mnemopi:default:2c3d",
    )
    assert (one.created, one.seen, one.recalled, one.recalled_at) == (MAY, MAY + 0.25, 4, MAY + 3600)
    assert (told.valid_until, one.invalid) == (MAY + 86_400, MAY + 86_400)


def test_a_file_of_few_columns_and_no_values(bank: MakeBank) -> None:
    path = bank(columns={"working_memory": "id TEXT, content TEXT"}, working_memory=[{"id": "a", "content": "Old."}])
    (one,) = lessons(read(path))
    assert (one.lesson.text, one.lesson.veracity, one.lesson.memory_type) == ("Old.", "imported", "fact")
    assert (one.created, one.seen, one.recalled, one.superseded_by, one.lesson.valid_until) == (
        None,
        None,
        0,
        None,
        None,
    )


@pytest.mark.parametrize(
    ("said", "kept"),
    [("stated", "stated"), (" TRUE ", "true"), ("unknown", "imported"), (None, "imported"), ("contested", "imported")],
)
def test_veracity_is_imported_unless_it_says_more(bank: MakeBank, said: str | None, kept: str) -> None:
    path = bank(working_memory=[{"id": "a", "content": "A rule.", "veracity": said}])
    assert [one.lesson.veracity for one in lessons(read(path))] == [kept]


def test_what_happened_before_it_was_written_down(bank: MakeBank) -> None:
    times = {"timestamp": "2026-05-01T12:00:00Z", "created_at": "2026-05-03 12:00:00"}
    (one,) = lessons(read(bank(working_memory=[{"id": "a", "content": "Rule.", **times}])))
    assert (one.created, one.seen) == (MAY, MAY)


def test_the_banks_beside_a_main_file_are_read_with_it(bank: MakeBank) -> None:
    main = bank(working_memory=[{"id": "a", "content": "For all."}])
    app = bank(
        "banks/app-1x",
        working_memory=[{"id": "b", "content": "Here."}, {"id": "c", "content": "Shared.", "scope": "global"}],
    )
    assert [(one.bank, one.lesson.text, one.lesson.scope) for one in lessons(read(main))] == [
        ("default", "For all.", Scope.GLOBAL),
        ("app-1x", "Here.", Scope.PROJECT),
        ("app-1x", "Shared.", Scope.GLOBAL),
    ]
    assert [one.origin for one in lessons(read(app))] == ["mnemopi:app-1x:b", "mnemopi:app-1x:c"]


def test_what_the_original_took_out_of_its_memories(bank: MakeBank) -> None:
    path = bank(
        working_memory=[{"id": "a", "content": "Ana works at Acme. Use pnpm."}],
        episodic_memory=[{"id": "e", "content": "Summed up.", "summary_of": "a,gone", "memory_type": "unknown"}],
        facts=[
            {"fact_id": "f1", "subject": "Ana", "predicate": "works_at", "object": "Acme",
             "source_msg_id": "a", "confidence": 0.7},
            {"fact_id": "f2", "subject": "fact", "predicate": "entity", "object": "Ana prefers pnpm",
             "source_msg_id": "gone"},
            {"fact_id": "f3", "subject": "build", "predicate": "metric", "object": "30 s"},
        ],
        memoria_facts=[
            {"key": "fact", "value": "Ana prefers pnpm", "context_snippet": "she said so", "source_memory_id": "a"}
        ],
        memoria_instructions=[
            {"instruction": "Never push to main.", "active": 1},
            {"instruction": "Use npm.", "active": 0},
        ],
        memoria_preferences=[{"preference": "Short answers.", "topic": "style"}],
        memoria_timelines=[{"date": "2026-05-01", "description": "Released."}],
        memoria_kg=[{"subject": "api", "predicate": "depends_on", "object": "db", "confidence": 3.0}],
        consolidated_facts=[
            {"id": "cf_1", "subject": "port", "predicate": "is", "object": "81", "veracity": "stated",
             "superseded_by": "cf_2", "first_seen": "2026-05-01T12:00:00Z", "last_seen": "2026-05-01T13:00:00Z",
             "sources_json": '["a", 1]'},
        ],
        harmonic_beliefs=[{"belief_id": "b1", "subject": None, "predicate": None, "object": "Tests are slow."}],
        gists=[{"id": "gist_a", "text": "Ana works at Acme", "memory_id": "a"}],
        scratchpad=[{"id": "s1", "content": "Look at the logs.", "updated_at": "2026-05-01T12:00:00Z"}],
    )  # fmt: skip
    found = lessons(read(path))
    assert [(one.lesson.text, one.lesson.memory_type, len(one.derived_from)) for one in found] == [
        ("Ana works at Acme. Use pnpm.", "fact", 0),
        ("Summed up.", "episode", 1),
        ("Ana works at Acme", "fact", 1),
        ("Ana prefers pnpm", "fact", 0),  # what it was taken from is gone: it is all there is
        ("build: 30 s", "fact", 0),
        ("port is 81", "fact", 1),
        ("Ana prefers pnpm", "fact", 1),
        ("Never push to main.", "instruction", 0),
        ("Use npm.", "instruction", 0),
        ("Short answers.", "preference", 0),
        ("2026-05-01: Released.", "event", 0),
        ("api depends on db", "fact", 0),
        ("Tests are slow.", "fact", 0),
        ("Ana works at Acme", "note", 1),
        ("Look at the logs.", "note", 0),
    ]
    by_origin = {one.origin: one for one in found}
    assert len(by_origin) == len(found)
    assert by_origin["mnemopi:default:e"].derived_from == ("mnemopi:default:a",)
    assert by_origin["mnemopi:default:f1"].lesson.confidence == 0.7
    assert next(one for one in found if one.lesson.text == "Use npm.").invalid == 0.0
    assert next(one for one in found if one.lesson.text == "api depends on db").lesson.confidence == 1.0
    merged = by_origin["mnemopi:default:cf_1"]
    assert (merged.created, merged.seen, merged.superseded_by) == (MAY, MAY + 3600, "mnemopi:default:cf_2")
    assert merged.lesson.veracity == "stated"


def test_importing_twice_gives_the_same_origins(bank: MakeBank, tmp_path: Path) -> None:
    path = bank(
        working_memory=rows(50),
        memoria_preferences=[{"preference": f"Taste {number}."} for number in range(9)],
    )
    first = [one.origin for one in lessons(read(path))]
    with closing(sqlite3.connect(path)) as db:  # numbers of rows change, and that is nobody's identity
        db.execute("DELETE FROM memoria_preferences WHERE id < 5")
        db.commit()
        db.execute("VACUUM")
    again = [one.origin for one in lessons(read(path))]
    assert len(set(first)) == len(first) == 59
    assert again == [*first[:50], *first[54:]]


def test_secrets_are_redacted_in_every_field(bank: MakeBank) -> None:
    secret = "ghp_" + "a1B2" * 9
    path = bank(
        working_memory=[
            {
                "id": f"id-{secret}",
                "content": f"The key {secret} leaked.",
                "source": secret,
                "metadata_json": f'{{"context": "ci {secret}", "{secret}": "{secret}"}}',
                "memory_type": secret,
                "superseded_by": secret,
            }
        ]
    )
    (one,) = lessons(read(path))
    assert secret not in repr(one)
    assert any("redacted" in note for note in one.notes)


def test_values_of_any_kind_in_any_column(bank: MakeBank) -> None:
    path = bank(working_memory=[{"id": "plain", "content": "Plain."}])
    with closing(sqlite3.connect(path)) as db:
        add = (
            "INSERT INTO working_memory (id, content, importance, metadata_json, recall_count, timestamp, valid_until)"
        )
        db.execute(f"{add} VALUES (7, x'4f6e65ff', 'high', '[1]', -3, 'yesterday', 'soon')")
        db.execute(f"{add} VALUES (NULL, 42, 9e999, '{'[' * 5000}', 'x', 1777636800000, NULL)")
        db.execute(f"{add} VALUES ('t', CAST(x'c3286100' AS TEXT), -5, NULL, 1e300, 1777636800, NULL)")
        db.execute(f"{add} VALUES ('e', '<>` ', NULL, NULL, NULL, NULL, NULL)")
        db.commit()
    found, problems = parted(read(path))
    assert [one.lesson.text for one in found] == ["Plain.", "One\ufffd", "42", "\ufffd(a"]
    assert [one.lesson.importance for one in found] == [0.5, 0.5, 0.5, 0.0]
    assert [one.seen for one in found] == [None, None, MAY, MAY]
    assert [problem.sentence.partition("working_memory ")[2] for problem in problems] == [
        "row 2: its metadata cannot be read; its text was.",
        "row 3: its metadata cannot be read; its text was.",
        "row 5: it has no text.",
    ]


def test_what_is_only_in_the_write_ahead_log_is_read_and_nothing_is_left_behind(bank: MakeBank, tmp_path: Path) -> None:
    path = bank(working_memory=rows(3))
    with closing(sqlite3.connect(path)) as writer:  # an agent that is at work
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.execute("INSERT INTO working_memory (id, content) VALUES ('new', 'Only in the log.')")
        writer.commit()
        before = bytes_below(path.parent)
        assert "mnemopi.db-wal" in before
        assert lessons(read(path))[-1].lesson.text == "Only in the log."
        assert bytes_below(path.parent) == before
        left = tmp_path / "after a crash"
        left.mkdir()
        for name in ("mnemopi.db", "mnemopi.db-wal"):
            shutil.copy(path.parent / name, left)
    before = bytes_below(left)
    assert lessons(read(left / "mnemopi.db"))[-1].lesson.text == "Only in the log."
    assert bytes_below(left) == before


def test_a_closed_file_is_read_without_a_trace(bank: MakeBank) -> None:
    path = bank(working_memory=rows(3))
    path.chmod(0o400)
    before = bytes_below(path.parent)
    assert len(lessons(read(path))) == 3
    assert bytes_below(path.parent) == before


def test_a_write_that_a_crash_cut_short_is_taken_back(tmp_path: Path) -> None:
    path = fill(tmp_path / "mnemopi.db", {"working_memory": rows(300)})
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        assert db.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
        db.execute("PRAGMA cache_size = 1")
        db.execute("BEGIN")
        db.execute("UPDATE working_memory SET content = 'never committed ' || id")
        crashed = tmp_path / "crashed"
        crashed.mkdir()
        for name in ("mnemopi.db", "mnemopi.db-journal"):
            shutil.copy(tmp_path / name, crashed)
    assert b"never committed" in (crashed / "mnemopi.db").read_bytes()
    before = bytes_below(crashed)
    assert all(one.lesson.text.startswith("Rule") for one in lessons(read(crashed / "mnemopi.db")))
    assert bytes_below(crashed) == before


def test_a_writer_that_never_rests_is_read_whole(
    bank: MakeBank, every: Callable[[Path], AbstractContextManager[None]]
) -> None:
    path = bank(working_memory=rows(200))
    with every(path):
        for _ in range(3):
            found = lessons(read(path))
            numbers = [int(one.lesson.text.split()[1]) for one in found]
            assert numbers == list(range(len(found)))  # a whole picture: no row is missing in the middle
            assert len(found) >= 200


def test_damage_costs_the_rows_it_lies_on(bank: MakeBank) -> None:
    path = bank(working_memory=rows(400))
    whole = path.read_bytes()
    at = whole.index(b"Rule 200 ")  # a page in the middle of the table
    page = at // PAGE
    path.write_bytes(whole[: page * PAGE] + b"\xff" * PAGE + whole[(page + 1) * PAGE :])
    found, problems = parted(read(path))
    lost = {f"Rule {number}" for number in range(400)} - {" ".join(one.lesson.text.split()[:2]) for one in found}
    here = {
        f"Rule {number}"
        for number in range(400)
        if f"Rule {number} ".encode() in whole[page * PAGE : (page + 1) * PAGE]
    }
    assert lost == here
    assert "Rule 200" in lost
    assert len(problems) == 1
    assert "working_memory row" in problems[0].sentence
    assert "damaged" in problems[0].sentence


def test_several_damaged_places_and_the_end(bank: MakeBank) -> None:
    path = bank(working_memory=rows(1_000))
    data = bytearray(path.read_bytes())
    pages = {data.index(f"Rule {number} ".encode()) // PAGE for number in (200, 500, 999)}
    there = [number for number in range(1_000) if data.index(f"Rule {number} ".encode()) // PAGE not in pages]
    for page in pages:
        data[page * PAGE : (page + 1) * PAGE] = b"\x00" * PAGE
    path.write_bytes(data)
    found, problems = parted(read(path))
    assert [int(one.lesson.text.split()[1]) for one in found] == there
    assert len(problems) == 3


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + b"\xff" * 5_000])
def test_what_is_no_bank_is_one_problem(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "mnemopi.db"
    path.write_bytes(content)
    found, problems = parted(read(path))
    assert found == []
    assert len(problems) == 1
    assert str(path) in problems[0].where


def test_a_file_that_is_not_there_or_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "mnemopi.db").mkdir()
    for path in (tmp_path / "none.db", tmp_path / "mnemopi.db"):
        assert [type(one) for one in read(path)] == [ReadProblem]
        assert {found.name for found in tmp_path.iterdir()} == {"mnemopi.db", "home"}


def test_only_banks_of_the_original_match(bank: MakeBank, tmp_path: Path) -> None:
    path = bank(working_memory=[])
    renamed = path.rename(path.with_name("old copy.db"))
    other = fill(tmp_path / "other.db", {"notes": []}, {"notes": "id TEXT"})
    assert matches(renamed, renamed.read_bytes())
    assert not matches(other, other.read_bytes())
    assert not matches(tmp_path / "x.jsonl", b"{}")


def test_names_that_an_address_would_split(tmp_path: Path) -> None:
    path = fill(tmp_path / "50% of? #1" / "mnemopi.db", {"working_memory": rows(1)})
    assert len(lessons(read(path))) == 1


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), places=st.integers(1, 40))
def test_no_damage_is_an_error(bank: MakeBank, seed: int, places: int) -> None:
    path = bank("whole", working_memory=[])
    if not bytes_below(path.parent).get("whole.db"):
        fill(path, {"working_memory": [], "facts": []})
        with closing(sqlite3.connect(path)) as db:
            if not db.execute("SELECT count(*) FROM working_memory").fetchone()[0]:
                db.executemany("INSERT INTO working_memory (id, content) VALUES (:id, :content)", rows(60, 300))
                db.commit()
        (path.parent / "whole.db").write_bytes(path.read_bytes())
    data, chance = bytearray((path.parent / "whole.db").read_bytes()), random.Random(seed)
    for _ in range(places):
        data[chance.randrange(16, len(data))] = chance.randrange(256)
    broken = path.with_name("broken.db")
    broken.write_bytes(data)
    for one in read(broken):
        assert isinstance(one, Imported | ReadProblem)


def test_memory_does_not_grow_with_the_bank(tmp_path: Path) -> None:
    peaks, paths = [], {}
    for size in (220, 660):
        paths[size] = fill(tmp_path / str(size) / "mnemopi.db", {"working_memory": rows(size)})
    assert len(list(read(paths[660]))) == 660, (
        "what is kept at hand for a text that comes again is bounded, and full now"
    )
    for size, path in paths.items():
        tracemalloc.start()
        assert sum(isinstance(one, Imported) for one in read(path)) == size
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0]
