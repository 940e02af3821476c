from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lessonbook.core.session import CallStatus, TurnState
from lessonbook.proposers.repeats import Repeats

Start = Callable[..., Any]


def rules(*sessions: Any) -> list[str]:
    return [proposal.rule or "" for proposal in Repeats().propose([session.done() for session in sessions])]


def test_a_refusal_with_words(talk: Start) -> None:
    one = talk("a").ask("fix it").refuse("git add x && git commit -m 'a'", "no, I did not say commit anything")
    two = talk("b").ask("fix it").refuse("git commit -am b", "don't commit unless I ask for it")
    assert rules(one, two) == [
        "Do not run `git commit` unless the person asked for it; the person refused it and said"
        " “don't commit unless I ask for it”."
    ]


def test_the_next_prompt_is_the_reason(talk: Start) -> None:
    sessions = [
        talk(f"s{n}").ask("go", TurnState.INTERRUPTED).refuse("npm install x").ask("we use pnpm here, not npm")
        for n in range(2)
    ]
    (only,) = rules(*sessions)
    assert "“we use pnpm here, not npm”" in only


def test_a_slip_is_no_refusal(talk: Start) -> None:
    sessions = [
        talk(f"s{n}").ask("go", TurnState.INTERRUPTED).refuse("git push").ask("sorry, continue") for n in range(3)
    ]
    assert rules(*sessions) == []


def test_refusals_of_two_projects_stay_apart(talk: Start) -> None:
    sessions = [talk(f"s{n}", cwd=f"/srv/{n}").refuse("git push", "no pushing today") for n in range(2)]
    assert rules(*sessions) == []


def test_plans_and_questions_are_talk(talk: Start) -> None:
    sessions = [talk(f"s{n}").tool("ExitPlanMode", CallStatus.DENIED, reason="not like this") for n in range(3)]
    assert rules(*sessions) == []


def test_edits_refused_again_and_again_ask_for_words_first(talk: Start) -> None:
    reasons = ["why not in the other file?", "wait, what about the tests?", "that is more than I asked for"]
    sessions = [
        talk(f"s{n}").tool("Edit", CallStatus.DENIED, file_path=f"/a/{n}", reason=reason)
        for n, reason in enumerate(reasons)
    ]
    (only,) = rules(*sessions)
    assert only.startswith("Say what you are about to change and why") and "“why not in the other file?”" in only


def test_a_rule_said_once_is_told_but_not_proposed(talk: Start) -> None:
    repeats = Repeats()
    one = talk("a").ask("fix it").refuse("git add x && git commit -m 'a'", "no, I did not say commit anything")
    assert list(repeats.propose([one.done(), talk("b").refuse("make x", "wait").done()])) == []
    assert [one.title for one in repeats.passed] == ["Do not run git commit unless asked"]
