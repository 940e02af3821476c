"""The learn tool, end to end on real files: the literals, the order of work, and what is said about each half."""

from __future__ import annotations

import itertools
import resource
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lessonbook.actions.learn import LearnSession, LearnTool, ToolResult
from lessonbook.core.errors import InputError, LearnError
from lessonbook.core.lesson import Lesson, Outcome, Receipt, Scope
from lessonbook.core.project import from_folder
from lessonbook.core.skill import MAX_BYTES, Skill
from lessonbook.memory.off import OffMemory
from lessonbook.memory.registry import open_memory
from lessonbook.system.settings import Settings

SECRET = "ghp_" + "a1B2" * 9
SKILL = {
    "action": "create",
    "name": "size-check",
    "description": "When sizes matter.",
    "body": "# Size\n\nRun ls -l.\n",
}


class Answering(OffMemory):
    """A backend of somebody else's making, which answers every lesson the same."""

    scopes = frozenset({"project", "global"})

    def __init__(self, name: str, answer: Receipt | Exception) -> None:
        super().__init__(name)
        self._answer = answer

    def store(self, lesson: Lesson) -> Receipt:
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


class Desk:
    """A person's machine with one session of an agent on it."""

    def __init__(self, home: Path, backend: str) -> None:
        self.home = home
        self.cwd = home / "work" / "app"
        self.cwd.mkdir(parents=True)
        self.settings = Settings(
            home / "agent", autolearn_enabled=True, memory_backend=backend, hindsight_url="http://x.invalid"
        )
        ticks = itertools.count(1_700_000_000)
        self.memory = open_memory(self.settings, from_folder(str(self.cwd)), lambda: float(next(ticks)))
        self.session = LearnSession(self.cwd, "s-1", self.memory, home=home)

    def learn(self, **params: object) -> ToolResult:
        return self.tool().execute(params)

    def tool(self) -> LearnTool:
        tool = LearnTool.create_if(self.settings, self.session)
        assert tool is not None
        return tool

    def skill_file(self, name: str = "size-check") -> Path:
        return self.settings.agent_dir / "managed-skills" / name / "SKILL.md"

    def lessons(self) -> list[str]:
        return [found.text for found in self.memory.recent(200)]


@pytest.fixture
def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(params=["local", "mnemopi"])
def desk(request: pytest.FixtureRequest, home: Path) -> Iterator[Desk]:
    desk = Desk(home, request.param)
    yield desk
    desk.memory.close()


@pytest.fixture
def local(home: Path) -> Desk:
    return Desk(home, "local")


def text(result: ToolResult) -> str:
    assert [part["type"] for part in result.content] == ["text"]
    return result.content[0]["text"]


def refused(act: Callable[[], object]) -> str:
    with pytest.raises(LearnError) as caught:
        act()
    return str(caught.value)


def test_a_lesson(desk: Desk) -> None:
    result = desk.learn(memory="Use ls -l to read sizes.", context="a stalled session")
    assert (text(result), result.details, result.is_error) == ("Lesson stored.", {"skill": None}, False)
    assert [(found.text, found.context) for found in desk.memory.recent()] == [
        ("Use ls -l to read sizes.", "a stalled session")
    ]


def test_a_lesson_with_a_new_skill_and_its_update(desk: Desk) -> None:
    result = desk.learn(memory="one", skill={**SKILL, "name": " Size-CHECK "})
    assert text(result) == 'Lesson stored. Created managed skill "size-check".'
    assert (result.details, result.is_error) == ({"skill": "size-check"}, False)
    assert "# Size\n\nRun ls -l.\n" in desk.skill_file().read_text()
    assert "s-1" in desk.skill_file().read_text()
    result = desk.learn(memory="two", skill={**SKILL, "action": "update", "body": "# New\n"})
    assert text(result) == 'Lesson stored. Updated managed skill "size-check".'
    assert desk.skill_file().read_text().endswith("\n---\n\n# New\n")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"name": "Bad Name!"}, "is not a skill name"),
        ({"name": "../escape"}, "is not a skill name"),
        ({"name": "部署流程"}, "is not a skill name"),
        ({"name": ""}, "is not a skill name"),
        ({"description": "<>"}, "needs a non-empty description"),
        ({"description": "é" * 1_025}, "1,025 characters"),
        ({"body": " \n"}, "needs a non-empty body"),
        ({"body": "あ" * 21_400}, "the limit is 64,000"),
        ({"action": "update", "name": "never-made"}, "does not exist"),
    ],
)
def test_an_invalid_skill_is_told_with_the_lessons_true_state(desk: Desk, changed: dict[str, str], said: str) -> None:
    for _ in range(2):
        message = refused(lambda: desk.learn(memory="kept", skill={**SKILL, **changed}))
        assert message.startswith("Lesson stored, but the managed skill could not be written: ")
        assert said in message
        assert desk.lessons() == ["kept"]
    assert not desk.skill_file().parent.parent.exists()
    assert text(desk.learn(memory="kept", skill=SKILL)) == 'Lesson stored. Created managed skill "size-check".'
    assert desk.lessons() == ["kept"]


def test_creating_twice_leaves_the_first(desk: Desk) -> None:
    desk.learn(memory="one", skill=SKILL)
    before = desk.skill_file().read_bytes()
    message = refused(lambda: desk.learn(memory="two", skill={**SKILL, "body": "other"}))
    assert message.startswith("Lesson stored, but the managed skill could not be written: ")
    assert "already exists" in message
    assert desk.skill_file().read_bytes() == before


def test_the_limit_counts_the_bytes_of_the_final_file(local: Desk) -> None:
    local.learn(memory="one", skill={**SKILL, "body": "x"})
    frame = len(local.skill_file().read_bytes()) - 1
    local.learn(memory="two", skill={**SKILL, "action": "update", "body": "x" * (MAX_BYTES - frame)})
    full = local.skill_file().read_bytes()
    assert len(full) == MAX_BYTES
    message = refused(
        lambda: local.learn(memory="3", skill={**SKILL, "action": "update", "body": "x" * (MAX_BYTES - frame + 1)})
    )
    assert "64,001 bytes; the limit is 64,000" in message
    assert local.skill_file().read_bytes() == full
    assert [path.name for path in local.skill_file().parent.iterdir()] == ["SKILL.md"]


def test_an_authored_name_is_not_taken(desk: Desk) -> None:
    authored = desk.home / ".claude" / "skills" / "folder" / "SKILL.md"
    authored.parent.mkdir(parents=True)
    authored.write_text("---\nname: size-check\ndescription: mine\n---\n\nmine\n")
    elsewhere = desk.home / "elsewhere"
    authored.parent.rename(elsewhere)
    authored.parent.symlink_to(elsewhere)
    result = desk.learn(memory="kept", skill=SKILL)
    assert text(result).startswith('Lesson stored. Did not create managed skill "size-check": ')
    assert str(authored) in text(result)
    assert "choose a different name" in text(result)
    assert (result.details, result.is_error) == ({"skill": None, "shadowed": True}, True)
    assert desk.lessons() == ["kept"]
    assert not desk.skill_file().exists()
    assert authored.read_text().endswith("\nmine\n")


def test_an_update_under_an_authored_skill_that_came_later_says_so(local: Desk) -> None:
    local.learn(memory="one", skill=SKILL)
    authored = local.home / ".claude" / "skills" / "size-check" / "SKILL.md"
    authored.parent.mkdir(parents=True)
    authored.write_text("---\nname: size-check\ndescription: mine\n---\n\nmine\n")
    result = local.learn(memory="two", skill={**SKILL, "action": "update", "body": "new"})
    assert text(result).startswith('Lesson stored. Updated managed skill "size-check".')
    assert f"authored skill at {authored}" in text(result)
    assert result.details == {"skill": "size-check"}


def test_a_skill_that_cannot_be_written_is_told(local: Desk) -> None:
    elsewhere = local.home / "elsewhere"
    elsewhere.mkdir()
    local.skill_file().parent.parent.mkdir(parents=True)
    local.skill_file().parent.symlink_to(elsewhere)
    message = refused(lambda: local.learn(memory="kept", skill=SKILL))
    assert message.startswith("Lesson stored, but the managed skill could not be written: ")
    assert local.lessons() == ["kept"]
    assert not list(elsewhere.iterdir())


@pytest.mark.parametrize("memory", ["", " \r\n", "\x00\u200b", "<>`"])
def test_an_empty_lesson_stores_nothing(desk: Desk, memory: str) -> None:
    message = refused(lambda: desk.learn(memory=memory, skill=SKILL))
    assert message == "Lesson was empty after sanitization; nothing stored."
    assert desk.lessons() == []
    assert not desk.skill_file().exists()


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({}, "The arguments must hold memory"),
        ({"memory": 123}, "memory must be text, not a number"),
        ({"memory": None}, "The arguments must hold memory"),
        ({"memory": "a", "context": ["x"]}, "context must be text, not a list"),
        ({"memory": "a", "tags": "x"}, "unknown field 'tags'"),
        ({"memory": "a", "scope": "world"}, 'scope must be "project" or "global"'),
        ({"memory": "a", "skill": "do it"}, "skill must be an object, not text"),
        ({"memory": "a", "skill": ["x"]}, "skill must be an object, not a list"),
        ({"memory": "a", "skill": {**SKILL, "action": "delete"}}, 'skill.action must be "create" or "update"'),
        ({"memory": "a", "skill": {**SKILL, "body": True}}, "skill.body must be text, not true or false"),
        ({"memory": "a", "skill": {**SKILL, "path": "x"}}, "skill holds the unknown field 'path'"),
        ({"memory": "a", "skill": {"action": "create"}}, "skill must hold name"),
        ({"memory": "a", "skill": {}}, "skill must hold action"),
    ],
)
def test_a_call_that_is_not_as_the_schema_says_stores_nothing(local: Desk, params: dict[str, Any], said: str) -> None:
    message = refused(lambda: local.learn(**params))
    assert said in message
    assert message.endswith("Nothing was stored.")
    assert not local.settings.agent_dir.exists()


def test_objects_may_come_as_text_and_text_stays_text(local: Desk) -> None:
    for memory in ('{"retries": 3}', "123", "null", "[x](y)", '"quoted"', "true"):
        local.learn(memory=memory, context=None, skill=None)
        assert local.lessons()[0] == memory
    as_text = '{"action": "create", "name": "size-check", "description": "d", "body": "{\\"a\\": 1}"}'
    assert local.learn(memory="a", skill=as_text).details == {"skill": "size-check"}
    assert local.skill_file().read_text().endswith('\n\n{"a": 1}\n')


def test_global_scope(home: Path) -> None:
    local, bank = Desk(home / "a", "local"), Desk(home / "b", "mnemopi")
    said = "Global memory scope is only available with the Mnemopi backend."
    assert refused(lambda: local.learn(memory="a", scope="global", skill=SKILL)) == said
    assert not local.settings.agent_dir.exists()
    assert text(local.learn(memory="a", scope="project")) == "Lesson stored."
    assert text(bank.learn(memory="a", scope="global")) == "Lesson stored."
    assert bank.memory.recent()[0].bank == "global"
    bank.memory.close()


@pytest.mark.parametrize("backend", ["mnemopi", "hindsight", "local"])
def test_without_a_memory_it_says_so(home: Path, backend: str) -> None:
    desk = Desk(home, backend)
    desk.session = replace(desk.session, memory=None)
    said = f"{backend.capitalize()} backend is not initialised for this session."
    assert refused(lambda: desk.learn(memory="a", skill=SKILL)) == said
    assert not desk.skill_file().exists()


def test_hindsight_says_that_it_is_not_ready(home: Path) -> None:
    desk = Desk(home, "hindsight")
    memory = open_memory(desk.settings.but(hindsight_url=None), from_folder(str(desk.cwd)), lambda: 1.0)
    desk.session = replace(desk.session, memory=memory)
    assert refused(lambda: desk.learn(memory="a")) == "Hindsight backend is not initialised for this session."


def test_hindsight_queues_and_says_so(home: Path, closed_port: int) -> None:
    desk = Desk(home, "hindsight")
    settings = desk.settings.but(hindsight_url=f"http://127.0.0.1:{closed_port}")
    memory = open_memory(settings, from_folder(str(desk.cwd)), lambda: 1.0)
    desk.session = replace(desk.session, memory=memory)
    for _ in range(2):
        result = desk.learn(memory="Use ls -l.", context="a stalled session")
        assert (text(result), result.details, result.is_error) == (
            "Lesson queued for retention.",
            {"skill": None},
            False,
        )
    said = "Global memory scope is only available with the Mnemopi backend."
    assert refused(lambda: desk.learn(memory="b", scope="global")) == said
    assert text(desk.learn(memory="c", skill=SKILL)).startswith("Lesson queued for retention. Created managed skill")
    assert [one.text for one in memory.recent()] == ["c", "Use ls -l."]
    memory.close()


def test_a_queued_lesson(home: Path) -> None:
    desk = Desk(home, "hindsight")
    desk.session = replace(desk.session, memory=Answering("hindsight", Receipt(Outcome.QUEUED, "1")))
    assert text(desk.learn(memory="a")) == "Lesson queued for retention."
    result = desk.learn(memory="a", skill=SKILL)
    assert text(result) == 'Lesson queued for retention. Created managed skill "size-check".'
    message = refused(lambda: desk.learn(memory="a", skill=SKILL))
    assert message.startswith("Lesson queued for retention, but the managed skill could not be written: ")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Receipt(Outcome.STORED), "Mnemopi did not store the lesson (no memory id returned)."),
        (RuntimeError("disk full"), "Mnemopi did not store the lesson: disk full"),
        (Receipt(Outcome.REFUSED, reason="Not now."), "Not now."),
    ],
)
def test_a_backend_that_does_not_store_is_told(home: Path, answer: Receipt | Exception, said: str) -> None:
    desk = Desk(home, "mnemopi")
    desk.session = replace(desk.session, memory=Answering("mnemopi", answer))
    assert refused(lambda: desk.learn(memory="a", skill=SKILL)) == said
    assert not desk.skill_file().exists()


def test_a_store_that_cannot_be_written_is_told(local: Desk) -> None:
    local.learn(memory="one")
    file = next(local.settings.agent_dir.rglob("learned.md"))
    file.chmod(0o444)
    message = refused(lambda: local.learn(memory="two", skill=SKILL))
    assert message == f"Local did not store the lesson: {file} is read-only; nothing was written."
    assert not local.skill_file().exists()


def test_cuts_redactions_and_the_archive_are_told_after_the_sentence(local: Desk) -> None:
    result = local.learn(memory=f"{SECRET} " + "x" * 3_000, context="y" * 500 + f" {SECRET}")
    assert text(result) == (
        "Lesson stored. The lesson was cut to 2,000 characters. The context was cut to 400 characters. "
        "2 secrets were redacted."
    )
    result = local.learn(memory="b", skill={**SKILL, "body": f"use {SECRET} and [REDACTED]"})
    assert text(result) == 'Lesson stored. Created managed skill "size-check". 1 secret was redacted.'
    for n in range(99):
        result = local.learn(memory=f"more {n}")
    assert text(result) == "Lesson stored. The oldest lesson moved to learned.archive.md: a file keeps 100."
    assert result.details == {"skill": None}


def test_a_secret_in_any_field_is_found_nowhere(desk: Desk) -> None:
    said = [
        text(desk.learn(memory=f"a {SECRET}", context=f"b {SECRET}")),
        text(desk.learn(memory="c", skill={**SKILL, "description": f"d {SECRET}", "body": f"e {SECRET}"})),
        refused(lambda: desk.learn(memory="f", skill={**SKILL, "name": SECRET})),
        refused(lambda: desk.learn(memory="g", **{SECRET: "x"})),
        refused(lambda: desk.learn(memory="h", scope=SECRET)),
        refused(lambda: desk.learn(memory="i", skill={**SKILL, "action": SECRET})),
        refused(lambda: desk.learn(memory="j", skill=SECRET)),
    ]
    assert SECRET not in repr(said)
    assert SECRET not in repr(desk.memory.recall("a b c f"))
    files = [path for path in desk.settings.agent_dir.rglob("*") if path.is_file()]
    assert len(files) > 3
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []


def test_with_review_a_skill_is_offered_and_not_written(local: Desk) -> None:
    offered: list[Skill] = []

    def offer(skill: Skill, action: str, scope: Scope) -> str:
        offered.append(skill)
        return "20260101-120000-abcdef"

    local.settings = local.settings.but(autolearn_review=True)
    message = refused(lambda: local.learn(memory="a", skill=SKILL))
    assert message.startswith("Lesson stored, but the managed skill could not be written: ")
    local.session = replace(local.session, offer_skill=offer)
    result = local.learn(memory="a", skill=SKILL)
    assert text(result) == 'Lesson stored. Proposed skill "size-check" for review as 20260101-120000-abcdef.'
    assert (result.details, result.is_error) == ({"skill": None, "pending": "20260101-120000-abcdef"}, False)
    assert [skill.name for skill in offered] == ["size-check"]
    assert not local.skill_file().exists()


def test_a_refused_offer_is_told(local: Desk) -> None:
    def offer(skill: Skill, action: str, scope: Scope) -> str:
        raise InputError("The queue is full.")

    local.settings = local.settings.but(autolearn_review=True)
    local.session = replace(local.session, offer_skill=offer)
    message = refused(lambda: local.learn(memory="a", skill=SKILL))
    assert message == "Lesson stored, but the managed skill could not be written: The queue is full."


def test_calls_side_by_side_in_one_process(desk: Desk) -> None:
    tool = desk.tool()
    threads = [threading.Thread(target=tool.execute, args=({"memory": f"lesson {n}"},)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(desk.lessons()) == {f"lesson {n}" for n in range(20)}


@pytest.mark.parametrize(
    ("enabled", "backend", "url", "exists"),
    [
        (True, "local", None, True),
        (True, "mnemopi", None, True),
        (True, "hindsight", "http://x.invalid", True),
        (True, "hindsight", None, False),
        (True, "off", None, False),
        (False, "local", None, False),
    ],
)
def test_when_the_tool_exists(tmp_path: Path, enabled: bool, backend: str, url: str | None, exists: bool) -> None:
    settings = Settings(tmp_path, autolearn_enabled=enabled, memory_backend=backend, hindsight_url=url)
    assert (LearnTool.create_if(settings, LearnSession(tmp_path, "s", None)) is not None) == exists
    assert LearnTool.create_if(Settings(tmp_path), LearnSession(tmp_path, "s", None)) is None


def test_the_schema_is_one_every_host_takes(home: Path) -> None:
    local, bank = Desk(home / "a", "local").tool(), Desk(home / "b", "mnemopi").tool()
    schema = local.parameters
    assert (schema["type"], schema["required"], schema["additionalProperties"]) == ("object", ["memory"], False)
    assert list(schema["properties"]) == ["memory", "context", "skill"]
    skill = schema["properties"]["skill"]
    assert (skill["type"], skill["additionalProperties"]) == ("object", False)
    assert skill["required"] == list(skill["properties"]) == ["action", "name", "description", "body"]
    assert skill["properties"]["action"]["enum"] == ["create", "update"]
    assert bank.parameters["properties"]["scope"]["enum"] == ["project", "global"]
    for word in ("$ref", "$defs", "anyOf", "oneOf", "allOf"):
        assert word not in repr(bank.parameters)
    assert (local.name, "sparingly" in local.description) == ("learn", True)


@pytest.mark.parametrize("backend", ["local", "mnemopi"])
def test_a_full_disk_stores_nothing_says_so_and_heals(home: Path, backend: str) -> None:
    desk = Desk(home, backend)
    desk.learn(memory="one")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, limits[1]))
    try:
        message = refused(lambda: desk.learn(memory="two " * 450, skill=SKILL))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "did not store the lesson: " in message
    assert not desk.skill_file().exists()
    assert desk.lessons() == ["one"]
    assert not list(desk.settings.agent_dir.rglob("*.tmp"))
    assert text(desk.learn(memory="two", skill=SKILL)) == 'Lesson stored. Created managed skill "size-check".'
    assert desk.lessons() == ["two", "one"]
    desk.memory.close()
