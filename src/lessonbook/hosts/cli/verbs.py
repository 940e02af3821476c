"""Finds the verb among all verbs, and the short help that lists them."""

from __future__ import annotations

from lessonbook.core.errors import InputError
from lessonbook.core.screen import quoted
from lessonbook.hosts.registry import HOOKS, VERBS

_OVERVIEW = """\
usage: lessonbook VERB …    ({version})

What coding agents learned, reviewed by you, briefed to the next session.

{verbs}

Every verb explains itself with an example: lessonbook VERB --help
Every verb answers one JSON document with --json, errors too.

start here:
  lessonbook propose       look through the sessions your agents already wrote
  lessonbook learned       see what they suggest
  lessonbook learned accept ID
  lessonbook brief         see what the next session starts with"""


def overview() -> str:
    """Return the short help: every verb with what it is for."""
    from lessonbook.core.version import __version__

    rows = [*VERBS.items(), ("hook", HOOKS)]
    width = max(len(name) for name, _ in rows)
    verbs = "\n".join(f"  {name:<{width}}  {verb.help}" for name, verb in rows)
    return _OVERVIEW.format(version=__version__, verbs=verbs)


def split(words: list[str]) -> tuple[str, list[str]]:
    """Return the verb and its arguments; ``--json`` may stand before the verb. Raises ``InputError`` for a typo."""
    leading = [word for word in words[:1] if word == "--json"]
    if len(words) == len(leading):
        raise InputError("Say what to do: `lessonbook --help` lists the verbs.")
    verb = words[len(leading)]
    if verb not in VERBS:
        raise InputError(
            f"There is no verb {quoted(verb)}; {near(verb, [*VERBS, 'hook'])}`lessonbook --help` lists them."
        )
    return verb, [*words[len(leading) + 1 :], *leading]


def near(word: str, known: list[str]) -> str:
    """Return the question that names the one of ``known`` a typo is near to; nothing where there is none."""
    from difflib import get_close_matches

    found = get_close_matches(word, known, n=1)
    return f"did you mean {found[0]!r}? " if found else ""
