"""Facts about people: "the user prefers tabs", "Ana wants short commits", "I don't like force pushes"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lessonbook.core.clauses import Clause
from lessonbook.core.entity_tools import PROGRAMS
from lessonbook.core.fact import Fact, Relation
from lessonbook.core.fact_mood import mood
from lessonbook.core.fact_slots import slots
from lessonbook.core.fact_told import told
from lessonbook.core.shelltokens import word_set

_LIKES = re.compile(
    r"(?P<who>(?i:(?:the|our|my) (?:user|person|client|customer|maintainers?|owner|team|reviewer|lead|author|boss"
    r"|manager)|user(?= (?:prefers|likes|dislikes|hates))|i|we)|[A-Z][a-z]{1,20})\s+(?:(?:always|really|usually"
    r"|strongly|generally|still|also|explicitly|clearly|now|have|has)\s+)?(?:(?P<not>does not|doesn['’]t|do not"
    r"|don['’]t|no longer|never)\s+)?(?:(?:really|usually)\s+)?(?P<verb>prefers?|likes?|loves?|wants?|hates?"
    r"|dislikes?|insists? on|favou?rs?|would like|would rather have|asked for|expects?|asked(?= (?:me|us|you|agents?"
    r"|everyone)?\s?(?:not )?to))\s+"
)
_NO_PERSON = word_set(
    "all also always and both but code customers developers each everybody everyone git if it many models most never "
    "nobody one people readers reviewers some systems teams tests that there these they this those users what when "
    "which who you agents agent model claude chatgpt copilot"
)
_DISLIKES = re.compile(r"(?i)(?:hate|dislike)s?\Z")
_DONE = re.compile(r"(?i)(?:(?:me|us|you|agents?|everyone) )?(?P<not>not )?to\s+(?=(?P<deed>\S+))")
_RATHER = {"over": "instead", "to": "instead"}


def liked(clause: Clause, start: int) -> Iterator[Fact]:
    """Yield what a person likes, wants or asked for, from ``start`` of the clause on."""
    found = _LIKES.match(clause.text, start)
    if found is None or found["who"].lower() in _NO_PERSON or found["who"].lower() in PROGRAMS:
        return
    who = "" if found["who"].lower() == "we" else found["who"]
    wanted = (found["not"] is None) != (_DISLIKES.match(found["verb"]) is not None)
    deed = _DONE.match(clause.text, found.end())
    if deed:
        yield from _asked(clause, deed, who, wanted)
        return
    parts = slots(clause, found.end(), _RATHER if found["verb"].lower().startswith("prefer") else None)
    for name in parts.objects if parts and not (parts.choice and wanted) else ():
        yield Fact(Relation.PREFER, name, who, wanted, **(parts.limits if parts else {}))


def _asked(clause: Clause, deed: re.Match[str], who: str, wanted: bool) -> Iterator[Fact]:
    """Yield what somebody wants others to do ("wants us to use tabs"); a wish to do something now is no rule."""
    others = deed[0].split()[0].lower() not in ("to", "not")
    meant = mood(clause, deed.end())
    if meant and (others or deed["not"] or not wanted):
        positive = meant.positive == (wanted and not deed["not"])
        for fact in told(clause, meant.but(told=True, positive=positive)):
            yield fact.but(subject=fact.subject or who)
