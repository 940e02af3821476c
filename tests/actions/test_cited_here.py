from __future__ import annotations

from pathlib import Path
from shutil import which

import pytest

from lessonbook.actions.cited_here import not_looked_up, not_there

SEED = "Run `make seed` before `pytest`."


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    (folder / "Makefile").write_text("test:\n\tpytest\n")
    (folder / "package.json").write_text('{"scripts": {"build": "tsc"}}')
    return folder


def test_a_task_that_is_gone(project: Path) -> None:
    assert not_there(SEED, project) == ("make seed",)
    assert not_there("Use `npm run lint` here, not `eslint …`, which fails with `x`.", project) == ("npm run lint",)
    assert not_there("Run `pnpm test` first.", project) == ("pnpm test",)
    assert not_there("Run `make test` and `npm run build`.", project) == ()
    assert not_there("Never run `make seed`.", project) == ()


def test_what_nobody_can_tell_here(project: Path) -> None:
    text = "Run `no-such-tool plan`, then `just seed`, then `make test`, then `git push`."
    assert not_looked_up(text, project) == ("just seed", "no-such-tool", *(() if which("just") else ("just",)))


def test_both_are_told_in_one_word(project: Path) -> None:
    assert not_there("Run `bin/x y` and `make seed`.", project) == ("bin/x", "make seed")


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
    assert not_there(text, project) == ()


def test_a_part_of_the_project_may_have_it(project: Path) -> None:
    part = project / "services" / "api"
    part.mkdir(parents=True)
    (part / "Makefile").write_text("seed:\n\techo\n")
    assert not_there(SEED, project) == ()
    (part / "Makefile").write_text("include ../rules.mk\n")
    assert not_there(SEED, project) == ()
    (part / "Makefile").unlink()
    assert not_there(SEED, project) == ("make seed",)
    assert not_there(SEED, part) == ("make seed",), "looked up to where the project begins"


def test_a_file_of_that_name_is_enough_for_make(project: Path) -> None:
    (project / "seed").write_text("")
    assert not_there(SEED, project) == ()


def test_nothing_is_looked_up_above_the_project(project: Path) -> None:
    (project.parent / "Makefile").write_text("other:\n\techo\n")
    (project / "Makefile").unlink()
    assert not_there(SEED, project) == ()


def test_a_skills_scripts_are_examples(project: Path) -> None:
    skill = "---\nname: x\ndescription: y\n---\n\nRun `make gone`.\n\n```sh\nmake seed\n```\n"
    assert not_there(skill, project) == ("make gone",)
    assert not_there("```sh\nmake seed\n```", project) == ("make seed",)


def test_a_file_that_nobody_can_read(project: Path) -> None:
    (project / "Makefile").write_bytes(b"x" * (1 << 20 | 1))
    assert not_there(SEED, project) == ()
