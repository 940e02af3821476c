"""Writing, reading, deleting and undoing managed skills, against links, races, crashes and other processes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lessonbook.core import skill as rules
from lessonbook.core.errors import InputError, LessonbookError, StoreError
from lessonbook.core.skill import Skill, SkillDraft, prepare
from lessonbook.skills.managed import ManagedSkills, managed_skills

if TYPE_CHECKING:
    from lessonbook.core.skill import Action

SOURCE = Path(rules.__file__).parents[2]


def skill(name: str = "tidy", body: str = "one", action: Action = "create") -> Skill:
    return prepare(SkillDraft(action, name, f"When to {name}", body), {"session": "s"})


@pytest.fixture
def agent(home: Path) -> Path:
    folder = home / "agent"
    folder.mkdir()
    return folder


@pytest.fixture
def managed(agent: Path) -> ManagedSkills:
    return managed_skills(agent)


def tree(root: Path) -> dict[str, bytes | str]:
    """Every path below a folder, links with their targets and files with their bytes, without the history."""
    found: dict[str, bytes | str] = {}
    for path in sorted(root.rglob("*")):
        if "managed-skills-history" in path.parts:
            continue
        name = str(path.relative_to(root))
        if path.is_symlink():
            found[name] = str(path.readlink())
        else:
            found[name] = path.read_bytes() if path.is_file() else ""
    return found


def test_create_then_update_writes_one_file_and_nothing_else(managed: ManagedSkills, agent: Path) -> None:
    path = managed.write("create", skill())
    assert path == agent / "managed-skills" / "tidy" / "SKILL.md"
    assert managed.write("update", skill(body="two")) == path
    assert path.read_text() == skill(body="two").text
    assert managed.read("tidy") == skill(body="two")
    assert list(tree(agent)) == ["managed-skills", "managed-skills/tidy", "managed-skills/tidy/SKILL.md"]


def test_what_is_written_passes_the_reference_implementation(managed: ManagedSkills) -> None:
    from skills_ref.validator import validate

    path = managed.write("create", skill())
    assert validate(path.parent) == []
    path.write_text("---\nname: tidy\ndescription: old\nlicense: MIT\nmetadata:\n  a: b\n---\nold\n")
    managed.write("update", skill(body="two"))
    assert validate(path.parent) == []
    assert "license: MIT\nmetadata:\n  a: b\n  session: s\n---" in path.read_text()


def test_create_refuses_what_exists_and_update_what_does_not(managed: ManagedSkills, agent: Path) -> None:
    with pytest.raises(InputError, match=r'"tidy" does not exist; use the action "create"'):
        managed.write("update", skill())
    assert tree(agent) == {}
    managed.write("create", skill())
    for attempt in (managed.check, managed.write):
        with pytest.raises(InputError, match=r'"tidy" already exists; use the action "update"'):
            attempt("create", skill(body="two"))
    assert managed.read("tidy").body == "one"


def test_check_writes_nothing(managed: ManagedSkills, agent: Path) -> None:
    managed.check("create", skill())
    assert list(agent.iterdir()) == []


TRICKS = ["../x", "..", ".", "/etc/x", "a/../../x", "..%2fx", "%2e%2e", "..\\x", "C:\\x", "~/x", "x\0.md", "．．／x",
          "x/SKILL.md", ".git", "tidy.", "tidy ", " tidy", "TIDY", "tidy/", "", "ｔidy"]  # fmt: skip


@pytest.mark.parametrize("name", TRICKS)
def test_names_that_walk_out_are_refused_everywhere(managed: ManagedSkills, home: Path, name: str) -> None:
    managed.write("create", skill())
    before = tree(home)
    forged = Skill(name, "d", "b", "text")
    for attempt in (managed.read, managed.delete, managed.versions, managed.undo):
        with pytest.raises(InputError):
            attempt(name)
    for action in ("create", "update"):
        with pytest.raises(InputError):
            managed.write(action, forged)
    assert tree(home) == before


def test_a_linked_folder_is_not_followed(managed: ManagedSkills, agent: Path, home: Path) -> None:
    own = home / "skills" / "tidy"
    own.mkdir(parents=True)
    (own / "SKILL.md").write_text("mine")
    managed.root.mkdir()
    (managed.root / "tidy").symlink_to(own)
    for action in ("create", "update"):
        with pytest.raises(StoreError, match="symbolic link"):
            managed.write(action, skill())
    with pytest.raises(StoreError, match="symbolic link"):
        managed.read("tidy")
    with pytest.raises(StoreError, match="symbolic link"):
        managed.undo("tidy")
    managed.delete("tidy")
    assert tree(agent) == {"managed-skills": ""}
    assert (own / "SKILL.md").read_text() == "mine"


def test_a_linked_file_is_not_followed(managed: ManagedSkills, home: Path) -> None:
    secret = home / "secret"
    secret.write_text("---\nname: tidy\ndescription: secret\n---\nsecret\n")
    (managed.root / "tidy").mkdir(parents=True)
    (managed.root / "tidy" / "SKILL.md").symlink_to(secret)
    for action in ("create", "update"):
        with pytest.raises(StoreError, match="symbolic link"):
            managed.write(action, skill())
    with pytest.raises(StoreError, match="symbolic link"):
        managed.read("tidy")
    managed.delete("tidy")
    assert not (managed.root / "tidy").exists()
    assert "secret" in secret.read_text()
    assert managed.versions("tidy") == ()


def test_a_linked_root_and_a_linked_history_are_refused(managed: ManagedSkills, agent: Path, home: Path) -> None:
    away = home / "away"
    (away / "tidy").mkdir(parents=True)
    managed.root.symlink_to(away)
    with pytest.raises(StoreError, match="symbolic link"):
        managed.write("create", skill())
    with pytest.raises(StoreError, match="symbolic link"):
        managed.delete("tidy")
    managed.root.unlink()
    (agent / "managed-skills-history").symlink_to(away)
    with pytest.raises(StoreError, match="symbolic link"):
        managed.write("create", skill())
    assert tree(away) == {"tidy": ""}


def test_a_linked_agent_folder_is_a_persons_own_choice(home: Path) -> None:
    (home / "dotfiles").mkdir()
    (home / "agent").symlink_to(home / "dotfiles")
    assert managed_skills(home / "agent").write("create", skill()).read_text() == skill().text


def test_a_second_hard_link_is_refused_and_delete_takes_only_ours(managed: ManagedSkills, home: Path) -> None:
    own = home / "own.md"
    own.write_text(skill().text)
    (managed.root / "tidy").mkdir(parents=True)
    (managed.root / "tidy" / "SKILL.md").hardlink_to(own)
    with pytest.raises(StoreError, match="hard link"):
        managed.write("update", skill(body="two"))
    managed.delete("tidy")
    assert own.read_text() == skill().text


@pytest.mark.parametrize("kind", ["folder", "pipe", "file"])
def test_what_is_no_regular_file_is_refused(managed: ManagedSkills, kind: str) -> None:
    place = managed.root / "tidy"
    if kind == "file":
        managed.root.mkdir()
        place.write_text("in the way")
    else:
        place.mkdir(parents=True)
        os.mkfifo(place / "SKILL.md") if kind == "pipe" else (place / "SKILL.md").mkdir()
    for action in ("create", "update"):
        with pytest.raises(StoreError):
            managed.write(action, skill())


def test_a_folder_swapped_for_a_link_at_any_moment_leads_nowhere(managed: ManagedSkills, home: Path) -> None:
    """SE-02: while one thread swaps the folder for a link to a person's own, no write ever arrives there."""
    own = home / "own"
    own.mkdir()
    (own / "SKILL.md").write_text(skill(body="mine").text)
    managed.write("create", skill())
    place, aside = managed.root / "tidy", managed.root / "aside"
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            place.rename(aside)
            with suppress(FileExistsError):  # an update that had seen the folder made it anew
                place.symlink_to(own)
                place.unlink()
            while aside.exists():
                shutil.rmtree(place, ignore_errors=True)
                with suppress(OSError):
                    aside.rename(place)

    thread = threading.Thread(target=swap)
    thread.start()
    for number in range(60):
        with suppress(LessonbookError):
            managed.write("update", skill(body=f"update {number}"))
    stop.set()
    thread.join()
    assert tree(own) == {"SKILL.md": skill(body="mine").text.encode()}


UPDATES = {
    "mark": b"\xef\xbb\xbf" + skill().text.encode(),
    "crlf": skill().text.replace("\n", "\r\n").encode(),
    "cr": skill().text.replace("\n", "\r").encode(),
    "open end": b"---\nname: tidy\ndescription: d\n---",
    "blanks": b"---\nname: tidy\ndescription: d\n---  \nold\n",
    "empty": b"---\n---\n",
    "hyphens": b"---\nname: tidy\ndescription: foo---\nenabled: true\n---\nold\n---\nname: x\n---\n",
}


@pytest.mark.parametrize("kind", UPDATES)
def test_an_update_never_makes_a_second_block(managed: ManagedSkills, kind: str) -> None:
    path = managed.write("create", skill())
    path.write_bytes(UPDATES[kind])
    managed.write("update", skill(body="two"))
    text = path.read_text()
    assert text.startswith("---\nname: tidy\n")
    assert text.endswith("---\n\ntwo\n")
    assert text.count("\n---\n") == 1
    assert ("enabled: true" in text) == (kind == "hyphens")
    assert UPDATES[kind] in [version.path.read_bytes() for version in managed.versions("tidy")]


@pytest.mark.parametrize(
    "data", [b"---\nname: [\n---\nx\n", b"no block", b"---\nname: a\nname: b\n---\n", b"---\n\xff\n---\n"]
)
def test_an_update_of_an_unreadable_file_leaves_it(managed: ManagedSkills, data: bytes) -> None:
    path = managed.write("create", skill())
    path.write_bytes(data)
    with pytest.raises(InputError, match="nothing was changed"):
        managed.write("update", skill(body="two"))
    assert path.read_bytes() == data
    assert os.listdir(path.parent) == ["SKILL.md"]  # noqa: PTH208


def test_a_refused_size_leaves_the_file_and_no_other(managed: ManagedSkills) -> None:
    path = managed.write("create", skill())
    long = "extra: " + "k" * 300
    path.write_text(skill().text.replace("metadata:", f"{long}\nmetadata:"))
    before = path.read_bytes()
    with pytest.raises(InputError, match="limit is 64,000"):
        managed.write("update", skill(body="x" * 63_800))
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["SKILL.md"]  # noqa: PTH208


def test_undo_goes_back_step_by_step_and_everything_is_kept(managed: ManagedSkills) -> None:
    managed.write("create", skill(body="one"))
    managed.write("update", skill(body="two"))
    managed.write("update", skill(body="three"))
    assert [managed.undo("tidy") and managed.read("tidy").body for _ in range(2)] == ["two", "one"]
    with pytest.raises(InputError, match="no version before this one"):
        managed.undo("tidy")
    managed.write("update", skill(body="four"))
    managed.undo("tidy")
    assert managed.read("tidy").body == "one"
    managed.undo("tidy", to=3)
    assert managed.read("tidy").body == "three"
    numbers = [(version.number, version.restores) for version in managed.versions("tidy")]
    assert numbers == [(1, None), (2, None), (3, None), (4, 2), (5, 1), (6, None), (7, 1), (8, 3)]
    with pytest.raises(InputError, match="no version 99"):
        managed.undo("tidy", to=99)


def test_the_same_text_again_is_no_new_version(managed: ManagedSkills) -> None:
    managed.write("create", skill())
    managed.write("update", skill())
    assert len(managed.versions("tidy")) == 1


def test_what_a_person_edited_by_hand_is_kept_before_it_is_replaced(managed: ManagedSkills) -> None:
    path = managed.write("create", skill())
    edited = skill().text + "\nMy own words.\n"
    path.write_text(edited)
    managed.write("update", skill(body="two"))
    managed.undo("tidy")
    assert path.read_text() == edited
    path.write_text("broken now")
    managed.undo("tidy")
    assert path.read_text() == edited
    assert b"broken now" in [version.path.read_bytes() for version in managed.versions("tidy")]


def test_a_deleted_skill_comes_back(managed: ManagedSkills, agent: Path) -> None:
    path = managed.write("create", skill())
    edited = skill().text + "\nMy own words.\n"
    path.write_text(edited)
    managed.delete("tidy")
    assert tree(agent) == {"managed-skills": ""}
    with pytest.raises(InputError, match="does not exist"):
        managed.delete("tidy")
    with pytest.raises(InputError, match="does not exist"):
        managed.read("tidy")
    managed.undo("tidy")
    assert path.read_text() == edited


def test_deleting_leaves_what_others_put_beside(managed: ManagedSkills) -> None:
    path = managed.write("create", skill())
    (path.parent / "notes.txt").write_text("mine")
    managed.delete("tidy")
    assert tree(managed.root) == {"tidy": "", "tidy/notes.txt": b"mine"}
    assert managed.write("create", skill(body="again")) == path


def test_nothing_to_undo_is_said(managed: ManagedSkills, agent: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        managed.undo("tidy")
    assert list(agent.iterdir()) == []


STEP = """
import sys
from pathlib import Path
from lessonbook.core.skill import SkillDraft, prepare
from lessonbook.skills.managed import managed_skills
from lessonbook.system import faults
verb, agent, body, point, passes = sys.argv[1:]
managed = managed_skills(Path(agent))
if point:
    faults.arm(point, int(passes))
passed = faults.record()
if verb == "undo":
    managed.undo("tidy")
elif verb == "delete":
    managed.delete("tidy")
else:
    managed.write(verb, prepare(SkillDraft(verb, "tidy", "When to tidy", body), {"session": "s"}))
print(*passed)
"""


def run(agent: Path, verb: str, point: str = "", passes: int = 1) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", STEP, verb, str(agent), "new", point, str(passes)],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("verb", ["create", "update", "undo"])
def test_a_kill_at_any_step_leaves_the_old_file_or_the_new_one(tmp_path: Path, verb: str) -> None:
    steps = run(_prepared(tmp_path / "count", verb), verb).stdout.split()
    assert len(steps) >= 5
    for nth, step in enumerate(steps):
        agent = _prepared(tmp_path / f"{verb}{nth}", verb)
        assert run(agent, verb, step, steps[: nth + 1].count(step)).returncode == -signal.SIGKILL
        managed = managed_skills(agent)
        path = managed.root / "tidy" / "SKILL.md"
        old = {"create": None, "update": "one", "undo": "two"}[verb]
        new = {"create": "new", "update": "new", "undo": "one"}[verb]
        live = path.read_text() if path.exists() else None
        assert live in (skill(body=old).text if old else None, skill(body=new).text)
        if verb == "create" and live is None:
            managed.write("create", skill(body="new"))
        else:
            managed.write("update", skill(body="after"))
            managed.undo("tidy")
            assert path.read_text() == live
        assert os.listdir(path.parent) == ["SKILL.md"]  # noqa: PTH208
        kept = [version.path.read_text() for version in managed.versions("tidy")]
        assert set(kept) <= {skill(body=body).text for body in ("one", "two", "new", "after")}


def _prepared(agent: Path, verb: str) -> Path:
    agent.mkdir()
    managed = managed_skills(agent)
    if verb != "create":
        managed.write("create", skill(body="one"))
    if verb == "undo":
        managed.write("update", skill(body="two"))
    return agent


def test_processes_agree(agent: Path) -> None:
    command = [sys.executable, "-c", STEP, "create", str(agent)]
    quiet = subprocess.DEVNULL
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    started = [
        subprocess.Popen([*command, f"body {n}", "", "1"], env=env, stdout=quiet, stderr=quiet) for n in range(4)
    ]
    assert sorted(process.wait() for process in started) == [0, 1, 1, 1]
    assert len(managed_skills(agent).versions("tidy")) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_read_only_root_is_said_and_nothing_changes(managed: ManagedSkills) -> None:
    managed.root.mkdir(mode=0o555)
    with pytest.raises(StoreError):
        managed.write("create", skill())
    assert list(managed.root.iterdir()) == []
