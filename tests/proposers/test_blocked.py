from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from lessonbook.core.session import CallStatus, Session
from lessonbook.proposers.repeats import Repeats

Start = Callable[..., Any]


def blocked(start: Any) -> Session:
    session: Session = start.done()
    turns = tuple(
        replace(turn, calls=tuple(replace(call, status=CallStatus.BLOCKED) for call in turn.calls))
        for turn in session.turns
    )
    return replace(session, turns=turns)


def rules(told: str, talk: Start) -> list[str]:
    sessions = [blocked(talk(f"s{n}").sh(f"git push origin b{n}", told)) for n in range(2)]
    return [proposal.rule or "" for proposal in Repeats().propose(sessions)]


def test_what_a_hook_stops_again(talk: Start) -> None:
    told = "PreToolUse:Bash hook error: [guard.sh]: blocked: push through the release script"
    assert rules(told, talk) == [
        "Do not run `git push` as it stands: a rule or hook stops it here with"
        " `blocked: push through the release script`."
    ]


@pytest.mark.parametrize(
    "told",
    [
        "failed in sandbox: sandbox denied exec error",
        "Claude requested permissions to use Bash, but you haven't granted it yet.",
        "something else went wrong",
    ],
)
def test_a_machines_limits_are_no_rules(talk: Start, told: str) -> None:
    assert rules(told, talk) == []
