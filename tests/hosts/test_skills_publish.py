"""Managed and accepted skills where agents look for them: linked, repaired, retired, and never over an authored one."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
import skills_ref

from lessonbook.core.skill import SkillDraft, prepare
from lessonbook.skills.managed import managed_skills

TEXT = "---\nname: {name}\ndescription: {about}\n---\n\nRead VERSION first.\n"


def manage(
    home: Path,
    *names: str,
    about: str = "Use before a release. Checks it.",
    agent: str = ".local/share/lessonbook/agent",
) -> Path:
    managed = managed_skills(home / agent)
    for name in names:
        managed.write("create", prepare(SkillDraft("create", name, about, "Look: then act."), {"session": "s: 1"}))
    return managed.root


def accept(commit, *names: str) -> Path:
    return commit({f"skills/{name}/SKILL.md": TEXT.format(name=name, about="Use when it fits.") for name in names})


def author(folder: Path, name: str, about: str = "Mine.") -> Path:
    path = folder / name / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(TEXT.format(name=name, about=about))
    return path


def links(home: Path) -> dict[str, str]:
    found = [
        path for root in (".agents/skills", ".claude/skills", ".hermes/skills") for path in (home / root).glob("*")
    ]
    return {str(path.relative_to(home)): str(path.readlink()) for path in found if path.is_symlink()}


@pytest.fixture
def connected(run, home: Path, homes):
    homes.fresh(home)
    assert run("setup", "--yes").returncode == 0
    return home


def test_both_kinds_are_published_once_for_each_group_of_agents(run, connected: Path, commit) -> None:
    home = connected
    root = manage(home, "release-check")
    book = accept(commit, "sizes")
    done = json.loads(run("skills", "publish", "--json").stdout)
    assert done["ok"] and done["removed"] == [] and done["notes"] == []
    kept = home / ".local/share/lessonbook/published-skills"
    assert links(home) == {
        f"{folder}/{name}": str(source)
        for folder in (".agents/skills", ".claude/skills", ".hermes/skills")
        for name, source in (("release-check", root / "release-check"), ("sizes", kept / "sizes"))
    }
    assert (kept / "sizes/SKILL.md").read_bytes() == (book / "skills/sizes/SKILL.md").read_bytes()
    for folder in (root / "release-check", kept / "sizes"):
        assert skills_ref.validate(folder) == []
    assert run("skills", "publish").stdout == "all is published already\n"
    rows = {row["name"]: row for row in json.loads(run("skills", "--json").stdout)["skills"]}
    assert rows["sizes"]["origin"] == "learned" and rows["release-check"]["origin"] == "managed"
    assert {"claude", "codex", "hermes"} <= set(rows["release-check"]["agents"])


def test_an_edit_nobody_committed_is_not_published(run, connected: Path, commit) -> None:
    book = accept(commit, "sizes")
    (book / "skills/sizes/SKILL.md").write_text("changed by hand")
    run("skills", "publish")
    assert "Read VERSION" in (connected / ".claude/skills/sizes/SKILL.md").read_text()


def test_an_authored_skill_is_never_touched_nor_shadowed(run, connected: Path, commit) -> None:
    home = connected
    mine = author(home / ".claude/skills", "sizes")
    odd = author(home / ".agents/skills", "other-folder")
    odd.write_text(TEXT.format(name="release-check", about="Claims the name of another."))
    elsewhere = author(home / "elsewhere", "linked")
    (home / ".hermes/skills").mkdir(parents=True)
    (home / ".hermes/skills/linked").symlink_to(elsewhere.parent)
    (home / ".agents/skills/not-a-skill").mkdir()
    manage(home, "release-check", "linked", "not-a-skill", "fine")
    accept(commit, "sizes")
    before = {path: path.read_bytes() for path in (mine, odd, elsewhere)}
    done = json.loads(run("skills", "publish", "--json").stdout)
    assert {Path(path).name for path in done["published"]} == {"fine", "not-a-skill"}
    assert any("not-a-skill is somebody else's" in note for note in done["notes"])
    assert (home / ".claude/skills/not-a-skill").is_symlink() and not (home / ".agents/skills/not-a-skill").is_symlink()
    assert {path: path.read_bytes() for path in before} == before


def test_a_published_skill_is_not_taken_for_an_authored_one(run, connected: Path, tmp_path: Path) -> None:
    from time import time

    from lessonbook import LearnSession, LearnTool, open_memory
    from lessonbook.system.projects import identify
    from lessonbook.system.settings import Settings, places

    manage(connected, "release-check")
    run("skills", "publish")
    settings = Settings(agent_dir=places().data / "agent", autolearn_enabled=True, memory_backend="local")
    session = LearnSession(tmp_path, "s1", open_memory(settings, identify(tmp_path), time, tmp_path))
    tool = LearnTool.create_if(settings, session)
    skill = {"name": "release-check", "description": "New.", "body": "1. Go", "action": "update"}
    assert tool.execute({"memory": "A lesson.", "skill": skill}).details == {"skill": "release-check"}


def test_retired_skills_go_and_come_back(run, connected: Path, commit) -> None:
    home = connected
    manage(home, "release-check", "stays")
    book = accept(commit, "sizes")
    run("skills", "publish")
    run("skills", "delete", "release-check")  # brings what is published in step itself
    assert {Path(path).name for path in links(home)} == {"stays", "sizes"}
    run("skills", "undo", "release-check")
    assert {Path(path).name for path in links(home)} == {"stays", "sizes", "release-check"}
    subprocess.run(["git", "-C", str(book), "rm", "-rq", "skills"], check=True)
    subprocess.run(
        ["git", "-C", str(book), "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"], check=True
    )
    run("skills", "publish")
    assert "sizes" not in {Path(path).name for path in links(home)}
    assert not (home / ".local/share/lessonbook/published-skills/sizes").exists()
    run("learned", "off")
    run("skills", "publish")
    assert {Path(path).name for path in links(home)} == {"stays", "release-check"}


def test_the_next_session_brings_skills_up_to_date(run, connected: Path, commit) -> None:
    home = connected
    start = ("hook", "session-start", "--agent", "claude")
    run(*start, stdin="{}")
    assert links(home) == {}
    accept(commit, "sizes")
    manage(home, "release-check")
    run(*start, stdin="{}")
    assert {Path(path).name for path in links(home)} == {"sizes", "release-check"}
    managed_skills(home / ".local/share/lessonbook/agent").delete("release-check")
    run(*start, stdin="{}")
    assert {Path(path).name for path in links(home)} == {"sizes"}


def test_a_folder_that_moved_is_followed(run, connected: Path) -> None:
    home = connected
    root = manage(home, "release-check")
    run("skills", "publish")
    moved = home / "moved"
    root.parent.rename(moved)
    run("config", "set", "agent_dir", str(moved))
    assert run("skills", "publish").returncode == 0
    assert set(links(home).values()) == {str(moved / "managed-skills/release-check")}
    (home / ".claude/skills/release-check").unlink()
    (home / ".claude/skills/release-check").symlink_to(home / "nowhere")  # a person's own, now
    notes = json.loads(run("skills", "publish", "--json").stdout)["notes"]
    assert any("link of somebody else's" in note for note in notes)
    assert str((home / ".claude/skills/release-check").readlink()) == str(home / "nowhere")


def test_removing_set_up_takes_the_skills_out_and_leaves_the_rest(run, connected: Path, commit, homes) -> None:
    home = connected
    mine = author(home / ".hermes/skills", "mine")
    before = homes.snapshot(home)
    manage(home, "release-check")
    accept(commit, "sizes")
    run("skills", "publish")
    assert run("setup", "hermes", "--remove", "--yes").returncode == 0
    assert {Path(path).parts[0] for path in links(home)} == {".agents", ".claude"}
    assert run("setup", "hermes", "--yes").returncode == 0
    assert {Path(path).parts[0] for path in links(home)} == {".agents", ".claude", ".hermes"}
    assert homes.snapshot(home) != before
    assert run("setup", "--remove", "--yes").returncode == 0
    assert links(home) == {} and mine.is_file()
    assert not (home / ".agents").exists() or list((home / ".agents").rglob("*")) == []
    assert not (home / ".local/state/lessonbook/published.json").exists()


def test_the_list_an_agent_shows_is_not_overfilled(run, connected: Path) -> None:
    home = connected
    for number in range(60):
        author(home / ".agents/skills", f"mine-{number:02}", about="A description of a hundred characters. " * 3)
    manage(
        home, *(f"ours-{number}" for number in range(9)), about="Use it when the moon is full and the tide is low. " * 3
    )
    done = json.loads(run("skills", "publish", "--json").stdout)
    by_folder = {folder: [p for p in links(home) if p.startswith(folder)] for folder in (".agents", ".claude")}
    assert len(by_folder[".agents"]) < 9 == len(by_folder[".claude"])
    assert any("do not fit the list" in note for note in done["notes"])


def test_a_file_system_without_links_gets_copies_that_are_marked(connected: Path, tmp_path: Path) -> None:
    from lessonbook.skills.publish import Published, Target, publish
    from lessonbook.skills.publish_record import COPIES, Record, copied, note_copies

    root = manage(connected, "release-check")
    folder = tmp_path / "skills"
    skill = Published("release-check", "Checks.", root / "release-check")
    folder.mkdir()
    note_copies(folder, {"release-check"})  # as it is noted where a link could not be made
    record = Record(tmp_path)
    publish(record, [root], [Target(folder, 8_000)], [skill])
    copy = folder / "release-check/SKILL.md"
    assert not copy.parent.is_symlink() and copy.read_bytes() == (root / "release-check/SKILL.md").read_bytes()
    assert copied(folder) == {"release-check"}
    publish(record, [root], [Target(folder, 8_000)], [])
    assert not copy.parent.exists() and not (folder / COPIES).exists()


def test_publishing_needs_an_agent(run) -> None:
    done = run("skills", "publish")
    assert done.returncode == 2 and "lessonbook setup" in done.stderr


@pytest.mark.parametrize("name", ["claude", "codex", "hermes"])
def test_removal_leaves_no_folder_that_skills_were_published_to(
    run, home: Path, commit, homes: SimpleNamespace, name: str
) -> None:
    manage(home, "release-check")
    accept(commit, "sizes")
    before = homes.snapshot(home)  # an agent that was never started: not even its folder is there
    assert run("setup", name, "--yes").returncode == 0
    assert len(links(home)) == 2
    assert run("setup", name, "--remove", "--yes").returncode == 0
    assert homes.snapshot(home) == before


def test_a_folder_that_somebody_else_uses_now_stays(run, home: Path, commit) -> None:
    accept(commit, "sizes")
    run("setup", "codex", "--yes")
    mine = author(home / ".agents/skills", "mine")
    run("setup", "codex", "--remove", "--yes")
    assert mine.is_file() and not (home / ".agents/skills/sizes").exists()


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_plugin_carries_copies_of_both_kinds_until_they_retire(
    run, home: Path, commit, tmp_path: Path, name: str
) -> None:
    root = manage(home, "release-check")
    accept(commit, "sizes")
    folder = tmp_path / "market"
    assert run("setup", "--plugin", name, str(folder)).returncode == 0
    skills = folder / "plugins/lessonbook/skills"
    assert {path.name for path in skills.iterdir()} == {"release-check", "sizes"}
    copy = skills / "release-check/SKILL.md"
    assert not copy.is_symlink() and copy.read_bytes() == (root / "release-check/SKILL.md").read_bytes()
    assert skills_ref.validate(skills / "release-check") == []
    run("skills", "delete", "release-check")
    assert run("setup", "--plugin", name, str(folder)).returncode == 0
    assert {path.name for path in skills.iterdir()} == {"sizes"}
