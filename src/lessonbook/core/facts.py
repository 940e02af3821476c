"""Finds what a text states, without a model: what to use, do and prefer, what needs what, where things are, versions.

The rules are for English sentences. They leave alone what is not stated: questions, quotations, examples, tables, code,
what "could" or "might" be. What narrows a statement is kept with it, so that "use npm in legacy/" is not "use npm".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lessonbook.core.clauses import Clause, doubted, qualifies, sentences
from lessonbook.core.fact import Fact, Relation
from lessonbook.core.fact_mood import mood, past_marks
from lessonbook.core.fact_people import liked
from lessonbook.core.fact_set import labelled
from lessonbook.core.fact_slots import Limits, breaks_off, joined, limits_of
from lessonbook.core.fact_stated import stated
from lessonbook.core.fact_told import told
from lessonbook.core.fact_words import CODE, any_of
from lessonbook.core.redact import secret_spans

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
        "requires? needs? depends? fails? breaks? crash(?:es)? hangs? errors works? lives? sits? belongs? goes "
        "resides? comes? is are stays? defaults likes? loves? wants? hates? dislikes? insists? expects? asked would "
        "required needed target"
    )
    + r"\b|n['’]t\b|:"
)
"""What one of is in every sentence that can state something: most sentences have none, and cost nothing more."""

_LEADS = re.compile(
    r"(?i)\s*(?:"
    + any_of(
        "when whenever if for in on inside during while under within before after once with to instead_of "
        "rather_than unless until as_of since"
    )
    + r"\b[^,]{1,120}),\s*|\s*(?:instead of|rather than)\s+\S+\s+(?=(?:always )?use\b)"
)
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
    for parts in sentences(text, _SIGN):
        for fact in _sentence(parts):
            if not secret_spans(text[max(0, fact.start - 40) : fact.end + 40]):
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
            whole = part.but(text=f"{part.text}:{parts[1].text}")
            yield from (_placed(fact, whole, lead) for fact in valued)
            return
        if _PLAIN_LABEL.match(label):
            continue
        if doubted(label) or part.text.strip().strip(CODE) == "":
            return
        lead = ", ".join(filter(None, (lead, label)))


def _clause(clause: Clause) -> Iterator[Fact]:
    start, leads = 0, [clause.lead]
    while len(leads) < 4 and (found := _LEADS.match(clause.text, start)):
        leads.append(clause.words(start, found.end()).strip(" ,"))
        start = found.end()
    lead = ", ".join(filter(None, leads))
    clause = clause.but(lead=lead)
    meant = mood(clause, start)
    if meant is None or breaks_off(clause.text):
        return
    given = [*liked(clause, meant.start if meant.told else past_marks(clause.text, start))] or [*told(clause, meant)]
    if not given and not meant.told:
        given = [*stated(clause, meant.start)]
    ordered = (Relation.BEFORE, Relation.AFTER)
    for fact in given:
        used = fact.relation in ordered and lead.lower().startswith(("before", "after"))
        yield _placed(fact, clause, "" if used else lead)


def _placed(fact: Fact, clause: Clause, lead: str) -> Fact:
    """Return the fact with where it stands and what the words before it add."""
    names = ("instead", "purpose", "place", "condition")
    limits = joined(_lead_limits(lead), {name: getattr(fact, name) for name in names})
    said = clause.words(0, len(clause.text))[:_SAID]
    return fact.but(start=clause.start, end=clause.end, said=said, **limits)


def _lead_limits(lead: str) -> Limits:
    """Return the slots that words before a clause fill; a plain label is a place."""
    if not lead or qualifies(lead) or lead.lower().startswith(_UNLIKE_LABELS):
        return limits_of(lead)
    return limits_of("") | {"place": lead}
