"""Promoting into trees and repositories that are made to go wrong: refused by name, or done beside what is there."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lessonbook.book import queue
from lessonbook.book.promoting import promote

A = "20270301-080000-0000aa"
NOW = 1_800_000_000
BASE = "Run the linter first.\n"
SKILL = "---\nname: sizes\ndescription: x\n---\nuse du\n"
BRANCH = f"lessonbook/{A}"
PLACE = ".agents/skills/sizes/SKILL.md"


@pytest.fixture
def book(repo: Any) -> Any:
    repo.propose(A, {"AGENTS.md": f"{BASE}\nOne.\n", "skills/sizes/SKILL.md": SKILL})
    assert queue.accept(repo.folder, A, NOW)["ok"]
    return repo


def refused(book: Any, project: Any) -> str:
    before = (book.state(), project.state())
    told = promote(book.folder, A, project.folder, NOW)
    assert told["ok"] is False and (book.state(), project.state()) == before, told
    return str(told["error"]).replace(str(project.folder), "it")


def promoted(book: Any, project: Any, where: Path | None = None) -> Callable[[str], str]:
    """Promote, and return what shows a file of the branch; the project itself is as it was, and has lost nothing."""
    before, head = project.state(), project.git("rev-parse", "HEAD")
    told = promote(book.folder, A, where or project.folder, NOW)
    assert told["ok"], told
    after = project.state()
    assert after | {"refs": ""} == before | {"refs": ""} and project.git("rev-parse", "HEAD") == head
    assert set(before["refs"].splitlines()) < set(after["refs"].splitlines()) or where
    repository = type(project)(where or project.folder)
    changed = repository.git("diff", "--name-status", f"{BRANCH}^", BRANCH).splitlines()
    assert all(row.startswith(("A\t", "M\tAGENTS.md")) for row in changed) and changed
    return lambda name: str(repository.git("show", f"{BRANCH}:{name}"))


def stand(project: Any, kind: str, name: str) -> None:
    """Put a link, a submodule, a folder or a file at a place of the project's tree."""
    project.git("rm", "-rq", "--ignore-unmatch", name)
    if kind == "link":
        (project.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (project.folder / name).symlink_to("/tmp")
        project.git("add", name)
    elif kind == "submodule":
        project.git("update-index", "--add", "--cacheinfo", f"160000,{project.git('rev-parse', 'HEAD')},{name}")
    else:
        project.write({f"{name}/x" if kind == "folder" else name: "x\n"})
        project.git("add", "-A")
    project.git("commit", "-q", "--allow-empty", "-m", kind)


@pytest.mark.parametrize(
    ("kind", "name", "says"),
    [
        ("link", "AGENTS.md", "AGENTS.md is a link in it"),
        ("submodule", "AGENTS.md", "AGENTS.md is a submodule in it"),
        ("folder", "AGENTS.md", "AGENTS.md is a folder in it"),
        *((kind, name, f"{name} is not a folder in it") for kind in ("link", "submodule", "file")
          for name in (".agents", ".agents/skills", ".agents/skills/sizes")),
        ("link", PLACE, f"{PLACE} is a link in it"),
        ("submodule", PLACE, f"{PLACE} is a submodule in it"),
        ("folder", PLACE, f"{PLACE} is a folder in it"),
        ("file", PLACE, "never overwritten"),
        ("file", "agents.md", "agents.md, which many systems take for AGENTS.md"),
        ("folder", "Agents.MD", "Agents.MD, which many systems take for AGENTS.md"),
        ("file", ".Agents/Skills/x", ".Agents, which many systems take for .agents"),
        ("file", ".agents/skills/Sizes/SKILL.md", ".agents/skills/Sizes, which many systems take for"),
        ("file", ".agents/skills/sizes/skill.md", ".agents/skills/sizes/skill.md, which many systems take for"),
    ],
)  # fmt: skip
def test_what_stands_in_its_place_stays(
    book: Any, make_repo: Callable[..., Any], kind: str, name: str, says: str
) -> None:
    project = make_repo("app", {"main.py": "x\n"})
    stand(project, kind, name)
    assert says in refused(book, project)


def test_a_twin_beside_the_file_itself_is_the_projects_own_affair(book: Any, make_repo: Callable[..., Any]) -> None:
    project = make_repo("app", {"agents.md": "low\n", "AGENTS.md": "House.\n"})
    show = promoted(book, project)
    assert (show("AGENTS.md"), show("agents.md")) == ("House.\n\nOne.", "low")


def test_the_mode_is_kept_and_what_is_no_text_is_not_added_to(book: Any, make_repo: Callable[..., Any]) -> None:
    project = make_repo("app", {"AGENTS.md": "House.\n"})
    project.git("update-index", "--chmod=+x", "AGENTS.md")
    project.git("commit", "-q", "-m", "x")
    promoted(book, project)
    assert project.git("ls-tree", BRANCH, "AGENTS.md").startswith("100755 ")
    wide = make_repo("wide", {"AGENTS.md": "H\0o\0u\0s\0e\0"})
    assert "is not text in UTF-8" in refused(book, wide)


@pytest.mark.parametrize("name", [BRANCH, "lessonbook", f"{BRANCH}/x"])
def test_a_branch_that_is_in_the_way_is_named(book: Any, make_repo: Callable[..., Any], name: str) -> None:
    project = make_repo("app")
    project.git("branch", name)
    assert f"it has a branch {name}" in refused(book, project)


def test_odd_refs_of_that_name_stay(book: Any, make_repo: Callable[..., Any]) -> None:
    named = make_repo("named")
    named.git("symbolic-ref", f"refs/heads/{BRANCH}", "refs/heads/nowhere")
    assert "has a branch" in refused(book, named)
    assert named.git("symbolic-ref", f"refs/heads/{BRANCH}") == "refs/heads/nowhere"
    for name, text, says in (("", "junk\n", "in the place of that name"), (".lock", "", "git's own lock")):
        project = make_repo(f"app{name}")
        odd = project.folder / f".git/refs/heads/{BRANCH}{name}"
        odd.parent.mkdir()
        odd.write_text(text)
        assert says in refused(book, project) and odd.read_text() == text


def test_repositories_of_every_kind(book: Any, make_repo: Callable[..., Any], tmp_path: Path) -> None:
    project = make_repo("app", {"AGENTS.md": "House.\n", "main.py": "x\n"})
    project.commit({"main.py": "y\n"})
    bare, shallow, tree = tmp_path / "bare.git", tmp_path / "shallow", tmp_path / "tree"
    subprocess.run(["git", "clone", "-q", "--bare", str(project.folder), str(bare)], check=True)
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{project.folder}", str(shallow)], check=True)
    project.git("worktree", "add", "-q", "-b", "side", str(tree))
    for where in (bare, shallow, tree):
        assert promoted(book, project, where)("AGENTS.md") == "House.\n\nOne."
    project.git("branch", "-D", BRANCH)
    project.git("checkout", "-q", "--detach")
    project.write({"AGENTS.md": "staged\n", "new.txt": "staged\n"})
    project.git("add", "-A")
    project.write({"AGENTS.md": "edited\n"})
    (project.folder / ".git/index.lock").touch()
    show = promoted(book, project, project.folder)
    assert show("AGENTS.md") == "House.\n\nOne." and project.text() == "edited\n"


def test_a_project_with_nothing_to_build_on_is_refused(book: Any, make_repo: Callable[..., Any]) -> None:
    project = make_repo("app")
    project.git("checkout", "-q", "--orphan", "new")
    before = project.git("for-each-ref")
    assert "no commit yet" in promote(book.folder, A, project.folder, NOW)["error"]
    project.git("checkout", "-q", "main")
    blob = project.git("rev-parse", "HEAD:AGENTS.md")
    (project.folder / f".git/objects/{blob[:2]}/{blob[2:]}").unlink()
    assert "does not hold the text" in promote(book.folder, A, project.folder, NOW)["error"]
    assert project.git("for-each-ref") == before


def test_a_worktree_of_the_book_is_the_book(book: Any, tmp_path: Path) -> None:
    book.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    assert "is the book itself" in promote(book.folder, A, tmp_path / "side", NOW)["error"]
