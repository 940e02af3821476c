"""The errors callers can act on: one base class, and one kind per thing a person or agent can do about it.

Every message is one sentence that says what is wrong and what to do. Hosts print it and exit with ``exit_code``;
no traceback ever reaches a person.
"""

from __future__ import annotations


class LessonbookError(Exception):
    """Something went wrong that the message explains. Base of every error this package raises on purpose."""

    exit_code = 1


class InputError(LessonbookError):
    """What was asked for cannot be done as asked: change the input."""

    exit_code = 2


class BusyError(LessonbookError):
    """Another process holds what is needed: try again a little later."""

    exit_code = 3


class SetupError(LessonbookError):
    """Something must be installed or configured first: git, a backend, a setting."""

    exit_code = 4


class StoreError(LessonbookError):
    """A file, database or repository could not be read or written: look at it; nothing was half written."""

    exit_code = 5


class ModelError(LessonbookError):
    """A model did not answer, or not as asked: look at its service or command, or simply ask again."""

    exit_code = 6


class LearnError(LessonbookError):
    """The ``learn`` tool could not do what it was asked; the message says what was stored and what was not."""


def reason(error: Exception) -> str:
    """Return what the system says about ``error``, worded for the end of a sentence."""
    return str(getattr(error, "strerror", None) or error).lower()
