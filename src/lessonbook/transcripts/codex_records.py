"""What the records of a Codex session mean: pure rules on texts and payloads.

Codex keeps no flag for success: it is read from the result's own header, its JSON envelope, or its first words. Headers
are only believed before ``Output:``, so that a printed text cannot pass for one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from lessonbook.core.session import CallKind, CallStatus, Usage
from lessonbook.transcripts.building import Outcome
from lessonbook.transcripts.values import mapping, text, whole

_REFUSED = ("exec command rejected by user", "patch rejected by user")
_BLOCKED = re.compile(
    r"failed in sandbox |sandbox denied|This action was rejected due to unacceptable risk"
    r"|approval policy is \w+; reject|(?:patch|exec command|command) rejected: |.{0,300}? rejected: blocked by policy"
    r"|(?:execution error: )?Sandbox\(Denied",
    re.DOTALL,
)
_CANCELLED = re.compile(r"aborted(?: by user)?(?: after .{0,40})?\s*(?:\n|\Z)|aborted by user")
_FAILED = re.compile(
    r"failed to parse function arguments|unsupported (?:custom )?(?:tool )?call|unknown tool|execution error"
    r"|apply_patch (?:verification )?failed|(?:exec_command|write_stdin|shell|tool call) (?:failed|error)\b"
    r"|Error: |error: |err: |failed to \w+ ",
    re.IGNORECASE,
)
_HEADER_MAX = 4_000
_OUTPUT = re.compile(r"^Output:(?:\n|\Z)", re.MULTILINE)
_HEADER = re.compile(
    r"(?:Command: |Chunk ID: |Wall time: |Exit code: |Process (?:exited|running) |Total output lines: )"
)
_EXIT = re.compile(r"^(?:Exit code: |Process exited with code )(-?\d{1,10})$", re.MULTILINE)
_WALL = re.compile(r"^Wall time: ([\d.]{1,20}) seconds?$", re.MULTILINE)
_RUNNING = re.compile(r"^Process running with session ID (\S{1,80})$", re.MULTILINE)
_SANDBOX_EXIT = re.compile(r"exit code: (-?\d{1,10})")

_CONTEXT = (
    "<environment_context>",
    "<user_instructions>",
    "<turn_aborted>",
    "<permissions",
    "<skill",
    "<INSTRUCTIONS>",
    "<subagent_notification>",
    "<user_shell_command>",
    "<collaboration_mode>",
    "<model_switch>",
    "<personality_spec>",
    "<apps_instructions>",
    "<user_action>",
    "<hook_prompt",
    "<image",
    "</image>",
    "# AGENTS.md instructions",
)
_ASKED = re.compile(r"^#+ My request for Codex:[ \t]*\n?", re.MULTILINE)
_CWD = re.compile(r"<cwd>([^<\n]{1,4000})</cwd>")
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]*@")


def request(said: str) -> str:
    """Return what the person typed: without what an IDE puts before it; empty where the program wrote the text."""
    said = said.strip()
    if said.startswith("# ") and (asked := _ASKED.search(said)):
        return said[asked.end() :].strip()
    return "" if said.startswith(_CONTEXT) else said


def content_text(content: object) -> str:
    """Return the text of a message's or an output's content: text blocks joined, images as a word."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return text(content.get("text")) or content_text(content.get("content") or content.get("output"))
    if not isinstance(content, list):
        return ""
    parts = []
    for item in content:
        if isinstance(item, dict):
            image = text(item.get("type")).endswith("image")
            parts.append("[image]" if image else text(item.get("text")))
    return "\n".join(part for part in parts if part)


def environment_cwd(said: str) -> str | None:
    """Return the folder an ``<environment_context>`` names: the oldest files say it nowhere else."""
    found = _CWD.search(said, 0, 8_000) if said.lstrip().startswith("<environment_context>") else None
    return found[1].strip() if found else None


def outcome(output: object, kind: CallKind) -> tuple[Outcome, str, str | None]:
    """Return how a call ended, its result's text, and the id of its process where that still runs."""
    if isinstance(output, dict) and output.get("success") is False:
        return Outcome(CallStatus.FAILED), content_text(output), None
    said = content_text(output)
    envelope = _envelope(said)
    if envelope is not None:
        return _from_envelope(envelope, said)
    bare = said.strip()
    if bare in _REFUSED:
        return Outcome(CallStatus.DENIED), said, None
    if _BLOCKED.match(bare):
        code = _SANDBOX_EXIT.search(bare, 0, _HEADER_MAX)
        return Outcome(CallStatus.BLOCKED, int(code[1]) if code else None), said, None
    if _CANCELLED.match(bare):
        return Outcome(CallStatus.CANCELLED), said, None
    if _HEADER.match(said):
        return _from_header(said)
    failed = kind is not CallKind.READ and _FAILED.match(bare)
    return Outcome(CallStatus.FAILED if failed else CallStatus.OK), said, None


def _from_header(said: str) -> tuple[Outcome, str, str | None]:
    end = _OUTPUT.search(said, 0, _HEADER_MAX)
    header = said[: end.start() if end else _HEADER_MAX]
    code, wall, running = _EXIT.search(header), _WALL.search(header), _RUNNING.search(header)
    secs = _seconds(wall[1]) if wall else None
    body = said[end.end() :] if end else said
    return _ended(int(code[1]) if code else None, secs, running[1] if running else None), body, _id(running)


def _id(running: re.Match[str] | None) -> str | None:
    return running[1] if running else None


def _from_envelope(envelope: dict[str, Any], said: str) -> tuple[Outcome, str, str | None]:
    about = mapping(envelope.get("metadata")) or envelope
    code = about.get("exit_code")
    known = code if isinstance(code, int) and not isinstance(code, bool) else None
    wall = about.get("duration_seconds", about.get("wall_time_seconds"))
    process = envelope.get("session_id")
    running = str(process) if isinstance(process, int | str) and known is None else None
    body = content_text(envelope.get("output")) or said
    return _ended(known, wall if isinstance(wall, int | float) else None, running), body, running


def _ended(code: int | None, secs: float | None, running: str | None) -> Outcome:
    if code is None:
        return Outcome(CallStatus.UNFINISHED if running else CallStatus.OK, secs=secs)
    return Outcome(CallStatus.FAILED if code else CallStatus.OK, exit_code=code, secs=secs)


def _envelope(said: str) -> dict[str, Any] | None:
    """Return the JSON object a result is wrapped in, if it is one that says how the call ended."""
    if not said.startswith("{") or ('"exit_code"' not in said and '"wall_time_seconds"' not in said):
        return None
    try:
        found = msgspec.json.decode(said.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    about = found.get("metadata") if isinstance(found.get("metadata"), dict) else found
    return found if isinstance(about, dict) and ("exit_code" in about or "wall_time_seconds" in about) else None


def _seconds(said: str) -> float | None:
    try:
        return float(said)
    except ValueError:
        return None


def remote(address: object) -> str | None:
    """Return a repository's address without the credentials it may carry."""
    return _CREDENTIALS.sub("", address) if isinstance(address, str) and address else None


def usage(said: Mapping[str, Any]) -> Usage:
    """Return the tokens of one model call; Codex counts cached tokens into ``input_tokens`` already."""
    return Usage(
        input=whole(said.get("input_tokens")),
        output=whole(said.get("output_tokens")),
        cache_read=whole(said.get("cached_input_tokens")),
        cache_write=whole(said.get("cache_write_input_tokens")),
        reasoning=whole(said.get("reasoning_output_tokens")),
    )
