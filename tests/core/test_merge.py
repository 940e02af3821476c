from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lessonbook.core.linediff import diff
from lessonbook.core.merge import merge3
from lessonbook.core.paragraphs import lines_of, split

TRIO = st.tuples(
    *[st.binary() | st.lists(st.sampled_from([b"a", b"", b"- b", b"```", b"\r", b"\0"])).map(b"\n".join)] * 3
)


def merge(base: str, ours: str, theirs: str) -> str | None:
    merged = merge3(base.encode(), ours.encode(), theirs.encode())
    return None if merged is None else merged.decode()


# What any merge must do.


@given(TRIO)
def test_a_side_that_changed_nothing_leaves_the_other_and_equal_sides_agree(trio: tuple[bytes, bytes, bytes]) -> None:
    base, one, _ = trio
    assert merge3(base, base, one) == one
    assert merge3(base, one, base) == one
    assert merge3(base, one, one) == one


@given(TRIO)
def test_any_bytes_merge_or_conflict_and_conflict_the_same_both_ways_round(trio: tuple[bytes, bytes, bytes]) -> None:
    base, ours, theirs = trio
    merged, turned = merge3(base, ours, theirs), merge3(base, theirs, ours)
    assert (merged is None) == (turned is None)
    if merged is not None and turned is not None:
        assert set(merged.split()) == set(turned.split())
        assert set(merged.split()) <= set(ours.split()) | set(theirs.split())


# Beside git.


class Git:
    """The real ``git merge-file``, which says conflict with its exit code."""

    def __init__(self, folder: Path) -> None:
        self.paths = [str(folder / name) for name in ("ours", "base", "theirs")]

    def __call__(self, base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> bytes | None:
        for path, lines in zip(self.paths, (ours, base, theirs), strict=True):
            Path(path).write_text("".join(lines))
        done = subprocess.run(["git", "merge-file", "-p", "-q", *self.paths], capture_output=True, check=False)
        return done.stdout if done.returncode == 0 else None


@pytest.fixture
def git(tmp_path: Path) -> Git:
    return Git(tmp_path)


class Editor:
    """Makes three texts of random edits, some of them made on both sides."""

    def __init__(self, rnd: random.Random, words: Sequence[str]) -> None:
        self.rnd, self.words, self.count = rnd, words, 0

    def line(self) -> str:
        self.count += 1
        return self.rnd.choice(self.words).replace("#", str(self.count)) + "\n"

    def edit(self, lines: Sequence[str], times: int) -> list[str]:
        text = list(lines)
        for _ in range(times):
            at, kind = self.rnd.randrange(len(text) + 1), self.rnd.random()
            gone = 0 if kind < 0.35 else self.rnd.randint(1, 3)
            text[at : at + gone] = [self.line() for _ in range(0 if kind > 0.65 else self.rnd.randint(1, 3))]
        return text

    def trio(self) -> tuple[list[str], list[str], list[str]]:
        base = [self.line() for _ in range(self.rnd.randint(0, 12))]
        shared = self.edit(base, 1) if self.rnd.random() < 0.3 else base
        return base, self.edit(shared, self.rnd.randint(1, 3)), self.edit(shared, self.rnd.randint(1, 3))


def only_adds(base: list[str], side: list[str]) -> bool:
    return all(hunk.adds for hunk in diff(base, side))


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.randoms(use_true_random=False))
def test_the_outcome_is_gits_where_every_line_is_unique(git: Git, rnd: random.Random) -> None:
    editor = Editor(rnd, ["L#", "- L#"])
    for _ in range(25):
        base, ours, theirs = editor.trio()
        expected, merged = git(base, ours, theirs), merge3(*("".join(side).encode() for side in (base, ours, theirs)))
        adds = only_adds(base, ours) or only_adds(base, theirs)
        assert merged == expected or (adds and expected is None)


def test_with_repeated_lines_the_outcome_is_gits_but_for_how_repeats_are_paired(git: Git) -> None:
    # Which of several equal lines stayed is a guess; of 4,000 such merges 0.2 % end otherwise than by git's guess.
    editor = Editor(random.Random(7), ["a", "b", "c", "d", "e", "f", "", "- x", "```"])
    other = 0
    for _ in range(300):
        base, ours, theirs = editor.trio()
        expected, merged = git(base, ours, theirs), merge3(*("".join(side).encode() for side in (base, ours, theirs)))
        adds = only_adds(base, ours) or only_adds(base, theirs)
        other += merged != expected and not (adds and expected is None)
    assert other <= 3


# What both sides add.

BLOCKS = st.sampled_from(
    [
        "Use rg instead of grep.",
        "Read sizes first:\nls -l",
        "- an item\n- another",
        "- one",
        "# Notes",
        "```sh\nmake\n\nmake test\n```",
        "~~~~\n```\n\n~~~~",
        "1. first\n\n   more of it",
        "Kept as it is, trailing  ",
    ]
)


def made(blocks: Sequence[str], mark: str) -> list[str]:
    """Blocks that are this side's own."""
    return [
        f"{block} {mark}{index}" if "\n" not in block else f"{mark}{index}\n{block}"
        for index, block in enumerate(blocks)
    ]


@given(st.lists(BLOCKS), st.lists(BLOCKS, min_size=1), st.lists(BLOCKS, min_size=1), st.sampled_from(["\n", "\r\n"]))
def test_what_both_append_survives_byte_for_byte_in_either_order(
    base: list[str], ours: list[str], theirs: list[str], eol: str
) -> None:
    old = [*made(base, "b"), "The end."]
    sides = ["\n\n".join(blocks) + "\n" for blocks in (old, old + made(ours, "o"), old + made(theirs, "t"))]
    expected = "\n\n".join(old + made(ours, "o") + made(theirs, "t")) + "\n"
    turned = "\n\n".join(old + made(theirs, "t") + made(ours, "o")) + "\n"
    texts, expected, turned = (
        [text.replace("\n", eol) for text in sides],
        expected.replace("\n", eol),
        turned.replace("\n", eol),
    )
    assert merge(*texts) == expected
    assert merge(texts[0], texts[2], texts[1]) == turned


@given(st.permutations(range(5)), st.integers(0, 3))
def test_candidates_accepted_in_any_order_leave_the_same_paragraphs(order: list[int], place: int) -> None:
    rules = [f"Rule {number}.\n" for number in range(4)]
    base = "\n".join(rules)
    added = ["One more.\n", "- an item\n- and another\n", "```\na\n\nb\n```\n", "# Head\n\nText.\n", "Two\nlines.\n"]
    candidates = ["\n".join([*rules[:place], text, *rules[place:]]) for text in added]
    head = base
    for number in order:
        merged = merge(base, head, candidates[number])
        assert merged is not None
        head = merged
    assert sorted(block.text for block in split(head)) == sorted(
        block.text for text in [*rules, *added] for block in split(text)
    )
    assert all(text in head for text in added)


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        ("A\n", "A\n\nB\n", "A\n\nC\n", "A\n\nB\n\nC\n"),
        ("", "B\n", "C\n", "B\n\nC\n"),
        ("A\n\n", "A\n\nB\n", "A\n\nC\n", "A\n\nB\n\nC\n"),
        ("A\n", "A\n\nB\n\n", "A\n\nC\n", "A\n\nB\n\nC\n\n"),
        # Without a newline at the end.
        ("A", "A\n\nB", "A\n\nC", "A\n\nB\n\nC"),
        ("A", "A\n\nB\n", "A\n\nC", "A\n\nB\n\nC\n"),
        ("A\n", "A\n\nB", "A\n\nC\n", "A\n\nB\n\nC"),
        ("A\r\n\r\nB", "A\r\n\r\nB\r\n\r\nC\r\n", "A2\r\n\r\nB", "A2\r\n\r\nB\r\n\r\nC\r\n"),
        ("A\nB", "A\nB\r\n\r\nC\r\n", "A\nB\r\n\r\nD\r\n", "A\nB\r\n\r\nC\r\n\r\nD\r\n"),
        ("A", "A\r\n\r\nB\r\n", "A\r\n\r\nC\r\n", "A\r\n\r\nB\r\n\r\nC\r\n"),
        # List items, line by line and with blank lines between.
        ("- a\n", "- a\n- b\n", "- a\n- c\n", "- a\n- b\n- c\n"),
        ("- a\n\n- b\n", "- a\n\n- b\n\n- c\n", "- a\n\n- b\n\n- d\n", "- a\n\n- b\n\n- c\n\n- d\n"),
        ("# R\n\n", "# R\n\n- x\n", "# R\n\n- y\n", "# R\n\n- x\n- y\n"),
        ("", "- x\n", "1. y\n", "- x\n\n1. y\n"),
        ("A\n\nZ\n", "A\n\n- x\n- w\n\nZ\n", "A\n\n- y\n\nZ\n", "A\n\n- x\n- w\n\n- y\n\nZ\n"),
        ("- a\n- z\n", "- a\n- b\n- z\n", "- a\n- c\n  more\n- z\n", "- a\n- b\n- c\n  more\n- z\n"),
        # An item stays with its list, whoever added the paragraph after or before it.
        ("- a\n", "- a\n\nP\n", "- a\n- c\n", "- a\n- c\n\nP\n"),
        ("A\n\n- b\n", "A\n\n- x\n- b\n", "A\n\nP\n\n- b\n", "A\n\nP\n\n- x\n- b\n"),
        # A file that grows line by line.
        ("one\ntwo\n", "one\ntwo\nthree\n", "one\ntwo\nfour\n", "one\ntwo\nthree\nfour\n"),
        # In the middle.
        ("A\n\nZ\n", "A\n\nB\n\nZ\n", "A\n\nC\n\nZ\n", "A\n\nB\n\nC\n\nZ\n"),
        ("A\n\nZ\n", "A\n\nB\n\nZ\n", "A\n\nZ\n\nC\n", "A\n\nB\n\nZ\n\nC\n"),
        ("# H\n# Z\n", "# H\nB\n# Z\n", "# H\nC\n# Z\n", "# H\nB\n\nC\n# Z\n"),
        # The same paragraph once; what only means something where it stands stays where it stands.
        ("A\n", "A\n\nB\n\nC\n", "A\n\nC\n", "A\n\nB\n\nC\n"),
        ("A\n", "A\n\nB\n\nC\n", "A\n\nD\n\nB\n", "A\n\nB\n\nC\n\nD\n"),
        ("A\n", "A\n\n# N\n\nB\n", "A\n\n# N\n\nC\n", "A\n\n# N\n\nB\n\nC\n"),
        (
            "A\n",
            "A\n\nB:\n\n```\nx\n```\n",
            "A\n\nC:\n\n```\nx\n```\n",
            "A\n\nB:\n\n```\nx\n```\n\nC:\n\n```\nx\n```\n",
        ),
        (
            "A\n",
            "A\n\nFor x:\n\n- make\n",
            "A\n\nFor y:\n\n- make\n",
            "A\n\nFor x:\n\n- make\n\nFor y:\n\n- make\n",
        ),
        # Where a repeated line could be read as inside a fence, it is not.
        (
            "A\n\n```\nx\n```\n",
            "A\n\n```\ny\n```\n\n```\nx\n```\n",
            "A\n\n```\nz\n```\n\n```\nx\n```\n",
            "A\n\n```\ny\n```\n\n```\nz\n```\n\n```\nx\n```\n",
        ),
        # Beside what the other side changed or took away.
        ("A\n\nB\n", "A\n\nB2\n", "A\n\nB\n\nC\n", "A\n\nB2\n\nC\n"),
        ("A\n\nB\n", "A\n", "A\n\nB\n\nC\n", "A\n\nC\n"),
        ("A\n\nB\n", "A2\n\nB\n", "P\n\nA\n\nB\n", "P\n\nA2\n\nB\n"),
        ("A\n", "B\n", "P\n\nA\n\nC\n", "P\n\nB\n\nC\n"),
        ("- a\n- b\n", "- a\n- b2\n", "- a\n- b\n- c\n", "- a\n- b2\n- c\n"),
        ("- a\n- b\n", "- a\n", "- a\n- b\n- c\n", "- a\n- c\n"),
        ("A\n\nB\n", "A\n\nB2\n\nC\n", "A\n\nB\n\nC\n", "A\n\nB2\n\nC\n"),
    ],
)
def test_what_is_only_added_is_kept(base: str, ours: str, theirs: str, merged: str) -> None:
    assert merge(base, ours, theirs) == merged


@pytest.mark.parametrize(
    ("base", "ours", "theirs"),
    [
        ("A\n", "B\n", "C\n"),
        ("A\n\nB\n", "A\n\nB1\n", "A\n\nB2\n"),
        ("A\n\nB\n", "A\n", "A\n\nB2\n"),
        # Into the middle of a paragraph, an item or a fence.
        ("A\nZ\n", "A\nb\nZ\n", "A\nc\nZ\n"),
        ("A\nZ\n", "A\n\nb\n\nZ\n", "A\n\nc\n\nZ\n"),
        ("- a\n  b\n", "- a\n- x\n  b\n", "- a\n- y\n  b\n"),
        ("```\na\n\nz\n```\n", "```\na\n\nb\n\nz\n```\n", "```\na\n\nc\n\nz\n```\n"),
        ("```\na\n", "```\na\n\nb\n", "```\na\n\nc\n"),
        # A fence left open would swallow the other's paragraph.
        ("A\n", "A\n\n```\nopen\n", "A\n\nB\n"),
        # Two files, not two paragraphs of one.
        ("", "---\nname: a\n---\nx\n", "---\nname: b\n---\ny\n"),
        # More of a line that the other changed; an item of a list that the other took away.
        ("A\n", "A2\n", "A\nmore\n"),
        ("# L\n- a\n", "# L\n", "# L\n- a\n- b\n"),
        # Neither side only adds, so it is as git has it.
        ("A\n\nM\n\nZ\n", "A1\n\nM\n\nZ\n\nB\n", "A\n\nM1\n\nZ\n\nC\n"),
    ],
)
def test_what_touches_and_is_not_only_added_conflicts_both_ways_round(base: str, ours: str, theirs: str) -> None:
    assert merge(base, ours, theirs) is None
    assert merge(base, theirs, ours) is None


def test_binary_merges_only_where_a_side_is_unchanged_or_both_agree() -> None:
    assert merge3(b"\0a", b"\0a", b"\0b") == b"\0b"
    assert merge3(b"\0a", b"\0b", b"\0b") == b"\0b"
    assert merge3(b"a\n\nb\n", b"a\n\nb\n\n\0\n", b"c\n\nb\n") is None


def test_bytes_that_are_no_text_survive() -> None:
    assert merge3(b"\xff\n", b"\xff\n\n\xc3\x28\n", b"\xff\n\n\xed\xa0\x80\n") == b"\xff\n\n\xc3\x28\n\n\xed\xa0\x80\n"


@given(st.lists(st.sampled_from("abcd"), max_size=12), st.lists(st.sampled_from("abcd"), max_size=12))
def test_a_diff_turns_one_text_into_the_other_with_the_fewest_edits(old: list[str], new: list[str]) -> None:
    lines, at, edits = [], 0, 0
    for hunk in diff(old, new):
        lines += [*old[at : hunk.start], *hunk.lines]
        assert at == 0 or hunk.start > at
        at, edits = hunk.end, edits + hunk.end - hunk.start + len(hunk.lines)
    assert lines + old[at:] == new
    assert edits == len(old) + len(new) - 2 * longest_common(old, new)


def longest_common(old: list[str], new: list[str]) -> int:
    row = [0] * (len(new) + 1)
    for a in old:
        above = row
        row = [0]
        for index, b in enumerate(new):
            row.append(above[index] + 1 if a == b else max(above[index + 1], row[index]))
    return row[-1]


def test_long_texts_that_share_little_still_merge_as_git_has_it(git: Git) -> None:
    base = [f"line {number}\n" for number in range(1500)]
    ours = [f"ours {number}\n" if number % 3 else line for number, line in enumerate(base)]
    theirs = [*base[:1400:3], "theirs\n", *base[1400:]]
    assert merge3(*("".join(side).encode() for side in (base, ours, theirs))) == git(base, ours, theirs)
    ours = [f"ours {number}\n" if number % 3 == 1 and number < 700 else line for number, line in enumerate(base)]
    theirs = [f"theirs {number}\n" if number % 3 == 1 and number > 700 else line for number, line in enumerate(base)]
    assert merge3(*("".join(side).encode() for side in (base, ours, theirs))) == git(base, ours, theirs)
    assert len(diff(base, [f"new {number}\n" for number in range(1500)])) == 1


@pytest.mark.parametrize(
    "base",
    ["a\n" + "```\n" * 6000, "- a\n" * 4000 + "      ```\n" * 4000, "\n" * 20000, "  x\n" * 6000 + "    ```\n" * 2000],
    ids=["fences", "deep fences", "blank lines", "indented"],
)
@pytest.mark.parametrize("added", ["P{}\n", "- {}\n" * 4000, "line {}\n" * 8000], ids=["paragraph", "items", "lines"])
def test_long_and_odd_texts_merge_in_time_that_grows_as_they_do(base: str, added: str) -> None:
    # Each of these took from seconds to a minute with work that grew with the square of the lines.
    ours, theirs = (f"{base}\n{added.replace('{}', side)}" for side in ("ours", "theirs"))
    merged = merge(base, ours, theirs)
    assert merged is not None
    assert merged.count("ours") == ours.count("ours")
    assert merged.count("theirs") == theirs.count("theirs")


def test_a_thousand_merges_of_a_full_file_cost_less_than_a_thousand_processes(git: Git) -> None:
    base = "\n".join(f"- Rule {number:02d} a person wrote by hand." for number in range(50)) + "\n"
    sides = [f"{base}\nWhen case {number} comes up, read sizes first.\n".encode() for number in range(1001)]
    start = time.perf_counter()
    for side in sides[1:]:
        assert merge3(base.encode(), sides[0], side)
    ours = time.perf_counter() - start
    start = time.perf_counter()
    for _ in range(20):
        git(lines_of(base), lines_of(base), lines_of(base))
    print(f"1,000 merges: {ours:.3f} s; 1,000 processes: {(time.perf_counter() - start) * 50:.3f} s", file=sys.stderr)
    assert ours < (time.perf_counter() - start) * 50
