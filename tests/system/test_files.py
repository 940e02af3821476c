"""Files are made with the rights a person's umask leaves, and read only where they are files."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from lessonbook.core.errors import StoreError
from lessonbook.system.files import append_line, make_private_file, read_bytes, write_atomic
from lessonbook.system.folders import Folder


@pytest.fixture(params=[0o022, 0o027, 0o077, 0o002])
def mask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_keeps_to_the_umask_and_an_old_one_keeps_its_mode(tmp_path: Path, mask: int) -> None:
    write_atomic(tmp_path / "new", b"x")
    write_atomic(tmp_path / "private", b"x", new_mode=0o600)
    with Folder.at(tmp_path) as folder:
        folder.write("skill", b"x")
    assert [_mode(tmp_path / name) for name in ("new", "skill", "private")] == [0o644 & ~mask, 0o644 & ~mask, 0o600]
    for mode in (0o600, 0o664, 0o755):
        (tmp_path / "new").chmod(mode)
        write_atomic(tmp_path / "new", b"y")
        with Folder.at(tmp_path) as folder:
            folder.write("new", b"z")
        assert _mode(tmp_path / "new") == mode


def test_what_is_no_file_is_neither_read_nor_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(tmp_path)  # the whole path would be too long for a socket
        server.bind("socket")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name in ("pipe", "folder", "socket", "zero"):
        with pytest.raises(StoreError):
            read_bytes(tmp_path / name)
        with pytest.raises(StoreError):
            make_private_file(tmp_path / name)
        with pytest.raises(StoreError):
            append_line(tmp_path / name, b"x")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(StoreError):
        append_line(tmp_path / "pipe", b"x")
    os.close(reader)
    assert read_bytes(Path(os.devnull)) == b""
    assert read_bytes(tmp_path / "none") is None
    (tmp_path / "circle").symlink_to("circle")
    for act in (read_bytes, make_private_file, lambda path: append_line(path, b"x")):
        with pytest.raises(StoreError):
            act(tmp_path / "circle")
