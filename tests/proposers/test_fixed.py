from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lessonbook.core.candidate import BookKind, Proposal
from lessonbook.core.session import Call, CallKind, CallStatus
from lessonbook.proposers.matching import names
from lessonbook.proposers.repeats import Repeats

Start = Callable[..., Any]
NO_COMMAND = "error: unrecognized subcommand 'npm'\n\nUsage: tok [OPTIONS]"


def proposed(*sessions: Any) -> list[Proposal]:
    return list(Repeats().propose([session.done() for session in sessions]))


def rules(*sessions: Any) -> list[str]:
    return [proposal.rule or "" for proposal in proposed(*sessions)]


def test_a_dropped_prefix_is_one_lesson_for_every_script(talk: Start) -> None:
    one = talk("a").sh("tok npm run test", NO_COMMAND, 2).sh("npm run test", "ok")
    two = talk("b", day=1).sh("cd /srv/shop && tok npm run lint 2>&1", NO_COMMAND, 2).sh("npm run lint | tail", "ok")
    three = talk("c", day=2).sh("tok npm run build", NO_COMMAND, 2).sh("npm run build", "ok")
    (only,) = proposed(one, two, three)
    assert only.rule == (
        "Run `npm run …` without `tok`: `tok npm run …` fails with `error: unrecognized subcommand 'npm'`."
    )
    assert only.book is BookKind.PROJECT and only.cwd == "/srv/shop"
    assert (only.evidence.kind, only.evidence.count) == ("failed-then-worked", 3)
    assert only.evidence.sessions[0] == "a turn 1 (/t/a.jsonl)"
    assert only.evidence.examples["worked"].startswith("npm run ")


def test_a_replaced_program_names_both_and_variants_are_one_lesson(talk: Start) -> None:
    missing, none = "bash: line 1: pytest: command not found", "/usr/bin/python: No module named pytest"
    sessions = [
        talk(f"s{n}", day=n)
        .sh(f"pytest lib/test_{n}.py", missing, 127)
        .sh(f"python -m pytest lib/test_{n}.py", none, 1)
        .sh(f"bin/test lib/test_{n}.py", "2 failed", 1)
        for n in range(3)
    ]
    (only,) = proposed(*sessions)
    assert only.rule is not None
    assert only.rule.startswith("Use `bin/test …` here, not `")
    assert "`pytest …`" in only.rule and "`python -m pytest …`" in only.rule
    assert len(only.evidence.sessions) == 3 and only.evidence.count == 6


def test_another_program_for_the_same_words_is_one_lesson(talk: Start) -> None:
    gone = 'npm error Missing script: "x"'
    sessions = [
        talk(f"s{n}", day=n).sh("npm test", gone, 1).sh("pnpm test").sh("npm run lint", gone, 1).sh("pnpm run lint")
        for n in range(2)
    ]
    assert rules(*sessions) == ['Use `pnpm …` instead of `npm …`, which fails with `npm error Missing script: "x"`.']


def test_the_right_folder(talk: Start) -> None:
    sessions = [
        talk(f"s{n}", day=n)
        .sh("npm run lint", 'npm error Missing script: "lint"', 1)
        .sh("cd /srv/shop/web && npm run lint", "ok")
        for n in range(2)
    ]
    assert rules(*sessions) == [
        'Run `npm run lint` from `web`: elsewhere it fails with `npm error Missing script: "lint"`.'
    ]


def test_an_option_that_does_not_exist(talk: Start) -> None:
    sessions = [
        talk(f"s{n}", day=n).sh(f"grep -P x a{n}.py", "grep: invalid option -- P", 2).sh(f"ls a{n}") for n in range(2)
    ]
    assert rules(*sessions) == ["Do not pass `-P` to `grep` here: it fails with `grep: invalid option -- P`."]


def test_an_ignored_path(talk: Start) -> None:
    told = "The following paths are ignored by one of your .gitignore files:\nweb/dist\nhint: Use -f"
    sessions = [
        talk(f"s{n}", day=n).sh(f"git add f{n}.py web/dist && git commit -m x", told, 1).sh(f"git add f{n}.py")
        for n in range(2)
    ]
    assert rules(*sessions) == ["Leave `web/dist` out of `git add`: git ignores it, and the whole command fails."]


def test_a_skill_that_does_not_exist_names_the_command_that_does_it(talk: Start) -> None:
    sessions = [
        talk(f"s{n}", day=n)
        .tool("Skill", CallStatus.FAILED, "<tool_use_error>Unknown skill: commit</tool_use_error>", skill="commit")
        .sh("git status")
        .sh("git add a && git commit -m 'x'")
        for n in range(2)
    ]
    assert rules(*sessions) == [
        "Run `git commit` yourself: `Skill` has no `commit` here and fails with `Unknown skill: commit`."
    ]


def test_trouble_with_the_agents_own_tools_is_advice_for_every_project(talk: Start) -> None:
    told = "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>"
    sessions = [talk(f"s{n}", day=n).tool("Edit", CallStatus.FAILED, told, file_path=f"/x/{n}") for n in range(2)]
    (only,) = proposed(*sessions)
    assert only.book is BookKind.GLOBAL and only.cwd is None
    assert only.rule is not None and only.rule.startswith(
        "Before you change a file, read it first. Otherwise `Edit` fails with"
    )


def test_troubles_that_one_habit_cures_are_one_lesson(talk: Start) -> None:
    told = ("File has not been read yet. Read it first.", "String to replace not found in file.")
    sessions = [talk(f"s{n}", day=n).tool("Edit", CallStatus.FAILED, told[n % 2], file_path="/x") for n in range(3)]
    (only,) = proposed(*sessions)
    assert only.key == "file not read first + text to replace not found" and only.evidence.count == 3
    assert "read it first; copy the text to replace exactly" in (only.rule or "")
    assert "String to replace not found" in (only.rule or "") and "has not been read yet" in (only.rule or "")
    unseen = Call("c", "Edit", CallKind.EDIT, CallStatus.FAILED, result="Found 3 matches of the string to replace")
    seen = Call("c", "Edit", CallKind.EDIT, CallStatus.FAILED, result=told[1])
    assert names(only, seen) and not names(only, unseen)


def test_what_keeps_failing_is_told_where_nothing_mended_it(talk: Start) -> None:
    told = "error: no route to registry.example.org"
    stuck = [talk(f"s{n}", day=n).sh("kite sync", told, 1).sh("ls", "ok") for n in range(4)]
    assert rules(*stuck) == [
        f"Before you run `kite sync`, find out what it needs: here it fails with `{told}`, and no way that works was"
        " seen."
    ]
    assert rules(*stuck[:2]) == [], "twice may be chance"
    assert rules(*(talk(f"s{n}").sh("kite sync", told, 1).sh("kite sync", "ok") for n in range(4))) == []
    raised = "ValueError: a is not {}"
    assert rules(*(talk(f"s{n}").sh("python try.py", raised.format(n), 1) for n in range(4))) == [], "its own script"


def test_what_scripts_raise_alike_to_the_letter_is_told(talk: Start) -> None:
    told = "kite.errors.NotConfigured: Settings are not configured, call setup() first"
    alike = [talk(f"s{n}", day=n).sh(f"python try_{n}.py", told, 1).sh("python other.py") for n in range(3)]
    (only,) = rules(*alike)
    assert only == f"Scripts run with `python` fail here with `{told}`: see to what that asks for before you run one."
    assert rules(*alike[:2]) == []


def test_a_tool_that_keeps_failing_is_told_though_other_calls_of_it_work(talk: Start) -> None:
    told = "Ref e12 is not on this page: take a snapshot"
    sessions = [talk(f"s{n}", day=n).tool("browser_click", CallStatus.FAILED, told) for n in range(3)]
    for session in sessions:
        session.tool("browser_click", result="clicked")
    (only,) = rules(*sessions)
    assert only.startswith("See to what `browser_click` asks for before you call it") and "take a snapshot" in only
    assert rules(*sessions[:2]) == [], "twice may be chance"


@pytest.mark.parametrize(
    ("raised", "opening"),
    [
        ("NameError: name 'a{}' is not defined", "Before you write a script against code, look up"),
        ("IndentationError: expected an indented block", "Right after changing code by a script or a patch, check"),
    ],
)
def test_slips_in_scripts_are_a_habit_from_three_sessions_on(talk: Start, raised: str, opening: str) -> None:
    slips = [talk(f"s{n}", day=n).sh(f"python try_{n}.py", raised.format(n), 1).sh("python try.py") for n in range(3)]
    (only,) = proposed(*slips)
    assert only.rule is not None and only.rule.startswith(opening) and only.book is BookKind.GLOBAL
    assert proposed(*slips[:2]) == []


@pytest.mark.parametrize(
    ("command", "result", "opening"),
    [
        ("frob up", "Error: connect ECONNREFUSED 127.0.0.1:5432", "See that what `frob up` talks to is running"),
        ("frob serve", "Error: listen EADDRINUSE: address already in use :::3000", "Look what holds the port"),
        ("frob pull", "Could not resolve host: x.example", "Do without the network in `frob pull`"),
        ("frob plan", "frob: Permission denied", "Run `frob plan` another way here, or ask"),
        ("frob plan", "Unable to locate credentials.", "Ask the person to log in before you run `frob plan`"),
        ("frob plan", "error: the following arguments are required: env", "Look up what `frob plan` takes"),
        ("frob fly", "Frob has no command named 'fly'.", "Do not call `frob fly`: `frob` has no such command here"),
        ("git switch x", "error: Your local changes would be overwritten by checkout:", "Look at `git stat"),
        (
            "frob plan",
            "Error: old plugins, please run `terraform init`",
            "Set up what `frob plan` needs before you run it",
        ),
        ("frob plan", "Could not locate Gemfile", "Run `frob plan` in the folder that holds its project file"),
    ],
)
def test_each_reason_has_its_advice(talk: Start, command: str, result: str, opening: str) -> None:
    sessions = [talk(f"s{n}", day=n).sh(command, result, 1).sh("ls") for n in range(2)]
    (only,) = rules(*sessions)
    assert only.startswith(opening) and " ".join(result.split())[:20] in only
    assert rules(*sessions[:1]) == []


def test_a_folder_that_is_not_there_is_one_habit_whatever_was_to_run_in_it(talk: Start) -> None:
    told = "bash: line 1: cd: web: No such file or directory"
    sessions = [
        talk(f"s{n}", day=n).sh(f"cd web && {command}", told, 1) for n, command in enumerate(("npm test", "go vet"))
    ]
    (only,) = proposed(*sessions)
    assert only.key == "no such folder to change to" and "know the folder you are in" in (only.rule or "").lower()


def test_a_habit_tells_no_more_than_a_rule_holds(talk: Start) -> None:
    told = (
        "File has not been read yet. Read it first.", "File has been modified since read", "invalid patch: x",
        "String to replace not found in file.", "Found 2 matches of the string to replace", "No changes to make: x",
        "Cannot create new file - file already exists.",
    )  # fmt: skip
    sessions = [talk(f"s{n}", day=n) for n in range(2)]
    for session in sessions:
        for n, one in enumerate(told):
            for _ in range(8 - n):
                session.tool("Edit", CallStatus.FAILED, one, file_path="/x")
    (only,) = proposed(*sessions)
    assert only.rule is not None and len(only.rule) <= 300 and only.rule.endswith(".")
    failed = [Call("c", "Edit", CallKind.EDIT, CallStatus.FAILED, result=one) for one in told]
    assert names(only, failed[0]) and not names(only, failed[-1]), "what it does not tell, it is not about"


def test_a_habit_comes_again_however_rarely_a_mistake_of_one_command_does_not(talk: Start) -> None:
    folder, gone = "EISDIR: illegal operation on a directory, read", "cat: illegal option -- A"
    sessions = [
        talk(f"s{n}", day=n).tool("Read", CallStatus.FAILED, folder, file_path="/x").sh("cat -A a", gone, 1)
        if n in (0, 50)
        else talk(f"s{n}", day=n).sh("ls")
        for n in range(60)
    ]
    (only,) = rules(*sessions)
    assert only.startswith("List a folder, do not read it.")


def test_in_a_long_history_three_times_is_enough(talk: Start) -> None:
    def history(times: tuple[int, ...]) -> list[Any]:
        return [
            talk(f"s{n}", day=n).sh("cat -A a", "cat: illegal option -- A", 1)
            if n in times
            else talk(f"s{n}", day=n).sh("ls")
            for n in range(300)
        ]

    assert len(rules(*history((0, 100, 200)))) == 1
    assert rules(*history((0, 100))) == []


def test_a_lesson_of_two_projects_that_names_neither_is_global(talk: Start) -> None:
    sessions = [
        talk(f"s{n}", day=n, cwd=f"/srv/p{n}").sh("cat -A a", "cat: illegal option -- A", 1).sh("ls") for n in range(2)
    ]
    (only,) = proposed(*sessions)
    assert only.book is BookKind.GLOBAL


def test_projects_that_found_other_ways_keep_their_own(talk: Start) -> None:
    told, ways = "bash: line 1: python: command not found", ("uv run manage.py test", "python3 manage.py test")
    sessions = [
        talk(f"s{n}", day=n, cwd=f"/srv/p{n % 2}").sh("python manage.py test", told, 127).sh(ways[n % 2])
        for n in range(4)
    ]
    found = {proposal.cwd: proposal.rule or "" for proposal in proposed(*sessions)}
    assert set(found) == {"/srv/p0", "/srv/p1"}
    assert found["/srv/p0"].startswith("Use `uv run …`") and "python3" in found["/srv/p1"]


def test_a_lesson_that_names_a_script_stays_with_each_project(talk: Start) -> None:
    told = 'npm error Missing script: "lint"'
    sessions = [
        talk(f"s{n}", day=n, cwd=f"/srv/p{n % 2}").sh("npm run lint", told, 1).sh("cd web && npm run lint")
        for n in range(4)
    ]
    found = proposed(*sessions)
    assert {proposal.cwd for proposal in found} == {"/srv/p0", "/srv/p1"}


@pytest.mark.parametrize("sessions", [1])
def test_once_is_not_again(talk: Start, sessions: int) -> None:
    told = talk("a").sh("tok npm run t", NO_COMMAND, 2).sh("npm run t").sh("tok npm run u", NO_COMMAND, 2)
    assert rules(told.sh("npm run u")) == []


def test_a_sub_agent_and_its_root_are_one_session(talk: Start) -> None:
    from dataclasses import replace

    root = talk("a").sh("tok npm run t", NO_COMMAND, 2).sh("npm run t").done()
    sub = replace(talk("b").sh("tok npm run t", NO_COMMAND, 2).sh("npm run t").done(), parent_id="a")
    assert list(Repeats().propose([root, sub])) == []


def test_answers_and_repairs_teach_nothing(talk: Start) -> None:
    def session(n: int) -> Any:
        start = talk(f"s{n}", day=n)
        start.sh("npm test", "1 failed", 1).tool("Edit", file_path="/srv/shop/a").sh("npm test", "ok")
        start.sh("grep foo a", "", 1).sh("grep bar a", "x")
        start.sh("deploy a", "error: flaky", 1).sh("deploy a", "ok")
        return start.sh("git commit -m x", "lint failed", 1).sh("git commit --no-verify -m x", "ok")

    assert rules(*(session(n) for n in range(3))) == []


def test_a_mistake_long_gone_is_not_worth_a_rule(talk: Start) -> None:
    early = [talk(f"s{n}", day=n).sh("tok npm run t", NO_COMMAND, 2).sh("npm run t") for n in range(2)]
    later = [talk(f"l{n}", day=10 + n).sh("ls") for n in range(60)]
    assert rules(*early, *later) == []
    assert len(rules(*early, *later[:20])) == 1


@pytest.mark.parametrize(
    ("failed", "told", "forced"),
    [
        ("git push origin x", "error: failed to push some refs to 'o'", "git push origin x --force"),
        ("git push origin x", "error: failed to push some refs to 'o'", "git push -f origin x"),
        ("npm install a", "npm error ERESOLVE could not resolve", "npm install a --legacy-peer-deps"),
        ("gitty push x", "error: guard", "gitty push x --no-verify"),
    ],
)
def test_what_worked_by_force_is_no_lesson(talk: Start, failed: str, told: str, forced: str) -> None:
    assert rules(*(talk(f"s{n}").sh(failed, told, 1).sh(forced, "ok") for n in range(3))) == []


def test_an_ignored_path_is_left_out_even_where_it_was_forced(talk: Start) -> None:
    told = "The following paths are ignored by one of your .gitignore files:\ndist"
    sessions = [talk(f"s{n}").sh("git add dist", told, 1).sh("git add -f dist") for n in range(2)]
    assert rules(*sessions) == ["Leave `dist` out of `git add`: git ignores it, and the whole command fails."]


TYPICAL = [
    (
        "python setup.py",
        "bash: python: command not found",
        "python3 setup.py",
        "Use `python3 …` here, not `python …`, which",
    ),
    ("timeout 30 npm test", "(eval):1: command not found: timeout", "npm test", "Do not call `timeout` here:"),
    ("docker-compose up", "zsh: command not found: docker-compose", "docker compose up", "Use `docker compose …` here"),
    ("jest a.test.ts", "bash: jest: command not found", "npx jest a.test.ts", "Use `npx jest …` here, not `jest …`"),
    (
        "uv run tool -q a",
        "error: unexpected argument '-q' found",
        "uv run tool a",
        "Leave `-q` out of `uv run tool -q …`:",
    ),
    ("npm run tset", 'npm error Missing script: "tset"', "npm run test", "Use `npm run test`, not `npm run tset`,"),
    (
        "cargo test x",
        "error: could not find `Cargo.toml` in `/srv`",
        "cd rs && cargo test x",
        "Run `cargo test x` from `rs`:",
    ),
    (
        "sed -i s/a/b/ x",
        "sed: 1: invalid command code x",
        "sed -i '' s/a/b/ x",
        "Pass `''` to `sed -i s/a/b/ x`: without it,",
    ),
    ("grep a --include=*.ts", "zsh:1: no matches found: --include=*.ts", "ls", "Quote patterns that are meant for"),
    ("npm run dev", "Command timed out after 2m 0.0s", "ls", "Narrow `npm run`, give it more time or run it in the"),
]


@pytest.mark.parametrize(("failed", "told", "worked", "begin"), TYPICAL)
def test_typical_mistakes(talk: Start, failed: str, told: str, worked: str, begin: str) -> None:
    (only,) = rules(*(talk(f"s{n}").sh(failed, told, 127).sh(worked, "ok") for n in range(2)))
    assert only.startswith(begin)
