"""The table of what was run names the very versions that are run."""

from __future__ import annotations

import re
from pathlib import Path

from realagents.hosts.registry import HOSTS
from realagents.programs import PROGRAMS

from lessonbook.hosts.agents.registry import agent

PAGE = Path(__file__).resolve().parents[2] / "docs" / "agents.md"


def test_every_agent_that_is_run_has_its_row() -> None:
    rows = re.findall(r"^\| ([^|]+) \| ([\d.]+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    run = {agent(name).title: (program.npm + program.pip)[0] for name, program in PROGRAMS.items()}
    assert dict(rows) == {title: re.split("==|@", package)[-1] for title, package in run.items()}
    assert set(HOSTS) == set(PROGRAMS)
