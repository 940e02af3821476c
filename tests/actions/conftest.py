"""A place where nights can be spent: a repository, a session that went a long way in it, an agent and two models.

The agent is the scripted one that is shipped; the models are a small program that notes every prompt it is shown.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from lessonbook.actions.night_note import record_of
from lessonbook.actions.nightly import Nightly
from lessonbook.actions.session_notes import note_end, note_start, session_folder
from lessonbook.system.night_settings import load_night
from lessonbook.system.settings import environment, load, places

SESSION = "5f0c2c1e-8a77-4d6a-9c61-0d8f6a1b2c3d"
REQUEST = "Add the size 44 to sizes.txt and check it."
RULE = "Run `sh check.sh` to check the sizes; there is no `make check` here."
MODEL = """\
import json, pathlib, sys
here, name = pathlib.Path(sys.argv[1]), sys.argv[2]
prompt = sys.stdin.buffer.read().decode()
with (here / f"{name}.prompts").open("a") as log:
    log.write(json.dumps(prompt) + "\\n")
sys.stdout.write((here / f"{name}.reply").read_text())
"""
LONG = [
    {"run": "make check-the-sizes"},
    {"run": "make check-the-sizes"},
    {"write": "sizes.txt", "text": "42\n43\n44\n"},
    {"run": "sh check.sh"},
    {"say": "The size 44 is in, and the check is green."},
]
SHORT = [*LONG[2:4], {"say": "Size 44 added; checked."}]
GOOD = {"first_is_as_good": True, "second_is_as_good": True}
EDIT = {"title": "Check sizes with sh check.sh", "rule": RULE, "book": "project"}


@dataclass
class Place:
    """Everything a night meets. ``config`` is written before each one; ``now`` is its clock, in epoch seconds."""

    home: Path
    work: Path
    repo: Path
    now: float = 1_780_000_000.0
    ids: list[str] = field(default_factory=lambda: [f"{number:06x}" for number in range(1, 4000)])
    nightly: dict[str, Any] = field(default_factory=dict)
    more: str = ""

    @property
    def state(self) -> Path:
        return self.home / ".local/state/lessonbook"

    @property
    def nights(self) -> Path:
        return self.state / "nights"

    def routes(self, long: list[dict[str, Any]] = LONG, short: list[dict[str, Any]] = SHORT, **more: Any) -> None:
        """Script the agent: the short way where the lesson is in the prompt."""
        routes = [{"when": "sh check.sh", "steps": short, "cost": 0.01} | more, {"steps": long, "cost": 0.02} | more]
        (self.work / "script.json").write_text(json.dumps(routes))

    def says(self, name: str, reply: object) -> None:
        """Script a model: what it answers from now on."""
        (self.work / f"{name}.reply").write_text(reply if isinstance(reply, str) else json.dumps(reply))

    def prompts(self, name: str) -> list[str]:
        """Every prompt a model was shown."""
        path = self.work / f"{name}.prompts"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def configure(self) -> None:
        def model(name: str) -> str:
            return json.dumps([sys.executable, str(self.work / "model.py"), str(self.work), name])

        rows = {"agent": "scripted", "answer_dollars": 0.05} | self.nightly
        agent = [sys.executable, "-m", "lessonbook.testing_agent", str(self.work / "script.json")]
        text = "\n".join(
            [
                "[nightly]",
                *(f"{key} = {json.dumps(value)}" for key, value in rows.items()),
                f"[editor]\ncommand = {model('editor')}",
                f"[judge]\ncommand = {model('judge')}",
                f"[agents.scripted]\ncommand = {json.dumps([*agent, '--session', '{session}'])}",
                'reader = "claude"\nrun_dollars = 0.1',
                self.more,
            ]
        )
        file = self.home / ".config/lessonbook/config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def night(self, **options: Any) -> dict[str, Any]:
        """Spend one night and return its record."""
        self.configure()
        where = places()
        night = Nightly(
            where,
            load(where),
            load_night(where),
            clock=lambda: self.now,
            random_hex=lambda: self.ids.pop(0),
            env=environment(),
            **options,
        )
        return record_of(night.run())

    def session(self, id: str = SESSION, prompt: str = REQUEST, noted: bool = True) -> Path:
        """Have a session in the repository, as an agent that is set up has it; return its transcript."""
        notes = session_folder(self.state, "claude", id)
        if noted:
            note_start(notes, self.repo)
        self.agent(prompt, id)
        (transcript,) = (self.home / ".claude/projects").rglob(f"{id}.jsonl")
        note_end(notes, "claude", id, {"transcript": str(transcript), "cwd": str(self.repo)}, self.now - 3600)
        self.git("checkout", "-q", "--", ".")
        return transcript

    def agent(self, prompt: str, id: str) -> None:
        words = [sys.executable, "-m", "lessonbook.testing_agent", str(self.work / "script.json"), "--session", id]
        subprocess.run(words, cwd=self.repo, input=prompt.encode(), env=os.environ, check=True, capture_output=True)

    def git(self, *words: str, folder: Path | None = None) -> str:
        env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        own = ["git", "-C", str(folder or self.repo), "-c", "user.name=Ana", "-c", "user.email=ana@example.org"]
        return subprocess.run([*own, *words], env=env, check=True, capture_output=True, text=True).stdout

    def commit(self, files: Mapping[str, str]) -> str:
        for name, text in files.items():
            (self.repo / name).parent.mkdir(parents=True, exist_ok=True)
            (self.repo / name).write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "By hand")
        return self.git("rev-parse", "HEAD").strip()

    def pending(self) -> list[str]:
        """The ids of every candidate of every book."""
        books = [self.home / ".config/lessonbook/learned", *self.home.glob(".config/lessonbook/projects/*/learned")]
        refs = ("for-each-ref", "--format=%(refname:lstrip=3)", "refs/heads/pending")
        return [id for book in books if (book / ".git").exists() for id in self.git(*refs, folder=book).split()]


@pytest.fixture
def place(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Place]:
    """``place()``: a repository with one session that went a long way, and everything set up to improve on it."""

    def made(request: str = REQUEST) -> Place:
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
            monkeypatch.delenv(name, raising=False)
            monkeypatch.delenv(name.lower(), raising=False)
        work, repo = tmp_path / "work", tmp_path / "shop"
        work.mkdir(exist_ok=True)
        repo.mkdir()
        one = Place(home, work, repo)
        (work / "model.py").write_text(MODEL)
        one.git("init", "-q", "-b", "main")
        one.commit({"sizes.txt": "42\n43\n", "check.sh": "grep -q 44 sizes.txt\n"})
        one.routes()
        one.says("editor", EDIT)
        one.says("judge", GOOD)
        one.session(prompt=request)
        return one

    return made
