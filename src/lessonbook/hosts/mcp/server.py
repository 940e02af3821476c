"""The server itself: answers the protocol's requests with the tools, resources and prompts there are.

Whatever may take its time, files, git, SQLite or a network, runs in a thread, so that a slow call never keeps another
one or a ping waiting. A call that is cancelled is not answered, but what it began to write is written: once, or not at
all.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

import anyio
import mcp_types as types
from anyio import to_thread
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ToolsListChanged

from lessonbook.core.errors import LessonbookError
from lessonbook.core.redact import redact
from lessonbook.core.screen import short
from lessonbook.core.version import __version__
from lessonbook.hosts.mcp import learning, resources
from lessonbook.hosts.mcp.arguments import decoded
from lessonbook.hosts.mcp.instructions import INSTRUCTIONS
from lessonbook.hosts.mcp.offered import offered
from lessonbook.hosts.mcp.plain import plain
from lessonbook.hosts.mcp.roots import Context, Folders, connection
from lessonbook.hosts.mcp.surroundings import Surroundings
from lessonbook.hosts.mcp.tools import Answer, Tool

NAME = "lessonbook"
LOOK = 1.0
"""Seconds between two looks at the configuration, for clients that want to hear that the list of tools has changed."""
_SESSIONS = 1_000
_SENTENCE_MOST = 4_000
_Found = TypeVar("_Found")
Report = Callable[[Exception], str]


class _Announcing(Server[Any]):
    """A server that says that its list of tools may change, whichever way it is served."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        told = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(told, experimental_capabilities, extensions)


class Host:
    """Serves every connection of one server."""

    def __init__(self, surroundings: Surroundings, folders: Folders, report: Report) -> None:
        """``report`` says in one sentence what happened to an error nobody foresaw."""
        self._surroundings, self._folders, self._report = surroundings, folders, report
        self._sessions: OrderedDict[str, ServerSession] = OrderedDict()
        self._bus = InMemorySubscriptionBus()
        self._running = 0
        self._threads: anyio.CapacityLimiter | None = None
        self.server = _Announcing(
            NAME,
            version=__version__,
            title="lessonbook",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_subscriptions_listen=ListenHandler(self._bus),
        )
        self.server.add_notification_handler(
            "notifications/roots/list_changed", types.NotificationParams, self._forget_roots
        )
        self.server.middleware.append(self._met)

    @property
    def is_busy(self) -> bool:
        """Whether a call is still being worked on, also one that was cancelled."""
        return self._running > 0

    def close(self) -> None:
        """Close what is open between calls."""
        self._surroundings.close()

    async def announce(self) -> None:
        """Tell every client when another list of tools is offered, as long as this runs."""
        seen: tuple[int, ...] = ()
        known = ""
        while True:
            with suppress(Exception):  # whoever only looks must not take down what serves; it looks again
                stamp = await self._quickly(self._surroundings.stamp)
                if not known or stamp != seen:
                    before, known = known, await self._quickly(self._listing)
                    if before and known != before:
                        await self._tell()
                seen = stamp
            await anyio.sleep(LOOK)

    async def _tell(self) -> None:
        await self._bus.publish(ToolsListChanged())
        for session in list(self._sessions.values()):
            await session.send_notification(types.ToolListChangedNotification())

    async def _met(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Remember whom to tell of changes, and take the arguments of a call also as one JSON text."""
        if ctx.method != "initialize" and ctx.session.can_send_request and ctx.request_id is not None:
            self._sessions[connection(ctx)] = ctx.session
            while len(self._sessions) > _SESSIONS:
                self._sessions.popitem(last=False)
        told = (ctx.params or {}).get("arguments")
        if ctx.method == "tools/call" and isinstance(told, str) and isinstance(meant := decoded(told), dict):
            ctx = replace(ctx, params={**(ctx.params or {}), "arguments": meant})
        return await call_next(ctx)

    async def _list_tools(self, ctx: Context, params: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(tool) for tool in await self._quickly(self._tools)])

    async def _call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        cwd = await self._folders.of(ctx, params)
        if isinstance(cwd, types.InputRequiredResult):
            return cwd

        def work() -> Answer:
            try:
                here = self._surroundings.here(cwd)
                tool = next((one for one in offered(here.settings) if one.name == params.name), None)
                return tool.call(here, params.arguments) if tool else _absent(params.name)
            except MCPError:
                raise
            except Exception as error:  # noqa: BLE001  whatever it was, the agent hears it as the call's result
                return Answer(self._sentence(error), is_error=True)

        return _result(await self._in_thread(work))

    async def _list_resources(self, ctx: Context, params: object) -> types.ListResourcesResult:
        cwd = await self._folders.of(ctx)
        assert not isinstance(cwd, types.InputRequiredResult)  # nothing is asked of a client that lists
        found = await self._asked(lambda: resources.listed(self._surroundings.here(cwd)))
        rows = [types.Resource(**one.as_dict(), mime_type=resources.MARKDOWN) for one in found]
        return types.ListResourcesResult(resources=rows)

    async def _list_templates(self, ctx: Context, params: object) -> types.ListResourceTemplatesResult:
        told = types.ResourceTemplate(
            uri_template=resources.TEMPLATE,
            name="skill",
            description="The whole text of one skill.",
            mime_type=resources.MARKDOWN,
        )
        return types.ListResourceTemplatesResult(resource_templates=[told])

    async def _read_resource(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult | types.InputRequiredResult:
        cwd = await self._folders.of(ctx, params)
        if isinstance(cwd, types.InputRequiredResult):
            return cwd
        if resources.is_briefing(params.uri):
            text = await self._asked(lambda: resources.briefing(self._surroundings, cwd))
        else:
            text = await self._asked(lambda: resources.skill(self._surroundings.here(cwd), params.uri))
        told = types.TextResourceContents(uri=params.uri, mime_type=resources.MARKDOWN, text=plain(text))
        return types.ReadResourceResult(contents=[told])

    async def _list_prompts(self, ctx: Context, params: object) -> types.ListPromptsResult:
        prompt = types.Prompt(
            name=resources.REVIEW, title=resources.REVIEW_TITLE, description=resources.REVIEW_DESCRIPTION
        )
        return types.ListPromptsResult(prompts=[prompt])

    async def _get_prompt(
        self, ctx: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult | types.InputRequiredResult:
        if params.name != resources.REVIEW:
            raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {params.name[:200]}")
        cwd = await self._folders.of(ctx, params)
        if isinstance(cwd, types.InputRequiredResult):
            return cwd
        text = await self._asked(lambda: resources.review(self._surroundings.here(cwd)))
        message = types.PromptMessage(role="user", content=types.TextContent(text=plain(text)))
        return types.GetPromptResult(description=resources.REVIEW_DESCRIPTION, messages=[message])

    async def _forget_roots(self, ctx: Context, params: object) -> None:
        self._folders.forget(ctx)

    def _tools(self) -> tuple[Tool, ...]:
        try:
            return offered(self._surroundings.settings())
        except LessonbookError:  # a configuration that cannot be used: every call says so
            return offered(self._surroundings.fallback())

    def _listing(self) -> str:
        return json.dumps([_described(tool).model_dump(mode="json") for tool in self._tools()])

    async def _asked(self, work: Callable[[], _Found]) -> _Found:
        """Do ``work``, which answers with a result alone; what goes wrong is an error of the protocol."""
        try:
            return await self._in_thread(work)
        except LessonbookError as error:
            raise MCPError(types.INVALID_PARAMS, self._sentence(error)) from error
        except Exception as error:  # whatever it was, the client hears a sentence, and no more of it
            raise MCPError(types.INTERNAL_ERROR, self._sentence(error)) from error

    async def _in_thread(self, work: Callable[[], _Found]) -> _Found:
        self._running += 1
        try:
            return await to_thread.run_sync(work)
        finally:
            self._running -= 1

    async def _quickly(self, work: Callable[[], _Found]) -> _Found:
        """Do what takes no time, though every thread for calls may be taken."""
        if self._threads is None:
            self._threads = anyio.CapacityLimiter(2)
        return await to_thread.run_sync(work, limiter=self._threads)

    def _sentence(self, error: Exception) -> str:
        """Return what to say of ``error``, which may repeat what was sent: that may hold a secret, or megabytes."""
        told = redact(str(error) if isinstance(error, LessonbookError) else self._report(error)).text
        return short(told, _SENTENCE_MOST)


def _absent(name: str) -> Answer:
    if name == learning.NAME:
        return Answer(learning.NOT_OFFERED, is_error=True)
    raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {redact(name[:200]).text}")


def _described(tool: Tool) -> types.Tool:
    hints = types.ToolAnnotations(
        read_only_hint=tool.read_only,
        destructive_hint=tool.destructive,
        idempotent_hint=tool.idempotent,
        open_world_hint=tool.open_world,
    )
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.parameters,
        output_schema=tool.answers,
        annotations=hints,
    )


def _result(answer: Answer) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(text=plain(answer.text))],
        structured_content=plain(answer.data) if answer.data else None,
        is_error=answer.is_error,
    )
