"""In an event loop: what waits for files or a database waits in a thread, and a cancelled task writes once."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

import lessonbook
from lessonbook import LearnError, LearnSession, LearnTool, Lesson, Settings, aio, open_memory
from lessonbook.core.ports import Memory
from lessonbook.memory.mnemopi.bank import BANK_FILE

TICKS = 20
pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Desk:
    """One session of an agent in a folder of its own, with a bank."""

    def __init__(self, home: Path) -> None:
        self.cwd = home / "app"
        self.cwd.mkdir()
        subprocess.run(["git", "init", "-q", str(self.cwd)], check=True)
        self.settings = Settings(home / "agent", autolearn_enabled=True, memory_backend="mnemopi")
        self.memory: Memory = open_memory(self.settings, lessonbook.identify(self.cwd), time.time, self.cwd)
        self.memory.store(Lesson("The first."))
        tool = LearnTool.create_if(self.settings, LearnSession(self.cwd, "s", self.memory, home))
        assert tool is not None
        self.tool = tool

    def lock(self) -> sqlite3.Connection:
        """Hold the bank as another program that writes does, until ROLLBACK."""
        held = sqlite3.connect(self.settings.agent_dir / BANK_FILE, isolation_level=None)
        held.execute("BEGIN IMMEDIATE")
        return held

    def kept(self) -> list[str]:
        with closing(sqlite3.connect(self.settings.agent_dir / BANK_FILE)) as db:
            return [row[0] for row in db.execute("SELECT text FROM lessons ORDER BY id")]


@pytest.fixture
def desk(home: Path) -> Iterator[Desk]:
    made = Desk(home)
    yield made
    made.memory.close()


async def test_all_of_it(desk: Desk) -> None:
    project = await aio.identify(desk.cwd)
    assert project == lessonbook.identify(desk.cwd)
    answer = await desk.tool.execute_async({"memory": "Migrate first.", "context": "a red build"})
    assert (answer.content[0]["text"], answer.is_error) == ("Lesson stored.", False)
    assert (await aio.remember(desk.memory, "The port is 8080.", cue="ports")).startswith("Lesson stored.")
    listed = [one.lesson.text for one in await aio.lessons(desk.memory)]
    assert listed == ["The port is 8080.", "Migrate first.", "The first."]
    assert [one.text for one in await aio.recall(desk.memory, "migrate", limit=1)] == ["Migrate first."]
    where = lessonbook.places()
    told = await aio.brief(desk.cwd, where, desk.settings, now=time.time())
    assert "Migrate first." in told.text


async def test_what_is_wrong_is_raised_where_it_is_awaited(desk: Desk) -> None:
    with pytest.raises(LearnError, match=r"^memory must be text, not a number\. Nothing was stored\.$"):
        await desk.tool.execute_async({"memory": 3})
    with pytest.raises(lessonbook.InputError, match="from 1 to 50"):
        await aio.recall(desk.memory, "x", 0)


@pytest.mark.parametrize("what", ["learn", "remember"])
async def test_the_loop_goes_on_while_the_bank_is_held(desk: Desk, what: str) -> None:
    with closing(desk.lock()) as held:
        waiting = asyncio.create_task(_write(desk, what))
        for _ in range(TICKS):  # a loop that is held up would never come here before the write gave up
            await asyncio.sleep(0.01)
        assert not waiting.done()
        held.execute("ROLLBACK")
        assert (await waiting).startswith("Lesson stored.")
    assert desk.kept() == ["The first.", "Use port 1."]


def test_a_cancelled_task_writes_once(desk: Desk) -> None:
    async def main() -> None:
        with closing(desk.lock()) as held:
            waiting = asyncio.create_task(_write(desk, "learn"))
            await asyncio.sleep(0.2)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert desk.kept() == ["The first."]
            held.execute("ROLLBACK")

    asyncio.run(main())  # ends once its threads have
    assert desk.kept() == ["The first.", "Use port 1."]


async def test_many_at_once_are_each_kept_once(desk: Desk) -> None:
    lessons = [f"Lesson number {number} of many." for number in range(40)]
    answers = await asyncio.gather(*(desk.tool.execute_async({"memory": text}) for text in lessons + lessons))
    assert {answer.content[0]["text"] for answer in answers} == {"Lesson stored."}
    assert sorted(desk.kept()) == sorted(["The first.", *lessons])


def test_each_has_the_signature_and_words_of_its_twin() -> None:
    import inspect

    for name in aio.__all__:
        twin: Callable[..., object] = getattr(lessonbook, name)
        assert inspect.signature(getattr(aio, name)) == inspect.signature(twin)
        assert getattr(aio, name).__doc__ == twin.__doc__
        assert inspect.iscoroutinefunction(getattr(aio, name))


async def _write(desk: Desk, what: str) -> str:
    if what == "learn":
        return (await desk.tool.execute_async('{"memory": "Use port 1."}')).content[0]["text"]
    return await aio.remember(desk.memory, "Use port 1.")
