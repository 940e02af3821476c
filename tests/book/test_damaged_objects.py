"""One damaged or odd candidate costs itself: the others are listed, accepted and moved as if it were not there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lessonbook.book import queue
from lessonbook.book.head import read
from lessonbook.book.known import known
from lessonbook.book.offer import Offer, offer
from lessonbook.core.errors import StoreError

BAD, GOOD, LATER = "20270301-080000-0000aa", "20270301-090000-0000bb", "20270301-100000-0000cc"
NOW = 1_790_000_000


def _broken(repo: Any, what: str, how: str) -> None:
    """Damage one loose object."""
    oid = repo.git("rev-parse", what)
    path = repo.folder / ".git" / "objects" / oid[:2] / oid[2:]
    path.chmod(0o644)
    data = path.read_bytes()
    if how == "missing":
        path.unlink()
    else:
        path.write_bytes({"empty": b"", "garbage": b"x" * 50, "cut": data[:-12]}[how])


def _raw(repo: Any, id: str, headers: bytes, message: bytes, author: bytes = b"Dhrona <d@x> 1772352000 +0100") -> None:
    """Make ``pending/<id>`` with a commit that the usual tools would not write."""
    tree = repo.git("rev-parse", repo.propose(id, {"skills/raw/SKILL.md": "raw\n"}) + "^{tree}").encode()
    parent = repo.git("rev-parse", "HEAD").encode()
    lines = b"tree %s\nparent %s\nauthor %s\ncommitter %s\n" % (tree, parent, author, author)
    oid = repo.git(
        "hash-object", "-t", "commit", "-w", "--stdin", "--literally", data=lines + headers + b"\n" + message
    )
    (repo.folder / ".git" / "refs" / "heads" / "pending" / id).write_text(f"{oid}\n")


def _others_work(repo: Any) -> None:
    rows = {row["id"]: row for row in queue.pending(repo.folder)}
    assert set(rows) == {BAD, GOOD, LATER}
    assert (rows[GOOD]["files"], rows[GOOD]["stale"]) == (["skills/x/SKILL.md"], None)
    known(repo.folder)
    told = queue.accept(repo.folder, GOOD, NOW)
    assert told["ok"] and told["commit"] and LATER in told["moved"], told
    assert repo.text("skills/x/SKILL.md") == "x\n"
    assert repo.git("status", "--porcelain") == ""


def _queue(repo: Any) -> None:
    repo.propose(BAD, {"AGENTS.md": "Run the linter first.\n\nBad " + "thing " * 500 + "\n"})
    repo.propose(GOOD, {"skills/x/SKILL.md": "x\n"})
    repo.propose(LATER, {"skills/y/SKILL.md": "y\n"})


@pytest.mark.parametrize("how", ["empty", "garbage", "cut", "missing"])
@pytest.mark.parametrize("what", ["", "^{tree}", ":AGENTS.md"])
def test_a_damaged_object_of_one_candidate_does_not_stop_the_others(repo: Any, what: str, how: str) -> None:
    _queue(repo)
    _broken(repo, f"pending/{BAD}{what}", how)
    before = repo.git("rev-parse", "HEAD")
    assert not queue.accept(repo.folder, BAD, NOW)["ok"]
    assert repo.git("rev-parse", "HEAD") == before
    _others_work(repo)
    assert queue.reject(repo.folder, BAD) == {"ok": True, "id": BAD}
    assert [row["id"] for row in queue.pending(repo.folder)] == [LATER]


def test_a_damaged_commit_between_does_not_count_as_accepted(repo: Any) -> None:
    _queue(repo)
    middle = repo.git("rev-parse", f"pending/{BAD}")
    repo.propose(BAD, {"skills/z/SKILL.md": "z\n"}, base=f"pending/{BAD}")
    _broken(repo, middle, "empty")
    assert not queue.accept(repo.folder, BAD, NOW)["ok"]
    _others_work(repo)


@pytest.mark.parametrize("kind", ["tag", "tree", "blob"])
def test_a_branch_that_leads_to_no_commit_says_so_and_costs_only_itself(repo: Any, kind: str) -> None:
    _queue(repo)
    repo.git("tag", "-a", "v1", "-m", "x", f"pending/{BAD}")
    oid = repo.git("rev-parse", {"tag": "v1", "tree": "HEAD^{tree}", "blob": "HEAD:AGENTS.md"}[kind])
    (repo.folder / ".git" / "refs" / "heads" / "pending" / BAD).write_text(f"{oid}\n")
    assert "commit" in queue.accept(repo.folder, BAD, NOW)["error"]
    assert "commit" in (queue.pending(repo.folder)[0]["stale"] or "")
    _others_work(repo)
    assert queue.reject(repo.folder, BAD)["ok"]


@pytest.mark.parametrize("name", [b"idna", b"undefined", b"a\0b", b"punycode", b"hex", b"no-such", b"utf-16"])
def test_any_encoding_a_message_claims_can_be_listed_and_accepted(repo: Any, name: bytes) -> None:
    _queue(repo)
    _raw(repo, BAD, b"encoding %s\n" % name, b"caf\xe9\n")
    _others_work(repo)
    assert queue.accept(repo.folder, BAD, NOW)["ok"] or b"\0" in name


@pytest.mark.parametrize("date", [b"9" * 20, b"9" * 40, b"-5", b"", b"1e9"])
def test_a_date_that_cannot_be_written_again_costs_only_its_candidate(repo: Any, date: bytes) -> None:
    _queue(repo)
    _raw(repo, BAD, b"", b"Odd\n", author=b"Dhrona <d@x> %s +0000" % date)
    assert queue.accept(repo.folder, BAD, NOW)["error"] == "its author line is damaged"
    _others_work(repo)


def test_signatures_are_dropped_where_a_commit_is_made_anew(repo: Any) -> None:
    _queue(repo)
    _raw(repo, BAD, b"gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQEz\n -----END PGP SIGNATURE-----\n", b"Signed\n")
    _others_work(repo)
    moved = repo.git("cat-file", "commit", f"pending/{BAD}")
    assert "gpgsig" not in moved and moved.endswith("\n\nSigned")


def test_a_damaged_head_is_said_and_nothing_is_guessed(repo: Any) -> None:
    _queue(repo)
    _broken(repo, "HEAD:AGENTS.md", "missing")
    with pytest.raises(StoreError, match=r"AGENTS\.md"):
        read(repo.folder)
    with pytest.raises(StoreError, match=r"AGENTS\.md"):
        offer(repo.folder, [Offer("T", rule="A rule.")], NOW, lambda: "abcdef")


def test_blobs_that_a_partial_clone_never_fetched_cost_only_their_candidate(make_repo: Any, tmp_path: Path) -> None:
    origin = make_repo("origin", {"AGENTS.md": "One.\n"})
    origin.commit({"AGENTS.md": "Run the linter first.\n"})
    origin.git("config", "uploadpack.allowFilter", "true")
    origin.git("clone", "-q", "--filter=blob:none", "--no-local", f"file://{origin.folder}", str(tmp_path / "clone"))
    repo = type(origin)(tmp_path / "clone")
    (tmp_path / "origin").rename(tmp_path / "gone")
    repo.propose(BAD, {"AGENTS.md": "One.\n\nTwo.\n"}, base="HEAD~1")
    repo.propose(GOOD, {"skills/x/SKILL.md": "x\n"})
    repo.propose(LATER, {"skills/y/SKILL.md": "y\n"})
    assert (repo.folder / ".git" / "config").read_text().count("promisor") == 1
    _others_work(repo)
