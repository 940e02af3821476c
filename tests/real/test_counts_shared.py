"""The tables of docs/sessions-counted.md are what the readers find today."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.shared

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "sessions-counted.md"


@pytest.fixture(scope="module")
def counting() -> ModuleType:
    spec = importlib.util.spec_from_file_location("count_sessions", ROOT / "scripts" / "count_sessions.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def section(title: str) -> str:
    """The table below a heading of the page."""
    found = re.search(rf"^## {title}$.*?^(\|.*?)\n\n", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert found
    return found[1]


def folders(path: Path) -> list[Path]:
    return sorted(one for one in path.iterdir() if one.is_dir())


def test_single_files(shared: Path, counting: ModuleType) -> None:
    assert section("Single files") == counting.table(counting.rows(folders(shared / "data" / "transcripts")))


def test_damaged_files(shared: Path, counting: ModuleType) -> None:
    derived = [shared / "data" / "transcripts" / "derived"]
    assert section("Damaged files") == counting.table(counting.rows(derived, each=True))


def test_histories(shared: Path, counting: ModuleType) -> None:
    assert section("Histories of whole projects") == counting.table(
        counting.rows(folders(shared / "data" / "histories"))
    )


def test_every_agent_has_a_row() -> None:
    from lessonbook.transcripts.registry import READERS

    told = PAGE.read_text("utf-8")
    unread = [reader.agent for reader in READERS if f"| {reader.agent}" not in told and f", {reader.agent}" not in told]
    assert unread == ["omp"]  # none was published that pi could not have written
