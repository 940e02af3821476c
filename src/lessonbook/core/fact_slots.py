"""Takes apart what follows a verb: "pnpm, not npm, for installs in web/" is an object and what it is limited by.

English words of place, purpose and condition open a part each. What no rule knows goes to ``condition``, so that two
facts are taken for the same only where nothing about them differs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lessonbook.core.clauses import Clause
from lessonbook.core.fact_words import CODE, WORD, any_of
from lessonbook.core.value import Value

MOST_WORDS = 6
"""Words of an object or subject, at most."""

Limits = dict[str, Any]
"""What narrows a statement: the slots ``instead``, ``purpose``, ``place`` and ``condition`` of a ``Fact``."""

_NARROWING = "in|on|at|for|to|when|if|with|from|under|inside|before|after|during|by"
_PARTS = {
    "instead": any_of(
        f"(?:and_|but_)?(?:not|never)(?!_(?:{_NARROWING})) instead_of rather_than in_place_of in_preference_to",
        "as_opposed_to",
    ),
    "reason": any_of(
        "because since so as_(?:it|they|this|that|we|the|there) which who due_to thanks_to otherwise or_else such_as "
        "to_(?:avoid|prevent|ensure) e\\.g\\.,? i\\.e\\.,? (?<=,_)(?:it|they|this|there|we|you) (?<=,)(?:it|they)"
    ),
    "purpose": any_of("in_order_to for to"),
    "place": any_of("in inside within on under at from across throughout into onto outside against everywhere here"),
    "condition": any_of(
        f"(?:not|never)_(?:{_NARROWING})",
        "when whenever while if unless until once only except before after by with without via through over using "
        "per where during even also first then but that and or nor as of like instead directly alone anymore is are "
        "was has have will would can could may might should must yet too again unlike both either whether than plus "
        "however though based appropriate",
    ),
}
_OPENING = re.compile(
    rf"(?:(?<=[\s,])|\A)(?:{'|'.join(f'(?P<{name}>{words})' for name, words in _PARTS.items())})(?=[\s,]|\Z)"
    r"|(?P<comma>,)",
    re.IGNORECASE,
)
_WORDS = re.compile(WORD)
_LIST = re.compile(
    rf"\s*({WORD}(?:\s*,\s*{WORD}){{0,8}})\s*,?\s+(and|or|nor)\s+({WORD})"
    r"(?=\s*(?:,|\Z)|\s+(?:for|in|on|when|if|to|with|instead)\b)"
)
_RUNS_ON = re.compile(rf"(?i)\s*,(?!\s*(?:{'|'.join(_PARTS.values())}|we|you)(?=[\s,]|\Z))\s*\S")
"""A comma after which the object goes on: "scannable, dense text", or a list that no rule took apart."""
_BREAKS_OFF = re.compile(
    r"(?i)(?:\A|[\s,])"
    + any_of(
        "when whenever while if unless until for to in on at from with without via by using as of and or before "
        "after than that because since at_least such_as like either both only_if the an? is are not rather_than "
        "instead_of over"
    )
    + r"[\s,;:*]*\Z"
)
_NOWHERE_ELSE = re.compile(
    r"(?i)(?:everywhere|at all|here|anymore|yet|too|instead|also|directly|as well"
    r"|(?:in|for|across|throughout|within|on) (?:this|the|our|any|all|every|these) (?:(?:whole|entire|current) )?"
    r"(?:repos?|repositor(?:y|ies)|projects?|code ?base|code|workspace|monorepo|team|cases?))\Z"
)
_EMPTY = re.compile(
    r"(?i)(?:(?:it|them|this|that|these|those|such|each other|itself)\b.*|"
    + any_of(
        "ones? him her us me you what whatever which any all both some something anything nothing everything the "
        "same following above below others? more less most least cases? there here work attention care time effort "
        "help thought changes? review caution judge?ment"
    )
    + r")\Z"
)
_MARKS = (("`", "`"), ('"', '"'), ("'", "'"), ("“", "”"))
"""What may stand around all of a name, from outside in."""
_ARTICLE = re.compile("(?i)" + any_of("the an? our your my its their only just also always") + r"\s+")


class Slots(Value):
    """The parts of what follows a verb, each as it stands in the text."""

    objects: tuple[str, ...]
    choice: bool
    """Whether any one of the objects will do."""
    limits: Limits


def slots(clause: Clause, start: int, kinds: Mapping[str, str] | None = None) -> Slots | None:
    """Return the parts of the clause from ``start`` on; ``None`` where nothing that can be an object stands there.

    ``kinds`` says what some words open here, other than they usually do: "to" after "prefer".
    """
    listed = _LIST.match(clause.text, start)
    if listed:
        spans = [found.span() for group in (1, 3) for found in _WORDS.finditer(clause.text, *listed.span(group))]
        at = listed.end()
    else:
        at = head_end(clause.text, start)
        spans = [(start, at)]
    heads = tuple(thing(clause.words(*span)) for span in spans)
    coded = all(clause.text[slice(*span)].strip()[:1] == CODE for span in spans)
    if not (coded or all(map(is_thing, heads))) or _RUNS_ON.match(clause.text, at) or breaks_off(clause.text):
        return None
    return Slots(heads, bool(listed and listed[2].lower() == "or"), limits(clause, at, kinds))


def head_end(text: str, start: int) -> int:
    """Return where the object ends: at the first word after it that opens another part."""
    opening = _OPENING.search(text, start)
    return opening.start() if opening else len(text)


def limits(clause: Clause, start: int, kinds: Mapping[str, str] | None = None) -> Limits:
    """Return what narrows a statement from ``start`` on, each part in its slot. A reason ends it."""
    found = {"instead": "", "purpose": "", "place": "", "condition": ""}
    kind, at = "condition", start
    for number, opening in enumerate([*_OPENING.finditer(clause.text, start), None]):
        _put(found, kind, clause.words(at, opening.start() if opening else len(clause.text)))
        if opening is None:
            break
        kind = _kind(clause.text, opening, kinds or {}, number == 0)
        if kind == "reason":
            break
        at = opening.end() if opening["comma"] or kind in ("instead", "purpose") else opening.start()
    return found


def limits_of(lead: str) -> Limits:
    """Return the slots that words before a clause fill: "In legacy/" a place, "For tests" a purpose."""
    return limits(Clause(lead, 0, lead), 0)


def joined(one: Limits, other: Limits) -> Limits:
    """Return the slots of two parts of a statement as one."""
    return {name: ", ".join(filter(None, (one[name], other[name]))) for name in one}


def breaks_off(text: str) -> bool:
    """Whether a clause ends in a word that opens a part, as before a list: "Use it when:"."""
    return _BREAKS_OFF.search(text[-24:]) is not None


def thing(words: str) -> str:
    """Return words without the article, marks and code marks around them; case is kept."""
    bare = words.strip(" \t,;:!–—*")
    bare = bare[:-1] if bare.endswith(".") else bare
    while (article := _ARTICLE.match(bare)) and article.end() < len(bare):
        bare = bare[article.end() :]
    for mark, close in _MARKS:
        if len(bare) > 2 and bare[0] == mark and bare[-1] == close and mark not in bare[1:-1]:
            bare = bare[1:-1].strip()
    return bare


def is_thing(words: str) -> bool:
    """Whether words can name a thing: a few of them, and not only a pronoun."""
    named = 0 < len(words.split()) <= MOST_WORDS and len(words) <= 120
    return named and not _EMPTY.match(words) and any(map(str.isalnum, words))


def _kind(text: str, opening: re.Match[str], kinds: Mapping[str, str], first: bool) -> str:
    """Return which part a word opens. "to" and "not" name another thing only where nothing came between."""
    word = opening[0].lower()
    if opening["comma"]:
        return "condition"
    if word in kinds and (first or word != "to"):
        return kinds[word]
    if word == "not" and not first and not text[: opening.start()].rstrip().endswith(","):
        return "condition"
    return opening.lastgroup or "condition"


def _put(found: Limits, kind: str, words: str) -> None:
    words = words.strip(" ,;.:")
    if words and not _NOWHERE_ELSE.match(words) and not (kind == "purpose" and words.lower() == "everything"):
        found[kind] = " ".join(filter(None, (found[kind], thing(words) if kind == "instead" else words)))
