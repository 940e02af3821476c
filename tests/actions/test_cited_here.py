from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from shutil import which
from time import process_time

import pytest

from lessonbook.actions.brief import rules_block
from lessonbook.actions.cited_here import Here
from lessonbook.actions.sources import THIS_PROJECT
from lessonbook.book.head import Head

SEED = "Run `make seed` before `pytest`."


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    (folder / "Makefile").write_text("test:\n\tpytest\n")
    (folder / "package.json").write_text('{"scripts": {"build": "tsc"}}')
    return folder


def test_a_task_that_is_gone(project: Path) -> None:
    assert Here(project).not_there(SEED) == ("make seed",)
    assert Here(project).not_there("Use `npm run lint` here, not `eslint …`, which fails with `x`.") == (
        "npm run lint",
    )
    assert Here(project).not_there("Run `pnpm test` first.") == ("pnpm test",)
    assert Here(project).not_there("Run `make test` and `npm run build`.") == ()
    assert Here(project).not_there("Never run `make seed`.") == ()


def test_what_nobody_can_tell_here(project: Path) -> None:
    text = "Run `no-such-tool plan`, then `just seed`, then `make test`, then `git push`."
    assert Here(project).not_looked_up(text) == ("just seed", "no-such-tool", *(() if which("just") else ("just",)))


def test_both_are_told_in_one_word(project: Path) -> None:
    assert Here(project).not_there("Run `bin/x y` and `make seed`.") == ("bin/x", "make seed")


@pytest.mark.parametrize(
    "text",
    [
        "Run `terraform plan` first.",  # a program that this machine lacks says nothing
        "Run `just seed` first.",  # there is no justfile: perhaps it is elsewhere
        "From `services/api`, run `make seed`.",
        "In the api folder run `make seed`.",
        "Run `make -C api seed`.",
        "Run `cd api && make seed`.",
        "Run `npm run lint -w web`.",
        "Run `npm run lint --prefix web`.",
        "Run `make` and `make …`.",
    ],
)
def test_what_cannot_be_told_is_not_said(text: str, project: Path) -> None:
    assert Here(project).not_there(text) == ()


def test_a_part_of_the_project_may_have_it(project: Path) -> None:
    part = project / "services" / "api"
    part.mkdir(parents=True)
    (part / "Makefile").write_text("seed:\n\techo\n")
    assert Here(project).not_there(SEED) == ()
    (part / "Makefile").write_text("include ../rules.mk\n")
    assert Here(project).not_there(SEED) == ()
    (part / "Makefile").unlink()
    assert Here(project).not_there(SEED) == ("make seed",)
    assert Here(part).not_there(SEED) == ("make seed",), "looked up to where the project begins"


def test_a_file_of_that_name_is_enough_for_make(project: Path) -> None:
    (project / "seed").write_text("")
    assert Here(project).not_there(SEED) == ()


def test_nothing_is_looked_up_above_the_project(project: Path) -> None:
    (project.parent / "Makefile").write_text("other:\n\techo\n")
    (project / "Makefile").unlink()
    assert Here(project).not_there(SEED) == ()


def test_a_skills_scripts_are_examples(project: Path) -> None:
    skill = "---\nname: x\ndescription: y\n---\n\nRun `make gone`.\n\n```sh\nmake seed\n```\n"
    assert Here(project).not_there(skill) == ("make gone",)
    assert Here(project).not_there("```sh\nmake seed\n```") == ("make seed",)


def test_a_file_that_nobody_can_read(project: Path) -> None:
    (project / "Makefile").write_bytes(b"x" * (1 << 20 | 1))
    assert Here(project).not_there(SEED) == ()


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _loop(path: Path) -> None:
    path.symlink_to(path)


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(50 << 20)


def _quadratic(path: Path) -> None:
    path.write_text("a" * (1 << 20))


@pytest.mark.parametrize("made", [_fifo, _endless, _loop, _huge, _quadratic, Path.mkdir])
@pytest.mark.parametrize("name", ["Makefile", "justfile", "package.json"])
def test_a_briefing_waits_for_nothing_that_lies_in_a_project(
    project: Path, name: str, made: Callable[[Path], None]
) -> None:
    (project / name).unlink(missing_ok=True)
    made(project / name)
    began = process_time()
    for task in ("make seed", "just seed", "npm run seed"):
        Here(project).not_there(f"Run `{task}` first.")
    assert process_time() - began < 2


@pytest.mark.parametrize("unit", ["t:\n", "%t:\n", "t\n"])
def test_many_parts_of_large_task_files_cost_no_more_than_a_few(project: Path, unit: str) -> None:
    for number in range(60):
        (project / f"part-{number}").mkdir()
        (project / f"part-{number}" / "Makefile").write_text(unit * ((1 << 20) // len(unit)))
    began = process_time()
    rules = "\n\n".join(f"Run `make gone-{number}` before `pytest`." for number in range(500))
    rules_block(THIS_PROJECT, Head(agents=rules), cwd=project)
    assert process_time() - began < 3


def test_a_long_book_costs_one_look_at_the_project(project: Path) -> None:
    for number in range(900):
        (project / f"part-{number}").mkdir()
    (project / "Makefile").write_text("".join(f"t{number}:\n" for number in range(60_000)))
    rules = "\n\n".join(f"Run `make gone-{number}` before `pytest`." for number in range(3_000))
    began = process_time()
    block = rules_block(THIS_PROJECT, Head(agents=rules), cwd=project)
    assert process_time() - began < 2
    assert all("no longer there" in item for item in block.items)


def test_a_folder_of_very_many_files_is_not_gone_through(project: Path) -> None:
    data = project / "data"
    data.mkdir()
    for number in range(20_001):
        (data / f"{number}").touch()
    assert Here(project).not_there(SEED) == ()
