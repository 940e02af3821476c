"""The files of the local backend are read as the backend itself reads them, one lesson at a time."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lessonbook.core.care import Imported
from lessonbook.core.lesson import Lesson, Scope
from lessonbook.memory import page
from lessonbook.memory.importing import lines
from lessonbook.memory.importing.learned_md import matches, read
from lessonbook.memory.importing.values import ReadProblem
from lessonbook.memory.local import LocalMemory

TOLD = 1_777_636_800.0


def parted(found: Iterator[Imported | ReadProblem]) -> tuple[list[Imported], list[ReadProblem]]:
    """The lessons, and the problems."""
    everything = list(found)
    return (
        [one for one in everything if isinstance(one, Imported)],
        [one for one in everything if isinstance(one, ReadProblem)],
    )


def written(folder: Path, data: bytes, name: str = "learned.md", at: float = TOLD) -> Path:
    path = folder / "memories" / "--home-ana-app--" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (at, at))
    return path


def test_lessons_with_their_contexts_newest_first(tmp_path: Path) -> None:
    path = written(
        tmp_path, b"# Mine\n\nprose\n- New rule. _(context: a red build)_\n- Old\n  rule.\n\n```\n- none\n```\n"
    )
    found, problems = parted(read(path))
    assert problems == []
    assert [(one.lesson.text, one.lesson.context, one.seen) for one in found] == [
        ("New rule.", "a red build", TOLD),
        ("Old rule.", None, TOLD - 1),
    ]
    assert {(one.bank, one.lesson.scope, one.lesson.veracity) for one in found} == {
        ("--home-ana-app--", Scope.PROJECT, "imported")
    }


def test_what_our_own_backend_wrote_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "learned.md"
    memory = LocalMemory(path)
    for number in range(103):
        memory.store(Lesson(f"Rule {number} _(context: in the text)", context=f"seen {number}" if number % 2 else None))
    kept = [(one.text, one.context) for one in memory.recent(200)]
    assert [(one.lesson.text, one.lesson.context) for one in parted(read(path))[0]] == kept
    archived, _ = parted(read(path.with_name("learned.archive.md")))
    assert [one.lesson.text.split(" _")[0] for one in archived] == ["Rule 2", "Rule 1", "Rule 0"]


def test_the_archive_is_older_than_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, b"".join(b"- Rule %d.\n" % number for number in range(100)))
    archive = written(tmp_path, b"- Older.\n- Oldest.\n", "learned.archive.md", TOLD + 3)
    times = [one.seen or 0 for one in (*parted(read(path))[0], *parted(read(archive))[0])]
    assert times == sorted(times, reverse=True)
    assert len(set(times)) == 102


def test_a_lesson_keeps_its_origin_wherever_it_moves(tmp_path: Path) -> None:
    before = {one.origin for one in parted(read(written(tmp_path, b"- A.\n- B. _(context: x)_\n")))[0]}
    moved = [written(tmp_path, b"# Mine\r\n-  B. _(context: x)_\r\n"), written(tmp_path, b"- A.", "learned.archive.md")]
    assert {one.origin for path in moved for one in parted(read(path))[0]} == before
    other = written(tmp_path / "elsewhere", b"- B.\n")
    assert not {one.origin for one in parted(read(other))[0]} & before  # another context is another lesson


def test_secrets_are_redacted(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    (one,), _ = parted(read(written(tmp_path, f"- Key {secret} leaked. _(context: ci {secret})_\n".encode())))
    assert secret not in repr(one)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary() | st.text(alphabet="- ab\r\n`~#<!>\ufeff\t()_:context").map(str.encode))
def test_any_file_is_read_as_the_backend_reads_it(tmp_path: Path, data: bytes) -> None:
    found, _ = parted(read(written(tmp_path, data)))
    here = [] if data.startswith((b"\xff\xfe", b"\xfe\xff")) else page.parse(data).items
    wanted = [(item.text, item.context) for item in here if item.text]
    assert [(one.lesson.text, one.lesson.context) for one in found] == wanted


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff"])
def test_utf_16_is_one_problem(tmp_path: Path, mark: bytes) -> None:
    found, problems = parted(read(written(tmp_path, mark + "- A rule.\n".encode("utf-16-le"))))
    assert found == []
    assert ["UTF-8" in problem.sentence for problem in problems] == [True]


def test_what_cannot_be_read_is_named_by_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, b"# Mine\n- One.\n- <>`\n- " + b"x" * (lines.LINE_MAX + 1) + b"\n- Last.\n")
    found, problems = parted(read(path))
    assert [one.lesson.text for one in found] == ["One.", "Last."]
    assert [problem.where.rpartition(" ")[2] for problem in problems] == ["3", "4"]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    found, problems = parted(read(tmp_path / "learned.md"))
    assert found == []
    assert len(problems) == 1
    assert "no such file" in problems[0].sentence


def test_only_the_two_names_match(tmp_path: Path) -> None:
    names = ("learned.md", "learned.archive.md", "notes.md", "learned.md.bak")
    assert [matches(tmp_path / name, b"- x\n") for name in names] == [True, True, False, False]


def test_memory_does_not_grow_with_the_archive(tmp_path: Path) -> None:
    peaks = []
    for size in (2_000, 20_000):
        data = b"".join(b"- Rule %d %s\n" % (number, b"x" * 300) for number in range(size))
        path = written(tmp_path, data, "learned.archive.md")
        tracemalloc.start()
        inside = page.quiet(line or "" for _, line in lines.numbered(path, newline=""))
        assert (
            sum(1 for _ in page.grouped((line or "" for _, line in lines.numbered(path, newline="")), inside)) == size
        )
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 3 * peaks[0]
