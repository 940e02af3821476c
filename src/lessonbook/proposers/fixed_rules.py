"""The wording of lessons about failed calls."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from lessonbook.core.failure import Trouble
from lessonbook.core.shell import simple_commands
from lessonbook.proposers.draft import Lesson
from lessonbook.proposers.incident import Incident
from lessonbook.proposers.moves import HEAD_LONGEST, Move, head
from lessonbook.proposers.relaunch import launched_same
from lessonbook.proposers.wording import code, rule

FIXED = "failed-then-worked"
AGAIN = "failed-again"

ADVICE = {
    Trouble.TIMED_OUT: "Narrow {who}, give it more time or run it in the background: it runs into the time limit"
    " ({error}).",
    Trouble.WRONG_FOLDER: "Run {who} in the folder that holds its project file: elsewhere it fails with {error}.",
    Trouble.NO_FILE: "Look up the paths in {who} before you run it: it fails with {error}.",
    Trouble.NOT_PREPARED: "Set up what {who} needs before you run it: here it fails with {error}.",
    Trouble.WRONG_VERSION: "Look which version {who} needs and which is installed here: it fails with {error}.",
    Trouble.BAD_CALL: "Look up what {who} takes before you call it: it fails with {error}.",
    Trouble.NO_REVISION: "Look up branches, tags and files before you name them to {who}: it fails with {error}.",
    Trouble.DIRTY: "Look at `git status` and put changes aside before {who}: it fails with {error}.",
    Trouble.LOCKED: "Let what runs end before you start {who}: it fails with {error}.",
    Trouble.NO_SERVER: "See that what {who} talks to is running before you run it: here it fails with {error}.",
    Trouble.NO_NETWORK: "Do without the network in {who}: here it fails with {error}.",
    Trouble.NO_LOGIN: "Ask the person to log in before you run {who}: here it fails with {error}.",
    Trouble.NO_RIGHT: "Run {who} another way here, or ask the person: it is not permitted ({error}).",
    Trouble.PORT_IN_USE: "Look what holds the port before you run {who}, or take another one: it fails with {error}.",
    Trouble.EXISTS: "Look whether it is there before {who} makes it: it fails with {error}.",
}
"""What to do about a reason that a program gives and that the folder, the machine or the person has to cure."""

_ALIKE = 0.6
_TELLING = 4
"""From how many words on an error says more than that there was one."""

_REMEDY = re.compile(
    r"\A(?:please |you (?:can|may|need to|must) )?(?:run|use|try|install)\b|\bdid you mean\b", re.IGNORECASE
)
"""What says how to mend it is no tail to cut off."""

_INTERPRETER = re.compile(r"(?:python|node|bun|deno|ruby|perl|php|ts-node|tsx)[\d.]*\Z")
_RAISED = re.compile(r"(?:\w+\.)*\w*(?:Error|Exception|Warning)\b|(?:\w+\.)+[A-Z]\w*: |Traceback|Uncaught")


def lesson_of_move(move: Move, incidents: Sequence[Incident], share: float) -> Lesson | None:
    """Return the lesson that a failing command has a way that works; ``share``: how often that way was taken."""
    failed, worked = _heads(incidents)
    if not worked or (failed == worked and move.place is None):
        return None
    why = f"fails with {_error(incidents)}"
    subject, text = _told(move, incidents[0], failed, worked, why)
    return Lesson(FIXED, incidents[0].topic, subject, rule(text), certainty=0.6 + 0.35 * share)


def lesson_of_subject(incidents: Sequence[Incident]) -> Lesson | None:
    """Return the lesson that a named thing does not work here: an option, a script, an ignored path, a program."""
    shown = incidents[0]
    subject, who, error = code(shown.subject), code(shown.family), _error(incidents)
    program = code(shown.family.split(" ", 1)[0])
    texts = {
        Trouble.BAD_OPTION: f"Do not pass {subject} to {program} here: it fails with {error}.",
        Trouble.IGNORED_PATH: f"Leave {subject} out of {who}: git ignores it, and the whole command fails.",
        Trouble.NO_SCRIPT: f"There is no {subject} for {who} where it was called: it fails with {error}."
        " Look at what is defined, and in which folder, before calling it.",
        Trouble.NO_TOOL: f"Do not call {subject} with {who}: there is none of that name here ({error}).",
    }
    text = texts.get(shown.trouble) if shown.trouble and shown.subject else None
    if shown.trouble is Trouble.NO_MODULE and shown.subject:
        text = f"Do without {subject}: it is not installed here ({error})."
    if shown.trouble is Trouble.NOT_INSTALLED and shown.command is not None and not shown.subject:
        text = f"Do not call {who} here: it is not installed ({error})."
    if shown.trouble is Trouble.BAD_SUBCOMMAND and shown.command is not None and shown.command.verb:
        text = f"Do not call {who}: {program} has no such command here ({error})."
    if shown.trouble in ADVICE and shown.command is not None:
        text = ADVICE[shown.trouble].format(who=who, error=error)
    if text is None:
        return None
    return Lesson(AGAIN, shown.topic, text.split(":", 1)[0].replace("`", ""), rule(text), certainty=0.7)


def lesson_of_script(incidents: Sequence[Incident]) -> Lesson | None:
    """Return the lesson that scripts of the agent's own run into one and the same error, to the letter, in most cases.

    What a script raises is its own affair; what scripts of several sessions raise alike is said by what they use.
    """
    shown = incidents[0]
    if shown.trouble is not None or shown.command is None or not _own_script(shown):
        return None
    error, times = Counter(one.error for one in incidents).most_common(1)[0]
    said = error.partition(": ")[2]
    if times < _ALIKE * len(incidents) or len(said.split()) < _TELLING:
        return None
    text = (
        f"Scripts run with {code(shown.family)} fail here with {code(error, limit=140)}:"
        " see to what that asks for before you run one."
    )
    subject = f"What scripts run with {shown.family} need here"
    return Lesson(AGAIN, shown.topic, subject, rule(text), certainty=0.5)


def lesson_of_repetition(incidents: Sequence[Incident]) -> Lesson | None:
    """Return the lesson that something keeps failing the same way, where no way that works is known.

    A script of the agent's own that raises is no such thing: the next script will raise something else.
    """
    shown = incidents[0]
    if not shown.error or (shown.command is not None and _own_script(shown)):
        return None
    who = code(head([one.command.words for one in incidents if one.command is not None]) or shown.family)
    text = f"Before you run {who}, find out what it needs: here it fails with {_error(incidents)}"
    known = "and no way that works was seen."
    return Lesson(AGAIN, shown.topic, f"{who} keeps failing here".replace("`", ""), rule(f"{text}, {known}"), 0.35)


def lesson_of_tool(incidents: Sequence[Incident]) -> Lesson | None:
    """Return the lesson that one of the agent's tools keeps failing for a reason we have no advice on."""
    shown = incidents[0]
    if shown.command is not None or not shown.error:
        return None
    who = code(shown.family)
    text = f"See to what {who} asks for before you call it: in several sessions it failed with {_error(incidents)}."
    return Lesson(AGAIN, shown.topic, f"{shown.family} keeps failing here", rule(text), 0.35)


def _own_script(shown: Incident) -> bool:
    program = shown.command.program if shown.command is not None else ""
    return _INTERPRETER.match(program) is not None and _RAISED.match(shown.error) is not None


def _told(move: Move, shown: Incident, failed: str, worked: str, why: str) -> tuple[str, str]:
    """Subject and sentence for one kind of move."""
    bad, good = code(failed), code(worked)
    if shown.command is None:
        return f"Use {worked}, not {shown.family} {shown.subject}", (
            f"Run {good} yourself: {code(shown.family)} has no {code(shown.subject)} here and {why}."
        )
    if move.place is not None:
        place = _place(move.place, shown)
        return f"Run {worked} from {place.replace('`', '')}", f"Run {good} from {place}: elsewhere it {why}."
    if not move.at_front and not any(word.startswith("-") or not word for word in (*move.dropped, *move.added)):
        return f"Use {worked}, not {failed}", f"Use {good}, not {bad}, which {why}."
    if not move.at_front:
        return f"Use {worked}, not {failed}", _other_options(move, bad, why)
    if not move.added:
        prefix = code(" ".join(move.dropped))
        return f"Run {worked} without {prefix}".replace("`", ""), f"Run {good} without {prefix}: {bad} {why}."
    if shown.trouble is Trouble.NOT_INSTALLED:
        return f"Use {worked}, not {failed}", f"Use {good} here, not {bad}, which {why}."
    return f"Use {worked}, not {failed}", f"Use {good} instead of {bad}, which {why}."


def _other_options(move: Move, bad: str, why: str) -> str:
    dropped, added = (code(" ".join(word or "''" for word in words)) for words in (move.dropped, move.added))
    if dropped and added:
        return f"Pass {added} instead of {dropped} to {bad}: it {why}."
    return f"Leave {dropped} out of {bad}: it {why}." if dropped else f"Pass {added} to {bad}: without it, it {why}."


def _place(place: str, shown: Incident) -> str:
    cwd = (shown.where.cwd or "").rstrip("/")
    if place.rstrip("/") in (cwd, "."):
        return "the project's root"
    inside = place.removeprefix(f"{cwd}/") if cwd else place
    return code(inside) if not inside.startswith(("/", "~")) else f"{code(inside.rstrip('/').rsplit('/', 1)[-1])}"


def _heads(incidents: Sequence[Incident]) -> tuple[str, str]:
    failed = [(one.command.program, *one.command.words[1:]) for one in incidents if one.command is not None]
    if not failed:
        return "", " ".join(incidents[0].move.added if incidents[0].move else ())
    worked = [tuple(incident.worked.split()) for incident in incidents]
    bad, good = _lengths(incidents[0])
    return head(failed, bad), head(worked, good)


def _lengths(shown: Incident) -> tuple[int, int]:
    """How many words of each command make the lesson; where the program changed, all that follows it is the tail."""
    move, words = shown.move, shown.worked.split()
    if move is None or not move.at_front or move.place is not None:
        return HEAD_LONGEST, HEAD_LONGEST
    commands = simple_commands(shown.worked)
    family = commands[0].family.split() if commands else words[:1]
    good = max(len(family), len(move.added) + (not move.dropped))
    if shown.trouble is Trouble.NO_MODULE:
        good = len(move.added) + launched_same(move, shown.command.words if shown.command else (), words)
    return max(len(move.dropped) + good - len(move.added), 1), min(good, len(words))


def _error(incidents: Sequence[Incident]) -> str:
    """The error seen most, without the machine's part: ``bash: line 1:`` and a program's folder."""
    errors = Counter(stripped(one.error) for one in incidents)
    return code(max(errors, key=lambda text: (errors[text], -len(text))), limit=90) or "no message"


def stripped(error: str) -> str:
    """Return an error line without the machine's part: ``bash: line 1:`` and a program's folder."""
    error = re.sub(r"\A(?:/?(?:\S*/)?(?:bash|zsh|sh|\(eval\)))?:(?:(?: line)? ?\d+:)? ", "", error)
    error = re.sub(r"\A/\S*/([\w.-]+): ", r"\1: ", re.sub(r"\AE (?=\w+Error: )", "", error))
    first, *rest = re.split(r"(?<=[a-z])[.;,] ", error, maxsplit=1)
    return (error if rest and _REMEDY.search(rest[0]) else first).rstrip(". ")
