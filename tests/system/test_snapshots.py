"""Files that belong together are copied while nobody writes, or not at all; the copy is private and goes away."""

from __future__ import annotations

import stat
import threading
from pathlib import Path

import pytest

from lessonbook.core.errors import StoreError
from lessonbook.system.snapshots import copied


def test_what_is_there_is_copied_and_gone_afterwards(tmp_path: Path) -> None:
    one, missing = tmp_path / "one", tmp_path / "missing"
    one.write_bytes(b"1")
    with copied((one, missing)) as place:
        assert place
        assert {path.name: path.read_bytes() for path in place.iterdir()} == {"one": b"1"}
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert not place.exists()
    assert one.read_bytes() == b"1"


def test_gone_even_when_the_reader_fails(tmp_path: Path) -> None:
    one = tmp_path / "one"
    one.write_bytes(b"1")
    with pytest.raises(ValueError, match="reader"), copied((one,)) as place:
        raise ValueError("reader")
    assert place is not None
    assert not place.exists()


def test_files_that_somebody_keeps_writing_are_not_copied(tmp_path: Path) -> None:
    one, two, done = tmp_path / "one", tmp_path / "two", threading.Event()
    one.write_bytes(b"0")

    def keep_writing() -> None:
        number = 0
        while not done.is_set():
            number += 1
            two.write_bytes(b"%d" % number * 1_000)

    writer = threading.Thread(target=keep_writing)
    writer.start()
    try:
        with copied((one, two)) as place:
            assert place is None
    finally:
        done.set()
        writer.join()


def test_what_cannot_be_copied_is_said(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreError, match="cannot be copied"), copied((tmp_path / "folder",)):
        pass
