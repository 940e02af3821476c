from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from lessonbook.core.session import ReadReport, Session
from lessonbook.transcripts.walk import default_roots, find, read_paths


def put(path: Path, file: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(line + b"\n" for line in file.lines()))
    return path


def sessions(*paths: Path) -> list[Session]:
    return [item for item in read_paths(paths) if isinstance(item, Session)]


def problems(*paths: Path) -> list[tuple[str | None, str | None]]:
    return [(item.agent, item.problem) for item in read_paths(paths) if isinstance(item, ReadReport)]


def talk(file: Any, text: str) -> Any:
    file.user(text)
    file.say("ok")
    return file


def test_agents_together_in_order_of_time(claude_file: Any, codex_file: Any, tmp_path: Path) -> None:
    put(tmp_path / "s" / "z.jsonl", talk(claude_file("11111111-3a52-4c51-9d1e-0a6f5a7b1c2d"), "first"))
    put(tmp_path / "s" / "deep" / "er" / "a.jsonl", talk(claude_file(start=90), "second"))
    put(tmp_path / "s" / "b.jsonl", talk(codex_file(), "third"))
    (tmp_path / "s" / "LICENSE").write_text("MIT License")
    read = list(read_paths([tmp_path / "s"]))
    assert [item.turns[0].prompt for item in read if isinstance(item, Session)] == ["first", "second", "third"]
    assert [type(item) for item in read] == [Session, ReadReport] * 3 + [ReadReport]


def test_a_copy_is_read_after_what_it_copies_whatever_its_name(claude_file: Any, tmp_path: Path) -> None:
    old = talk(claude_file(), "first")
    new = claude_file("11111111-3a52-4c51-9d1e-0a6f5a7b1c2d")
    new.records, new.clock, new.last = list(old.records), 50, old.last
    put(tmp_path / "s" / "b.jsonl", old)
    put(tmp_path / "s" / "a.jsonl", talk(new, "second"))
    assert [[turn.prompt for turn in one.turns] for one in sessions(tmp_path / "s")] == [["first"], ["second"]]


def test_sub_agents_name_the_root(claude_file: Any, codex_file: Any, tmp_path: Path) -> None:
    root = put(tmp_path / "s" / "5f0c1f9e-3a52-4c51-9d1e-0a6f5a7b1c2d.jsonl", talk(claude_file(), "go"))
    put(root.with_suffix("") / "subagents" / "agent-a1.jsonl", talk(claude_file("agent-a1", start=9), "look"))
    ids = [f"{n}" * 8 + "-3a52-4c51-9d1e-0a6f5a7b1c2d" for n in (1, 2, 3)]
    for n, id in enumerate(ids):
        source = {"subagent": {"thread_spawn": {"parent_thread_id": ids[n - 1]}}} if n else "cli"
        put(tmp_path / "s" / f"rollout-{n}.jsonl", talk(codex_file(id, start=n, source=source), f"go {n}"))
    assert [(one.id, one.parent_id) for one in sessions(tmp_path / "s")] == [
        ("5f0c1f9e-3a52-4c51-9d1e-0a6f5a7b1c2d", None),
        ("agent-a1", "5f0c1f9e-3a52-4c51-9d1e-0a6f5a7b1c2d"),
        (ids[0], None),
        (ids[1], ids[0]),
        (ids[2], ids[0]),
    ]


ALIENS: tuple[tuple[str, bytes, str | None, str], ...] = (
    ("LICENSE", b"MIT License\n", None, "Not a session of an agent we know."),
    ("table.tsv", b"a\tb\n1\t2\n", None, "Not a session of an agent we know."),
    ("empty.jsonl", b"", None, "The file is empty."),
    ("other.db", b"SQLite format 3\x00" + b"\x00" * 84, None, "An SQLite database of no agent we know."),
    (
        "logs.json",
        b'[{"sessionId":"x","messageId":0,"type":"user","message":"hi","timestamp":"2026-03-01T10:00:00Z"}]',
        "gemini",
        "A side file of Gemini CLI, not a session.",
    ),
    (
        "storage/part/msg_1/prt_1.json",
        b'{"id":"prt_1","type":"text","text":"hi"}',
        "opencode",
        "Part of a session that is read from another file.",
    ),
    ("f.jsonl", b'{"turn_id":"x","details":{}}\n', "ramabana", "A side file of Ramabana, not a session."),
    ("runs/x/start.json", b"[]", "ramabana", "A side file of Ramabana, not a session."),
    (
        "s/subagents/agent-1.meta.json",
        b'{"agentType":"x"}',
        "claude",
        "A side file of Claude Code, not a session.",
    ),
    (
        "history.jsonl",
        b'{"display":"hi","timestamp":1,"project":"/a"}\n',
        "claude",
        "A side file of Claude Code, not a session.",
    ),
    (
        "stream.jsonl",
        b'{"type":"system","subtype":"init","session_id":"s"}\n{"type":"assistant","message":{},"session_id":"s"}\n',
        "claude",
        "This is what claude -p --output-format stream-json prints, not a session file.",
    ),
    (
        "exec.jsonl",
        b'{"type":"thread.started","thread_id":"t"}\n',
        "codex",
        "This is what codex exec --json prints, not a session file.",
    ),
)


@pytest.mark.parametrize(("name", "data", "agent", "problem"), ALIENS)
def test_what_is_no_session_of_ours_is_one_sentence(
    tmp_path: Path, name: str, data: bytes, agent: str | None, problem: str
) -> None:
    path = tmp_path / "s" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    assert problems(tmp_path / "s") == [(agent, problem)]


def test_what_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    assert problems(tmp_path / "pipe", tmp_path / "dangling", tmp_path / "none") == [
        (None, "There is no such file or folder."),
        (None, "There is no such file or folder."),
        (None, "Not a regular file."),
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_forbidden_file_or_folder_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"{}")
    (tmp_path / "a.jsonl").chmod(0)
    (tmp_path / "shut").mkdir(mode=0)
    problem = (None, "It cannot be read: permission denied.")
    assert problems(tmp_path / "a.jsonl", tmp_path / "shut") == [problem, problem]


def test_each_file_once_and_links_never_in_circles(claude_file: Any, tmp_path: Path) -> None:
    folder = tmp_path / "s"
    file = put(folder / "a.jsonl", talk(claude_file(), "go"))
    put(folder / ".git" / "b.jsonl", talk(claude_file(), "never"))
    (folder / "up").symlink_to(folder)
    (folder / "again.jsonl").symlink_to(file)
    assert [one.path for one in find([folder, file, folder])] == [str(file)]


def test_empty_folder_and_no_paths(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    assert list(read_paths([tmp_path / "s"])) == [] == list(read_paths([]))


def test_default_roots_are_those_that_exist(tmp_path: Path) -> None:
    (tmp_path / ".claude" / "projects").mkdir(parents=True)
    (tmp_path / "other" / "sessions").mkdir(parents=True)
    assert default_roots(str(tmp_path), {"CODEX_HOME": str(tmp_path / "other")}) == [
        ("claude", str(tmp_path / ".claude" / "projects")),
        ("codex", str(tmp_path / "other" / "sessions")),
    ]


def test_a_damaged_file_is_found_by_what_is_left_of_it(claude_file: Any, codex_file: Any, tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    for name, file in (("a", talk(claude_file(), "go")), ("b", talk(codex_file(), "go"))):
        lines = [b"\x00" * 40, b'{"type":"user","mess' + file.lines()[0], *file.lines()[1:]]
        (tmp_path / "s" / f"{name}.jsonl").write_bytes(b"\n".join(lines))
    assert [one.agent for one in sessions(tmp_path / "s")] == ["claude", "codex"]


def test_one_glued_line_is_found(claude_file: Any, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"".join(talk(claude_file(), "go").lines()))
    assert [turn.prompt for one in sessions(tmp_path / "a.jsonl") for turn in one.turns] == ["go"]


@pytest.mark.parametrize("named", ["/" + "a" * 5_000, "/dev/null/x", "a\nb", "/\udcff"])
def test_a_variable_that_names_no_folder_names_nothing(tmp_path: Path, named: str) -> None:
    assert default_roots(str(tmp_path), {"CLAUDE_CONFIG_DIR": named, "CODEX_HOME": named}) == []
