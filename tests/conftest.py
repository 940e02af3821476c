"""A sealed home for every test: nothing of the machine's own configuration is read or written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty HOME of this test's own."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "LESSONBOOK_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    yield folder


@pytest.fixture
def shared() -> Path:
    """Material outside the product; the test is skipped where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("needs ../shared")
    return SHARED
