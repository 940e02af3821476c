"""The ``lessonbook`` command: finds the verb, runs it, and is the one door every error leaves by."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from lessonbook.hosts.registry import HOOKS, VERBS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    from lessonbook.hosts.cli.module import Module
    from lessonbook.hosts.cli.output import Out


INTERRUPTED = 130
PIPE_CLOSED = 141
INTERNAL = 70


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; never raises and never prints a traceback.

    Without ``argv`` it is the command this process was started for, and the process ends with it at once: to take the
    interpreter down, and to look for garbage on the way, takes 4 ms of the 30 that a list of candidates may take.
    """
    if argv is not None:
        return _run(list(argv))
    gc.set_threshold(100_000)
    code = _run(sys.argv[1:])
    _settle(sys.stdout)
    _settle(sys.stderr)
    os._exit(code)


def _run(words: list[str]) -> int:
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
        _settle(sys.stdout)


def _guarded(words: list[str]) -> int:
    from lessonbook.core.errors import LessonbookError
    from lessonbook.hosts.cli.output import Out

    out = Out(json="--json" in words)
    try:
        return _dispatch(words, out)
    except LessonbookError as error:
        out.error(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        raise
    except Exception as error:  # the last door: whatever was missed becomes one sentence, details in a file
        from lessonbook.hosts.cli.crash import report
        from lessonbook.system.streams import is_output_closed

        if isinstance(error, BrokenPipeError) and is_output_closed():
            raise
        out.error(report(error, words))
        return INTERNAL


def _dispatch(words: list[str], out: Out) -> int:
    from lessonbook.hosts.cli import verbs
    from lessonbook.system.settings import completion_asked

    if completion_asked():
        from lessonbook.hosts.cli.parser import complete

        return complete()
    if not words or words[0] in ("-h", "--help", "help"):
        if words[1:] and words[1] in VERBS:
            return _dispatch([words[1], "--help"], out)
        out.text(verbs.overview())
        return 0
    if words[0] in ("-V", "--version", "version"):
        from lessonbook.core.version import __version__

        out.result({"ok": True, "version": __version__}, f"lessonbook {__version__}")
        return 0
    verb, rest = verbs.split(words)
    module: Module = import_module(VERBS[verb].module)
    plain = getattr(module, "plain", lambda rest: None)(rest)
    if plain is not None:
        return module.run(plain, out)
    from lessonbook.hosts.cli import parser

    parse = parser.for_verb(verb, module)
    try:  # an option may stand anywhere, but not where `--` says that what follows is none: argparse takes one of them
        args = parse.parse_args(rest) if "--" in rest else parse.parse_intermixed_args(rest)
    except SystemExit as stop:  # --help, which has printed itself
        return int(stop.code or 0)
    return module.run(args, out)


def _settle(stream: TextIO | None) -> None:
    """Write out what ``stream`` still holds; where nobody reads it or the disk is full, drop it without a word."""
    if stream is None:
        return
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    sys.exit(main())
