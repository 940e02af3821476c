from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessonbook.book import head, queue
from lessonbook.book.known import known
from lessonbook.book.location import book_folder
from lessonbook.book.offer import Offer, new_ids, offer
from lessonbook.core.candidate import is_candidate_id
from lessonbook.core.errors import BusyError, InputError
from lessonbook.core.project import from_remote
from lessonbook.system.settings import places

NOW = 1_800_000_000


def hexes(start: int = 0) -> Callable[[], str]:
    count = itertools.count(start)
    return lambda: f"{next(count):06x}"


def test_a_book_is_made_and_offers_wait_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "cfg" / "learned"
    evidence = (("Evidence-key", "k1"), ("Sessions", "s1 turn 3\n(path)"))
    offers = [
        Offer("lint first", "Run the linter first.", trailers=evidence),
        Offer("sizes", files={"skills/s/SKILL.md": "x\n"}),
    ]
    ids = offer(folder, offers, NOW, hexes())
    assert ids == ["20270115-080000-000000", "20270115-080000-000001"]
    rows = queue.candidates(folder)
    assert [(row.id, row.at, row.subject, row.files) for row in rows] == [
        (ids[0], NOW, "Lesson from a replay: lint first", ("AGENTS.md",)),
        (ids[1], NOW, "Lesson from a replay: sizes", ("skills/s/SKILL.md",)),
    ]
    assert rows[0].trailers == (("Evidence-key", "k1"), ("Sessions", "s1 turn 3 (path)"))
    assert head.read(folder).agents == "" and not (folder / "skills").exists()
    assert [queue.accept(folder, id, NOW)["ok"] for id in ids] == [True, True]
    logs = [path.relative_to(folder).as_posix() for path in (folder / ".git/logs").rglob("*") if path.is_file()]
    assert sorted(logs) == [".git/logs/HEAD", ".git/logs/refs/heads/main"]
    assert len((folder / ".git/logs/HEAD").read_text().splitlines()) == 3
    told = head.read(folder)
    assert told.agents == "Run the linter first.\n" and told.skills == {"skills/s/SKILL.md": b"x\n"}


def test_what_a_person_wrote_there_before_counts_as_accepted(tmp_path: Path) -> None:
    folder = tmp_path / "learned"
    (folder / "skills" / "mine").mkdir(parents=True)
    (folder / "AGENTS.md").write_bytes(b"My rule.\r\n")
    (folder / "skills" / "mine" / "SKILL.md").write_text("mine\n")
    (folder / "notes.txt").write_text("not ours\n")
    (folder / "skills" / "link").symlink_to(tmp_path)
    ids = offer(folder, [Offer("more", "Another.")], NOW, hexes())
    assert head.read(folder).agents == "My rule.\r\n" and list(head.read(folder).skills) == ["skills/mine/SKILL.md"]
    assert queue.accept(folder, ids[0], NOW)["ok"]
    assert (folder / "AGENTS.md").read_bytes() == b"My rule.\r\n\r\nAnother.\r\n"


def test_a_repository_without_a_commit_gets_one_on_its_own_branch(tmp_path: Path, make_repo: Any) -> None:
    repo = type(make_repo("other"))(tmp_path / "learned")
    repo.folder.mkdir()
    repo.git("init", "-q", "-b", "trunk")
    assert len(offer(repo.folder, [Offer("one", "One.")], NOW, hexes())) == 1
    assert repo.git("symbolic-ref", "HEAD") == "refs/heads/trunk"
    assert repo.git("log", "--format=%an <%ae> %s") == "lessonbook <lessonbook@localhost> Start the book"
    assert repo.git("status", "--porcelain") == ""


def test_a_book_of_sha256_objects_works(tmp_path: Path, make_repo: Any) -> None:
    repo = type(make_repo("other"))(tmp_path / "learned")
    repo.folder.mkdir()
    repo.git("init", "-q", "--object-format=sha256")
    ids = offer(repo.folder, [Offer("one", "One."), Offer("two", "Two.")], NOW, hexes())
    assert queue.accept(repo.folder, ids[0], NOW)["moved"] == [ids[1]]
    assert queue.accept(repo.folder, ids[1], NOW)["ok"] and repo.text() == "One.\n\nTwo.\n"
    assert repo.git("status", "--porcelain") == ""


@pytest.mark.parametrize(
    "bad",
    [
        Offer("", "x"),
        Offer("nothing"),
        Offer("blank", "  \n"),
        Offer("name", files={"../x": "x"}),
        Offer("name", files={".git/config": "x"}),
        Offer("twice", "x", files={"AGENTS.md": "x"}),
        Offer("trailer", "x", trailers=(("Bad key", "x"),)),
        Offer("surrogate", "\udc80"),
        Offer("secret", "use ghp_" + "a1B2" * 9),
        Offer("secret ghp_" + "a1B2" * 9, "x"),
        Offer("secret", files={"skills/x/SKILL.md": "ghp_" + "a1B2" * 9}),
        Offer("secret", "x", trailers=(("Example", "ghp_" + "a1B2" * 9),)),
    ],
)
def test_a_bad_offer_writes_nothing_at_all(tmp_path: Path, bad: Offer) -> None:
    folder = tmp_path / "cfg" / "learned"
    with pytest.raises(InputError) as raised:
        offer(folder, [Offer("good", "Good."), bad], NOW, hexes())
    assert not folder.parent.exists() and "a1B2" not in str(raised.value)


def test_offers_wait_for_a_batch_and_then_say_so(repo: Any) -> None:
    with queue.book_locked(repo.folder), pytest.raises(BusyError, match="batch is running"):
        offer(repo.folder, [Offer("one", "One.")], NOW, hexes(), wait=0.05)


@given(taken=st.sets(st.integers(0, 3)), count=st.integers(1, 40), start=st.integers(0, 2**24 - 100))
def test_new_ids_are_unique_rising_and_after_those_of_their_second(taken: set[int], count: int, start: int) -> None:
    before = {new_ids(NOW + offset, 1, set(), lambda: "ffffff")[0] for offset in taken}
    ids = new_ids(NOW, count, before, hexes(start))
    assert ids == sorted(set(ids)) and all(map(is_candidate_id, ids)) and not before & set(ids)
    assert all(id > old for id in ids for old in before if old[:15] <= new_ids(NOW, 1, set(), hexes())[0][:15])


def test_known_remembers_what_was_accepted_rejected_and_waits(repo: Any) -> None:
    def one(key: str, text: str) -> Offer:
        return Offer(key, text, trailers=(("Evidence-key", key),))

    ids = offer(
        repo.folder, [one("k1", "Accept me."), one("k2", "Reject me."), one("k3", "Let me wait.")], NOW, hexes()
    )
    assert queue.accept(repo.folder, ids[0], NOW)["ok"] and queue.reject(repo.folder, ids[1])["ok"]
    repo.commit({"AGENTS.md": "A person threw it all out.\n"})
    told = known(repo.folder)
    assert told.keys == {"k1", "k2", "k3"}
    assert told.holds("new", "reject  ME.") and told.holds("new", "Let me wait.\n\nReject me.")
    assert not told.holds("new", "Reject me.\n\nAnd more.") and not told.holds("new", "")
    assert known(repo.folder.parent / "none").keys == frozenset()


def test_head_is_what_is_committed_and_nothing_else(repo: Any, tmp_path: Path) -> None:
    assert head.read(tmp_path / "none") == head.Head()
    (repo.folder / "skills" / "x").mkdir(parents=True)
    (repo.folder / "skills" / "x" / "link.md").symlink_to("/etc/passwd")
    repo.commit(
        {
            "skills/x/SKILL.md": "x\n",
            "README.md": "not briefed\n",
            "dhrona-2027-03-01.md": "old\n",
            "dhrona-2027-03-02.md": "new\n",
        }
    )
    repo.write({"AGENTS.md": "an edit nobody committed\n"})
    repo.propose("20270301-080000-0000aa", {"AGENTS.md": "pending\n"})
    told = head.read(repo.folder)
    assert told.commit == repo.git("rev-parse", "HEAD") and told.agents == "Run the linter first.\n"
    assert list(told.dated.items()) == [("dhrona-2027-03-02.md", "new\n"), ("dhrona-2027-03-01.md", "old\n")]
    assert told.skills == {"skills/x/SKILL.md": b"x\n"}


def test_the_global_book_and_one_per_project(home: Path) -> None:
    where = places({"HOME": str(home)})
    one, same, other = (from_remote(r) for r in ("git@h:me/app.git", "https://h/me/app", "https://h/you/app"))
    assert book_folder(where) == home / ".config/lessonbook/learned"
    assert book_folder(where, one) == book_folder(where, same) == where.config / "projects" / one.slug / "learned"
    assert book_folder(where, one) != book_folder(where, other)
