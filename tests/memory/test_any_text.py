"""Any text that is told comes back cleaned and otherwise equal from every backend, and no question is an error."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lessonbook.core.lesson import Lesson, Outcome
from lessonbook.core.ports import Memory
from lessonbook.core.tidy import tidy
from lessonbook.memory.local import LocalMemory
from lessonbook.memory.mnemopi.bank import MnemopiMemory

ANY = st.text(st.characters(codec=None, exclude_categories=()), max_size=400)
"""All of Unicode: lone surrogates, NUL, what is not assigned."""
OPENERS: dict[str, tuple[Callable[[Path], Memory], int]] = {
    "local": (lambda folder: LocalMemory(folder / "learned.md"), 2_000),
    "mnemopi": (lambda folder: MnemopiMemory(folder / "bank.db", "p-1", itertools.count(1.0).__next__), 20_000),
}
BIG = ("word \U0001f680\udc88\0 " * 130_000)[: 1 << 20]


@pytest.mark.parametrize("backend", OPENERS)
@settings(deadline=None, max_examples=60)
@given(text=ANY, query=ANY)
@example(text="\0", query="\0")
@example(text="\udc88", query="\udc88")
@example(text="\U0001f1e9\U0001f1ea \u200d\ufe0f", query='"')
def test_any_text_comes_back_and_any_question_is_answered(backend: str, text: str, query: str) -> None:
    opener, limit = OPENERS[backend]
    wanted = tidy(text, limit).text
    assert tidy(wanted, limit).text == wanted
    with TemporaryDirectory() as folder, closing(opener(Path(folder))) as memory:
        receipt = memory.store(Lesson(text))
        assert (receipt.outcome is Outcome.REFUSED) == (wanted == "")
        kept = [one.text for one in memory.recent()]
        assert kept == ([wanted] if wanted else [])
        assert {one.text for one in memory.recall(query)} <= set(kept)
        memory.recall(text)
        memory.store(Lesson("one more"))
        assert len(memory.recent()) == len({*kept, "one more"})


@pytest.mark.parametrize("backend", OPENERS)
def test_a_megabyte_is_cut_and_that_is_said(backend: str, tmp_path: Path) -> None:
    opener, limit = OPENERS[backend]
    with closing(opener(tmp_path)) as memory:
        receipt = memory.store(Lesson(BIG))
        assert receipt.notes == (f"The lesson was cut to {limit:,} characters.",)
        assert [one.text for one in memory.recent()] == [tidy(BIG, limit).text]
        assert len(memory.recall(BIG)) == 1
