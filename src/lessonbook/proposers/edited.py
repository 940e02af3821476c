"""The proposer ``edited``: an editor model reads what happened, scrubbed, and edits a copy of the folder.

It sees the evidence of the other proposers and the accepted texts of one book, and answers with edits of a copy. Each
edit that holds is one proposal; each that does not is told with the reason. Nothing is written here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from lessonbook.core.candidate import BookKind, Evidence, Passed, Proposal
from lessonbook.core.errors import InputError, LessonbookError
from lessonbook.core.session import Session
from lessonbook.proposers import edited_prompt, edited_reply
from lessonbook.proposers.edited_reply import Edit
from lessonbook.proposers.means import Means
from lessonbook.proposers.mining import Note, distinct
from lessonbook.proposers.recorded import Recorded
from lessonbook.proposers.repeats import Repeats
from lessonbook.proposers.wording import safe, title

NAME = "edited"
BOOKS_MOST = 3
"""How many books one run asks about: each is one turn of a model."""
EVIDENCE_MOST = 15

NO_MODEL = "it needs an editor model, and none was given to this run"
_BookKey = tuple[BookKind, str | None]


@dataclass(slots=True)
class Edited:
    """Asks for edits that the evidence bears out. One object serves one run."""

    means: Means
    name: str = NAME
    passed: list[Passed] = field(default_factory=list)
    sources: tuple[Repeats, Recorded] = field(default_factory=lambda: (Repeats(), Recorded()))

    def see(self, session: Session) -> None:
        """Keep what the other proposers find in one session: that is what the model is shown."""
        self.take(session, self.note(session))

    def note(self, session: Session) -> list[Note]:
        """Return what the other proposers find in one session."""
        return [source.note(session) for source in self.sources]

    def take(self, session: Session, note: list[Note]) -> None:
        """Keep what was noted of a session."""
        for source, found in zip(self.sources, note, strict=True):
            source.take(session, found)

    def propose(self, sessions: Iterable[Session]) -> Sequence[Proposal]:
        """See all the sessions, and return what the model makes of them."""
        for session in sessions:
            self.see(session)
        return self.proposals()

    def proposals(self) -> Sequence[Proposal]:
        """Return the edits that hold, of the books with the most evidence first."""
        every = [one for source in self.sources for one in source.proposals()]
        found = distinct(sorted(every, key=lambda one: (-one.worth, one.key)))
        books: dict[_BookKey, list[Proposal]] = defaultdict(list)
        for one in found:
            books[one.book, one.repo or one.cwd].append(one)
        if found and self.means.chat is None:
            self.passed.append(Passed("Edits of the folder", "", NO_MODEL))
            return []
        ranked = sorted(books.values(), key=lambda group: -sum(one.worth for one in group))
        return [edit for group in ranked[:BOOKS_MOST] for edit in self._edits(group[:EVIDENCE_MOST])]

    def _edits(self, evidence: Sequence[Proposal]) -> list[Proposal]:
        """Ask about one book, and check each edit on a copy that holds those before it."""
        copy = dict(self.means.files(evidence[0]))
        asked = edited_prompt.prompt(evidence, copy, self.means.names)
        try:
            assert self.means.chat is not None
            reply = self.means.chat(asked)
            edits = edited_reply.read(reply if isinstance(reply, str) else reply.text)
        except LessonbookError as error:  # one book's turn that failed must not cost what the others gave
            self.passed.append(Passed("Edits of the folder", "", str(error)))
            return []
        kept: list[Proposal] = []
        for edit in edits:
            try:
                kept.append(self._proposal(edit, evidence, copy))
            except InputError as error:
                self.passed.append(Passed(safe(edit.path, 60), safe(edit.text, 200), f"refused: {error}"))
        return kept

    def _proposal(self, edit: Edit, evidence: Sequence[Proposal], copy: dict[str, str]) -> Proposal:
        """Return the edit as a proposal, and put it into the copy. Raises ``InputError`` that says why not."""
        cited = [evidence[number - 1] for number in edit.evidence if 0 < number <= len(evidence)]
        if not cited or len(cited) != len(edit.evidence):
            raise InputError("it does not say which evidence it rests on")
        holds = edited_reply.checked(edit, copy, self.means.names)
        one = replace(
            cited[0],
            title=title(holds.title),
            evidence=_joint([proposal.evidence for proposal in cited]),
            key=f"{NAME} | {safe(holds.title, 80).casefold()}",
            rule=holds.rule,
            skill_name=holds.skill_name,
            skill_text=holds.skill_text,
            about=tuple(dict.fromkeys(key for proposal in cited for key in proposal.about or (proposal.key,))),
            worth=0.9 * max(proposal.worth for proposal in cited),
            proposer=NAME,
        )
        copy[edit.path] = holds.file
        return one


def _joint(parts: Sequence[Evidence]) -> Evidence:
    """The evidence that an edit cites, as one."""
    marks: dict[str, str] = {}
    for mark in (mark for part in parts for mark in part.sessions):
        marks.setdefault(mark.split(" turn ", 1)[0], mark)
    return Evidence(
        kind=NAME,
        agents=tuple(dict.fromkeys(agent for part in parts for agent in part.agents)),
        sessions=tuple(marks.values()),
        count=sum(part.count for part in parts),
        first=min((part.first for part in parts if part.first is not None), default=None),
        last=max((part.last for part in parts if part.last is not None), default=None),
        examples=parts[0].examples,
        times=tuple(at for part in parts for at in part.times),
    )
