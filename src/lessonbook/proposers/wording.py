"""Words for rules and evidence: every piece of transcript text is cleaned, redacted and bounded before it is used."""

from __future__ import annotations

import re

from lessonbook.core.clean import bound, clean_line
from lessonbook.core.redact import redact, scrub_identity

RULE_LIMIT = 300
"""Longest rule, in characters: a person has to read it, and every session pays for it."""

TITLE_LIMIT = 72
_EXAMPLE_LIMIT = 200
_LONG_WORD = 60
_CODE = re.compile(r"`([^`]+)`")
_REDIRECTION = re.compile(r"\s*\d?>(?:&\d|\s*/dev/null)")
_LEADING_MARKUP = re.compile(r"\A(?:[#>*+=|~_-]+\s*|\d+[.)]\s+)+")


def safe(text: str, limit: int) -> str:
    """Return transcript text as one safe line: no markup, secret, name of a person or home folder, bounded."""
    flat = clean_line(scrub_identity(redact(clean_line(text)).text).text)
    return bound(flat, limit)[0].rstrip()


def example(text: str) -> str:
    """Return one line of evidence."""
    return safe(_REDIRECTION.sub("", text), _EXAMPLE_LIMIT)


def shown(words: tuple[str, ...]) -> str:
    """Return a command to show: long words, substitutions and line breaks left out."""
    return " ".join(_shown(word) for word in words)


def _shown(word: str) -> str:
    return "…" if len(word) > _LONG_WORD or "$(" in word or "\n" in word else word or "''"


def code(text: str, limit: int = 80) -> str:
    """Return text as a Markdown code span that nothing in it can close; ``""`` for nothing."""
    kept = safe(text, limit)
    return f"`{kept}`" if kept else ""


def said(text: str, limit: int = 110) -> str:
    """Return a person's words in quotation marks; ``""`` for nothing."""
    kept = safe(text, limit).strip("\"'“” ")
    return f"“{kept}”" if kept else ""


def sentence(text: str, limit: int = RULE_LIMIT) -> str:
    """Return a person's or agent's own words as one plain sentence that opens no heading, list, quote or fence."""
    kept = _LEADING_MARKUP.sub("", safe(text, limit)).strip()
    if not kept:
        return ""
    return kept[0].upper() + kept[1:] + ("" if kept[-1] in ".!?…”" else ".")


def rule(*parts: str) -> str:
    """Join the parts into one paragraph, leaving the last ones out where it would grow past the limit.

    A first part that is longer by itself is cut, and a code span left open by that is closed.
    """
    text = ""
    for part in filter(None, parts):
        longer = f"{text} {part}".strip()
        if len(longer) <= RULE_LIMIT:
            text = longer
            continue
        cut = bound(longer, RULE_LIMIT - 1)[0]
        return text or (f"{cut}`" if cut.count("`") % 2 else cut)
    return text


def title(text: str) -> str:
    """Return a subject line: one line, bounded, no final stop."""
    return safe(text, TITLE_LIMIT - 1).rstrip(" .:")


def flat(text: str) -> str:
    """Return the letters and digits of ``text`` in lower case, words parted by single spaces: what it says, bare."""
    return re.sub(r"[\W_]+", " ", text.casefold()).strip()


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text for comparing two wordings of one lesson."""
    return frozenset(re.findall(r"[^\W_]+", text.casefold()))


def same_rule(one: str, other: str, least: float = 0.8) -> bool:
    """Whether two rules say nearly the same about the same things.

    Rules about two commands may differ in nothing but the commands, so what stands in backticks must be equal.
    """
    return _spans(one) == _spans(other) and alike(one, other, least)


def _spans(text: str) -> set[str]:
    return {span.casefold() for span in _CODE.findall(text)}


def alike(one: str, other: str, least: float = 0.6) -> bool:
    """Whether two texts say nearly the same: the share of their words they have in common is at least ``least``."""
    first, second = words_of(one), words_of(other)
    return bool(first and second) and len(first & second) / len(first | second) >= least
