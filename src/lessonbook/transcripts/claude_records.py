"""What the records of a Claude Code session mean: pure rules on texts and blocks.

The texts are those the program itself writes (seen in sessions of versions 1.0 to 2.1); they are matched at their
beginning, so that a file which merely quotes one is not mistaken for it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lessonbook.core.session import CallStatus, Usage
from lessonbook.transcripts.building import Outcome
from lessonbook.transcripts.values import mapping, text, whole

_REMINDERS = re.compile(
    r"<(system-reminder|ide_opened_file|ide_selection|ide_diagnostics|session-start-hook|user-prompt-submit-hook)\b"
    r"[^>]*>.*?</\1>",
    re.DOTALL,
)
_NOT_REQUESTS = (
    "Caveat:",
    "<local-command-caveat>",
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification",
    "<agent-notification",
    "<teammate-message",
    "<system-reminder>",
    "<command-stdout>",
    "Operation stopped by hook",
    "This session is being continued from a previous conversation",
)
_COMMAND = re.compile(r"<command-name>\s*(/?[^<\s]+)\s*</command-name>")
_COMMAND_ARGS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_COMMAND_STARTS = ("<command-name>", "<command-message>", "<command-args>")
_PERSONS = frozenset(("human", "user", "cli", "keyboard"))

_REFUSED = (
    "The user doesn't want to proceed with this tool use.",
    "The agent proposed a plan that was rejected by the user.",
)
_REFUSED_IN_AGENT = "Permission for this tool use was denied. The tool use was rejected"
"""In a sub-agent this is a person's refusal only where their words follow; else no one may have been asked."""
_SAID = re.compile(r"\b(?:the user said|the following reason for the rejection):\s*", re.I)
_NOT_SAID = ("The user wants to clarify these questions",)
_NOTE = "\n\nNote: The user's next message may contain"
_MISSING = "[Tool result missing"
_CANCELLED = (
    "[Request interrupted by user",
    "The user doesn't want to take this action right now.",
    "Sibling tool call errored",
    "Cancelled: parallel tool call",
    "Tool execution was interrupted",
    "Interrupted by user",
)
_BLOCKED = re.compile(
    r"Claude requested permissions? (?:to|for) .{0,2000}?but you haven't granted it yet"
    r"|Permission to .{0,20000}? has been (?:auto-)?denied"
    r"|Permission for this (?:action|command|tool use) (?:has been|was) denied"
    r"|This command requires approval|This Bash command contains multiple operations"
    r"|Hook \S+ denied this tool|[\w:*|. -]{0,80}hook error\b|[\w:*|. -]{0,80}operation blocked by hook"
    r"|.{0,400}? was blocked\. For security"
    r"|Access to .{0,500}? (?:is|was) (?:denied|blocked) by (?:the |your )?(?:sandbox|settings|permission|policy)",
    re.DOTALL,
)
_EXIT = re.compile(r"Exit code (\d{1,5})\b")
_WRAPPED = re.compile(r"\s*<tool_use_error>(?:Error: )?")


def blocks(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the message's content blocks; a bare text is one text block, anything else none."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return []
    found = [{"type": "text", "text": item} if isinstance(item, str) else item for item in content]
    return [item for item in found if isinstance(item, dict)]


def person_text(record: Mapping[str, Any], found: list[dict[str, Any]]) -> str:
    """Return what a person typed in this record, what the program added taken out; empty where it is no request."""
    if record.get("isMeta") is True or record.get("isCompactSummary") is True or not _by_person(record):
        return ""
    parts = [_REMINDERS.sub("", text(block.get("text"))).strip() for block in found if block.get("type") == "text"]
    parts = [part for part in parts if part and not part.startswith((*_NOT_REQUESTS, *_COMMAND_STARTS))]
    said = "\n".join(part for part in parts if not is_interruption(part))
    plan = text(record.get("planContent")).strip()
    return said.replace(plan, "").strip() if plan else said


def slash_command(record: Mapping[str, Any], found: list[dict[str, Any]]) -> str | None:
    """Return ``/name args`` where the record is a slash command the person typed, else ``None``."""
    if record.get("isMeta") is True:
        return None
    for block in found:
        said = text(block.get("text")).lstrip()
        named = _COMMAND.search(said, 0, 4_000) if said.startswith(_COMMAND_STARTS) else None
        if named:
            args = _COMMAND_ARGS.search(said)
            name = named[1] if named[1].startswith("/") else f"/{named[1]}"
            return f"{name} {args[1].strip() if args else ''}".strip()
    return None


def is_interruption(said: str) -> bool:
    """Whether the text is the mark of a person who stopped the agent."""
    return said.lstrip().startswith("[Request interrupted by user")


def is_local_output(found: list[dict[str, Any]]) -> bool:
    """Whether the record is what a command that the program answers itself printed."""
    return any(
        text(block.get("text")).startswith(("<local-command-stdout>", "<local-command-stderr>")) for block in found
    )


def _by_person(record: Mapping[str, Any]) -> bool:
    kind = mapping(record.get("origin")).get("kind")
    return kind is None or (isinstance(kind, str) and kind in _PERSONS)


def result_text(block: Mapping[str, Any], beside: object) -> str:
    """Return a tool result's text: its text blocks, images as a word, or what the record says beside it."""
    content = block.get("content")
    if isinstance(content, str):
        return content or text(beside)
    if not isinstance(content, list):
        return text(beside)
    parts = []
    for item in content:
        if isinstance(item, str):
            parts.append(item)
        elif isinstance(item, dict):
            parts.append(text(item.get("text")) if item.get("type") == "text" else f"[{text(item.get('type'))}]")
    return "\n".join(part for part in parts if part)


def outcome(record: Mapping[str, Any], block: Mapping[str, Any], said: str) -> Outcome:
    """Return how a call ended, from its result and what the record says beside it."""
    wrapped = _WRAPPED.match(said)
    bare = said[wrapped.end() :] if wrapped else said
    failed = block.get("is_error") is True or block.get("is_error") == "true" or wrapped is not None
    beside = record.get("toolUseResult")
    denial = text(record.get("toolDenialKind"))
    if denial == "user-rejected" or (failed and _is_refusal(bare)):
        return Outcome(CallStatus.DENIED, deny_reason=_reason(bare))
    if denial:
        return Outcome(CallStatus.BLOCKED)
    if bare.startswith(_CANCELLED) and (failed or len(bare) < 200):
        return Outcome(CallStatus.CANCELLED)
    if bare.startswith(_MISSING):
        return Outcome(CallStatus.UNFINISHED)
    if not failed:
        stopped = isinstance(beside, dict) and beside.get("interrupted") is True
        return Outcome(CallStatus.CANCELLED if stopped else CallStatus.OK)
    if _BLOCKED.match(bare.removeprefix("Error: ")):
        return Outcome(CallStatus.BLOCKED)
    code = _EXIT.match(bare.removeprefix("Error: "))
    return Outcome(CallStatus.FAILED, exit_code=int(code[1]) if code else None)


def _is_refusal(said: str) -> bool:
    return said.startswith(_REFUSED) or (said.startswith(_REFUSED_IN_AGENT) and _SAID.search(said) is not None)


def _reason(said: str) -> str | None:
    """Return the person's own words in a refusal, without what the program adds around them."""
    found = _SAID.search(said)
    reason = said[found.end() :].removesuffix("</tool_use_error>").partition(_NOTE)[0].strip() if found else ""
    return None if not reason or reason.startswith(_NOT_SAID) else reason[:2_000]


def usage(message: Mapping[str, Any]) -> Usage | None:
    """Return one model message's tokens; ``input`` counts cached prompt tokens in, as the common record wants it."""
    said = mapping(message.get("usage"))
    if not said:
        return None
    read, write = whole(said.get("cache_read_input_tokens")), whole(said.get("cache_creation_input_tokens"))
    return Usage(
        input=whole(said.get("input_tokens")) + read + write,
        output=whole(said.get("output_tokens")),
        cache_read=read,
        cache_write=write,
    )
