"""The contract suite of a bank: a memory whose lessons are read and changed one by one, and looked after as a whole.

Needs nothing but pytest to run::

    class TestMyBank(BankContract):
        def open(self, folder, now):
            return MyBank(folder / "my.db", now)
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lessonbook.core.care import Imported, Wanted
from lessonbook.core.care_ports import Care
from lessonbook.core.errors import InputError
from lessonbook.core.lesson import Lesson
from lessonbook.core.ports import Bank
from lessonbook.testing import MemoryContract

MONTHS = 100 * 86_400


class BankContract(MemoryContract):
    """What every ``core.ports.Bank`` whose ``care`` meets ``core.care_ports.Care`` must do, beside what memories do."""

    @contextmanager
    def opened(self, folder: Path) -> Iterator[Any]:
        """Give the bank with a clock of its own, and close it."""
        memory: Any = self.open(folder, _clock(1_700_000_000))
        assert isinstance(memory.care, Care)
        assert isinstance(memory, Bank)
        yield memory
        memory.close()

    def test_every_change_is_kept_and_undone(self, tmp_path: Path) -> None:
        """Also in words: what was is found no more, and again once the change is taken back."""
        with self.opened(tmp_path) as bank:
            one = bank.store(Lesson("The port is 5433.", context="a red build", tags=("db",), title="Port")).id
            two = bank.store(Lesson("Quote every path.")).id
            assert bank.update(one, {"text": "The port is 5434.", "title": None}).lesson.text == "The port is 5434."
            assert [found.id for found in bank.recall("5434")] == [one]
            assert bank.undo(one).lesson.title == "Port"
            bank.forget(one)
            assert bank.recall("port") == [] and [kept.id for kept in bank.lessons(forgotten=True)] == [one]
            bank.undo(one)
            bank.invalidate(one, two)
            assert bank.recall("port")[0].marks
            assert bank.pin(two).pinned and not bank.pin(two, False).pinned
            assert [change.verb for change in bank.history(one)] == ["invalidated", "forgotten", "updated"]
            bank.erase(one)
            assert [kept.id for kept in bank.lessons()] == [two]

    def test_what_cannot_be_is_refused_and_changes_nothing(self, tmp_path: Path) -> None:
        """An id that is not there, a value that cannot be, one change twice, a circle."""
        with self.opened(tmp_path) as bank:
            one, two = (str(bank.store(Lesson(text)).id) for text in ("The port is 5433.", "Quote every path."))
            bank.forget(one)
            bank.invalidate(two, one)
            wrong: list[Callable[[], object]] = [lambda: bank.forget(one), lambda: bank.invalidate(one, two)]
            wrong += [lambda: bank.update(one, {"confidence": 2}), lambda: bank.update(one, {"colour": "red"})]
            wrong += [lambda id=id: bank.get(id) for id in ("0", "x", "99999999", "-1", "9" * 40)]  # type: ignore[misc]
            wrong += [lambda: bank.care.merge(two, two), lambda: bank.care.dismiss(one, two)]
            for act in wrong:
                _refused(act)
            assert len(bank.history(one)) == len(bank.history(two)) == 1

    def test_a_list_is_narrowed_down_and_goes_on(self, tmp_path: Path) -> None:
        """By what a lesson names, its type, its source and a tag; page by page."""
        with self.opened(tmp_path) as bank:
            about = bank.store(Lesson("Run make check in scripts/build.sh first.", tags=("CI",), source="mine")).id
            episode = bank.store(Lesson("The mirror was down.", memory_type="episode")).id
            for number in range(5):
                bank.store(Lesson(f"Plain lesson number {number}."))
            asked = (Wanted(about="build.sh"), Wanted(tag="ci"), Wanted(source="mine"), Wanted(memory_type="episode"))
            found = [[kept.id for kept in bank.care.lessons(wanted)] for wanted in asked]
            assert found == [[about], [about], [about], [episode]]
            first = bank.care.lessons(Wanted(), 3)
            rest = bank.care.lessons(Wanted(), 100, first[-1].id)
            assert [kept.id for kept in (*first, *rest)] == [kept.id for kept in bank.lessons()]
            assert bank.care.lessons(Wanted(forgotten=True)) == []

    def test_one_lesson_is_shown_whole(self, tmp_path: Path) -> None:
        """Its contexts, what it names and states, and its history."""
        with self.opened(tmp_path) as bank:
            for context in ("a red build", "a second one"):
                id = bank.store(Lesson("Tests need port 5433.", context=context)).id
            bank.pin(id)
            shown = bank.care.show(id)
            assert [one.context for one in shown.contexts] == ["a red build", "a second one"]
            assert ("port", "5433") in [(one.kind, one.value) for one in shown.entities] and shown.facts
            assert shown.history[0].verb == "pinned"

    def test_what_may_contradict_is_shown_and_settled(self, tmp_path: Path) -> None:
        """The newer one says so when it is told; both stand until a person says otherwise."""
        with self.opened(tmp_path) as bank:
            older = bank.store(Lesson("Use npm.")).id
            told = bank.store(Lesson("Use pnpm, not npm."))
            assert any(f"lesson {older}" in note for note in told.notes)
            (pair,) = bank.care.contradictions()
            assert (pair.newer, pair.older) == (told.id, older) and pair.said
            assert bank.care.show(older).contradictions
            bank.care.dismiss(older, told.id)
            assert bank.care.contradictions() == []
            _refused(lambda: bank.care.dismiss(older, told.id))

    def test_near_twins_are_found_merged_and_parted(self, tmp_path: Path) -> None:
        """By a sleep; nothing merges by itself, and what was decided is not proposed again."""
        with self.opened(tmp_path) as bank:
            one = bank.store(Lesson("Quote every path in scripts.", context="alpha")).id
            two = bank.store(Lesson("In scripts, quote every path!", context="beta")).id
            three = bank.store(Lesson("In all scripts, quote every path!")).id
            assert bank.care.sleep().twins and bank.care.sleep().twins == 0
            assert {(pair.kept, pair.other) for pair in bank.care.merges()} >= {(three, two)}
            bank.care.merge(two, one)
            assert bank.get(one).superseded_by == two and "alpha" in str(bank.get(two).lesson.context)
            bank.undo(one)
            assert bank.get(one).superseded_by is None
            bank.care.apart(three, two)
            assert (three, two) not in {(pair.kept, pair.other) for pair in bank.care.merges()}

    def test_it_is_counted_and_looked_over(self, tmp_path: Path) -> None:
        """Nothing is wrong with it, whatever was done to its lessons."""
        with self.opened(tmp_path) as bank:
            ids = [str(bank.store(Lesson(f"Lesson number {number}.", tags=("a",))).id) for number in range(6)]
            bank.forget(ids[0])
            bank.invalidate(ids[1], ids[2])
            bank.update(ids[3], {"text": "Another text altogether.", "valid_until": 5.0})
            bank.undo(ids[3])
            bank.care.sleep()
            stats = bank.care.stats()
            assert (stats.states["all"], stats.states["forgotten"], stats.states["replaced"]) == (6, 1, 1)
            assert sum(stats.banks.values()) == 5 and stats.changes == 3 and stats.bytes > 0
            assert [one.said for one in bank.care.diagnose(deep=True) if one.problem] == []

    def test_an_export_comes_in_again_once(self, tmp_path: Path) -> None:
        """Into the same bank nothing; what was erased since comes back; how a lesson fared comes along."""
        with self.opened(tmp_path) as bank:
            kept = bank.store(Lesson("Keep me.", context="here", tags=("t",), key="k")).id
            gone = bank.store(Lesson("Erase me, and bring me back.")).id
            bank.invalidate(gone, kept)
            with bank.care.exported(forgotten=True) as lines:
                told = [json.loads(line) for line in list(lines)[1:]]
            assert [one["text"] for one in told] == ["Keep me.", "Erase me, and bring me back."]
            assert bank.care.receive(_imported(told)).known == 2
            bank.erase(gone)
            taken = bank.care.receive(_imported(told))
            assert (taken.known, sum(taken.stored.values())) == (1, 1)
            back = next(one for one in bank.lessons() if one.lesson.text.startswith("Erase me"))
            assert back.superseded_by == kept and back.invalid is not None
            assert sum(bank.care.receive(_imported(told)).stored.values()) == 0

    def test_of_one_key_the_lesson_told_last_holds(self, tmp_path: Path) -> None:
        """Whichever of them is here and whichever comes in."""
        with self.opened(tmp_path) as bank:
            here = bank.store(Lesson("The port is 2.", key="port")).id
            bank_name = bank.get(here).bank
            for text, seen in (("The port is 1.", 5.0), ("The port is 3.", 1_800_000_000.0)):
                bank.care.receive([(bank_name, Imported(Lesson(text, key="port"), f"other:{text}", seen=seen))])
            holding = {kept.lesson.text for kept in bank.lessons() if kept.invalid is None}
            assert holding == {"The port is 3."}

    def test_old_episodes_are_summed_up_and_parted_again(self, tmp_path: Path) -> None:
        """Three of one component, told long ago; a refused answer changes nothing."""
        memory: Any = self.open(tmp_path, _clock(1_700_000_000))
        ids = [
            str(memory.store(Lesson(f"Deploy {n} failed: mirror down.", memory_type="episode", component="d")).id)
            for n in range(3)
        ]
        memory.close()
        later: Any = self.open(tmp_path, _clock(1_700_000_000 + MONTHS))
        (refused,), left = later.care.summarise(lambda prompt: "no")
        assert refused.problem and left == 0
        (done,), _ = later.care.summarise(lambda prompt: "<summary>Deploys failed on the mirror.</summary>")
        assert done.sources == tuple(ids) and later.get(ids[0]).superseded_by == done.lesson
        later.undo(ids[0])
        assert later.get(ids[0]).superseded_by is None
        assert later.care.summarise(lambda prompt: "no") == ([], 0)
        later.close()

    def test_a_model_reads_what_the_rules_do_not_find(self, tmp_path: Path) -> None:
        """Once for each lesson; one that does not answer ends it, and nothing is lost."""
        with self.opened(tmp_path) as bank:
            id = bank.store(Lesson("Tests need port 5433.")).id
            bank.store(Lesson("Quote every path."))

            def away(prompt: str) -> str:
                raise OSError("no model here")

            first = bank.care.extract(away)
            assert first.problem and (first.lessons, first.left) == (0, 2)
            asked: list[str] = []

            def useless(prompt: str) -> str:
                asked.append(prompt)
                return "not what was asked for"

            second = bank.care.extract(useless)
            assert second.lessons + second.refused == 2 == len(asked) and second.left == 0
            assert bank.care.show(id).entities, "what the rules find stays"
            assert bank.care.extract(away).left == 0

    def test_what_is_recalled_is_counted(self, tmp_path: Path) -> None:
        """By the time the next one opens the bank and looks after it; who only looks counts nothing."""
        with self.opened(tmp_path) as bank:
            bank.store(Lesson("Quote every path."))
            for _ in range(3):
                bank.recall("path")
            bank.search("path")
        with self.opened(tmp_path) as bank:
            assert bank.care.stats().never_recalled == 0
            assert bank.lessons()[0].recalled == 3


def _refused(act: Callable[[], object]) -> None:
    try:
        act()
    except InputError as error:
        assert str(error)
        return
    raise AssertionError("it was not refused")


def _imported(told: list[dict[str, Any]]) -> list[tuple[str, Imported]]:
    """Return rows of an export as a reader gives them."""
    fields = ("text", "context", "key", "title", "source", "memory_type")
    return [
        (
            one["bank"],
            Imported(
                Lesson("").but(**{name: one[name] for name in fields if name in one}),
                one["origin"],
                created=one["created"],
                seen=one["seen"],
                invalid=one.get("invalid"),
                superseded_by=one.get("superseded_by"),
            ),
        )
        for one in told
    ]


def _clock(start: int) -> Callable[[], float]:
    ticks = itertools.count(start)
    return lambda: float(next(ticks))
