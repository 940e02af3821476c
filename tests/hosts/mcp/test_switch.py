"""What a person changes holds from the next call on, without a restart; and whoever wants to know is told."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from lessonbook.core.project import from_folder

ON = '[memory]\nbackend = "{}"\n[autolearn]\nenabled = true\n'
TALK = Callable[..., None]


def test_settings_are_read_anew_for_every_call(
    raw: Callable[..., Any], configure: Callable[..., Path], home: Path, work: Path
) -> None:
    agent = home / ".local" / "share" / "lessonbook" / "agent"
    server = raw()
    assert server.start()["capabilities"]["tools"] == {"listChanged": True}
    ids = iter(range(1, 1_000))

    def call(tool: str, **arguments: object) -> tuple[bool, str]:
        id = next(ids)
        server.call(id, tool, arguments)
        told = server.answer(id)["result"]
        return told["isError"], told["content"][0]["text"]

    def tools() -> dict[str, Any]:
        id = next(ids)
        server.ask(id, "tools/list")
        return {tool["name"]: tool for tool in server.answer(id)["result"]["tools"]}

    def changed(since: int) -> None:
        method = "notifications/tools/list_changed"
        while not any(told.get("method") == method for told in server.told[since:]):
            assert server.next() is not None

    assert "learn" not in tools()
    is_error, text = call("learn", memory="x")
    assert is_error and "autolearn.enabled true" in text
    is_error, text = call("recall", query="x")
    assert is_error and "lessonbook config set memory.backend mnemopi" in text

    since = len(server.told)
    configure(ON.format("mnemopi"))
    assert call("learn", memory="Kept in the bank.") == (False, "Lesson stored.")
    assert "scope" in tools()["learn"]["inputSchema"]["properties"]
    changed(since)

    since = len(server.told)
    configure(ON.format("local"))
    assert call("recall", query="bank")[1] == "No lesson matches."
    assert call("learn", memory="Kept in the file.") == (False, "Lesson stored.")
    assert list((agent / "memories").glob("*/learned.md"))
    assert "scope" not in tools()["learn"]["inputSchema"]["properties"]
    changed(since)

    configure(f'agent_dir = "{home / "other"}"\n' + ON.format("local"))
    assert call("recall", query="file")[1] == "No lesson matches."
    assert call("learn", memory="Elsewhere.") == (False, "Lesson stored.")
    assert list((home / "other" / "memories").glob("*/learned.md"))

    configure("learning = false\n" + ON.format("mnemopi"))
    assert call("remember", text="A note.", evidence="seen")[1].startswith("Note stored.")
    assert call("lessons") == (
        False,
        "Learning is off, so no lessons are listed; `lessonbook learned on` turns it on.",
    )
    configure("learning = true\n" + ON.format("mnemopi"))
    assert "Kept in the bank." in call("lessons")[1] and "A note." not in call("lessons")[1]
    assert "A note." in call("recall", query="note")[1]

    config = configure("[memory\n")
    is_error, text = call("remember", text="x")
    assert is_error and "config.toml is not valid TOML" in text
    assert "learn" not in tools()
    config.unlink()
    (home / ".config" / "lessonbook" / "settings.json").write_text('{"learning": "off"}')
    assert call("lessons")[1].startswith("Learning is off")
    assert config.read_text().rstrip().endswith("learning = false")
    assert server.end() == 0


def test_one_session_without_learning(
    raw: Callable[..., Any], configure: Callable[..., Path], commit: Callable[..., Path]
) -> None:
    commit({"AGENTS.md": "- Run make test.\n", "skills/sizes/SKILL.md": "---\nname: sizes\ndescription: d\n---\n\nb\n"})
    configure(ON.format("mnemopi"))
    for words, is_on in (([], True), (["--no-learned"], False)):
        server = raw(*words)
        server.start()
        server.ask(1, "resources/read", {"uri": "lessonbook://briefing"})
        briefing = server.answer(1)["result"]["contents"][0]["text"]
        assert ("Run make test." in briefing, "Record what you learn" in briefing) == (is_on, is_on)
        server.call(2, "read_skill", {"name": "sizes"})
        assert server.answer(2)["result"]["isError"] is not is_on
        server.call(3, "remember", {"text": f"Told {is_on}.", "cue": "now"})
        said = server.answer(3)["result"]["content"][0]["text"]
        assert said.startswith("Lesson stored." if is_on else "Note stored.")
        server.call(4, "lessons", {})
        assert ("Told True." in server.answer(4)["result"]["content"][0]["text"]) is is_on
        assert server.end() == 0


@pytest.mark.parametrize("way", ["standard input and output", "http"])
def test_what_a_person_says_in_another_terminal_holds_at_the_next_call(
    way: str,
    talk: TALK,
    serve: Callable[..., Any],
    run: Callable[..., Any],
    commit: Callable[..., Path],
    configure: Callable[..., Path],
    greeted: Callable[..., Any],
    home: Path,
) -> None:
    commit({"AGENTS.md": "- Run make test.\n", "skills/sizes/SKILL.md": "---\nname: sizes\ndescription: d\n---\n\nb\n"})
    configure(ON.format("mnemopi"))
    skill = {"action": "create", "description": "When it ships.", "body": "Look."}

    def says(*words: str) -> None:
        assert run(*words).returncode == 0, words

    async def say(session: ClientSession) -> None:
        async def call(tool: str, **arguments: Any) -> str:
            return (await session.call_tool(tool, arguments)).content[0].text  # type: ignore[union-attr]

        async def briefing() -> str:
            return (await session.read_resource("lessonbook://briefing")).contents[0].text  # type: ignore[union-attr]

        async def tools() -> list[str]:
            return [tool.name for tool in (await session.list_tools()).tools]

        for _ in range(2):  # off and on, and again
            assert "Run make test." in await briefing() and "learn" in await tools()
            says("learned", "off")
            told = await briefing()
            assert "Run make test." not in told and "Record what you learn" not in told
            assert (await call("remember", text="A note.")).startswith("Note stored.")
            assert (await call("lessons")).startswith("Learning is off")
            assert "There is no skill" in await call("read_skill", name="sizes")
            says("learned", "on")
            assert "A note." not in await call("lessons")
        assert (await call("learn", memory="One.", skill={**skill, "name": "a"})).endswith('Created managed skill "a".')
        says("config", "set", "autolearn.review", "true")
        assert "for review as" in await call("learn", memory="Two.", skill={**skill, "name": "b"})
        says("config", "set", "autolearn.enabled", "false")
        assert "learn" not in await tools() and "The learn tool is off here" in await call("learn", memory="Three.")
        says("config", "set", "memory.backend", "off")
        assert "lessonbook config set memory.backend" in await call("recall", query="One.")

    if way == "http":
        server = serve()

        async def main() -> None:
            client = httpx2.AsyncClient(headers={"Authorization": f"Bearer {server.token}"}, timeout=60)
            async with (
                client,
                streamable_http_client(server.url, http_client=client) as streams,
                ClientSession(*streams) as session,
            ):
                await greeted(session, "2025-06-18")
                await say(session)

        anyio.run(main)
    else:
        talk(say)


def test_one_servers_no_learned_outlasts_the_persons_switch(
    raw: Callable[..., Any], run: Callable[..., Any], commit: Callable[..., Path], configure: Callable[..., Path]
) -> None:
    commit({"AGENTS.md": "- Run make test.\n"})
    configure(ON.format("mnemopi"))
    servers = {True: raw(), False: raw("--no-learned")}
    for server in servers.values():
        server.start()
    for number, (word, switched) in enumerate((("off", False), ("on", True), ("off", False), ("on", True)), 1):
        assert run("learned", word).returncode == 0
        for learned, server in servers.items():
            server.ask(number, "resources/read", {"uri": "lessonbook://briefing"})
            told = server.answer(number)["result"]["contents"][0]["text"]
            assert ("Run make test." in told) == (learned and switched)


def test_a_client_of_today_hears_of_changes_it_subscribed_to(talk: TALK, configure: Callable[..., Path]) -> None:
    from mcp.client.subscriptions import listen

    async def say(session: ClientSession) -> None:
        before = (await session.list_tools()).tools
        async with listen(session, tools_list_changed=True) as heard:
            configure(ON.format("mnemopi"))
            with anyio.fail_after(30):
                async for event in heard:
                    assert type(event).__name__ == "ToolsListChanged"
                    break
        assert len((await session.list_tools()).tools) == len(before) + 1

    talk(say)


@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28"])
def test_the_folder_is_the_clients_then_the_servers(
    version: str, talk: TALK, configure: Callable[..., Path], home: Path, tmp_path: Path, work: Path
) -> None:
    from mcp import types

    configure(ON.format("local"))
    roots = [tmp_path / "gone", tmp_path / "first é", tmp_path / "second"]
    for folder in roots[1:]:
        folder.mkdir()
    memories = home / ".local" / "share" / "lessonbook" / "agent" / "memories"

    def kept(folder: Path) -> bool:
        return (memories / ("-" + str(folder).replace("/", "-") + "--") / "learned.md").exists()

    asked = 0

    async def told(context: object) -> types.ListRootsResult:
        nonlocal asked
        asked += 1
        named = [types.Root(uri=folder.as_uri()) for folder in roots]
        return types.ListRootsResult(roots=named)

    async def say(session: ClientSession) -> None:
        for number in range(3):
            result = await session.call_tool(
                "learn", {"memory": f"Lesson {number}."}, **({"allow_input_required": True} if version > "2026" else {})
            )
            if isinstance(result, types.InputRequiredResult):
                assert number == 0 and result.input_requests
                answers = {"roots": await told(None)}
                result = await session.call_tool(
                    "learn", {"memory": "Lesson 0."}, input_responses=answers, allow_input_required=True
                )
            assert isinstance(result, types.CallToolResult) and not result.is_error

    talk(say, version=version, list_roots_callback=told)
    assert asked == 1 and kept(roots[1]) and not kept(work) and not kept(roots[2])
    talk(say, "--cwd", str(roots[2]), version=version, list_roots_callback=told)
    assert asked == 1 and kept(roots[2])
    talk(say, version=version)
    assert asked == 1 and kept(work)


def test_roots_that_change_are_asked_again_and_no_answer_is_no_harm(
    raw: Callable[..., Any], configure: Callable[..., Path], home: Path, tmp_path: Path, work: Path
) -> None:
    configure(ON.format("local"))
    memories = home / ".local" / "share" / "lessonbook" / "agent" / "memories"
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir(), second.mkdir()
    server = raw()
    server.start(roots={"listChanged": True})

    def answered(id: int, *uris: str | None) -> None:
        server.call(id, "learn", {"memory": f"Lesson {id}."})
        for uri in uris:
            while (asked := server.next()).get("method") != "roots/list":
                continue
            if uri is not None:
                server.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": [{"uri": uri}]}})
        assert not server.answer(id)["result"]["isError"]

    def kept(folder: Path) -> str:
        found = memories / ("-" + str(folder).replace("/", "-") + "--") / "learned.md"
        return found.read_text() if found.exists() else ""

    answered(1, first.as_uri())
    answered(2)
    server.send({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
    answered(3, second.as_uri())
    server.send({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
    answered(4, "file:///no/such/folder")
    server.send({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
    answered(5, None)  # no answer at all
    answered(6, second.as_uri())
    assert (kept(first), kept(work)) == ("- Lesson 2.\n- Lesson 1.\n", "- Lesson 5.\n- Lesson 4.\n")
    assert kept(second) == "- Lesson 6.\n- Lesson 3.\n"


def test_two_projects_and_one_that_becomes_a_repository(
    raw: Callable[..., Any], configure: Callable[..., Path], work: Path, env: dict[str, str]
) -> None:
    """The memory is that of the project the folder belongs to now, not when the server was started."""
    configure(ON.format("mnemopi"))
    server = raw()
    server.start()
    server.call(1, "remember", {"text": "Before."})
    server.answer(1)
    git = f"git -C '{work}' init -q && git -C '{work}' remote add origin https://example.org/team/app.git"
    assert os.system(f"env -i PATH='{os.environ['PATH']}' HOME='{env['HOME']}' sh -c \"{git}\"") == 0
    server.call(2, "remember", {"text": "After."})
    server.answer(2)
    server.call(3, "lessons", {})
    rows = server.answer(3)["result"]["structuredContent"]["lessons"]
    assert [row["text"] for row in rows] == ["After."] and rows[0]["bank"].startswith("app-")
    assert from_folder(str(work)).slug != rows[0]["bank"]
