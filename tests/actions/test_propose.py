from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from lessonbook.actions.propose import HOMELESS, KNOWN, OFF, REMEMBERED, Report, propose
from lessonbook.book.location import book_folder
from lessonbook.core.briefing import Block, briefing
from lessonbook.core.candidate import BookKind
from lessonbook.core.errors import InputError
from lessonbook.learned import accept, diff, pending, reject
from lessonbook.system.projects import identify
from lessonbook.system.settings import Places, load, places

NOW = 1_790_000_000
NO_COMMAND = "Exit code 2\nerror: unrecognized subcommand 'npm'"
UNREAD = "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>"
RULE = "Run `npm run …` without `tok`: `tok npm run …` fails with `error: unrecognized subcommand 'npm'`."


class Transcript:
    """Writes one Claude Code session file, record by record."""

    def __init__(self, path: Path, cwd: Path | None, day: int = 1) -> None:
        self.path, self.cwd, self.day, self.records = path, cwd, day, list[dict[str, Any]]()

    def ask(self, text: str) -> Transcript:
        return self._add("user", {"role": "user", "content": text})

    def call(self, name: str, result: str, failed: bool = False, **args: Any) -> Transcript:
        id = f"toolu_{self.path.stem}_{len(self.records)}"
        self._add(
            "assistant", {"id": f"m{id}", "content": [{"type": "tool_use", "id": id, "name": name, "input": args}]}
        )
        block = {"type": "tool_result", "tool_use_id": id, "content": result, "is_error": failed}
        return self._add("user", {"role": "user", "content": [block]})

    def attach(self, text: str) -> Transcript:
        self.records.append(self._record("attachment") | {"attachment": {"type": "hook_success", "content": text}})
        return self

    def save(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text("".join(json.dumps(record) + "\n" for record in self.records))

    def _add(self, kind: str, message: dict[str, Any]) -> Transcript:
        self.records.append(self._record(kind) | {"message": message})
        return self

    def _record(self, kind: str) -> dict[str, Any]:
        at = len(self.records)
        place = {} if self.cwd is None else {"cwd": str(self.cwd)}
        return place | {
            "type": kind,
            "uuid": f"{self.path.stem}-{at}",
            "sessionId": self.path.stem,
            "version": "2.1.0",
            "timestamp": f"2026-03-{self.day:02}T10:{at // 60:02}:{at % 60:02}.000Z",
        }


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "work" / "shop"
    folder.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


@pytest.fixture
def root(home: Path) -> Path:
    return home / ".claude" / "projects" / "-work-shop"


@pytest.fixture
def where(home: Path) -> Places:
    return places({"HOME": str(home)})


@pytest.fixture
def run(home: Path, where: Places) -> Callable[..., Report]:
    digits = count(1)

    def run(paths: list[Path] | None = None, **how: Any) -> Report:
        settings = how.pop("settings", load(where))
        env = {"HOME": str(home)}
        return propose(paths, where, settings, now=NOW, random_hex=lambda: f"{next(digits):06x}", env=env, **how)

    return run


def fumble(root: Path, project: Path, n: int) -> Transcript:
    told = Transcript(root / f"s{n}.jsonl", project, day=n + 1).ask("run the tests")
    told.call("Bash", NO_COMMAND, failed=True, command="tok npm run test").call("Bash", "ok", command="npm run test")
    return told.call("Edit", UNREAD, failed=True, file_path="/work/shop/a.js", old_string="a", new_string="b")


def test_reads_the_agents_own_folders_and_offers_to_both_books(
    root: Path, project: Path, where: Places, run: Callable[..., Report]
) -> None:
    for n in range(3):
        fumble(root, project, n).save()
    report = run()
    claude = report.agents["claude"]
    assert (claude.files, claude.sessions, claude.calls, claude.failed) == (3, 3, 9, 6)
    assert report.findings == {"tool_protocol": 3, "edit_before_read": 3}
    assert report.rates["tool_protocol"] == pytest.approx(100 / 3)
    assert [(one.kind, one.text == RULE) for one in report.offered] == [
        (BookKind.PROJECT, True),
        (BookKind.GLOBAL, False),
    ]
    book = book_folder(where, identify(project))
    (row,) = pending(book)
    assert report.offered[0].id == row["id"] and report.offered[0].book == book
    assert row["subject"] == "Lesson from a replay: Run npm run … without tok"
    assert [row["id"] for row in pending(where.learned)] == [report.offered[1].id]


def test_the_evidence_can_be_checked(root: Path, project: Path, where: Places, run: Callable[..., Report]) -> None:
    for n in range(7):
        fumble(root, project, n).save()
    offered = run().offered[0]
    message = subprocess.run(
        ["git", "-C", str(offered.book), "log", "-1", "--format=%B", f"pending/{offered.id}"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    lines = dict(line.split(": ", 1) for line in message.strip().split("\n\n")[1].splitlines())
    assert lines["Proposer"] == "repeats"
    assert lines["Evidence-kind"] == "failed-then-worked"
    assert lines["Evidence-key"] == "tok npm | unknown subcommand"
    assert lines["Evidence-agents"] == "claude"
    assert lines["Evidence-count"] == "7 calls in 7 sessions"
    assert lines["Evidence-dates"] == "2026-03-01..2026-03-07"
    assert message.count("Evidence-session: ") == 5 and f"s0 turn 1 ({root}/s0.jsonl)" in message
    assert lines["Evidence-failed"] == "tok npm run test"
    assert lines["Evidence-error"] == "error: unrecognized subcommand 'npm'"
    assert lines["Evidence-worked"] == "npm run test"
    assert RULE in diff(offered.book, offered.id)["diff"]


def test_never_proposed_twice(root: Path, project: Path, where: Places, run: Callable[..., Report]) -> None:
    for n in range(3):
        fumble(root, project, n).save()
    first = run()
    assert run().offered == ()
    assert accept(first.offered[0].book, first.offered[0].id)["ok"]
    assert reject(first.offered[1].book, first.offered[1].id)["ok"]
    for n in range(3, 8):
        fumble(root, project, n).save()
        again = run()
        assert again.offered == ()
        assert {one.reason for one in again.left_out} == {KNOWN} and all(one.twin for one in again.left_out)


def test_our_own_words_are_not_learned_again(
    root: Path, project: Path, where: Places, run: Callable[..., Report]
) -> None:
    lesson = "Never push to main here, open a pull request."
    for n in range(2):
        told = Transcript(root / f"a{n}.jsonl", project).ask("go on").call("Bash", "ok", command="git push")
        told.ask("I told you: never push to main here, open a pull request").save()
    (first,) = run().offered
    assert first.text == lesson
    assert accept(first.book, first.id)["ok"]
    for n in range(5):
        told = Transcript(root / f"b{n}.jsonl", project, day=n + 2)
        told.attach(f"Lessons of this project:\n\n{lesson}").ask("go on")
        told.call("mcp__lessonbook__recall", f"1. {lesson}", query="push")
        told.call("Read", f"1\t{lesson}", file_path="AGENTS.md").call("Bash", "ok", command="ls")
        told.ask(lesson).call("mcp__lessonbook__learn", "Lesson stored.", memory=lesson).save()
        report = run()
        assert report.offered == ()
        assert pending(first.book) == [] and pending(where.learned) == []


def test_of_a_prompt_with_a_pasted_briefing_only_the_persons_words_count(
    root: Path, project: Path, run: Callable[..., Report]
) -> None:
    pasted = briefing([Block("Lessons", ("I told you: never push to main here.",))]).text
    for n in range(3):
        told = Transcript(root / f"a{n}.jsonl", project, day=n + 1).ask("go on").call("Bash", "ok", command="git push")
        told.ask(f"{pasted}\n\nI told you: never use tabs in YAML files here").save()
    assert [one.text for one in run().offered] == ["Never use tabs in YAML files here."]


def test_a_line_of_an_accepted_paragraph_typed_again_is_known(
    root: Path, project: Path, where: Places, run: Callable[..., Report]
) -> None:
    book = book_folder(where, identify(project))
    subprocess.run(["git", "init", "-q", str(book)], check=True)
    (book / "AGENTS.md").write_text("# Mine\n\n- Be kind.\n- Never use tabs in YAML files here\n- Smile.\n")
    git = ["git", "-C", str(book), "-c", "user.name=x", "-c", "user.email=x@x.invalid"]
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "mine"], check=True)
    for n in range(3):
        told = Transcript(root / f"a{n}.jsonl", project).ask("go").call("Bash", "ok", command="ls")
        told.ask("never use tabs in YAML files here").save()
    report = run()
    assert report.offered == ()
    assert [one.reason for one in report.left_out] == [KNOWN]


def test_what_a_memory_holds_is_left_out(root: Path, project: Path, run: Callable[..., Report]) -> None:
    lesson = "The staging database is reset every night, so keep no fixtures there."
    for n in range(2):
        Transcript(root / f"a{n}.jsonl", project).ask("go").call("save_memory", "ok", fact=lesson).save()
    assert [one.reason for one in run(remembered=[lesson]).left_out] == [REMEMBERED]
    assert [one.text for one in run().offered] == [lesson]


def test_dry_run_and_learning_off_touch_nothing(
    root: Path, project: Path, home: Path, where: Places, run: Callable[..., Report]
) -> None:
    for n in range(3):
        fumble(root, project, n).save()
    before = sorted(home.rglob("*"))
    report = run(dry_run=True)
    assert [one.id for one in report.offered] == [None, None] and report.dry_run
    off = run(settings=load(where).but(learning=False))
    assert off.note == OFF and off.agents == {} and off.offered == ()
    assert sorted(home.rglob("*")) == before


def test_files_and_folders_someone_points_at(tmp_path: Path, project: Path, run: Callable[..., Report]) -> None:
    folder = tmp_path / "export"
    fumble(folder, project, 0).save()
    fumble(folder / "deep", project, 1).save()
    (folder / "notes.txt").write_text("hello")
    seen: list[tuple[int, int]] = []
    report = run([folder], progress=lambda done, total, _: seen.append((done, total)))
    assert report.agents["claude"].files == 2 and len(report.offered) == 2
    assert list(report.unread) == [str(folder / "notes.txt")]
    assert seen[0] == (0, 3) and seen[-1] == (3, 3)
    with pytest.raises(InputError, match="does not exist"):
        run([tmp_path / "nowhere"])


def test_over_the_limit_is_said(root: Path, project: Path, run: Callable[..., Report]) -> None:
    for n in range(2):
        told = Transcript(root / f"s{n}.jsonl", project, day=n + 1).ask("go")
        for tool in ("aa", "bb", "cc", "dd", "ee"):
            told.call("Bash", f"Exit code 2\n{tool}: unknown option --zz", failed=True, command=f"{tool} --zz x")
        told.save()
    report = run()
    assert len(report.offered) == 3
    assert [one.reason for one in report.left_out] == ["over this run's limit of 3"] * 2
    assert run().offered == ()


REFUSAL = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). To tell you how to proceed, the user said:\n"
)


def test_what_a_person_said_is_among_the_one_in_four(root: Path, project: Path, run: Callable[..., Report]) -> None:
    for n in range(10):
        told = Transcript(root / f"s{n}.jsonl", project, day=n + 1).ask("go")
        for tool in ("aa", "bb", "cc", "dd", "ee"):
            told.call("Bash", f"Exit code 2\n{tool}: unknown option --zz", failed=True, command=f"{tool} --zz x")
        if n > 6:
            told.call("Bash", f"{REFUSAL}ask me before you deploy", failed=True, command="deploy prod")
        told.save()
    report = run()
    assert len(report.offered) == 3, "two fixes for ten sessions, and what the person said, whatever ranks above it"
    assert report.offered[-1].text.startswith("Do not run `deploy")
    assert report.offered[-1].why.startswith("3 refusals in 3 sessions")
    assert [one.reason for one in report.left_out] == ["over this run's limit of 3"] * 3
    assert run().offered == ()


def test_what_a_person_said_comes_first_where_a_run_is_full(
    root: Path, project: Path, run: Callable[..., Report]
) -> None:
    tools = [f"{letter}{letter}" for letter in "abcdefghijkl"]
    for n in range(4 * len(tools)):
        told = Transcript(root / f"s{n}.jsonl", project, day=1 + n % 28).ask("go")
        for tool in tools:
            told.call("Bash", f"Exit code 2\n{tool}: unknown option --zz", failed=True, command=f"{tool} --zz x")
        if n < 2:
            told.call("Bash", f"{REFUSAL}never deploy on your own", failed=True, command="deploy prod")
        told.save()
    report = run()
    assert len(report.offered) == 12 and report.offered[-1].text.startswith("Do not run `deploy")
    assert [one.reason for one in report.left_out] == ["over this run's limit of 12"]


def test_a_refusal_without_words_keeps_to_the_one_in_four(
    root: Path, project: Path, run: Callable[..., Report]
) -> None:
    for n in range(10):
        told = Transcript(root / f"s{n}.jsonl", project, day=n + 1).ask("go")
        for tool in ("aa", "bb", "cc"):
            told.call("Bash", f"Exit code 2\n{tool}: unknown option --zz", failed=True, command=f"{tool} --zz x")
        if n > 6:
            told.call("Bash", REFUSAL.partition(" To tell")[0], failed=True, command="deploy prod")
        told.save()
    assert len(run().offered) == 3


def test_what_is_known_never_crowds_out_what_is_new(root: Path, project: Path, run: Callable[..., Report]) -> None:
    tools = [f"{letter}{letter}" for letter in "abcdefghijklmn"]
    for n in range(4 * len(tools)):
        told = Transcript(root / f"s{n}.jsonl", project, day=1 + n % 28).ask("go")
        for tool in tools:
            told.call("Bash", f"Exit code 2\n{tool}: unknown option --zz", failed=True, command=f"{tool} --zz x")
        told.save()
    first, second = run(), run()
    assert len(first.offered) == 12
    assert [one.reason for one in first.left_out] == ["over this run's limit of 12"] * 2
    assert [one.title for one in second.offered] == [one.title for one in first.left_out]


def test_worktrees_of_one_project_share_its_book(
    tmp_path: Path, root: Path, project: Path, where: Places, run: Callable[..., Report]
) -> None:
    git = ["git", "-C", str(project), "-c", "user.name=x", "-c", "user.email=x@x.invalid"]
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "start"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tmp_path / "other")], check=True)
    fumble(root, project, 0).save()
    fumble(root, tmp_path / "other", 1).save()
    offered = [one for one in run().offered if one.kind is BookKind.PROJECT]
    assert [one.text for one in offered] == [RULE]
    assert book_folder(where, identify(project)) == book_folder(where, identify(tmp_path / "other"))


def test_a_projects_lesson_without_a_project_goes_to_no_book(
    root: Path, where: Places, run: Callable[..., Report]
) -> None:
    for n in range(2):
        told = Transcript(root / f"s{n}.jsonl", None).ask("go")
        told.call("Bash", NO_COMMAND, failed=True, command="tok npm run test").call(
            "Bash", "ok", command="npm run test"
        )
        told.save()
    report = run()
    assert report.offered == () and pending(where.learned) == []
    assert [one.reason for one in report.left_out] == [HOMELESS]


def test_a_broken_book_costs_only_what_is_for_it(
    root: Path, project: Path, where: Places, run: Callable[..., Report]
) -> None:
    for n in range(3):
        fumble(root, project, n).save()
    book = book_folder(where, identify(project))
    (book / ".git").mkdir(parents=True)
    report = run()
    assert (
        [one.kind for one in report.offered] == [BookKind.GLOBAL] == [BookKind.GLOBAL for _ in pending(where.learned)]
    )
    (why,) = report.failed
    assert str(book) in str(why) and [(one.text, one.reason) for one in report.left_out] == [(RULE, str(why))]


def test_a_broken_global_book_lets_nothing_be_offered_twice(
    root: Path, project: Path, where: Places, run: Callable[..., Report]
) -> None:
    for n in range(3):
        fumble(root, project, n).save()
    (where.learned / ".git").mkdir(parents=True)
    report = run()
    assert report.offered == () and len(report.left_out) == 2 and str(where.learned) in str(report.failed[0])
    assert pending(book_folder(where, identify(project))) == []


def test_a_book_that_takes_nothing_is_told_with_what_the_others_took(
    root: Path, project: Path, where: Places, run: Callable[..., Report]
) -> None:
    for n in range(3):
        fumble(root, project, n).save()
    (where.learned.parent / ".learned.lock").mkdir(parents=True)
    report = run()
    assert [one.text for one in report.offered] == [RULE]
    assert ".learned.lock" in str(report.failed[0]) and report.left_out[0].reason == str(report.failed[0])
