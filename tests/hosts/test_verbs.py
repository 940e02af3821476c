"""Every verb as a person and a program use it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lessonbook.book.offer import Offer, offer
from lessonbook.hosts.cli.main import main

NOW = 1_798_675_200
Commit = Callable[..., Path]
SKILL = "---\nname: release\ndescription: When releasing, tag first.\n---\n\nTag.\n"


def offered(folder: Path, *tails: str) -> list[str]:
    return offer(
        folder,
        [Offer(f"Lesson {t}", rule=f"Rule {t}.", trailers=(("Count", "2"),)) for t in tails],
        NOW,
        iter(tails).__next__,
    )


def on_terminal(*words: str, cwd: Path, env: dict[str, str] | None = None) -> str:
    """What a person sees: the command's output where standard output is a terminal."""
    master, slave = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm-256color", **(env or {})}
    child = subprocess.Popen([sys.executable, "-m", "lessonbook", *words], stdout=slave, cwd=cwd, env=environment)
    os.close(slave)
    seen = b""
    try:
        while part := os.read(master, 4096):
            seen += part
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(master)
    assert child.wait() == 0
    return seen.decode()


# learn and recall


def test_learn_says_how_to_switch_a_memory_on(run) -> None:
    done = run("learn", "x")
    assert done.returncode == 4 and "`lessonbook config set memory.backend mnemopi`" in done.stderr


@pytest.mark.parametrize("backend", ["local", "mnemopi"])
def test_a_lesson_goes_in_and_comes_back(run, backend: str) -> None:
    assert run("config", "set", "memory.backend", backend).returncode == 0
    key = "ghp_" + "a1B2" * 9
    done = run("learn", f"Run make test, not pytest; key {key}", "--context", "CI")
    assert done.returncode == 0 and done.stdout == "Lesson stored. 1 secret was redacted.\n"
    assert run("learn", "-", stdin="Second lesson\nfrom a pipe").stdout == "Lesson stored.\n"
    assert run("recall", "make", "test").stdout == "- Run make test, not pytest; key [REDACTED] (context: CI)\n"
    assert run("recall").stdout.splitlines()[0] == "- Second lesson from a pipe"
    found = json.loads(run("recall", "--json", "make").stdout)
    assert found["ok"] and found["lessons"][0]["context"] == "CI"
    assert json.loads(run("learn", "Third", "--json").stdout) == {
        "ok": True,
        "text": "Lesson stored.",
        "details": {"skill": None},
    }


def test_scope(run) -> None:
    run("config", "set", "memory.backend", "local")
    done = run("learn", "x", "--scope", "global")
    assert done.returncode == 1 and "only available with the Mnemopi backend" in done.stderr
    run("config", "set", "memory.backend", "mnemopi")
    assert run("learn", "x", "--scope", "global").returncode == 0


@pytest.mark.parametrize(
    ("words", "stdin"), [(("learn", ""), ""), (("learn", "-"), " \n"), (("learn", "\x00 \x1b"), "")]
)
def test_an_empty_lesson_is_refused(run, words: tuple[str, ...], stdin: str) -> None:
    run("config", "set", "memory.backend", "local")
    if "\0" in words[-1]:
        words = ("learn", "-")
        stdin = "\0 \x1b"
    done = run(*words, stdin=stdin)
    assert done.returncode != 0 and "empty" in done.stderr and done.stdout == ""


def test_a_lesson_for_a_folder_that_is_not_there_is_kept_and_said(run, tmp_path: Path) -> None:
    run("config", "set", "memory.backend", "mnemopi")
    done = run("learn", "x", "--cwd", str(tmp_path / "typo"))
    assert done.stdout == "Lesson stored.\n" and "typo is not there" in done.stderr


def test_nothing_recalled_is_no_error(run) -> None:
    run("config", "set", "memory.backend", "local")
    done = run("recall", "zebra")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "No lesson fits.\n")
    assert run("recall", "x", "--limit", "0").returncode == 2


# learned


def test_the_queue(run, commit: Commit) -> None:
    folder = commit({"AGENTS.md": "x\n"})
    one, two = offered(folder, "0a0a0a", "0b0b0b")
    row = f"{one}  AGENTS.md  Lesson from a replay: Lesson 0a0a0a"
    assert run("learned").stdout.splitlines()[0] == row
    assert "+Rule 0a0a0a." in run("learned", "diff", one).stdout
    done = run("learned", "accept", one)
    assert done.returncode == 0 and done.stdout.startswith(f"accepted {one} as ") and f"moved {two}" in done.stdout
    assert run("learned", "reject", two).stdout == f"rejected {two}\n"
    assert run("learned").stdout == "nothing is pending\n"


def test_the_queue_for_programs(run, commit: Commit) -> None:
    folder = commit({"AGENTS.md": "x\n"})
    [id] = offered(folder, "0a0a0a")
    told = json.loads(run("learned", "--json").stdout)
    assert [book["book"] for book in told["books"]] == ["global"]
    row = told["books"][0]["pending"][0]
    assert row | {"evidence": 0} == {
        "id": id, "at": NOW, "subject": "Lesson from a replay: Lesson 0a0a0a", "files": ["AGENTS.md"], "stale": None,
        "over": None, "includes": [], "commit": json.loads(run("learned", "diff", id, "--json").stdout)["commit"],
        "evidence": 0,
    }  # fmt: skip
    assert ["Count", "2"] in told["books"][0]["pending"][0]["evidence"]
    told = json.loads(run("learned", "accept", id, "--json").stdout)
    assert told["ok"] and told["id"] == id and len(told["commit"]) == 7 and told["book"] == "global"
    done = run("learned", "accept", id, "--json")
    assert done.returncode == 2 and f"it was accepted as {told['commit']}" in json.loads(done.stdout)["error"]


def test_several_books_are_named(run, commit: Commit) -> None:
    [one] = offered(commit({"AGENTS.md": "x\n"}), "0a0a0a")
    folder = commit({"AGENTS.md": "x\n"}, "app-00000001")
    [two] = offered(folder, "0b0b0b")
    text = run("learned").stdout
    assert text.index("global:\n") < text.index(one) < text.index("app-00000001:\n") < text.index(two)
    assert one not in run("learned", "--book", "app-00000001").stdout
    assert two in run("learned", "--book", str(folder)).stdout
    assert run("learned", "diff", "--book", "app", "0a0a0a").returncode == 2
    assert "+Rule 0b0b0b." in run("learned", "diff", "--book", "app", "0b0b0b").stdout
    assert run("learned", "accept", "0b0b0b").stdout.startswith(f"accepted {two} as ")
    assert run("learned", "reject", one[:17]).stdout == f"rejected {one}\n"
    assert run("learned", "list", "--book", "project").stdout == "nothing is pending\n"


@pytest.mark.parametrize("id", ["nope", "--help=x", "../../x", "20270301-080000-ffffff", "HEAD"])
@pytest.mark.parametrize("do", ["diff", "accept", "reject"])
def test_a_wrong_id_is_one_sentence(commit: Commit, capsys: pytest.CaptureFixture[str], do: str, id: str) -> None:
    commit({"AGENTS.md": "x\n"})
    assert main(["learned", do, id]) in (1, 2)
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1


def test_an_id_is_asked_for(run) -> None:
    assert "learned accept ID" in run("learned", "accept").stderr


def test_an_id_is_never_broken_in_two(commit: Commit, tmp_path: Path) -> None:
    (id,) = offered(commit({"AGENTS.md": "Base.\n"}), "0a0a0a")
    assert id in on_terminal("learned", cwd=tmp_path, env={"COLUMNS": "40"})


def test_the_switch(run, home: Path) -> None:
    assert run("learned", "status").stdout == "learning is on\n"
    assert run("learned", "off").stdout == "learning is off\n"
    assert json.loads(run("learned", "status", "--json").stdout) == {"ok": True, "learning": False}
    (home / ".config/lessonbook/config.toml").write_text("learning = [")
    done = run("learned", "on")
    assert done.returncode == 4 and "not valid TOML" in done.stderr


def test_what_others_wrote_cannot_drive_the_terminal(run, commit: Commit) -> None:
    folder = commit({"AGENTS.md": "x\n"})
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    git = ["git", "-C", str(folder), "-c", "user.name=E", "-c", "user.email=e@example.org"]
    branch, subject = "pending/20270301-080000-0000aa", "\x1b[2Jgone"
    for words in (["checkout", "-qb", branch], ["commit", "-qm", subject, "--allow-empty"], ["checkout", "-q", "main"]):
        subprocess.run([*git, *words], check=True, env=env)
    assert "\x1b" not in run("learned").stdout
    assert "\x1b[2J" not in on_terminal("learned", cwd=folder)


# skills


def test_skills_of_all_origins(run, home: Path, commit: Commit) -> None:
    commit({"skills/release/SKILL.md": SKILL})
    broken = home / ".claude/skills/broken"
    broken.mkdir(parents=True)
    (broken / "SKILL.md").write_bytes(b"\xff\xfe")
    done = run("skills")
    assert done.stdout == "release\tlearned\t\tWhen releasing, tag first.\n"
    assert str(broken / "SKILL.md") in done.stderr
    told = json.loads(run("skills", "--json").stdout)
    assert told["skills"][0]["origin"] == "learned" and told["problems"][0]["name"] == "broken"
    assert run("skills", "show", "release").stdout == SKILL
    assert run("skills", "show", "nope").returncode == 2


def test_a_managed_skill_can_be_shown_deleted_and_brought_back(run, home: Path) -> None:
    folder = home / ".local/share/lessonbook/agent/managed-skills/release"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL)
    assert run("skills", "show", "release").stdout == SKILL
    assert run("skills", "delete", "release").returncode == 0 and not (folder / "SKILL.md").exists()
    assert run("skills", "history", "release").stdout.startswith("1\t")
    assert run("skills", "undo", "release").returncode == 0 and (folder / "SKILL.md").read_text() == SKILL
    for name in ("../x", "..", "/etc/x", "nope"):
        assert run("skills", "delete", name).returncode == 2
        assert run("skills", "history", name).returncode == 2
    assert "skills delete NAME" in run("skills", "delete").stderr


# brief, status, doctor, config


def test_brief(run, tmp_path: Path, commit: Commit) -> None:
    done = run("brief")
    assert (done.returncode, done.stdout) == (0, "") and done.stderr.startswith("Nothing to say yet")
    commit({"AGENTS.md": "A rule.\n"})
    assert "A rule." in run("brief", "--cwd", str(tmp_path)).stdout
    told = json.loads(run("brief", "--json").stdout)
    assert told["characters"] == len(told["text"]) and told["left_out"] == 0
    assert run("brief", "--no-learned", "--json").stdout.startswith('{\n  "ok": true,\n  "text": ""')
    done = run("brief", "--cwd", "/no/such/folder")
    assert "A rule." in done.stdout and "/no/such/folder is not there" in done.stderr


def test_status_and_doctor(run, home: Path) -> None:
    assert "memory" in run("status").stdout
    assert json.loads(run("status", "--json").stdout)["ok"] is True
    done = run("doctor")
    assert done.returncode == 0 and done.stdout.endswith("\nnothing is wrong\n")
    (home / ".config/lessonbook").mkdir(parents=True)
    (home / ".config/lessonbook/config.toml").write_text("learning = [")
    done = run("doctor")
    assert done.returncode == 1 and "WRONG  settings" in done.stdout and "→ Correct" in done.stdout
    done = run("doctor", "--json")
    assert done.returncode == 1 and json.loads(done.stdout)["ok"] is False


def test_config(run) -> None:
    assert run("config", "get", "memory.backend").stdout == "off\n"
    assert run("config", "set", "memory.backend", "local").stdout.startswith("memory.backend = local")
    assert json.loads(run("config", "--json").stdout)["settings"]["memory.backend"] == "local"
    assert run("config", "set", "memory.backend").returncode == 2
    assert run("config", "get").returncode == 2


def test_a_backend_that_needs_an_address_is_set_with_a_note(run) -> None:
    done = run("config", "set", "memory.backend", "hindsight")
    assert done.returncode == 0 and done.stdout.startswith("memory.backend = hindsight")
    assert done.stderr.startswith("lessonbook: no lesson can be kept or recalled before hindsight.url is set")
    assert done.stderr.count("\n") == 1
    told = json.loads(run("config", "set", "memory.backend", "hindsight", "--json").stdout)
    assert told["ok"] and told["value"] == "hindsight" and told["note"] in done.stderr
    run("config", "set", "hindsight.url", "http://localhost:8888")
    assert run("config", "set", "memory.backend", "hindsight").stderr == ""
    done = run("config", "set", "memory.backend", "local", "--json")
    assert "note" not in json.loads(done.stdout) and done.stderr == ""


def test_a_terminal_gets_tables_and_no_colour_when_asked(run, home: Path, tmp_path: Path) -> None:
    seen = on_terminal("config", cwd=tmp_path)
    assert "\x1b[1m" in seen and "setting" in seen
    assert "\x1b[3" not in on_terminal("config", cwd=tmp_path, env={"NO_COLOR": "1"})


# propose

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


def test_propose(run) -> None:
    dry = run("propose", "--from", str(SAMPLES), "--dry-run")
    assert dry.returncode == 0 and "would be offered" in dry.stdout and run("learned").stdout == "nothing is pending\n"
    done = run("propose", "--from", str(SAMPLES / "claude"), str(SAMPLES / "codex"))
    assert "\nclaude: 3 files" in f"\n{done.stdout}" and "offered for review:" in done.stdout
    [first, *_] = [line.split()[0] for line in run("learned").stdout.splitlines() if "AGENTS.md" in line]
    assert f"see one: lessonbook learned diff {first}" in done.stdout
    told = run("learned", "diff", first).stdout
    assert "Evidence-count: " in told and "\n+" in told
    assert "nothing new to offer" in run("propose", "--from", str(SAMPLES)).stdout


def test_propose_for_programs(run) -> None:
    told = json.loads(run("propose", "--from", str(SAMPLES), "--json").stdout)
    assert told["ok"] and told["agents"]["claude"]["files"] == 3 and told["offered"][0]["id"]
    assert json.loads(run("propose", "--from", "/no/such", "--json").stdout)["ok"] is False


def test_propose_says_when_there_is_nothing_or_it_is_off(run) -> None:
    assert "no session was found" in run("propose").stdout
    run("learned", "off")
    assert run("propose").stdout == "learning is off; `lessonbook learned on` turns it on.\n"
