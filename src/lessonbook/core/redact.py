"""Take secrets out of text, and what identifies a person out of transcripts.

Contract §1.6 (3): after cleaning, in every field, idempotent, in linear time. What counts as a secret is in
``redact_rules`` (keys known by their shape) and ``redact_context`` (values known by the word before them).
Rules run only where a literal they need is in the text, so innocent text costs a few substring searches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lessonbook.core.redact_context import CONTEXT_RULES
from lessonbook.core.redact_identity import IDENTITY_LABELS, IDENTITY_RULES
from lessonbook.core.redact_rules import LABEL, SHAPE_RULES, Rule, Span, spans
from lessonbook.core.value import Value

__all__ = ["LABEL", "LABELS", "Redacted", "redact", "scrub_identity", "secret_spans"]

LABELS = (LABEL, *IDENTITY_LABELS)
"""Every label that can stand in a text; none is ever cut in two."""

SECRET_RULES = (*SHAPE_RULES, *CONTEXT_RULES)

# All needles of the rules, looked for first and in one go: innocent text, which most is, has none of them.
_SECRET_NEEDLES = tuple(dict.fromkeys(needle for rule in SECRET_RULES for needle in rule.needles))
_IDENTITY_NEEDLES = tuple(dict.fromkeys(needle for rule in IDENTITY_RULES for needle in rule.needles))


class Redacted(Value):
    """A text without what had to go, and how many places were replaced."""

    text: str
    count: int


def redact(text: str) -> Redacted:
    """Return ``text`` with each secret replaced by ``[REDACTED]``. Only the secret goes; its name stays readable.

    Known choices: Amazon's documented example key goes like a real one; ``changeme``, ``xxxx``, ``<your key>`` and
    references such as ``$TOKEN`` stay.
    """
    return _replaced(text, SECRET_RULES, _SECRET_NEEDLES)


def scrub_identity(text: str) -> Redacted:
    """Return ``text`` without e-mail addresses, phone numbers, public IP addresses, login hosts and home names.

    For text from transcripts, before it is kept as evidence or sent to a model. ``/home/ana/app`` becomes ``~/app``.
    """
    return _replaced(text, IDENTITY_RULES, _IDENTITY_NEEDLES)


def secret_spans(text: str) -> list[Span]:
    """Return where the secrets of ``text`` are, each with the words that gave it away."""
    return list(_found(text, SECRET_RULES, _SECRET_NEEDLES))


def _replaced(text: str, rules: tuple[Rule, ...], needles: tuple[str, ...]) -> Redacted:
    """Replace until nothing is found: what stood behind one secret may only now stand at the start of a word."""
    count = 0
    while found := _merged(_found(text, rules, needles)):
        parts, at = [], 0
        for span in found:
            parts += [text[at : span.secret], span.label]
            at = span.end
        text = "".join([*parts, text[at:]])
        count += len(found)
    return Redacted(text, count)


def _found(text: str, rules: tuple[Rule, ...], needles: tuple[str, ...]) -> Iterator[Span]:
    there = set(filter(text.lower().__contains__, needles))
    for rule in rules if there else ():
        if not there.isdisjoint(rule.needles):
            yield from spans(rule, text)


def _merged(found: Iterable[Span]) -> list[Span]:
    """Return the places to replace in order, overlapping ones as one."""
    merged: list[Span] = []
    for span in sorted(found, key=lambda each: (each.secret, -each.end)):
        if merged and span.secret < merged[-1].end:
            last = merged[-1]
            merged[-1] = Span(last.start, last.secret, max(last.end, span.end), last.label)
        else:
            merged.append(span)
    return merged
