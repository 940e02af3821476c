"""The night: expire, shorten what is nearly full, find lessons, replay, judge, and offer what passed; then one note.

Nothing is ever accepted: all a night does to a book is offer, and take out what nothing used. One night runs at a
time. A night that is cut off anywhere leaves nothing half kept: the next one carries on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from lessonbook.actions import tidying
from lessonbook.actions.mending import mend
from lessonbook.actions.night_folder import Folder
from lessonbook.actions.night_health import looked
from lessonbook.actions.night_models import ask, run_worst
from lessonbook.actions.night_note import note_of, record_of
from lessonbook.actions.night_pick import Picked, Request, pick
from lessonbook.actions.night_replay import Replays, has_reader
from lessonbook.actions.night_round import Round
from lessonbook.actions.night_told import Night
from lessonbook.actions.propose import OFF, propose
from lessonbook.actions.review import NamedBook, books
from lessonbook.actions.session_notes import ended
from lessonbook.actions.watch import watch
from lessonbook.book import compacting
from lessonbook.book.candidates import COMPACTION
from lessonbook.book.head import read
from lessonbook.book.queue import candidates
from lessonbook.book.sentences import LEARNED_MAX
from lessonbook.book.switch import enabled
from lessonbook.core.errors import LessonbookError, SetupError
from lessonbook.core.expiry import DAY, DAYS
from lessonbook.core.money import Purse
from lessonbook.core.night import Try, TryState
from lessonbook.core.ports import AgentRunner
from lessonbook.system.agents.registry import runner
from lessonbook.system.faults import point
from lessonbook.system.locks import locked
from lessonbook.system.night_settings import SAME, NightSettings
from lessonbook.system.settings import Places, Settings

NEARLY_FULL = 0.8
"""The share of the 2,000 characters from which a shorter ``AGENTS.md`` is proposed."""
CUT_OFF = "the night was cut off"


@dataclass(slots=True)
class Nightly:
    """What a night is spent with. ``clock`` gives epoch seconds; ``env`` is where agents' folders are looked up in."""

    places: Places
    settings: Settings
    night: NightSettings
    clock: Callable[[], float]
    random_hex: Callable[[], str]
    env: Mapping[str, str]
    dry_run: bool = False
    replay: bool = True
    progress: Callable[[int, int, str], None] | None = None
    told: Night = field(default_factory=Night)

    def run(self) -> Night:
        """Spend the night and return what it did. Where learning is off nothing is touched.

        Raises ``BusyError`` where another night runs, and ``StoreError`` where its own notes cannot be written.
        """
        told = self.told = Night(dry_run=self.dry_run, began=self.clock(), most=self.night.night_dollars)
        if not self.settings.learning or not enabled(self.places.config, self.places.config_file):
            told.note = OFF
            return told
        folder = Folder(self.places.state)
        if self.dry_run:
            self._spend(folder)
            return told
        with locked(folder.lock, wait=0):
            told.cut_off = folder.cut_off()
            told.name = folder.begin(self.clock())
            point("night.begun")
            self._spend(folder)
            self._finish(folder)
        return told

    def _spend(self, folder: Folder) -> None:
        told, purse = self.told, Purse("night", self.night.night_dollars)
        if not self.dry_run:
            told.cleaned = folder.clean(self.clock(), self.night.keep_days)
        known = self._books()
        worked = self._worked()
        for book in known:
            told.expired[book.name] = tidying.expire(
                self.places, book, int(self.clock()), worked=worked, dry_run=self.dry_run
            )
            if not told.expired[book.name]["ok"]:
                told.failed.append(f"expiring in {book.name}: {told.expired[book.name]['error']}")
                told.exit_code = told.exit_code or 1
        point("night.expired")
        for book in known:
            self._compact(book, purse)
        point("night.compacted")
        self._propose()
        point("night.proposed")
        self._watch(purse)
        point("night.watched")
        if self.replay:
            self._replay(folder, purse)
        self._health()
        point("night.looked")
        told.spent = purse.spent

    def _finish(self, folder: Folder) -> None:
        self.told.ended = self.clock()
        folder.end(self.told.name, note_of(self.told), record_of(self.told))
        point("night.noted")
        for night in self.told.cut_off:
            folder.forget_cut_off(night)

    def _books(self) -> list[NamedBook]:
        try:
            return books(self.places)
        except LessonbookError as error:
            self.told.fail("books", error)
            return []

    def _worked(self) -> bool:
        """Whether any session ended in the last 30 days, as far as hooks noted; where none are set up nobody knows."""
        rows = [row.get("at") for row in ended(self.places.state)]
        since = self.clock() - DAYS * DAY
        return any(isinstance(at, int) and at >= since for at in rows)

    def _compact(self, book: NamedBook, purse: Purse) -> None:
        """Propose a shorter ``AGENTS.md`` where it is nearly full, none is pending, and an editor model is there."""
        try:
            if len(read(book.folder).agents) <= NEARLY_FULL * LEARNED_MAX or self.night.editor is None:
                return
            if any(one.subject.startswith(COMPACTION) for one in candidates(book.folder)):
                return
        except LessonbookError as error:
            self.told.fail(f"compacting {book.name}", error)
            return
        if self.dry_run:
            self.told.compacted[book.name] = {"ok": True, "id": None}
            return

        def chat(prompt: str) -> str:
            return ask(self.night.editor, "editor", prompt, purse, self.night, self.places, "compact")

        try:
            told = compacting.proposed(book.folder, None, chat, int(self.clock()), self.random_hex)
        except LessonbookError as error:
            told = {"ok": False, "error": str(error)}
            self.told.fail(f"compacting {book.name}", error)
        self.told.compacted[book.name] = told

    def _propose(self) -> None:
        """Run the proposers that need no model: what they offer rests on evidence of its own."""
        try:
            self.told.proposed = propose(
                None, self.places, self.settings, now=int(self.clock()), random_hex=self.random_hex, env=self.env,
                dry_run=self.dry_run, progress=self.progress,
            )  # fmt: skip
        except LessonbookError as error:
            self.told.fail("proposing", error)
            return
        for wrong in self.told.proposed.failed:
            self.told.fail("proposing", wrong)

    def _watch(self, purse: Purse) -> None:
        """Look what became of accepted lessons, and propose to rewrite or to take out those that did not help."""

        def chat(prompt: str) -> str:
            return ask(self.night.editor, "editor", prompt, purse, self.night, self.places, "watch")

        try:
            found = watch(None, self.places, self.settings, env=self.env)
            asked = chat if self.replay and self.night.editor is not None else None
            found = found if self.dry_run else mend(found, int(self.clock()), self.random_hex, asked)
        except LessonbookError as error:
            self.told.fail("watching", error)
            return
        self.told.watched = found
        self.told.failed += [f"watching {book}: {why}" for book, why in found.broken.items()]

    def _replay(self, folder: Folder, purse: Purse) -> None:
        told, night = self.told, self.night
        told.replays = why_not(night)
        if told.replays:
            return
        tries = folder.tries()
        for key, one in tries.items():
            if one.state is TryState.RUNNING:  # nobody else holds the lock, so that night is gone
                tries[key] = replace(one, state=TryState.FAILED, why=CUT_OFF)
        picked = pick(self.places, tries, self.env)
        told.refused = picked.refused
        if self.dry_run:
            told.waiting = [request.key for request in picked.requests[: night.rounds]]
            return
        for played in picked.refused:
            tries[f"{played.agent}/{played.session}"] = Try(played.state, 0, played.why, told.name)
        folder.keep_tries(tries)
        point("night.picked")
        self._rounds(folder, purse, picked, tries)

    def _rounds(self, folder: Folder, purse: Purse, picked: Picked, tries: dict[str, Try]) -> None:
        until = self.told.began + self.night.minutes * 60
        for request in picked.requests:
            agent = self._agent(request)
            if agent is None:
                continue
            if len(self.told.rounds) >= self.night.rounds or self.clock() >= until:
                self.told.waiting.append(request.key)
                continue
            refusal = purse.refusal(run_worst(agent, self.night))
            if refusal:
                self.told.replays = f"{refusal}, so the rest waits for another night"
                self.told.waiting.append(request.key)
                continue
            before = tries[request.key].tries if request.key in tries else 0
            self._keep(folder, tries, request.key, Try(TryState.RUNNING, before + 1, "", self.told.name))
            point("night.tried")
            work = folder.work(self.told.name) / str(len(self.told.rounds) + 1)
            replays = Replays(agent, self.night, self.places.home, work)
            own = Purse("round", self.night.round_dollars, purse)
            played = Round(request, self.places, self.night, replays, own, self.clock, until, self.random_hex).play()
            self._keep(folder, tries, request.key, Try(played.state, before + 1, played.why, self.told.name))
            point("night.kept")
            self.told.rounds.append(played)

    def _health(self) -> None:
        """Look after tools and sizes, which no lesson can mend."""
        try:
            self.told.health = looked(self.places, self.env, self.clock(), self.dry_run, self.progress)
        except LessonbookError as error:
            self.told.fail("health", error)

    def _keep(self, folder: Folder, tries: dict[str, Try], key: str, one: Try) -> None:
        tries[key] = one
        folder.keep_tries(tries)

    def _agent(self, request: Request) -> AgentRunner | None:
        """Who replays a request; ``None``, noted once each, where that agent cannot."""
        name = request.agent if self.night.agent == SAME else self.night.agent
        try:
            return checked(name, self.night)
        except SetupError as error:
            if f"{name}: {error}" not in self.told.failed:
                self.told.fail(name, error)
            return None


def why_not(night: NightSettings) -> str:
    """Return why nothing can be replayed by this configuration, in a sentence; empty where it can."""
    if not night.agent:
        return "no agent is set to replay with (nightly.agent)"
    if not night.rounds:
        return "nightly.rounds is 0"
    if night.editor is None:
        return "no editor model is set ([editor])"
    try:
        if night.agent != SAME:
            checked(night.agent, night)
    except LessonbookError as error:
        return str(error).rstrip(".")
    return ""


def checked(name: str, night: NightSettings) -> AgentRunner:
    """Return the agent called ``name``. Raises ``SetupError`` where it cannot be run, kept or read as configured."""
    agent = runner(name, night.of(name))
    run_worst(agent, night)
    if night.permission not in agent.permissions:
        able = ", ".join(sorted(agent.permissions))
        raise SetupError(f"{name} cannot be kept to {night.permission.value!r} (nightly.permission); it can to {able}.")
    if not has_reader(agent.reader):
        raise SetupError(f"transcripts of {name} cannot be read, so what its way costs is not known.")
    return agent
