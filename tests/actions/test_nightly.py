"""The night from end to end, with the scripted agent and two scripted models."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from lessonbook.actions.doctor_night import look
from lessonbook.book import queue
from lessonbook.book.offer import Offer, offer
from lessonbook.system.settings import places

Place = Any
Made = Callable[[], Place]


def test_what_makes_the_way_shorter_and_the_answer_as_good_is_offered(place: Made) -> None:
    one = place()
    record = one.night()
    (round,) = record["rounds"]
    assert (round["state"], round["why"]) == ("done", "its way got shorter, and its answer is as good"), record
    assert one.pending() == [round["offered"]]
    assert round["before"] == ("3 findings, 2 failed, 4 calls",) * 2
    assert round["after"] == "0 findings, 0 failed, 2 calls"
    assert record["spent"] == pytest.approx(0.02 * 2 + 0.01 + 0.05 * 2)
    (book,) = one.home.glob(".config/lessonbook/projects/*/learned")
    shown = one.git("show", f"pending/{round['offered']}", folder=book)
    assert "+Run `sh check.sh` to check the sizes" in shown
    for told in ("Proposer: edited", "Replay-before: 3 findings", "Replay-after: 0 findings", "Evidence-session: 5f0c"):
        assert told in shown
    note = (one.nights / record["night"] / "note.md").read_text()
    assert f"offered as {round['offered']}" in note
    kept = json.loads((one.nights / record["night"] / "record.json").read_text())
    assert kept["rounds"][0]["offered"] == round["offered"]
    assert one.git("status", "--porcelain") == ""
    assert one.night()["rounds"] == []  # it is done, and not tried again
    assert one.pending() == [round["offered"]]


def test_where_learning_is_off_nothing_is_touched(place: Made) -> None:
    one = place()
    one.configure()
    file = one.home / ".config/lessonbook/config.toml"
    file.write_text("learning = false\n" + file.read_text())
    before = _tree(one.home)

    one.configure = lambda: None
    record = one.night()

    assert record["note"] == "learning is off"
    assert _tree(one.home) == before


def test_a_dry_run_says_what_would_be_tried_and_writes_nothing(place: Made) -> None:
    one = place()
    one.configure()
    before = _tree(one.home)
    record = one.night(dry_run=True)
    assert record["waiting"] == ["claude/5f0c2c1e-8a77-4d6a-9c61-0d8f6a1b2c3d"]
    assert (record["rounds"], record["spent"]) == ([], 0)
    assert _tree(one.home) == before
    assert one.prompts("editor") == []


@pytest.mark.parametrize(
    "reply",
    [
        {"first_is_as_good": False, "second_is_as_good": False},
        "The first one is better.",
        '{"first_is_as_good": true, "second_is_as_good": true} I think',
        '{"first_is_as_good": "true", "second_is_as_good": "true"}',
        '{"first_is_as_good": true}',
        '[{"first_is_as_good": true, "second_is_as_good": true}]',
        '{"first_is_as_good": true, "second_is_as_good": true, "why": "both"}',
        "yes",
    ],
)
def test_what_the_judge_does_not_clearly_pass_is_not_offered(place: Made, reply: object) -> None:
    one = place()
    one.says("judge", reply)
    (round,) = one.night()["rounds"]
    assert (round["state"], round["offered"]) == ("done", None)
    assert round["why"] == "the judge did not find the answer at least as good"
    assert one.pending() == []


def test_the_judge_sees_the_changes_and_no_name_of_either_answer(place: Made) -> None:
    one = place()
    one.night()
    (prompt,) = one.prompts("judge")
    assert "+44" in prompt
    assert "Size 44 added; checked." in prompt and "The size 44 is in, and the check is green." in prompt
    for word in ("candidate", "base", "lesson", "briefing", "clone", "new answer", "old answer"):
        assert word not in prompt.lower(), word


def test_a_way_that_is_no_shorter_than_every_way_before_is_not_judged(place: Made) -> None:
    one = place()
    one.routes(short=[{"run": "make no-such-thing"}, {"run": "make no-such-thing"}, *_LONG_REST])
    (round,) = one.night()["rounds"]
    assert round["why"].startswith("its way did not get shorter than every way before")
    assert (one.prompts("judge"), one.pending()) == ([], [])


_LONG_REST = [{"write": "sizes.txt", "text": "42\n44\n"}, {"run": "sh check.sh"}, {"say": "done"}]


def test_a_request_on_which_nothing_goes_wrong_again_asks_no_model(place: Made) -> None:
    one = place()
    one.routes(long=[{"say": "It is in."}])
    (round,) = one.night()["rounds"]
    assert (round["state"], round["why"]) == ("done", "run once more, nothing went wrong on its way")
    assert one.prompts("editor") == []


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        ([{"run": "false"}, {"fail": "the model is overloaded"}], "base-1: scripted did not finish: the model is"),
        ([{"run": "false"}, {"exit": 3}], "base-1: scripted ended with exit code 3"),
        ([{"run": "false"}], "base-1: scripted did not finish"),
        ([{"sleep": 30}, {"say": "late"}], "base-1: scripted was not done within 1.2 seconds, and was ended"),
    ],
)
def test_a_run_that_does_not_deliver_is_tried_again_twice_at_most(place: Made, steps: Any, why: str) -> None:
    one = place()
    one.nightly = {"run_minutes": 0.02} if "sleep" in steps[0] else {}
    one.routes(long=steps)
    for _ in range(3):
        (round,) = one.night()["rounds"]
        assert (round["state"], round["offered"]) == ("failed", None)
        assert round["why"].startswith(why)
        one.now += 86_400
    assert one.night()["rounds"] == []
    assert one.prompts("editor") == []


def test_a_night_that_failed_is_made_up_for_by_the_next(place: Made) -> None:
    one = place()
    one.says("editor", "sorry")
    (round,) = one.night()["rounds"]
    assert (round["state"], round["why"]) == (
        "failed",
        "the editor model did not answer with the one JSON object it was asked for",
    )
    one.says("editor", {"title": "Check sizes", "rule": "Run `sh check.sh`, not make.", "book": "global"})
    (round,) = one.night()["rounds"]
    assert one.pending() == [round["offered"]]
    assert round["book"] == "global"


def test_no_lesson_is_an_answer(place: Made) -> None:
    one = place()
    one.says("editor", {"rule": None})
    (round,) = one.night()["rounds"]
    assert (round["state"], round["why"]) == ("done", "the editor model saw no lesson that would help")


def test_money_that_is_not_there_is_not_spent(place: Made) -> None:
    one = place()
    one.nightly = {"round_dollars": 0.13}  # a run may cost 0.1 and costs 0.02, an answer may cost 0.05
    (round,) = one.night()["rounds"]
    assert round["why"] == "the next call may cost $0.10, and $0.04 of the round's $0.13 is left".replace(
        "0.04", "0.04"
    )
    assert round["spent"] <= 0.13
    assert len(round["before"]) == 2 and one.prompts("judge") == []
    one.nightly = {"night_dollars": 0.05}
    record = one.night()
    assert (record["rounds"], record["spent"]) == ([], 0)
    assert record["replays"].startswith("the next call may cost $0.10, and $0.05 of the night's $0.05 is left")


def test_what_costs_an_unknown_amount_is_refused(place: Made) -> None:
    one = place()
    one.more = '[agents.codex]\nmodel = "m"'
    one.nightly = {"agent": "codex"}
    record = one.night()
    assert record["rounds"] == []
    assert "nothing says what a run of codex costs at most" in record["replays"]


@pytest.mark.parametrize(
    ("nightly", "why"),
    [
        ({"agent": ""}, "no agent is set to replay with (nightly.agent)"),
        ({"rounds": 0}, "nightly.rounds is 0"),
        ({"agent": "hermes", "permission": "read"}, "nothing says what a run of hermes costs at most"),
        ({"agent": "nobody"}, "there is no agent 'nobody' that can be run"),
    ],
)
def test_what_keeps_it_from_replaying_is_said(place: Made, nightly: dict[str, Any], why: str) -> None:
    one = place()
    one.nightly = nightly
    record = one.night()
    assert record["replays"].startswith(why)
    assert (record["rounds"], record["ok"]) == ([], True)


def test_a_session_that_began_dirty_is_refused_once_and_for_all(place: Made) -> None:
    one = place()
    (one.repo / "sizes.txt").write_text("1\n")
    one.session("0a0c2c1e-8a77-4d6a-9c61-0d8f6a1b2c3d")
    one.session("0b0c2c1e-8a77-4d6a-9c61-0d8f6a1b2c3d", noted=False)
    record = one.night()
    whys = {one["session"][:2]: one["why"] for one in record["refused"]}
    assert whys["0a"] == "it began with uncommitted changes, so nobody else can start where it did"
    assert whys["0b"].startswith("nothing was noted of its repository")
    assert [one["session"][:2] for one in record["rounds"]] == ["5f"]
    assert one.night()["refused"] == []


def test_replays_leave_the_repository_alone_and_their_clones_are_cleaned_by_age(place: Made) -> None:
    one = place()
    before = _tree(one.repo)
    name = one.night()["night"]
    assert {path: data for path, data in _tree(one.repo).items() if "/.git/index" not in path} == {
        path: data for path, data in before.items() if "/.git/index" not in path
    }
    work = one.nights / "work" / name
    assert work.parent.stat().st_mode & 0o077 == 0
    assert sorted(path.name for path in (work / "1").iterdir()) == ["base-1", "base-2", "candidate"]
    one.now += 6 * 86_400
    one.night()
    assert work.exists()
    one.now += 2 * 86_400
    assert name in one.night()["cleaned"]
    assert not work.exists()


def test_nobodys_replay_is_mined_or_replayed(place: Made) -> None:
    one = place()
    first = one.night()
    again = one.night()
    assert (first["sessions"], again["sessions"]) == (1, 1)


def test_nothing_identifying_and_no_secret_is_in_a_prompt_or_a_text_that_is_kept(place: Made) -> None:
    key, mail, phone = "ghp_" + "a1B2c3D4e5F6" * 3, "ana.lind@example.org", "+49 151 23456789"
    one = place()
    planted = f"key={key} mail {mail} phone {phone} in /home/analind/shop and 81.2.69.142 by Marta Quell"
    one.routes(
        long=[
            *[{"run": f"make '{planted}'"}] * 2,
            {"write": "sizes.txt", "text": f"44 {planted}\n"},
            {"say": f"done, {planted}"},
        ],
        short=[{"write": "sizes.txt", "text": f"44 {planted}\n"}, {"say": f"done, {planted}"}],
    )
    one.session("0c0c2c1e-8a77-4d6a-9c61-0d8f6a1b2c3d", f"Add the size 44. {planted}")
    one.says("editor", {"title": f"Say {mail}", "rule": f"Run `sh check.sh`. {planted}", "book": "project"})
    record = one.night()
    assert any(round["offered"] for round in record["rounds"]), record
    kept = [json.dumps(record), *one.prompts("editor"), *one.prompts("judge")]
    kept += [path.read_text() for path in one.nights.glob("*/*") if path.is_file()]
    kept += [path.read_text() for path in one.nights.glob("tried.json")]
    (book,) = one.home.glob(".config/lessonbook/projects/*/learned")
    kept += [one.git("log", "-p", "--all", folder=book)]
    # What the agent itself was told, as its own transcript has it.
    replayed = [path for path in one.home.glob(".claude/projects/*/*.jsonl") if "nights-work" in str(path)]
    prompts = [json.loads(path.read_text().splitlines()[0])["message"]["content"] for path in replayed]
    assert len(prompts) >= 3
    for text in (*kept, *prompts):
        for secret in (key, mail, phone, "analind", "81.2.69.142", "Quell"):
            assert secret not in text, text


def _tree(folder: Any) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_is_nearly_full_is_shortened_where_that_can_be_paid(place: Made, commit: Callable[..., Any]) -> None:
    one = place()
    book = commit({"AGENTS.md": "A person's rule.\n"})
    lesson = "Read sizes with `ls -l`, never by guessing. " * 20
    for number, length in ((1, 880), (2, 760)):
        _accepted(one, book, f"Rule {number}: {lesson[:length]}", int(one.now) - (3 - number) * 86_400)
    assert len((book / "AGENTS.md").read_text()) > 1600
    one.says("editor", "[kept 1]\n\nRead sizes with `ls -l`.")
    one.nightly = {"rounds": 0}
    record = one.night()
    told = record["compacted"]["global"]
    assert told["ok"], told
    assert told["id"] in one.pending()
    assert one.night()["compacted"] == {}  # one is pending already
    assert record["spent"] == pytest.approx(0.05)
    one.nightly = {"rounds": 0, "night_dollars": 0.01}
    one.git("update-ref", "-d", f"refs/heads/pending/{told['id']}", folder=book)
    record = one.night()
    assert "the next call may cost $0.05" in record["compacted"]["global"]["error"]
    assert (record["spent"], record["ok"]) == (0, False)


def test_what_nothing_used_for_thirty_days_leaves(place: Made, commit: Callable[..., Any]) -> None:
    one = place()
    book = commit({"AGENTS.md": "A person's rule.\n"})
    _accepted(one, book, "Old: use the red door.", int(one.now) - 40 * 86_400)
    _accepted(one, book, "New: use the blue door.", int(one.now) - 2 * 86_400)
    record = one.night(dry_run=True)
    assert [row["text"] for row in record["expired"]["global"]["expired"]] == ["Old: use the red door."]
    record = one.night(replay=False)
    assert [row["text"] for row in record["expired"]["global"]["expired"]] == ["Old: use the red door."]
    assert (book / "AGENTS.md").read_text() == "A person's rule.\n\nNew: use the blue door.\n"


def _accepted(one: Any, book: Any, rule: str, at: int) -> None:
    (id,) = offer(book, [Offer("A rule", rule)], at, lambda: one.ids.pop(0))
    told = queue.accept(book, id, at)
    assert told["ok"], told


def test_the_doctor_tells_of_the_night(place: Made) -> None:
    one = place()

    def told() -> list[tuple[str, str]]:
        return [(str(check.level), check.found) for check in look(places(), one.now)]

    assert told() == []
    one.configure()
    assert told() == [("fine", "replays with scripted")]
    name = one.night()["night"]
    assert told()[1][1].endswith(f"its note: {one.nights / name / 'note.md'}")
    one.nightly = {"agent": "codex"}
    one.configure()
    assert told()[0][0] == "problem" and "replays with codex cannot be run: nothing says what a run" in told()[0][1]
    one.nightly = {"rounds": "many"}
    one.configure()
    assert told() == [
        ("problem", "nightly.rounds must be a whole number from 0 to 100 in the configuration, not 'many'.")
    ]
