from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lessonbook.proposers.repeats import Repeats

Start = Callable[..., Any]
GONE = "sh: 1: vitest: not found"


def proposals(*sessions: Any) -> list[Any]:
    return list(Repeats().propose([session.done() for session in sessions]))


def test_a_command_that_needs_another_first(talk: Start) -> None:
    sessions = [talk(f"s{n}").sh("npm test", GONE, 127).sh("npm ci", "ok").sh("npm test", "ok") for n in range(2)]
    rules = [proposal.rule for proposal in proposals(*sessions)]
    assert "Run `npm ci` before `npm test` where it fails with `sh: 1: vitest: not found`." in rules


def test_a_procedure_is_a_skill(talk: Start) -> None:
    def session(n: int) -> Any:
        start = talk(f"s{n}").sh("npm test", "Error: connect ECONNREFUSED", 1)
        start.sh("docker compose up -d", "ok").sh("npm run migrate", "ok").sh("npm run seed", "ok")
        return start.sh("npm test", "ok")

    (only,) = proposals(session(0), session(1))
    assert only.rule is None and only.skill_name == "prepare-npm-test"
    assert "1. Run `docker compose up -d`." in only.skill_text and "4. Run `npm test`." in only.skill_text
    assert only.skill_text.startswith("---\n")


def test_edits_and_mending_are_no_preparation(talk: Start) -> None:
    def session(n: int) -> Any:
        start = talk(f"s{n}").sh("npm test", "1 failed", 1).tool("Edit", file_path="/a").sh("npm ci").sh("npm test")
        return start.sh("npm run e2e", "1 failed", 1).sh("sed -i s/a/b/ x.py", "").sh("npm run e2e")

    assert proposals(session(0), session(1)) == []
