"""The parsers: one per verb, made only for the verb that is asked for, and the overview of all of them."""

from __future__ import annotations

import argparse
from importlib import import_module

from lessonbook.core.errors import InputError
from lessonbook.core.screen import PATH_MOST, quoted, short
from lessonbook.hosts.cli.verbs import near
from lessonbook.hosts.registry import VERBS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from lessonbook.hosts.cli.module import Module


class Parser(argparse.ArgumentParser):
    """A parser whose mistakes leave by the one error door, as a sentence."""

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong with the arguments as an ``InputError``."""
        message = short(message, PATH_MOST)
        raise InputError(f"{message[:1].upper()}{message[1:]}; see `{self.prog} --help`.")

    def _check_value(self, action: argparse.Action, value: str) -> None:
        """Say what can stand in this place: argparse would name our own word for the place, which nobody has seen."""
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        option = f"{action.option_strings[0]}: " if action.option_strings else ""
        raise InputError(
            f"{option}{quoted(value)} is not one of {', '.join(known)}; {near(value, known)}see `{self.prog} --help`."
        )


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
