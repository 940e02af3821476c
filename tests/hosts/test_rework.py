"""``learned accept``, ``edit`` and ``split``, and ``learn --skill``, as a person types them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lessonbook.book import queue
from lessonbook.book.offer import Offer, offer

NOW = 1_798_675_200
Commit = Callable[..., Path]
SKILL = "---\nname: release\ndescription: When releasing, tag first.\n---\n\nTag.\n"
ANA = {"LESSONBOOK_REVIEWER": "Ana Lee <ana@example.org>"}


def offered(folder: Path, *offers: Offer) -> list[str]:
    tails = iter(f"{n:06x}" for n in range(1, 99))
    return offer(folder, offers, NOW, tails.__next__)


def git(folder: Path, *words: str) -> str:
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return subprocess.run(["git", "-C", str(folder), *words], env=env, capture_output=True, check=True).stdout.decode()


@pytest.fixture
def book(commit: Commit) -> Path:
    return commit({"AGENTS.md": "Lint.\n"})


def test_several_in_one_move(run, book: Path) -> None:
    one, two, three = offered(book, *(Offer(t, f"{t}.") for t in ("One", "Two", "Three")))
    done = run("learned", "accept", one, two, env=ANA)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and [line.split(" as ")[0] for line in lines[:2]] == [
        f"accepted {one}",
        f"accepted {two}",
    ]
    assert lines[2] == f"moved {three} onto it" and (book / "AGENTS.md").read_text() == "Lint.\n\nOne.\n\nTwo.\n"
    assert git(book, "log", "-1", "--format=%cn|%(trailers:key=Accepted-by,valueonly)").strip() == (
        "Ana Lee|Ana Lee <ana@example.org>"
    )
    done = run("learned", "accept", three, one, "--book", "global")
    assert done.returncode == 1 and f"not accepted {one}: nothing is pending" in done.stdout
    assert run("learned", "accept", one, two).returncode == 1


def test_all_of_a_book(run, commit: Commit, book: Path) -> None:
    other = commit({"AGENTS.md": "x\n"}, "app-00000001")
    mine, theirs = offered(book, Offer("One", "One."))[0], offered(other, Offer("Two", "Two."))[0]
    assert "--book" in run("learned", "accept", "--all").stderr
    told = json.loads(run("learned", "accept", "--all", "--book", "app-00000001", "--json").stdout)
    assert told["ok"] and [row["id"] for row in told["books"][0]["accepted"]] == [theirs]
    assert queue.candidates(book)[0].id == mine
    assert run("learned", "accept", "--all", "--book", "all").stdout.startswith(f"accepted {mine} as ")
    assert run("learned", "accept", "--all", "--book", "all").stdout == "nothing is pending\n"


def test_a_part_and_a_split(run, book: Path) -> None:
    [id] = offered(book, Offer("Both", "Rule.", {"skills/release/SKILL.md": SKILL, "skills/release/b": "b\n"}))
    done = run("learned", "accept", id, "--only", "AGENTS.md")
    rest = "skills/release/SKILL.md, skills/release/b"
    assert done.stdout.endswith(f"; still waiting under that id: {rest}; moved {id} onto it\n")
    done = run("learned", "split", id)
    assert done.stdout == f"split {id} into {id[:-1]}2, {id[:-1]}3\n"
    assert "nothing to split by paragraph" in run("learned", "split", f"{id[:-1]}2", "--by", "paragraph").stderr


def test_a_decision_on_what_was_shown(run, book: Path) -> None:
    one, two, three = offered(
        book, *(Offer(t, f"{t}.", {f"skills/{t}/SKILL.md": "x\n"}) for t in ("One", "Two", "Tri"))
    )
    rows = json.loads(run("learned", "--json").stdout)["books"][0]["pending"]
    seen = {row["id"]: row["commit"] for row in rows}
    assert json.loads(run("learned", "diff", "000001", "--json").stdout)["commit"] == seen[one]
    assert run("learned", "diff", "000001").stdout.splitlines()[1] == f"  Commit: {seen[one]}"
    git(book, "update-ref", f"refs/heads/pending/{one}", f"pending/{three}")
    changed = f"{one} has changed since it was shown: it is commit {seen[three]} now, and nothing was done with it; "
    changed += f"look at it again with `lessonbook learned diff {one}`"
    shown = f"000001@{seen[one][:7]}"
    for words in (("accept",), ("reject",), ("split",), ("edit", "--delete", "AGENTS.md"), ("edit",)):
        done = run("learned", *words[:1], shown, *words[1:], env={"EDITOR": "touch"})
        assert (done.returncode, done.stdout, done.stderr) == (1, "", f"lessonbook: {changed}\n")
    done = run("learned", "accept", shown, f"{two}@{seen[two]}")
    assert done.returncode == 1 and done.stdout.startswith(f"accepted {two} as ")
    assert f"\nnot accepted {one}: {changed}\n" in done.stdout
    assert run("learned", "accept", f"{three}@{seen[three][:7]}").stdout.startswith(f"accepted {three} as "), (
        "only moved"
    )
    for wrong in (f"{one}@", f"{one}@1234", f"{one}@main"):
        done = run("learned", "reject", wrong)
        assert done.returncode == 2 and "is not a commit" in done.stderr and done.stderr.count("\n") == 1
    assert "given two commits" in run("learned", "accept", f"{one}@1234567", f"{one}@7654321").stderr
    assert run("learned", "diff", f"{one}@{seen[three]}").returncode == 2


def test_what_changes_while_the_editor_is_open_is_not_edited(run, book: Path) -> None:
    one, two = offered(book, Offer("One", "One."), Offer("Two", "Two."))
    move = f"git -C {book} update-ref refs/heads/pending/{one} pending/{two} && sed -i s/One/Mine/"
    done = run("learned", "edit", one, env={"EDITOR": move})
    assert done.returncode == 1 and "has changed since it was shown" in done.stderr
    assert git(book, "rev-parse", f"pending/{one}") == git(book, "rev-parse", f"pending/{two}")


def test_what_is_accepted_while_the_editor_is_open_stays(run, book: Path) -> None:
    """The editor shows all of ``AGENTS.md``; what is saved must not take out what came in meanwhile."""
    one, two = offered(book, Offer("One", "One."), Offer("Two", "Two."))
    accept = f"{sys.executable} -m lessonbook learned accept {two} && sed -i"
    done = run("learned", "edit", one, env={"EDITOR": f"{accept} s/One/Mine/"})
    assert done.returncode == 0 and f"edited {one}; it changes AGENTS.md" in done.stdout, done.stderr
    assert run("learned", "accept", one).returncode == 0
    assert (book / "AGENTS.md").read_text() == "Lint.\n\nTwo.\n\nMine.\n"
    three, four = offered(book, Offer("Tri", "Tri."), Offer("Four", files={"AGENTS.md": "Lint it.\n"}))
    done = run("learned", "edit", three, env={"EDITOR": f"{accept.replace(two, four)} s/Lint/Type/"})
    assert done.returncode == 2 and "AGENTS.md changed in the book while you edited it" in done.stderr


def test_an_edit_in_an_editor(run, book: Path) -> None:
    [id] = offered(book, Offer("One", "One.", {"skills/release/SKILL.md": SKILL}))
    assert run("learned", "edit", id, env={"EDITOR": ""}).returncode == 4
    assert run("learned", "edit", id, env={"EDITOR": "true"}).stdout == f"{id} is as it was\n"
    assert run("learned", "edit", id, env={"EDITOR": "false"}).returncode == 2
    done = run("learned", "edit", id, env={"VISUAL": "sed -i s/One/Better/", **ANA})
    assert done.stdout == f"edited {id}; it changes AGENTS.md, skills/release/SKILL.md\n"
    shown = run("learned", "diff", id).stdout
    assert "+Better." in shown and "Edited-by: Ana Lee <ana@example.org>" in shown
    assert run("learned", "accept", id).returncode == 0


def test_a_conflict_is_solved_in_the_editor(run, commit: Commit, book: Path) -> None:
    [id] = offered(book, Offer("One", files={"AGENTS.md": "Lint last.\n"}))
    commit({"AGENTS.md": "Lint twice.\n"})
    assert "conflict markers" in run("learned", "edit", id, env={"EDITOR": "sh -c 'echo x >> $1' x"}).stderr
    both = "sed -i -e /^[=\\<\\>]/d"
    assert run("learned", "edit", id, env={"EDITOR": both}).returncode == 0
    assert run("learned", "accept", id).returncode == 0
    assert (book / "AGENTS.md").read_text() == "Lint twice.\nLint last.\n"


def test_an_edit_by_a_script(run, book: Path, tmp_path: Path) -> None:
    [id] = offered(book, Offer("One", "One.", {"skills/release/SKILL.md": SKILL}))
    (tmp_path / "new").write_text("Lint.\n\nKey " + "ghp_" + "a1B2" * 9 + "\n")
    words = ("learned", "edit", id, "--file", f"AGENTS.md={tmp_path / 'new'}", "--delete", "skills/release/SKILL.md")
    told = json.loads(run(*words, "--json").stdout)
    commit = git(book, "rev-parse", f"pending/{id}").strip()
    assert told == {
        "ok": True, "id": id, "files": ["AGENTS.md"], "redacted": 1, "changed": True, "commit": commit,
        "book": "global",
    }  # fmt: skip
    assert run("learned", "edit", id, "--file", "AGENTS.md=-", stdin="Lint.\n\nPiped.\n").returncode == 0
    assert "+Piped." in run("learned", "diff", id).stdout
    for wrong in ("AGENTS.md", "AGENTS.md=/no/such/file", "=x"):
        done = run("learned", "edit", id, "--file", wrong)
        assert done.returncode == 2 and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ("accept", "--by", "file", "x"),
        ("reject", "a", "b"),
        ("diff", "a", "b"),
        ("edit",),
        ("split", "a", "b"),
        ("accept", "a", "b", "--only", "AGENTS.md"),
        ("accept", "a", "--all", "--book", "all"),
        ("list", "a"),
        ("on", "a"),
        ("reject", "a", "--all"),
        ("reject", "a", "--only", "b"),
        ("accept", "a", "--file", "b=c"),
    ],
)
def test_what_does_not_belong_together_is_said(run, words: tuple[str, ...]) -> None:
    done = run("learned", *words)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1


def test_a_broken_configuration_is_a_refusal(run, book: Path, home: Path) -> None:
    from lessonbook import learned

    [id] = offered(book, Offer("One", "One."))
    (home / ".config/lessonbook/config.toml").write_text("= x")
    assert run("learned", "accept", id).returncode == 4
    assert "not valid TOML" in learned.accept(book, id)["error"]
    assert "not valid TOML" in learned.accept_many(book, [id])["refused"][0]["error"]
    assert "not valid TOML" in learned.learned_command(book, f"accept {id}")
    assert learned.accept(book, id, reviewer="Ana")["ok"]


def test_the_text_command_knows_them(book: Path) -> None:
    from lessonbook import learned

    one, two, three = offered(
        book, Offer("One", "One.", {"skills/release/SKILL.md": SKILL}), Offer("Two", "Two."), Offer("Three", "Three.")
    )
    assert learned.learned_command(book, f"split {two}").endswith("nothing to split by file")
    assert learned.learned_command(book, f"split {one} by line").endswith("not 'line'")
    assert learned.learned_command(book, f"split {one}").startswith(f"split {one} into ")
    assert f"`lessonbook learned edit {two}`" in learned.learned_command(book, f"edit {two}")
    said = learned.learned_command(book, f"accept {two} {three} nope").splitlines()
    assert [line.split(" as ")[0] for line in said[:2]] == [f"accepted {two}", f"accepted {three}"]
    assert said[2].startswith("not accepted nope:")
    row = learned.pending(book)[0]
    assert learned.edit(book, row["id"], {"AGENTS.md": "Short.\n"}, reviewer="Bo")["ok"]
    assert learned.split(book, row["id"], by="x")["ok"] is False and learned.edit(book, "x", {})["ok"] is False


def test_a_skill_from_the_shell_waits_for_review(run, home: Path, tmp_path: Path) -> None:
    run("config", "set", "memory.backend", "local")
    (tmp_path / "SKILL.md").write_text(SKILL)
    assert run("learn", "Tag first.", "--skill", str(tmp_path / "SKILL.md")).stdout == (
        'Lesson stored. Created managed skill "release".\n'
    )
    run("config", "set", "autolearn.review", "true")
    (tmp_path / "SKILL.md").write_text(SKILL.replace("release", "ship"))
    for _ in range(2):
        done = run("learn", "Tag first.", "--skill", str(tmp_path / "SKILL.md"), "--json")
        told = json.loads(done.stdout)
        id = told["details"]["pending"]
        assert told["text"] == f'Lesson stored. Proposed skill "ship" for review as {id}.'
        assert told["details"] == {"skill": None, "pending": id}
        assert run("learned").stdout.count(id) == 1
    assert run("learned", "accept", id).returncode == 0
    assert "ship" in run("skills").stdout and not (home / ".local/share/lessonbook/agent/managed-skills/ship").exists()
    assert run("learn", "x", "--update").returncode == 2
    (tmp_path / "SKILL.md").write_text("no frontmatter")
    assert "no frontmatter" in run("learn", "x", "--skill", str(tmp_path / "SKILL.md")).stderr
