"""One learned.md, many writers, and the person who edits it by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessonbook.core.errors import BusyError, StoreError
from lessonbook.core.lesson import Lesson, Outcome
from lessonbook.core.tidy import tidy
from lessonbook.memory.local import LocalMemory, learned_file
from lessonbook.memory.page import parse
from lessonbook.system import files, locks

STORE = """
import sys
from pathlib import Path
from lessonbook.core.lesson import Lesson
from lessonbook.core.tidy import tidy
from lessonbook.memory.local import LocalMemory
from lessonbook.system import faults
file, who, count, point = sys.argv[1:]
memory = LocalMemory(Path(file))
if point == "record":
    passed = faults.record()
elif point:
    faults.arm(point)
for n in range(int(count)):
    memory.store(Lesson(f"writer {who} lesson {n} ends here"))
if point == "record":
    import json
    print(json.dumps(passed))
"""


def start(file: Path, who: int, count: int, point: str = "") -> subprocess.Popen[str]:
    command = [sys.executable, "-c", STORE, str(file), str(who), str(count), point]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    out, _ = process.communicate(timeout=120)
    return process.returncode, out


def texts(*paths: Path) -> list[str]:
    return [item.text for path in paths for item in parse(files.read_bytes(path)).items]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memories" / "--p--" / "learned.md"


@pytest.mark.parametrize(
    ("cwd", "name"),
    [
        ("/tmp/peer/b2", "--tmp-peer-b2--"),
        ("C:\\work\\app", "--C--work-app--"),
        ("\\\\server\\share", "---server-share--"),
        ("/", "----"),
    ],
)
def test_the_file_is_where_the_original_has_it(tmp_path: Path, cwd: str, name: str) -> None:
    assert learned_file(tmp_path, cwd) == tmp_path / "memories" / name / "learned.md"


def test_a_folder_too_long_for_a_name_gets_a_digest(tmp_path: Path) -> None:
    one, two = (learned_file(tmp_path, "/" + "ä" * 300 + end) for end in "ab")
    assert one != two
    for path in (one, two):
        assert len(path.parent.name.encode()) <= 255
        assert LocalMemory(path).store(Lesson("x")).outcome is Outcome.STORED


def test_the_file_has_the_originals_format(file: Path) -> None:
    memory = LocalMemory(file)
    memory.store(Lesson("First."))
    memory.store(Lesson("Second.", context="in repo x"))
    assert file.read_bytes() == b"- Second. _(context: in repo x)_\n- First.\n"
    assert file.stat().st_mode & 0o777 == 0o644
    assert sorted(path.name for path in file.parent.iterdir()) == [".learned.md.lock", "learned.md"]


def test_a_repeat_moves_up_and_another_context_is_another_line(file: Path) -> None:
    memory = LocalMemory(file)
    for text, context in (("a", None), ("b", None), ("a", "x"), ("a", None)):
        memory.store(Lesson(text, context=context))
    assert file.read_text() == "- a\n- a _(context: x)_\n- b\n"


def test_a_repeat_of_the_newest_writes_nothing(file: Path) -> None:
    memory = LocalMemory(file)
    memory.store(Lesson("a"))
    before = file.stat()
    assert memory.store(Lesson("a")).outcome is Outcome.DUPLICATE
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_the_oldest_goes_to_the_archive_and_the_reply_says_so(file: Path) -> None:
    memory = LocalMemory(file)
    receipts = [memory.store(Lesson(f"lesson {n}")) for n in range(103)]
    assert receipts[99].notes == ()
    assert receipts[100].notes == ("The oldest lesson moved to learned.archive.md: a file keeps 100.",)
    assert texts(file) == [f"lesson {n}" for n in range(102, 2, -1)]
    assert texts(file.with_name("learned.archive.md")) == ["lesson 2", "lesson 1", "lesson 0"]
    assert memory.count() == 100


def test_a_long_file_a_person_made_is_capped_without_loss(file: Path) -> None:
    file.parent.mkdir(parents=True)
    lines = [f"- mine {n}\r\n  and more\r\n" for n in range(150)]
    file.write_bytes(("# Mine\r\n" + "".join(lines) + "end").encode())
    receipt = LocalMemory(file).store(Lesson("new"))
    assert receipt.notes == ("The oldest 51 lessons moved to learned.archive.md: a file keeps 100.",)
    archive = file.with_name("learned.archive.md")
    assert texts(file, archive) == ["new", *(f"mine {n} and more" for n in range(150))]
    assert file.read_bytes().startswith(b"# Mine\r\n- new\r\n- mine 0\r\n")
    assert file.read_bytes().endswith(b"end")


def test_a_hand_edit_between_two_lessons_is_kept(file: Path) -> None:
    memory = LocalMemory(file)
    memory.store(Lesson("one"))
    file.write_text("# Mine\n\n- by hand\n" + file.read_text() + "\nfooter")
    memory.store(Lesson("two"))
    assert file.read_text() == "# Mine\n\n- two\n- by hand\n- one\n\nfooter"
    assert [found.text for found in memory.recent()] == ["two", "by hand", "one"]


def test_an_edit_saved_while_we_write_is_kept(file: Path) -> None:
    file.parent.mkdir(parents=True)
    file.write_text("- one\n")
    asked = []

    def edited() -> bool:
        asked.append(file.write_text("- edited\n"))
        return True

    assert files.write_atomic(file, b"- ours\n", unless=edited) is False
    assert file.read_text() == "- edited\n"
    assert [path.name for path in file.parent.iterdir()] == ["learned.md"]


def test_what_a_person_wrote_by_hand_is_read_redacted_and_not_rewritten(file: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    file.parent.mkdir(parents=True)
    file.write_text(f"- token `{secret}` works\n")
    memory = LocalMemory(file)
    assert memory.recent()[0].text == "token [REDACTED] works"
    assert "REDACTED" in memory.recall("token")[0].text
    assert secret in file.read_text()


def test_a_linked_file_stays_a_link(file: Path, tmp_path: Path) -> None:
    target, hop = tmp_path / "dotfiles" / "lessons.md", tmp_path / "hop"
    target.parent.mkdir()
    target.write_text("- mine\n")
    target.chmod(0o600)
    hop.symlink_to(target)
    file.parent.mkdir(parents=True)
    file.symlink_to(hop)
    LocalMemory(file).store(Lesson("new"))
    assert file.is_symlink() and hop.is_symlink()
    assert target.read_text() == "- new\n- mine\n"
    assert target.stat().st_mode & 0o777 == 0o600


def test_a_dangling_link_and_a_loop_are_refused(file: Path, tmp_path: Path) -> None:
    file.parent.mkdir(parents=True)
    for target in (tmp_path / "gone" / "x.md", file):
        file.unlink(missing_ok=True)
        file.symlink_to(target)
        with pytest.raises(StoreError, match=r"learned\.md"):
            LocalMemory(file).store(Lesson("new"))
    assert not (tmp_path / "gone").exists()


def test_a_read_only_file_a_hard_link_and_a_folder_are_refused(file: Path, tmp_path: Path) -> None:
    memory = LocalMemory(file)
    memory.store(Lesson("old"))
    file.chmod(0o444)
    with pytest.raises(StoreError, match="read-only"):
        memory.store(Lesson("new"))
    file.chmod(0o644)
    (tmp_path / "second").hardlink_to(file)
    with pytest.raises(StoreError, match="hard link"):
        memory.store(Lesson("new"))
    assert file.read_text() == "- old\n"
    file.unlink()
    file.mkdir()
    with pytest.raises(StoreError, match="cannot be read"):
        memory.store(Lesson("new"))


def test_utf16_is_refused_and_left_alone(file: Path) -> None:
    file.parent.mkdir(parents=True)
    file.write_bytes("- mine\n".encode("utf-16"))
    with pytest.raises(StoreError, match="UTF-16"):
        LocalMemory(file).store(Lesson("new"))
    assert file.read_bytes() == "- mine\n".encode("utf-16")


def test_a_lock_that_stays_taken_is_an_error(file: Path) -> None:
    memory = LocalMemory(file, wait=0.01)
    memory.store(Lesson("a"))
    with locks.locked(file.with_name(".learned.md.lock"), wait=1), pytest.raises(BusyError):
        memory.store(Lesson("b"))
    assert texts(file) == ["a"]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.text(min_size=1), max_size=5), st.text())
def test_any_text_comes_back_and_any_question_is_answered(
    tmp_path_factory: pytest.TempPathFactory, told: list[str], query: str
) -> None:
    memory = LocalMemory(tmp_path_factory.mktemp("local") / "learned.md")
    for text in told:
        memory.store(Lesson(text))
    wanted = {tidy(text).text for text in told} - {""}
    assert {found.text for found in memory.recent()} == wanted
    assert {found.text for found in memory.recall(query)} <= wanted


@pytest.mark.slow
def test_sixteen_writers_lose_nothing(file: Path) -> None:
    running = [start(file, who, 50) for who in range(16)]
    assert [finish(process)[0] for process in running] == [0] * 16
    wanted = {f"writer {who} lesson {n} ends here" for who in range(16) for n in range(50)}
    kept, archived = texts(file), texts(file.with_name("learned.archive.md"))
    assert (len(kept), len(archived)) == (100, 700)
    assert {*kept, *archived} == wanted


def test_twenty_writers_and_a_hand_edit(file: Path) -> None:
    LocalMemory(file).store(Lesson("first"))
    running = [start(file, who, 1) for who in range(20)]
    with locks.locked(file.with_name(".learned.md.lock"), wait=30):
        file.write_text("# By hand\n\n" + file.read_text() + "last words")
    assert [finish(process)[0] for process in running] == [0] * 20
    assert set(texts(file)) == {"first", *(f"writer {who} lesson 0 ends here" for who in range(20))}
    assert file.read_text().startswith("# By hand\n\n")
    assert file.read_text().endswith("last words")


def test_a_kill_at_any_step_tears_nothing(file: Path) -> None:
    memory = LocalMemory(file)
    for n in range(100):
        memory.store(Lesson(f"old {n}"))
    code, told = finish(start(file.parent.with_name("other") / "learned.md", 0, 101, "record"))
    assert code == 0
    points = set(json.loads(told))
    assert points == {"files.before-rename", "files.after-rename", "local.archived"}
    for who, point in enumerate(sorted(points)):
        before = texts(file)
        assert finish(start(file, who, 1, point))[0] == -9
        assert texts(file) in (before, [f"writer {who} lesson 0 ends here", *before[:99]])
        memory.store(Lesson(f"writer {who} lesson 0 ends here"))
        both = texts(file, file.with_name("learned.archive.md"))
        assert len(both) == len(set(both)) == 101 + who
    assert not list(file.parent.glob(".learned*.tmp"))
