"""Offers what should become of lessons that did not help: another text where a better one is known, else their end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lessonbook.actions.evidence import trailers
from lessonbook.actions.watch import Watch, Watched
from lessonbook.book.head import read
from lessonbook.book.known import known
from lessonbook.book.offer import Offer, offer
from lessonbook.core.errors import BusyError, InputError, ModelError, SetupError, StoreError
from lessonbook.core.outcome import Outcome
from lessonbook.core.ports import Chat
from lessonbook.proposers import rewritten_edit
from lessonbook.proposers.rewritten import REWRITE, Rewrite
from lessonbook.proposers.wording import title

RETIRE = "retire"
MODEL = "editor model"
"""What stands in the place of a book where a model gave no answer."""
EDITED = "edited"
"""The way of a text that an editor model wrote."""


def mend(found: Watch, now: int, random_hex: Callable[[], str], chat: Chat | None = None) -> Watch:
    """Offer a candidate for each lesson that ``fails`` or for which a better text is known, each once.

    A better text is offered as a rewrite; where none is known, ``chat`` (an editor model) is asked for one; without an
    answer that holds, taking the lesson out is offered. A rewrite that waits or was rejected leaves the lesson as it
    is until sessions show yet another way. A book that cannot be worked in costs only itself, and so does a lesson
    whose text may not be offered.
    """
    broken = dict(found.broken)
    told: list[Watched] = []
    for one in found.lessons:
        asks = chat is not None and one.better is None and bool(one.evidence)
        if (one.fails or one.better) and one.book.name not in broken and not (asks and MODEL in broken):
            try:
                one = _mended(one, found, now, random_hex, chat)
            except InputError as error:  # a skill to which a person added what looks like a secret
                broken[f"{one.book.name}, {one.lesson.id}"] = str(error)
            except ModelError as error:  # the lessons it is needed for wait for another time
                broken[MODEL] = str(error)
            except (BusyError, StoreError) as error:
                broken[one.book.name] = str(error)
        told.append(one)
    return replace(found, lessons=tuple(told), broken=broken)


def counts(outcome: Outcome) -> str:
    """Return ``before 6 in 12 calls, since 9 in 18 (9.0 were due); read in 9 sessions since``."""
    read_in = f"read in {outcome.read:,} session{'' if outcome.read == 1 else 's'} since"
    if not outcome.counted:
        return f"what it is about cannot be counted in calls; {read_in}"
    return (
        f"before {outcome.before:,} in {outcome.calls_before:,} calls, since {outcome.since:,} in "
        f"{outcome.calls_since:,} ({outcome.due:.1f} were due); {read_in}"
    )


def _mended(one: Watched, found: Watch, now: int, random_hex: Callable[[], str], chat: Chat | None) -> Watched:
    if one.better is not None:
        return one if _is_known(one, one.better) else replace(one, rewrite=_rewritten(one, one.better, now, random_hex))
    if _is_settled(one):
        return one
    edited = _edited(one, found, chat) if chat is not None and one.evidence else None
    if edited is not None:
        return replace(one, better=edited, rewrite=_rewritten(one, edited, now, random_hex))
    return replace(one, retirement=_retired(one, now, random_hex))


def _is_known(one: Watched, better: Rewrite) -> bool:
    """Whether this text was offered before, another waits, or the lesson is not there any more."""
    book = known(one.book.folder)
    return better.proposal.key in book.keys or book.waits(_own(one)) or not _is_held(one)


def _is_settled(one: Watched) -> bool:
    """Whether its end or another text was offered before, or the lesson is not there any more."""
    keys = known(one.book.folder).keys
    offered = f"{RETIRE} | {one.lesson.id}" in keys or any(key.startswith(_own(one)) for key in keys)
    return offered or not _is_held(one)


def _is_held(one: Watched) -> bool:
    return one.lesson.rule in read(one.book.folder).agents.replace("\r\n", "\n")


def _own(one: Watched) -> str:
    """How the keys of its rewrites begin."""
    return f"{REWRITE} | {one.lesson.id} | "


def _edited(one: Watched, found: Watch, chat: Chat) -> Rewrite | None:
    """What the model makes of the lesson; ``None`` where it has nothing better, or nothing that holds.

    Raises ``ModelError`` where it gave no answer, so that it is asked another time.
    """
    files = {"AGENTS.md": one.lesson.rule, **one.skills}
    asked = rewritten_edit.prompt(one.evidence, files, counts(one.outcome), one.gone, found.names)
    agents = read(one.book.folder).agents.replace(one.lesson.rule, "") if one.lesson.rule else ""
    try:
        reply = chat(asked)
    except SetupError:  # nothing says what it costs, or its program is not there: that will not change by itself
        return None
    try:
        said = reply if isinstance(reply, str) else reply.text
        holds = rewritten_edit.checked(said, {"AGENTS.md": agents, **one.skills}, one.lesson.rule, found.names)
    except (InputError, ModelError):  # it was paid for, and no other answer is to be expected
        return None
    if holds is None:
        return None
    about = tuple(sorted({key for proposal in one.evidence for key in proposal.about or (proposal.key,)}))
    key = f"{_own(one)}{EDITED}"
    subject = title(f"Rewrite: {holds.title}")
    first = replace(one.evidence[0], title=subject, key=key, rule=holds.rule, about=about, skill_name=None)
    files = {f"skills/{holds.skill_name}/SKILL.md": holds.skill_text or ""} if holds.skill_name else {}
    return Rewrite(first, files=files)


def _rewritten(one: Watched, better: Rewrite, now: int, random_hex: Callable[[], str]) -> str | None:
    found = better.proposal
    told = trailers(found, "watch")
    told = tuple((name, REWRITE if name == "Evidence-kind" else value) for name, value in told)
    told += (("Evidence-key", better.known_as),) if better.known_as else ()
    told += (("Evidence-effect", counts(one.outcome)), ("Rewrites", one.lesson.id))
    told += (("Evidence-gone", ", ".join(one.gone)),) if one.gone else ()
    rule = found.rule if one.lesson.rule else None
    retires = one.lesson.rule if rule or not one.lesson.skills else None
    item = Offer(found.title, rule, dict(better.files), told, retires=retires)
    return _offered(one, item, now, random_hex, lambda: _is_known(one, better))


def _retired(one: Watched, now: int, random_hex: Callable[[], str]) -> str | None:
    lesson, outcome = one.lesson, one.outcome
    why = f"{outcome.since} times in {outcome.calls_since:,} calls since, {outcome.due:.1f} were due"
    why = f"{', '.join(one.gone)}: not there any more" if one.gone else why
    key = f"{RETIRE} | {lesson.id}"
    kind = (("Proposer", "watch"), ("Evidence-kind", RETIRE), ("Evidence-key", key))
    told = (*kind, ("Evidence-count", why), ("Evidence-effect", counts(outcome)))
    item = Offer(title(f"Retire: {lesson.title}"), trailers=told, retires=lesson.rule or None, removes=one.files)
    return _offered(one, item, now, random_hex, lambda: _is_settled(one))


def _offered(
    one: Watched, item: Offer, now: int, random_hex: Callable[[], str], unless: Callable[[], bool]
) -> str | None:
    """The candidate's id; ``None`` where another program was quicker."""
    return next(iter(offer(one.book.folder, [item], now, random_hex, unless=unless)), None)
