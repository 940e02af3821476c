"""A file that must be new is whole or not there, and never takes the place of another one."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from lessonbook.core.errors import InputError, StoreError
from lessonbook.system import newfile


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "there"
    found.mkdir()
    return found


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_lines_become_a_new_private_file(folder: Path) -> None:
    target = folder / "out.jsonl"
    assert newfile.write_lines(target, (f"line {n} ü" for n in range(3))) == 3
    assert target.read_text("utf-8") == "line 0 ü\nline 1 ü\nline 2 ü\n"
    assert target.stat().st_mode & 0o777 == 0o600 and names(folder) == ["out.jsonl"]


def test_what_goes_wrong_in_the_middle_leaves_nothing(folder: Path) -> None:
    def lines():
        yield "one"
        raise StoreError("the bank went away.")

    with pytest.raises(StoreError, match="went away"):
        newfile.write_lines(folder / "out", lines())
    assert names(folder) == []


def test_one_that_came_meanwhile_wins(folder: Path) -> None:
    target = folder / "out"
    with pytest.raises(InputError, match="there already"), newfile.new_file(target) as temporary:
        temporary.write_text("ours")
        target.write_text("theirs")
    assert target.read_text() == "theirs" and names(folder) == ["out"]


def test_of_many_at_once_one_gets_the_name(folder: Path) -> None:
    won: list[str] = []
    barrier = threading.Barrier(4)

    def make(name: str) -> None:
        with newfile.scratch_folder() as scratch:
            (scratch / "x").write_text(name)
            barrier.wait()
            try:
                newfile._name(scratch / "x", folder / "out")
                won.append(name)
            except InputError:
                pass

    threads = [threading.Thread(target=make, args=(str(n),)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1 and (folder / "out").read_text() == won[0]


def test_a_file_system_without_links_will_do(folder: Path) -> None:
    class NoLinks(type(folder)):  # type: ignore[misc]
        """A path on a file system that knows no hard links."""

        def hardlink_to(self, target: object) -> None:
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    target = NoLinks(folder / "out")
    with newfile.new_file(target) as temporary:
        temporary.write_text("whole")
    assert target.read_text() == "whole" and names(folder) == ["out"]
    with pytest.raises(InputError, match="there already"):
        newfile._name(folder / "out", NoLinks(folder / "out"))


def test_what_killed_makers_left_is_cleared_and_nothing_else(folder: Path) -> None:
    left = [".out.0a0b0c0d.tmp", ".out.0a0b0c0d.tmp-wal", ".out.0a0b0c0d.tmp-journal"]
    others = [".out.short.tmp", ".other.0a0b0c0d.tmp", "out.0a0b0c0d.tmp", ".out.0a0b0c0d.tmp-mine"]
    for name in (*left, *others):
        (folder / name).write_text("x")
    newfile.write_lines(folder / "out", ["x"])
    assert names(folder) == sorted([*others, "out"])
