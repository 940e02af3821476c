"""A unified diff as rows: both sides whole, in order, and the words that differ marked."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from time import process_time

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lessonbook.core.patch import FilePatch, marked, read_patch

LINE = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs", "Cc"]), max_size=12)
TEXT = st.lists(LINE, max_size=12).map(lambda lines: "".join(f"{line}\n" for line in lines))


def git_diff(folder: Path, old: str | None, new: str | None, name: str = "f.md") -> str:
    for side, text in (("a", old), ("b", new)):
        (folder / side).mkdir(exist_ok=True)
        (folder / side / name).unlink(missing_ok=True)
        if text is not None:
            (folder / side / name).write_bytes(text.encode())
    command = ["git", "-C", str(folder), "diff", "--no-index", "--no-color", "--no-prefix", "-U9999", "a", "b"]
    return subprocess.run(command, capture_output=True, check=False).stdout.decode()


def side(patch: FilePatch, which: str) -> list[str]:
    found = [getattr(row, which) for hunk in patch.hunks for row in hunk]
    return [one.text for one in found if one is not None]


def numbers(patch: FilePatch, which: str) -> list[int]:
    found = [getattr(row, which) for hunk in patch.hunks for row in hunk]
    return [one.number for one in found if one is not None]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TEXT, TEXT)
def test_both_sides_are_whole_and_in_order(old: str, new: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        text = git_diff(Path(place), old, new)
    if old == new:
        assert read_patch(text) == ()
        return
    (patch,) = read_patch(text)
    for which, whole in (("old", old), ("new", new)):
        assert side(patch, which) == whole.split("\n")[:-1]
        assert numbers(patch, which) == list(range(1, whole.count("\n") + 1))
    for row in (row for hunk in patch.hunks for row in hunk):
        if row.kind == "same":
            assert row.old and row.new and not any(piece.marked for piece in (*row.old.pieces, *row.new.pieces))


@given(LINE, LINE)
def test_marks_say_what_differs_and_nothing_is_lost(old: str, new: str) -> None:
    left, right = marked(old, new)
    assert "".join(piece.text for piece in left) == old
    assert "".join(piece.text for piece in right) == new
    kept = ["".join(piece.text for piece in pieces if not piece.marked) for pieces in (left, right)]
    assert kept[0] == kept[1]
    assert old != new or not any(piece.marked for piece in (*left, *right))


def test_a_changed_word_is_marked_and_the_line_stays_beside_it(tmp_path: Path) -> None:
    (patch,) = read_patch(git_diff(tmp_path, "one\nUse npm to install it.\n", "one\nadded\nUse pnpm to install it.\n"))
    assert [row.kind for row in patch.hunks[0]] == ["same", "added", "changed"]
    changed = patch.hunks[0][2]
    assert changed.old and [piece.text for piece in changed.old.pieces if piece.marked] == ["npm"]
    assert changed.new and [piece.text for piece in changed.new.pieces if piece.marked] == ["pnpm"]


def test_lines_with_little_in_common_are_two_rows(tmp_path: Path) -> None:
    (patch,) = read_patch(git_diff(tmp_path, "first of all this\n", "quite another thing\n"))
    assert [row.kind for row in patch.hunks[0]] == ["removed", "added"]


def test_new_deleted_binary_and_odd_names(tmp_path: Path) -> None:
    new = "diff --git a/skills/x/SKILL.md b/skills/x/SKILL.md\nnew file mode 100644\n--- /dev/null\n"
    new += "+++ b/skills/x/SKILL.md\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n"
    gone = "diff --git a/o b/o\ndeleted file mode 100644\n--- a/o\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n"
    binary = "diff --git a/b.bin b/b.bin\nBinary files a/b.bin and b/b.bin differ\n"
    odd = 'diff --git "a/caf\\303\\251 \\"x\\".md" "b/caf\\303\\251 \\"x\\".md"\n--- "a/caf\\303\\251 \\"x\\".md"\n'
    odd += '+++ "b/caf\\303\\251 \\"x\\".md"\n@@ -1 +1 @@\n-a b c d\n+a b c e\n'
    found = read_patch(new + gone + binary + odd)
    assert [patch.path for patch in found] == ["skills/x/SKILL.md", "o", "b.bin", 'caf\u00e9 "x".md']
    assert side(found[0], "new") == ["one", "two"]
    assert found[0].notes == ("new file mode 100644",)
    assert side(found[1], "old") == ["one"]
    assert found[2].hunks == ()
    assert found[2].notes == ("Binary files a/b.bin and b/b.bin differ",)
    assert read_patch("") == read_patch("(no change)") == ()


def test_a_file_rewritten_from_end_to_end_is_read_at_once() -> None:
    old, new = ([f"{side} {n} {n * 7} {n * 13}" for n in range(5000)] for side in ("left", "right"))
    lines = [*(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    head = "diff --git a/A.md b/A.md\n--- a/A.md\n+++ b/A.md\n@@ -1,5000 +1,5000 @@\n"
    started = process_time()
    (patch,) = read_patch(head + "\n".join(lines) + "\n")
    assert process_time() - started < 5
    assert (
        sum(row.old is not None for row in patch.hunks[0]) == sum(row.new is not None for row in patch.hunks[0]) == 5000
    )
