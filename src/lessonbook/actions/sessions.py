"""Reads the sessions agents left on this machine, or those someone points at, one by one, and counts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from lessonbook.actions import noting
from lessonbook.actions.noted import Noting
from lessonbook.actions.noting import Noted, Noter, in_their_own_words, is_replay
from lessonbook.core.errors import InputError
from lessonbook.core.project import Project, from_folder, from_remote
from lessonbook.core.seen import Seen
from lessonbook.core.session import ReadReport, Session
from lessonbook.system.cores import runner
from lessonbook.system.cursors import Cursors
from lessonbook.system.projects import identify
from lessonbook.system.settings import Settings
from lessonbook.transcripts.aliens import READ_ALONG, is_beside
from lessonbook.transcripts.incremental import new_found
from lessonbook.transcripts.walk import Found, Roots, default_roots, find, read_found

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
        files, seen = self._files(paths, home, env), Seen()
        told = _told(files, progress)
        for item in read_found(told, seen) if cursors is None else new_found(told, cursors, seen):
            if isinstance(item, Session) and is_replay(item):
                self._replays[item.path] += 1
            elif isinstance(item, Session):
                yield in_their_own_words(item)
            else:
                self._count(item, named=paths is not None)

    def noted(
        self,
        paths: Sequence[Path] | None,
        home: Path,
        env: Mapping[str, str],
        noters: Sequence[Noter],
        settings: Settings,
        progress: Progress | None = None,
    ) -> Iterator[Noted]:
        """Yield of each session that ``sessions`` yields, in that order, what the noters return of it.

        Files are read on as many cores as ``settings`` say, or on their cluster. Raises what ``sessions`` raises, and
        ``SetupError`` where the cluster cannot be used.
        """
        files = self._files(paths, home, env)
        ours = [one for one in files if one.reader is not None]
        size = sum(map(_size, ours))
        with runner(settings.propose_cores, settings.propose_cluster, size, (noting.__name__,)) as run:
            roots = Roots()
            for item in _in_turn(Noting(run, tuple(noters)).noted(ours), files, progress):
                if isinstance(item, ReadReport):
                    self._count(item, named=paths is not None)
                elif is_replay(item.session):
                    self._replays[item.session.path] += 1
                else:
                    yield replace(item, session=roots.placed(item.session))

    def _files(self, paths: Sequence[Path] | None, home: Path, env: Mapping[str, str]) -> list[Found]:
        for path in paths or ():
            if not path.exists():
                raise InputError(f"{path} does not exist.")
        # Absolute, so that a person can open what the evidence names from any folder.
        given = [path.absolute() for path in paths or ()]
        roots = [Path(root) for _, root in default_roots(str(home), env)] if paths is None else given
        self._given = {str(path) for path in given}
        return find(roots)

    def _count(self, report: ReadReport, named: bool) -> None:
        if report.sessions and report.sessions == self._replays[report.path]:
            return
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


def _told(files: Sequence[Found], progress: Progress | None) -> Iterator[Found]:
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


def _in_turn(
    noted: Iterator[Iterator[Noted | ReadReport]], files: Sequence[Found], progress: Progress | None
) -> Iterator[Noted | ReadReport]:
    """What was noted of each file when its turn comes, telling of it; then the reports of those no reader claims."""
    for one in _told(files, progress):
        if one.reader is not None:
            yield from next(noted)
        else:
            yield one.report or ReadReport(one.path, None)


def _size(one: Found) -> int:
    try:
        return Path(one.path).stat().st_size
    except OSError:  # gone meanwhile
        return 0


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
