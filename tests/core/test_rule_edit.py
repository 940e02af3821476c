from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.candidate import BookKind
from lessonbook.core.errors import ModelError
from lessonbook.core.finding import findings
from lessonbook.core.rule_edit import RULE_MOST, TITLE_MOST, Route, RuleEdit, prompt, read
from lessonbook.core.session import Call, CallKind, CallStatus, Session, Turn

KEY = "ghp_" + "a1B2c3D4e5F6" * 3


def test_an_edit_is_read_cleaned_and_scrubbed() -> None:
    reply = {"title": "Check `sizes`", "rule": f"Run  `sh check.sh`.\nMail ana@example.org {KEY}.", "book": "global"}
    assert read(json.dumps(reply)) == RuleEdit(
        "Check sizes", "Run `sh check.sh`. Mail [EMAIL] [REDACTED].", BookKind.GLOBAL
    )


def test_the_fence_many_models_put_around_json_is_no_matter() -> None:
    assert read('```json\n{"title": "A", "rule": "Do b."}\n```') == RuleEdit("A", "Do b.", BookKind.PROJECT)


@pytest.mark.parametrize("reply", ['{"rule": null}', '{"rule": null, "title": "x"}'])
def test_no_lesson_is_an_answer(reply: str) -> None:
    assert read(reply) is None


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "Do b.",
        "{}",
        "[]",
        "[" * 100_000,
        '{"rule": 3, "title": "A"}',
        '{"rule": "Do b."}',
        '{"rule": "", "title": "A"}',
        '{"rule": "Do b.", "title": "  "}',
        '{"rule": "Do b.", "title": "A", "book": "mine"}',
        '{"rule": "Do b.", "title": "A", "book": ["global"]}',
        json.dumps({"rule": "b" * (RULE_MOST + 1), "title": "A"}),
        '{"rule": "Do b.", "title": "A"} and more',
    ],
)
def test_anything_else_is_an_error_of_the_models(reply: str) -> None:
    with pytest.raises(ModelError, match="the editor model"):
        read(reply)


@given(rule=st.text(max_size=RULE_MOST + 50), title=st.text(max_size=200))
def test_what_is_read_is_one_paragraph_within_its_bounds(rule: str, title: str) -> None:
    try:
        edit = read(json.dumps({"rule": rule, "title": title}))
    except ModelError:
        return
    assert edit is not None
    assert 0 < len(edit.rule) <= RULE_MOST and "\n" not in edit.rule
    assert 0 < len(edit.title) <= TITLE_MOST


def test_the_prompt_shows_each_way_and_nothing_that_identifies() -> None:
    bad = Call("1", "Bash", CallKind.SHELL, CallStatus.FAILED, command=f"make x {KEY}", result="/home/analind: no rule")
    turn = Turn(1, "", (bad, bad))
    found = findings(Session("claude", "s", "p", (turn,)))
    text = prompt("Do it for ana@example.org.", "Rule one.", [Route(turn, found), Route(turn, found)])
    assert "2 times" in text and "Rule one." in text and text.count("1. Bash: make x [REDACTED] → failed") == 2
    assert "(mistake: failed again unchanged)" in text
    for secret in (KEY, "analind", "ana@example.org"):
        assert secret not in text
