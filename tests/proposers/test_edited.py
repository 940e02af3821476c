from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from lessonbook.actions.propose import Report, propose
from lessonbook.core.errors import ModelError
from lessonbook.proposers.edited import Edited
from lessonbook.proposers.means import Means
from lessonbook.system.chat import ask_editor
from lessonbook.system.settings import load, places

Start = Callable[..., Any]
TOLD = "error: unrecognized subcommand 'npm'"
GOOD = "<<<< AGENTS.md evidence: 1\nRun scripts with npm, never with tok npm, which fails.\n>>>>"
SKILL = """\
<<<< skills/run-scripts/SKILL.md evidence: 1
---
name: run-scripts
description: When a script is to be run
---

1. npm run x
>>>>"""


def answered(talk: Start, reply: str, files: dict[str, str] | None = None) -> tuple[list[Any], Edited, list[str]]:
    prompts: list[str] = []

    def chat(prompt: str) -> str:
        prompts.append(prompt)
        return reply

    edited = Edited(Means(chat, files=lambda _: files or {}))
    sessions = [talk(f"s{n}").sh("tok npm run t", TOLD, 2).sh("npm run t", "ok").done() for n in range(3)]
    return list(edited.propose(sessions)), edited, prompts


def test_an_edit_that_cites_its_evidence_is_a_proposal(talk: Start) -> None:
    (rule, skill), edited, (prompt,) = answered(talk, f"Here you are:\n{GOOD}\n{SKILL}\n")
    assert rule.rule == "Run scripts with npm, never with tok npm, which fails."
    assert skill.skill_name == "run-scripts" and "1. npm run x" in skill.skill_text
    assert rule.evidence.count == 3 and len(rule.evidence.sessions) == 3 and rule.proposer == "edited"
    assert "tok npm run t" in prompt and TOLD in prompt and "(there are none yet)" in prompt
    assert edited.passed == []


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (GOOD.replace(" evidence: 1", ""), "which evidence"),
        (GOOD.replace("evidence: 1", "evidence: 1, 9"), "which evidence"),
        (GOOD.replace("AGENTS.md", "README.md"), "no edit may touch"),
        (GOOD.replace("AGENTS.md", "skills/../x/SKILL.md"), "no edit may touch"),
        (GOOD.replace("npm, never", "npm\n\nnever"), "one plain paragraph"),
        (GOOD.replace("Run", "# Run"), "one plain paragraph"),
        (GOOD.replace("tok npm", "x" * 600), "over 500 characters"),
        (GOOD.replace("tok npm", "ghp_" + "a1B2" * 9), "looks like a secret"),
        (GOOD.replace("tok npm", "ana@example.org"), "names a person"),
        (GOOD.replace("tok npm", "[REDACTED]"), "a label"),
        (SKILL.replace("1. npm run x", ""), "needs a non-empty body"),
        (SKILL.replace("description: When a script is to be run\n", ""), "needs a non-empty description"),
    ],
)
def test_an_edit_that_does_not_hold_is_refused_and_said(talk: Start, edit: str, why: str) -> None:
    found, edited, _ = answered(talk, f"{edit}\n{GOOD}")
    assert [one.rule for one in found] == ["Run scripts with npm, never with tok npm, which fails."]
    (refused,) = edited.passed
    assert refused.reason.startswith("refused: ") and why in refused.reason


def test_edits_are_made_on_one_copy(talk: Start) -> None:
    found, edited, (prompt,) = answered(talk, f"{GOOD}\n{GOOD}", {"AGENTS.md": "Be kind.\n"})
    assert len(found) == 1 and "says it already" in edited.passed[0].reason
    assert "Be kind." in prompt
    found, edited, _ = answered(talk, GOOD, {"AGENTS.md": "word " * 395 + "\n"})
    assert found == [] and "past 2,000" in edited.passed[0].reason
    text = "---\nname: run-scripts\ndescription: old\nlicense: MIT\n---\n\n1. tok npm run x\n"
    (change,), _, _ = answered(talk, SKILL, {"skills/run-scripts/SKILL.md": text})
    assert change.title == "Change skill run-scripts" and "license: MIT" in change.skill_text


def test_none_no_form_no_model_and_a_model_that_fails(talk: Start) -> None:
    found, edited, _ = answered(talk, "NONE")
    assert found == [] and edited.passed == []
    found, edited, _ = answered(talk, "I would rather not.")
    assert found == [] and "no edit in the form" in edited.passed[0].reason

    def broken(prompt: str) -> str:
        raise ModelError("The model is away.")

    sessions = [talk(f"s{n}").sh("tok npm run t", TOLD, 2).sh("npm run t", "ok").done() for n in range(3)]
    for means, why in ((Means(broken), "away"), (Means(), "needs an editor model")):
        edited = Edited(means)
        assert list(edited.propose(sessions)) == [] and why in edited.passed[0].reason


class Model:
    """A real server that answers as an OpenAI-compatible one does, and keeps every request whole."""

    def __init__(self, reply: str) -> None:
        bodies: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                bodies.append(f"{self.headers}{self.rfile.read(int(self.headers['Content-Length'])).decode()}")
                data = json.dumps({"choices": [{"message": {"role": "assistant", "content": reply}}]}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args: object) -> None:
                pass

        self.bodies = bodies
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def model() -> Iterator[Model]:
    served = Model(GOOD)
    yield served
    served.close()


PLANTED = {
    "name": "Zelda Quist",
    "other": "Ingmar Vale",
    "mail": "zelda.quist@example.org",
    "phone": "+49 151 2345 6789",
    "path": "/home/zelda/shop",
    "key": "ghp_" + "Q7z9" * 9,
    "address": "203.0.113.77",
}
TRACES = ("zelda", "quist", "ingmar vale", "151 2345", "Q7z9Q7z9", "203.0.113.77")
"""What may be nowhere, in any case."""


def planted(folder: Path) -> None:
    """Two sessions with the values in every field that a transcript has."""
    words = " ".join(PLANTED.values())
    for n in range(3):
        base = {
            "sessionId": f"s{n}",
            "version": "2.1.0",
            "cwd": PLANTED["path"],
            "gitBranch": "zelda/fix",
            "timestamp": f"2026-03-0{n + 1}T10:00:00.000Z",
        }
        calls = [
            (f"tok npm run t -- --as {PLANTED['mail']} {PLANTED['key']}", f"Exit code 2\n{TOLD} for {words}"),
            (f"npm run t -- --as {PLANTED['mail']} {PLANTED['key']}", ""),
            (
                f"curl http://{PLANTED['address']}/x",
                f"Exit code 1\nerror: no route, ask {PLANTED['other']} {words}",
            ),
            ("git log -1", f"Author: {PLANTED['name']} <{PLANTED['mail']}>"),
        ]
        lines: list[dict[str, Any]] = [{"type": "summary", "summary": f"Helping {words}", "leafUuid": f"s{n}-1"}]
        lines.append(base | {"type": "user", "message": {"role": "user", "content": f"Hello, {words} here"}})
        for at, (command, told) in enumerate(calls):
            use = {"type": "tool_use", "id": f"s{n}c{at}", "name": "Bash"}
            use["input"] = {"command": command, "description": f"for {words}"}  # type: ignore[assignment]
            result = {
                "type": "tool_result",
                "tool_use_id": f"s{n}c{at}",
                "content": told or f"ok {words}",
                "is_error": bool(told) and at != 3,
            }
            said = [{"type": "text", "text": f"As {words} said"}, use]
            message = {"id": f"s{n}m{at}", "role": "assistant", "model": "m", "content": said}
            lines.append(base | {"type": "assistant", "message": message})
            lines.append(base | {"type": "user", "message": {"role": "user", "content": [result]}})
        lines.append(
            base | {"type": "user", "message": {"role": "user", "content": f"Never run curl, I told you: {words}"}}
        )
        folder.mkdir(parents=True, exist_ok=True)
        records = [line | {"uuid": f"s{n}-{at}"} for at, line in enumerate(lines)]
        (folder / f"s{n}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in records))


def reported(home: Path, folder: Path, url: str) -> Report:
    where = places({"HOME": str(home)})
    where.config.mkdir(parents=True, exist_ok=True)
    where.config_file.write_text(f'[editor]\nurl = "{url}"\nmodel = "m"\n')
    digits = count(1)
    return propose(
        [folder], where, load(where), now=1_790_000_000, random_hex=lambda: f"{next(digits):06x}",
        env={"HOME": str(home)}, proposers=("repeats", "procedures", "recorded", "edited"),
        chat=lambda prompt: ask_editor(prompt, where, "propose"),
    )  # fmt: skip


def test_what_names_a_person_or_holds_a_key_reaches_no_prompt_and_no_kept_text(
    home: Path, tmp_path: Path, model: Model
) -> None:
    planted(tmp_path / "sessions")
    report = reported(home, tmp_path / "sessions", model.url)
    assert any("never with tok npm" in one.text for one in report.offered), report
    assert model.bodies and "tok npm run t" in model.bodies[0]
    for body in model.bodies:
        assert not [trace for trace in TRACES if trace.casefold() in body.casefold()]
    kept = [path for path in home.rglob("*") if path.is_file()]
    assert any(path.name == "models.jsonl" for path in kept)
    for path in kept:
        assert not [trace for trace in TRACES if trace.casefold().encode() in path.read_bytes().lower()], path
    for book in {one.book for one in report.offered}:
        everything = ("log", "--all", "-p", "--format=%B")
        said = subprocess.run(["git", "-C", str(book), *everything], capture_output=True, text=True, check=True).stdout
        assert "never with tok npm" in said or "Use" in said or "Run" in said
        assert not [trace for trace in TRACES if trace.casefold() in said.casefold()], said


def test_refused_edits_and_missing_models_are_said_on_the_command_line(
    home: Path, tmp_path: Path, run: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    planted(tmp_path / "sessions")
    asked = ("propose", "--from", str(tmp_path / "sessions"), "--proposer", "edited", "--dry-run")
    done = run(*asked)
    assert done.returncode == 4 and "needs an editor model" in done.stderr
    served = Model(GOOD.replace("evidence: 1", "evidence: 77"))
    try:
        config = home / ".config" / "lessonbook" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(f'[editor]\nurl = "{served.url}"\nmodel = "m"\n')
        done = run(*asked)
    finally:
        served.close()
    assert "refused edit of AGENTS.md: Run scripts with npm" in done.stdout
    assert "does not say which evidence" in done.stdout
    assert run("propose", "--proposer", "magic").returncode == 2
