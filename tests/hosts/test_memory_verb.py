"""``lessonbook memory`` and what else the command line says of a bank, as a person and a program use it."""

from __future__ import annotations

import json
import os
import pty
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from lessonbook.core.errors import InputError
from lessonbook.hosts.cli import memory as verb
from lessonbook.hosts.cli import memory_acts
from lessonbook.hosts.cli.parser import for_verb

MODEL = """\
import sys
prompt = sys.stdin.read()
assert "failed" in prompt
print("<summary>Deploys failed on the mirror.</summary>")
"""


@pytest.fixture
def bank(home: Path) -> Path:
    return home / ".local/share/lessonbook/agent/bank.db"


@pytest.fixture
def told(run: Any) -> Any:
    """``run``, with a bank of two lessons: 1 is about ports, 2 about quoting."""
    run("config", "set", "memory.backend", "mnemopi")
    beside = ("--title", "Port", "--tag", "db", "--tag", "ci", "--key", "port", "--cue", "tests fail")
    run("learn", "Tests need port 5433.", "--context", "red build", *beside, "--component", "db", "--confidence", "0.9")
    run("learn", "Quote every path.", "--evidence", "run 7")
    return run


def as_json(run: Any, *words: str) -> dict[str, Any]:
    done = run(*words, "--json")
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["ok"] is (done.returncode == 0), done.stdout
    return found


def change(bank: Path, script: str) -> None:
    with closing(sqlite3.connect(bank)) as db:
        db.executescript(script)


# learn and recall


def test_learn_keeps_what_is_said_beside_the_text(told: Any) -> None:
    lesson = as_json(told, "memory", "show", "1")["lesson"]
    fields = ("title", "tags", "key", "cue", "component", "confidence", "evidence")
    assert [lesson[name] for name in fields] == ["Port", ["db", "ci"], "port", "tests fail", "db", 0.9, None]
    done = told("learn", "Tests need port 5434.", "--key", "port")
    assert done.stdout == "Lesson stored. It takes the place of what was kept under the key “port”.\n"
    assert as_json(told, "memory", "show", "1")["lesson"]["text"] == "Tests need port 5434."
    for wrong in ("2", "-1", "nan"):
        done = told("learn", "Not kept.", f"--confidence={wrong}")
        assert done.returncode == 2 and "0 to 1" in done.stderr
    assert len(as_json(told, "memory")["lessons"]) == 2


def test_a_memory_that_keeps_only_words_says_so(run: Any) -> None:
    run("config", "set", "memory.backend", "local")
    done = run("learn", "Run make.", "--title", "Make", "--tag", "x")
    assert done.returncode == 0
    assert done.stdout == "Lesson stored. The local memory keeps its words alone, not its title, tags.\n"


def test_recall_says_why_and_how_to_weigh_it(told: Any) -> None:
    told("learn", "Tests need port 5434 now.")
    told("memory", "invalidate", "1", "--by", "3")
    lines = told("recall", "port").stdout.splitlines()
    assert "- Tests need port 5434 now." in lines
    assert "- Tests need port 5433. (context: red build) [lesson 3 took its place]" in lines
    for one in as_json(told, "recall", "port")["lessons"]:
        assert isinstance(one["parts"], list) and one["marks"] == (
            ["lesson 3 took its place"] if one["id"] == "1" else []
        )
    why = told("recall", "port", "--why").stdout
    assert why.count("\n    ") >= 2
    assert told("recall", "--why").returncode == 2


# list and show


def test_the_list(told: Any) -> None:
    rows = [line.split("\t") for line in told("memory").stdout.splitlines()]
    assert [(row[0], row[2], row[3]) for row in rows] == [
        ("2", "fact", "Quote every path."), ("1", "fact", "Port: Tests need port 5433."),
    ]  # fmt: skip
    assert told("memory", "list", "--tag", "CI").stdout.startswith("1\t")
    assert told("memory", "list", "--type", "episode").stderr == "No lesson is like that.\n"
    done = told("memory", "list", "--limit", "1")
    assert done.stdout.startswith("2\t") and "--after 2" in done.stderr
    assert told("memory", "list", "--after", "2").stdout.startswith("1\t")
    assert as_json(told, "memory", "list", "--limit", "1")["after"] == "2"
    assert as_json(told, "memory", "list", "--after", "2")["after"] is None
    assert told("memory", "list", "--limit", "0").returncode == 2


def test_nothing_is_no_error(run: Any, bank: Path) -> None:
    run("config", "set", "memory.backend", "mnemopi")
    assert run("memory").stderr == "Nothing is remembered for this project yet.\n"
    for do in ("list", "contradictions", "merges", "sleep", "stats", "diagnose"):
        done = run("memory", do)
        assert (done.returncode, bank.exists()) == (0, False), do
        assert as_json(run, "memory", do)["ok"]
    for words in (("show", "1"), ("backup", "x.db"), ("vacuum",)):
        assert run("memory", *words).returncode == 2


def test_one_with_all_that_belongs_to_it(told: Any) -> None:
    told("learn", "Tests need port 5433.", "--context", "again")
    told("memory", "edit", "1", "--title", "Ports")
    lines = told("memory", "show", "1").stdout.splitlines()
    assert lines[0] == "Tests need port 5433." and "title                Ports" in lines
    place = lines.index("told in:")
    assert [line.partition("  (")[0] for line in lines[place + 1 : place + 3]] == ["  red build", "  again"]
    assert any("updated  title was “Port”" in line for line in lines)
    found = as_json(told, "memory", "show", "1")["lesson"]
    assert [one["context"] for one in found["contexts"]] == ["red build", "again"]
    assert found["history"][0]["before"]["title"] == "Port"


# changes


def test_every_change_can_be_taken_back(told: Any) -> None:
    for words, shown in (
        (("edit", "1", "--text", "Use 5434.", "--clear", "key", "--clear", "tags"), "changed 1  Use 5434."),
        (("forget", "1"), "forgot 1  Use 5434."),
    ):
        done = told("memory", *words)
        assert done.stdout == f"{shown}\n`lessonbook memory undo 1` takes that back\n"
    assert told("memory", "list", "--forgotten").stdout.startswith("1\t")
    assert told("recall", "5434").stdout == ""
    assert "took back:" in told("memory", "undo", "1").stdout
    assert told("recall", "5434").stdout.startswith("- Use 5434.")
    lesson = as_json(told, "memory", "undo", "1")["lesson"]
    assert (lesson["text"], lesson["tags"], lesson["key"]) == ("Tests need port 5433.", ["db", "ci"], "port")
    assert told("memory", "undo", "1").returncode == 2
    history = told("memory", "history", "1").stdout
    assert history.count("(undone)") == 2 and "text was “Tests need port 5433.”" in history
    assert [one["undone"] for one in as_json(told, "memory", "history", "1")["history"]] == [True, True]


def test_pins(told: Any) -> None:
    assert told("memory", "pin", "1").stdout.startswith("pinned 1")
    assert "[pinned]" in told("memory").stdout and told("memory", "pin", "1").returncode == 2
    assert told("memory", "unpin", "1").stdout.startswith("unpinned 1")


def test_edit_by_options_and_by_an_editor(told: Any) -> None:
    edits = ("--type", "procedure", "--veracity", "stated", "--importance", "0", "--valid-until", "2030-01-01")
    lesson = as_json(told, "memory", "edit", "2", *edits, "--scope", "global", "--tag", "sh")["lesson"]
    fields = ("memory_type", "veracity", "importance", "valid_until", "scope", "tags", "bank")
    assert [lesson[name] for name in fields] == [
        "procedure",
        "stated",
        0.0,
        1_893_456_000.0,
        "global",
        ["sh"],
        "global",
    ]
    done = told("memory", "edit", "2", env={"EDITOR": "sed -i s/every/each/"})
    assert done.stdout.startswith("changed 2  Quote each path.")
    assert told("memory", "edit", "2", env={"EDITOR": "true"}).stdout == "2 is as it was\n"
    done = told("memory", "edit", "2", env={"EDITOR": "sed -i 's/^importance:.*/importance: 9/'"})
    assert done.returncode == 2 and "number from 0 to 1" in done.stderr
    assert told("memory", "edit", "2", env={"EDITOR": "", "VISUAL": ""}).returncode == 4
    assert told("memory", "edit", "2", env={"EDITOR": "false"}).returncode == 2
    for wrong in (("--veracity", "sure"), ("--confidence", "2"), ("--clear", "text"), ("--valid-until", "soon")):
        assert told("memory", "edit", "2", *wrong).returncode == 2
    assert told("memory", "edit", "2", "--key", "port", "--scope", "project").returncode == 2, "1 has that key"


def test_erase_is_asked_for_and_final(told: Any, bank: Path, tmp_path: Path) -> None:
    done = told("memory", "erase", "1")
    assert done.returncode == 2 and "erase 1 --yes" in done.stderr
    assert on_terminal("memory", "erase", "1", answer="no\n", cwd=tmp_path / "work")[0] == 1
    code, shown = on_terminal("memory", "erase", "1", answer="yes\n", cwd=tmp_path / "work")
    assert code == 0 and "Erasing is final" in shown and "erased 1 for good" in shown
    assert told("memory", "show", "1").returncode == 2
    assert told("memory", "erase", "2", "--yes").returncode == 0
    assert b"5433" not in bank.read_bytes() and b"red build" not in bank.read_bytes()


def on_terminal(*words: str, answer: str, cwd: Path) -> tuple[int, str]:
    """The exit code and what a person sees who types ``answer``."""
    master, slave = pty.openpty()
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm"}
    child = subprocess.Popen(
        [sys.executable, "-m", "lessonbook", *words], stdin=slave, stdout=slave, stderr=slave, cwd=cwd, env=env
    )
    os.close(slave)
    os.write(master, answer.encode())
    seen = b""
    try:
        while part := os.read(master, 4096):
            seen += part
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(master)
    return child.wait(), seen.decode()


# pairs


def test_contradictions_and_twins_are_decided_by_a_person(told: Any, bank: Path) -> None:
    told("learn", "Quote each and every path.")
    change(bank, "INSERT INTO contradictions VALUES (3, 1, 'test', 'one says 1, the other 2', 5.0, NULL);")
    shown = told("memory", "contradictions").stdout
    assert "one says 1, the other 2\n  3  Quote each and every path.\n  1  Tests need port 5433." in shown
    assert "`lessonbook memory invalidate 1 --by 3`" in shown and "`lessonbook memory dismiss 3 1`" in shown
    assert told("memory", "dismiss", "1", "3").stdout == "1 and 3 both stand\n"
    assert as_json(told, "memory", "contradictions")["contradictions"] == []
    assert told("memory", "dismiss", "1", "3").returncode == 2
    assert as_json(told, "memory", "sleep")["twins"] == 1
    [pair] = as_json(told, "memory", "merges")["merges"]
    assert (pair["kept"], pair["other"], pair["other_text"]) == ("3", "2", "Quote every path.")
    assert "`lessonbook memory merge 3 2`" in told("memory", "merges").stdout
    assert "`lessonbook memory undo 2` parts them" in told("memory", "merge", "3", "2").stdout
    assert "[replaced by 3]" in told("memory").stdout
    told("memory", "undo", "2")
    assert told("memory", "apart", "2", "3").stdout == "2 and 3 stay apart\n"
    assert told("memory", "merge", "3", "3").returncode == 2 and told("memory", "merge", "3", "9").returncode == 2


# care


def test_counts_checks_and_room(told: Any, bank: Path) -> None:
    found = as_json(told, "memory", "stats")
    assert found["states"]["all"] == 2 and found["bytes_per_lesson"] and found["file"] == str(bank)
    assert told("memory", "stats").stdout.splitlines()[0].split() == ["lessons", "2"]
    done = told("memory", "diagnose", "--deep")
    assert done.returncode == 0 and done.stdout.endswith("\nnothing is wrong\n") and "ok     words: " in done.stdout
    assert as_json(told, "memory", "vacuum")["after"] <= as_json(told, "memory", "stats")["bytes"]
    change(bank, "DELETE FROM words_data WHERE id > 10;")
    for words in (("diagnose",), ("diagnose", "--deep")):
        done = told("memory", *words)
        assert done.returncode == 1 and "WRONG  index" in done.stdout, done.stdout
        assert as_json(told, "memory", *words)["ok"] is False


def test_a_backup_is_a_bank_and_never_overwrites(told: Any, tmp_path: Path) -> None:
    done = told("memory", "backup", "copy.db")
    copy = tmp_path / "work" / "copy.db"
    assert done.stdout == f"backed up to {copy}: {copy.stat().st_size:,} bytes, checked\n"
    assert told("memory", "backup", "copy.db").returncode == 2
    told("memory", "erase", "1", "--yes")
    assert as_json(told, "memory", "import", "copy.db")["files"][0] | {"file": ""} | {"banks": 0} == {
        "file": "", "kind": "bank", "stored": 1, "banks": 0, "known": 1, "replaced": 0, "contradicting": 0,
        "derived": 0, "other_banks": {}, "notes": {}, "problems": 0,
    }  # fmt: skip
    assert "Tests need port 5433." in told("memory").stdout


def test_out_and_in(told: Any, tmp_path: Path) -> None:
    lines = told("memory", "export").stdout
    assert json.loads(lines.splitlines()[0])["lessonbook"] == 1 and lines.count("\n") == 3
    assert [one["text"] for one in as_json(told, "memory", "export")["lessons"]] == [
        "Tests need port 5433.", "Quote every path.",
    ]  # fmt: skip
    assert told("memory", "export", "out.jsonl").stdout.startswith("exported 2 to ")
    assert (tmp_path / "work" / "out.jsonl").read_text() == lines
    assert told("memory", "export", "out.jsonl").returncode == 2
    done = told("memory", "import", "out.jsonl", "--scope", "global")
    assert "2 stored (2 in global), 0 were there already" in done.stdout
    (tmp_path / "work" / "broken.jsonl").write_text('{"lessonbook": 1}\nnonsense\n')
    done = told("memory", "import", "broken.jsonl")
    assert done.returncode == 1 and "not read: " in done.stdout
    assert told("memory", "import", "none.jsonl").returncode == 2


def test_hidden_signs_of_an_export_stay_json_in_a_pipe(told: Any, tmp_path: Path) -> None:
    told("learn", "Keep the ‌joiner, the 👩‍💻 and \\ as they are.")
    told("memory", "export", "out.jsonl")
    lines = told("memory", "export").stdout
    assert lines == (tmp_path / "work" / "out.jsonl").read_text("utf-8")
    assert "👩‍💻 and \\ as" in json.loads(lines.splitlines()[-1])["text"]


def test_sleep_has_a_model_read_lessons_and_says_what_it_needs(told: Any, home: Path, tmp_path: Path) -> None:
    done = told("memory", "sleep", "--extract")
    assert done.returncode == 4 and "extracting needs an editor model" in done.stderr
    script = tmp_path / "model.py"
    script.write_text("""print('{"entities": [{"kind": "tool", "value": "Gizmo"}]}')""")
    config = home / ".config/lessonbook/config.toml"
    config.write_text(f"{config.read_text()}\n[editor]\ncommand = [{sys.executable!r}, {str(script)!r}]\n")
    told("learn", "The Gizmo box needs the blue cable.")
    done = told("memory", "sleep", "--extract")
    assert done.returncode == 0 and "read by the editor model" in done.stdout
    assert "Gizmo" in told("memory", "list", "--about", "gizmo").stdout
    told("learn", "Another Gizmo hums.")
    script.write_text("raise SystemExit('gone')")
    done = told("memory", "sleep", "--extract")
    assert done.returncode == 6 and "gone" in done.stdout and "1 lesson left" in done.stdout
    told_json = json.loads(told("memory", "sleep", "--extract", "--json").stdout)
    assert (told_json["ok"], told_json["extracted"]["left"]) == (False, 1)
    assert told("memory", "list", "--extract").returncode == 2


def test_sleep_sums_up_with_a_model_and_says_what_it_needs(told: Any, bank: Path, home: Path, tmp_path: Path) -> None:
    done = told("memory", "sleep", "--summarise")
    assert done.returncode == 4 and "summing up old episodes needs an editor model" in done.stderr
    for n in range(3):
        told("learn", f"Deploy {n} failed: the mirror was down.", "--component", "deploy")
    change(bank, "UPDATE lessons SET memory_type = 'episode', seen = 5.0 WHERE component = 'deploy';")
    script = tmp_path / "model.py"
    script.write_text(MODEL)
    config = home / ".config/lessonbook/config.toml"
    config.write_text(f"{config.read_text()}\n[editor]\ncommand = [{sys.executable!r}, {str(script)!r}]\n")
    done = told("memory", "sleep", "--summarise")
    assert done.returncode == 0 and "summed up 3, 4, 5 as 6  Deploys failed on the mirror." in done.stdout
    assert json.loads((home / ".local/state/lessonbook/models.jsonl").read_text())["purpose"] == "summary"
    assert as_json(told, "memory", "show", "3")["lesson"]["superseded_by"] == "6"
    assert told("memory", "undo", "3").returncode == 0
    assert "nothing was summed up" in told("memory", "sleep", "--summarise").stdout
    change(bank, "UPDATE lessons SET invalid = NULL, superseded_by = NULL;")
    script.write_text("print('no')")
    done = told("memory", "sleep", "--summarise")
    assert done.returncode == 6 and "not summed up: 3, 4, 5: the editor model's summary was refused" in done.stdout
    assert json.loads(told("memory", "sleep", "--summarise", "--json").stdout)["ok"] is False


# the rest


def test_the_local_memory_offers_what_a_file_can(run: Any, tmp_path: Path) -> None:
    assert run("memory").returncode == 4
    run("config", "set", "memory.backend", "local")
    assert run("memory", "list").stderr == "Nothing is remembered for this project yet.\n"
    run("learn", "Quote every path.", "--context", "a red build")
    (row,) = json.loads(run("memory", "list", "--json").stdout)["lessons"]
    assert (row["text"], row["context"], row["created"]) == ("Quote every path.", "a red build", None)
    shown = run("memory", "show", row["id"])
    assert shown.stdout.startswith("Quote every path.\n") and "  a red build\n" in shown.stdout
    assert run("memory", "show", "x").returncode == 2 and run("memory", "list", "--tag", "a").returncode == 2
    lines = run("memory", "export").stdout.splitlines()
    assert [json.loads(line).get("text") for line in lines] == [None, "Quote every path."]
    done = run("memory", "forget", row["id"])
    assert done.returncode == 4 and "learned.md: remove the line." in done.stderr
    (tmp_path / "l.jsonl").write_text("\n".join(lines))
    run("config", "set", "memory.backend", "mnemopi")
    assert "1 stored" in run("memory", "import", str(tmp_path / "l.jsonl")).stdout


def test_every_action_has_an_act_and_every_option_an_action() -> None:
    assert set(verb.ACTIONS) == set(memory_acts.ACTS)
    parser = for_verb("memory", verb)
    options = {action.dest for action in parser._actions} - {"help", "do", "names", "cwd", "json"}
    assert options == set(verb._OPTIONS)
    assert {action for actions in verb._OPTIONS.values() for action in actions.split()} <= set(verb.ACTIONS)


@pytest.mark.parametrize(
    "words",
    [
        ("show",), ("show", "1", "2"), ("merge", "1"), ("merge", "1", "2", "3"), ("stats", "1"), ("list", "1"),
        ("backup",), ("backup", "a", "b"), ("export", "a", "b"), ("import",), ("show", "1", "--deep"),
        ("list", "--text", "x"), ("forget", "1", "--by", "2"), ("stats", "--confidence", "0"), ("list", "--yes"),
        ("edit", "1", "--about", "x"), ("list", "--tag", "a", "--tag", "b"),
    ],
)  # fmt: skip
def test_what_does_not_belong_is_refused_before_anything_is_done(told: Any, words: tuple[str, ...]) -> None:
    done = told("memory", *words)
    assert done.returncode == InputError.exit_code and done.stderr.count("\n") == 1 and done.stdout == ""


def test_what_was_typed_is_never_repeated_at_length(told: Any) -> None:
    long = "9" * 5_000
    for words in (("show", long), ("merge", long, "1"), ("edit", "1", "--clear", long), ("list", "--after", long)):
        done = told("memory", *words)
        assert done.returncode == 2 and len(done.stderr) < 400
