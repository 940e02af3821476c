"""The ``local`` backend: one ``learned.md`` per folder, the file the original writes, safe for many writers at once.

The oldest lessons past the file's hundred move to ``learned.archive.md`` beside it. The archive is written first, so a
crash between the two leaves a lesson in both, never in neither.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from lessonbook.core.errors import BusyError, StoreError
from lessonbook.core.lesson import EMPTY, NO_GLOBAL, Lesson, Outcome, Recalled, Receipt
from lessonbook.core.tidy import tidy_lesson
from lessonbook.memory import page, scoring
from lessonbook.system import files, locks
from lessonbook.system.faults import point

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.memory.plain_care import PlainCare

TEXT_LIMIT = 2_000
CONTEXT_LIMIT = 400
MOST = 100
"""How many lessons one file keeps, as the original has it."""
WAIT = 30.0
"""Seconds to wait for other writers of the same file before ``BusyError``."""
_TRIES = 20
_SEPARATORS = re.compile(r"[/\\:]")
_NAME_MAX = 255


def learned_file(agent_dir: Path, cwd: str) -> Path:
    """Return ``<agent_dir>/memories/--<cwd with / \\ : as ->--/learned.md``, the original's rule.

    One leading separator falls away first. A name longer than a file system takes ends in a digest instead.
    """
    name = "--" + _SEPARATORS.sub("-", cwd[1:] if cwd[:1] in ("/", "\\") else cwd) + "--"
    encoded = name.encode("utf-8", "surrogateescape")
    if len(encoded) > _NAME_MAX:
        digest = hashlib.sha256(encoded).hexdigest()[:16]
        name = f"{encoded[:200].decode('utf-8', 'ignore')}-{digest}--"
    return agent_dir / "memories" / name / "learned.md"


class LocalMemory:
    """Lessons of one folder in ``file``. Meets ``core.ports.Memory``; every call reads the file anew."""

    name = "local"
    scopes = frozenset({"project"})

    def __init__(self, file: Path, wait: float = WAIT) -> None:
        self._file = file
        self._archive = file.with_name("learned.archive.md")
        self._wait = wait

    def store(self, lesson: Lesson) -> Receipt:
        """Put the lesson on top; one that is there already moves up and is ``DUPLICATE``. Raises ``StoreError``."""
        tidied = tidy_lesson(lesson, TEXT_LIMIT, CONTEXT_LIMIT)
        kept, notes = tidied.lesson, tidied.notes
        if not kept.text or kept.scope not in self.scopes:
            return Receipt(Outcome.REFUSED, reason=NO_GLOBAL if kept.text else EMPTY)
        new = page.make_item(kept.text, kept.context)
        target = self._target()
        with locks.locked(target.with_name(f".{target.name}.lock"), wait=self._wait):
            files.remove_leftovers(target)
            for _ in range(_TRIES):
                receipt = self._put(new, notes)
                if receipt is not None:
                    return receipt
        raise BusyError(f"Another program keeps changing {self._file}; nothing was stored, try again.")

    def recall(self, query: str, limit: int = 5) -> Sequence[Recalled]:
        """Return the lessons that share the query's words, best first. Raises ``StoreError`` for an unreadable file."""
        items = self._read().items
        ranked = scoring.rank(query, [f"{item.text} {item.context or ''}" for item in items])
        return [self._recalled(items[index], score) for index, score in ranked[: max(limit, 0)]]

    def recent(self, limit: int = 20) -> Sequence[Recalled]:
        """Return the newest lessons, newest first."""
        return [self._recalled(item, 0.0) for item in self._read().items[: max(limit, 0)]]

    def count(self) -> int:
        """Return how many lessons the file holds; those in the archive are not recalled."""
        return len(self._read().items)

    @property
    def place(self) -> str:
        """Where the file is."""
        return str(self._file)

    @property
    def care(self) -> PlainCare:
        """What a person does with the file's lessons as a whole."""
        from lessonbook.memory.plain_care import PlainCare

        return PlainCare(self.recent, self.name)

    def close(self) -> None:
        """Do nothing: no file is held open between calls."""

    def _put(self, new: page.Item, notes: tuple[str, ...]) -> Receipt | None:
        """Write the file with ``new`` on top; ``None`` where a person saved it meanwhile and nothing was written."""
        data = files.read_bytes(self._file)
        before = self._parsed(data)
        known = next((item for item in before.items if item.key == new.key), None)
        outcome = Outcome.DUPLICATE if known else Outcome.STORED
        if known and known is before.items[0]:
            return Receipt(outcome, id=new.id, notes=notes)
        after, leaving = page.capped(page.on_top(before, [known or new]), MOST)
        if leaving:
            self._keep(leaving)
            notes = (*notes, _moved(len(leaving)))
        written = files.write_atomic(self._file, after.encode(), unless=lambda: files.read_bytes(self._file) != data)
        return Receipt(outcome, id=new.id, notes=notes) if written else None

    def _keep(self, leaving: Sequence[page.Item]) -> None:
        archive = self._parsed(files.read_bytes(self._archive))
        files.remove_leftovers(self._archive)
        files.write_atomic(self._archive, page.on_top(archive, leaving).encode())
        point("local.archived")

    def _target(self) -> Path:
        """Return the file a symbolic link leads to, so that every name of one file shares one lock."""
        if self._file.is_symlink() and not self._file.exists():
            raise StoreError(f"{self._file} is a symbolic link that leads nowhere; nothing was written.")
        return self._file.resolve() if self._file.is_symlink() else self._file

    def _read(self) -> page.Page:
        return self._parsed(files.read_bytes(self._file))

    def _parsed(self, data: bytes | None) -> page.Page:
        if data is not None and data.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise StoreError(f"{self._file} is UTF-16; save it as UTF-8 first. Nothing was written.")
        return page.parse(data)

    def _recalled(self, item: page.Item, score: float) -> Recalled:
        return Recalled(item.id, item.text, item.context, score, None, self._file.parent.name)


def _moved(count: int) -> str:
    what = "The oldest lesson" if count == 1 else f"The oldest {count:,} lessons"
    return f"{what} moved to learned.archive.md: a file keeps {MOST}."
