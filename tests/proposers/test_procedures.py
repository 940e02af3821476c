from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lessonbook.core.candidate import Proposal
from lessonbook.proposers.procedures import Procedures

Start = Callable[..., Any]
STEPS = ("docker compose up -d", "npm run migrate", "npm run seed", "npm run dev")


def proposals(*sessions: Any) -> list[Proposal]:
    return list(Procedures().propose([session.done() for session in sessions]))


def walk(start: Any, *steps: str) -> Any:
    for step in steps:
        start = start.sh(step, "ok")
    return start


def test_a_sequence_of_three_sessions_is_a_skill(talk: Start) -> None:
    (only,) = proposals(*(walk(talk(f"s{n}"), "ls", *STEPS[:2], "cat package.json", *STEPS[2:]) for n in range(3)))
    assert only.skill_name == "steps-to-npm-run-dev" and only.rule is None
    assert only.skill_text is not None and only.skill_text.startswith("---\nname: steps-to-npm-run-dev\n")
    steps = [line for line in only.skill_text.splitlines() if line[:1].isdigit()]
    assert steps == [f"{n}. Run `{step}`." for n, step in enumerate(STEPS, 1)]
    assert only.evidence.kind == "procedure" and len(only.evidence.sessions) == 3
    assert proposals(*(walk(talk(f"s{n}"), *STEPS) for n in range(2))) == [], "twice may be chance"


def test_what_differs_is_left_open(talk: Start) -> None:
    sessions = (
        walk(talk(f"s{n}"), "make check", "make docs", "git add .", f"git commit -m 'a part {n}'") for n in range(3)
    )
    (only,) = proposals(*sessions)
    assert "4. Run `git commit -m …`." in (only.skill_text or "")


def test_what_breaks_a_sequence(talk: Start) -> None:
    def edited(n: int) -> Any:
        start = walk(talk(f"s{n}"), *STEPS[:2]).tool("Edit", file_path="/a", old_string="a", new_string="b")
        return walk(start, *STEPS[2:])

    def failed(n: int) -> Any:
        return walk(walk(talk(f"s{n}"), *STEPS[:2]).sh("npm run seed", "error: no", 1), *STEPS[2:])

    assert proposals(*map(edited, range(4))) == [], "an edit is a step that no command tells"
    assert proposals(*map(failed, range(4))) == []
    assert proposals(*(walk(talk(f"s{n}"), *STEPS[:2], f"thing{n} x", *STEPS[2:]) for n in range(4))) == []


def test_what_every_agent_knows_is_no_procedure(talk: Start) -> None:
    assert (
        proposals(*(walk(talk(f"s{n}"), "git add .", "git commit -m x", "git push", "npm test") for n in range(4)))
        == []
    )
    assert proposals(*(walk(talk(f"s{n}"), *["npm test"] * 6) for n in range(4))) == []


def test_force_is_no_step_and_projects_are_apart(talk: Start) -> None:
    forced = ("docker compose up -d", "npm run migrate --force", "npm run seed")
    assert proposals(*(walk(talk(f"s{n}"), *forced) for n in range(4))) == []
    assert proposals(*(walk(talk(f"s{n}", cwd=f"/srv/{n % 2}"), *STEPS) for n in range(4))) == []


def test_a_part_of_a_longer_one_is_not_told_again(talk: Start) -> None:
    found = proposals(*(walk(talk(f"s{n}"), *STEPS[: 3 + (n > 0)]) for n in range(6)))
    assert [one.skill_name for one in found] == ["steps-to-npm-run-dev"]
