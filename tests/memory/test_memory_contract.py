"""Both backends that keep lessons do what every backend must."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lessonbook.core.ports import Memory
from lessonbook.memory.local import LocalMemory
from lessonbook.memory.mnemopi.bank import MnemopiMemory
from lessonbook.testing import MemoryContract
from lessonbook.testing_banks import BankContract


class TestLocal(MemoryContract):
    def open(self, folder: Path, now: Callable[[], float]) -> Memory:
        return LocalMemory(folder / "memories" / "--p--" / "learned.md")


class TestMnemopi(BankContract):
    def open(self, folder: Path, now: Callable[[], float]) -> Memory:
        return MnemopiMemory(folder / "agent" / "bank.db", "project-00000000", now)
