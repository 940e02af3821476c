"""A bank in an empty folder, and a clock that ticks a second at each look."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from lessonbook.memory.mnemopi.bank import MnemopiMemory


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "agent" / "bank.db"


@pytest.fixture
def clock() -> Callable[[], float]:
    ticks = itertools.count(1_700_000_000)
    return lambda: float(next(ticks))


@pytest.fixture
def memory(path: Path, clock: Callable[[], float]) -> Iterator[MnemopiMemory]:
    with closing(MnemopiMemory(path, "p-1", clock)) as opened:
        yield opened
