"""Makes other people's text safe to print on a terminal."""

from __future__ import annotations


def printable(text: str) -> str:
    """Return ``text`` with what is hidden, or would act on a terminal, as escapes: ``clean.printable``, quickly."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text  # most of what is printed; spares the start of a command the tables of Unicode
    from lessonbook.core import clean

    return clean.printable(text)
