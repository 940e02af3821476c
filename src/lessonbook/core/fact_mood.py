"""How a clause is meant: told to be done or not to be done, always or never, or not told at all."""

from __future__ import annotations

import re

from lessonbook.core.clauses import Clause
from lessonbook.core.fact_words import CODE, NEGATIONS, QUOTED, any_of
from lessonbook.core.value import Value

_JUNK = re.compile(rf"[^\w{CODE}{QUOTED}`@./'\"($<-]+")
_WRONG = re.compile(r"[^\w]*[❌✗✘🚫⛔👎]")
_LEAD_IN = re.compile(
    "(?i)"
    + any_of(
        "please also so then and but now again finally note_that note remember_(?:to|that) remember be_sure_to "
        "be_careful_to make_sure_(?:to|that_(?:you|we)|you|we) ensure_(?:that_)?(?:you|we) important critical tip "
        "in_general generally it_is_(?:best|important|required|necessary|mandatory)_to agents? everyone everybody "
        "developers? contributors? we you strictly strongly explicitly simply just ever under_no_circumstances"
    )
    + r"\b[,:]?\s+"
)
_TOLD = re.compile(
    r"(?i)(?:always|(?<=\w\s)(?:must|should|shall|ought to|need to|have to|are to)|do(?= )(?! not|n))\s+"
)
_TOLD_NOT = re.compile(
    "(?i)" + any_of(NEGATIONS, "need_not won['’]t avoid stop(?=_\\w+ing\\b) refrain_from not_to not") + r"(?: ever)?\s+"
)
_NOT_ONLY = re.compile("(?i)" + any_of(NEGATIONS, "not") + r" (?:just|only|simply|merely)\s")
_AVOIDS = ("avoid", "never", "stop", "no longer")
_UNSURE = re.compile(
    "(?i)"
    + any_of(
        "can could may might would will did does if when who what why how should_we shall_we do_(?:we|you|i) are is"
    )
    + r"\b"
)


class Mood(Value):
    """How what stands from ``start`` on is meant."""

    start: int
    positive: bool = True
    told: bool = False
    """Whether a word such as "always", "never", "must" or "do not" says so."""
    avoids: bool = False
    """Whether a thing may follow directly: "avoid npm", "never npm"."""
    only: bool = False
    """Whether it says "only"."""


def mood(clause: Clause, start: int = 0) -> Mood | None:
    """Return how the clause is meant from ``start`` on; ``None`` for what is marked as wrong, and for what may be."""
    if _WRONG.match(clause.text, start):
        return None
    found: Mood | None = Mood(past_marks(clause.text, start))
    for _ in range(8):
        further = _further(clause.text, found) if found else None
        if further == found:
            break
        found = further
    return None if found is None or _UNSURE.match(clause.text, found.start) else found


def _further(text: str, found: Mood) -> Mood | None:
    """Return the mood after one more word that tells it; the same where none stands there."""
    at = found.start
    if _NOT_ONLY.match(text, at):
        return None
    if match := _TOLD_NOT.match(text, at):
        word = match[0].split(" ever")[0].strip().lower()
        if word == "not" and not found.told:
            return None
        found = found.but(positive=False, told=True, avoids=word in _AVOIDS)
    elif match := _TOLD.match(text, at):
        found = found.but(told=True)
    elif match := re.compile(r"(?i)only\s+").match(text, at):
        found = found.but(only=True)
    else:
        match = _LEAD_IN.match(text, at)
    return found.but(start=past_marks(text, match.end())) if match else found


def past_marks(text: str, start: int) -> int:
    """Return where the first word from ``start`` on stands, past bullets, emphasis and signs."""
    junk = _JUNK.match(text, start)
    return junk.end() if junk else start
