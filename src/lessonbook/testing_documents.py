"""The contract of readers whose session is one JSON document: inherit ``DocumentContract`` as ``ReaderContract``.

class TestMyReader(DocumentContract):
    def reader(self): return MyReader()
    def document(self): return {...}   # one session, as this agent writes it
    def where(self): return "messages" # the list of it whose elements are the records
    def alien(self): return b"..."     # the first bytes of a file of another agent
"""

from __future__ import annotations

import json
from abc import abstractmethod
from pathlib import Path
from typing import Any

from lessonbook.core.session import ReadReport, Session
from lessonbook.system import files
from lessonbook.testing_readers import DAMAGE, StoreContract, texts

_TORN = (b'{"type":"user","mess', b'{"role":"user","content":[{"te', b'{"a": nope}', b'{"a" 1}', b"oh no")
_INSERTED = tuple(damage for what, damage in DAMAGE if what not in ("torn", "not JSON", "NUL bytes"))
_MARK = "\u2603 here"


class DocumentContract(StoreContract):
    """For one JSON document per session, as far as it is there."""

    @abstractmethod
    def document(self) -> Any:
        """Return one session's document, at least one call with its result among its records."""

    @abstractmethod
    def where(self) -> str:
        """Return the name of the list that holds the records, its parents before dots; empty for the document."""

    def name(self) -> str:
        """Return the file name the agent would give."""
        return "session.json"

    def known_as(self, path: Path) -> str:
        """Return any name: the content tells."""
        return "any-name.txt"

    def place(self, folder: Path) -> Path:
        """Write the document as one file."""
        return self.write(folder, json.dumps(self.document(), indent=2).encode())

    def write(self, folder: Path, data: bytes) -> Path:
        """Write a transcript into ``folder`` and return its path."""
        path = folder / self.name()
        files.write_atomic(path, data)
        return path

    def read_data(self, folder: Path, data: bytes) -> tuple[list[Session], ReadReport]:
        """Return what a file with these bytes gives."""
        return self.read(self.write(folder, data))

    def records(self, document: Any) -> list[Any]:
        """Return the list of the document whose elements are the records."""
        for key in filter(None, self.where().split(".")):
            document = document[key]
        found: list[Any] = document
        return found

    def damaged(self, at: int, damage: bytes) -> bytes:
        """Return the document with one more element, which is damage."""
        document = self.document()
        self.records(document).insert(at, _MARK)
        return json.dumps(document).encode().replace(json.dumps(_MARK).encode(), damage, 1)

    def test_damage_costs_only_itself(self, tmp_path: Path) -> None:
        """Every record before and after a damaged one is read; what is torn is counted."""
        good = texts(self.read(self.place(tmp_path))[0])
        length = len(self.records(self.document()))
        for damage in (*_INSERTED, *_TORN):
            for at in (0, length // 2, length - 1):
                sessions, report = self.read_data(tmp_path, self.damaged(at, damage))
                assert texts(sessions) == good, (damage[:40], at)
                assert damage not in _TORN or report.skipped, (damage, at)

    def test_a_document_that_is_cut_off_gives_what_stands_before(self, tmp_path: Path) -> None:
        """However it is cut: no call more than the whole has, in the same order, and the cut is counted."""
        whole = json.dumps(self.document(), indent=1).encode()
        names = self._calls(self.read_data(tmp_path, whole)[0])
        fewest = len(names)
        for cut in sorted({len(whole) * n // 60 for n in range(1, 60)}):
            sessions, report = self.read_data(tmp_path, whole[:cut])
            found = self._calls(sessions)
            assert found == names[: len(found)], cut
            assert sum(report.skipped.values()) == 1, cut
            fewest = min(fewest, len(found))
        assert fewest == 0

    def test_layout_and_marks_do_not_matter(self, tmp_path: Path) -> None:
        """Spaces, CRLF, a byte order mark, text as itself or escaped."""
        good = texts(self.read(self.place(tmp_path))[0])
        for data in (
            json.dumps(self.document(), separators=(",", ":")).encode(),
            json.dumps(self.document(), ensure_ascii=False, indent=4).encode().replace(b"\n", b"\r\n"),
            b"\xef\xbb\xbf" + json.dumps(self.document()).encode() + b"\n",
        ):
            assert texts(self.read_data(tmp_path, data)[0]) == good

    def test_every_text_can_be_encoded(self, tmp_path: Path) -> None:
        """No lone surrogate leaves the reader, whatever the file holds."""
        spoiled = json.dumps(self.document(), separators=(",", ":")).encode().replace(b'":"', b'":"\\ud83d ', 40)
        for session in self.read_data(tmp_path, spoiled)[0]:
            repr(session).encode("utf-8")

    def _calls(self, sessions: list[Session]) -> list[str]:
        return [f"{call.name} {dict(call.args)}" for one in sessions for turn in one.turns for call in turn.calls]
