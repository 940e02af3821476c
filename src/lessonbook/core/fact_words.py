"""Word lists as patterns, and the words several rules of facts share."""

from __future__ import annotations

CODE, QUOTED = "\ue000", "\ue001"
"""What each character of a code span, and of a quotation, is replaced by where a sentence is taken apart."""

WORD = rf"[\w{CODE}{QUOTED}@./+#$%&<>=^~'’-]+"
"""One word of a sentence; a code span is one."""

NEGATIONS = (
    "do_not don['’]?t never must_not mustn['’]t must_never should_not shouldn['’]t should_never shall_not cannot "
    "can['’]t can_not may_not no_longer"
)
"""What forbids: each as ``any_of`` reads it."""

UNITS = "seconds? minutes? ms s mb gb kb lines? characters? chars columns? spaces? tabs?"
"""Units that may follow a number, as ``any_of`` reads them."""


def any_of(*words: str) -> str:
    """Return a pattern for any of the words of ``words``, the first that fits; ``_`` in a word stands for a space."""
    return "(?:" + "|".join(word.replace("_", " ") for part in words for word in part.split()) + ")"
