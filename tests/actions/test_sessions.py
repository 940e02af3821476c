from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.transcripts.test_gemini import GeminiFile
from tests.transcripts.test_hermes import HermesSession
from tests.transcripts.test_hermes import database as hermes_database
from tests.transcripts.test_miniswe import MESSAGES
from tests.transcripts.test_opencode import OpencodeSession
from tests.transcripts.test_opencode import database as opencode_database
from tests.transcripts.test_pi import PiFile
from tests.transcripts.test_ramabana import RamabanaFile

from lessonbook.actions.sessions import Reading
from lessonbook.core.briefing import CLOSING, OPENING
from lessonbook.core.session import Session
from lessonbook.system.cursors import cursors
from lessonbook.transcripts.registry import READERS

BRIEFING = f"{OPENING}\n\n## Lessons\n\nNever push to main.\n{CLOSING}"


def put(path: Path, data: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())


def filled(home: Path, said: str) -> None:
    """A home folder in which six agents were told ``said``, each where it keeps its sessions by itself."""
    pi, omp, gemini, ramabana = PiFile(), PiFile("0190eeee-3a52-7c51-9d1e-0a6f5a7b1c2d"), GeminiFile(), RamabanaFile()
    hermes, opencode = HermesSession(), OpencodeSession()
    for file in (pi, omp, gemini, hermes, opencode):
        file.user(said)
        file.say("ok")
    ramabana.turn(said)
    omp.clock += 100
    put(home / ".pi/agent/sessions/--x--/2026-03-01T11-00-00-000Z_a.jsonl", b"\n".join(pi.lines()))
    for record in omp.records[1:]:
        record["timestamp"] = record["timestamp"].replace("T11:", "T13:")
    put(home / ".omp/agent/sessions/x/a.jsonl", b"\n".join(omp.lines()))
    put(home / ".gemini/tmp/x/chats/session-1.json", json.dumps(gemini.document()))
    put(home / ".config/ramabana/agent-history.jsonl", b"\n".join(ramabana.lines()) + b"\n")
    put(home / ".config/mini-swe-agent/last_mini_run.traj.json", json.dumps(MESSAGES))
    (home / ".hermes").mkdir()
    hermes_database(home / ".hermes/state.db", hermes)
    (home / ".local/share/opencode").mkdir(parents=True)
    opencode_database(home / ".local/share/opencode/opencode.db", opencode)


def sessions(home: Path, **more: Any) -> list[Session]:
    return list(Reading().sessions(None, home, {}, **more))


def test_every_agent_is_found_where_it_keeps_its_sessions(tmp_path: Path) -> None:
    filled(tmp_path, "please fix it")
    agents = {one.agent for one in sessions(tmp_path)}
    assert agents == {"pi", "omp", "gemini", "ramabana", "mini-swe-agent", "hermes", "opencode"}
    assert agents < {reader.agent for reader in READERS}


def test_side_files_are_told_of_only_where_they_are_named(tmp_path: Path) -> None:
    filled(tmp_path, "please fix it")
    beside = tmp_path / ".config/ramabana/agent-details/x.jsonl"
    put(beside, '{"turn_id":"t","details":{}}\n')
    reading = Reading()
    assert list(reading.sessions(None, tmp_path, {})) and not reading.unread
    assert reading.agents["ramabana"].files == 1
    named = Reading()
    assert not list(named.sessions([beside], tmp_path, {}))
    assert list(named.unread) == [str(beside)]


@pytest.mark.parametrize("said", [f"{BRIEFING}\nplease fix it", f"please fix it\n\n{BRIEFING}"])
def test_our_own_briefing_is_never_what_a_person_said(tmp_path: Path, said: str) -> None:
    filled(tmp_path, said)
    asked = [turn.prompt for one in sessions(tmp_path) for turn in one.turns if one.agent != "mini-swe-agent"]
    assert asked == ["please fix it"] * 6


def test_with_cursors_only_what_is_new(tmp_path: Path) -> None:
    filled(tmp_path, "please fix it")
    for wanted in (7, 7, 0):  # the first reading was not committed
        with cursors(tmp_path / "cursors.db") as kept:
            assert len(sessions(tmp_path, cursors=kept)) == wanted
            if wanted == 7 and (tmp_path / "again").exists():
                kept.commit()
            (tmp_path / "again").touch()
