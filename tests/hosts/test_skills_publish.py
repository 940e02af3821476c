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


@pytest.mark.parametrize("why", ["no links can be made", "the agents follow none"])
def test_where_links_do_not_help_there_are_copies_that_are_marked(connected: Path, tmp_path: Path, why: str) -> None:
    from lessonbook.skills.publish import Published, Target, publish
    from lessonbook.skills.publish_record import COPIES, Record, copied, note_copies

    root = manage(connected, "release-check", "ship-it")
    (root / "ship-it/notes").mkdir()
    (root / "ship-it/notes/more.md").write_text("More.\n")
    folder = tmp_path / "skills"
    folder.mkdir()
    if why == "no links can be made":  # as it is noted then
        note_copies(folder, {"release-check": set(), "ship-it": set()})
    target = Target(folder, 8_000, why == "no links can be made")
    skills = [Published(name, "Checks.", root / name) for name in ("release-check", "ship-it")]

    def bring(*wanted: Published, to: Target | None = target):
        record = Record(tmp_path)
        done = publish(record, [root], [to] if to else [], wanted)
        record.save("x" if to else None)
        return done

    assert len(bring(*skills).made) == 2
    copy = folder / "release-check/SKILL.md"
    assert not copy.parent.is_symlink() and copy.read_bytes() == (root / "release-check/SKILL.md").read_bytes()
    assert (folder / "ship-it/notes/more.md").read_text() == "More.\n"
    assert copied(folder).keys() == {"release-check", "ship-it"}
    assert bring(*skills).made == ()
    (root / "release-check/SKILL.md").write_text("changed by its author")
    (root / "ship-it/notes/more.md").unlink()
    assert len(bring(*skills).made) == 2
    assert copy.read_text() == "changed by its author" and not (folder / "ship-it/notes").exists()
    copy.unlink()  # half of it lost
    bring(*skills)
    assert copy.read_text() == "changed by its author"
    assert len(bring(skills[0]).removed) == 1 and not (folder / "ship-it").exists()
    # From here on it is a person's: it stays, with what is put beside it.
    copy.write_text("a person's own")
    if why == "no links can be made":
        note_copies(folder, {**copied(folder), "ship-it": set()})
    done = bring(*skills)
    assert copy.read_text() == "a person's own" and any("somebody else's" in note for note in done.notes)
    assert copied(folder).keys() == {"ship-it"}
    (folder / "ship-it/own.md").write_text("mine")
    done = bring(to=None)
    assert any("stays" in note for note in done.notes) and not (folder / COPIES).exists()
    assert {str(path.relative_to(folder)) for path in folder.rglob("*.md")} == {
        "release-check/SKILL.md",
        "ship-it/SKILL.md",
        "ship-it/own.md",
    }


def test_cursor_gets_copies_of_its_own_and_the_others_links(run, connected: Path, commit, homes) -> None:
    home = connected
    author(home / ".cursor/skills", "mine")
    before = homes.snapshot(home)
    root = manage(home, "release-check")
    accept(commit, "sizes")
    run("skills", "publish")
    copies = [home / ".cursor/skills" / name for name in ("release-check", "sizes")]
    for copy in copies:
        assert not copy.is_symlink() and skills_ref.validate(copy) == []
    assert (home / ".agents/skills/release-check").is_symlink()
    rows = {row["name"]: row for row in json.loads(run("skills", "--json").stdout)["skills"]}
    assert {name: row["origin"] for name, row in rows.items()} == {
        "release-check": "managed", "sizes": "learned", "mine": "authored",
    }  # fmt: skip
    managed_skills(root.parent).write(
        "update", prepare(SkillDraft("update", "release-check", "Use then.", "Look twice."), {})
    )
    run("hook", "session-start", "--agent", "cursor", stdin="{}")
    assert (copies[0] / "SKILL.md").read_bytes() == (root / "release-check/SKILL.md").read_bytes()
    run("skills", "delete", "release-check")
    assert not copies[0].exists() and copies[1].exists()
    book = home / ".config/lessonbook/learned"
    subprocess.run(["git", "-C", str(book), "rm", "-rq", "skills"], check=True)
    subprocess.run(
        ["git", "-C", str(book), *["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]], check=True
    )
    run("skills", "publish")
    left = homes.snapshot(home)
    assert {name: left[name] for name in left if name.startswith(".cursor/skills")} == {
        name: before[name] for name in before if name.startswith(".cursor/skills")
    }


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


def test_removal_takes_copies_along_and_leaves_those_a_person_changed(run, home: Path, commit, homes) -> None:
    manage(home, "release-check")
    accept(commit, "sizes")
    (home / ".cursor").mkdir()
    before = homes.snapshot(home)
    for changed in (False, True):
        assert run("setup", "cursor", "--yes").returncode == 0
        copy = home / ".cursor/skills/sizes/SKILL.md"
        assert copy.is_file() and (home / ".cursor/skills/release-check/SKILL.md").is_file() and links(home) == {}
        if changed:
            copy.write_text("a person's own")
        assert run("setup", "cursor", "--remove", "--yes").returncode == 0
        after = homes.snapshot(home)
        left = {name for name in after if name not in before}
        assert left == ({f".cursor/skills{end}" for end in ("", "/sizes", "/sizes/SKILL.md")} if changed else set())


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
