"""Pins: named by words, kept in the repository, carried by a fetch, and never in anybody's way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lessonbook.book import pins, queue
from lessonbook.book.pins import pin, unpin
from lessonbook.core.expiry import paragraph_key, skill_key

HAND = "Run the linter first."
KEY = "ghp_" + "a1B2" * 9
LONG = "Before each commit " + "check and " * 20 + "run the quick tests."


@pytest.fixture
def full(repo: Any) -> Any:
    text = f"{HAND}\n\nUse rg, not grep.\n\nUse rg for files.\n\n{LONG}\n\n```\nrg sizes\n```\n"
    repo.commit({"AGENTS.md": text, "skills/sizes/SKILL.md": "x\n", "skills/rg/SKILL.md": "x\n"})
    return repo


def names(repo: Any) -> list[tuple[str, str]]:
    return [(found.kind, found.text) for found in pins.pins(repo.folder)]


@pytest.mark.parametrize(
    ("what", "kind", "text"),
    [
        ("sizes", "skill", "sizes"),
        ("skills/rg/", "skill", "rg"),
        ("rg", "skill", "rg"),
        ("NOT  grep", "paragraph", "Use rg, not grep."),
        ("quick tests", "paragraph", f"{LONG[:79]}…"),
        (paragraph_key(HAND)[:6], "paragraph", HAND),
        ("rg sizes", "paragraph", "``` rg sizes ```"),
    ],
)
def test_pinned_and_unpinned_by_the_same_words(full: Any, what: str, kind: str, text: str) -> None:
    before = full.state()
    told = pin(full.folder, what)
    assert told == {"ok": True, "key": told["key"], "kind": kind, "text": text}
    assert pin(full.folder, what) == told and names(full) == [(kind, text)]
    changed = {key for key, value in full.state().items() if value != before[key]}
    assert changed == {"refs"}
    assert unpin(full.folder, what) == told and names(full) == [] and full.state() == before


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("Use rg", "means 2 things"),
        ("no such words", "is called 'no such words'"),
        ("", "is called ''"),
        ("-d HEAD", "is called '-d HEAD'"),
        ("../x", "is called '../x'"),
    ],
)
def test_what_is_not_one_thing_is_refused(full: Any, what: str, why: str) -> None:
    before = full.state()
    told = pin(full.folder, what)
    assert not told["ok"] and why in told["error"] and full.state() == before
    assert not unpin(full.folder, what)["ok"]


def test_no_book_holds_no_pins(tmp_path: Path) -> None:
    assert pins.pins(tmp_path / "none") == [] and not pins.holds(tmp_path / "none", "x")
    assert "holds no book" in pin(tmp_path / "none", "x")["error"]


def test_a_pin_of_what_is_gone_says_so_and_can_go(full: Any) -> None:
    for what in ("sizes", "not grep"):
        assert pin(full.folder, what)["ok"]
    full.git("rm", "-q", "-r", "skills/sizes")
    full.commit({"AGENTS.md": f"{HAND}\n"})
    assert [(found.text, found.here) for found in pins.pins(full.folder)] == [
        ("sizes", False),
        ("Use rg, not grep.", False),
    ]
    assert unpin(full.folder, "sizes")["ok"] and unpin(full.folder, "not grep")["ok"] and names(full) == []


def test_a_fetch_joins_the_pins_of_two_clones(full: Any, tmp_path: Path) -> None:
    clone = type(full)(tmp_path / "clone")
    full.git("clone", "-q", str(full.folder), str(clone.folder))
    assert pin(full.folder, "sizes")["ok"] and pin(full.folder, "not grep")["ok"]
    assert pin(clone.folder, "rg")["ok"] and pin(clone.folder, "not grep")["ok"]
    clone.git("fetch", "-q", "origin", "refs/lessonbook/pins/*:refs/lessonbook/pins/*")
    assert names(clone) == [("skill", "rg"), ("skill", "sizes"), ("paragraph", "Use rg, not grep.")]
    clone.git("gc", "-q", "--prune=now")
    assert len(names(clone)) == 3 and clone.git("fsck", "--strict") == ""


def test_a_pin_works_while_a_batch_runs_and_outlives_line_ends(full: Any) -> None:
    with queue.book_locked(full.folder):
        assert pin(full.folder, "not grep")["ok"]
    full.commit({"AGENTS.md": full.text().replace("\n", "\r\n")})
    assert [found.here for found in pins.pins(full.folder)] == [True]


def test_what_somebody_else_put_under_these_refs_does_no_harm(full: Any) -> None:
    head = full.git("rev-parse", "HEAD")
    for name in ("x", "a" * 31, "A" * 32, "b" * 32, skill_key("sizes")):
        full.git("update-ref", f"refs/lessonbook/pins/{name}", head)
    found = pins.pins(full.folder)
    assert {pin.key for pin in found} == {"b" * 32, skill_key("sizes")}
    assert unpin(full.folder, "b" * 32)["ok"] and unpin(full.folder, "sizes")["ok"]


def test_no_secret_is_written_down(full: Any) -> None:
    full.commit({"AGENTS.md": f"Send {KEY} along.\n"})
    told = pin(full.folder, "along")
    assert told["ok"] and KEY not in str(told)
    blob = full.git("for-each-ref", "--format=%(objectname)", "refs/lessonbook/pins")
    assert KEY not in full.git("cat-file", "blob", blob)
