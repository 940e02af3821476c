"""Candidates that hold what no book may hold, and repositories set up to run programs."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from lessonbook.book import head, queue
from lessonbook.book.command import answer
from lessonbook.book.content import expected
from lessonbook.book.known import known
from lessonbook.book.offer import Offer, offer

A, B, C = "20270301-080000-0000aa", "20270301-090000-0000bb", "20270301-100000-0000cc"
NOW = 1_800_000_000


GOOD = """AGENTS.md|dhrona-2027-03-01.md|lessonbook-2027-03-01.md|skills/x/SKILL.md|skills/x/a b/Größe.py|
skills/X_1.2/references/notes.txt"""
BAD = r"""README.md|agents.md|.gitattributes|.gitmodules|.git/config|.GIT/config|skills/x|skills/x/|skills/../AGENTS.md|
skills/x/../../y|skills/.x/SKILL.md|skills/x/.git/config|skills/x/git~1/config|skills/-rf/SKILL.md|skills/x/-rf.md|
/etc/x|skills//SKILL.md|skills/x/a\b.md|skills/x/end. |skills/x/end.|dhrona-2027-03-01.md.exe|x/dhrona-2027-03-01.md"""
HIDDEN = ["skills/x/a\nb.md", "skills/x/a\x1bb.md", "skills/x/a\u202eb.md", "skills/x/a\u200bb.md", "\x00", ""]


@pytest.mark.parametrize("name", GOOD.replace("\n", "").split("|"))
def test_expected_names(name: str) -> None:
    assert expected(name.encode())


@pytest.mark.parametrize("name", [*BAD.replace("\n", "").split("|"), *HIDDEN, "skills/x/" + "n" * 256])
def test_unexpected_names(name: str) -> None:
    assert not expected(name.encode())


def test_names_that_are_not_utf_8_are_unexpected() -> None:
    assert not expected(b"skills/x/bad\xff.md")


KINDS: list[tuple[dict[str, Any], str]] = [
    ({"AGENTS.md": ("120000", "../secret")}, "AGENTS.md is a symbolic link"),
    ({"skills/x/SKILL.md": ("120000", "/etc/passwd")}, "skills/x/SKILL.md is a symbolic link"),
    ({"skills/x": ("160000", "1" * 40)}, "skills/x is a submodule"),
    ({"skills/x/run.sh": ("100755", "#!/bin/sh\n")}, "skills/x/run.sh is an executable file"),
    ({".gitattributes": "*.md filter=x\n"}, "'.gitattributes' is not a file a book holds"),
    ({".gitmodules": "x\n"}, "'.gitmodules' is not"),
    ({"skills/x/SKILL.md": "fine\n", "skills/x/bad\udcff.md": "x\n"}, r"'skills/x/bad\\xff.md' is not"),
    ({"skills/x/a\nb.md": "x\n"}, r"'skills/x/a\nb.md' is not"),
    ({"-rf.md": "x\n"}, "'-rf.md' is not"),
]


@pytest.mark.parametrize(("files", "reason"), KINDS)
def test_what_no_book_may_hold_is_listed_and_refused_by_name(repo: Any, files: dict[str, Any], reason: str) -> None:
    repo.propose(A, files)
    repo.propose(B, {"skills/fine/SKILL.md": "x\n"})
    before = repo.state()
    row = queue.pending(repo.folder)[0]
    assert reason in row["stale"]
    assert row["files"] and "\udcff" not in str(row)
    told = queue.accept(repo.folder, A, NOW)
    assert told["ok"] is False and reason in told["error"]
    assert queue.diff(repo.folder, A)["ok"]
    assert repo.state() == before
    text = answer(repo.folder, "", repo.folder / "none.toml", NOW)
    assert len(text.splitlines()) == 2 and "\x1b" not in text
    told = queue.accept(repo.folder, B, NOW)  # the bad one is neither moved nor in the way
    assert (told["moved"], told["stale"]) == ([], [A])
    assert queue.reject(repo.folder, A)["ok"] and queue.pending(repo.folder) == []


@pytest.mark.parametrize("name", [".git/hooks/x", ".GIT/config", "skills/x/../../../y"])
def test_paths_that_git_itself_would_not_make(repo: Any, name: str) -> None:
    """Trees built by hand, as a hostile push would."""
    blob = repo.git("hash-object", "-w", "--stdin", data=b"x\n")
    oid, mode = blob, "100644"
    for part in reversed(name.split("/")):
        raw = f"{mode.lstrip('0')} {part}\0".encode() + bytes.fromhex(oid)
        oid, mode = repo.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", data=raw), "040000"
    commit = repo.git("commit-tree", oid, "-p", "HEAD", "-m", "planted")
    repo.git("update-ref", f"refs/heads/pending/{A}", commit)
    before = repo.state()
    assert "is not a file a book holds" in queue.pending(repo.folder)[0]["stale"]
    assert queue.accept(repo.folder, A, NOW)["ok"] is False
    assert repo.state() == before


def test_an_executable_that_is_there_may_be_removed(repo: Any) -> None:
    repo.write({"skills/x/run.sh": "x\n", "skills/x/SKILL.md": "x\n"})
    (repo.folder / "skills/x/run.sh").chmod(0o755)
    repo.commit({})
    repo.propose(A, {"skills/x/run.sh": None})
    assert queue.accept(repo.folder, A, NOW)["ok"] and not (repo.folder / "skills/x/run.sh").exists()


def test_names_with_other_users_settings_are_shown_and_acted_on_exactly(repo: Any) -> None:
    for key, value in {
        "color.ui": "always",
        "diff.noprefix": "true",
        "diff.mnemonicPrefix": "true",
        "log.showSignature": "true",
        "core.quotePath": "true",
        "diff.renames": "copies",
        "diff.orderFile": "/nonexistent",
        "diff.ignoreSubmodules": "all",
        "core.abbrev": "4",
    }.items():
        repo.git("config", key, value)
    names = ["skills/x/é.md", "skills/x/q'q.md", "skills/x/[a] b.md", "skills/x/SKILL.md"]
    repo.propose(A, dict.fromkeys(names, "x\n"))
    assert sorted(queue.pending(repo.folder)[0]["files"]) == sorted(names)
    assert "+++ b/skills/x/é.md" in queue.diff(repo.folder, A)["diff"]
    assert "\x1b" not in queue.diff(repo.folder, A)["diff"]
    assert queue.accept(repo.folder, A, NOW)["ok"]
    assert all(repo.text(name) == "x\n" for name in names) and repo.git("status", "--porcelain") == ""


def test_no_program_of_the_repository_or_the_person_ever_runs(
    repo: Any, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\necho "$0 $@" >> {marker}\ncat 2>/dev/null\nexit 1\n')
    program.chmod(0o755)
    repo.commit({".gitattributes": "*.md diff=x filter=x merge=x\n", "skills/f/SKILL.md": "f\n"})
    for n, id in enumerate((A, B, C)):
        repo.propose(id, {"AGENTS.md": f"Run the linter first.\n\nRule {n}.\n", f"skills/s{n}/SKILL.md": "x\n"})
    for folder in (repo.folder / ".git" / "hooks", tmp_path / "hooks"):
        folder.mkdir(exist_ok=True)
        for hook in ("pre-commit", "commit-msg", "post-commit", "post-checkout", "reference-transaction"):
            shutil.copy(program, folder / hook)
        for hook in ("post-index-change", "pre-auto-gc", "post-rewrite", "post-merge", "fsmonitor-watchman"):
            shutil.copy(program, folder / hook)
    keys = ["core.fsmonitor", "diff.external", "diff.x.textconv", "diff.x.command", "filter.x.clean", "core.pager"]
    keys += ["filter.x.smudge", "filter.x.process", "merge.x.driver", "core.sshCommand", "credential.helper"]
    keys += ["gpg.program", "core.editor", "core.alternateRefsCommand", "alias.rev-parse", "alias.cat-file"]
    keys += ["pager.diff-tree", "sequence.editor", "uploadpack.packObjectsHook", "interactive.diffFilter"]
    lines = "".join(
        f"[{section}{f' {chr(34)}{sub}{chr(34)}' if sub else ''}]\n\t{key} = {program}\n"
        for section, sub, key in ((k.split(".")[0], ".".join(k.split(".")[1:-1]), k.split(".")[-1]) for k in keys)
    )
    lines += "[commit]\n\tgpgSign = true\n\ttemplate = /nonexistent\n[user]\n\tuseConfigOnly = true\n"
    lines += '[core]\n\tautocrlf = input\n[rebase]\n\tautoStash = true\n[filter "x"]\n\trequired = true\n'
    (home / ".gitconfig").write_text(lines + f"[core]\n\thooksPath = {tmp_path / 'hooks'}\n")
    config = repo.folder / ".git" / "config"
    config.write_text(config.read_text() + lines + f"[include]\n\tpath = {home / '.gitconfig'}\n")
    settings = config.read_bytes(), (home / ".gitconfig").read_bytes()
    for name in ("GIT_EXTERNAL_DIFF", "GIT_EDITOR", "GIT_PAGER", "PAGER", "GIT_SSH_COMMAND", "GIT_ASKPASS", "EDITOR"):
        monkeypatch.setenv(name, str(program))

    assert len(queue.pending(repo.folder)) == 3
    assert "+Rule 0" in queue.diff(repo.folder, A)["diff"]
    assert queue.accept(repo.folder, A, NOW)["moved"] == [B, C]
    repo_head = head.read(repo.folder)
    assert repo_head.agents.endswith("Rule 0.\n")
    assert queue.reject(repo.folder, B)["ok"]
    offered = offer(repo.folder, [Offer("new", "Another rule.")], NOW, lambda: "0000dd")
    assert known(repo.folder).holds("", "another  rule.")
    assert queue.restack(repo.folder, NOW) == ([], [])
    assert queue.accept(repo.folder, C, NOW)["moved"] == offered
    assert not marker.exists(), marker.read_text()
    assert (config.read_bytes(), (home / ".gitconfig").read_bytes()) == settings
    # The trap is a real one: git, used plainly, does run these.
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    subprocess.run(["git", "-C", str(repo.folder), "status"], env=env, capture_output=True, check=False)
    assert marker.exists()
