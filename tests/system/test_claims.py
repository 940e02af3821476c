"""Lock files that other programs also make, and what a killed process leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lessonbook.core.errors import BusyError, StoreError
from lessonbook.system.files import move, remove, remove_leftovers
from lessonbook.system.locks import claimed, release_dead

TOKEN = b"ours\n"


@pytest.fixture
def box(tmp_path: Path) -> Path:
    made = tmp_path / "box"
    made.mkdir()
    return made


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_claim_is_exclusive_and_gone_afterwards(box: Path) -> None:
    lock = box / "index.lock"
    with claimed(lock, TOKEN, wait=0):
        assert lock.read_bytes() == TOKEN and names(box) == ["index.lock"]
        with pytest.raises(BusyError), claimed(lock, TOKEN, wait=0.03):
            pass
        assert not release_dead(lock, TOKEN) and lock.exists()  # we are alive
    assert names(box) == []


@pytest.mark.parametrize("text", [b"", b"our", b"ours\n!", b"4711\n", b"\x00\xff"])
def test_what_others_claimed_is_never_removed(box: Path, text: bytes) -> None:
    lock = box / "index.lock"
    lock.write_bytes(text)
    assert not release_dead(lock, TOKEN) and lock.read_bytes() == text
    with pytest.raises(BusyError), claimed(lock, TOKEN, wait=0):
        pass
    assert names(box) == ["index.lock"]
    lock.unlink()
    lock.symlink_to(box / "elsewhere")
    assert not release_dead(lock, TOKEN)


def test_a_dead_claim_is_released(box: Path) -> None:
    lock = box / "index.lock"
    code = "import os, sys\nfrom pathlib import Path\nfrom lessonbook.system.locks import claimed\n"
    code += f"with claimed(Path({str(lock)!r}), {TOKEN!r}, wait=0): os.kill(os.getpid(), 9)"
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=env, check=False)
    assert done.returncode == -signal.SIGKILL and lock.exists()
    assert release_dead(lock, TOKEN) and not lock.exists() and not release_dead(lock, TOKEN)


def test_leftovers_of_one_file_go_and_others_stay(box: Path) -> None:
    for name in (
        ".a[1].md.x1y2z3ab.tmp",
        "a[1].md.x1y2z3ab.tmp",
        ".b.md.x1y2z3ab.tmp",
        "a[1].md",
        ".a[1].md.long-name-here.tmp",
    ):
        (box / name).touch()
    remove_leftovers(box / "a[1].md")
    assert names(box) == [".a[1].md.long-name-here.tmp", ".b.md.x1y2z3ab.tmp", "a[1].md"]


def test_removing_a_link_keeps_its_target_and_empty_folders_go(box: Path) -> None:
    (box / "top" / "a" / "b").mkdir(parents=True)
    (box / "target").write_text("mine")
    link = box / "top" / "a" / "b" / "link"
    link.symlink_to(box / "target")
    remove(link, up_to=box / "top")
    assert (box / "target").read_text() == "mine" and names(box / "top") == []
    remove(link, up_to=box / "top")
    with pytest.raises(StoreError):
        remove(box / "top")


def test_moving_replaces_in_one_step(box: Path) -> None:
    (box / "new").write_text("new")
    (box / "old").write_text("old")
    move(box / "new", box / "old")
    assert (box / "old").read_text() == "new" and names(box) == ["old"]
    with pytest.raises(StoreError):
        move(box / "new", box / "old")
