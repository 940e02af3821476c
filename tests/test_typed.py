"""Programs that use the wheel see its types: mypy reads ``py.typed`` where the wheel is installed, not here."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = """
import asyncio
from pathlib import Path
from time import time
from typing import Any

from typing_extensions import assert_type

from lessonbook import (
    Brief, LearnError, LearnSession, LearnTool, Lesson, Receipt, Recalled, Remembered, Settings, ToolResult,
    aio, brief, identify, learned, lessons, load, open_memory, places, recall, remember,
)
from lessonbook.core.ports import Memory
from lessonbook.testing import MemoryContract

here = Path.cwd()
settings = load(places())
memory = open_memory(settings, identify(here), time, here)
assert_type(memory, Memory)
tool = LearnTool.create_if(settings, LearnSession(here, "s", memory))
assert_type(tool, LearnTool | None)
assert_type(brief(here, places(), settings, now=time()), Brief)
assert_type(memory.store(Lesson("x", context="y")), Receipt)
assert_type(recall(memory, "x"), tuple[Recalled, ...])
assert_type(remember(memory, "x", confidence=0.5), str)
assert_type(lessons(memory), tuple[Remembered, ...])
assert_type(learned.LEARNED_MAX, int)


async def main(tool: LearnTool) -> None:
    assert_type(tool.parameters, dict[str, Any])
    assert_type(await tool.execute_async("{}"), ToolResult)
    assert_type(await aio.brief(here, places(), settings, now=time()), Brief)
    assert_type(await aio.recall(memory, "x", limit=3), tuple[Recalled, ...])
    assert_type(await aio.lessons(memory), tuple[Remembered, ...])


class TestTheirs(MemoryContract):
    def open(self, folder: Path, now: Any) -> Memory:
        return memory
"""
WRONG = {
    "open_memory(settings, here, time)": "arg-type",
    "recall(memory, 3)": "arg-type",
    "asyncio.run(aio.recall(memory))": "call-arg",
    "Lesson(text=b'x')": "arg-type",
    "learned.nothing": "attr-defined",
    "LearnTool.create_if(settings)": "call-arg",
}


@pytest.fixture(scope="module")
def their_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that holds our wheel, built from this checkout, and beside it what ours has."""
    place = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    venv.create(place / "venv", symlinks=True)
    python = place / "venv" / "bin" / "python"
    where = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    )
    site = Path(where.stdout.strip())
    with zipfile.ZipFile(next(place.glob("*.whl"))) as wheel:
        wheel.extractall(site)
    (site / "beside.pth").write_text("\n".join(path for path in sys.path if path.endswith("-packages")))
    return python


def test_the_public_names_are_typed_for_others(their_python: Path, tmp_path: Path) -> None:
    wrong = [f"{line}  # type: ignore[{code}]" for line, code in WRONG.items()]
    said = _mypy(their_python, tmp_path, "\n".join([PROGRAM, *wrong]))
    assert said.startswith("Success"), said


def test_what_is_wrong_is_found(their_python: Path, tmp_path: Path) -> None:
    said = _mypy(their_python, tmp_path, "\n".join([PROGRAM, *WRONG]))
    found = [line.rpartition("  [")[2].removesuffix("]") for line in said.splitlines() if ": error:" in line]
    assert found == list(WRONG.values()), said


def _mypy(python: Path, place: Path, program: str) -> str:
    """Return what mypy says of ``program`` in an environment of its own, as it is run with no other option."""
    (place / "program.py").write_text(program)
    cache = python.parent.parent / "cache"
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={cache}"]
    env = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "MYPYPATH")}
    words = [*command, f"--python-executable={python}", "program.py"]
    return subprocess.run(words, cwd=place, env=env, capture_output=True, text=True, check=False).stdout
