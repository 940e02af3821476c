"""How one record of a Claude Code session changes the session it belongs to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lessonbook.core.seen import Seen
from lessonbook.transcripts.building import OpenTurn, Talk
from lessonbook.transcripts.claude_records import (
    blocks,
    is_interruption,
    is_local_output,
    outcome,
    person_text,
    result_text,
    slash_command,
    usage,
)
from lessonbook.transcripts.values import epoch, mapping, scoped, text


@dataclass(slots=True)
class Record:
    """One line's object, with the few fields every record may have. (Not frozen: there is one per line.)"""

    item: dict[str, Any]
    type: str
    uuid: str
    parent: str | None
    at: float | None
    sidechain: bool

    @classmethod
    def of(cls, item: dict[str, Any]) -> Record:
        """Read the common fields; anything of another type counts as missing."""
        kind = item.get("type")
        if kind is None:
            kind = mapping(item.get("message")).get("role")
        parent = item.get("parentUuid") or item.get("logicalParentUuid")
        return cls(
            item=item,
            type=text(kind),
            uuid=text(item.get("uuid")),
            parent=parent if isinstance(parent, str) else None,
            at=epoch(item.get("timestamp")),
            sidechain=item.get("isSidechain") is True,
        )


def relayed_record(record: Record) -> Record | None:
    """Return the sub-agent's record that a progress record of its parent session repeats, if it is one.

    Where the sub-agent has a file of its own the two share their ids, so that each counts once.
    """
    if record.type != "progress":
        return None
    data = mapping(record.item.get("data"))
    if data.get("type") != "agent_progress":
        return None
    inner = mapping(data.get("message"))
    common = {key: record.item.get(key) for key in ("cwd", "gitBranch", "version")}
    return Record.of({**common, **inner, "isSidechain": True, "agentId": data.get("agentId")}) if inner else None


@dataclass(frozen=True, slots=True)
class Known:
    """What was read before, and the file that ids too short to be unique belong to."""

    seen: Seen
    path: str

    def first_record(self, record: Record) -> bool:
        """Whether the record is no copy; a copy keeps its id and its time."""
        return self.seen.first("claude record", f"{scoped(record.uuid, self.path)}\0{record.at}")

    def first_call(self, id: str, name: str) -> bool:
        """Whether the call is no copy."""
        return self.seen.first("claude call", f"{scoped(id, self.path)}\0{name}")


def take(talk: Talk, record: Record, known: Known) -> None:
    """Let the record change its session. ``known`` drops calls that were already read, in this file or another."""
    handler = _HANDLERS.get(record.type)
    if talk.started is None:
        talk.started = record.at
    if handler is None:
        return
    item = record.item
    talk.note("cwd", item.get("cwd"))
    talk.note("branch", item.get("gitBranch"))
    talk.note("agent_version", item.get("version"))
    handler(talk, record, known)
    talk.reach(record.at)


def _user(talk: Talk, record: Record, known: Known) -> None:
    found = blocks(_message(record.item))
    results = [block for block in found if block.get("type") == "tool_result"]
    for block in results:
        _result(talk, record, block)
    if any(is_interruption(text(block.get("text"))) for block in found) and talk.turns:
        talk.turn().interrupted = True
    if results or record.item.get("isMeta") is True:
        return
    if is_local_output(found):
        talk.facts.pop("command", None)
        return
    command = slash_command(record.item, found)
    if command is not None:
        talk.facts["command"] = command
        return
    if talk.by_subagent:
        _instruction(talk, record, found)
        return
    said = person_text(record.item, found)
    if said:
        talk.facts.pop("command", None)
        talk.begin(said, record.at, record.uuid or None)


def _instruction(talk: Talk, record: Record, found: list[dict[str, Any]]) -> None:
    """A sub-agent's instruction was written by a model: it names the session, and is no person's request."""
    said = " ".join(text(block.get("text")) for block in found).strip()
    talk.note("title", said.partition("\n")[0])
    if said and not is_interruption(said):
        talk.begin("", record.at, record.uuid or None)


def _message(item: Mapping[str, Any]) -> dict[str, Any]:
    message = item.get("message")
    return {"content": message} if isinstance(message, str) else mapping(message)


def _result(talk: Talk, record: Record, block: Mapping[str, Any]) -> None:
    id = block.get("tool_use_id")
    call = talk.calls.pop(id, None) if isinstance(id, str) else None
    if call is None and not isinstance(
        id, str
    ):  # old or damaged records name no call: the oldest open one without a name
        key = next((key for key in talk.calls if key.startswith("?")), None)
        call = talk.calls.pop(key) if key is not None else None
    if call is None:
        return
    said = result_text(block, record.item.get("toolUseResult"))
    call.end(outcome(record.item, block, said), said, record.at)


def _assistant(talk: Talk, record: Record, known: Known) -> None:
    message = _message(record.item)
    found = blocks(message)
    if not found and not message.get("usage"):
        return
    if "command" in talk.facts:  # a slash command that the agent now answers is a request of its own
        talk.begin(talk.facts.pop("command"), record.at, text(record.item.get("parentUuid")) or None)
    key = text(message.get("id")) or None
    if record.item.get("isApiErrorMessage") is True:
        turn = talk.turn()
        turn.failed, turn.answered = True, False
        return
    _model(talk, message)
    spent = usage(message)
    if spent is not None:
        talk.turn().usage[key or record.uuid or str(len(talk.turn().usage))] = spent
    for n, block in enumerate(found):
        if block.get("type") == "text":
            talk.reply(text(block.get("text")), key)
        elif block.get("type") == "tool_use":
            _call(talk, record, block, n, known)


def _model(talk: Talk, message: Mapping[str, Any]) -> None:
    if message.get("model") != "<synthetic>":
        talk.note("model", message.get("model"))


def _call(talk: Talk, record: Record, block: Mapping[str, Any], n: int, known: Known) -> None:
    id, name = text(block.get("id")), text(block.get("name"))
    if not name or (id and not known.first_call(id, name)):
        return
    talk.call(id or f"?{record.uuid}.{n}", name, block.get("input"), record.at)


def _queue(talk: Talk, record: Record, known: Known) -> None:
    """Follow what was typed ahead: taken out of the queue while the agent works, it steers; else it is a request."""
    operation, said = record.item.get("operation"), text(record.item.get("content")).strip()
    if operation == "enqueue":
        talk.queue.append("" if said.startswith(("/", "{", "<")) else said)
    elif operation == "popAll":
        talk.queue.clear()
    elif talk.queue and operation in ("dequeue", "remove"):
        said = talk.queue.pop(0)
        if operation == "remove" and said and talk.turns:
            talk.steer(said)


def _attachment(talk: Talk, record: Record, known: Known) -> None:
    attached = mapping(record.item.get("attachment"))
    if attached.get("type") != "queued_command" or not talk.turns:
        return
    found = blocks({"content": attached.get("prompt")})
    if attached.get("commandMode") in (None, "prompt") and attached.get("isMeta") is not True:
        talk.steer(person_text({"origin": attached.get("origin")}, found))


def _title(talk: Talk, record: Record, known: Known) -> None:
    custom = text(record.item.get("customTitle")).strip()
    if custom:
        talk.facts["title"] = custom
    talk.note("title", record.item.get("aiTitle"))


def _worktree(talk: Talk, record: Record, known: Known) -> None:
    worktree = mapping(record.item.get("worktreeSession"))
    talk.note("commit", worktree.get("originalHeadCommit"))


_HANDLERS: dict[str, Callable[[Talk, Record, Known], None]] = {
    "user": _user,
    "assistant": _assistant,
    "queue-operation": _queue,
    "attachment": _attachment,
    "custom-title": _title,
    "ai-title": _title,
    "worktree-state": _worktree,
}


def live_turns(talk: Talk, parents: Mapping[str, str | None]) -> list[OpenTurn]:
    """Return the turns on the branch that is in force; a turn the person went back on is left out.

    A turn is left out only on proof: the chain of records from a later request passes by it and meets its own chain
    further up. Where the chain is broken, as in files whose records were dropped, turns are kept in file order.
    """
    kept: list[OpenTurn] = []
    live: set[str] = set()
    dead: set[str] = set()
    for turn in reversed(talk.turns):
        chain = _chain(turn.key, parents, live, dead)
        above = parents[chain[-1]] if chain else None
        if turn.key not in dead and above not in dead and (above not in live or turn.key in live):
            live.update(chain)
            kept.append(turn)
        else:
            dead.update(chain)
    return kept[::-1]


def _chain(key: str | None, parents: Mapping[str, str | None], *known: set[str]) -> list[str]:
    """Return the records from ``key`` up to the root, or to the first that is known already."""
    chain: list[str] = []
    met: set[str] = set()
    while key is not None and key in parents and key not in met and not any(key in some for some in known):
        chain.append(key)
        met.add(key)
        key = parents[key]
    return chain
