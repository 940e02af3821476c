"""Lessons that did not help are offered another text where sessions show a better one, and else their end."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.actions.conftest import Place
from tests.actions.test_watch import BAD_VERB, NOW, accepted, later, look, project, where, write

from lessonbook.actions.mending import mend
from lessonbook.actions.propose import propose
from lessonbook.actions.watch import Watch
from lessonbook.book.offer import Offer, offer
from lessonbook.core.errors import ModelError
from lessonbook.learned import accept, diff, pending, reject
from lessonbook.system.settings import Places, load

__all__ = ["accepted", "look", "project", "where"]  # fixtures
MISSING = "Exit code 127\nbash: line 1: npm: command not found"
NO_CONFIG = "Exit code 1\nError: no config"
AGAIN = [("tok npm x", BAD_VERB), ("zrun npm x", "")]
"""The mistake of the lesson once more, and another way that worked."""

Look = Callable[[], Watch]


def mended(look: Look, at: int = 60, chat: Callable[[str], str] | None = None) -> Watch:
    return mend(look(), NOW + at, lambda: f"{at:06x}", chat)


def take(book: Path, id: str) -> dict[str, Any]:
    """Accept a candidate whose signs were looked at: an error that it quotes is a tool's output."""
    tip = subprocess.run(
        ["git", "-C", str(book), "rev-parse", f"pending/{id}"], check=True, capture_output=True, text=True
    ).stdout.strip()
    return accept(book, id, acknowledge=True, commit=tip)


def commit(book: Path, id: str) -> str:
    words = ["git", "-C", str(book), "log", "-1", f"pending/{id}"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def rules(book: Path) -> str:
    return (book / "AGENTS.md").read_text()


def test_another_way_that_works_is_offered_in_its_place(
    home: Path, tmp_path: Path, project: Path, accepted: Path, where: Places, look: Look
) -> None:
    (accepted / "AGENTS.md").write_text(f"By hand.\n\n{rules(accepted)}\nLast.\n")
    for words in (["add", "-A"], ["commit", "-q", "-m", "x"]):
        subprocess.run(["git", "-C", str(accepted), "-c", "user.name=A", "-c", "user.email=a@b.c", *words], check=True)
    later(tmp_path, project, 9, AGAIN)
    one = next(found for found in mended(look).lessons if "tok" in found.lesson.rule)
    assert one.rewrite is not None and one.retirement is None
    told = commit(accepted, one.rewrite)
    assert "Evidence-effect: before 6 in 12 calls, since 9 in 18 (9.0 were due); read in 9 sessions since" in told
    assert "Evidence-kind: rewrite" in told and f"Rewrites: {one.lesson.id}" in told
    assert "Lesson from a replay: Rewrite: Use zrun npm …, not tok npm …" in told
    assert take(accepted, one.rewrite)["ok"]
    text = rules(accepted)
    assert text.startswith("By hand.\n\nUse `zrun npm …` instead of `tok npm …`") and text.endswith("Last.\n"), text
    assert "not `npm" not in text
    assert all(found.better is None for found in mended(look, 90).lessons), "it is the lesson now"
    digits = count(1)
    found = propose(
        [tmp_path / "s"], where, load(where), now=NOW, random_hex=lambda: f"{next(digits):06x}", env={"HOME": str(home)}
    )
    assert found.offered == (), "no proposer offers the same as a lesson of its own"


def test_a_rewrite_is_offered_once_and_a_rejected_one_never_again(
    tmp_path: Path, project: Path, accepted: Path, look: Look
) -> None:
    later(tmp_path, project, 9, AGAIN)
    (one,) = mended(look).lessons
    assert one.rewrite is not None
    assert mended(look, 90).lessons[0].changes == (), "it is waiting"
    later(tmp_path, project, 9, [("tok npm x", BAD_VERB), ("yrun npm x", "")])
    assert mended(look, 100).lessons[0].changes == (), "one waits, so there is no other"
    later(tmp_path, project, 9, AGAIN)
    assert reject(accepted, one.rewrite)["ok"]
    assert mended(look, 120).lessons[0].changes == () and pending(accepted) == []
    later(tmp_path, project, 9, [("tok npm x", BAD_VERB), ("qrun npm x", "")])
    other = mended(look, 150).lessons[0]
    assert other.rewrite is not None and "`qrun npm …`" in diff(accepted, other.rewrite)["diff"], "another way is news"


def test_what_it_tells_to_run_and_works_no_more(tmp_path: Path, project: Path, accepted: Path, look: Look) -> None:
    """The mistake itself does not come any more: but the way that the lesson tells fails now."""
    later(tmp_path, project, 4, [("npm x pack", MISSING), ("bun x pack", "")])
    (one,) = mended(look).lessons
    assert not one.fails and one.rewrite is not None
    assert take(accepted, one.rewrite)["ok"]
    assert rules(accepted).startswith("Use `bun x …` here, not `npm x …` or `tok npm x`, which fails with `npm: "), (
        rules(accepted)
    )


def test_what_works_again_is_left_alone(tmp_path: Path, project: Path, accepted: Path, look: Look) -> None:
    later(tmp_path, project, 4, [("npm x pack", MISSING), ("bun x pack", ""), ("npm x pack", "")])
    assert mended(look).lessons[0].changes == ()


def test_a_single_session_is_no_evidence(tmp_path: Path, project: Path, accepted: Path, look: Look) -> None:
    later(tmp_path, project, 1, [("npm x pack", MISSING), ("bun x pack", "")])
    assert mended(look).lessons[0].better is None


def test_a_lesson_that_names_no_way_gets_one(
    home: Path, tmp_path: Path, project: Path, where: Places, look: Look
) -> None:
    for n in range(6):
        write(
            tmp_path / "s" / f"a{n}.jsonl",
            project,
            NOW - 9e7 + 9e4 * n,
            [("fly deploy", NO_CONFIG), ("ls", "")],
        )
    digits = count(1)
    (only,) = propose(
        [tmp_path / "s"], where, load(where), now=NOW, random_hex=lambda: f"{next(digits):06x}", env={"HOME": str(home)}
    ).offered
    assert "no way that works was seen" in only.text and only.id is not None and take(only.book, only.id)["ok"]
    later(tmp_path, project, 9, [("fly deploy", NO_CONFIG), ("fly deploy --local-only", "")])
    (one,) = mended(look).lessons
    assert one.rewrite is not None, one.outcome
    assert "+Pass `--local-only` to `fly deploy`" in diff(only.book, one.rewrite)["diff"]


SKILL = "---\nname: ship\ndescription: how to ship\n---\n\n1. Run `npm run pack …`.\n2. Run `git push`.\n"


@pytest.fixture
def skilled(where: Places, project: Path, accepted: Path) -> Path:
    """The book with a skill that no proposer wrote."""
    (id,) = offer(accepted, [Offer("Ship", files={"skills/ship/SKILL.md": SKILL})], NOW + 5, lambda: "00000a")
    assert take(accepted, id)["ok"]
    return accepted


def test_a_skill_is_brought_up_to_date(tmp_path: Path, project: Path, skilled: Path, look: Look) -> None:
    missing = "Exit code 127\nbash: line 1: npm: command not found"
    later(tmp_path, project, 4, [("npm run pack", missing), ("bun run pack", "")])
    found = {one.lesson.title: one for one in mended(look).lessons}
    one = found["Ship"]
    assert one.rewrite is not None and take(skilled, one.rewrite)["ok"]
    assert (skilled / "skills/ship/SKILL.md").read_text() == SKILL.replace("npm run", "bun run")


def test_what_a_skill_brings_itself_is_there(
    tmp_path: Path, project: Path, where: Places, accepted: Path, look: Look
) -> None:
    text = SKILL.replace("`npm run pack …`", "`scripts/push.sh now`").replace("`git push`", "`scripts/gone.sh now`")
    files = {"skills/ship/SKILL.md": text, "skills/ship/scripts/push.sh": "git push\n"}
    offers = [Offer("Ship", files=files), Offer("Go", files={"skills/go/SKILL.md": text.replace("ship", "go")})]
    for id in offer(accepted, offers, NOW + 5, lambda: f"{next(DIGITS):06x}"):
        assert take(accepted, id)["ok"]
    found = {one.lesson.title: one for one in mended(look).lessons}
    assert found["Ship"].gone == ("scripts/gone.sh",) and found["Ship"].changes == (), "some of it still holds"
    retired = found["Go"].retirement
    assert found["Go"].gone == ("scripts/push.sh", "scripts/gone.sh") and retired is not None
    assert take(accepted, retired)["ok"] and not (accepted / "skills/go").exists()


DIGITS = count(1)
STEPS = [("make lint", ""), ("make test", ""), ("make image", ""), ("make ship", "")]


def test_the_steps_of_a_procedure_change(home: Path, tmp_path: Path, project: Path, where: Places, look: Look) -> None:
    for n in range(6):
        write(tmp_path / "s" / f"a{n}.jsonl", project, NOW - 9e7 + 9e4 * n, STEPS)
    digits = count(1)
    (only,) = propose(
        [tmp_path / "s"], where, load(where), now=NOW, random_hex=lambda: f"{next(digits):06x}", env={"HOME": str(home)}
    ).offered
    assert only.id is not None and take(only.book, only.id)["ok"]
    later(tmp_path, project, 3, STEPS)
    assert mended(look).lessons[0].better is None
    later(tmp_path, project, 4, [STEPS[0], STEPS[1], ("docker build .", ""), ("docker push x", ""), STEPS[3]])
    (one,) = mended(look, 90).lessons
    assert one.rewrite is not None and take(only.book, one.rewrite)["ok"]
    (text,) = [path.read_text() for path in (only.book / "skills").glob("*/SKILL.md")]
    assert "docker" in text and "make image" not in text
    assert mended(look, 120).lessons[0].changes == ()


REPLY = "<<<< AGENTS.md evidence: 1\nCall npm by its own name: the wrapper knows no such verb.\n>>>>\n"
SAME = [("tok npm x", BAD_VERB), ("ls", "")]


def test_a_model_writes_what_the_sessions_alone_do_not(
    tmp_path: Path, project: Path, accepted: Path, look: Look
) -> None:
    later(tmp_path, project, 9, SAME)
    asked: list[str] = []

    def chat(prompt: str) -> str:
        asked.append(prompt)
        return REPLY

    (one,) = mended(look, chat=chat).lessons
    assert one.rewrite is not None and len(asked) == 1
    assert "since 9 in 18 (9.0 were due)" in asked[0] and "unrecognized subcommand" in asked[0]
    assert mended(look, 90, chat).lessons[0].changes == () and len(asked) == 1, "nobody is asked, or pays, twice"
    said = take(accepted, one.rewrite)
    assert said["ok"], said
    assert rules(accepted) == "Call npm by its own name: the wrapper knows no such verb.\n"


@pytest.mark.parametrize("reply", ["NONE", "whatever", REPLY.replace("AGENTS.md", "skills/x/SKILL.md"), "OLD"])
def test_without_a_better_text_it_is_retired(
    reply: str, tmp_path: Path, project: Path, accepted: Path, look: Look
) -> None:
    later(tmp_path, project, 9, SAME)
    said = f"<<<< AGENTS.md evidence: 1\n{rules(accepted).strip()}\n>>>>" if reply == "OLD" else reply
    (one,) = mended(look, chat=lambda _: said).lessons
    assert one.rewrite is None and one.retirement is not None


def test_a_model_that_gives_no_answer_is_asked_another_time(
    tmp_path: Path, project: Path, accepted: Path, look: Look
) -> None:
    later(tmp_path, project, 9, SAME)

    def broken(_: str) -> str:
        raise ModelError("It is not there.")

    found = mended(look, chat=broken)
    assert found.lessons[0].changes == () and found.broken == {"editor model": "It is not there."}
    assert mended(look, 90, lambda _: REPLY).lessons[0].rewrite is not None


def test_a_night_has_its_editor_write_it_out_of_its_money(
    home: Path, tmp_path: Path, project: Path, accepted: Path, place: Callable[[], Place]
) -> None:
    later(tmp_path, project, 9, SAME)
    one = place()
    shutil.copytree(tmp_path / "s", home / ".claude/projects/s")
    one.says("editor", REPLY)
    one.nightly |= {"night_dollars": 0.01}
    poor = one.night()
    assert [told["rewrite"] or told["retirement"] for told in poor["watched"]] == [None]
    assert any(why.startswith("watching editor model: the next call may cost $0.05") for why in poor["failed"]), poor
    assert one.prompts("editor") == []
    one.nightly |= {"night_dollars": 1.0}
    record = one.night()
    (told,) = record["watched"]
    assert told["rewrite"] in one.pending() and told["retirement"] is None and record["failed"] == []
    asked = [prompt for prompt in one.prompts("editor") if "still happens" in prompt]
    assert len(asked) == 1 and str(home) not in asked[0]
    assert "proposed to rewrite as" in (one.nights / record["night"] / "note.md").read_text()


def test_a_night_without_replays_asks_no_model_about_sessions(
    home: Path, tmp_path: Path, project: Path, accepted: Path, place: Callable[[], Place]
) -> None:
    later(tmp_path, project, 9, SAME)
    one = place()
    shutil.copytree(tmp_path / "s", home / ".claude/projects/s")
    (told,) = one.night(replay=False)["watched"]
    assert told["retirement"] and told["rewrite"] is None and one.prompts("editor") == []


def test_the_command_line(
    tmp_path: Path, project: Path, accepted: Path, run: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    later(tmp_path, project, 9, AGAIN)
    read = ("watch", "--from", str(tmp_path / "s"))
    assert "    better: Use zrun npm …, not tok npm …\n" in run(*read).stdout
    assert run(*read, "--editor").returncode == 2
    assert run(*read, "--propose", "--editor").returncode == 4, "no model is configured"
    (one,) = json.loads(run(*read, "--propose", "--json").stdout)["lessons"]
    assert one["rewrite"] and one["retirement"] is None and one["better"].startswith("Use `zrun npm …`")
    assert "Rewrite: Use zrun npm …, not tok npm …" in run("learned", "diff", one["rewrite"]).stdout


def test_two_at_once_offer_it_once(tmp_path: Path, project: Path, accepted: Path, run: Callable[..., Any]) -> None:
    later(tmp_path, project, 9, AGAIN)
    words = ("watch", "--from", str(tmp_path / "s"), "--propose", "--json")
    with ThreadPoolExecutor(4) as pool:
        said = list(pool.map(lambda _: run(*words), range(4)))
    assert [one.returncode for one in said] == [0] * 4
    ids = [json.loads(one.stdout)["lessons"][0]["rewrite"] for one in said]
    assert len([id for id in ids if id]) == len(pending(accepted)) == 1


def by_hand(book: Path, path: str, text: str) -> None:
    (book / path).write_text(text)
    for words in (["add", "-A"], ["commit", "-q", "-m", "x"]):
        subprocess.run(["git", "-C", str(book), "-c", "user.name=A", "-c", "user.email=a@b.c", *words], check=True)


def test_a_text_that_may_not_be_offered_costs_only_its_lesson(
    tmp_path: Path, project: Path, skilled: Path, look: Look
) -> None:
    by_hand(skilled, "skills/ship/SKILL.md", f"{SKILL}\nexport password=hunter2hunter2\n")
    later(tmp_path, project, 4, [("npm run pack", MISSING), ("bun run pack", "")])
    for n in range(4):
        (tmp_path / "s" / f"b{n}.jsonl").rename(tmp_path / "s" / f"c{n}.jsonl")
    later(tmp_path, project, 30, AGAIN)
    found = mended(look)
    told = {one.lesson.title: one for one in found.lessons}
    assert told["Ship"].changes == () and len(pending(skilled)) == 1
    (why,) = found.broken.values()
    assert "looks like a secret" in why and "hunter2" not in why


def test_a_lesson_that_was_edited_by_hand_meanwhile_is_left_alone(
    tmp_path: Path, project: Path, accepted: Path, look: Look
) -> None:
    later(tmp_path, project, 9, AGAIN)
    seen = look()
    by_hand(accepted, "AGENTS.md", "Something of my own.\n")
    assert mend(seen, NOW + 60, lambda: "00000a").lessons[0].changes == () and pending(accepted) == []


def test_a_lesson_that_stands_twice_is_rewritten_once(
    tmp_path: Path, project: Path, accepted: Path, look: Look
) -> None:
    by_hand(accepted, "AGENTS.md", f"{rules(accepted)}\nBetween.\n\n{rules(accepted)}\nLast.\n")
    later(tmp_path, project, 9, AGAIN)
    one = next(found for found in mended(look).lessons if found.rewrite)
    assert one.rewrite is not None and take(accepted, one.rewrite)["ok"]
    assert rules(accepted).split("\n\n")[1:] == ["Between.", "Last.\n"] and "zrun" in rules(accepted)


def test_where_learning_is_off_nothing_is_proposed(
    tmp_path: Path, project: Path, accepted: Path, run: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    later(tmp_path, project, 9, AGAIN)
    assert run("learned", "off").returncode == 0
    told = json.loads(run("watch", "--from", str(tmp_path / "s"), "--propose", "--json").stdout)
    assert told["note"] == "learning is off" and told["lessons"][0]["better"] and pending(accepted) == []


@pytest.mark.parametrize(
    ("rule", "right"),
    [
        ("- Run `npm x`.\n- Never `npm y`.\n  - nor z", "- Run `bun x`.\n- Never `npm y`.\n  - nor z"),
        ("```sh\nnpm x pack\nmake a\n```", "```sh\nbun x pack\nmake a\n```"),
        ("> Run `npm x` before `make`", "> Run `bun x` before `make`"),
        ("| a | b |\n|---|---|\n| c | run `npm x` |", "| a | b |\n|---|---|\n| c | run `bun x` |"),
    ],
)
def test_what_a_lesson_says_besides_stays(
    tmp_path: Path, project: Path, accepted: Path, look: Look, rule: str, right: str
) -> None:
    (id,) = offer(accepted, [Offer("Mine", rule=rule)], NOW + 5, lambda: "00000a")
    assert take(accepted, id)["ok"]
    later(tmp_path, project, 4, [("npm x pack", MISSING), ("bun x pack", "")])
    one = next(found for found in mended(look).lessons if found.lesson.title == "Mine")
    assert one.rewrite is not None and take(accepted, one.rewrite)["ok"]
    assert rules(accepted).endswith(f"\n\n{right}\n")
