"""Banks that the original itself wrote, with its host's options, are read whole; skipped where it is not set up.

``python -m benchmarks bank`` sets it up in ``.bench/bank``; ``LESSONBOOK_PEER_BANK`` names another place.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lessonbook.core.care import Imported
from lessonbook.core.lesson import Scope
from lessonbook.memory.importing.registry import kind_of, reader, sources
from lessonbook.memory.importing.values import ReadProblem

PEER = Path(os.environ.get("LESSONBOOK_PEER_BANK") or Path(__file__).resolve().parents[2] / ".bench" / "bank")
BUN = PEER / "node_modules/@oven/bun-linux-x64/bin/bun"
MODULE = PEER / "node_modules/@oh-my-pi/pi-mnemopi/src/index.ts"
SCRIPT = """
const [, , module, file, name, ...texts] = process.argv;
const { Mnemopi } = await import(module);
const bank = { bank: name, sessionId: name, channelId: name, authorId: "coding-agent", authorType: "agent" };
const memory = new Mnemopi({ ...bank, dbPath: file, noEmbeddings: true, llm: false, proactiveLinking: true });
const metadata = { session_id: "s-1", cwd: "/work/app", context: "a red build", tool: "learn" };
const learn = { source: "coding-agent-learn", importance: 0.8, metadata, scope: "bank", extract: true,
  extractEntities: true, veracity: "tool", memoryType: "fact" };
const ids = texts.map(text => memory.remember(text, learn));
memory.remember("user: hello\\nassistant: hello", { source: "coding-agent-transcript", importance: 0.65,
  metadata: { message_count: 2 }, scope: "bank", veracity: "unknown", memoryType: "episode",
  validUntil: "2030-01-01T00:00:00.000Z" });
memory.beam.invalidate(ids[0], ids[1]);
const day = new Date(Date.now() - 20 * 3600e3).toISOString();
memory.remember("Told twenty hours ago.", { ...learn, timestamp: day });
memory.sleep();
memory.scratchpadWrite("Look at the logs.");
await memory.recall(texts[1], 1);
await memory.flushExtractions();
console.log(ids.join(" "));
if (process.env.STAY) for await (const line of console) break;
memory.close();
"""
TEXTS = ("Use npm here.", "I prefer pnpm over npm.", "Quote the path: caf\u00e9 \U0001f680 \u90e8\u7f72.")

pytestmark = pytest.mark.skipif(not (BUN.is_file() and MODULE.is_file()), reason="the original's bank is not set up")


def started(folder: Path, file: Path, name: str, stay: bool = False) -> subprocess.Popen[str]:
    script = folder / "script.ts"
    script.write_text(SCRIPT)
    file.parent.mkdir(parents=True, exist_ok=True)
    env = {**os.environ, **({"STAY": "1"} if stay else {})}
    command = [str(BUN), str(script), str(MODULE), str(file), name, *TEXTS]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)


def lessons(found: Iterator[Imported | ReadProblem]) -> list[Imported]:
    """Only the lessons; and there may be no problem."""
    everything = list(found)
    assert [one for one in everything if isinstance(one, ReadProblem)] == []
    return [one for one in everything if isinstance(one, Imported)]


def bytes_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_its_host_keeps_comes_over_whole(tmp_path: Path) -> None:
    main = tmp_path / "mnemopi" / "mnemopi.db"
    ids = {}
    for file, name in ((main, "default"), (main.parent / "banks" / "app-1x" / "mnemopi.db", "app-1x")):
        out, _ = started(tmp_path, file, name).communicate(timeout=60)
        ids[name] = out.split()
    assert kind_of(main) == "mnemopi"
    assert sources(tmp_path / "mnemopi") == [("mnemopi", main)]
    before = bytes_below(main.parent)
    found = lessons(reader("mnemopi").read(main))
    assert bytes_below(main.parent) == before
    for bank, scope in (("default", Scope.GLOBAL), ("app-1x", Scope.PROJECT)):
        mine = {one.origin.removeprefix(f"mnemopi:{bank}:"): one for one in found if one.bank == bank}
        told = [mine[id] for id in ids[bank]]
        assert [one.lesson.text for one in told] == list(TEXTS)
        assert {(one.lesson.context, one.lesson.source, one.lesson.veracity) for one in told} == {
            ("a red build", "coding-agent-learn", "tool")
        }
        assert {one.lesson.scope for one in mine.values()} == {scope}
        assert told[0].superseded_by == told[1].origin
        assert told[0].invalid == told[0].lesson.valid_until is not None
        assert told[1].recalled == 1
        assert told[1].lesson.metadata["cwd"] == "/work/app"
        (talk,) = (one for one in mine.values() if one.lesson.source == "coding-agent-transcript")
        assert (talk.lesson.text, talk.lesson.veracity) == ("user: hello assistant: hello", "imported")
        assert talk.lesson.valid_until == 1_893_456_000.0
        (old,) = (one for one in mine.values() if one.lesson.text == "Told twenty hours ago.")
        assert (talk.seen or 0) - (old.seen or 0) > 19 * 3600
        (summary,) = (one for one in mine.values() if one.lesson.source == "sleep_consolidation")
        assert summary.derived_from == (old.origin,)
        taken = [one for one in mine.values() if one.lesson.text == "The user prefers pnpm over npm"]
        assert taken
        assert all(one.derived_from == (told[1].origin,) for one in taken)
        assert [one.lesson.text for one in mine.values() if one.lesson.text.startswith("Look")] == ["Look at the logs."]


def test_while_it_has_the_bank_open_and_after_it_was_killed(tmp_path: Path) -> None:
    file = tmp_path / "mnemopi" / "mnemopi.db"
    process = started(tmp_path, file, "default", stay=True)
    try:
        assert process.stdout
        process.stdout.readline()
        before = bytes_below(file.parent)
        assert before["mnemopi.db-wal"]
        open_now = lessons(reader("mnemopi").read(file))
        assert bytes_below(file.parent) == before
    finally:
        process.kill()
        process.communicate()
    before = bytes_below(file.parent)
    assert lessons(reader("mnemopi").read(file)) == open_now
    assert bytes_below(file.parent) == before
    assert [one.lesson.text for one in open_now[:3]] == list(TEXTS)
