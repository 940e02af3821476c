"""Runs a past request once more: in a throwaway clone, under a folder of lessons, and reads what its way cost."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from lessonbook.actions.night_pick import Request
from lessonbook.core.agent_run import Ran, Task
from lessonbook.core.compaction import scrubbed
from lessonbook.core.errors import StoreError
from lessonbook.core.finding import RouteCost, findings, route_cost
from lessonbook.core.ports import AgentRunner
from lessonbook.core.rule_edit import Route
from lessonbook.core.session import Session, Turn
from lessonbook.system.agents.running import quieten, run_agent, surroundings
from lessonbook.system.clones import changes, clone
from lessonbook.system.faults import point
from lessonbook.system.files import make_folder
from lessonbook.system.night_settings import NightSettings
from lessonbook.transcripts.registry import READERS
from lessonbook.transcripts.walk import read_paths

_EARLIER = 2.0
"""How many seconds before a run its files may say they were written: some systems keep whole seconds."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """One run: what it answered and what its way cost; ``problem`` says why that is not known."""

    ran: Ran
    route: Route | None = None
    cost: RouteCost | None = None
    answer: str = ""
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Replays:
    """How requests are run: by whom, as what the configuration says, and in which work folder."""

    agent: AgentRunner
    night: NightSettings
    home: Path
    work: Path

    def run(self, request: Request, lessons: str, name: str, dollars: float, seconds: float) -> Replayed:
        """Run the request with ``lessons`` before it in a clone called ``name``, and read its way.

        ``dollars`` is the most it may cost and ``seconds`` how long it may take. Raises ``InputError``,
        ``StoreError`` and ``SetupError`` where it cannot be begun.
        """
        target, scratch = self.work / name / "clone", self.work / name / "beside"
        make_folder(scratch)
        head = clone(request.source, request.commit, target)
        quieten(scratch)
        point("night.cloned")
        folder = target / request.inside
        own = self.night.of(self.agent.name)
        task = Task(
            prompt=prompt_of(request, lessons),
            folder=str(folder if folder.is_dir() else target),
            scratch=str(scratch),
            session=str(uuid4()),
            permission=self.night.permission,
            network=self.night.network,
            seconds=seconds,
            dollars=dollars,
            model=own.model,
        )
        since = _now(scratch)
        ran = run_agent(self.agent, task, own.model_hosts)
        if ran.problem:
            return Replayed(ran, problem=ran.problem)
        return self._read(task, ran, target, head, scratch, since)

    def _read(self, task: Task, ran: Ran, target: Path, head: str, scratch: Path, since: float) -> Replayed:
        session = self._session(task, ran, target, since)
        if session is None:
            return Replayed(ran, problem=f"{self.agent.name} answered, and its transcript was not found.")
        try:
            changed = changes(target, head, scratch)
        except StoreError:
            return Replayed(ran, problem=f"{self.agent.name} left a clone that cannot be read.")
        found = findings(session)
        costs = [route_cost(turn, found) for turn in session.turns]
        cost = RouteCost(*(sum(getattr(one, name) for one in costs) for name in ("findings", "failed", "calls")))
        turn = Turn(1, "", tuple(call for one in session.turns for call in one.calls))
        answer = f"{ran.reply}\n\n{changed}" if changed else f"{ran.reply}\n\n(no file was changed)"
        return Replayed(ran, Route(turn, found), cost, answer)

    def _session(self, task: Task, ran: Ran, target: Path, since: float) -> Session | None:
        """The session of a run: by the id the agent told, or by the folder, which no other session has."""
        env = surroundings(self.agent, task)
        files = dict.fromkeys(path for root in self._roots(env) for path in _written(root, since - _EARLIER))
        # Each by itself: what two files both hold counts in both.
        items = (item for path in files for item in read_paths([path]))
        sessions = [item for item in items if isinstance(item, Session) and item.parent_id is None]
        here = str(target.resolve())
        own = [one for one in sessions if one.cwd and os.path.realpath(one.cwd).startswith(here)]
        named = [one for one in sessions if ran.session and one.id == ran.session]
        found = own or named
        return max(found, key=lambda one: sum(len(turn.calls) for turn in one.turns)) if found else None

    def _roots(self, env: Mapping[str, str]) -> list[Path]:
        if self.agent.transcripts:
            return [Path(self.agent.transcripts)]
        readers = [one for one in READERS if one.agent == self.agent.reader]
        return [Path(root) for one in readers for root in one.roots(str(self.home), dict(env))]


def prompt_of(request: Request, lessons: str) -> str:
    """Return what the agent is asked: the lessons, then the request, scrubbed and with its repository's path gone."""
    root = str(request.source)
    asked = request.prompt.replace(f"{root}/", "").replace(root, ".")
    asked = request.scrub(asked)
    return f"{scrubbed(lessons)}\n\n{asked}" if lessons else asked


def has_reader(name: str) -> bool:
    """Whether transcripts of this agent can be read."""
    return any(one.agent == name for one in READERS)


def _now(folder: Path) -> float:
    """The moment as the file system has it, by the clock that stamps the transcripts."""
    return (folder / "config.toml").stat().st_mtime


def _written(root: Path, since: float) -> Iterator[Path]:
    """Every file below ``root`` (or that itself) that was written since; a database also by what lies beside it."""
    for folder, _, names in os.walk(root) if root.is_dir() else [(root.parent, (), (root.name, f"{root.name}-wal"))]:
        for name in names:
            path = Path(folder, name)
            try:
                fresh = path.stat().st_mtime >= since
            except OSError:
                continue
            if fresh and not name.endswith("-shm"):
                yield path.with_name(name.removesuffix("-wal"))
