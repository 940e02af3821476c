"""The ``lessonbook`` command: finds the verb, runs it, and is the one door every error leaves by."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from lessonbook.hosts.registry import HOOKS, VERBS

if TYPE_CHECKING:
    import argparse

    from lessonbook.hosts.cli.output import Out

INTERRUPTED = 130
PIPE_CLOSED = 141
INTERNAL = 70


class Module(Protocol):
    """What a verb's module offers."""

    EXAMPLES: str

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the verb's arguments to its parser."""
        ...

    def run(self, args: argparse.Namespace, out: Out) -> int:
        """Do what was asked, print it, and return the exit code."""
        ...


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; never raises and never prints a traceback."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["hook"]:
        return int(import_module(HOOKS.module).main(words[1:]))
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        import_module("lessonbook.system.streams").reserve()
    try:
        return _guarded(words)
    except BrokenPipeError:
        return PIPE_CLOSED
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        _settle_stdout()


def _guarded(words: list[str]) -> int:
    from lessonbook.core.errors import LessonbookError
    from lessonbook.hosts.cli.output import Out

    out = Out(json="--json" in words)
    try:
        return _dispatch(words, out)
    except LessonbookError as error:
        out.error(str(error))
        return error.exit_code
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except Exception as error:  # noqa: BLE001  the last door: whatever was missed becomes one sentence, details in a file
        from lessonbook.hosts.cli.crash import report

        out.error(report(error, words))
        return INTERNAL


def _dispatch(words: list[str], out: Out) -> int:
    from lessonbook.hosts.cli import parser
    from lessonbook.system.settings import completion_asked

    if completion_asked():
        return parser.complete()
    if not words or words[0] in ("-h", "--help", "help"):
        if words[1:] and words[1] in VERBS:
            return _dispatch([words[1], "--help"], out)
        out.text(parser.overview())
        return 0
    if words[0] in ("-V", "--version", "version"):
        from lessonbook.core.version import __version__

        out.result({"ok": True, "version": __version__}, f"lessonbook {__version__}")
        return 0
    verb, rest = parser.split(words)
    module: Module = import_module(VERBS[verb].module)
    try:
        args = parser.for_verb(verb, module).parse_args(rest)
    except SystemExit as stop:  # --help, which has printed itself
        return int(stop.code or 0)
    return module.run(args, out)


def _settle_stdout() -> None:
    """Keep the interpreter from complaining, while it shuts down, that nobody reads or can hold our output."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        import os

        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
