"""What a book knows already, so that nothing is proposed twice: HEAD, its history, what waits and what was rejected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lessonbook.book.candidates import message_of, read_waiting
from lessonbook.book.content import expected
from lessonbook.book.decided import KEY, Decided, decided
from lessonbook.book.remembered import candidate_commit
from lessonbook.book.repository import REJECTED_REFS, Book, open_book, pending_refs
from lessonbook.core.candidate import Twin
from lessonbook.system import git
from lessonbook.system.gitbatch import compare, read_objects, read_tree, spared


@dataclass(frozen=True, slots=True)
class Known:
    """The keys of every candidate ever accepted, pending or rejected, and the paragraphs of all their texts."""

    keys: frozenset[str] = frozenset()
    paragraphs: frozenset[str] = frozenset()
    decided: Decided | None = None

    def holds(self, key: str, text: str) -> bool:
        """Whether this key, or every paragraph of this text (case and white space aside), is known."""
        own = _paragraphs(text)
        return key in self.keys or (bool(own) and own <= self.paragraphs)

    def waits(self, start: str) -> bool:
        """Whether a candidate waits whose key begins so."""
        waiting = (one for one in (self.decided.records if self.decided else ()) if one.twin.became == "pending")
        return any(key.startswith(start) for one in waiting for key in one.keys)

    def twins(self, key: str, text: str) -> tuple[Twin, ...]:
        """Return the candidates about the same key or that say nearly the same, with what became of each."""
        if self.decided is None:
            return ()
        from lessonbook.core.twins import print_of

        return self.decided.twins([key], print_of(text))


def known(folder: Path) -> Known:
    """Return what the book knows; nothing where there is no repository. Its size makes for no more processes.

    Raises ``StoreError`` where git refuses the repository and ``SetupError`` where there is no git.
    """
    book = open_book(folder)
    if book is None:
        return Known()
    refs, rejected = pending_refs(book, REJECTED_REFS)
    tips = [*(ref.commit for ref in refs), *rejected.values(), *([book.head] if book.head else [])]
    if not tips:
        return Known()
    seen = decided(book, read_waiting(book, refs), rejected)
    return Known(_keys(book, tips), _texts(book, _candidates(book, tips)), seen)


def _keys(book: Book, tips: Iterable[str]) -> frozenset[str]:
    commits = spared(lambda some: _reached(book, some), list(dict.fromkeys(tips)))
    found = read_objects(book.folder, commits).values()
    trailers = (message_of(commit.data).trailers for commit in found)
    return frozenset(value for lines in trailers for key, value in lines if key == KEY)


def _reached(book: Book, tips: Sequence[str]) -> dict[str, None]:
    data = "".join(f"{tip}\n" for tip in tips).encode()
    return dict.fromkeys(git.run(book.folder, "rev-list", "--ignore-missing", "--stdin", data=data).decode().split())


def _candidates(book: Book, tips: Iterable[str]) -> list[str]:
    """The tips, with what each record of a rejection remembers in its place."""
    asked = list(dict.fromkeys(tips))
    found = read_objects(book.folder, asked)
    return [candidate_commit(tip, found.get(tip)) for tip in asked]


def _texts(book: Book, tips: Iterable[str]) -> frozenset[str]:
    """The paragraphs of HEAD's tree and of what each other tip's last commit changed."""
    tree = read_tree(book.folder, book.head) if book.head else {}
    wanted = {entry.oid for path, entry in tree.items() if entry.mode.startswith("100") and expected(path)}
    others = [(tip, None) for tip in dict.fromkeys(tips) if tip != book.head]
    for changes in compare(book.folder, others).values():
        wanted |= {change.new.oid for change in changes if change.new and change.new.mode.startswith("100")}
    found = read_objects(book.folder, sorted(wanted)).values()
    texts = (item.data.decode("utf-8", "replace") for item in found if b"\0" not in item.data)
    return frozenset(paragraph for text in texts for paragraph in _paragraphs(text))


def _paragraphs(text: str) -> frozenset[str]:
    blocks = text.replace("\r\n", "\n").split("\n\n")
    folded = (" ".join(block.split()).casefold() for block in blocks)
    return frozenset(block for block in folded if block)
