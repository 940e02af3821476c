"""Finds the facts that cannot both hold: found and shown to a person, never merged.

Two facts are compared only where they are about the same thing and nothing narrows one that does not narrow the other:
"use npm in legacy/" is an exception of "use pnpm", not its opposite.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from enum import StrEnum

from lessonbook.core.clean import bound, clean_line
from lessonbook.core.fact import Fact, Relation
from lessonbook.core.fact_keys import phrase_key
from lessonbook.core.fact_values import paths_agree, values_agree
from lessonbook.core.rivals import counts_only, frame
from lessonbook.core.value import Value
from lessonbook.core.version_ranges import conflict, moved

MOST = 100
"""Contradictions of one call, at most: the first ones."""

_QUOTED = 120
"""Characters of a fact that a sentence quotes, at most."""


class Clash(StrEnum):
    """Why two facts cannot both hold."""

    OPPOSITE = "opposite"
    """One says to do what the other says not to do."""
    CHOICE = "choice"
    """They choose differently for the same purpose."""
    VERSION = "version"
    """They give one thing versions that exclude each other; one of them is probably older."""
    VALUE = "value"
    """They give one setting two values."""
    PLACE = "place"
    """They say that one thing is at two places."""
    ORDER = "order"
    """They put two things in opposite orders."""


class Contradiction(Value):
    """Two facts that cannot both hold, why, and one sentence that shows it to a person."""

    kind: Clash
    new: Fact
    old: Fact
    sentence: str


def contradictions(new: Sequence[Fact], old: Sequence[Fact]) -> tuple[Contradiction, ...]:
    """Return the pairs of a fact of ``new`` and one of ``old`` that cannot both hold, in the order of ``new``.

    Only facts that share one of their ``topics`` are compared.
    """
    places: dict[str, list[int]] = defaultdict(list)
    for number, fact in enumerate(old):
        for topic in topics(fact):
            places[topic].append(number)
    found: list[Contradiction] = []
    for fact in new:
        for number in sorted({number for topic in topics(fact) for number in places.get(topic, ())}):
            kind = clash(fact, old[number])
            if kind:
                found.append(Contradiction(kind, fact, old[number], _sentence(kind, fact, old[number])))
            if len(found) == MOST:
                return tuple(found)
    return tuple(found)


def topics(fact: Fact) -> frozenset[str]:
    """Return what a fact is about, as short texts: facts without a common one never contradict each other.

    A store that keeps them beside each fact finds what a new fact may contradict without reading all others.
    """
    about = _family(fact)
    if about in ("use", "do"):
        names = {frame(fact.object_key), *([frame(fact.instead_key)] if fact.instead_key else [])}
    elif about == "order":
        names = {" | ".join(sorted((phrase_key(fact.subject), phrase_key(fact.object))))}
    else:
        names = {fact.subject_key}
    pinned = _pinned(fact)
    return frozenset({f"{about}: {name}" for name in names} | ({f"version: {pinned}"} if pinned else set()))


def clash(one: Fact, other: Fact) -> Clash | None:
    """Return why two facts cannot both hold, ``None`` where they can; the same whichever comes first."""
    if one.limits_key != other.limits_key:
        return None
    if _pinned(one) and _pinned(one) == _pinned(other) and one.positive and other.positive:
        return Clash.VERSION if _other_version(one, other) else None
    about = _family(one)
    return _RULES[about](one, other) if about == _family(other) else None


def _family(fact: Fact) -> str:
    if fact.relation in (Relation.USE, Relation.PREFER):
        return "use"
    return "order" if fact.relation in (Relation.BEFORE, Relation.AFTER) else str(fact.relation)


def _pinned(fact: Fact) -> str:
    """Return the key of what a fact gives a version for everybody who works in the project; ``""`` for none."""
    if not fact.version:
        return ""
    if fact.relation is Relation.VERSION:
        return fact.subject_key
    return fact.object_key if not fact.subject_key and fact.relation in (Relation.USE, Relation.REQUIRE) else ""


def _other_version(one: Fact, other: Fact) -> bool:
    if one.version == other.version:
        return False
    later = one.relation is other.relation and moved(one.version, other.version)
    return later or conflict(one.version, other.version)


def _use(one: Fact, other: Fact) -> Clash | None:
    if one.subject_key != other.subject_key:
        return None
    if one.object_key == other.object_key:
        return _opposite(one, other)
    if not (one.positive and other.positive):
        return None
    if one.object_key == other.instead_key or other.object_key == one.instead_key:
        return Clash.CHOICE
    return _rival(one.object_key, other.object_key)


def _do(one: Fact, other: Fact) -> Clash | None:
    if one.subject_key != other.subject_key:
        return None
    if one.object_key == other.object_key:
        return _opposite(one, other)
    return _rival(one.object_key, other.object_key) if one.positive and other.positive else None


def _rival(one: str, other: str) -> Clash | None:
    if one == other or frame(one) != frame(other):
        return None
    return Clash.VALUE if counts_only(one, other) else Clash.CHOICE


def _opposite(one: Fact, other: Fact) -> Clash | None:
    """Return ``OPPOSITE`` where one denies what the other says; "not Node 18" denies nothing but that version."""
    if one.positive == other.positive:
        return None
    denied, said = (other, one) if one.positive else (one, other)
    return Clash.OPPOSITE if not denied.version or denied.version == said.version else None


def _require(one: Fact, other: Fact) -> Clash | None:
    if (one.subject_key, one.object_key) != (other.subject_key, other.object_key):
        return None
    if one.positive and other.positive:
        return Clash.VERSION if one.version and other.version and _other_version(one, other) else None
    return _opposite(one, other)


def _version(one: Fact, other: Fact) -> Clash | None:
    return _opposite(one, other) if one.subject_key == other.subject_key and one.version == other.version else None


def _value(one: Fact, other: Fact) -> Clash | None:
    if one.subject_key != other.subject_key:
        return None
    agree = values_agree(one.object_key, other.object_key)
    if one.positive and other.positive:
        return None if agree else Clash.VALUE
    return _opposite(one, other) if agree else None


def _located(one: Fact, other: Fact) -> Clash | None:
    if one.subject_key != other.subject_key:
        return None
    if one.positive and other.positive:
        return None if paths_agree(one.object, other.object) else Clash.PLACE
    return _opposite(one, other) if one.object_key == other.object_key else None


def _order(one: Fact, other: Fact) -> Clash | None:
    if _sequence(one) == _sequence(other):
        return _opposite(one, other)
    turned = _sequence(one) == _sequence(other)[::-1]
    return Clash.ORDER if turned and one.positive and other.positive else None


def _sequence(fact: Fact) -> tuple[str, str]:
    pair = phrase_key(fact.subject), phrase_key(fact.object)
    return pair if fact.relation is Relation.BEFORE else pair[::-1]


def _fails(one: Fact, other: Fact) -> Clash | None:
    return _opposite(one, other) if one.subject_key == other.subject_key else None


_RULES = {
    "use": _use,
    "do": _do,
    "require": _require,
    "version": _version,
    "value": _value,
    "located": _located,
    "order": _order,
    "fails": _fails,
}

_WORDS = {
    Clash.OPPOSITE: "{new} says the opposite of {old}.",
    Clash.CHOICE: "{new} chooses otherwise than {old}.",
    Clash.VERSION: "{new} names another version than {old}.",
    Clash.VALUE: "{new} gives another value than {old}.",
    Clash.PLACE: "{new} names another place than {old}.",
    Clash.ORDER: "{new} puts them in the opposite order of {old}.",
}


def _sentence(kind: Clash, new: Fact, old: Fact) -> str:
    return _WORDS[kind].format(new=_quoted(new), old=_quoted(old))


def _quoted(fact: Fact) -> str:
    return f"“{bound(clean_line(fact.said or fact.object).strip(' .,;:'), _QUOTED)[0]}”"
