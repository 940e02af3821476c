from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lessonbook.core.candidate import BookKind
from lessonbook.core.session import CallStatus
from lessonbook.proposers.recorded import Recorded

Start = Callable[..., Any]
LESSON = "The staging database is reset every night; never keep fixtures there."


def proposals(*sessions: Any) -> list[Any]:
    return list(Recorded().propose([session.done() for session in sessions]))


@pytest.mark.parametrize(
    ("name", "field"),
    [("learn", "memory"), ("mcp__lessonbook__learn", "memory"), ("save_memory", "fact"), ("remember", "text")],
)
def test_recorded_twice(talk: Start, name: str, field: str) -> None:
    sessions = [talk(f"s{n}").ask("go").tool(name, **{field: LESSON}) for n in range(2)]
    (only,) = proposals(*sessions)
    assert only.rule == LESSON and only.book is BookKind.PROJECT and only.evidence.kind == "recorded"


def test_a_note_with_a_hash_counts(talk: Start) -> None:
    (only,) = proposals(*(talk(f"s{n}").ask(f"# {LESSON}").sh("ls") for n in range(2)))
    assert only.rule == LESSON


def test_once_or_failed_is_not_enough(talk: Start) -> None:
    assert proposals(talk("a").tool("learn", memory=LESSON)) == []
    assert proposals(*(talk(f"s{n}").tool("learn", CallStatus.FAILED, memory=LESSON) for n in range(2))) == []


@pytest.mark.parametrize("tool", ["Read", "recall"])
def test_what_was_recalled_or_read_before_is_not_recorded_anew(talk: Start, tool: str) -> None:
    sessions = [
        talk(f"s{n}").ask("go").tool(tool, result=f"1. {LESSON}\n2. other").tool("learn", memory=LESSON)
        for n in range(3)
    ]
    assert proposals(*sessions) == []


def test_two_projects_make_it_global(talk: Start) -> None:
    (only,) = proposals(*(talk(f"s{n}", cwd=f"/srv/{n}").tool("learn", memory=LESSON) for n in range(2)))
    assert only.book is BookKind.GLOBAL
