"""The contract every transcript reader meets: inherit ``ReaderContract``, say what a good file is, and run it.

class TestMyReader(ReaderContract):
    def reader(self): return MyReader()
    def lines(self): return [...]      # one session's records, as this agent writes them
    def alien(self): return b"..."     # the first bytes of a file of another agent
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lessonbook.core.cursor import Resume
from lessonbook.core.ports import ResumableReader, TranscriptReader
from lessonbook.core.seen import Seen
from lessonbook.core.session import CallStatus, ReadReport, Session
from lessonbook.system import files

DAMAGE: tuple[tuple[str, bytes], ...] = (
    ("torn", b'{"type":"user","mess'),
    ("not JSON", b"hello, world"),
    ("an array", b"[]"),
    ("a text", b'"x"'),
    ("null", b"null"),
    ("a number", b"42"),
    ("NUL bytes", b"\x00" * 400),
    ("an unknown type", b'{"type":"future-kind","timestamp":"2030-01-01T00:00:00Z"}'),
    ("deep nesting", b"[" * 200_000),
    ("deep objects", b'{"a":' * 20_000),
    ("a 5,000-digit number", b'{"type":"x","n":' + b"7" * 5_000 + b"}"),
    ("not a number", b'{"type":"x","n":NaN}'),
    ("not UTF-8", b'{"type":"x","n":"\xff\xfe"}'),
    ("a lone surrogate", b'{"type":"x","n":"\\udc88"}'),
    ("fields of wrong types", b'{"type":["user"],"message":7,"payload":[],"timestamp":{},"uuid":1}'),
)
"""Lines that must cost nothing but themselves."""


class StoreContract(ABC):
    """What every reader meets, whatever it reads: inherit it where a session is more than one file, or a database."""

    @abstractmethod
    def reader(self) -> TranscriptReader:
        """Return the reader to try."""

    @abstractmethod
    def place(self, folder: Path) -> Path:
        """Write sessions as the agent does, at least one call with its result among them; return what is read."""

    @abstractmethod
    def alien(self) -> bytes:
        """Return the first bytes of a file the reader must not claim."""

    def known_as(self, path: Path) -> str:
        """Return the path under which the file must be claimed: its own, where that tells what it is."""
        return str(path)

    def has_folder(self) -> bool:
        """Whether the agent has a folder of its own that sessions are looked for in."""
        return True

    def read(self, path: Path, seen: Seen | None = None) -> tuple[list[Session], ReadReport]:
        """Return the sessions and the report of a file; exactly one report must come, and last."""
        items = list(self.reader().read(str(path), seen))
        sessions = [item for item in items if isinstance(item, Session)]
        report = items[-1]
        assert isinstance(report, ReadReport)
        assert len(sessions) == len(items) - 1
        return sessions, report

    def test_a_good_file_is_read_and_counted(self, tmp_path: Path) -> None:
        """Sessions carry the agent, the path and their calls; the report counts them."""
        sessions, report = self.read(self.place(tmp_path))
        calls = [call for session in sessions for turn in session.turns for call in turn.calls]
        assert sessions and calls
        assert {session.agent for session in sessions} == {self.reader().agent} == {report.agent}
        assert {session.path for session in sessions} == {report.path}
        assert (report.sessions, report.calls) == (len(sessions), len(calls))
        assert any(call.status is not CallStatus.UNFINISHED for call in calls)
        assert report.problem is None and not report.skipped

    def test_its_own_files_are_claimed_and_others_not(self, tmp_path: Path) -> None:
        """Detection looks at content, and at the name only where the agent's own layout is the content."""
        path = self.place(tmp_path)
        assert self.reader().matches(self.known_as(path), path.read_bytes()[:65_536])
        for foreign in (self.alien(), b"", b"MIT License\n\nCopyright (c) someone\n"):
            assert not self.reader().matches(str(tmp_path / "elsewhere" / path.name), foreign)

    def test_nothing_to_read_is_no_failure(self, tmp_path: Path) -> None:
        """Empty, missing, and foreign files give a report and no session."""
        path = self.place(tmp_path)
        for data in (b"", b"\n", b"\x00" * 5_000, b"MIT License\n", b"[" * 100_000, bytes(range(256)) * 20):
            files.write_atomic(path, data)
            sessions, report = self.read(path)
            assert not sessions and report.calls == 0
        sessions, report = self.read(tmp_path / "not-there.jsonl")
        assert not sessions and report.problem

    def test_nothing_is_ever_changed(self, tmp_path: Path) -> None:
        """Neither bytes nor times; and no file appears beside them."""
        path = self.place(tmp_path)
        for file in _below(tmp_path):
            os.utime(file, ns=(1_000_000_007, 1_000_000_009))
        before = {file: file.read_bytes() for file in _below(tmp_path)}
        self.read(path)
        assert {file: file.read_bytes() for file in _below(tmp_path)} == before
        assert {file.stat().st_mtime_ns for file in before} == {1_000_000_009}

    def test_reading_twice_gives_the_same_and_a_second_time_nothing(self, tmp_path: Path) -> None:
        """Without ``seen`` files are read afresh; with it a file met before gives no call again."""
        path = self.place(tmp_path)
        assert texts(self.read(path)[0]) == texts(self.read(path)[0])
        seen = Seen()
        assert texts(self.read(path, seen)[0])
        again, _ = self.read(path, seen)
        assert not [call for session in again for turn in session.turns for call in turn.calls]

    def test_roots_follow_home_and_environment(self) -> None:
        """Default folders lie under the home that is passed in."""
        roots = self.reader().roots("/home/someone", {})
        assert bool(roots) is self.has_folder()
        assert all(root.startswith("/home/someone/") for root in roots)


class ReaderContract(StoreContract):
    """For JSON Lines. Inherit it in a test class; pytest runs every ``test_`` method against the reader."""

    @abstractmethod
    def lines(self) -> Sequence[bytes]:
        """Return one session's records in order, without line feeds, at least one call with its result among them."""

    def name(self) -> str:
        """Return the file name the agent would give."""
        return "session.jsonl"

    def place(self, folder: Path) -> Path:
        """Write the lines as one file."""
        return self.write(folder, b"\n".join(self.lines()) + b"\n")

    def known_as(self, path: Path) -> str:
        """Return any name: the content tells."""
        return "any-name.txt"

    def write(self, folder: Path, data: bytes) -> Path:
        """Write a transcript into ``folder`` and return its path."""
        path = folder / self.name()
        files.write_atomic(path, data)
        return path

    def good(self, folder: Path) -> list[Session]:
        """Return what the undamaged file holds."""
        return self.read(self.place(folder))[0]

    def test_damage_costs_only_itself(self, tmp_path: Path) -> None:
        """Every line before and after a damaged one is read, and the file stays as it was."""
        expected = texts(self.good(tmp_path))
        for what, damage in DAMAGE:
            for at in (0, len(self.lines()) // 2, len(self.lines())):
                broken = [*self.lines()[:at], damage, *self.lines()[at:]]
                sessions, _ = self.read(self.write(tmp_path, b"\n".join(broken) + b"\n"))
                assert texts(sessions) == expected, (what, at)

    def test_glued_and_torn_lines_give_every_whole_record(self, tmp_path: Path) -> None:
        """Two records on a line, or one behind a torn start, are both found."""
        expected = texts(self.good(tmp_path))
        assert texts(self.read(self.write(tmp_path, b"".join(self.lines()) + b"\n"))[0]) == expected
        torn = b"".join(b'{"type":"user","mess' + line + b"\n" for line in self.lines())
        assert texts(self.read(self.write(tmp_path, torn))[0]) == expected

    def test_line_ends_and_marks_do_not_matter(self, tmp_path: Path) -> None:
        """CRLF, a byte order mark, empty lines, a missing last line feed."""
        expected = texts(self.good(tmp_path))
        for data in (
            b"\r\n".join(self.lines()) + b"\r\n",
            b"\xef\xbb\xbf" + b"\n".join(self.lines()) + b"\n",
            b"\n\n" + b"\n \n".join(self.lines()) + b"\n\n",
            b"\n".join(self.lines()),
        ):
            assert texts(self.read(self.write(tmp_path, data))[0]) == expected

    def test_a_file_that_still_grows_is_read_to_its_last_whole_line(self, tmp_path: Path) -> None:
        """A cut last line is counted apart, however it is cut."""
        whole = b"\n".join(self.lines()[:-1]) + b"\n"
        last = self.lines()[-1]
        for cut in sorted({1, len(last) // 3, len(last) // 2, len(last) - 1}):
            _, report = self.read(self.write(tmp_path, whole + last[:cut]))
            assert report.skipped.get("unfinished last line") == 1, cut

    def test_it_goes_on_where_it_stopped(self, tmp_path: Path) -> None:
        """Of a reader that can go on: whatever it had read, the rest gives the turns the whole has from there."""
        reader = self.reader()
        if not isinstance(reader, ResumableReader):
            return
        whole = b"\n".join(self.lines()) + b"\n"
        wanted = {session.id: session.turns for session in self.read(self.write(tmp_path, whole))[0]}
        for cut in sorted({len(whole) * n // 40 for n in range(1, 41)}):
            at = self.read(self.write(tmp_path, whole[:cut]))[1].resume or Resume()
            assert at.offset <= cut
            path = self.write(tmp_path, whole)
            for item in reader.resume(str(path), at):
                if isinstance(item, Session):
                    before = at.turns.get(item.id, 0)
                    numbered = tuple(replace(turn, n=turn.n + before) for turn in item.turns)
                    assert numbered == wanted[item.id][before:], cut

    def test_every_text_can_be_encoded(self, tmp_path: Path) -> None:
        """No lone surrogate leaves the reader, whatever the file holds."""
        spoiled = [line.replace(b'":"', b'":"\\ud83d ', 40) for line in self.lines()]
        spoiled = [*self.lines(), *spoiled]
        for session in self.read(self.write(tmp_path, b"\n".join(spoiled) + b"\n"))[0]:
            repr(session).encode("utf-8")


def texts(sessions: Sequence[Session]) -> list[object]:
    """Return what must survive damage around it: who, the words, the calls and how they ended."""
    return [
        (
            session.id,
            session.cwd,
            [
                (
                    turn.prompt,
                    turn.reply,
                    [(call.name, dict(call.args), call.status, call.result) for call in turn.calls],
                )
                for turn in session.turns
            ],
        )
        for session in sessions
    ]


def _below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())
