"""A folder held open: no link is followed, whatever is swapped in at its path."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lessonbook.core.errors import StoreError
from lessonbook.system.folders import Folder


def test_writing_goes_on_in_the_folder_that_was_opened(tmp_path: Path) -> None:
    place, other = tmp_path / "place", tmp_path / "other"
    other.mkdir()
    with Folder.at(place, make=True) as folder:  # type: ignore[union-attr]
        place.rename(tmp_path / "moved")
        place.symlink_to(other)
        folder.write("a.md", b"text")
        assert folder.read("a.md") == b"text"
        folder.remove("a.md")
        folder.write("b.md", b"text")
    assert os.listdir(other) == []  # noqa: PTH208
    assert os.listdir(tmp_path / "moved") == ["b.md"]  # noqa: PTH208


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "a").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "own")
    (tmp_path / "file").symlink_to(tmp_path / "own" / "a")
    with pytest.raises(StoreError, match="link is a symbolic link"):
        Folder.at(tmp_path / "link")
    with pytest.raises(StoreError, match="link is a symbolic link"):
        Folder.at(tmp_path / "link", make=True)
    with Folder.at(tmp_path) as folder:  # type: ignore[union-attr]
        with pytest.raises(StoreError, match="symbolic link"):
            folder.child("link")
        with pytest.raises(StoreError, match="symbolic link"):
            folder.read("file")
        with pytest.raises(StoreError, match="symbolic link"):
            folder.write("file", b"x")
        folder.remove("file")
    assert (tmp_path / "own" / "a").read_text() == "mine"


def test_what_is_missing_is_none(tmp_path: Path) -> None:
    assert Folder.at(tmp_path / "none") is None
    with Folder.at(tmp_path) as folder:  # type: ignore[union-attr]
        assert (folder.child("x"), folder.read("x"), folder.stat("x"), folder.names()) == (None, None, None, ["home"])
        folder.remove("x")
        assert folder.remove_folder("x")


def test_only_a_regular_file_of_bounded_size_is_read(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "one").write_text("12345")
    (tmp_path / "two").hardlink_to(tmp_path / "one")
    (tmp_path / "big").write_text("123456")
    with Folder.at(tmp_path) as folder:  # type: ignore[union-attr]
        for name in ("folder", "pipe", "one", "two"):
            with pytest.raises(StoreError, match="not a regular file"):
                folder.read(name)
            with pytest.raises(StoreError, match=r"not a regular file|second hard link"):
                folder.write(name, b"x")
        assert folder.read("big", most=6) == b"123456"
        with pytest.raises(StoreError, match="larger than 5 bytes"):
            folder.read("big", most=5)


def test_a_write_keeps_the_mode_and_leaves_no_temporary_file(tmp_path: Path) -> None:
    with Folder.at(tmp_path) as folder:  # type: ignore[union-attr]
        folder.write("a", b"1", new_mode=0o600)
        folder.write("a", b"2")
        assert ((tmp_path / "a").stat().st_mode & 0o777, (tmp_path / "a").read_bytes()) == (0o600, b"2")
        (tmp_path / ".a.123.tmp").write_text("left by a killed writer")
        (tmp_path / "mine.tmp").write_text("a person's")
        folder.sweep()
        assert folder.names() == ["a", "home", "mine.tmp"]
        (tmp_path / "a").chmod(0o400)
        with pytest.raises(StoreError, match="read-only"):
            folder.write("a", b"3")
        assert folder.names() == ["a", "home", "mine.tmp"]


def test_a_folder_with_something_in_it_is_not_removed(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("")
    with Folder.at(tmp_path) as folder:  # type: ignore[union-attr]
        assert not folder.remove_folder("full")
        (tmp_path / "full" / "x").unlink()
        assert folder.remove_folder("full")
