"""The proposer on real sessions that no one here wrote."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from lessonbook.actions.propose import Report, propose
from lessonbook.core.redact import redact
from lessonbook.system.settings import load, places

pytestmark = pytest.mark.shared


def report_on(home: Path, *paths: Path) -> Report:
    env, digits = {"HOME": str(home)}, count(1)
    where = places(env)
    return propose(
        list(paths), where, load(where), now=1_790_000_000, random_hex=lambda: f"{next(digits):06x}", env=env
    )


def test_the_lesson_everybody_would_write(home: Path, shared: Path) -> None:
    report = report_on(home, shared / "data" / "histories" / "PackmindHub+context-evaluator")
    assert 1 <= len(report.offered) <= 12
    first = report.offered[0]
    assert "`bun run …`" in first.text and "`rtk bun run …` fails" in first.text
    assert first.why.startswith("44 calls in 44 sessions (2026-02-1")
    assert report.agents["claude"].sessions >= 98


def test_what_the_person_refused_and_why(home: Path, shared: Path) -> None:
    report = report_on(home, shared / "data" / "histories" / "entireio+cli@first-38")
    refused = next(one for one in report.offered if one.why.startswith("10 refusals in 4 sessions"))
    assert "why not adding .entire/.gitignore?" in refused.examples["said"]


def test_every_sample_is_read_or_named(home: Path, shared: Path) -> None:
    report = report_on(home, shared / "data" / "transcripts")
    assert report.agents["claude"].calls > 200 and report.agents["codex"].calls > 100
    assert len(report.offered) <= 12
    assert all(reason for reason in report.unread.values())


def test_nothing_identifying_is_offered(home: Path, shared: Path) -> None:
    report = report_on(home, shared / "data" / "histories")
    for one in report.offered:
        text = " ".join((one.title, one.text, *one.examples.values()))
        assert "/Users/" not in text and redact(text).count == 0
