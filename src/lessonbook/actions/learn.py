"""The ``learn`` tool: keeps one lesson, and with it, where asked, creates or updates one managed skill.

The whole call is checked before anything is written. The lesson is stored first; what then becomes of the skill is
said together with what became of the lesson, so that a reply never claims more than happened. The same call again
stores nothing twice.

A reply is the contract's sentence, and after it one sentence for each thing its author should know: what was cut, how
many secrets were redacted, which lesson moved to the archive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lessonbook.actions import learn_call
from lessonbook.actions.skill_review import SkillOffer
from lessonbook.core.errors import LearnError, SetupError
from lessonbook.core.lesson import EMPTY, NO_GLOBAL, Lesson, Outcome, Receipt, Scope
from lessonbook.core.ports import Bank, Memory
from lessonbook.core.redact import LABEL, redact
from lessonbook.core.skill import Skill, SkillDraft, prepare
from lessonbook.core.tidy import redaction_notes, tidy_lesson
from lessonbook.memory.registry import BACKENDS, OFF, backend
from lessonbook.skills.discovery import authored_names
from lessonbook.skills.managed import ManagedSkills, managed_skills
from lessonbook.system.settings import Settings, places

NO_ID = "Mnemopi did not store the lesson (no memory id returned)."


@dataclass(frozen=True, slots=True)
class LearnSession:
    """What the tool needs to know of the session it serves.

    ``memory`` is ``None`` where none could be opened. ``home`` is where authored skills are looked for, the person's
    own by default. ``offer_skill`` puts a skill into the review queue and returns the candidate's id; needed where
    ``autolearn.review`` is on (``skill_review.skill_offer`` makes one). ``beside`` are fields of ``core.lesson.Lesson``
    that the tool has no parameter for, such as ``title``, by name; a person gives them on the command line.
    """

    cwd: Path
    session_id: str
    memory: Memory | None
    home: Path | None = None
    offer_skill: SkillOffer | None = None
    beside: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the tool answers: ``content[0]`` is ``{"type": "text", "text": …}``, ``details`` as the contract has it."""

    content: list[dict[str, str]]
    details: dict[str, Any]
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is to become of the skill, decided before the lesson is stored."""

    draft: SkillDraft
    scope: Scope = Scope.PROJECT
    skill: Skill | None = None
    problem: str | None = None
    authored: Path | None = None


class LearnTool:
    """The tool for one session; made by ``create_if``."""

    name = "learn"
    description = learn_call.DESCRIPTION

    def __init__(self, settings: Settings, session: LearnSession) -> None:
        self._settings = settings
        self._session = session

    @classmethod
    def create_if(cls, settings: Settings, session: LearnSession) -> LearnTool | None:
        """Return the tool where ``autolearn.enabled`` is on and a backend is; ``hindsight`` also needs its address."""
        on = settings.memory_backend != OFF and settings.memory_backend in BACKENDS
        if not settings.autolearn_enabled or not on:
            return None
        if settings.memory_backend == "hindsight" and not settings.hindsight_url:
            return None
        return cls(settings, session)

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON Schema of the arguments; ``scope`` only where there is a bank that every project recalls."""
        return learn_call.schema(with_scope=self._has_global)

    def execute(self, params: Mapping[str, object] | str) -> ToolResult:
        """Keep the lesson, then the skill. Raises ``LearnError``, which says what was stored and what was not.

        ``params`` are the arguments, also as the JSON text some frameworks hand on.
        """
        try:
            return self._execute(learn_call.parse(params))
        except LearnError as error:
            # A message may repeat what was sent, and what was sent may hold a secret.
            raise LearnError(redact(str(error)).text) from error.__cause__

    async def execute_async(self, params: Mapping[str, object] | str) -> ToolResult:
        """Do what ``execute`` does in a thread, so that the event loop goes on; cancelled, it still writes once."""
        import asyncio  # half the start of a command line, which waits for nothing

        return await asyncio.to_thread(self.execute, params)

    def _execute(self, call: learn_call.LearnCall) -> ToolResult:
        if call.scope is Scope.GLOBAL and not self._has_global:
            raise LearnError(NO_GLOBAL)
        memory = self._session.memory
        if memory is None:
            raise LearnError(f"{backend(self._settings).label} backend is not initialised for this session.")
        tidied = tidy_lesson(self._lesson(call))
        if not tidied.lesson.text:
            raise LearnError(EMPTY)
        plan = self._plan(call.skill, call.scope) if call.skill else None
        receipt = _store(memory, tidied.lesson)
        result = "Lesson queued for retention" if receipt.outcome is Outcome.QUEUED else "Lesson stored"
        redacted = tidied.redacted + (_redacted_in(plan) if plan else 0)
        notes = " ".join(("", *_not_kept(memory, self._session.beside), *receipt.notes, *redaction_notes(redacted)))
        return self._with_skill(plan, result, notes) if plan else _reply(f"{result}.{notes}")

    def _lesson(self, call: learn_call.LearnCall) -> Lesson:
        told = {"session_id": self._session.session_id, "cwd": str(self._session.cwd), "tool": self.name}
        metadata = {**told, "context": call.context} if call.context else told
        return Lesson(call.memory, call.context, call.scope, metadata=metadata).but(**self._session.beside)

    def _plan(self, draft: SkillDraft, scope: Scope) -> _Plan:
        """Check all of the skill and write nothing: its text, the names people have taken, what is there already."""
        plan = _Plan(draft, scope)
        try:
            skill = prepare(draft, self._provenance())
            authored = authored_names(self._home, self._session.cwd).get(skill.name.casefold())
            plan = replace(plan, skill=skill, authored=authored)
            if self._settings.autolearn_review:
                if self._session.offer_skill is None:
                    raise SetupError("autolearn.review is on, and this session has no review queue to offer it to.")
            elif not (authored and draft.action == "create"):
                self._managed.check(draft.action, skill)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with the skill, the lesson is still to be kept
            return replace(plan, problem=str(error))
        return plan

    def _with_skill(self, plan: _Plan, result: str, notes: str) -> ToolResult:
        skill, problem = plan.skill, plan.problem
        if skill and not problem and plan.authored and plan.draft.action == "create":
            return _shadowed(skill.name, plan.authored, result, notes)
        if skill and not problem:
            try:
                return self._write(plan, skill, result, notes)
            except Exception as error:  # whatever went wrong, the agent must hear that the lesson is stored
                raise _half_done(result, str(error), notes) from error
        raise _half_done(result, problem or "it could not be checked.", notes)

    def _write(self, plan: _Plan, skill: Skill, result: str, notes: str) -> ToolResult:
        if self._settings.autolearn_review and self._session.offer_skill:
            candidate = self._session.offer_skill(skill, plan.draft.action, plan.scope)
            text = f'{result}. Proposed skill "{skill.name}" for review as {candidate}.{notes}'
            return _reply(text, pending=candidate)
        self._managed.write(plan.draft.action, skill)
        done = "Created" if plan.draft.action == "create" else "Updated"
        hidden = f" The authored skill at {plan.authored} has the same name and wins over it." if plan.authored else ""
        return _reply(f'{result}. {done} managed skill "{skill.name}".{hidden}{notes}', skill.name)

    def _provenance(self) -> dict[str, str]:
        return {"learned-by": Lesson("").source, "learned-in-session": self._session.session_id}

    @property
    def _has_global(self) -> bool:
        memory = self._session.memory
        return self._settings.memory_backend == "mnemopi" if memory is None else Scope.GLOBAL in memory.scopes

    @property
    def _home(self) -> Path:
        return self._session.home or places().home

    @property
    def _managed(self) -> ManagedSkills:
        return managed_skills(self._settings.agent_dir)


def _store(memory: Memory, lesson: Lesson) -> Receipt:
    try:
        receipt = memory.store(lesson)
    except SetupError as error:
        raise LearnError(str(error)) from error
    except Exception as error:  # a memory of anyone's making: the agent must hear that nothing was kept
        raise LearnError(f"{_failed(memory)}: {error}") from error
    if receipt.outcome is Outcome.REFUSED:
        raise LearnError(receipt.reason or f"{_failed(memory)}.")
    if receipt.id is None and memory.name == "mnemopi":
        raise LearnError(NO_ID)
    return receipt


def _not_kept(memory: Memory, beside: Mapping[str, object]) -> tuple[str, ...]:
    """Say what a memory has no place for: only a bank keeps more of a lesson than its words."""
    if not beside or isinstance(memory, Bank):
        return ()
    return (f"The {memory.name} memory keeps its words alone, not its {', '.join(beside)}.",)


def _failed(memory: Memory) -> str:
    known = BACKENDS.get(memory.name)
    return f"{known.label if known else memory.name} did not store the lesson"


def _half_done(result: str, reason: str, notes: str) -> LearnError:
    return LearnError(f"{result}, but the managed skill could not be written: {reason}{notes}")


def _shadowed(name: str, authored: Path, result: str, notes: str) -> ToolResult:
    text = (
        f'{result}. Did not create managed skill "{name}": the authored skill at {authored} has that name, and a '
        f"managed skill never overrides an authored one, so choose a different name.{notes}"
    )
    return ToolResult([{"type": "text", "text": text}], {"skill": None, "shadowed": True}, is_error=True)


def _reply(text: str, skill: str | None = None, pending: str | None = None) -> ToolResult:
    details = {"skill": skill, "pending": pending} if pending else {"skill": skill}
    return ToolResult([{"type": "text", "text": text}], details)


def _redacted_in(plan: _Plan) -> int:
    """Return how many labels the skill has that its author did not write."""
    draft = plan.draft
    written = sum(text.count(LABEL) for text in (draft.name, draft.description, draft.body))
    return max(0, plan.skill.text.count(LABEL) - written) if plan.skill else 0
