"""Finding skills: LS-05, FM-03, links, bad files, and the 548 real ones."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from lessonbook.core.skill import SkillDraft, prepare
from lessonbook.skills.discovery import Catalogue, authored_names, discover
from lessonbook.skills.managed import managed_skills

KEY = "ghp_" + "a1B2" * 9


def put(folder: Path, name: str | None = None, description: str = "When to use it", extra: str = "") -> Path:
    """Write one authored skill and return its file."""
    folder.mkdir(parents=True)
    path = folder / "SKILL.md"
    path.write_text(f"---\nname: {name or folder.name}\ndescription: {description}\n{extra}---\nbody\n")
    return path


def manage(home: Path, *names: str) -> Path:
    managed = managed_skills(home / "agent")
    for name in names:
        managed.write("create", prepare(SkillDraft("create", name, f"Managed {name}", "steps"), {}))
    return managed.root


def look(
    home: Path, managed: Path | None = None, cwd: Path | None = None, learned: Mapping[str, bytes] | None = None
) -> Catalogue:
    return discover(home, cwd, managed, learned)


def rows(catalogue: Catalogue) -> list[tuple[str, str, bool]]:
    return [(found.name, found.origin, found.shadowed_by is not None) for found in catalogue.skills]


def test_authored_wins_in_all_three_shapes_and_both_paths_are_named(home: Path) -> None:
    root = home / ".claude" / "skills"
    deploy = put(root / "deploy")
    put(home / "elsewhere" / "rollback")
    (root / "rollback").symlink_to(home / "elsewhere" / "rollback")
    ship = put(root / "ship-it", name="Release")
    before = {path: path.read_bytes() for path in (deploy, root / "rollback" / "SKILL.md", ship)}
    managed = manage(home, "deploy", "rollback", "release", "ship-it", "other")
    found = look(home, managed)
    shadowed = {item.name: item.shadowed_by for item in found.skills if item.origin == "managed"}
    assert shadowed == {
        "deploy": deploy,
        "rollback": root / "rollback" / "SKILL.md",
        "release": ship,
        "ship-it": ship,
        "other": None,
    }
    for name, winner in (("deploy", deploy), ("release", ship)):
        reason = next(p.reason for p in found.problems if p.path == managed / name / "SKILL.md")
        assert str(winner) in reason
    assert {path: path.read_bytes() for path in before} == before
    assert authored_names(home, None) == {
        "deploy": deploy,
        "rollback": root / "rollback" / "SKILL.md",
        "ship-it": ship,
        "release": ship,
    }


def test_learned_wins_over_managed_and_loses_to_authored(home: Path) -> None:
    put(home / ".agents" / "skills" / "a")
    text = b"---\nname: %s\ndescription: Learned\n---\nx\n"
    learned = {f"skills/{name}/SKILL.md": text % name.encode() for name in ("a", "b", "c")}
    found = look(home, manage(home, "b"), learned=learned)
    assert rows(found) == [
        ("a", "authored", False),
        ("a", "learned", True),
        ("b", "learned", False),
        ("b", "managed", True),
        ("c", "learned", False),
    ]
    assert found.skills[-1].path == Path("skills/c/SKILL.md")


def test_one_real_file_is_listed_once_with_every_agent(home: Path) -> None:
    put(home / ".agents" / "skills" / "tidy")
    for agent in (".claude", ".hermes"):
        (home / agent / "skills").mkdir(parents=True)
        (home / agent / "skills" / "tidy").symlink_to(home / ".agents" / "skills" / "tidy")
    found = look(home)
    assert rows(found) == [("tidy", "authored", False)]
    assert {"codex", "gemini", "claude", "hermes"} <= set(found.skills[0].agents)
    assert found.problems == ()


def test_a_managed_skill_linked_for_an_agent_stays_managed(home: Path) -> None:
    managed = manage(home, "tidy")
    (home / ".claude" / "skills").mkdir(parents=True)
    (home / ".claude" / "skills" / "tidy").symlink_to(managed / "tidy")
    found = look(home, managed)
    assert rows(found) == [("tidy", "managed", False)]
    assert found.skills[0].agents == ("claude",)
    assert found.problems == ()


def test_nested_folders_and_loops(home: Path) -> None:
    root = home / ".hermes" / "skills"
    put(root / "ops" / "deploy")
    put(root / ".system" / "hidden")
    put(root / "node_modules" / "no")
    (root / "ops" / "back").symlink_to(root)
    (root / "self").symlink_to(root / "self")
    put(root / "a" / "b" / "c" / "d")
    put(root / "a" / "b" / "c" / "e" / "too-deep")
    found = look(home)
    assert [item.name for item in found.skills] == ["d", "deploy", "hidden"]
    assert [
        (problem.name, "leads nowhere" in problem.reason or "cannot be read" in problem.reason)
        for problem in found.problems
    ] == [("self", True)]


BAD: dict[str, bytes] = {
    "aliased": b"---\nname: aliased\ndescription: &x d\nother: *x\n---\n",
    "binary": bytes(range(256)),
    "broken": b"---\nname: [\n---\n",
    "empty": b"",
    "latin": b"---\nname: latin\ndescription: caf\xe9\n---\n",
    "twice": b"---\nname: twice\nname: two\ndescription: d\n---\n",
    "unclosed": b"---\nname: unclosed\n",
}


def test_bad_files_are_named_once_and_hide_nothing(home: Path) -> None:
    root = home / ".claude" / "skills"
    for name, data in BAD.items():
        (root / name).mkdir(parents=True)
        (root / name / "SKILL.md").write_bytes(data)
    os.mkfifo((root / "binary").with_name("pipe"))
    (root / "fifo").mkdir()
    os.mkfifo(root / "fifo" / "SKILL.md")
    (root / "folder" / "SKILL.md").mkdir(parents=True)
    (root / "gone").symlink_to(root / "nowhere")
    (root / "no-file").mkdir()
    (root / "README.md").write_text("not a skill")
    (root / "dangling").mkdir()
    (root / "dangling" / "SKILL.md").symlink_to(root / "nowhere")
    put(root / "good")
    found = look(home, manage(home, "broken"))
    assert rows(found) == [("broken", "managed", False), ("good", "authored", False)]
    names = [problem.name for problem in found.problems]
    assert names == sorted([*BAD, "fifo", "folder", "gone", "dangling"])
    assert authored_names(home, None)["broken"] == root / "broken" / "SKILL.md"


@pytest.mark.parametrize("value", ["123", "on", "2024-06-01", "~", "", "[1]", "Two Words", "12:30:45"])
def test_names_that_yaml_would_type_are_text_or_fall_back_with_a_warning(home: Path, value: str) -> None:
    path = home / ".claude" / "skills" / "folder" / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(f"---\nname: {value}\ndescription: 42\nmetadata: [1]\n---\nx\n")
    found = look(home)
    assert [item.description for item in found.skills] == ["42"]
    assert found.skills[0].name == (value if value in ("123", "on", "2024-06-01") else "folder")
    assert [problem.path for problem in found.problems] == [path]


def test_descriptions_are_missing_or_too_long_or_hostile(home: Path) -> None:
    root = home / ".claude" / "skills"
    put(root / "a", description="")
    put(root / "b", description="é" * 1_025)
    put(root / "c", description=f"<b>bold</b>\u200b `x` {KEY}")
    found = look(home)
    assert [len(item.description) for item in found.skills][:2] == [0, 1_025]
    assert not {"<", ">", "`", "\u200b", KEY} & set(found.skills[2].description)
    assert KEY not in found.skills[2].description
    assert [problem.name for problem in found.problems] == ["a", "b"]


def test_managed_space_is_read_without_following_anything(home: Path) -> None:
    own = put(home / "private" / "mine", description="a secret")
    managed = manage(home, "good")
    (managed / "linked").symlink_to(own.parent)
    (managed / "file").mkdir()
    (managed / "file" / "SKILL.md").symlink_to(own)
    (managed / "hard").mkdir()
    (managed / "hard" / "SKILL.md").hardlink_to(own)
    (managed / "empty").mkdir()
    (managed / "stray.md").write_text("x")
    found = look(home, managed)
    assert rows(found) == [("good", "managed", False)]
    assert [problem.name for problem in found.problems] == ["file", "hard", "linked"]
    assert "secret" not in repr(found)
    managed.rename(home / "aside")
    managed.symlink_to(home / "aside")
    linked = look(home, managed)
    assert (linked.skills, [problem.path for problem in linked.problems]) == ((), [managed])


def test_a_long_file_is_read_for_its_head_only(home: Path) -> None:
    path = put(home / ".claude" / "skills" / "long")
    path.write_text(path.read_text() + "é" * 500_000)
    assert look(home).problems == ()


def test_project_skills_count_from_anywhere_in_the_repository(home: Path) -> None:
    app = home / "app"
    (app / ".git").mkdir(parents=True)
    (app / "src").mkdir()
    put(app / ".claude" / "skills" / "here")
    assert [item.name for item in look(home, cwd=app / "src").skills] == ["here"]
    assert look(home).skills == ()
    assert set(authored_names(home, app / "src")) == {"here"}


def test_a_folder_nobody_may_read_is_named(home: Path) -> None:
    root = home / ".claude" / "skills"
    put(root / "good")
    (root / "shut").mkdir(mode=0o000)
    if os.access(root / "shut", os.R_OK):
        pytest.skip("nothing is shut for root")
    assert [problem.name for problem in look(home).problems] == ["shut"]


@pytest.mark.shared
def test_real_skills_are_all_found_and_each_fault_is_named_once(home: Path, shared: Path) -> None:
    files = sorted((shared / "data" / "skills").rglob("SKILL.md"))
    for number, path in enumerate(files):
        group = home / ".claude" / "skills" / f"g{number}"
        group.mkdir(parents=True)
        (group / path.parent.name).symlink_to(path.parent)
    started = time.perf_counter()
    found = look(home)
    print(f"{len(files)} files in {time.perf_counter() - started:.3f} s")
    broken = [problem for problem in found.problems if "frontmatter:" in problem.reason or "not YAML" in problem.reason]
    assert len(found.skills) + len(broken) == len(files) > 500
    assert len(set(found.problems)) == len(found.problems)


@pytest.mark.shared
def test_real_instruction_files_are_no_skills_and_raise_nothing(home: Path, shared: Path) -> None:
    files = sorted((shared / "data" / "agents_md").glob("*.md"))
    for number, path in enumerate(files):
        folder = home / ".claude" / "skills" / f"a{number}"
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_bytes(path.read_bytes())
    found = look(home)
    assert len(found.skills) + len(
        {problem.path for problem in found.problems if "frontmatter" in problem.reason}
    ) >= len(files)
