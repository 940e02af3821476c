"""The parsers: one per verb, made only for the verb that is asked for, and the overview of all of them."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

from lessonbook.core.errors import InputError
from lessonbook.hosts.registry import HOOKS, VERBS

if TYPE_CHECKING:
    from lessonbook.hosts.cli.main import Module

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


class Parser(argparse.ArgumentParser):
    """A parser whose mistakes leave by the one error door, as a sentence."""

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong with the arguments as an ``InputError``."""
        raise InputError(f"{message[:1].upper()}{message[1:]}; see `{self.prog} --help`.")


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
        raise InputError(f"There is no verb {verb!r}; {_near(verb)}`lessonbook --help` lists them.")
    return verb, [*words[len(leading) + 1 :], *leading]


def for_verb(verb: str, module: Module) -> argparse.ArgumentParser:
    """Return the parser of one verb, with its example."""
    return _configured(Parser(prog=f"lessonbook {verb}"), verb, module)


def complete() -> int:
    """Answer a shell that asks for completions; the only time every verb's parser is built."""
    import argcomplete

    parser = Parser(prog="lessonbook")
    verbs = parser.add_subparsers(dest="verb", parser_class=Parser)
    for verb, entry in VERBS.items():
        _configured(verbs.add_parser(verb, help=entry.help), verb, import_module(entry.module))
    argcomplete.autocomplete(parser)
    return 0


def _configured(parser: Parser, verb: str, module: Module) -> Parser:
    parser.description = f"{VERBS[verb].help[:1].upper()}{VERBS[verb].help[1:]}."
    parser.epilog = f"examples:\n{module.EXAMPLES.strip(chr(10))}"
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.allow_abbrev = False
    module.configure(parser)
    parser.add_argument("--json", action="store_true", help="answer one JSON document, for programs")
    return parser


def _near(verb: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(verb, [*VERBS, "hook"], n=1)
    return f"did you mean {near[0]!r}? " if near else ""
