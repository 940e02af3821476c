"""The transcript cases, end to end: damaged files in an agent's own folder, and our own words in its sessions."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Commit = Callable[..., Path]
LESSON = "Never push to main here, open a pull request."


class Log:
    """Writes one Claude Code session, record by record."""

    def __init__(self, path: Path, cwd: Path, day: int = 1) -> None:
        self.path, self.cwd, self.day, self.records = path, cwd, day, list[dict[str, Any]]()

    def add(self, kind: str, **more: Any) -> None:
        at = len(self.records)
        stamp = f"2026-03-{self.day:02}T10:{at // 60:02}:{at % 60:02}.000Z"
        common = {"type": kind, "uuid": f"{self.path.stem}-{at}", "sessionId": self.path.stem, "cwd": str(self.cwd)}
        self.records.append({**common, "timestamp": stamp, "version": "2.1.0", **more})

    def ask(self, text: str) -> None:
        self.add("user", message={"role": "user", "content": text})

    def call(self, name: str, result: str, **args: Any) -> None:
        id = f"toolu_{self.path.stem}_{len(self.records)}"
        block: dict[str, Any] = {"type": "tool_use", "id": id, "name": name, "input": args}
        self.add("assistant", message={"role": "assistant", "id": f"m{id}", "content": [block]})
        block = {"type": "tool_result", "tool_use_id": id, "content": result}
        self.add("user", message={"role": "user", "content": [block]})

    def lines(self) -> list[bytes]:
        return [json.dumps(record, ensure_ascii=False).encode() for record in self.records]

    def save(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(b"\n".join(self.lines()) + b"\n")


@pytest.fixture
def root(home: Path) -> Path:
    folder = home / ".claude/projects/-shop"
    folder.mkdir(parents=True)
    return folder


def digests(root: Path) -> dict[str, str]:
    files = (path for path in root.rglob("*") if path.is_file() and path.stat().st_size)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_tr_01_every_good_record_around_the_damage_is_read_and_the_rest_is_told(
    run, root: Path, tmp_path: Path
) -> None:
    log = Log(root / "damaged.jsonl", tmp_path)
    for n in range(4):
        log.ask(f"request {n}")
    good = log.lines()
    damage = [
        b'{"type":"user","mess' + good[1], b"\0" * 400, b"", b"[]", b'"x"', b"null", b'{"type":"future-kind"}',
        b"[" * 200_000, b'{"type":"user","n":' + b"9" * 5_000 + b"}", b"NaN", b'{"x":"' + b"y" * (30 << 20) + b'"}',
        b"\xff\xfe not UTF-8 \x00",
    ]  # fmt: skip
    log.path.write_bytes(b"\n".join([good[0], *damage, good[2], good[3], good[3][:60]]))
    cut = Log(root / "cut.jsonl", tmp_path, day=2)
    cut.ask("first, cut")
    cut.ask("second, whole")
    cut.path.write_bytes(b"\n".join([cut.lines()[0][40:], cut.lines()[1]]))
    (root / "empty.jsonl").touch()
    (root / "noise.jsonl").write_bytes(bytes(range(256)) * 20)
    (root / "gone.jsonl").symlink_to(root / "nowhere")
    os.mkfifo(root / "pipe.jsonl")
    (root / "notes.txt").write_text("not a session, and no business of ours")
    before = digests(root)
    told = json.loads(run("propose", "--json").stdout)
    counts = told["agents"]["claude"]
    assert (counts["files"], counts["sessions"], counts["turns"]) == (2, 2, 5)
    assert counts["skipped"] == {
        "torn line": 1,
        "run of NUL bytes": 2,  # the 400, and the one behind the bytes that are no text
        "line that is not an object": 4,
        "line that is not JSON": 2,
        "line nested too deeply": 1,
        "line over 16 MiB": 1,
        "line with bytes that are not UTF-8 (replaced)": 1,
        "unfinished last line": 1,
    }
    assert {Path(path).name for path in told["unread"]} == {"empty.jsonl", "noise.jsonl", "gone.jsonl", "pipe.jsonl"}
    text = run("propose").stdout
    assert "lines skipped (" in text and "not read: " in text and "notes.txt" not in text
    assert digests(root) == before


def test_tr_01_a_file_that_grows_while_it_is_read(run, root: Path, tmp_path: Path) -> None:
    log = Log(root / "growing.jsonl", tmp_path)
    for n in range(2_000):
        log.ask(f"request {n}")
    lines = log.lines()
    log.path.write_bytes(b"\n".join(lines[:500]) + b"\n")
    stop = threading.Event()

    def grow() -> None:
        with log.path.open("ab", buffering=0) as file:
            for line in lines[500:]:
                file.write(line[:30])
                file.write(line[30:] + b"\n")
                if stop.wait(0.0002):
                    return

    writer = threading.Thread(target=grow)
    writer.start()
    done = run("propose", "--json")
    stop.set()
    writer.join()
    counts = json.loads(done.stdout)["agents"]["claude"]
    assert done.returncode == 0 and 500 <= counts["turns"] <= 2_000
    assert set(counts["skipped"]) <= {"unfinished last line"}


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_tr_02_line_separators_and_surrogates_inside_strings(run, here, root: Path, tmp_path: Path, end: bytes) -> None:
    for n in range(2):
        log = Log(root / f"s{n}.jsonl", tmp_path, day=n + 1)
        log.ask("go")
        lesson = "Keep one\u2028line and two\u0085words 😀 of the deploy notes SURROGATE together."
        log.call("save_memory", "ok", fact=lesson)
        log.ask("done")
        data = end.join(log.lines()) + end
        log.path.write_bytes(data.replace("😀".encode(), b"\\ud83d\\ude00").replace(b"SURROGATE", b"\\udc88"))
    told = json.loads(here("propose", "--json").stdout)
    assert (
        told["agents"]["claude"] | {"skipped": {}} == told["agents"]["claude"]
        and told["agents"]["claude"]["turns"] == 4
    )
    (one,) = told["offered"]
    assert one["text"] == "Keep one line and two words 😀 of the deploy notes � together."
    done = here("learned", "diff", one["id"])
    assert (
        "+Keep one line and two words 😀" in done.stdout and "\u2028" not in done.stdout and "\x85" not in done.stdout
    )
    assert here("learned", "accept", one["id"]).returncode == 0
    assert "😀 of the deploy notes �" in run("hook", "session-start", stdin=json.dumps({"cwd": str(tmp_path)})).stdout


def test_tr_06_five_sessions_with_our_own_words_add_nothing(run, here, root: Path, home: Path, tmp_path: Path) -> None:
    """Each session holds the briefing it really got, a line of it pasted, what recall said, and AGENTS.md read."""
    here("config", "set", "memory.backend", "local")
    for n in range(2):
        log = Log(root / f"a{n}.jsonl", tmp_path, day=1)
        log.ask("go on")
        log.call("Bash", "ok", command="git push")
        log.ask(f"I told you: {LESSON}")
        log.save()
    [first] = json.loads(here("propose", "--json").stdout)["offered"]
    assert first["text"] == LESSON and here("learned", "accept", first["id"]).returncode == 0
    here("learn", LESSON, cwd=tmp_path)
    sizes = []
    for n in range(5):
        given = json.dumps({"hook_event_name": "SessionStart", "cwd": str(tmp_path)})
        context = json.loads(run("hook", "session-start", stdin=given).stdout)["hookSpecificOutput"][
            "additionalContext"
        ]
        recalled = here("recall", "push", cwd=tmp_path).stdout
        [agents] = home.rglob("learned/AGENTS.md")
        log = Log(root / f"b{n}.jsonl", tmp_path, day=n + 2)
        log.add("attachment", attachment={"type": "hook_additional_context", "content": [context]})
        log.ask(f"<system-reminder>{context}</system-reminder>\n\ngo on")
        log.call("mcp__lessonbook__recall", recalled, query="push")
        log.call("Bash", recalled, command="lessonbook recall push")
        log.call("Bash", context, command="lessonbook brief")
        log.call("Read", f"     1\t{agents.read_text()}", file_path=str(agents))
        log.call("mcp__lessonbook__learn", "Lesson stored.", memory=LESSON)
        log.ask(LESSON)
        log.ask(next(line for line in context.splitlines() if "push" in line))
        log.ask(f"No. {context}")
        log.save()
        told = json.loads(here("propose", "--json").stdout)
        assert told["offered"] == [], told["offered"]
        sizes.append((len(context), here("learned").stdout))
    assert sizes == [sizes[0]] * 5 and sizes[0][1] == "nothing is pending\n"
