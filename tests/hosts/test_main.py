"""The one door: help, typos, errors as a sentence, JSON for programs, closed pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lessonbook.core.version import __version__
from lessonbook.hosts.cli.main import main
from lessonbook.hosts.registry import VERBS


def test_alone_it_prints_a_short_help(run) -> None:
    done = run()
    assert done.returncode == 0
    assert all(f"\n  {verb} " in done.stdout for verb in [*VERBS, "hook"])
    assert len(done.stdout.splitlines()) < 32
    assert run("--help").stdout == run("help").stdout == done.stdout


def test_version(run) -> None:
    assert run("--version").stdout == f"lessonbook {__version__}\n"


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself_with_an_example(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([verb, "--help"]) == 0
    told = capsys.readouterr()
    assert told.err == "" and "--json" in told.out
    assert f"lessonbook {verb}" in told.out.partition("examples:\n")[2]


def test_a_typo_names_the_near_verb(run) -> None:
    done = run("brif")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "lessonbook: There is no verb 'brif'; did you mean 'brief'? `lessonbook --help` lists them.\n"


def test_a_wrong_argument_is_one_sentence(run) -> None:
    done = run("brief", "--bogus")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert done.stderr.endswith("see `lessonbook brief --help`.\n")


@pytest.mark.parametrize(
    "words", [("brif", "--json"), ("brief", "--bogus", "--json"), ("--json",), ("--json", "config", "get")]
)
def test_errors_are_json_for_a_program(run, words: tuple[str, ...]) -> None:
    done = run(*words)
    answer = json.loads(done.stdout)
    assert done.returncode == 2 and answer["ok"] is False and answer["error"]
    assert done.stderr == ""


def test_a_broken_configuration_is_one_sentence(run, home: Path) -> None:
    file = home / ".config/lessonbook/config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("learning = [")
    done = run("config")
    assert done.returncode == 4 and "not valid TOML" in done.stderr and done.stderr.count("\n") == 1


def test_an_unforeseen_error_leaves_its_details_in_a_file(run, home: Path) -> None:
    (home / ".config/lessonbook").mkdir(parents=True)
    (home / ".config/lessonbook/config.toml").write_text("[memory]\nbackend = 'off'\n")
    script = "import sys; from lessonbook.hosts.cli.main import main; from lessonbook.hosts import registry\n"
    script += "registry.VERBS['boom'] = registry.Verb('no.such.module', 'x'); sys.exit(main(['boom', 'my secret']))"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env, check=False)
    kept = home / ".local/state/lessonbook/last-error.txt"
    assert done.returncode == 70 and str(kept) in done.stderr and "Traceback" not in done.stderr
    assert "Traceback" in kept.read_text() and "my secret" not in kept.read_text()
    env["LESSONBOOK_DEBUG"] = "1"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 70 and "Traceback" in done.stderr


def test_a_reader_that_goes_away_is_no_error() -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    child = subprocess.Popen(
        [sys.executable, "-m", "lessonbook", "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
    )
    assert child.stdout is not None and child.stderr is not None
    child.stdout.close()
    said = child.stderr.read()
    child.stderr.close()
    assert child.wait() == 141 and said == b""


@pytest.mark.parametrize(
    ("redirect", "code"), [(">&-", 0), (">&- 2>&-", 0), (">/dev/full", 5), ("2>/dev/full", 0), ("<&-", 0)]
)
def test_output_that_cannot_be_written_is_no_traceback(redirect: str, code: int) -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = f'exec "{sys.executable}" -m lessonbook config {redirect}'
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, env=env, check=False)
    assert done.returncode == code
    assert done.stderr == ("lessonbook: The answer could not be written: no space left on device.\n" if code else "")


def test_a_wrong_action_names_the_near_one(run) -> None:
    done = run("learned", "acept", "x")
    assert done.returncode == 2 and "'acept' is not one of list, review, diff, accept" in done.stderr
    assert "did you mean 'accept'?" in done.stderr and "rgument do" not in done.stderr
    assert "--scope: 'all' is not one of project, global" in run("learn", "x", "--scope", "all").stderr


def test_options_may_stand_anywhere(run) -> None:
    run("config", "set", "--json", "memory.backend", "mnemopi")
    assert run("learn", "--scope", "project", "--", "--fast breaks it").returncode == 0
    assert run("recall", "breaks", "--limit", "3", "it").stdout == "- --fast breaks it\n"
    assert run("recall", "--", "--fast").stdout == "- --fast breaks it\n"
    assert "is not the id of a candidate" in run("learned", "diff", "--book", "global", "x").stderr


def test_piped_output_has_no_colour_and_any_locale_prints(run, home: Path) -> None:
    done = run("config", env={"FORCE_COLOR": "1", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0 and "\x1b" not in done.stdout
    done = run("config", "get", "agent_dir", env={"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "HOME": str(home / "é")})
    assert "é" in done.stdout


def completed(line: str, answer: Path) -> set[str]:
    """What a shell that asks for completions of ``line`` gets."""
    with answer.open("wb") as into:
        done = subprocess.run(
            ["/bin/sh", "-c", f'exec "{sys.executable}" -m lessonbook 8>&1 9>/dev/null'],
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(sys.path),
                "_ARGCOMPLETE": "1",
                "_ARGCOMPLETE_IFS": "\013",
                "COMP_LINE": line,
                "COMP_POINT": str(len(line)),
            },
            stdout=into,
            check=False,
        )
    assert done.returncode == 0
    return {word.strip() for word in answer.read_text().split("\013")}


def test_completion_knows_the_verbs(run, tmp_path: Path) -> None:
    assert "lessonbook" in run("completion", "fish").stdout
    assert completed("lessonbook le", tmp_path / "answer") == {"learn", "learned"}


def test_completion_knows_settings_and_what_waits(run, tmp_path: Path) -> None:
    asked = tmp_path / "answer"
    assert completed("lessonbook config set autolearn.", asked) == {
        "autolearn.enabled",
        "autolearn.min_tool_calls",
        "autolearn.review",
    }
    assert completed("lessonbook config set memory.backend l", asked) == {"local"}
    run("propose", "--from", str(Path(__file__).resolve().parents[2] / "samples"))
    ids = completed("lessonbook learned accept 2", asked)
    assert len(ids) == 2 and all(id in run("learned").stdout for id in ids)
