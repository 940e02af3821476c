"""The public face: exactly the functions and constants of the contract, and a folder the original made, and back."""

from __future__ import annotations

import inspect
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

import lessonbook.learned as learned
from lessonbook.book.offer import Offer, offer

FUNCTIONS = {
    "accept": ["folder", "id", "files", "reviewer", "acknowledge", "commit"],
    "accept_many": ["folder", "ids", "reviewer", "acknowledge", "commit"],
    "compact": ["folder", "id", "chat"],
    "diff": ["folder", "id"],
    "edit": ["folder", "id", "files", "reviewer", "commit"],
    "enabled": ["cfg"],
    "learned_cli": ["cmd", "id", "cfg"],
    "learned_command": ["folder", "arg"],
    "learned_folder": ["cfg"],
    "pending": ["folder"],
    "promote": ["folder", "id", "project"],
    "pull": ["folder", "remote"],
    "push": ["folder", "remote"],
    "reject": ["folder", "id", "reason", "commit"],
    "rejected": ["folder"],
    "restack": ["folder"],
    "review": ["folder"],
    "undo": ["folder", "id"],
    "unreject": ["folder", "id"],
    "verify": ["folder"],
    "set_enabled": ["cfg", "on"],
    "split": ["folder", "id", "by", "reviewer", "commit"],
}


def random_hex() -> str:
    return os.urandom(3).hex()


def test_the_face_is_the_contracts() -> None:
    assert {name: list(inspect.signature(getattr(learned, name)).parameters) for name in FUNCTIONS} == FUNCTIONS
    assert (learned.LEARNED, learned.PENDING, learned.LEARNED_MAX, learned.SETTINGS) == (
        "learned",
        "pending/",
        2000,
        "settings.json",
    )
    assert "no longer applies" in learned.STALE
    assert set(learned.__all__) == {*FUNCTIONS, "LEARNED", "PENDING", "LEARNED_MAX", "SETTINGS", "STALE"}


def test_one_candidate_through_the_face(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cfg = home / ".config" / "lessonbook"
    assert learned.learned_folder() == cfg / "learned" and learned.learned_folder("~/x") == home / "x" / "learned"
    folder = learned.learned_folder()
    assert learned.pending(folder) == [] and not cfg.exists()
    one, two = offer(folder, [Offer("one", "Rule one."), Offer("two", "Rule two.")], int(time.time()) - 60, random_hex)
    assert [row["id"] for row in learned.pending(str(folder))] == [one, two]
    assert learned.diff(folder, one)["ok"]
    before = time.time()
    assert learned.accept(folder, one)["moved"] == [two]
    stamp = subprocess.run(["git", "-C", str(folder), "log", "-1", "--format=%ct"], capture_output=True, check=True)
    assert int(before) <= int(stamp.stdout) <= time.time()
    assert learned.restack(folder) == ([], [])
    learned.learned_cli()
    learned.learned_cli("reject", two)
    assert capsys.readouterr().out.splitlines()[1:] == [f"rejected {two}"]
    assert learned.compact(folder)["ok"] is False


def test_the_switch_through_the_face(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LESSONBOOK_CONFIG", str(tmp_path / "my.toml"))
    assert learned.enabled() and learned.set_enabled(on=False) is False and not learned.enabled(tmp_path / "any")
    assert (tmp_path / "my.toml").exists() and not (home / ".config").exists()
    assert learned.learned_command(tmp_path / "cfg" / "learned", "on") == "learning is on"
    (tmp_path / "my.toml").write_text("= x")
    with pytest.raises(ValueError, match="not valid TOML"):
        learned.set_enabled(on=True)


PEER = os.environ.get("LESSONBOOK_PEER_PYTHON", "")
_ASK = "import json, sys; import ramabana.learned as m; print(json.dumps(getattr(m, sys.argv[1])(*sys.argv[2:])))"


def peer(*args: str) -> object:
    """Call a function of the original on its own Python; the test is skipped where there is none."""
    import json

    if not PEER or subprocess.run([PEER, "-c", "import ramabana.learned"], capture_output=True, check=False).returncode:
        pytest.skip("needs LESSONBOOK_PEER_PYTHON, a Python that can import the original")
    done = subprocess.run([PEER, "-c", _ASK, *args], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def by_hand(folder: Path, *args: str) -> str:
    who = ("-c", "user.name=Dhrona", "-c", "user.email=d@example.org")
    return subprocess.run(
        ["git", "-C", str(folder), *who, *args], capture_output=True, check=True, text=True
    ).stdout.strip()


def propose_as_the_original(folder: Path, id: str, files: dict[str, str], tmp: Path) -> None:
    """A worktree on a branch of its own, a commit in it, the worktree removed."""
    tree = tmp / f"wt-{id}"
    by_hand(folder, "worktree", "add", "-q", "-b", f"pending/{id}", str(tree), "HEAD")
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    by_hand(tree, "add", "-A")
    by_hand(tree, "commit", "-q", "-m", f"Lesson from a replay: {id}")
    by_hand(folder, "worktree", "remove", "--force", str(tree))


IDS = [f"20270301-0{n}0000-0000a{n}" for n in range(6)]
DAY = "dhrona-2027-03-01.md"


def a_folder_of_the_originals(tmp: Path) -> Path:
    folder = tmp / "learned"
    folder.mkdir()
    by_hand(folder, "init", "-q")
    (folder / "AGENTS.md").write_text("Ask before deleting.\n")
    by_hand(folder, "add", "-A")
    by_hand(folder, "commit", "-q", "-m", "first")
    for id, files in zip(
        IDS,
        [
            {"skills/sizes/SKILL.md": "---\nname: sizes\ndescription: x\n---\nuse du\n"},
            {"AGENTS.md": "Never delete.\n"},
            {"AGENTS.md": "Delete at will.\n"},
            {DAY: "# Day\n\n- one\n"},
            {DAY: "# Day\n\n- one\n\n- two\n"},
            {"dhrona-2027-03-02.md": "# Day\n\n- three\n"},
        ],
        strict=True,
    ):
        propose_as_the_original(folder, id, files, tmp)
    return folder


def _seen_by_both(folder: Path) -> list[dict[str, Any]]:
    """Our rows without what only we say: which candidate would make AGENTS.md too long, and each one's commit."""
    ours = ("over", "commit")
    return [{key: value for key, value in row.items() if key not in ours} for row in learned.pending(folder)]


def test_a_folder_the_original_made_is_listed_alike_and_worked_by_us(tmp_path: Path) -> None:
    folder = a_folder_of_the_originals(tmp_path)
    assert _seen_by_both(folder) == peer("pending", str(folder))
    told = learned.accept(folder, IDS[0])
    assert (told["ok"], told["moved"], told["stale"]) == (True, IDS[1:], [])
    assert _seen_by_both(folder) == peer("pending", str(folder))
    assert learned.accept(folder, IDS[4])["ok"] and learned.reject(folder, IDS[5])["ok"]
    assert learned.accept(folder, IDS[1])["stale"] == [IDS[2]]
    rows, theirs = learned.pending(folder), peer("pending", str(folder))
    assert isinstance(theirs, list) and [row["id"] for row in rows] == [row["id"] for row in theirs] == [IDS[2]]
    assert rows[0]["stale"] and theirs[0]["stale"]
    assert by_hand(folder, "status", "--porcelain") == ""


def test_a_folder_we_made_is_worked_by_the_original(tmp_path: Path) -> None:
    folder = tmp_path / "learned"
    skill = Offer("sizes", files={"skills/sizes/SKILL.md": "---\nname: sizes\ndescription: x\n---\nuse du\n"})
    offers = [Offer("one", "Rule one."), skill, Offer("day", files={DAY: "# Day\n\n- one\n"})]
    ids = offer(folder, offers, 1_800_000_000, random_hex)
    assert peer("pending", str(folder)) == _seen_by_both(folder)
    told = peer("accept", str(folder), ids[0])
    assert isinstance(told, dict) and told["ok"] and told["moved"] == ids[1:]
    assert peer("reject", str(folder), ids[1]) == {"ok": True, "id": ids[1]}
    assert [row["id"] for row in learned.pending(folder)] == [ids[2]]
    assert learned.accept(folder, ids[2])["ok"]
    assert peer("pending", str(folder)) == [] and (folder / "AGENTS.md").read_text() == "Rule one.\n"
    assert by_hand(folder, "status", "--porcelain") == ""
