"""The configuration names a backend; opening one touches no file; what is off says so."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from lessonbook.core.errors import SetupError
from lessonbook.core.lesson import Lesson
from lessonbook.core.project import Project, from_folder
from lessonbook.memory.registry import BACKENDS, open_memory
from lessonbook.system.settings import Settings


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_backend_opens_without_touching_a_file(tmp_path: Path, backend: str) -> None:
    settings = Settings(tmp_path / "agent", memory_backend=backend)
    memory = open_memory(settings, from_folder("/work/app"), time.time)
    assert memory.name == backend
    memory.close()
    assert not (tmp_path / "agent").exists()


def test_local_is_named_by_the_folder_worked_in(tmp_path: Path) -> None:
    settings = Settings(tmp_path, memory_backend="local")
    project = Project("host/app", "app", "/work/app")
    open_memory(settings, project, time.time).store(Lesson("a"))
    open_memory(settings, project, time.time, cwd=Path("/work/app/sub")).store(Lesson("b"))
    assert sorted(path.name for path in (tmp_path / "memories").iterdir()) == ["--work-app--", "--work-app-sub--"]


def test_an_unknown_backend_is_told_with_the_known(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="off, local, mnemopi, hindsight"):
        open_memory(Settings(tmp_path, memory_backend="redis"), from_folder("/x"), time.time)
    with pytest.raises(SetupError, match="folder"):
        open_memory(Settings(tmp_path, memory_backend="local"), Project("host/app", "app", ""), time.time)


@pytest.mark.parametrize(("backend", "said"), [("off", "memory.backend"), ("hindsight", "not initialised")])
def test_what_keeps_nothing_says_so_at_every_call(tmp_path: Path, backend: str, said: str) -> None:
    memory = open_memory(Settings(tmp_path, memory_backend=backend), from_folder("/x"), time.time)
    for act in (lambda: memory.store(Lesson("a")), lambda: memory.recall("a"), memory.recent, memory.count):
        with pytest.raises(SetupError, match=said):
            act()
