"""Reads one line of the wire as a JSON-RPC message, and says what is wrong with one that is none."""

from __future__ import annotations

import json
from typing import NoReturn

from mcp_types import INVALID_REQUEST, PARSE_ERROR, JSONRPCMessage, JSONRPCNotification, jsonrpc_message_adapter
from pydantic import ValidationError

from lessonbook.hosts.mcp.plain import plain


class RefusedError(Exception):
    """A line that is no message; ``answer`` is what to send back."""

    def __init__(self, code: int, message: str, id: object = None) -> None:
        super().__init__(message)
        known = id if isinstance(id, str) or (isinstance(id, int) and not isinstance(id, bool)) else None
        error = {"jsonrpc": "2.0", "id": known, "error": {"code": code, "message": message}}
        self.answer = json.dumps(error).encode()


def parsed(line: bytes) -> JSONRPCMessage:
    """Return the message. Half a character pair, as some clients send, becomes ``U+FFFD``; raises ``RefusedError``."""
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return _mended(line)
    # What has an id that cannot be one would pass for a notification, and never be answered.
    return _mended(line) if isinstance(message, JSONRPCNotification) and b'"id"' in line else message


def too_long(limit: int) -> RefusedError:
    """Return the refusal of a message that was longer than ``limit`` bytes, and was not kept."""
    return RefusedError(INVALID_REQUEST, f"A message of more than {limit:,} bytes was not read.")


def _mended(line: bytes) -> JSONRPCMessage:
    try:
        found = json.loads(line, parse_constant=_refused)
    except (ValueError, RecursionError):
        raise RefusedError(PARSE_ERROR, "This line is not JSON.") from None
    if not isinstance(found, dict):
        what = "a list; send one message a line" if isinstance(found, list) else "no object"
        raise RefusedError(INVALID_REQUEST, f"This line is {what}.")
    id = found.get("id")
    if "id" in found and "method" in found and (isinstance(id, bool) or not isinstance(id, str | int)):
        raise RefusedError(INVALID_REQUEST, "The id of a request must be a text or a whole number.")
    try:
        return jsonrpc_message_adapter.validate_python(plain(found), by_name=False)
    except (ValidationError, RecursionError):
        asked = id if "method" in found else None  # only a request's id: any other would pass for somebody's answer
        raise RefusedError(INVALID_REQUEST, "This line is no JSON-RPC 2.0 message.", asked) from None


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
