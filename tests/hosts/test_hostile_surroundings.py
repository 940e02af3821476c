"""The command under a hostile shell: full disks, odd locales, pipes in the place of files, two at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


def _shell(line: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = line.replace("lessonbook", f"{sys.executable} -m lessonbook")
    return subprocess.run(["sh", "-c", command], env=env, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("verb", ["status", "learned", "nosuch", "recall x", "--version", "config get nope"])
def test_a_document_that_cannot_be_written_is_one_sentence(verb: str) -> None:
    done = _shell(f"lessonbook {verb} --json >/dev/full")
    assert done.returncode not in (0, 70)
    assert done.stderr.startswith("lessonbook: ") and done.stderr.count("\n") == 1, done.stderr


@pytest.mark.parametrize("backend", ["local", "mnemopi"])
def test_what_a_person_types_is_utf_8_where_the_locale_cannot_say_so(run: Any, backend: str) -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    run("config", "set", "memory.backend", backend)
    assert run("learn", "Grüße aus 日本 😀", "--context", "für später", env=plain).returncode == 0
    found = json.loads(run("recall", "Grüße", "--json", env=plain).stdout)["lessons"]
    assert [(one["text"], one["context"]) for one in found] == [("Grüße aus 日本 😀", "für später")]


@pytest.mark.parametrize(("backend", "file"), [("local", "memories/{name}/learned.md"), ("mnemopi", "bank.db")])
def test_a_pipe_in_the_place_of_a_store_is_refused_and_not_waited_for(
    run: Any, home: Path, tmp_path: Path, backend: str, file: str
) -> None:
    run("config", "set", "memory.backend", backend)
    name = "--" + str(tmp_path / "work")[1:].replace("/", "-") + "--"
    path = home / ".local" / "share" / "lessonbook" / "agent" / file.format(name=name)
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    for words in (("learn", "x"), ("recall", "x")):
        done = run(*words)
        assert done.returncode in (1, 5) and "not a regular file" in done.stderr


def test_no_configuration_may_be_the_null_device(run: Any) -> None:
    env = {"LESSONBOOK_CONFIG": "/dev/null"}
    assert run("learned", "status", env=env).stdout == "learning is on\n"
    assert run("config", "get", "memory.backend", env=env).stdout == "off\n"


def test_two_at_once_propose_nothing_twice(run: Any) -> None:
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda _: run("propose", "--from", str(SAMPLES), "--json"), range(2)))
    assert [one.returncode for one in done] == [0, 0]
    offered = [row["title"] for one in done for row in json.loads(one.stdout)["offered"]]
    assert offered and len(offered) == len(set(offered))


@pytest.mark.parametrize("do", ["list", "on", "off", "status"])
def test_an_id_where_none_belongs_is_refused_and_nothing_is_done(run: Any, home: Path, do: str) -> None:
    done = run("learned", do, "20270301-080000-0000aa", "--json")
    assert done.returncode == 2 and json.loads(done.stdout)["ok"] is False
    assert not (home / ".config").exists()


@pytest.mark.parametrize(
    "words",
    [
        *((verb, "--from", "~nobody-here/x") for verb in ("propose", "findings", "report", "watch", "health")),
        ("export", "x", "--output", "~nobody-here/x"),
        ("memory", "export", "~nobody-here/x"),
        ("memory", "import", "~nobody-here/x"),
        ("memory", "backup", "~nobody-here/x"),
        ("skills", "--cwd", "~nobody-here/x"),
    ],
    ids=" ".join,
)
def test_the_home_of_nobody_is_one_sentence(run: Any, words: tuple[str, ...]) -> None:
    run("config", "set", "memory.backend", "mnemopi")
    done = run(*words)
    assert done.returncode not in (0, 70), done.stderr
    assert done.stderr.startswith("lessonbook: ") and "unexpected" not in done.stderr
