"""``memory_edit`` over the official client: every change of a lesson can be made, shown and taken back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp import ClientSession, types

Talk = Callable[..., None]
ON = '[memory]\nbackend = "{}"\n'


@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28"])
def test_a_lesson_from_first_to_last(version: str, talk: Talk, configure: Callable[..., Path]) -> None:
    configure(ON.format("mnemopi"))

    async def say(session: ClientSession) -> None:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}

        async def call(name: str, is_error: bool = False, /, **arguments: Any) -> tuple[str, Any]:
            told = await session.call_tool(name, arguments)
            assert isinstance(told, types.CallToolResult) and isinstance(told.content[0], types.TextContent)
            assert told.is_error == is_error, told.content[0].text
            if not is_error:
                jsonschema.validate(told.structured_content, tools[name].output_schema)
            return told.content[0].text, told.structured_content or {}

        async def edit(action: str, lesson: str, is_error: bool = False, /, **more: Any) -> tuple[str, Any]:
            return await call("memory_edit", is_error, action=action, lesson=lesson, **more)

        _, data = await call("remember", text="The port is 8080.", title="Port", tags=["net"], cue="starting it")
        one = data["id"]
        _, data = await call("remember", text="The port is 9090.", key="port")
        two = data["id"]
        text, _ = await call("recall", query="which port?")
        assert f"id: {one}" in text and f"id: {two}" in text
        assert (await call("memory_edit", action="get", lesson=int(one)))[1]["id"] == one  # as some clients send it
        text, data = await edit("get", one)
        assert data["lesson"]["text"] == "The port is 8080." and data["lesson"]["tags"] == ["net"]
        assert json.loads(text) == data
        text, data = await edit("history", one)
        assert data["changes"] == [] and text == f"Lesson {one} was never changed."
        wanted = {"text": "The port was 8080.", "title": None, "tags": ["net", "old"], "confidence": 0.5}
        text, data = await edit("update", one, changes=json.dumps(wanted))
        assert text.startswith(f"Lesson {one} is changed.") and data["lesson"]["tags"] == ["net", "old"]
        assert "title" not in data["lesson"]
        text, data = await edit("invalidate", one, replacement=two)
        assert data["superseded_by"] == two
        _, data = await edit("pin", two)
        assert data["pinned"] is True
        _, data = await edit("unpin", two)
        assert data["pinned"] is False
        _, data = await edit("history", one)
        assert [change["verb"] for change in data["changes"]] == ["invalidated", "updated"]
        await edit("undo", one)
        text, data = await edit("undo", one)
        assert data["lesson"]["text"] == "The port is 8080." and data["lesson"]["title"] == "Port"
        await edit("forget", one)
        text, _ = await call("recall", query="which port?")
        assert f"id: {one}" not in text and f"id: {two}" in text
        _, data = await edit("get", one)
        assert data["forgotten"]
        await edit("undo", one)
        text, data = await call("lessons", limit=1)
        assert len(data["lessons"]) == 1
        text, _ = await call("lessons", after=data["lessons"][0]["id"])
        assert "8080" in text or "9090" in text
        for action, lesson, more, sentence in [
            ("get", "999", {}, "There is no lesson"),
            ("get", "x; DROP TABLE lessons", {}, "There is no lesson"),
            ("update", one, {}, "changes must name at least one field"),
            ("update", one, {"changes": {}}, "changes must name at least one field"),
            ("update", one, {"changes": {"id": "3"}}, "changes.'id' is not known"),
            ("update", one, {"changes": {"veracity": "sure"}}, "changes.veracity must be one of"),
            ("update", one, {"changes": {"text": " "}}, "nothing was changed"),
            ("forget", one, {"changes": {"text": "x"}}, "changes belongs to the action update"),
            ("pin", one, {"replacement": two}, "replacement belongs to the action invalidate"),
            ("invalidate", one, {"replacement": one}, "cannot be replaced"),
            ("erase", one, {}, "action must be one of get, update"),
        ]:
            text, _ = await edit(action, lesson, True, **more)
            assert sentence.lower() in text.lower(), (action, more, text)
        _, after = await edit("get", one)
        assert after["lesson"]["text"] == "The port is 8080."

    talk(say, version=version)


@pytest.mark.parametrize(
    ("backend", "sentence"),
    [
        ("local", "The local memory keeps lessons that cannot be edited one by one; the mnemopi memory can"),
        ("hindsight", "The hindsight memory keeps lessons that cannot be edited one by one"),
        ("off", "No memory is switched on"),
        ("nothing", "memory.backend is 'nothing'; it must be one of"),
    ],
)
def test_other_memories_say_so(backend: str, sentence: str, talk: Talk, configure: Callable[..., Path]) -> None:
    configure(ON.format(backend))

    async def say(session: ClientSession) -> None:
        for action in ("get", "forget", "history"):
            told = await session.call_tool("memory_edit", {"action": action, "lesson": "1"})
            assert isinstance(told, types.CallToolResult) and isinstance(told.content[0], types.TextContent)
            assert told.is_error and sentence in told.content[0].text

    talk(say)
