"""Makes other people's text safe to print on a terminal."""

from __future__ import annotations

TYPED_MOST = 80
"""How many characters of what was typed a sentence repeats."""
PATH_MOST = 400
"""How many of a path or an address, which is long by itself."""


def short(text: object, most: int = TYPED_MOST) -> str:
    """Return what was typed as a sentence may repeat it: whole, or its beginning where it is long."""
    said = str(text)
    return said if len(said) <= most else said[: most - 1] + "…"


def quoted(text: object, most: int = TYPED_MOST) -> str:
    """Return ``short(text)`` between quotes; anything but a string as Python writes it."""
    return repr(short(text, most)) if isinstance(text, str) else short(repr(text), most)


def printable(text: str) -> str:
    """Return ``text`` with what is hidden, or would act on a terminal, as escapes: ``clean.printable``, quickly."""
    shown = text.replace("\n", "").replace("…", "")  # our own help writes that one
    if shown.isascii() and shown.isprintable():
        return text  # most of what is printed; spares the start of a command the tables of Unicode
    from lessonbook.core import clean

    return clean.printable(text)
