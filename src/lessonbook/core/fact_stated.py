"""Facts of sentences that say how things are: "X requires Y", "X lives in Y", "X fails with E on CI", "Node is 20".

A verb opens each kind; adding one is a function and its row in ``_STATEMENTS``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from lessonbook.core.clauses import Clause
from lessonbook.core.entity_paths import is_path
from lessonbook.core.fact import Fact, Relation
from lessonbook.core.fact_set import Said, is_said, needed, pinned, set_to
from lessonbook.core.fact_slots import is_thing, limits, slots, thing
from lessonbook.core.fact_told import deed_end
from lessonbook.core.fact_versions import split_version
from lessonbook.core.fact_words import WORD, any_of

_LOOKED_AT = 120
"""Characters of a clause in which its verb is looked for."""

_NO_SUBJECT = re.compile(
    r"(?i)(?:"
    + any_of(
        "it this that these those they there here he she ones? everything nothing anything something what which who "
        "each both all some any most many none (?:this|an?|each|every|that|these|those|some|any|no)_.+"
    )
    + "|(?:the )?"
    + any_of(
        "agent answer approach article author case class client code column command component content data document "
        "example feature field figure file following format function goal image input issue item key library line "
        "list message method model module name object option output page paper parameter plugin problem process "
        "project query question reason report request response result rule same script section server service skill "
        "solution statement step system table target task template text tool user value variable work"
    )
    + r"s?)\Z"
)
"""What names nothing outside its own text: "it", "this step", "the script"."""
_DOES = re.compile(
    "(?i)"
    + any_of(
        "add assume avoid check choose clean confirm consider create define delegate describe document ensure expect "
        "explain find fix follow identify implement include keep know list look make note pick read remember remove "
        "review run see select set show start surface take tell think try understand update use validate verify "
        "watch write often usually typically sometimes generally also only always never still \\d+"
    )
    + r"\b"
)
"""What starts an order or an aside, not the name of a thing."""
_BROKEN = re.compile(
    r"(?i)\b"
    + any_of(
        "if when whenever unless that which who whose because but so while whether until once where how why what "
        "could would might may can cannot will says? said claims? thinks? used_to was were is are be been has have "
        "had to does do did not must should than let before after for with by as example your? i we they it or"
    )
    + r"\b|[,;()\[\]]"
)
_ERROR = re.compile(rf"\s+with\s+(?:an? |the )?({WORD}(?: (?:errors?|codes?|\d+|status|exceptions?))*)")
_ERROR_LIKE = re.compile(r"(?i:errors?|exceptions?|codes?|status|exit)\b|[A-Z]{2}|\d|[`\"“]|[a-z][A-Z]|_")
_PLACE = re.compile(rf"\s+(?:the\s+)?({WORD})")
_MEMBER = re.compile(r"(?i)(?:the|this|our)?\s*(?:project|repo|repository|codebase|code base|monorepo|app|workspace)\Z")
_FROM_TO = re.compile(
    rf"(?i)(?:\s+from\s+({WORD}))?\s+to\s+({WORD})(?=\s*(?:,|\Z)|\s(?:because|since|for|in|so|as|and)\b)"
)
_LEAST = re.compile(r"(?i)\s*at least\s+")


def stated(clause: Clause, start: int) -> Iterator[Fact]:
    """Yield the facts of a clause that says how something is, from ``start`` on."""
    verb = _VERB.search(clause.text, start, min(len(clause.text), start + _LOOKED_AT))
    kind = verb.lastgroup if verb else None
    if verb is None or kind is None:
        return
    before = clause.text[start : verb.start()]
    subject = thing(clause.words(start, verb.start()))
    general = _MEMBER.match(subject) is not None
    member = general or (
        not subject and (kind in ("requires", "switched") or clause.text[:start].strip().lower().endswith("we"))
    )
    if member or _is_subject(subject, before, kind):
        about, word = "" if member else subject, verb[0].strip().lower()
        yield from _STATEMENTS[kind][1](Said(clause, verb.end(), about, verb["not"] is None, word, general))


def _is_subject(subject: str, before: str, kind: str) -> bool:
    """Whether words can be what a statement is about; a package may be called ``requests``, so versions ask less."""
    if not is_thing(subject) or _BROKEN.search(before):
        return False
    named = " ".join(before.split())
    return kind == "pinned" or not (_NO_SUBJECT.match(named) or _DOES.match(named))


def _requires(said: Said) -> Iterator[Fact]:
    least = _LEAST.match(said.clause.text, said.end)
    found = slots(said.clause, least.end() if least else said.end)
    for name in found.objects if found and not (found.choice and said.positive) else ():
        bare, version, rest = split_version(f"at least {name}" if least else name, found.limits if found else {})
        if said.subject or said.general or version:  # "you need X" tells when something applies
            yield Fact(Relation.REQUIRE, bare, said.subject, said.positive, version=version, **rest)


def _uses(said: Said) -> Iterator[Fact]:
    """Yield what the project uses; what any other thing uses is its own affair, and no rule for anybody."""
    for fact in () if said.subject else _requires(said.but(general=True)):
        if fact.version or not said.verb.endswith(" on"):
            yield fact.but(relation=Relation.USE)


def _used(said: Said) -> Iterator[Fact]:
    """Yield the fact of "npm is no longer used" and "uv is used instead of pip"; "X is used for Y" is no rule."""
    rest = limits(said.clause, said.end)
    denied = any(word in said.verb.split() for word in ("no", "not", "never"))
    if said.subject and (denied or rest["instead"]):
        yield Fact(Relation.USE, said.subject, positive=not denied, **rest)


def _switched(said: Said) -> Iterator[Fact]:
    """Yield the fact of "we switched from npm to pnpm"."""
    found = _FROM_TO.match(said.clause.text, said.end)
    if found and not said.subject:
        old, new = (thing(said.clause.words(*found.span(group))) if found[group] else "" for group in (1, 2))
        if is_thing(new) and not is_path(new):
            yield Fact(Relation.USE, new, **limits(said.clause, found.end()) | {"instead": old})


def _fails(said: Said) -> Iterator[Fact]:
    """Yield that something fails with an error or under a condition; that alone it fails is no lasting fact."""
    error = _ERROR.match(said.clause.text, said.end)
    if error and not _ERROR_LIKE.search(said.clause.words(*error.span(1))):
        error = None
    rest = limits(said.clause, error.end() if error else said.end)
    narrowed = said.verb.startswith(("fail", "error")) and any(rest[name] for name in ("purpose", "place", "condition"))
    if error or narrowed:
        named = thing(said.clause.words(*error.span(1))) if error else ""
        yield Fact(Relation.FAILS, named, said.subject, said.positive, **rest)


def _works(said: Said) -> Iterator[Fact]:
    yield Fact(Relation.FAILS, "", said.subject, not said.positive, **limits(said.clause, said.end))


def _order(said: Said) -> Iterator[Fact]:
    when = re.compile(r"(?i)\s(before|after)\s").match(said.clause.text, said.end)
    stop = deed_end(said.clause, when.end()) if when else 0
    if when and is_thing(name := thing(said.clause.words(when.end(), stop))):
        yield Fact(Relation(when[1].lower()), name, said.subject, said.positive, **limits(said.clause, stop))


def _lives(said: Said) -> Iterator[Fact]:
    found = _PLACE.match(said.clause.text, said.end)
    if found and is_path(place := thing(said.clause.words(*found.span(1)))):
        kept = said.positive and " not " not in said.verb
        yield Fact(Relation.LOCATED, place, said.subject, kept, **limits(said.clause, found.end()))


_NARROWED = r"(?=\s" + any_of(
    "with on in when if unless without because at under until during for only again inside outside"
)
_STATEMENTS: dict[str, tuple[str, Callable[[Said], Iterator[Fact]]]] = {
    "requires": ("requires?|needs?|depends? on", _requires),
    "fails": (
        rf"(?-i:fails|breaks|crashes|hangs|errors out){_NARROWED}\b|\s*,|\s*\Z)"
        rf"|(?-i:fail|break|crash|hang){_NARROWED}\b)",
        _fails,
    ),
    "works": (rf"(?:works|(?<=not )work|(?<=n['’]t )work){_NARROWED}\b)", _works),
    "uses": ("uses?|runs? on|(?:is|are) on", _uses),
    "used": ("(?:is|are) (?:(?:no longer|not|never|always|now) )?used", _used),
    "switched": ("(?:(?:have|has) )?(?:switched|moved|migrated)(?=\\s(?:from|to)\\s)", _switched),
    "order": (
        "(?:(?:must|should|has to|have to|needs? to) )?(?:be )?"
        r"(?:runs?|comes?|go(?:es)?|happens?|executed?|called|invoked|pass(?:es)?)(?=\s(?:before|after)\s)",
        _order,
    ),
    "pinned": (
        "(?:is|are|stays?|must be|should be) (?:now )?(?:pinned|locked|fixed|held) (?:to|at)"
        "|(?:must|should|has to) (?:stay|remain) (?:at|on)"
        r"|(?:is|are) (?:now )?(?:at |on )?version|(?:is|are) (?:now )?(?:on|at)(?= v?\d)"
        r"|(?:was )?(?:upgraded|bumped|updated|moved) to(?= v?\d)",
        pinned,
    ),
    "lives": (
        "(?:lives?|sits?|belongs?|go(?:es)?|resides?) (?:in|at|under|inside)|can be found (?:in|at|under)"
        "|(?:is|are) (?:(?:now|always|only|not) )?(?:(?:located|stored|kept|found|defined|configured|declared) )?"
        "(?:in|at|under|inside)",
        _lives,
    ),
    "set": (
        "(?:is|are|stays?) (?:set|configured) to|defaults to|must be|should be|(?:must|should|has to) stay|must equal",
        set_to,
    ),
    "needed": ("(?:is |are )?(?:required|needed)", needed),
    "is": ("is|are|=", is_said),
}
_VERB = re.compile(
    r"(?i)(?:(?<=\s)|(?<=\A))(?:(?P<not>(?:does|do)(?: not|n['’]t)|no longer|never)\s+)?"
    r"(?:(?:now|currently|still|also|always|only|really|usually|normally)\s+)?"
    rf"(?:{'|'.join(f'(?P<{name}>{verbs})' for name, (verbs, _) in _STATEMENTS.items())})(?=\s|\Z)"
)
