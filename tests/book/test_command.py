from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lessonbook.book.command import answer, compact
from lessonbook.book.sentences import STALE

A, B, C = "20270301-080000-0000aa", "20270301-090000-0000bb", "20270301-100000-0000cc"
NOW = 1_800_000_000


@pytest.fixture
def say(repo: Any, tmp_path: Path) -> Any:
    return lambda arg="": answer(repo.folder, arg, tmp_path / "config.toml", NOW)


def test_the_sentences_of_a_whole_review(repo: Any, say: Any) -> None:
    assert say() == say("list") == say("  ") == "nothing is pending"
    repo.propose(A, {"AGENTS.md": "One.\n", "skills/x/SKILL.md": "x\n"})
    repo.propose(B, {"AGENTS.md": "Two.\n"})
    repo.propose(C, {"skills/y/SKILL.md": "y\n"})
    assert say().splitlines()[0] == f"{A}  AGENTS.md, skills/x/SKILL.md  Lesson from a replay: {A}"
    assert "+One." in say(f"diff {A}")
    commit = say(f"accept  {A} ").partition(";")[0].rpartition(" ")[2]
    assert commit == repo.git("rev-parse", "HEAD")[:7]
    assert f"{B}  AGENTS.md  Lesson from a replay: {B} (stale: {STALE})" in say()
    assert say(f"accept {B}") == STALE
    assert say(f"reject {B}") == f"rejected {B}"
    assert say(f"reject {B}") == f"nothing is pending as {B}"


def test_accept_names_what_moved_and_what_no_longer_applies(repo: Any, say: Any) -> None:
    repo.propose(A, {"AGENTS.md": "One.\n"})
    repo.propose(B, {"AGENTS.md": "Two.\n"})
    repo.propose(C, {"skills/y/SKILL.md": "y\n"})
    text = say(f"accept {A}")
    commit = repo.git("rev-parse", "HEAD")[:7]
    assert text == f"accepted {A} as {commit}; moved {C} onto it; {B} no longer apply: reject them"
    repo.commit({"skills/y/SKILL.md": "y\n"})
    assert say(f"accept {C}").startswith(f"accepted {C}; HEAD already held it")


@pytest.mark.parametrize("arg", ["frobnicate", "accept-all", "help me", "--force"])
def test_anything_else_explains_itself(say: Any, arg: str) -> None:
    assert "say /learned" in say(arg)


@pytest.mark.parametrize("arg", ["accept", "diff --force", "reject ../x", "accept " + A.upper()])
def test_a_bad_id_is_named(say: Any, arg: str) -> None:
    assert "is not the id of a candidate" in say(arg)


def test_the_switch(say: Any, tmp_path: Path) -> None:
    assert (say("status"), say("off"), say("status"), say("on")) == (
        "learning is on",
        "learning is off",
        "learning is off",
        "learning is on",
    )
    (tmp_path / "config.toml").write_text("learning = [")
    for arg in ("on", "off", "status"):
        assert "not valid TOML" in say(arg)


def test_what_others_wrote_is_shown_and_never_acts_on_the_terminal(repo: Any, say: Any) -> None:
    repo.propose(A, {"AGENTS.md": "\x1b[2Jgone \u202e\U000e0041\n"}, message="Lesson \x1b]0;title\x07\nsecond line\n")
    for text in (say(), say(f"diff {A}")):
        assert not {"\x1b", "\x07", "\u202e", "\U000e0041"} & set(text)
    assert len(say().splitlines()) == 1 and "\\x1b" in say() and "\\u202e" in say(f"diff {A}")


def test_compacting_says_what_it_needs(repo: Any, say: Any) -> None:
    assert "nothing that was proposed" in say("compact")
    repo.commit({"AGENTS.md": "Run the linter first.\n\nAnd the tests.\n"}, "Lesson from a replay: tests")
    assert (
        "needs an editor model" in say("compact") and "[editor]" in say("compact") and "config.toml" in say("compact")
    )
    assert "nothing is pending" in say(f"compact {A}") and "not the id" in say("compact --all")
    told = compact(repo.folder, None)
    assert sorted(told) == ["error", "ok"] and told["ok"] is False


def test_trouble_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "learned" / ".git").mkdir(parents=True)
    text = answer(tmp_path / "learned", "", tmp_path / "config.toml", NOW)
    assert "cannot open" in text and "Traceback" not in text
