"""Signs of poisoning in what a candidate brings, for the person who decides.

A lesson or skill is text that an agent will obey, so text that makes an agent send secrets, drop its rules, run
what it downloads, or that hides from its reader is marked, with its line. Only what can be named is marked; a sign is a
reason to look, never proof. What it costs is linear in the length of the texts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from lessonbook.core import suspicion_shown as shown
from lessonbook.core.clean import bound, printable
from lessonbook.core.redact import LABEL, redact, secret_spans
from lessonbook.core.suspicion_commands import COMMANDS
from lessonbook.core.suspicion_paths import frontmatter_keys, loaded_commands, of_path
from lessonbook.core.suspicion_rules import PHRASES
from lessonbook.core.suspicion_shown import Find
from lessonbook.core.suspicion_text import Code, Lines, Plain, code_of, compiled, lines_of, plain, unhidden

KINDS = ("exfiltrate", "override", "fetch-and-run", "hidden", "encoded", "permissions", "tool-output", "links")
"""Every kind of sign there is."""

EXCERPT = 160
"""Characters of a line that are shown with a sign, at most."""

MOST = 100
"""Signs of one kind that are listed for one file, at most; the last one says how many follow."""

MESSAGE = "commit message"
"""The path of a sign that stands in a candidate's trailers; its line is the trailer's number."""


@dataclass(frozen=True, slots=True)
class Sign:
    """One reason to look. ``line`` counts from 1 in the text a candidate brings, as git counts lines.

    ``excerpt`` can be printed anywhere: hidden characters are shown as escapes, secrets as ``[REDACTED]``.
    """

    kind: str
    path: str
    line: int
    excerpt: str
    why: str


def signs(path: str, before: str, after: str) -> tuple[Sign, ...]:
    """Return the signs in the lines of ``after`` that ``before`` does not hold, in the order of the lines.

    ``before`` is ``""`` for a new file. ``path`` is relative to the book. Never raises, whatever the texts are.
    """
    if before == after:
        return ()
    lines = lines_of(before, after)
    files = of_path(path, after) if lines.brought else iter(())
    return _signs(path, after, lines, chain(files, _brought(path, before, after, lines)))


def from_trailers(trailers: Iterable[tuple[str, str]]) -> tuple[Sign, ...]:
    """Return the signs in a candidate's trailers: that its text is a tool's output, and what else its evidence says.

    A tool's output is whatever a program, a page or a file said: no person and no agent stands behind it. It is taken
    for the source where a trailer names it so, or where an error is quoted and nothing a person said or that worked.
    """
    rows = tuple(trailers)
    found = [*_tool_rows(rows)]
    for number, (_, value) in enumerate(rows, 1):
        for sign in signs(MESSAGE, "", value):
            found.append(Sign(sign.kind, MESSAGE, number, sign.excerpt, sign.why))
    return tuple(sorted(found, key=lambda sign: sign.line))


_SOURCE_KEY = r"(?i)(?:evidence-)?(?:source|origin|from|veracity)"
_TOOL_VALUE = (
    r"(?i)\W{0,3}(?:(?:a|the) )?(?:tool|web|fetch|page|mcp|command[ _-]?output|stdout|stderr|external|untrusted)"
)


def _tool_rows(rows: tuple[tuple[str, str], ...]) -> Iterator[Sign]:
    keys = {key.lower() for key, _ in rows}
    alone = not keys & {"evidence-said", "evidence-worked"}
    for number, (key, value) in enumerate(rows, 1):
        named = compiled(_SOURCE_KEY).fullmatch(key) and compiled(_TOOL_VALUE).match(value)
        if named or (alone and key.lower() == "evidence-error"):
            why = "The text came from a tool's output, not from a person."
            yield Sign("tool-output", MESSAGE, number, _excerpt(f"{key}: {value}", 0, ()), why)


def _brought(path: str, before: str, after: str, lines: Lines) -> Iterator[Find]:
    """Yield the finds of ``after`` that touch a brought line, and those that only removing lines has made."""
    crossing = []
    for find in _finds(path, after):
        if lines.first_brought(find.start, find.end) is not None:
            yield find
        elif "\n" in after[find.start : find.end]:
            crossing.append(find)
    if crossing:
        known = Counter((find.why, before[find.start : find.end]) for find in _finds(path, before))
        yield from (find for find in crossing if (find.why, after[find.start : find.end]) not in known)


def _finds(path: str, text: str) -> Iterator[Find]:
    """Yield everything that can be named in ``text``."""
    code = code_of(text) if _is_markdown(path) else Code((), ())
    yield from shown.hidden_characters(text)
    yield from shown.mixed_words(text)
    yield from shown.pushed_away(text)
    yield from shown.encoded(text)
    if _is_markdown(path):
        yield from shown.hidden_markup(text, code)
        yield from shown.links(text, code)
        yield from frontmatter_keys(text)
        yield from loaded_commands(text, code)
    yield from _said(plain(text))


def _said(view: Plain) -> Iterator[Find]:
    for rule in (*PHRASES, *COMMANDS):
        if not any(needle in view.text for needle in rule.needles):
            continue
        for match in compiled(rule.pattern).finditer(view.text):
            if rule.finds(match):
                end = view.origin(match.end() - 1) + 1 if match.end() > match.start() else match.end()
                yield Find(rule.kind, rule.why, view.origin(match.start()), end)


def _is_markdown(path: str) -> bool:
    name = path.rsplit("/", 1)[-1].lower()
    return "." not in name.lstrip(".") or name.endswith((".md", ".markdown", ".mdc", ".mdx", ".txt", ".html", ".htm"))


def _signs(path: str, text: str, lines: Lines, finds: Iterator[Find]) -> tuple[Sign, ...]:
    """Return one sign for each kind and stretch of a line that an excerpt shows, at most ``MOST`` of a kind."""
    chosen: dict[tuple[int, int, int], Find] = {}
    for find in finds:
        line = lines.first_brought(find.start, find.end)
        line = lines.at(find.start) if line is None else line
        start = max(find.start, lines.starts[line])
        key = (line, (start - lines.starts[line]) // shown.STRETCH, KINDS.index(find.kind))
        chosen.setdefault(key, Find(find.kind, find.why, start, find.end))
    if not chosen:
        return ()
    secrets, listed, found = _secrets(text), Counter[str](), []
    totals = Counter(find.kind for find in chosen.values())
    for key in sorted(chosen):
        find = chosen[key]
        listed[find.kind] += 1
        if listed[find.kind] <= MOST:
            left = totals[find.kind] - MOST if listed[find.kind] == MOST else 0
            why = find.why + (f" {left} more of this kind follow and are not listed." if left else "")
            excerpt = _excerpt(text, find.start, secrets, lines.starts[key[0]], find.end)
            found.append(Sign(find.kind, path, key[0] + 1, excerpt, printable(redact(why).text)))
    return tuple(found)


def _secrets(text: str) -> tuple[tuple[int, int], ...]:
    """Return where the secrets of ``text`` stand, those that hidden characters split included."""
    found = [(span.secret, span.end) for span in secret_spans(text)]
    kept = unhidden(text)
    if kept.breaks != (0,):
        found += [(kept.origin(span.secret), kept.origin(span.end - 1) + 1) for span in secret_spans(kept.text)]
    merged: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def _excerpt(text: str, at: int, secrets: tuple[tuple[int, int], ...], line: int = 0, until: int = 0) -> str:
    """Return what stands around ``at``, from its line to the one that holds ``until``: safe to print, on one line."""
    end = text.find("\n", max(at, until - 1))
    end = len(text) if end < 0 else end
    for lead in (EXCERPT, 40, 0):
        start = max(line, at - lead)
        stop = min(end, start + EXCERPT)
        cut = ("…" if start > line else "") + _safe(text, start, stop, secrets) + ("…" if stop < end else "")
        if len(cut) <= EXCERPT and (lead < EXCERPT or at < stop):
            break
    return bound(redact(cut).text.strip(), EXCERPT)[0]


def _safe(text: str, start: int, stop: int, secrets: tuple[tuple[int, int], ...]) -> str:
    """Return ``text[start:stop]`` printable, with ``[REDACTED]`` for each secret or part of one."""
    parts, index = [], bisect_left(secrets, start, key=lambda span: span[1])
    while index < len(secrets) and secrets[index][0] < stop:
        first, last = secrets[index]
        if last > start:
            parts += [text[start : max(start, first)], LABEL]
            start = min(last, stop)
        index += 1
    return printable("".join([*parts, text[start:stop]]).rstrip("\r")).replace("\n", " ").replace("\t", " ")
