"""What a bank does while nobody waits: nothing is lost by it, nothing decided, and nobody kept waiting."""

from __future__ import annotations

import itertools
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from lessonbook.core.errors import ModelError
from lessonbook.core.lesson import Lesson, Scope
from lessonbook.core.ports import Reply
from lessonbook.memory import summing
from lessonbook.memory.mnemopi import caring, index, sleep
from lessonbook.memory.mnemopi.bank import MnemopiMemory

DAY = 86_400.0
START = 1_700_000_000.0


class Clock:
    """A clock that stands still until it is told to go on, but for a second at each look where ``ticks``."""

    def __init__(self) -> None:
        self.at, self.ticks = START, 0.0

    def __call__(self) -> float:
        self.at += self.ticks
        return self.at


@pytest.fixture
def time() -> Clock:
    return Clock()


@pytest.fixture
def bank(path: Path, time: Clock) -> Iterator[MnemopiMemory]:
    with closing(MnemopiMemory(path, "p-1", time)) as opened:
        yield opened


def episodes(bank: MnemopiMemory, *texts: str, **fields: object) -> None:
    for text in texts:
        bank.store(Lesson(text, memory_type="episode", **fields))  # type: ignore[arg-type]


def pairs(bank: MnemopiMemory) -> list[tuple[str, str]]:
    return sorted((pair.kept, pair.other) for pair in bank.care.merges())


# near twins


def test_near_twins_are_proposed_and_never_merged(bank: MnemopiMemory) -> None:
    bank.store_many([Lesson("Use pnpm, not npm, in the web folder."), Lesson("In the web folder use pnpm, not npm!")])
    bank.store(Lesson("Quote every path."))
    bank.store(Lesson("Quote every path!", scope=Scope.GLOBAL))
    assert (bank.care.sleep().twins, pairs(bank)) == (1, [("2", "1")]), "of one bank only"
    assert (bank.care.sleep().twins, bank.count()) == (0, 4)


def test_a_lesson_is_paired_when_it_comes_or_changes(bank: MnemopiMemory) -> None:
    bank.store_many([Lesson("Use pnpm in the web folder."), Lesson("Quote every path.")])
    assert bank.care.sleep().twins == 0
    bank.store(Lesson("Quote every path always!"))
    assert bank.care.sleep().twins == 1
    bank.update("3", {"text": "In the web folder: use pnpm."})
    assert bank.care.sleep().twins == 1
    assert ("3", "1") in pairs(bank)


def test_what_was_decided_is_not_proposed_again(bank: MnemopiMemory) -> None:
    bank.store_many(
        [Lesson("Quote every path."), Lesson("Quote every path always!"), Lesson("Please quote every path")]
    )
    assert bank.care.sleep().twins == 2
    bank.care.apart("1", "3")
    bank.care.merge("3", "2")
    assert pairs(bank) == []
    bank.update("1", {"text": "Quote every path!"})
    assert bank.care.sleep().twins == 0
    assert bank.get("2").superseded_by == "3"
    bank.undo("2")
    assert bank.get("2").superseded_by is None


def test_the_pinned_and_those_that_no_longer_hold_are_left_alone(bank: MnemopiMemory) -> None:
    bank.store_many([Lesson(f"Quote every path{sign}") for sign in (".", "!", "?", "…")])
    bank.pin("1")
    bank.forget("2")
    bank.invalidate("3")
    assert bank.care.sleep().twins == 0


def test_many_like_each_other_are_one_pair_each(bank: MnemopiMemory) -> None:
    bank.store_many([Lesson(f"Always quote every path {sign}" + "!" * n) for n, sign in enumerate("abcdefgh" * 5)])
    assert bank.care.sleep().twins <= 40


def test_when_it_is_enough_the_next_sleep_goes_on(bank: MnemopiMemory, time: Clock) -> None:
    bank.store_many([Lesson(f"Number {n} of its own kind, word{n} word{n + 1}") for n in range(200)])
    bank.store(Lesson("Number 5 of its own kind: word5 word6!"))
    time.ticks = sleep.SECONDS
    first = bank.care.sleep()
    assert 0 < first.uncompared < 201
    lefts = [bank.care.sleep().uncompared for _ in range(5)]
    assert lefts[-1] == 0 and lefts == sorted(lefts, reverse=True)
    assert pairs(bank) == [("201", "6")]


def test_a_mark_that_is_nonsense_means_from_the_start(bank: MnemopiMemory) -> None:
    bank.store(Lesson("One."))
    for said in ("", "x y", "1", "-3 2", "9" * 30):
        with bank._file.writing() as db:
            db.execute("INSERT OR REPLACE INTO about VALUES ('twins', ?)", (said,))
            assert caring.Looked.kept(db).change == 0
    bank.care.sleep()


# what is made of the lessons


def test_an_index_of_other_rules_is_made_anew(bank: MnemopiMemory) -> None:
    bank.store(Lesson("Quote every path."))
    with bank._file.writing() as db:
        db.execute("UPDATE about SET value = 'older' WHERE name = 'words'")
    bank.care.sleep()
    with bank._file.reading() as db:
        assert index.is_current(db)
    assert [found.said for found in bank.care.diagnose(deep=True) if found.problem] == []


def test_what_held_for_a_time_is_counted(bank: MnemopiMemory) -> None:
    bank.store(Lesson("Until then.", valid_until=START - 1))
    bank.store(Lesson("Still.", valid_until=START + DAY))
    assert bank.care.sleep().expired == 1


WRITER = """
import sys, time
from pathlib import Path
from lessonbook.core.lesson import Lesson
from lessonbook.memory.mnemopi.bank import MnemopiMemory
memory = MnemopiMemory(Path(sys.argv[1]), "p-1", time.time, wait=2.0)
for n in range(30):
    memory.store(Lesson(f"Meanwhile {n} of its own kind."))
    print(n, flush=True)
"""


def test_others_write_while_it_sleeps(bank: MnemopiMemory, path: Path) -> None:
    bank.store_many([Lesson(f"Number {n} of its own kind, word{n}") for n in range(1_500)])
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout
        writer.stdout.readline()
        bank.care.sleep()
        assert writer.wait(timeout=60) == 0
    assert bank.count() == 1_530


# summaries


def chat(*replies: str) -> Callable[[str], str]:
    """A model that gives these answers in turn."""
    left = iter(replies)
    return lambda prompt: next(left)


def said(text: str) -> str:
    return f"<summary>{text}</summary>"


THREE = ("The deploy of 3 May failed.", "The deploy failed again on the mirror.", "A third deploy failed.")


def test_old_episodes_that_belong_together_are_summed_up(bank: MnemopiMemory, time: Clock) -> None:
    episodes(bank, *THREE, component="deploy")
    episodes(bank, "Alone.", component="web")
    episodes(bank, "Of a", "Of b", "Of c", metadata={"session_id": "s-1"})
    bank.store(Lesson("A fact of deploy.", component="deploy"))
    assert bank.care.summarise(chat()) == ([], 0), "not yet old"
    time.at += summing.AGE + 1
    episodes(bank, "A new one.", component="deploy")
    done, left = bank.care.summarise(chat(said("Deploys failed on the mirror."), said("a to c")))
    assert left == 0 and [(one.sources, one.problem) for one in done] == [(("1", "2", "3"), ""), (("5", "6", "7"), "")]
    kept = bank.get(str(done[0].lesson))
    assert (kept.lesson.text, kept.lesson.source, kept.lesson.veracity) == (
        "Deploys failed on the mirror.", "sleep", "inferred",
    )  # fmt: skip
    assert (kept.lesson.component, kept.lesson.metadata["sources"]) == ("deploy", "1, 2, 3")
    for id in "123":
        assert (bank.get(id).superseded_by, bank.get(id).lesson.text) == (kept.id, THREE[int(id) - 1])
    assert bank.history("1")[0].verb == "summarised"
    bank.undo("1")
    assert (bank.get("1").superseded_by, bank.get("1").invalid) == (None, None)
    assert bank.care.summarise(chat()) == ([], 0), "what is summed up is not summed up again"
    assert [found.said for found in bank.care.diagnose(deep=True) if found.problem] == []


@pytest.mark.parametrize(
    "fields", [{}, {"metadata": {"session_id": ""}}, {"metadata": {"session_id": "cli"}}], ids=["none", "empty", "cli"]
)
def test_what_does_not_belong_together_is_not(bank: MnemopiMemory, time: Clock, fields: dict[str, object]) -> None:
    episodes(bank, *THREE, **fields)
    time.at += summing.AGE + 1
    assert bank.care.summarise(chat()) == ([], 0)


def test_the_pinned_the_gone_and_another_projects_are_not_asked_about(
    bank: MnemopiMemory, path: Path, time: Clock
) -> None:
    episodes(bank, *THREE, "A fourth.", component="deploy")
    bank.pin("1")
    bank.forget("2")
    with closing(MnemopiMemory(path, "other-2", time)) as other:
        episodes(other, "One of theirs.", "Two of theirs.", "Three of theirs.", component="deploy")
    time.at += summing.AGE + 1
    assert bank.care.summarise(chat()) == ([], 0)


def test_a_refused_reply_stores_nothing_and_is_said(bank: MnemopiMemory, time: Clock) -> None:
    episodes(bank, *THREE, component="deploy")
    time.at += summing.AGE + 1
    [one], left = bank.care.summarise(chat("Sure! The deploys failed."))
    assert "refused" in one.problem and (one.lesson, left, bank.count()) == (None, 0, 3)
    assert all(bank.get(id).superseded_by is None for id in "123")


def test_a_model_that_does_not_answer_ends_it(bank: MnemopiMemory, time: Clock) -> None:
    def silent(prompt: str) -> Reply:
        raise ModelError("the model gave no answer.")

    for name in ("one", "two"):
        episodes(bank, *(f"{text} {name}" for text in THREE), component=name)
    time.at += summing.AGE + 1
    [one], left = bank.care.summarise(silent)
    assert (one.problem, left) == ("the model gave no answer.", 1)

    def broken(prompt: str) -> Reply:
        raise KeyError("x")

    assert "could not be asked" in bank.care.summarise(broken)[0][0].problem
    assert "answered with int" in bank.care.summarise(lambda prompt: 5)[0][0].problem  # type: ignore[arg-type,return-value]


def test_what_changes_while_the_model_thinks_stays_as_it_is(bank: MnemopiMemory, path: Path, time: Clock) -> None:
    episodes(bank, *THREE, component="deploy")
    time.at += summing.AGE + 1

    def slow(prompt: str) -> str:
        with closing(MnemopiMemory(path, "p-1", time, wait=0.2)) as other:
            other.update("2", {"text": "Corrected by a person."})
        return said("Deploys failed on the mirror.")

    [one], _ = bank.care.summarise(slow)
    assert "changed while" in one.problem and bank.count() == 3 and bank.get("1").superseded_by is None


def test_many_groups_are_bounded_and_a_great_group_goes_in_parts(bank: MnemopiMemory, time: Clock) -> None:
    for group in range(summing.GROUPS + 2):
        episodes(bank, *(f"Group {group} failed in its way {n}." for n in range(3)), component=f"c{group}")
    time.at += summing.AGE + 1
    count = itertools.count()
    done, left = bank.care.summarise(lambda prompt: said(f"Group {next(count)} failed."))
    assert (len(done), left) == (summing.GROUPS, 2) and not any(one.problem for one in done)
    episodes(bank, *(f"It failed in its way {n}." for n in range(50)), component="great")
    time.at += summing.AGE + 1
    done, left = bank.care.summarise(lambda prompt: said("It failed."))
    assert max(len(one.sources) for one in done) == 20


def test_metadata_that_is_no_json_is_no_session(bank: MnemopiMemory, path: Path, time: Clock) -> None:
    episodes(bank, *THREE, metadata={"session_id": "s"})
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE lessons SET metadata = '{' WHERE id = 1")
        db.commit()
    time.at += summing.AGE + 1
    assert bank.care.summarise(chat()) == ([], 0)
