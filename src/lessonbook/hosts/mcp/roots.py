"""Which folder a call is about: the one the person named, else the one the client works in, else the server's own.

A client says where it works with the protocol's roots: asked once per connection up to version 2025-11-25, and handed
back with the call itself from 2026-07-28 on.
"""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from pydantic import ValidationError

WAIT = 2.0
"""Seconds a client has to say where it works; else the server's folder is taken, and it is asked again next time."""
_ROOTS = "roots"
_CONNECTIONS = 1_000

Context = ServerRequestContext[Any, Any]
Asking = types.CallToolRequestParams | types.ReadResourceRequestParams | types.GetPromptRequestParams


class Folders:
    """Knows the folder of each connection."""

    def __init__(self, named: Path | None, own: Path) -> None:
        """``named`` is what the person said, and wins; ``own`` is the folder the server was started in."""
        self._named = named
        self._own = own
        self._known: OrderedDict[str, Path] = OrderedDict()

    async def of(self, ctx: Context, params: Asking | None = None) -> Path | types.InputRequiredResult:
        """Return the folder of a request, or what to answer first, so that the client says where it works."""
        capabilities = ctx.session.client_capabilities
        if self._named is not None or capabilities is None or capabilities.roots is None:
            return self._named or self._own
        known = self._known.get(connection(ctx))
        if known is not None:
            return known
        if ctx.session.can_send_request:
            return self._found(ctx, await _asked(ctx))
        if params is None:
            return self._own
        told = (params.input_responses or {}).get(_ROOTS)
        if told is None:
            return types.InputRequiredResult(input_requests={_ROOTS: types.ListRootsRequest()})
        return self._found(ctx, told.roots if isinstance(told, types.ListRootsResult) else [])

    def forget(self, ctx: Context) -> None:
        """Ask this connection again at its next call: its roots have changed."""
        self._known.pop(connection(ctx), None)

    def _found(self, ctx: Context, roots: list[types.Root] | None) -> Path:
        if roots is None:
            return self._own
        folder = next(filter(None, (local_folder(str(root.uri)) for root in roots)), self._own)
        if ctx.request is None or connection(ctx):  # a stateless request over HTTP belongs to no connection
            self._known[connection(ctx)] = folder
            while len(self._known) > _CONNECTIONS:
                self._known.popitem(last=False)
        return folder


def connection(ctx: Context) -> str:
    """Return what tells this client's connection from the others of a server: empty over standard input and output."""
    return str(ctx.request.headers.get("mcp-session-id", "")) if ctx.request is not None else ""


def local_folder(uri: str) -> Path | None:
    """Return the folder a ``file`` address names, where there is one of that name on this machine."""
    parts = urlsplit(uri)
    path = unquote(parts.path)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or "\0" in path:
        return None
    folder = Path(path)
    try:
        return folder if folder.is_absolute() and folder.is_dir() else None
    except OSError:
        return None


async def _asked(ctx: Context) -> list[types.Root] | None:
    """Ask the client; ``None`` where it does not answer in time, or not as it should."""
    about = ServerMessageMetadata(related_request_id=ctx.request_id)
    try:
        request = types.ListRootsRequest()
        told = await ctx.session.send_request(request, types.ListRootsResult, WAIT, about)
    except (MCPError, ValidationError):
        return None
    return told.roots
