"""Uses are written down by many processes, kept small, and read whatever happened to the file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lessonbook.book import usage
from lessonbook.book.usage import record, used
from lessonbook.core.errors import StoreError

NOW = 1_804_000_000


def log(state: Path) -> Path:
    return next((state / "used").glob("*.jsonl"))


def test_the_last_use_of_each_counts_per_book(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    assert used(tmp_path, one) == {}
    for key, at in (("a", NOW), ("b", NOW), ("a", NOW + 9000), ("a", NOW - 5)):
        assert record(tmp_path, one, key, at)
    assert used(tmp_path, one) == {"a": NOW + 9000, "b": NOW} and used(tmp_path, other) == {}
    assert log(tmp_path).stat().st_mode & 0o777 == 0o600


def test_uses_within_an_hour_are_one_line(tmp_path: Path) -> None:
    for second in range(50):
        record(tmp_path, tmp_path, "a", NOW + second)
    assert used(tmp_path, tmp_path) == {"a": NOW} and len(log(tmp_path).read_bytes().splitlines()) == 1


def test_the_file_stays_small_and_keeps_the_newest(tmp_path: Path) -> None:
    record(tmp_path, tmp_path, "first", NOW)
    with log(tmp_path).open("ab") as out:
        out.writelines(b'["k%06d%s",%d]\n' % (n, b"x" * 60, NOW + n) for n in range(4000))
    record(tmp_path, tmp_path, "last", NOW + 9000)
    found = used(tmp_path, tmp_path)
    assert len(found) == 2000 and found["last"] == NOW + 9000 and "first" not in found
    assert log(tmp_path).stat().st_size < usage._BYTES


def test_damaged_lines_count_for_nothing(tmp_path: Path) -> None:
    record(tmp_path, tmp_path, "a", NOW)
    with log(tmp_path).open("ab") as out:
        out.write(b'\xff\n{}\n[1,2]\n["b"]\n["c","x"]\n[[[\n["d",' + b"9" * 5000 + b']\n["cut off')
    assert used(tmp_path, tmp_path) == {"a": NOW}
    assert record(tmp_path, tmp_path, "z", NOW) and used(tmp_path, tmp_path) == {"a": NOW, "z": NOW}


def test_nothing_is_raised_where_it_cannot_be_written_and_reading_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "used").write_text("in the way")
    assert not record(tmp_path, tmp_path, "a", NOW)
    with pytest.raises(StoreError):
        used(tmp_path, tmp_path)


def test_many_processes_lose_nothing(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from lessonbook.book.usage import record\n"
        "for n in range(40): assert record(Path(sys.argv[1]), Path(sys.argv[1]), f'{sys.argv[2]}-{n}', 1804000000)"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    running = [subprocess.Popen([sys.executable, "-c", program, str(tmp_path), name], env=env) for name in "abcd"]
    assert [process.wait() for process in running] == [0] * 4
    assert len(used(tmp_path, tmp_path)) == 160
