"""Reads the sessions agents left on this machine, or those someone points at, one by one, and counts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from lessonbook.core.briefing import CLOSING, OPENING, REMINDER, without_briefings
from lessonbook.core.errors import InputError
from lessonbook.core.project import Project, from_folder, from_remote
from lessonbook.core.seen import Seen
from lessonbook.core.session import ReadReport, Session
from lessonbook.core.tidy import RECALL_CLOSING, RECALL_OPENING
from lessonbook.system.cursors import Cursors
from lessonbook.system.projects import identify
from lessonbook.transcripts.aliens import READ_ALONG, is_beside
from lessonbook.transcripts.incremental import new_found
from lessonbook.transcripts.walk import Found, default_roots, find, read_found

_OURS = ((OPENING, CLOSING), (REMINDER, CLOSING), (RECALL_OPENING, RECALL_CLOSING))
"""The first and last lines of what hooks put into sessions."""
REPLAYS = "/lessonbook/nights/work/"
"""What stands in the folder of every session that was a replay of the night's."""
Progress = Callable[[int, int, str], None]
"""Called with files done, files in all, and the file that is next."""


@dataclass(slots=True)
class AgentCounts:
    """What reading one agent's files came to."""

    files: int = 0
    sessions: int = 0
    turns: int = 0
    calls: int = 0
    failed: int = 0
    denied: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    """Lines that were not used, by reason."""

    def add(self, report: ReadReport) -> None:
        """Count one file's report."""
        self.files += 1
        self.sessions += report.sessions
        self.turns += report.turns
        self.calls += report.calls
        self.failed += report.failed
        self.denied += report.denied
        self.skipped.update(report.skipped)


@dataclass(slots=True)
class Reading:
    """Reads files one at a time and keeps only counts; iterate ``sessions`` once."""

    agents: dict[str, AgentCounts] = field(default_factory=dict)
    _replays: Counter[str] = field(default_factory=Counter)
    unread: dict[str, str] = field(default_factory=dict)
    """Files that were not read, and why."""
    _given: set[str] = field(default_factory=set)

    def sessions(
        self,
        paths: Sequence[Path] | None,
        home: Path,
        env: Mapping[str, str],
        progress: Progress | None = None,
        cursors: Cursors | None = None,
    ) -> Iterator[Session]:
        """Yield each session, oldest file first: of ``paths`` (files or folders), or of every agent's own folders.

        With ``cursors`` only the turns that are new since they were last committed; the caller commits them. Raises
        ``InputError`` for a path that does not exist.
        """
        for path in paths or ():
            if not path.exists():
                raise InputError(f"{path} does not exist.")
        # Absolute, so that a person can open what the evidence names from any folder.
        given = [path.absolute() for path in paths or ()]
        roots = [Path(root) for _, root in default_roots(str(home), env)] if paths is None else given
        self._given = {str(path) for path in given}
        files, seen = find(roots), Seen()
        told = _told(files, progress)
        for item in read_found(told, seen) if cursors is None else new_found(told, cursors, seen):
            if isinstance(item, Session) and REPLAYS in (item.cwd or ""):
                self._replays[item.path] += 1  # nobody's session: a request that the night ran once more
            elif isinstance(item, Session):
                yield in_their_own_words(item)
            elif not item.sessions or item.sessions != self._replays[item.path]:
                self._count(item, named=paths is not None)

    def _count(self, report: ReadReport, named: bool) -> None:
        if report.problem and report.path not in self._given and _goes_without_saying(report.problem, named):
            return
        if report.problem and (named or report.agent or _worth_telling(report.path)):
            self.unread[report.path] = report.problem
        if report.agent:
            self.agents.setdefault(report.agent, AgentCounts()).add(report)


def _goes_without_saying(problem: str, named: bool) -> bool:
    """Whether it need not be told that a file was met: parts of sessions, and in the agents' own folders side files."""
    return problem == READ_ALONG or (is_beside(problem) and not named)


def _worth_telling(path: str) -> bool:
    """Whether an unread path of an agent's own folder may have held sessions; agents keep other files there too."""
    return ".jsonl" in Path(path).name or Path(path).is_dir()


def in_their_own_words(session: Session) -> Session:
    """Return the session without the texts of ours that its prompts quote: nobody typed those."""
    said = (text for turn in session.turns for text in (turn.prompt, *turn.steered))
    if not any(opening in text for text in said for opening, _ in _OURS):
        return session
    turns = (
        replace(turn, prompt=_typed(turn.prompt), steered=tuple(filter(None, map(_typed, turn.steered))))
        for turn in session.turns
    )
    return replace(session, turns=tuple(turns))


def _typed(prompt: str) -> str:
    for opening, closing in _OURS:
        prompt = without_briefings(prompt, opening, closing)
    return prompt.strip()


def _told(files: list[Found], progress: Progress | None) -> Iterator[Found]:
    """The files in order, telling of each when its turn comes."""
    for at, one in enumerate(files):
        if progress is not None:
            progress(at, len(files), one.path)
        yield one
    if progress is not None:
        progress(len(files), len(files), "")


def is_here(folder: str) -> bool:
    """Whether a folder that a session names is on this machine, and we may look; a session may name anything."""
    try:
        return Path(folder).is_dir()
    except (OSError, ValueError):
        return False


@dataclass(slots=True)
class Projects:
    """Which project a session belongs to: asked of git once a folder, else the recorded remote, else the folder."""

    by_folder: dict[str, Project] = field(default_factory=dict)

    def of(self, cwd: str | None, repo: str | None) -> Project | None:
        """Return the project of a folder or a remote address; ``None`` where neither is known."""
        if cwd and cwd in self.by_folder:
            return self.by_folder[cwd]
        if cwd and is_here(cwd):
            found = identify(Path(cwd))
        elif repo:
            found = from_remote(repo, cwd or "")
        elif cwd:
            return from_folder(cwd)
        else:
            return None
        if cwd:
            self.by_folder[cwd] = found
        return found

    def name(self, session: Session) -> str:
        """Return the name of a session's project; empty where it says none."""
        project = self.of(session.cwd, session.repo)
        return project.name if project is not None else ""

    def placed(self, session: Session) -> Session:
        """Return the session with its project's identity as its repository: clones and worktrees are one project."""
        project = self.of(session.cwd, session.repo)
        return replace(session, repo=project.identity) if project is not None else session
