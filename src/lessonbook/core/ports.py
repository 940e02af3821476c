"""The Protocols that what comes in many kinds must meet: memories, transcript readers, proposers, models.

Adding a kind is one module that meets its Protocol, one line in its folder's registry, and one test that inherits the
contract suite in ``lessonbook.testing``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from lessonbook.core.agent_run import Apart, Permission, Ran, Task
from lessonbook.core.candidate import Passed, Proposal
from lessonbook.core.cursor import Resume
from lessonbook.core.extraction import Extraction
from lessonbook.core.lesson import Change, Kept, Lesson, Recalled, Receipt
from lessonbook.core.pieces import Part, Piece
from lessonbook.core.seen import Seen
from lessonbook.core.session import ReadReport, Session


@runtime_checkable
class Memory(Protocol):
    """One open store of lessons, for one project and the bank every project shares where it has one.

    Every method may raise ``StoreError`` (the store cannot be read or written) or ``BusyError`` (it stayed locked).
    """

    name: str
    """The backend's name in the configuration: ``local``, ``mnemopi``, ``hindsight``, ``off``."""
    scopes: frozenset[str]
    """The scopes it keeps apart: ``{"project"}``, or ``{"project", "global"}`` where every project recalls one bank."""

    def store(self, lesson: Lesson) -> Receipt:
        """Keep one lesson, durably before it returns; the same lesson again is ``DUPLICATE``, never a second copy."""
        ...

    def recall(self, query: str, limit: int = 5) -> Sequence[Recalled]:
        """Return the lessons that fit ``query`` best, best first; never raises for any text; blank finds nothing."""
        ...

    def recent(self, limit: int = 20) -> Sequence[Recalled]:
        """Return the newest lessons, newest first."""
        ...

    def count(self) -> int:
        """Return how many lessons this project can recall."""
        ...

    def close(self) -> None:
        """Release files and locks; safe to call twice."""
        ...


class Deliverer(Protocol):
    """What hands on to a server what a memory was told while that did not answer, or at all."""

    delivers_itself: bool
    """Whether telling starts a thread that delivers; false for a program that ends right away."""

    def waiting(self) -> bool:
        """Whether anything is to be delivered now."""
        ...

    def deliver_in_background(self) -> None:
        """Begin to deliver what is left from before, in a thread."""
        ...


@runtime_checkable
class Delivering(Memory, Protocol):
    """A memory that keeps what it is told here first, durably, and hands it on to a server when it can."""

    @property
    def delivery(self) -> Deliverer:
        """What delivers."""
        ...

    @property
    def trouble(self) -> str:
        """One sentence where the last answer lacks what the server knows; else empty."""
        ...


@runtime_checkable
class Reflecting(Memory, Protocol):
    """A memory whose server answers questions in its own words."""

    def reflect(self, query: str) -> str:
        """Return the server's answer. Raises ``ModelError`` where there is none."""
        ...


@runtime_checkable
class Bank(Memory, Protocol):
    """A memory whose lessons can be read and changed one by one; every change is kept and can be undone.

    An id that the bank does not have, or that belongs to a project the memory does not see, raises ``InputError``, as
    does a field or value that cannot be. Nothing is changed then.
    """

    def get(self, lesson: str) -> Kept:
        """Return one lesson, forgotten or not."""
        ...

    def lessons(self, limit: int = 100, after: str | None = None, *, forgotten: bool = False) -> Sequence[Kept]:
        """Return the lessons of both banks, newest first; ``after`` is the last id of the page before."""
        ...

    def update(self, lesson: str, changes: Mapping[str, object]) -> Kept:
        """Change fields of ``core.lesson.Lesson`` by name; cleaned and redacted as everything that comes in."""
        ...

    def forget(self, lesson: str) -> Kept:
        """Never recall it again; ``undo`` brings it back."""
        ...

    def invalidate(self, lesson: str, replacement: str | None = None) -> Kept:
        """Say that it no longer holds, and which lesson holds in its place."""
        ...

    def pin(self, lesson: str, pinned: bool = True) -> Kept:
        """Keep it from being proposed for merging or retirement, and raise it a little in every answer it fits."""
        ...

    def undo(self, lesson: str) -> Kept:
        """Take back the last change that still stands; again, the one before. Raises ``InputError`` when none is."""
        ...

    def history(self, lesson: str) -> Sequence[Change]:
        """Return its changes, newest first."""
        ...

    def erase(self, lesson: str) -> None:
        """Remove it with its history and every trace in the file: for what should never have been kept. Final."""
        ...


@runtime_checkable
class TranscriptReader(Protocol):
    """Reads the sessions one agent wrote. Read-only, in constant memory, and past any damage."""

    agent: str
    """The agent's name: ``claude``, ``codex``, …"""

    def matches(self, path: str, head: bytes) -> bool:
        """Whether the file looks like this agent's; ``head`` is its first 64 KiB."""
        ...

    def roots(self, home: str, env: dict[str, str]) -> Sequence[str]:
        """Return the folders this agent writes its sessions to on this machine, whether or not they exist."""
        ...

    def read(self, path: str, seen: Seen | None = None) -> Iterator[Session | ReadReport]:
        """Yield each session of the file, then one report. Never raises for what is in the file.

        ``seen`` is passed along while many files are read in order of time: what another file already gave, as
        resumed and forked sessions repeat it, is left out and counted.
        """
        ...


@runtime_checkable
class ResumableReader(TranscriptReader, Protocol):
    """A reader whose files only grow: it says in its report where it can go on, and goes on there."""

    def resume(self, path: str, at: Resume, seen: Seen | None = None) -> Iterator[Session | ReadReport]:
        """Yield what ``read`` does, from ``at`` on; turns are numbered from 1."""
        ...


@runtime_checkable
class DividedReader(TranscriptReader, Protocol):
    """A reader that can read one large file in pieces, each by itself: together they come to what ``read`` yields."""

    def pieces(self, path: str, size: int) -> Iterator[Piece]:
        """Yield pieces of about ``size`` bytes, in order, up to the end; none where the file is better read whole."""
        ...

    def read_piece(self, path: str, piece: Piece) -> Iterator[Part | ReadReport]:
        """Yield what each session has in the piece, in the order of their first lines, then one report.

        The report counts lines, not sessions. A session with lines in several pieces is for ``gather``.
        """
        ...

    def gather(self, path: str, key: str, rows: Sequence[int]) -> Part:
        """Return what one session has at ``rows``, the places of its lines. Raises ``StoreError``."""
        ...


@runtime_checkable
class Proposer(Protocol):
    """One way to find lessons in sessions. Pure: it writes nothing and decides nothing. One object serves one run."""

    name: str
    passed: list[Passed]
    """What it found and did not propose, and why; complete after ``proposals``."""

    def see(self, session: Session) -> None:
        """Take note of one session, and keep only what is small."""
        ...

    def note(self, session: Session) -> Any:
        """Return what there is to keep of a session: of that alone, small, and such that ``pickle`` can send it."""
        ...

    def take(self, session: Session, note: Any) -> None:
        """Do what ``see`` does, with a session that comes without its turns and what ``note`` returned of it.

        Its ``repo`` and ``parent_id`` may be known better by now.
        """
        ...

    def proposals(self) -> Sequence[Proposal]:
        """Return what the sessions seen teach, most worthwhile first."""
        ...

    def propose(self, sessions: Iterable[Session]) -> Sequence[Proposal]:
        """See all the sessions, and return what they teach."""
        ...


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered and what that took; ``None`` where its door does not say."""

    text: str
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    """In dollars."""


class Chat(Protocol):
    """One turn with a model: a prompt goes in, a reply comes out. A plain function ``prompt -> str`` is one too."""

    def __call__(self, prompt: str, /) -> Reply | str:
        """Return the answer. Raises ``ModelError`` where there is none and ``SetupError`` where none is set up."""
        ...


@runtime_checkable
class AgentRunner(Protocol):
    """One coding agent that runs without a person: the command, what surrounds it, and how to read how it ended.

    Pure: ``system.agents.running`` starts it. ``words`` and ``environment`` raise ``InputError`` for a task the agent
    cannot be given, such as a permission it cannot keep.
    """

    name: str
    reader: str
    """The name of the reader of its transcripts, as ``TranscriptReader.agent``."""
    bounded: bool
    """Whether it stops by itself at ``Task.dollars``."""
    permissions: frozenset[Permission]
    """Those it can keep."""
    hosts: tuple[str, ...]
    """Where its model answers, unless the environment names another place."""
    transcripts: str
    """The folder of its transcripts; empty where its reader knows."""
    writes: tuple[str, ...] | None
    """What the person says that it may write to beside the folder of a run, and nothing else then."""

    def words(self, task: Task) -> Sequence[str]:
        """Return the command."""
        ...

    def environment(self, task: Task) -> Mapping[str, str]:
        """Return the variables it needs beside the person's own."""
        ...

    def apart(self, task: Task, env: Mapping[str, str]) -> Apart | None:
        """Return what keeps it to the folder of the run; ``None`` where its state is where it always is.

        ``env`` is the person's own environment. Looks at files, and writes none.
        """
        ...

    def data(self, task: Task) -> bytes:
        """Return what it reads on standard input."""
        ...

    def told(self, task: Task, code: int, out: str, err: str) -> Ran:
        """Return how a run ended, from its exit code and all it wrote. Never raises for what it wrote."""
        ...


@runtime_checkable
class Extractor(Protocol):
    """One way to find what a text names and states."""

    def extract(self, text: str) -> Extraction:
        """Return what ``text`` names and states, nothing that does not stand in it. Never raises for any text."""
        ...
