"""What others need to test against us: a contract suite that every memory backend inherits.

Needs nothing but pytest to run::

    class TestMyMemory(MemoryContract):
        def open(self, folder, now):
            return MyMemory(folder / "my.db", now)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

from lessonbook.core.lesson import Lesson, Outcome, Scope
from lessonbook.core.ports import Memory
from lessonbook.core.tidy import tidy

HARD_TEXTS = (
    "plain text",
    'multi-agent runs at 50% of GB/s in C++, @nasa, status: done, don\'t "quote" health.base',
    "caf\u00e9 au lait",
    "cafe\u0301 cre\u0300me",
    "bad \udc88 byte",
    "a\x00b",
    "\U0001f680\U0001f680",
    "\u90e8\u7f72\u6d41\u7a0b",
    "# heading",
    "\\# escaped heading",
    "---",
    "- - -",
    "> cited",
    "1. first",
    "[link]: http://example.invalid",
    "</tag> <script>x</script> ``` ~~~",
    "two\r\nlines\n\n# three\u2028four\x85five",
    "x _(context: y)",
)
"""Texts that have torn stores apart elsewhere: every one must come back as ``tidy`` says, and harm no other."""

HARD_QUERIES = (
    "multi-agent",
    "status: done",
    "GB/s",
    "don't",
    "health.base",
    "@nasa",
    "C++",
    "50%",
    'timeout "error',
    "retry OR",
    "AND",
    "NOT x",
    "NEAR(",
    "(",
    "*",
    "-done",
    "^a",
    "text:x",
    "a\x00b",
    "\udc88",
    "\U0001f680",
    "words " * 3_500,
    "".join(map(chr, range(1, 0x250))),
)
"""Questions that are errors where they are taken for a query language."""

_FOUND_BY = ("multi-agent", "status: done", "GB/s", "don't", "health.base", "@nasa", "C++", "50%", '"quote"')


class MemoryContract:
    """What every ``Memory`` must do. Inherit it, and say in ``open`` how the backend is opened in an empty folder.

    A backend that hands lessons on to a server says so in ``outcomes``, and in ``settle`` how it is made to do so.
    """

    outcomes = (Outcome.STORED, Outcome.DUPLICATE)
    """What a new lesson becomes, and one that was told before."""

    def settle(self, memory: Memory) -> None:
        """Bring everything the memory was told to where it is kept; nothing is to be done for most."""

    def open(self, folder: Path, now: Callable[[], float]) -> Memory:
        """Return the backend, keeping what it keeps below ``folder``; called again, it opens the same store."""
        raise TypeError(f"{type(self).__name__} must say how its memory is opened.")

    def test_meets_the_protocol(self, tmp_path: Path) -> None:
        """It has every method, a name, and the project's scope."""
        memory = self.open(tmp_path, _clock())
        assert isinstance(memory, Memory)
        assert memory.name
        assert Scope.PROJECT in memory.scopes

    def test_a_new_store_is_empty(self, tmp_path: Path) -> None:
        """Nothing is there, and that is no error; asking makes no file."""
        before = sorted(tmp_path.rglob("*"))
        memory = self.open(tmp_path, _clock())
        assert (memory.count(), list(memory.recent()), list(memory.recall("anything"))) == (0, [], [])
        assert sorted(tmp_path.rglob("*")) == before
        memory.close()

    def test_a_lesson_outlives_the_one_who_stored_it(self, tmp_path: Path) -> None:
        """What was answered "stored" is there for the next one who opens, with its context."""
        memory = self.open(tmp_path, _clock())
        receipt = memory.store(Lesson("Run the linter before the tests.", context="a red build"))
        assert receipt.outcome is self.outcomes[0]
        assert receipt.id
        self.settle(memory)
        memory.close()
        again = self.open(tmp_path, _clock())
        assert [(one.id, one.text, one.context) for one in again.recent()] == [
            (receipt.id, "Run the linter before the tests.", "a red build")
        ]
        again.close()

    def test_the_same_lesson_again_is_one_lesson(self, tmp_path: Path) -> None:
        """A repeat, also in another Unicode spelling, is a duplicate under the same id, and the newest again."""
        memory = self.open(tmp_path, _clock())
        first = memory.store(Lesson("caf\u00e9 rule"))
        memory.store(Lesson("other rule"))
        self.settle(memory)
        again = memory.store(Lesson("  cafe\u0301   rule\n"))
        assert (again.outcome, again.id, memory.count()) == (self.outcomes[1], first.id, 2)
        assert [one.text for one in memory.recent()] == ["caf\u00e9 rule", "other rule"]
        for spelling in ("caf\u00e9", "cafe\u0301"):
            assert memory.recall(spelling)[0].text == "caf\u00e9 rule"
        memory.close()

    def test_another_letter_case_is_another_lesson(self, tmp_path: Path) -> None:
        """As the original has it: ``make Test`` and ``make test`` may be two commands."""
        memory = self.open(tmp_path, _clock())
        outcomes = [memory.store(Lesson(text)).outcome for text in ("Use make test", "Use make Test")]
        assert outcomes == [self.outcomes[0]] * 2
        memory.close()

    def test_a_new_context_is_not_lost(self, tmp_path: Path) -> None:
        """Told again with another context, both contexts can be read."""
        memory = self.open(tmp_path, _clock())
        for context in ("seen in alpha", "seen in beta"):
            memory.store(Lesson("Quote the path.", context=context))
        contexts = " ".join(one.context or "" for one in memory.recent())
        assert "alpha" in contexts
        assert "beta" in contexts
        memory.close()

    def test_hard_texts_come_back_as_cleaned(self, tmp_path: Path) -> None:
        """Each is stored, comes back as ``tidy`` says, and poisons nothing that comes after it."""
        memory = self.open(tmp_path, _clock())
        for text in HARD_TEXTS:
            memory.store(Lesson(text, context=text))
            newest = memory.recent(1)[0]
            assert newest.text == tidy(text).text
            assert newest.context == tidy(text).text
        assert memory.count() == len({tidy(text).text for text in HARD_TEXTS})
        memory.close()

    def test_nothing_is_refused_as_empty(self, tmp_path: Path) -> None:
        """A text of which cleaning leaves nothing is refused, and nothing is stored."""
        memory = self.open(tmp_path, _clock())
        for text in ("", " \r\n\t", "<>`", "\x00\x01"):
            receipt = memory.store(Lesson(text))
            assert receipt.outcome is Outcome.REFUSED
            assert receipt.reason
        assert memory.count() == 0
        memory.close()

    def test_a_scope_is_kept_apart_or_refused(self, tmp_path: Path) -> None:
        """A lesson for every project is never kept as if it were one for this project."""
        memory = self.open(tmp_path, _clock())
        receipt = memory.store(Lesson("everywhere", scope=Scope.GLOBAL))
        assert (receipt.outcome is self.outcomes[0]) == (Scope.GLOBAL in memory.scopes)
        assert memory.count() == (1 if Scope.GLOBAL in memory.scopes else 0)
        memory.close()

    def test_no_question_is_an_error(self, tmp_path: Path) -> None:
        """Every question is answered, and a blank one with nothing."""
        memory = self.open(tmp_path, _clock())
        for text in HARD_TEXTS:
            memory.store(Lesson(text))
        for query in HARD_QUERIES:
            assert len(memory.recall(query, 3)) <= 3
        assert [list(memory.recall(query)) for query in ("", "  ", "\n\t", "\x00")] == [[], [], [], []]
        assert list(memory.recall("plain", 0)) == []
        memory.close()

    def test_a_word_that_is_there_is_found(self, tmp_path: Path) -> None:
        """Whatever signs stand around it, and however long the question is."""
        memory = self.open(tmp_path, _clock())
        for text in HARD_TEXTS:
            memory.store(Lesson(text))
        for query in (*_FOUND_BY, "what do we know about multi-agent runs and everything around them? " * 20):
            assert "multi-agent" in memory.recall(query, 1)[0].text
        for text in ("\U0001f680", "\u90e8\u7f72\u6d41\u7a0b", "\u6d41\u7a0b"):
            assert text in memory.recall(text, 1)[0].text
        memory.close()

    def test_the_best_match_comes_first(self, tmp_path: Path) -> None:
        """A lesson that shares the rare words beats those that share a common one."""
        memory = self.open(tmp_path, _clock())
        for number in range(20):
            memory.store(Lesson(f"Run the command number {number} before the release."))
        memory.store(Lesson("Run the quarantine script before the release when the mirror lags."))
        found = memory.recall("the mirror lags, run what?")
        assert "quarantine" in found[0].text
        assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
        memory.close()

    def test_a_secret_is_kept_nowhere(self, tmp_path: Path) -> None:
        """Whoever calls: no byte of it reaches a file, and the receipt says that something was redacted."""
        secret = "ghp_" + "a1B2" * 9
        memory = self.open(tmp_path, _clock())
        receipt = memory.store(Lesson(f"Key {secret} leaked.", context=f"ci {secret}", metadata={"seen": secret}))
        assert any("redacted" in note for note in receipt.notes)
        assert secret not in repr(memory.recent())
        assert _holding(secret, tmp_path) == []
        memory.close()
        assert _holding(secret, tmp_path) == []

    def test_a_cut_is_told(self, tmp_path: Path) -> None:
        """A text too long to keep whole is kept cut, and the receipt says so."""
        memory = self.open(tmp_path, _clock())
        receipt = memory.store(Lesson("word " * 20_000))
        kept = memory.recent(1)[0].text
        assert any("cut" in note for note in receipt.notes) == (len(kept) < len("word " * 20_000) - 1)
        self.settle(memory)
        assert memory.store(Lesson("word " * 20_000)).outcome is self.outcomes[1]
        memory.close()

    def test_closing_twice_is_fine(self, tmp_path: Path) -> None:
        """Closing is safe before the first use, twice, and a closed memory may be used again or refuse."""
        memory = self.open(tmp_path, _clock())
        memory.close()
        memory.store(Lesson("one"))
        memory.close()
        memory.close()


def _clock() -> Callable[[], float]:
    ticks = itertools.count(1_700_000_000)
    return lambda: float(next(ticks))


def _holding(secret: str, folder: Path) -> list[Path]:
    needle = secret.encode()
    return [path for path in folder.rglob("*") if path.is_file() and needle in path.read_bytes()]
