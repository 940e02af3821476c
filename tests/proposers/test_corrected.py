from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lessonbook.core.session import TurnState
from lessonbook.proposers.repeats import Repeats

Start = Callable[..., Any]


def rules(*sessions: Any) -> list[str]:
    return [proposal.rule or "" for proposal in Repeats().propose([session.done() for session in sessions])]


def test_the_same_correction_twice(talk: Start) -> None:
    one = talk("a").ask("add a field").sh("npm i x").ask("I told you: never use npm here, use pnpm")
    two = talk("b").ask("add a page").sh("npm i y").ask("again: never use npm here, use pnpm please")
    assert rules(one, two) == ["Never use npm here, use pnpm."]


def test_a_correction_without_an_order_is_quoted(talk: Start) -> None:
    sessions = [
        talk(f"s{n}").ask("go", TurnState.INTERRUPTED).sh("ls").ask("the prices are in cents, not euros")
        for n in range(2)
    ]
    assert rules(*sessions) == [
        "Keep to what the person had to say more than once: “the prices are in cents, not euros”."
    ]


def test_steering_counts(talk: Start) -> None:
    said = ("no, never touch the generated files",)
    sessions = [talk(f"s{n}").ask("go", steered=said).sh("ls").ask("thanks a lot") for n in range(2)]
    assert rules(*sessions) == ["Never touch the generated files."]


@pytest.mark.parametrize(
    "prompt",
    [
        "can you sort the list again",
        "instead of a list we should show a table here",
        "we don't need the old flag, remove it",
        "continue",
        "commit this",
        "why is the value not updated in the page?",
        "never mind",
    ],
)
def test_ordinary_wishes_are_no_corrections(talk: Start, prompt: str) -> None:
    assert rules(*(talk(f"s{n}").ask("go").sh("ls").ask(prompt) for n in range(3))) == []


def test_a_correction_must_come_back_and_follow_work(talk: Start) -> None:
    assert rules(talk("a").ask("go").sh("ls").ask("I said never use npm here, use pnpm")) == []
    assert rules(*(talk(f"s{n}").ask("hello").ask("never use npm here, use pnpm") for n in range(2))) == []


def test_a_pasted_line_of_what_was_shown_is_no_correction(talk: Start) -> None:
    line = "Never use npm here, use pnpm."
    sessions = [
        talk(f"s{n}").ask("go").tool("Read", result=f"# Notes\n- {line}\n", file_path="/srv/shop/AGENTS.md").ask(line)
        for n in range(3)
    ]
    assert rules(*sessions) == []
