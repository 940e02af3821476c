"""Reads past sessions, finds what went wrong again and again, and offers it to the books for a person to review."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from lessonbook.actions.evidence import counted, dated, trailers
from lessonbook.actions.names import nameless, names_of
from lessonbook.actions.noting import proposers_note
from lessonbook.actions.sessions import AgentCounts, Progress, Projects, Reading
from lessonbook.book.head import read
from lessonbook.book.known import Known, known
from lessonbook.book.location import book_folder
from lessonbook.book.offer import Offer, offer
from lessonbook.book.switch import enabled
from lessonbook.book.wording import twin_text
from lessonbook.core.candidate import BookKind, Proposal, Twin
from lessonbook.core.errors import BusyError, InputError, LessonbookError, StoreError
from lessonbook.core.finding import findings
from lessonbook.core.ports import Chat, Proposer
from lessonbook.core.project import Project
from lessonbook.core.redact_names import Names
from lessonbook.core.screen import quoted
from lessonbook.proposers.means import Means
from lessonbook.proposers.merged import JOINT
from lessonbook.proposers.registry import ASKING, PROPOSERS
from lessonbook.proposers.shortlist import shortlist
from lessonbook.proposers.together import Together
from lessonbook.proposers.wording import alike, flat, same_rule
from lessonbook.system.locks import locked
from lessonbook.system.settings import Places, Settings

OFF = "learning is off"
KNOWN = "the book has it already: accepted, pending or rejected"
HOMELESS = "its sessions do not say which project they are of"
REMEMBERED = "it is remembered already"
_SAME = 0.85
_WAIT = 60.0
_Chosen = tuple[Proposal, Path, Project | None]
"""A proposal, the folder of its book, and the project of that book."""
_OWN_WORDS = ("corrected", "recorded")


@dataclass(frozen=True, slots=True)
class Offered:
    """One proposal that went to a book; ``id`` is ``None`` in a dry run."""

    id: str | None
    book: Path
    kind: BookKind
    project: str | None
    title: str
    text: str
    why: str
    """How often, where and when: ``44 calls in 44 sessions (2026-02-12..2026-03-02)``."""
    examples: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One proposal that was not offered, and why not."""

    title: str
    text: str
    reason: str
    twin: str = ""
    """The candidate that says nearly the same, what became of it, and why: ``<id>, rejected: only on Windows``."""


@dataclass(frozen=True, slots=True)
class Report:
    """What one run read, found and offered."""

    note: str = ""
    """Why nothing was done, where nothing was."""
    dry_run: bool = False
    agents: Mapping[str, AgentCounts] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)
    findings: Mapping[str, int] = field(default_factory=dict)
    calls: int = 0
    offered: tuple[Offered, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    failed: tuple[LessonbookError, ...] = ()
    """What is wrong with each book that could not be worked in; what is for the others was offered."""

    @property
    def rates(self) -> dict[str, float]:
        """Findings of each kind per 100 calls."""
        return {kind: 100 * count / self.calls for kind, count in self.findings.items()} if self.calls else {}


def propose(
    paths: Sequence[Path] | None,
    places: Places,
    settings: Settings,
    *,
    now: int,
    random_hex: Callable[[], str],
    env: Mapping[str, str],
    dry_run: bool = False,
    remembered: Iterable[str] = (),
    progress: Progress | None = None,
    proposers: Sequence[str] = (),
    chat: Chat | None = None,
) -> Report:
    """Read the sessions of ``paths`` (``None``: every agent's own folders), and offer what they teach.

    ``proposers`` are the names of those to use instead of the configured ones; ``chat`` is what those that need a
    model ask, who find nothing without one.

    ``now`` is epoch seconds, ``random_hex`` returns six hex digits, ``env`` is the environment the agents' folders are
    looked up in, ``remembered`` are lessons a memory holds already. ``dry_run`` writes nothing. Nothing is read or
    written where learning is off. Raises ``InputError`` for a path or a proposer that does not exist,
    ``SetupError`` where a cluster is configured that cannot be used, and what ``offer`` raises.
    """
    if not settings.learning or not enabled(places.config, places.config_file):
        return Report(note=OFF, dry_run=dry_run)
    reading, projects, kinds, names = Reading(), Projects(), Counter[str](), Names()
    means = Means(chat, names, lambda one: _accepted(_Books(places, projects).of(one)[0]))
    used = tuple(dict.fromkeys(proposers or settings.proposers))
    together = Together(_made(used, means))
    noters = (partial(findings, routes=settings.routes), names_of, partial(proposers_note, used))
    for one in reading.noted(paths, places.home, env, noters, settings, progress):
        found, named, notes = one.notes
        kinds.update(str(finding.kind) for finding in found)
        for group in named:
            names.learn(group)
        together.take(projects.placed(one.session), notes)
    ranked = [nameless(one, names) for one in together.proposals()]
    memories = tuple(remembered)

    def choose() -> tuple[_Books, list[_Chosen], tuple[LeftOut, ...]]:
        books = _Books(places, projects)
        return books, *_choose(ranked, together.budget(), books, memories)

    books, chosen, left_out = choose()
    with ExitStack() as alone:
        if chosen and not dry_run:  # chosen once more behind the lock: another run may just have offered the same
            alone.enter_context(locked(places.state / "propose.lock", wait=_WAIT))
            books, chosen, left_out = choose()
        offered = _offer(chosen, books, now, None if dry_run else random_hex)
    passed = together.passed()
    left_out += tuple(
        LeftOut(names.without(one.title), names.without(one.text, guess=True), one.reason) for one in passed
    )
    left_out += tuple(_left_out(one, str(books.broken[book])) for one, book, _ in chosen if book in books.broken)
    calls = sum(counts.calls for counts in reading.agents.values())
    failed = tuple(books.broken.values())
    return Report("", dry_run, reading.agents, reading.unread, dict(kinds), calls, offered, left_out, failed)


def _made(wanted: Sequence[str], means: Means) -> list[Proposer]:
    unknown = [name for name in wanted if name not in PROPOSERS]
    if unknown:
        raise InputError(f"There is no proposer {quoted(unknown[0])}; there are {', '.join(PROPOSERS)}.")
    return [PROPOSERS[name](means) for name in wanted]


def asks(settings: Settings, proposers: Sequence[str] = ()) -> bool:
    """Whether one of the proposers asks a model."""
    return not ASKING.isdisjoint(proposers or settings.proposers)


def _accepted(folder: Path) -> dict[str, str]:
    """The texts of a book's HEAD that an edit may touch."""
    head = read(folder)
    skills = {path: data.decode("utf-8", "replace") for path, data in head.skills.items() if path.endswith("/SKILL.md")}
    return {"AGENTS.md": head.agents, **skills}


@dataclass(slots=True)
class _Books:
    """Where each proposal belongs, and what the books know."""

    places: Places
    projects: Projects
    read: dict[Path, Known] = field(default_factory=dict)
    broken: dict[Path, LessonbookError] = field(default_factory=dict)
    """The books that cannot be worked in, and why: one must not cost the others theirs."""

    def of(self, proposal: Proposal) -> tuple[Path, Project | None]:
        project = None
        if proposal.book is BookKind.PROJECT:
            project = self.projects.of(proposal.cwd, proposal.repo)
        return book_folder(self.places, project), project

    def why_known(self, proposal: Proposal) -> str | None:
        """Why the proposal is not new: its book or the global one has it or a near twin, now or ever; or is broken."""
        for folder in (self.of(proposal)[0], self.places.learned):
            book = self._known(folder)
            if _known(book, proposal) or _twins(book, proposal):
                return KNOWN
            if folder in self.broken:
                return str(self.broken[folder])
        return None

    def twin(self, proposal: Proposal) -> str:
        """Which candidate already says this, and what became of it; empty where only the text itself is known."""
        for folder in (self.of(proposal)[0], self.places.learned):
            for twin in _twins(self._known(folder), proposal):
                return twin_text(twin)
        return ""

    def _known(self, folder: Path) -> Known:
        if folder not in self.read:
            self.read[folder] = Known()
            try:
                self.read[folder] = known(folder)
            except StoreError as error:
                self.broken[folder] = error
        return self.read[folder]


def _choose(
    ranked: Sequence[Proposal], budget: int, books: _Books, memories: Sequence[str]
) -> tuple[list[_Chosen], tuple[LeftOut, ...]]:
    """Take the best that are new, within the budget; and say why each of the others is left out."""
    reasons = {at: why for at, one in enumerate(ranked) if (why := _why_not(one, books, memories)) is not None}
    known = {at for at, why in reasons.items() if why == KNOWN}
    shown, over = shortlist(ranked, budget, known, reasons.keys() - known)
    left_out = sorted((reasons | over).items())
    return [(ranked[at], *books.of(ranked[at])) for at in shown], tuple(
        _left_out(ranked[at], why, books) for at, why in left_out
    )


def _left_out(proposal: Proposal, reason: str, books: _Books | None = None) -> LeftOut:
    twin = books.twin(proposal) if books and reason is KNOWN else ""
    return LeftOut(proposal.title, proposal.rule or proposal.skill_text or "", reason, twin)


def _twins(book: Known, proposal: Proposal) -> tuple[Twin, ...]:
    return book.twins(proposal.key, proposal.rule or proposal.skill_text or "")


def _why_not(proposal: Proposal, books: _Books, memories: Sequence[str]) -> str | None:
    if proposal.book is BookKind.PROJECT and books.of(proposal)[1] is None:
        return HOMELESS
    return books.why_known(proposal) or (REMEMBERED if _is_remembered(proposal, memories) else None)


def _known(book: Known, proposal: Proposal) -> bool:
    keys = {part for key in book.keys for part in key.split(JOINT)}
    text = proposal.rule or proposal.skill_text or ""
    if not keys.isdisjoint(proposal.key.split(JOINT)) or book.holds(proposal.key, text):
        return True
    own_words = proposal.evidence.kind in _OWN_WORDS
    return any(_says(paragraph, text, own_words) for paragraph in book.paragraphs)


def _says(paragraph: str, text: str, own_words: bool) -> bool:
    """Whether a book's paragraph says ``text``; for people's and agents' own words one of its lines is enough."""
    return (own_words and flat(text) in flat(paragraph)) or same_rule(paragraph, text, _SAME)


def _is_remembered(proposal: Proposal, memories: Sequence[str]) -> bool:
    own_words = proposal.evidence.kind in _OWN_WORDS
    return own_words and any(alike(memory, proposal.rule or "", _SAME) for memory in memories)


def _offer(
    chosen: Sequence[_Chosen],
    books: _Books,
    now: int,
    random_hex: Callable[[], str] | None,
) -> tuple[Offered, ...]:
    """Offer to each book at once what is for it, and return what was offered, best first.

    A book that cannot take it is added to ``books.broken``. Without ``random_hex`` nothing is written.
    """
    ids: dict[int, str] = {}
    for folder in dict.fromkeys(folder for _, folder, _ in chosen):
        if random_hex is None:
            break
        mine = [at for at, (_, book, _) in enumerate(chosen) if book == folder]
        offers = [_as_offer(chosen[at][0]) for at in mine]
        try:
            ids.update(zip(mine, offer(folder, offers, now, random_hex), strict=True))
        except (BusyError, StoreError) as error:
            books.broken[folder] = error
    return tuple(_offered(*item, ids.get(at)) for at, item in enumerate(chosen) if item[1] not in books.broken)


def _as_offer(proposal: Proposal) -> Offer:
    files = {f"skills/{proposal.skill_name}/SKILL.md": proposal.skill_text or ""} if proposal.skill_name else {}
    return Offer(proposal.title, proposal.rule, files, trailers(proposal, proposal.proposer))


def _offered(proposal: Proposal, book: Path, project: Project | None, id: str | None) -> Offered:
    why = f"{counted(proposal.evidence)} ({dated(proposal.evidence) or 'no dates'})"
    text = proposal.rule or proposal.skill_text or ""
    name = project.name if project else None
    return Offered(id, book, proposal.book, name, proposal.title, text, why, proposal.evidence.examples)
