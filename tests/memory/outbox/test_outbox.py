"""What is put in stays, once, within bounds; and who takes it on does so alone and in order."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.memory.outbox.conftest import SERVER, item

from lessonbook.core.backoff import ASKED_MOST, LONGEST, delay, poll_delay
from lessonbook.core.errors import InputError, StoreError
from lessonbook.memory.outbox.destinations import Destinations
from lessonbook.memory.outbox.items import ITEM_MOST, State, batch_id
from lessonbook.memory.outbox.moving import BATCH_ITEMS, LEASE, Moving
from lessonbook.memory.outbox.outbox import OUTBOX_FILE, TOLD_ANEW, Became, Outbox


def moving(outbox: Outbox, owner: str = "me") -> Moving:
    return Moving(outbox, SERVER, owner)


def test_asking_makes_no_file(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path / "agent" / OUTBOX_FILE)
    assert outbox.rows(tuple(State)) == [] and outbox.newest(SERVER, "b", None, 5) == []
    assert sum(outbox.counts().values()) == outbox.retry(None, 1.0) == outbox.drop(None) == 0
    assert moving(outbox).claim(1.0) is None and moving(outbox).next_due(1.0) is None
    assert not Destinations(outbox).known(SERVER).failures and not (tmp_path / "agent").exists()


def test_the_file_is_the_persons_alone(outbox: Outbox) -> None:
    outbox.put([item("a")], 1.0)
    assert stat.S_IMODE(outbox.file.path.stat().st_mode) == 0o600


def test_another_programs_file_is_left_alone(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / OUTBOX_FILE)) as db:
        db.execute("CREATE TABLE theirs (a)")
    before = (tmp_path / OUTBOX_FILE).read_bytes()
    with pytest.raises(StoreError, match="another program"):
        Outbox(tmp_path / OUTBOX_FILE).put([item("a")], 1.0)
    assert (tmp_path / OUTBOX_FILE).read_bytes() == before


def test_the_same_item_is_one_row_whenever_it_was_told(outbox: Outbox) -> None:
    put = outbox.put([item("a", at="1"), item("a", at="2"), item("b")], 1.0)
    assert [one.became for one in put] == [Became.QUEUED, Became.WAITING, Became.QUEUED]
    assert put[0].seq == put[1].seq and outbox.counts()["queued"] == 2
    assert [row.told["timestamp"] for row in outbox.rows([State.QUEUED])] == ["1", "t"]


def test_told_again_it_is_the_newest(outbox: Outbox) -> None:
    for at, text in enumerate("aba"):
        outbox.put([item(text)], float(at))
    assert [row.told["content"] for row in outbox.newest(SERVER, "b", ["p"], 5)] == ["a", "b"]
    assert outbox.newest(SERVER, "b", ["other"], 5) == [] == outbox.newest(SERVER, "other", None, 5)


def test_what_arrived_is_sent_anew_when_told_a_day_later(outbox: Outbox) -> None:
    outbox.put([item("a")], 1.0)
    batch = moving(outbox).claim(1.0)
    assert batch
    moving(outbox).accepted(batch, 1.0)
    moving(outbox).done(batch, 2.0)
    assert outbox.put([item("a")], 3.0)[0].became is Became.DONE
    assert outbox.put([item("a")], 3.0 + TOLD_ANEW)[0].became is Became.QUEUED
    (first, second) = outbox.rows(tuple(State))
    assert first.document == second.document and first.operation != second.operation


def test_caps_refuse_and_keep_what_is_there(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path / OUTBOX_FILE, total=1_000)
    assert outbox.put([item("x" * ITEM_MOST)], 1.0)[0].became is Became.REFUSED
    put = outbox.put([item(f"{n}{'x' * 300}") for n in range(5)], 1.0)
    assert [one.became for one in put] == [Became.QUEUED] * 2 + [Became.REFUSED] * 3
    assert "nothing was stored" in put[-1].reason and outbox.counts()["queued"] == 2
    outbox.close()


def test_two_outboxes_share_no_operation(tmp_path: Path) -> None:
    operations = set()
    for name in "ab":
        outbox = Outbox(tmp_path / name / OUTBOX_FILE)
        outbox.put([item("same")], 1.0)
        operations.add(outbox.rows([State.QUEUED])[0].operation)
        outbox.close()
    assert len(operations) == 2


def test_a_batch_is_one_banks_and_bounded(outbox: Outbox) -> None:
    outbox.put([item(f"{n}", bank="ab"[n % 2]) for n in range(4 * BATCH_ITEMS)], 1.0)
    batch = moving(outbox).claim(1.0)
    assert batch and batch.bank == "a" and len(batch.rows) == BATCH_ITEMS
    outbox.put([item("y" * 200_000, bank="c"), item("z" * 200_000, bank="c")], 1.0)
    sizes = []
    while batch := moving(outbox).claim(1.0):
        sizes.append((batch.bank, len(batch.rows)))
    assert sorted(sizes) == [("a", 16), ("b", 16), ("b", 16), ("c", 1), ("c", 1)]


def test_an_item_waits_for_the_earlier_ones_of_its_document_alone(outbox: Outbox) -> None:
    outbox.put([item("first", "d"), item("second", "d"), item("other", "e")], 1.0)
    one = moving(outbox).claim(1.0)
    assert one and [row.told["content"] for row in one.rows] == ["first", "other"]
    assert moving(outbox).claim(1.0) is None
    moving(outbox).accepted(one, 1.0)
    assert moving(outbox).claim(1.5) is None  # taken, and not yet there: a later one could overtake it
    asked = moving(outbox).claim(2.5)
    assert asked and asked.is_sent and asked.id == one.id
    moving(outbox).done(asked, 3.0)
    after = moving(outbox).claim(3.0)
    assert after and [row.told["content"] for row in after.rows] == ["second"]


def test_a_lease_is_anothers_only_when_it_ran_out(outbox: Outbox) -> None:
    outbox.put([item("a"), item("b")], 1.0)
    mine = moving(outbox).claim(1.0)
    assert mine and moving(outbox, "you").claim(1.0 + LEASE - 1) is None
    outbox.put([item("c")], 2.0)
    yours = moving(outbox, "you").claim(1.0 + LEASE)
    assert yours and yours.id == mine.id and yours.items == mine.items, "the same is sent again, under the same id"
    moving(outbox).later(mine, 40.0, 5.0, "x", "too late")  # no longer mine to give back
    assert outbox.rows([State.LEASED])[0].attempts == 0
    moving(outbox).accepted(mine, 40.0)  # but what the server has taken, it has taken
    assert outbox.counts()["accepted"] == 2
    moving(outbox, "you").dead(yours, 41.0, "422", "no")
    assert outbox.counts()["dead"] == 0


def test_a_clock_that_was_set_back_keeps_nothing_waiting(outbox: Outbox) -> None:
    outbox.put([item("a")], 1e9)
    assert moving(outbox).claim(1e9)
    assert moving(outbox, "you").claim(1_000.0)


def test_retry_and_drop(outbox: Outbox) -> None:
    outbox.put([item("a", "d"), item("b")], 1.0)
    batch = moving(outbox).claim(1.0)
    assert batch
    moving(outbox).split(batch, 1.0, "422", "one is wrong", used=False)
    half = moving(outbox).claim(1.0)
    assert half and half.id == batch_id([(half.rows[0].operation, 0)])
    moving(outbox).dead(half, 2.0, "422", "wrong")
    (dead,) = outbox.rows([State.DEAD])
    for act in (lambda: outbox.retry([99], 3.0), lambda: outbox.drop([99])):
        with pytest.raises(InputError, match="nothing under 99"):
            act()
    assert outbox.retry([dead.seq], 3.0) == 1
    again = next(row for row in outbox.rows([State.QUEUED]) if row.seq == dead.seq)
    assert (again.round, again.batch, again.attempts) == (1, None, 0)
    assert outbox.drop([dead.seq]) == 1 and outbox.drop(None) == 0
    assert [row.told["content"] for row in outbox.rows(tuple(State))] == ["b"]


def test_what_was_set_aside_never_comes_back_over_something_newer(outbox: Outbox) -> None:
    outbox.put([item("old words", "d")], 1.0)
    batch = moving(outbox).claim(1.0)
    assert batch
    moving(outbox).dead(batch, 1.0, "422", "wrong")
    outbox.put([item("new words", "d")], 2.0)
    with pytest.raises(InputError, match="newer"):
        outbox.retry([batch.rows[0].seq], 3.0)
    assert outbox.retry(None, 3.0) == 0 or outbox.counts()["dead"] == 1


@given(st.integers(-5, 10**6), st.floats(0, 1), st.none() | st.floats(-10, 1e9))
def test_waits_are_bounded_and_never_shorter_than_asked(failures: int, chance: float, asked: float | None) -> None:
    waited = delay(failures, chance, asked)
    assert 0 <= waited <= max(LONGEST, ASKED_MOST)
    assert waited >= min(max(asked or 0, 0), ASKED_MOST)
    assert 1 <= poll_delay(failures) <= 60


def test_what_waits_for_an_old_address_goes_to_the_new_one(outbox: Outbox) -> None:
    texts = ["waits", "is being sent", "was taken", "was set aside", "is done"]
    outbox.put([item(text) for text in texts], 1.0)
    for seq, state in enumerate(("queued", "leased", "accepted", "dead", "done"), 1):
        with outbox.file.writing() as db:
            db.execute("UPDATE outbox SET state = ?, batch = 'b' WHERE seq = ?", (state, seq))
    assert outbox.move("http://new", lambda to: False, 2.0) == 0
    assert outbox.move("http://new", lambda to: to == SERVER, 2.0) == 2
    assert outbox.move("http://new", lambda to: to == SERVER, 2.0) == 0
    rows = {row.told["content"]: row for row in outbox.rows(tuple(State))}
    assert {text for text, row in rows.items() if row.destination == "http://new"} == {"waits", "was set aside"}
    assert rows["was set aside"].state == State.QUEUED and rows["waits"].batch is None
