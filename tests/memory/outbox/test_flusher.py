"""Whatever a server does: in the end each item is on it once, in order, or set aside with the reason."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.memory.outbox.conftest import SERVER, Shelf, item

from lessonbook.memory.outbox.destinations import PATIENCE, Destinations
from lessonbook.memory.outbox.flusher import REMOTE_RETRIES, TOO_OLD, Flusher
from lessonbook.memory.outbox.items import State
from lessonbook.memory.outbox.outbox import OUTBOX_FILE, Outbox
from lessonbook.memory.outbox.sending import Kind, SendError, Standing


class Clock:
    """Time that passes when something waits."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += seconds


def flusher(outbox: Outbox, shelf: Shelf, clock: Clock, owner: str = "me", chance: float = 0.5) -> Flusher:
    return Flusher(outbox, shelf, owner, clock, lambda: chance)


def fails(*kinds: Kind | None, asked: float | None = None) -> Callable[[str], SendError | None]:
    """One failure for each request, in turn; none after the last."""
    left = iter(kinds)

    def failing(moment: str) -> SendError | None:
        if moment == "sent":
            return None
        kind = next(left, None)
        return SendError(kind, "x", f"it is {kind}", asked) if kind else None

    return failing


def test_what_waits_arrives(outbox: Outbox) -> None:
    clock, shelf = Clock(), Shelf()
    outbox.put([item(f"{n}") for n in range(40)], clock())
    told = flusher(outbox, shelf, clock).run(600, clock.wait)
    assert (told.done, told.dead, told.trouble) == (40, 0, "")
    assert outbox.counts()["done"] == 40 == len(shelf.documents) and len(shelf.requests) == 3


def test_a_wrong_item_is_found_by_halving_and_costs_no_other(outbox: Outbox) -> None:
    clock, shelf = Clock(), Shelf()
    shelf.bad = frozenset({"5"})
    outbox.put([item(f"{n}") for n in range(16)], clock())
    told = flusher(outbox, shelf, clock).run(600, clock.wait)
    assert (told.done, told.dead) == (15, 1)
    (dead,) = outbox.rows([State.DEAD])
    assert (dead.told["content"], dead.last_status, dead.last_error) == ("5", "422", "one of them is wrong")
    assert len(shelf.requests) <= 2 * 4 + 1


def test_what_the_server_fails_at_is_tried_again_there_then_halved_then_set_aside(outbox: Outbox) -> None:
    clock, shelf = Clock(), Shelf()
    retried: list[str] = []
    shelf.failing = lambda moment: retried.append(moment) if moment == "retry" else None  # type: ignore[func-returns-value]
    shelf.unreadable = frozenset({"2"})
    outbox.put([item(f"{n}") for n in range(4)], clock())
    told = flusher(outbox, shelf, clock).run(6_000, clock.wait)
    assert (told.done, told.dead) == (3, 1) and len(retried) == 3 * REMOTE_RETRIES
    assert len(set(shelf.operations)) == len(shelf.operations) == 5, "a failed operation's id is never used again"


@pytest.mark.parametrize("kind", [Kind.AWAY, Kind.TROUBLED])
def test_what_fails_in_passing_is_sent_again_under_the_same_id(outbox: Outbox, kind: Kind) -> None:
    clock, shelf = Clock(), Shelf(fails(kind, kind))
    outbox.put([item("a")], clock())
    assert flusher(outbox, shelf, clock).run(600, clock.wait).done == 1
    assert len(shelf.operations) == 1


def test_stored_but_not_acknowledged_is_stored_once(outbox: Outbox) -> None:
    left = iter([SendError(Kind.AWAY, "timeout", "no answer")])
    clock, shelf = Clock(), Shelf(lambda moment: next(left, None) if moment == "sent" else None)
    outbox.put([item("a")], clock())
    assert flusher(outbox, shelf, clock).run(600, clock.wait).done == 1
    assert len(shelf.requests) == 2 and len(shelf.writes) == 1


def test_retry_after_is_kept_to(outbox: Outbox) -> None:
    clock, shelf = Clock(), Shelf(fails(Kind.AWAY, asked=120))
    outbox.put([item("a")], clock())
    one = flusher(outbox, shelf, clock)
    assert one.step() and not one.step()
    clock.wait(119)
    assert not one.step()
    clock.wait(1.5)
    assert one.step() and shelf.documents


def test_a_server_that_stays_away_is_left_alone_for_a_while(outbox: Outbox) -> None:
    clock, shelf = Clock(), Shelf(lambda moment: SendError(Kind.AWAY, "connect", "refused"))
    outbox.put([item(f"{n}", bank=f"{n}") for n in range(20)], clock())
    one = flusher(outbox, shelf, clock, chance=1.0)
    assert [one.step() for _ in range(6)] == [True] * PATIENCE + [False] * 3
    known = Destinations(outbox).known(SERVER)
    assert known.failures == PATIENCE and not known.is_open(clock()) and known.said == "refused"
    one.insist()
    assert one.step(), "a person may ask all the same"


def test_denied_pauses_and_keeps_everything_until_the_right_token(outbox: Outbox) -> None:
    clock = Clock()
    wrong = Shelf(lambda moment: SendError(Kind.DENIED, "401", "wrong token"))
    outbox.put([item("a"), item("b", bank="c")], clock())
    one = flusher(outbox, wrong, clock)
    assert one.step() and not one.step() and not one.step()
    assert Destinations(outbox).known(SERVER).is_paused and outbox.counts()["queued"] == 2
    assert (flusher(outbox, wrong, clock, "new").next_due() or 0) <= clock(), "a process that starts may try"
    assert (one.next_due() or 0) > clock() + 500
    right = Shelf()  # a new process, with the right one, need not wait
    assert flusher(outbox, right, clock, "you").run(60, clock.wait).done == 2
    assert not Destinations(outbox).known(SERVER).is_paused


def test_a_server_that_lost_what_it_took_gets_it_again(outbox: Outbox) -> None:
    clock, shelf = Clock(), Shelf()
    outbox.put([item("a")], clock())
    one = flusher(outbox, shelf, clock)
    assert one.step()
    (operation,) = shelf.operations
    shelf.operations.clear()
    shelf.documents.clear()
    assert one.run(600, clock.wait).done == 1 and set(shelf.operations) == {operation} and shelf.documents


def test_cancelled_is_said(outbox: Outbox) -> None:
    clock, shelf = Clock(), Shelf()
    outbox.put([item("a")], clock())
    one = flusher(outbox, shelf, clock)
    one.step()
    shelf.operations = dict.fromkeys(shelf.operations, Standing.CANCELLED)
    assert one.run(600, clock.wait).dead == 1
    assert outbox.rows([State.DEAD])[0].last_status == "cancelled"


def test_what_was_never_taken_is_set_aside_after_two_weeks(outbox: Outbox) -> None:
    clock, shelf = Clock(), Shelf(lambda moment: SendError(Kind.AWAY, "connect", "refused"))
    outbox.put([item("a"), item("b")], clock())
    one = flusher(outbox, shelf, clock, chance=1.0)
    one.step()
    clock.wait(TOO_OLD + 10)
    assert one.run(6_000, clock.wait).dead == 2
    assert "14 days" in str(outbox.rows([State.DEAD])[0].last_error)


def test_a_secret_in_what_a_server_says_is_kept_nowhere(outbox: Outbox, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    clock, shelf = Clock(), Shelf(lambda moment: SendError(Kind.AWAY, "500", f"bad header {secret}"))
    outbox.put([item("a")], clock())
    flusher(outbox, shelf, clock).step()
    outbox.close()
    assert all(secret.encode() not in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


MOMENTS = st.lists(st.sampled_from([None, *Kind]), max_size=40)


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), min_size=1, max_size=25),
    moments=MOMENTS,
    bad=st.sets(st.integers(0, 6), max_size=2),
    unreadable=st.sets(st.integers(0, 6), max_size=1),
    owners=st.integers(1, 3),
    dies=st.sets(st.integers(0, 30), max_size=6),
)
def test_in_the_end_each_is_there_once_or_set_aside(
    texts: list[tuple[int, int]],
    moments: list[Kind | None],
    bad: set[int],
    unreadable: set[int],
    owners: int,
    dies: set[int],
) -> None:
    """Any texts told under any documents, any failures, several processes, some of which die holding a lease."""
    left = iter(moments)

    def failing(moment: str) -> SendError | None:
        kind = next(left, None)
        return SendError(kind, "x", "by chance") if kind and kind is not Kind.REFUSED else None

    clock, shelf = Clock(), Shelf(failing)
    shelf.bad, shelf.unreadable = ({f"d{n} v{v}" for n in range(5) for v in found} for found in (bad, unreadable))
    with tempfile.TemporaryDirectory() as folder:
        outbox = Outbox(Path(folder) / OUTBOX_FILE)
        acknowledged: dict[str, list[str]] = {}
        for document, version in texts:
            text = f"d{document} v{version}"
            (put,) = outbox.put([item(text, f"d{document}")], clock())
            assert put.seq is not None
            acknowledged.setdefault(f"d{document}", []).append(text)
        names = itertools.count()
        running = [flusher(outbox, shelf, clock, f"o{next(names)}") for _ in range(owners)]
        for turn in range(4_000):
            if not any(outbox.counts()[state] for state in ("queued", "leased", "accepted")):
                break
            if turn in dies:
                running[turn % owners]._moving.claim(clock())  # it took something on, and is gone
                running[turn % owners] = flusher(outbox, shelf, clock, f"o{next(names)}")
            if not running[turn % owners].step():
                clock.wait(31)
        rows = outbox.rows(tuple(State))
        outbox.close()
    assert {row.state for row in rows} <= {State.DONE, State.DEAD}
    wrong = shelf.bad | shelf.unreadable
    for document, told in acknowledged.items():
        mine = [row for row in rows if row.document == document]
        assert {row.told["content"] for row in mine} == set(told), "nothing that was acknowledged is gone"
        assert all((row.state == State.DEAD) == (row.told["content"] in wrong) for row in mine)
        assert all(row.last_error for row in mine if row.state == State.DEAD)
        good = [row.told["content"] for row in mine if row.state == State.DONE]
        kept = [text for name, text in shelf.writes if name == document]
        assert shelf.documents.get(("b", document)) == (good[-1] if good else None), "the last told is what holds"
        assert list(dict.fromkeys(kept)) == list(dict.fromkeys(good)), "and they came in order"
