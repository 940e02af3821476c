"""Finds what a text states, without a model: what to use, do and prefer, what needs what, where things are, versions.

The rules are for English sentences. They leave alone what is not stated: questions, quotations, examples, tables, code,
what "could" or "might" be. What narrows a statement is kept with it, so that "use npm in legacy/" is not "use npm".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lessonbook.core.clauses import Clause, doubted, qualifies, sentences
from lessonbook.core.entity import Secrets
from lessonbook.core.fact import Fact, Relation
from lessonbook.core.fact_mood import mood, past_marks
from lessonbook.core.fact_people import liked
from lessonbook.core.fact_set import labelled
from lessonbook.core.fact_slots import Limits, breaks_off, joined, limits_of
from lessonbook.core.fact_stated import stated
from lessonbook.core.fact_told import told
from lessonbook.core.fact_words import CODE, any_of

__all__ = ["MOST", "Fact", "Relation", "facts"]

MOST = 300
"""Facts of one text, at most: the first ones."""

_SAID = 300
"""Characters of ``Fact.said``, at most."""

_SIGN = re.compile(
    r"(?i)\b"
    + any_of(
        "us(?:e|es|ing) adopt choos(?:e|ing) stick switch(?:ing)? rel(?:y|ies)_on prefers? favou?rs? never always "
        "must should shall not no_longer avoid stop refrain (?:re-?)?runs? execute call invoke build test format "
        "lint commit install (?:re)?generate migrate set configured? export enable disable turn pin(?:ned)? "
        "lock(?:ed)? upgraded? bump(?:ed)? updated? downgrade keep hold put place store save write create add find "
        "requires? needs? depends? fails? breaks? crash(?:es)? hangs? errors works? lives? sits? belongs? go(?:es)? "
        "resides? comes? is are stays? defaults likes? loves? wants? hates? dislikes? insists? expects? asked would "
        "required needed target used switched moved migrated pass(?:es)?"
    )
    + r"\b|n['’]t\b|:"
)
"""What one of is in every sentence that can state something: most sentences have none, and cost nothing more."""

_LEADS = re.compile(
    r"(?i)\s*(?:in|for|across) (?:this|our|the) (?:repo|repository|project|codebase|monorepo|workspace),?\s+|\s*(?:"
    + any_of(
        "when whenever if for in on inside during while under within before after once with to instead_of "
        "rather_than unless until as_of since"
    )
    + r"\b[^,]{1,120}),\s*|\s*(?:instead of|rather than)\s+\S+\s+(?=(?:always )?use\b)"
)
"""What narrows a statement from before it, up to its comma."""
_ALSO = re.compile(r"(?i),\s+(?:(?:but|and|so)\s+)?(?=(?:do not|don['’]t|avoid|always|use|prefer)\s)")
_UNLIKE_LABELS = ("instead of", "rather than", "unless", "until", "since", "as of")
_LABEL_WORDS = 4
_PLAIN_LABEL = re.compile(
    "(?i)"
    + any_of(
        "important critical note nb tip warning rules? lessons? remember reminder always never must mandatory "
        "required conventions? preferences? style key decision memory learned takeaway summary fix solution policy "
        "golden_rule hard_rule do defaults? action so result answer conclusion general also update currently now "
        "user feedback correction"
    )
    + r"\Z"
)
"""Labels that narrow nothing."""


def facts(text: str) -> tuple[Fact, ...]:
    """Return what ``text`` states, in its order, each statement once; at most ``MOST``. Never raises.

    A clause that holds a secret states nothing.
    """
    found: dict[Fact, Fact] = {}
    secrets = Secrets(text)
    for parts in sentences(text, _SIGN):
        for fact in _sentence(parts):
            if not secrets.hold(fact.start, fact.end):
                found.setdefault(fact.but(start=0, end=0, said=""), fact)
        if len(found) >= MOST:
            break
    return tuple(found.values())[:MOST]


def _sentence(parts: tuple[Clause, ...]) -> Iterator[Fact]:
    """Yield the facts of a sentence. A short label before a colon narrows what follows, or casts doubt on it."""
    lead = parts[0].lead
    for number, part in enumerate(parts):
        given = [*_clause(part.but(lead=lead))]
        yield from given
        label = part.words(0, len(part.text)).strip("*_ ")
        if given or number or part.cut != ":" or len(label.split()) > _LABEL_WORDS:
            continue
        if len(parts) > 1 and (valued := [*labelled(part, parts[1])]):
            whole = part.but(text=f"{part.text}:{parts[1].text}", lead=lead)
            yield from (_placed(fact, whole, 0) for fact in valued)
            return
        if _PLAIN_LABEL.match(label):
            continue
        if doubted(label) or part.text.strip().strip(CODE) == "":
            return
        lead = ", ".join(filter(None, (lead, label)))


def _clause(clause: Clause) -> Iterator[Fact]:
    """Yield the facts of a clause, each with what stands before it and narrows it."""
    start, leads = 0, [clause.lead]
    while len(leads) < 4 and (found := _LEADS.match(clause.text, start)):
        leads.append(clause.words(start, found.end()).strip(" ,"))
        start = found.end()
    clause = clause.but(lead=", ".join(filter(None, leads)))
    at = 0
    for also in [*_ALSO.finditer(clause.text, start), None]:  # "use pnpm, don't use npm" states two things
        part = clause.but(text=clause.text[: also.start()]) if also else clause
        for fact in _stated(part, max(at, start)):
            yield _placed(fact, part, at)
        at = also.end() if also else 0


def _stated(clause: Clause, start: int) -> Iterator[Fact]:
    meant = mood(clause, start)
    if meant is None or breaks_off(clause.text):
        return
    given = [*liked(clause, meant.start if meant.told else past_marks(clause.text, start))] or [*told(clause, meant)]
    yield from given if given or meant.told else stated(clause, meant.start)


def _placed(fact: Fact, clause: Clause, at: int) -> Fact:
    """Return the fact with where it stands, and what the words before it add."""
    ordered = fact.relation in (Relation.BEFORE, Relation.AFTER)
    used = ordered and clause.lead.lower().startswith(("before", "after"))
    names = ("instead", "purpose", "place", "condition")
    limits = joined(_lead_limits("" if used else clause.lead), {name: getattr(fact, name) for name in names})
    said = clause.words(at, len(clause.text))[:_SAID]
    return fact.but(start=clause.start + at, end=clause.end, said=said, **limits)


def _lead_limits(lead: str) -> Limits:
    """Return the slots that words before a clause fill; a plain label is a place."""
    if not lead or qualifies(lead) or lead.lower().startswith(_UNLIKE_LABELS):
        return limits_of(lead)
    return limits_of("") | {"place": lead}
