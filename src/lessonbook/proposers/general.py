"""Advice that holds in every project: how an agent's own tools are used, and paths nobody has shown.

Troubles that one habit cures are one lesson: who reads a file right before changing it has the text to replace, too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from lessonbook.core.errorline import without_places
from lessonbook.core.failure import Failure, Trouble
from lessonbook.proposers.draft import Lesson
from lessonbook.proposers.fixed_rules import AGAIN, stripped
from lessonbook.proposers.incident import Incident
from lessonbook.proposers.merged import JOINT
from lessonbook.proposers.wording import RULE_LIMIT, code, rule

_SHOWN = 3
"""How many of the errors a rule quotes."""

_EDITS = {
    Trouble.UNREAD: "read it first",
    Trouble.STALE: "read it again where a formatter, a hook or the person may have touched it",
    Trouble.NO_MATCH: "copy the text to replace exactly from a fresh read, with its tabs and spaces",
    Trouble.NOT_UNIQUE: "make it unique with the lines around it",
    Trouble.NO_CHANGE: "look whether the change is there already",
    Trouble.BAD_PATCH: "keep to the patch's format, its first line and the sign of every line",
    Trouble.EXISTS: "edit a file that is there instead of creating it",
}
_PATHS = {
    Trouble.NO_FILE: "list the folder or search before using a path that nobody has shown you",
    Trouble.IS_FOLDER: "list a folder, do not read it",
    Trouble.NOT_ABSOLUTE: "give absolute paths where a tool asks for them",
    Trouble.OUTSIDE: "stay inside the workspace",
    Trouble.NO_FOLDER: "know the folder you are in before you `cd`: it may be the right one already",
}
_SHELL = {
    Trouble.NO_GLOB: "quote patterns that are meant for the program, not the shell (`--include='*.ts'`)",
    Trouble.SHELL_SYNTAX: "put quotes, brackets and `$` that are meant for the program in single quotes, a quoted"
    " here-document or a file",
}
_READS = {
    Trouble.TOO_LARGE: "read large files in parts, or search them",
    Trouble.PAST_END: "look how long a file is before reading far into it",
    Trouble.BINARY: "read only text with a tool for text",
}
_CLASSES: Mapping[str, tuple[Mapping[Trouble, str], str, float]] = {
    "Read a file right before changing it": (_EDITS, "before you change a file, ", 0.6),
    "Look a path up before using it": (_PATHS, "", 0.5),
    "Quote what the shell must not read": (_SHELL, "", 0.5),
    "Read large files in parts": (_READS, "", 0.5),
    "Give a tool the arguments its schema names": (
        {Trouble.BAD_ARGUMENTS: "give a tool every argument its schema requires, by its name, and no other"},
        "",
        0.5,
    ),
    "Mind the dialect of a program's expressions": (
        {
            Trouble.BAD_EXPRESSION: "mind the dialect of a program's own expressions, and escape what is special in it"
            " (`grep -F` and `rg -F` take plain text)"
        },
        "",
        0.4,
    ),
    "Look which background tasks still run": (
        {Trouble.NO_TASK: "look which background tasks still run before you ask one for anything"},
        "",
        0.5,
    ),
    "Search for a page before fetching it": (
        {Trouble.NO_PAGE: "search for a page, or follow a link, before you fetch an address nobody has shown you"},
        "",
        0.4,
    ),
    "Check that code parses right after writing it": (
        {
            Trouble.BROKEN_CODE: "right after changing code by a script or a patch, check that it parses, before"
            " anything else is run on it (`python -m py_compile FILE`, `node --check FILE`)"
        },
        "",
        0.4,
    ),
    "Look names up before a script uses them": (
        {
            Trouble.NO_NAME: "before you write a script against code, look up in its source the names, imports and"
            " signatures the script uses"
        },
        "",
        0.4,
    ),
}
_SLIPS = frozenset({Trouble.BROKEN_CODE, Trouble.NO_NAME})
"""What scripts of the agent's own raise: no two are alike, so that more of them are needed to be a habit."""

_ANYWHERE = frozenset({*_SHELL, *_SLIPS, Trouble.NO_FOLDER, Trouble.BAD_EXPRESSION})
"""What is a matter of habit whatever command it was."""

_CLASS_OF = {trouble: name for name, (troubles, _, _) in _CLASSES.items() for trouble in troubles}


def is_general(failure: Failure) -> bool:
    """Whether general advice serves: trouble with the agent's own tools, or a path that a plain utility was given."""
    if failure.command is not None:
        given = failure.trouble in (Trouble.NO_FILE, Trouble.IS_FOLDER) and failure.command.plain_utility
        return given or failure.trouble in _ANYWHERE
    return failure.trouble in _CLASS_OF


def is_slip(incident: Incident) -> bool:
    """Whether it is a slip in a script the agent wrote, which is no habit yet where it happened twice."""
    return incident.trouble in _SLIPS


def class_of(incident: Incident) -> str:
    """Return the name of the habit that cures the incident's trouble; ``""`` where general advice does not serve."""
    general = incident.trouble is not None and incident.topic == str(incident.trouble)
    return _CLASS_OF.get(incident.trouble, "") if general and incident.trouble else ""


def by_habit(groups: Mapping[str, list[Incident]]) -> Iterator[list[Incident]]:
    """Yield the groups, those that one habit cures as one group."""
    together: dict[str, list[Incident]] = defaultdict(list)
    for topic, group in groups.items():
        together[class_of(group[0]) or topic] += group
    yield from together.values()


def advice(incidents: Sequence[Incident]) -> Lesson:
    """Return the advice of one habit: what of it was missed, and how that failed."""
    subject = class_of(incidents[0])
    troubles, opening, certainty = _CLASSES[subject]
    times = Counter(one.trouble for one in incidents)
    missed = _fitting(troubles, times, opening)
    told = opening + "; ".join(troubles[trouble] for trouble in missed)
    key = JOINT.join(sorted(map(str, missed)))
    often = sorted(missed, key=lambda trouble: -times[trouble])[:_SHOWN]
    reasons = [_failing([one for one in incidents if one.trouble is trouble]) for trouble in often]
    return Lesson(
        AGAIN,
        key,
        subject,
        rule(f"{told[0].upper()}{told[1:]}.", *_otherwise(reasons)),
        certainty,
        general=True,
        habit=True,
    )


def _fitting(troubles: Mapping[Trouble, str], times: Counter[Trouble | None], opening: str) -> list[Trouble]:
    """The troubles that were missed, as many as a rule has room for: what it does not tell, it is not about."""
    kept: list[Trouble] = []
    room = RULE_LIMIT - len(opening) + 1  # one "; " less than troubles, and the final stop
    for trouble in sorted((one for one in troubles if times[one]), key=lambda one: -times[one]):
        room -= len(troubles[trouble]) + 2
        if not kept or room >= 0:
            kept.append(trouble)
    return [trouble for trouble in troubles if trouble in kept]


def _otherwise(reasons: Sequence[str]) -> list[str]:
    return [f"{'Otherwise' if n == 0 else 'Or'} {reason}." for n, reason in enumerate(reasons)]


def _failing(incidents: Sequence[Incident]) -> str:
    """What fails, and with what: the tool or program seen most, and its usual error."""
    family = Counter(one.family for one in incidents).most_common(1)[0][0]
    errors = Counter(_unplaced(one.error) for one in incidents if one.family == family)
    error = code(max(errors, key=lambda text: (errors[text], -len(text))), limit=90) or "no message"
    return f"{code(family)} fails with {error}"


def _unplaced(error: str) -> str:
    """The error without the file it names, which is another one each time: ``sed: a.ts: No such file`` is its end."""
    text = stripped(error)
    before = without_places(text)
    return before if len(before.split()) > 1 else text.rsplit(": ", 1)[-1]
