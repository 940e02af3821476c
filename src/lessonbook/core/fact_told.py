"""Facts of sentences that tell somebody what to do: "use X, not Y", "never push to main", "run X before Y".

Each kind is a function of a clause and its mood; adding one is a function and its place in ``_RULES``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lessonbook.core.clauses import Clause
from lessonbook.core.entity_paths import is_path
from lessonbook.core.entity_tools import NAMES, PROGRAMS
from lessonbook.core.fact import Fact, Relation
from lessonbook.core.fact_mood import Mood
from lessonbook.core.fact_set import has_one, is_literal
from lessonbook.core.fact_slots import Slots, head_end, is_thing, limits, slots, thing
from lessonbook.core.fact_versions import number_at, range_key, split_version
from lessonbook.core.fact_words import CODE, UNITS, WORD, any_of

_USE = re.compile(r"(?i)(?:use|adopt|choose|stick (?:with|to)|switch to|rely on|target(?=\s\S+\s+v?\d))\s+")
_USING = re.compile(r"(?i)(?:us(?:e|ing)|adopt(?:ing)?|choos(?:e|ing)|switch(?:ing)? to|rely(?:ing)? on)\s+")
_NOT_THAT = re.compile(rf"({WORD}),? (?:not|never|instead of|over) ({WORD})(?=\s|,|\Z)")
_PREFER = re.compile(r"(?i)(?:prefer(?:ring)?|favou?r(?:ing)?)\s+(?!to\b)(?:using\s+)?")
_PUT = re.compile(
    rf"(?i)(?:put|place|keep|store|save|write|create|add|find)\s+((?:{WORD}\s+){{1,6}}?)(?:in|into|under|inside|at|to)\s+"
    rf"(?:the\s+)?({WORD})"
)
_FOLLOWS = r"(?=\s*(?:,|\Z)|\s+(?:in|on|for|when|if|to|with|by|before|after|until|unless|because|so)\b)"
_SET = re.compile(r"(?i)(?:set|configure)\s+(?!to\b)")
_TO = re.compile(rf"(?i)to\s+(?:be\s+)?(?:the |an? )?({WORD}(?: {any_of(UNITS)})?){_FOLLOWS}")
_ASSIGNED = re.compile(rf"(?i)(?:set|export)\s+({CODE}+|[A-Z_]\w+=[^\s,]+)(?=\s|,|\Z)")
_SWITCH = re.compile(
    rf"(?i)(enable|turn on|switch on|disable|turn off|switch off)\s+((?:the\s+)?{WORD}(?: {WORD}){{0,3}}?){_FOLLOWS}"
)
_ON = ("enable", "turn on", "switch on")
_PIN = re.compile(
    rf"(?i)(?:pin|lock|upgrade|bump|update|downgrade|keep|hold)\s+(?:the\s+)?({WORD}(?: version)?)\s+(?:version\s+)?"
    r"(?:to|at|on)(?=\s)"
)
_ORDER = re.compile(
    r"(?i)(?:(?:re-?)?run|execute|call|invoke|build|test|format|lint|commit|install|(?:re)?generate|migrate)\s"
)
_RUN = re.compile(
    r"(?i)\A(?:(?:re-?)?run|execute|call|invoke)(?:\s+|\Z)(?:(?:right|only|once|again|directly|immediately|just)(?:\s+|\Z))?"
)
_WHEN = re.compile(r"(?i)\s(before|after)\s+(?=\S)")
_LEAD_WHEN = re.compile(r"(?i)\s*(before|after)\s+(.+)")
_GERUND = re.compile(r"(?i)([a-z]{2,}ing)\s")
_VERB = re.compile(r"(?i)[a-z][a-z-]{1,20}(?=\s|\Z)")
_NOT_DEEDS = re.compile(
    "(?i)"
    + any_of(
        "be been have has had mind forget worry hesitate happen know mean think assume let get give make_sure ensure "
        "remember want in on at for the an? to from with within no all any available more less only true false when "
        "if and or as by of"
    )
    + r"\b"
)
_ENDS_DEED = re.compile(
    r"(?i)(?:(?<=[\s,])"
    + any_of(
        "when whenever while if unless until once except because since so as which before after without during "
        "otherwise even but instead_of rather_than always to_(?:avoid|prevent|ensure) that_(?:is|are|would|could) "
        "or_(?:else|it|you|the)"
    )
    + r"(?=[\s,]|\Z)|,)"
)
_POINTS = re.compile(r"(?i)\b(?:it|its|them|they|this|that|these|those|so)\b|[()\[\]]")
"""Words that point at something said elsewhere."""


def told(clause: Clause, mood: Mood) -> Iterator[Fact]:
    """Yield the facts of what ``mood`` tells somebody to do: those of the first rule that finds any."""
    for rule in _RULES:
        if found := [*rule(clause, mood)]:
            yield from found
            return


def deed_end(clause: Clause, start: int) -> int:
    """Return where what is done ends: at a condition or a reason."""
    ends = _ENDS_DEED.search(clause.text, start)
    return ends.start() if ends else len(clause.text)


def _uses(clause: Clause, mood: Mood) -> Iterator[Fact]:
    verb = (_USING if mood.avoids else _USE).match(clause.text, mood.start)
    if verb is None and not (mood.avoids and _is_named(clause, mood.start)):
        return
    found = slots(clause, verb.end() if verb else mood.start)
    if found and not verb and found.limits["instead"]:  # "never npm, never yarn"
        found = Slots((*found.objects, found.limits["instead"]), False, found.limits | {"instead": ""})
    yield from _chosen(Relation.USE, found, mood)


def _named(clause: Clause, mood: Mood) -> Iterator[Fact]:
    """Yield the fact of "pnpm, not npm", which has no verb."""
    found = None if mood.told else _NOT_THAT.match(clause.text, mood.start)
    if found:
        one, other = (thing(clause.words(*found.span(group))) for group in (1, 2))
        if {one.lower(), other.lower()} <= PROGRAMS:
            yield Fact(Relation.USE, one, **limits(clause, found.end()) | {"instead": other})


def _prefers(clause: Clause, mood: Mood) -> Iterator[Fact]:
    verb = _PREFER.match(clause.text, mood.start)
    if verb:
        yield from _chosen(Relation.PREFER, slots(clause, verb.end(), {"over": "instead", "to": "instead"}), mood)


def _chosen(relation: Relation, found: Slots | None, mood: Mood) -> Iterator[Fact]:
    """Yield a fact for each object; "use X or Y" states neither."""
    if found is None or (found.choice and mood.positive):
        return
    for name in found.objects:
        bare, version, rest = split_version(name, found.limits)
        if mood.only and any(rest[name] for name in ("purpose", "place", "condition")):
            rest = rest | {"condition": f"only {rest['condition']}".strip()}
        yield Fact(relation, bare, positive=mood.positive, version=version, **rest)


def _is_named(clause: Clause, start: int) -> bool:
    """Whether a thing stands where a verb would: "avoid dynamic imports", "never npm"."""
    word = re.compile(WORD).match(clause.text, start)
    if word is None or _GERUND.match(clause.text, start):
        return False
    return word[0][0] == CODE or word[0].lower() in NAMES or clause.text[:start].rstrip().lower().endswith("avoid")


def _pins(clause: Clause, mood: Mood) -> Iterator[Fact]:
    found = _PIN.match(clause.text, mood.start)
    number = number_at(clause, found.end()) if found else None
    if found and number:
        name = thing(clause.words(*found.span(1)))
        version, rest = range_key(number[0], False, limits(clause, number[1]))
        yield Fact(Relation.VERSION, number[0], name, mood.positive, version=version, **rest)


def _sets(clause: Clause, mood: Mood) -> Iterator[Fact]:
    """Yield the value of "set X to Y" and "export X=Y"; "set a timer to ring" gives none."""
    if (found := _ASSIGNED.match(clause.text, mood.start)) and "=" in clause.words(*found.span(1)):
        name, _, value = thing(clause.words(*found.span(1))).partition("=")
    elif verb := _SET.match(clause.text, mood.start):
        stop = head_end(clause.text, verb.end())
        found = _TO.match(clause.text, stop)
        name, value = thing(clause.words(verb.end(), stop)), thing(clause.words(*found.span(1))) if found else ""
        value = value if has_one(name) or is_literal(name) or is_literal(value) else ""
    if found and is_thing(name) and is_thing(value):
        yield Fact(Relation.VALUE, value, name, mood.positive, **limits(clause, found.end()))


def _switches(clause: Clause, mood: Mood) -> Iterator[Fact]:
    found = _SWITCH.match(clause.text, mood.start)
    if found and is_thing(name := thing(clause.words(*found.span(2)))):
        state = "on" if found[1].lower() in _ON else "off"
        yield Fact(Relation.VALUE, state, name, mood.positive, **limits(clause, found.end()))


def _orders(clause: Clause, mood: Mood) -> Iterator[Fact]:
    """Yield that one thing is run before or after another."""
    if not _ORDER.match(clause.text, mood.start):
        return
    lead = _LEAD_WHEN.match(clause.lead)
    if when := _WHEN.search(clause.text, mood.start):
        first, stop = clause.words(mood.start, when.start()), deed_end(clause, when.end())
        second = clause.words(when.end(), stop)
    elif when := lead:
        stop = deed_end(clause, mood.start)
        first, second = clause.words(mood.start, stop), when[2]
    else:
        return
    first, second = thing(_RUN.sub("", first)), thing(second)
    if is_thing(first) and is_thing(second) and not _POINTS.search(f"{first} {second}"):
        yield Fact(Relation(when[1].lower()), second, first, mood.positive, **limits(clause, stop))


def _puts(clause: Clause, mood: Mood) -> Iterator[Fact]:
    found = _PUT.match(clause.text, mood.start)
    if found:
        name, place = (thing(clause.words(*found.span(group))) for group in (1, 2))
        if is_thing(name) and is_path(place):
            yield Fact(Relation.LOCATED, place, name, mood.positive, **limits(clause, found.end()))


def _does(clause: Clause, mood: Mood) -> Iterator[Fact]:
    """Yield what is always or never done: a verb and all that follows it up to a condition or a reason."""
    verb = _VERB.match(clause.text, mood.start)
    if not mood.told or not verb or any(each.match(clause.text, mood.start) for each in (_NOT_DEEDS, _USE, _USING)):
        return
    stop = deed_end(clause, mood.start)
    deed = clause.words(mood.start, stop).rstrip(" ,;:")
    if 2 <= len(deed.split()) <= 10 and len(deed) <= 120 and not _POINTS.search(deed):
        yield Fact(Relation.DO, deed, positive=mood.positive, **limits(clause, stop))


_RULES = (_uses, _named, _prefers, _pins, _sets, _switches, _orders, _puts, _does)
