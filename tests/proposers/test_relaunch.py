from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lessonbook.core.candidate import BookKind, Proposal
from lessonbook.proposers.matching import about
from lessonbook.proposers.repeats import Repeats

Start = Callable[..., Any]
TOLD = "ImportError while loading conftest 'conftest.py'.\nE   ModuleNotFoundError: No module named 'shop'"
ERROR = "which fails with `ModuleNotFoundError: No module named 'shop'`."


def rules(*sessions: Any) -> list[str]:
    return [proposal.rule or "" for proposal in proposed(*sessions)]


def proposed(*sessions: Any) -> list[Proposal]:
    return list(Repeats().propose([session.done() for session in sessions]))


@pytest.mark.parametrize(
    ("failed", "worked", "begin"),
    [
        ("pytest tests/x.py", "uv run pytest tests/x.py", "Use `uv run pytest …` instead of `pytest …`, "),
        ("pytest", "uv run pytest", "Use `uv run pytest` instead of `pytest`, "),
        ("pytest -q", "poetry run pytest -q", "Use `poetry run pytest …` instead of `pytest …`, "),
        ("python -m pytest", "uv run pytest", "Use `uv run pytest` instead of `python -m pytest`, "),
        ("python -m pytest a", "uv run python -m pytest a", "Use `uv run python …` instead of `python …`, "),
        ("pytest", ".venv/bin/pytest", "Use `.venv/bin/pytest` instead of `pytest`, "),
        ("pytest -q", "python -m pytest -q", "Use `python -m pytest …` instead of `pytest …`, "),
        ("python3 -m pytest a", ".venv/bin/python -m pytest a", "Use `.venv/bin/python …` instead of `python3 …`, "),
        (
            "pytest tests/x.py",
            "source .venv/bin/activate && pytest tests/x.py",
            "Use `source .venv/bin/activate && pytest …` instead of `pytest …`, ",
        ),
        ("pytest -x", "PYTHONPATH=src pytest -x", "Use `PYTHONPATH=src pytest …` instead of `pytest …`, "),
        ("pytest a", "hatch run pytest a", "Use `hatch run pytest …` instead of `pytest …`, "),
        ("pytest tests/x.py", "nox -s tests", "Use `nox …` instead of `pytest …`, "),
        ("python -m pytest", "hatch test", "Use `hatch test` instead of `python -m pytest`, "),
        ("uv run pytest a", "tox", "Use `tox` instead of `uv run pytest …`, "),
        ("python -m mod2 test", "python3 -m mod2 test", "Use `python3 …` instead of `python …`, "),
        (
            "python manage.py test",
            "uv run manage.py test",
            "Use `uv run manage.py …` instead of `python manage.py …`, ",
        ),
        ("jest a.test.js", "npx jest a.test.js", "Use `npx jest …` instead of `jest …`, "),
        ("uv run pytest a", "pytest a", "Run `pytest …` without `uv run`: `uv run pytest …` "),
        ("poetry run pytest a", "uv run pytest a", "Use `uv run …` instead of `poetry run …`, "),
        ("uv run pytest", "uv run --extra dev pytest", "Use `uv run --extra dev pytest` instead of `uv run pytest`, "),
        ("PYTHONPATH=. pytest a", "uv run pytest a", "Use `uv run pytest …` instead of `PYTHONPATH=. pytest …`, "),
        ("pytest", "cd api && pytest", "Run `pytest` from `api`: elsewhere it "),
    ],
)
def test_a_check_that_only_another_launch_cured(talk: Start, failed: str, worked: str, begin: str) -> None:
    (only,) = rules(*(talk(f"s{n}").sh(failed, TOLD, 4).sh("ls").sh(worked, "3 passed") for n in range(2)))
    assert only.startswith(begin) and only.endswith(ERROR.removeprefix("which "))


def test_different_modules_and_a_red_run_are_one_lesson(talk: Start) -> None:
    sessions = [
        talk(f"s{n}")
        .sh("pytest tests/a.py", TOLD.replace("shop", f"shop{n}"), 2)
        .sh("python -m pytest tests/a.py", TOLD.replace("shop", f"shop{n}"), 2)
        .sh("uv run pytest tests/a.py", "1 failed, 3 passed", 1)
        for n in range(2)
    ]
    (only,) = proposed(*sessions)
    assert only.rule is not None and only.rule.startswith("Use `uv run pytest …` instead of `")
    assert "`pytest …`" in only.rule and "`python -m pytest …`" in only.rule
    assert (only.book, only.evidence.kind, only.evidence.count) == (BookKind.PROJECT, "failed-then-worked", 4)
    assert about(sessions[0].turns[0].calls[0]) <= set(only.key.split(" + "))


def test_without_a_cure_by_launch_it_stays_an_answer(talk: Start) -> None:
    def session(n: int) -> Any:
        start = talk(f"s{n}")
        start.sh("pytest a", TOLD, 2).tool("Edit", file_path="a.py").sh("uv run pytest a", "1 passed")
        start.sh("pytest b", TOLD, 2).sh("pip install shop").sh("uv run pytest b", "1 passed")
        start.sh("pytest c", TOLD, 2).sh("uv sync && uv run pytest c", "1 passed")
        start.sh("pytest d", TOLD, 2).sh("pytest d", "1 passed").sh("uv run pytest d", "1 passed")
        start.sh("pytest e", TOLD, 2).sh("uv run pytest e", TOLD, 2)
        return start.sh("pytest f", "1 failed", 1).sh("uv run pytest f", "1 passed")

    assert not any("uv run" in rule for rule in rules(*(session(n) for n in range(3))))


@pytest.mark.parametrize(
    "after",
    [
        "git add tests/x.py",
        "ruff check tests/x.py",
        "cat tests/x.py",
        "grep pytest tests/x.py",
        "python tests/x.py",
        "pytest --ignore=tests/y tests/x.py",
        "npm test tests/x.py",
    ],
)
def test_another_errand_with_the_same_file_is_no_launch(talk: Start, after: str) -> None:
    assert rules(*(talk(f"s{n}").sh("pytest tests/x.py", TOLD, 2).sh(after, "ok") for n in range(3))) == []


def test_one_session_is_not_enough(talk: Start) -> None:
    assert rules(talk("a").sh("pytest", TOLD, 2).sh("uv run pytest").sh("pytest", TOLD, 2).sh("uv run pytest")) == []


def test_each_project_keeps_its_own(talk: Start) -> None:
    sessions = [
        talk(f"s{n}", cwd=f"/srv/p{n % 2}").sh("pytest", TOLD, 2).sh("uv run pytest", "1 passed") for n in range(4)
    ]
    assert {proposal.cwd for proposal in proposed(*sessions)} == {"/srv/p0", "/srv/p1"}


def test_a_program_is_learned_too_and_falls_back_to_its_module(talk: Start) -> None:
    told = "Traceback (most recent call last):\nModuleNotFoundError: No module named 'yaml'"
    cured = [talk(f"s{n}").sh("python app.py", told, 1).sh("uv run python app.py", "ok") for n in range(2)]
    (only,) = rules(*cured)
    assert only.startswith("Use `uv run python …` instead of `python …`, which fails with `ModuleNotFoundError:")
    plain = [talk(f"s{n}").sh("python app.py", told, 1).sh("cat app.py", "ok") for n in range(2)]
    assert rules(*plain) == [
        "Do without `yaml`: it is not installed here (`ModuleNotFoundError: No module named 'yaml'`)."
    ]


def test_a_program_that_is_found_after_activation(talk: Start) -> None:
    sessions = [
        talk(f"s{n}").sh("pytest -q", "bash: pytest: command not found", 127).sh(". .venv/bin/activate && pytest -q")
        for n in range(2)
    ]
    (only,) = rules(*sessions)
    assert only.startswith("Use `source .venv/bin/activate && pytest …` here, not `pytest …`,")
