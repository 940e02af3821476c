"""SWE-agent: one ``.traj`` document per run, of one request.

Steps are in ``trajectory``; demonstrations have only ``history``. No success is recorded: a call has failed where its
observation says so, in words the program or an interpreter writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import msgspec

from lessonbook.core.errors import LessonbookError
from lessonbook.core.seen import Seen
from lessonbook.core.session import CallKind, CallStatus, ReadReport, Session, Usage
from lessonbook.transcripts.building import OpenCall, Outcome, Talk, open_call
from lessonbook.transcripts.content import plain
from lessonbook.transcripts.documents import END, START, head_elements, head_keys, read_document
from lessonbook.transcripts.lines import Skip, opened
from lessonbook.transcripts.reports import Tally
from lessonbook.transcripts.values import TEXT_MAX, clip, mapping, text, whole

AGENT = "swe-agent"
COPY = "copy of a record already read"
_ENTER = frozenset(("trajectory", "history"))
_TOOLS = {
    **dict.fromkeys(("open", "goto", "scroll_up", "scroll_down", "view"), CallKind.READ),
    **dict.fromkeys(("search_dir", "search_file", "search_repo"), CallKind.SEARCH),
    **dict.fromkeys(("find_file", "filemap"), CallKind.LIST),
    **dict.fromkeys(("edit", "insert", "str_replace", "undo_edit"), CallKind.EDIT),
    **dict.fromkeys(("create", "write"), CallKind.WRITE),
    **dict.fromkeys(("submit", "exit_forfeit", "exit_cost"), CallKind.OTHER),
}
_EDITOR = "str_replace_editor"
_FAILED = re.compile(
    r"\s*(?:Your (?:proposed )?edit has (?:introduced|NOT been applied)|Error\b|[uU]sage: |No replacement was performed"
    r"|Text not found|(?:File|Path|Directory) \S{1,300} (?:not found|does not exist)|The path \S{1,300} does not exist"
    r"|No file open|Traceback \(most recent call last\)|(?:/bin/)?(?:ba)?sh: .{0,300}(?:not found|syntax error)"
    r"|(?:EXECUTION|COMMAND) TIMED OUT|The command .{0,2000}? (?:was cancelled because|timed out)"
    r"|Your command was blocked|Operation .{0,200} is not supported)",
    re.DOTALL,
)
_RAISED = re.compile(
    r"^Traceback \(most recent call last\):$(?s:.{0,20000})^[A-Za-z_][\w.]*(?:Error|Exception)\b", re.MULTILINE
)
_BLOCKED = re.compile(r"\s*(?:Your command was blocked|Operation .{0,200} is not supported)", re.DOTALL)
_ISSUE = re.compile(
    r"\bISSUE:\n(?P<issue>.+?)(?:\n\n\s*INSTRUCTIONS:|\Z)|<pr_description>\s*(?P<pr>.+?)</pr_description>", re.DOTALL
)


class SweAgentReader:
    """Reads ``*.traj``; it has no folder of its own, runs are kept where it was started."""

    agent = AGENT

    def matches(self, path: str, head: bytes) -> bool:
        """Whether the file looks like a trajectory of SWE-agent."""
        if any(map(_is_step, head_elements(head, "trajectory"))) or any(map(_is_said, head_elements(head, "history"))):
            return True
        return path.endswith(".traj") and "trajectory" in head_keys(head)

    def roots(self, home: str, env: dict[str, str]) -> Sequence[str]:
        """Return the folder ``SWE_AGENT_TRAJECTORY_DIR`` names, if any."""
        named = env.get("SWE_AGENT_TRAJECTORY_DIR")
        return [named] if named else []

    def read(self, path: str, seen: Seen | None = None) -> Iterator[Session | ReadReport]:
        """Yield the file's session, then one report. Never raises for what is in it.

        With ``seen``, a run another file already gave is left out and counted.
        """
        tally = Tally(path, AGENT)
        run = _Run()
        try:
            with opened(path) as file:
                for item in read_document(file, _ENTER, lambda value: _is_step(value) or _is_said(value)):
                    if isinstance(item, Skip):
                        tally.skipped[item.reason] += 1
                    elif item.value not in (START, END):
                        tally.types[item.path] += item.path.endswith("[]")
                        run.take(item.path, item.value)
        except LessonbookError as error:
            tally.problem = str(error)
        session = run.freeze(PurePath(path).name.partition(".")[0], path)
        calls = [call for turn in session.turns for call in turn.calls]
        if seen is not None and calls and not seen.first("swe-agent run", f"{session.id}\0{calls!r}"):
            tally.skipped[COPY] += len(calls)
        elif session.turns:
            yield tally.add(session)
        yield tally.report()


class _Run:
    """One run while its document is read."""

    def __init__(self) -> None:
        self.talk = Talk(AGENT)
        self.steps: list[OpenCall] = []
        self.said: list[OpenCall] = []
        """The calls as the history has them: used where there are no steps."""
        self.prompt = ""
        self.thought = ""
        self.told = ""
        self.state = ""
        self.usage: Usage | None = None

    def take(self, path: str, value: Any) -> None:
        if path == "trajectory[]":
            self._step(value)
        elif path == "history[]":
            self._history(value)
        elif path == "info":
            self._info(mapping(value))
        elif path == "replay_config":
            self._config(mapping(_decoded(value)))
        elif path == "environment":
            self.talk.note("title", value)

    def freeze(self, id: str, path: str) -> Session:
        calls = self.steps or self.said
        if calls or self.prompt:
            turn = self.talk.begin(self.prompt, None)
            for call in calls:
                self.talk.add(call)
            self.talk.reply(self.thought if self.steps else self.told)
            turn.failed = bool(self.state) and "submitted" not in self.state
            if self.usage is not None:
                turn.usage["run"] = self.usage
        return self.talk.freeze(id=id, path=path, parent_id=None)

    def _step(self, step: Mapping[str, Any]) -> None:
        state = mapping(_decoded(step.get("state")))
        self.talk.note("cwd", state.get("working_dir"))
        self.thought = clip(text(step.get("thought")) or text(step.get("response")), TEXT_MAX) or self.thought
        call = _call(text(step.get("action")), len(self.steps))
        if call is not None:
            said = plain(step.get("observation"))
            secs = step.get("execution_time")
            known = float(secs) if isinstance(secs, int | float) and not isinstance(secs, bool) else None
            call.end(Outcome(_status(said), secs=known), said, None)
            self.steps.append(call)

    def _history(self, item: Mapping[str, Any]) -> None:
        role, said = item.get("role"), plain(item.get("content"))
        if item.get("is_demo"):
            return
        if role == "assistant":
            self.told = clip(text(item.get("thought")) or said, TEXT_MAX)
            call = _call(text(item.get("action")), len(self.said))
            if call is not None:
                self.said.append(call)
        elif role in ("user", "tool") and not self.prompt and not self.said:
            found = _ISSUE.search(said)
            self.prompt = clip(((found["issue"] or found["pr"]) if found else said).strip(), TEXT_MAX)
        elif role in ("user", "tool") and self.said and self.said[-1].outcome is None:
            self.said[-1].end(Outcome(_status(said)), said, None)

    def _info(self, info: Mapping[str, Any]) -> None:
        self.state = text(info.get("exit_status"))
        self.talk.note("agent_version", info.get("swe_agent_version"))
        spent = mapping(info.get("model_stats"))
        cost = spent.get("instance_cost")
        if spent:
            known = float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None
            self.usage = Usage(whole(spent.get("tokens_sent")), whole(spent.get("tokens_received")), cost=known)

    def _config(self, config: Mapping[str, Any]) -> None:
        self.talk.note("model", mapping(mapping(config.get("agent")).get("model")).get("name"))
        repo = mapping(mapping(config.get("env")).get("repo"))
        self.talk.note("repo", repo.get("github_url"))
        commit = text(repo.get("base_commit"))
        self.talk.note("commit", commit if re.fullmatch(r"[0-9a-f]{7,64}", commit) else None)


def _is_step(item: Mapping[str, Any]) -> bool:
    return isinstance(item.get("action"), str) and "observation" in item


def _is_said(item: Mapping[str, Any]) -> bool:
    return isinstance(item.get("role"), str) and "content" in item and ("agent" in item or "message_type" in item)


def _call(action: str, n: int) -> OpenCall | None:
    """Return the call an action line is: one of SWE-agent's own commands by its name, else a shell command."""
    action = action.strip()
    if not action:
        return None
    words = action.split(None, 2)
    name = words[0] if words[0] in _TOOLS or words[0] == _EDITOR else "bash"
    call = open_call(f"step-{n}", name, {"command": action}, None)
    if name != "bash":
        call.kind = _TOOLS.get(words[1] if name == _EDITOR and len(words) > 1 else name, CallKind.OTHER)
        call.command = None
    return call


def _status(said: str) -> CallStatus:
    if _BLOCKED.match(said):
        return CallStatus.BLOCKED
    failed = _FAILED.match(said) or _RAISED.search(said[-20_000:])
    return CallStatus.FAILED if failed else CallStatus.OK


def _decoded(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
