from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from lessonbook.core.defect import Defect, DefectKind, Sighting, Told
from lessonbook.core.errors import BusyError, StoreError
from lessonbook.system import cursors as module
from lessonbook.system.sightings import sightings

DEFECT = Defect(DefectKind.CRASH, "fetch", "TypeError: x")
TOLD = Told(DEFECT.id, DEFECT, "said first", "path: text")
SEEN = Sighting(DEFECT.id, "claude", "s1", "c1", "s1", "2.1.0", "m", "p", 5.0)


def test_what_is_committed_is_there_and_the_rest_is_not(tmp_path: Path) -> None:
    path = tmp_path / "health" / "seen.db"
    for commit, wanted in ((False, []), (True, [SEEN])):
        with sightings(path) as store:
            store.tell(TOLD)
            store.see(SEEN)
            if commit:
                store.cursors.commit()
        with sightings(path) as store:
            assert store.all() == wanted
    assert path.stat().st_mode & 0o077 == 0


def test_a_call_counts_once_and_a_defect_keeps_what_was_said_first() -> None:
    with sightings(None) as store:
        for told, seen in ((TOLD, SEEN), (replace(TOLD, said="later"), replace(SEEN, version="2.2.0"))):
            store.tell(told)
            store.see(seen)
        assert (store.told(), store.all()) == ([TOLD], [replace(SEEN, version="2.2.0")])
        store.see(replace(SEEN, place="c2"))
        assert len(store.all()) == 2


def test_what_is_old_is_forgotten_with_its_defect() -> None:
    with sightings(None) as store:
        store.tell(TOLD)
        for place, at in (("c1", 5.0), ("c2", 9.0), ("c3", None)):
            store.see(replace(SEEN, place=place, at=at))
        for now, left in ((1e12, ["c1", "c2", "c3"]), (1.0, ["c1", "c2", "c3"])):
            store.forget(now, 4.0)
            assert sorted(one.place for one in store.all()) == left, "whatever the clock says"
        store.forget(10.0, 3.0)
        assert sorted(one.place for one in store.all()) == ["c2", "c3"]
        store.cursors.run("DELETE FROM sighting")
        store.forget(10.0, 3.0)
        assert store.told() == []


def test_a_damaged_file_is_put_aside(tmp_path: Path) -> None:
    path = tmp_path / "seen.db"
    path.write_bytes(b"no database" * 500)
    with sightings(path) as store:
        assert store.all() == []
    assert (tmp_path / "seen.db.damaged").exists()


def test_another_reading_that_takes_too_long_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vars(module), "_WAIT", 0.1)
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with sightings(tmp_path / "seen.db"):
            held.set()
            done.wait(20)

    other = threading.Thread(target=hold)
    other.start()
    assert held.wait(20)
    try:
        with pytest.raises(BusyError, match="try again"), sightings(tmp_path / "seen.db"):
            pass
    finally:
        done.set()
        other.join()


def test_a_disk_that_is_full_is_said_and_leaves_what_was_kept(tmp_path: Path) -> None:
    path = tmp_path / "seen.db"
    with sightings(path) as store:
        store.tell(TOLD)
        store.see(SEEN)
        store.cursors.commit()
    with pytest.raises(StoreError, match="full"), sightings(path) as store:
        store.cursors.run("PRAGMA max_page_count = 9")
        for number in range(5_000):
            store.cursors.tell(f"turn {number}", "look")
    with sightings(path) as store:
        assert store.all() == [SEEN]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open everything")
def test_what_may_not_be_opened_is_said(tmp_path: Path) -> None:
    (tmp_path / "seen.db").touch(mode=0)
    with pytest.raises(StoreError, match="cannot be opened"), sightings(tmp_path / "seen.db"):
        pass
