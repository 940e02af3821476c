"""One round of a night: a past request run as things are, an edit of the lessons, the request run once more, a verdict.

What is kept is offered to a book, never accepted: a person decides. A round ends early as soon as it is known that
nothing will come of it, and says why in a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lessonbook.actions.brief import dated_block, rules_block
from lessonbook.actions.evidence import trailers
from lessonbook.actions.night_models import ask, pay, run_worst
from lessonbook.actions.night_pick import Request
from lessonbook.actions.night_replay import Replayed, Replays
from lessonbook.book.head import Head, read
from lessonbook.book.known import known
from lessonbook.book.location import book_folder
from lessonbook.book.offer import Offer, offer
from lessonbook.book.sentences import LEARNED_MAX
from lessonbook.core import judging, rule_edit
from lessonbook.core.briefing import briefing
from lessonbook.core.candidate import BookKind, Evidence, Proposal
from lessonbook.core.errors import LessonbookError
from lessonbook.core.finding import RouteCost
from lessonbook.core.money import Purse
from lessonbook.core.night import Played, TryState
from lessonbook.core.project import Project
from lessonbook.core.rule_edit import RuleEdit
from lessonbook.system.faults import point
from lessonbook.system.night_settings import NightSettings
from lessonbook.system.projects import identify
from lessonbook.system.settings import Places

PROPOSER = "edited"
_KIND = "replayed"
_LEAST_SECONDS = 1.0


class _Over(Exception):
    """A round is over before its end; the message is why, and ``state`` what becomes of its session."""

    def __init__(self, why: str, state: TryState = TryState.DONE) -> None:
        super().__init__(why)
        self.state = state


@dataclass(slots=True)
class Round:
    """One request and what its round is played with. ``clock`` gives epoch seconds, ``until`` when the night ends."""

    request: Request
    places: Places
    night: NightSettings
    replays: Replays
    purse: Purse
    clock: Callable[[], float]
    until: float
    random_hex: Callable[[], str]
    before: tuple[str, ...] = ()
    after: str = ""
    title: str = ""

    def play(self) -> Played:
        """Play it. Never raises for what goes wrong in it: that is a failed try."""
        id = book = None
        try:
            id, book = self._played()
            state, why = TryState.DONE, "its way got shorter, and its answer is as good"
        except _Over as over:
            state, why = over.state, str(over)
        except LessonbookError as error:
            state, why = TryState.FAILED, str(error)
        request, by = self.request, self.replays.agent.name
        return Played(
            request.agent, request.session, state, why.rstrip("."), by,
            self.before, self.after, self.purse.spent, id, book, self.title,
        )  # fmt: skip

    def _played(self) -> tuple[str, str]:
        project = identify(self.request.source)
        folders = {kind: book_folder(self.places, project if kind is BookKind.PROJECT else None) for kind in BookKind}
        self._check_new(folders)
        heads = {kind: read(folder) for kind, folder in folders.items()}
        base, costs = self._base(_lessons(heads))
        edit = self._edited(_lessons(heads), base)
        self.title = edit.title
        changed = _with(heads, edit)
        _check_room(edit, changed[edit.book], folders)
        new, cost = self._run(_lessons(changed), "candidate")
        self.after = in_words(cost)
        point("night.candidate")
        if not all(cost < one for one in costs):
            raise _Over(f"its way did not get shorter than every way before ({self.after})")
        self._judge(base[costs.index(min(costs))], new)
        id = self._offer(edit, folders[edit.book], project)
        point("night.offered")
        return id, "global" if edit.book is BookKind.GLOBAL else project.slug

    def _check_new(self, folders: Mapping[BookKind, Path]) -> None:
        """A night that was cut off right behind its offer has done this one."""
        if any(self._key in known(folder).keys for folder in folders.values()):
            raise _Over("a night before offered what came of it")

    @property
    def _key(self) -> str:
        return f"replay {self.request.key}"

    def _base(self, lessons: str) -> tuple[list[Replayed], list[RouteCost]]:
        found = []
        for number in range(1, self.night.runs + 1):
            found.append(self._run(lessons, f"base-{number}"))
            self.before = tuple(in_words(cost) for _, cost in found)
            point("night.base")
        costs = [cost for _, cost in found]
        if not any(cost.findings or cost.failed for cost in costs):
            raise _Over("run once more, nothing went wrong on its way")
        return [one for one, _ in found], costs

    def _run(self, lessons: str, name: str) -> tuple[Replayed, RouteCost]:
        """Run the request once, paid for before; a run that did not deliver ends the round."""
        seconds = min(self.night.run_minutes * 60, self.until - self.clock())
        if seconds < _LEAST_SECONDS:
            raise _Over("the night was over", TryState.FAILED)
        worst = run_worst(self.replays.agent, self.night)
        pay(self.purse, worst)
        played = self.replays.run(self.request, lessons, name, worst, seconds)
        self.purse.settle(worst, played.ran.cost)
        if played.problem or played.cost is None:
            raise _Over(f"{name}: {played.problem}", TryState.FAILED)
        return played, played.cost

    def _edited(self, lessons: str, base: Sequence[Replayed]) -> RuleEdit:
        routes = [one.route for one in base if one.route]
        asked = rule_edit.prompt(self.request.prompt, lessons, routes, self.request.scrub)
        said = ask(self.night.editor, "editor", asked, self.purse, self.night, self.places, "replay")
        edit = rule_edit.read(said, self.request.scrub)
        point("night.edited")
        if edit is None:
            raise _Over("the editor model saw no lesson that would help")
        return edit

    def _judge(self, old: Replayed, new: Replayed) -> None:
        asked = judging.question(self.request.prompt, old.answer, new.answer, self.request.scrub)
        said = ask(self.night.judge, "judge", asked.prompt, self.purse, self.night, self.places, "judge")
        point("night.judged")
        if not judging.is_as_good(asked, said):
            raise _Over("the judge did not find the answer at least as good")

    def _offer(self, edit: RuleEdit, folder: Path, project: Project) -> str:
        request, now = self.request, int(self.clock())
        mark = f"{request.session} turn 1 ({request.path})"
        agents = tuple(dict.fromkeys((request.agent, self.replays.agent.name)))
        evidence = Evidence(_KIND, agents, (mark,), request.cost.calls, request.at or None, request.at or None)
        cwd, repo = str(request.source), project.identity
        proposal = Proposal(edit.title, edit.book, evidence, self._key, edit.rule, cwd=cwd, repo=repo)
        told = [("Replay-before", "; ".join(self.before)), ("Replay-after", self.after)]
        told += [("Replay-agent", self.replays.agent.name), ("Replay-judge", "the answer is at least as good")]
        told += [("Replay-spent", f"${self.purse.spent:.2f}")]
        item = Offer(edit.title, edit.rule, {}, (*trailers(proposal, PROPOSER), *told))
        return offer(folder, [item], now, self.random_hex)[0]


def in_words(cost: RouteCost) -> str:
    """Return ``2 findings, 1 failed, 9 calls``."""
    return f"{cost.findings} finding{'' if cost.findings == 1 else 's'}, {cost.failed} failed, {cost.calls} calls"


def _check_room(edit: RuleEdit, head: Head, folders: Mapping[BookKind, Path]) -> None:
    if len(head.agents) > LEARNED_MAX:
        raise _Over(f"its lesson would take AGENTS.md past the {LEARNED_MAX:,} characters", TryState.FAILED)
    if any(known(folder).twins("", edit.rule) or known(folder).holds("", edit.rule) for folder in folders.values()):
        raise _Over("the book has its lesson already: accepted, pending or rejected")


def _with(heads: Mapping[BookKind, Head], edit: RuleEdit) -> dict[BookKind, Head]:
    """The books as they would be with the edit accepted."""
    old = heads[edit.book].agents.rstrip()
    agents = f"{old}\n\n{edit.rule}\n" if old else f"{edit.rule}\n"
    return {**heads, edit.book: heads[edit.book].but(agents=agents)}


def _lessons(heads: Mapping[BookKind, Head]) -> str:
    """What a session starts with of the books; empty where they hold nothing."""
    kinds = {BookKind.GLOBAL: "every project", BookKind.PROJECT: "this project"}
    named = {kinds[kind]: heads[kind] for kind in kinds}
    blocks = [rules_block(kind, head) for kind, head in named.items()]
    return briefing([*blocks, dated_block(named)]).text
