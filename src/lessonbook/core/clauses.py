"""Takes a text apart into clauses that may state something: no code, tables, quotations, questions or bad examples.

Lines of a paragraph are one text. Code spans and quotations inside it count as one word each, whatever they hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lessonbook.core.entity import Page, blank, compiled, page_of
from lessonbook.core.fact_words import CODE, QUOTED, any_of
from lessonbook.core.value import Value

LONGEST = 400
"""Characters of one sentence, at most; a longer one is not a statement of one thing."""

_ITEM = re.compile(r"([ \t]*)(?:[-*+•‣]|\d{1,3}[.)])[ \t]+(\[[ xX]\])?")
_SKIPPED = re.compile(r"[ \t]*(?:[|<>]|={3,}|-{3,}|\[[^\]]*\]:)")
_HEADING = re.compile(r" {0,3}#{1,6}\s")
_LINK = re.compile(r"\[([^\[\]\n]{1,200})\](\([^()\s]{0,300}\))")
_QUOTE = re.compile(r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|«[^»\n]{1,300}»|(?<!\w)['‘][^'‘’\n]{1,200}['’](?!\w)")
_PAREN = re.compile(r"\(([^()]{0,300})\)")
_MARKER = re.compile(
    r"\s*" + any_of("not never instead_of rather_than for in on when if unless except only over") + r"\b"
)
_END = re.compile(r"[.!?]+[\"'”’)\]*]*(?=\s|\Z)|;(?=\s)")
_SHORTENED = re.compile(r"(?i)(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|ca|incl|no|fig|st|dr|mr|ms)|(?<![\w.])\w)\Z")
_GOES_ON = re.compile(r"(?i)\s*(?:except|unless|but|only (?:when|if|in|for)|the only exception)\b")
_CUT = re.compile(r":(?=\s|\Z)|\s[—–]\s|—|\s--?\s|\s(?:→|⇒|=>|->)\s")
_DOUBTED = re.compile(
    r"(?i)\b"
    + any_of(
        "avoid don['’]?ts? do_not never not bad wrong incorrect anti-?patterns? mistakes? pitfalls? examples? "
        "samples? red_flags? rationali[sz]ations? excuses? signs? symptoms? questions? faq such_as triggers? "
        "when_to_use says? said asks? asked phrases? instead old deprecated legacy vs versus options? alternatives? "
        "either choose checklist verify check thoughts? claims? changelog history before previous might could would "
        "optional todo ideas? myths? smells? violations? problems? issues? fails?"
    )
    + r"\b|[❌✗✘🚫⛔]|\?"
)
_QUALIFIES = re.compile(
    "(?i)" + any_of("when whenever if for in on inside during while under within before after once with to") + r"\b"
)
_INTRO = 160
"""Characters of what introduces a list that are looked at, at most: its end."""
_ONE_LINE = {ord(char): " " for char in "\n\r\t"}


class Clause(Value):
    """A part of a sentence that may state something; ``text`` stands at ``start`` of ``source``, sign for sign."""

    text: str
    start: int
    source: str
    lead: str = ""
    """What stands before it and narrows it: the "When testing:" above a list."""
    cut: str = ""
    """The colon or dash that ends it; ``""`` at the end of a sentence."""

    @property
    def end(self) -> int:
        """Where it ends in the text."""
        return self.start + len(self.text)

    def words(self, start: int, end: int) -> str:
        """Return what stands from ``start`` to ``end`` of the clause, on one line, without emphasis and asides."""
        shown = self.text[start:end]
        if CODE in shown or QUOTED in shown:
            pairs = zip(shown, self.source[self.start + start : self.start + end], strict=True)
            shown = "".join(held if char in (CODE, QUOTED) else char for char, held in pairs)
        return " ".join(shown.split())


class _Block(Value):
    """A paragraph or list item, and what introduces it."""

    start: int
    end: int
    intro: str


def sentences(text: str, sign: re.Pattern[str]) -> Iterator[tuple[Clause, ...]]:
    """Yield the sentences of ``text`` that hold ``sign``, in order, each once and as its clauses. Linear time."""
    view, seen = _masked(page_of(text)), set[tuple[str, str]]()
    for block in _blocks(text, view):
        if block.intro and doubted(block.intro):
            continue
        lead = block.intro if qualifies(block.intro) else ""
        piece = view[block.start : block.end].translate(_ONE_LINE)
        for start, end in _sentences(piece):
            sentence, stands = piece[start:end], text[block.start + start : block.start + end]
            if (lead, stands) not in seen and sign.search(sentence):
                seen.add((lead, stands))
                if parts := _parts(text, sentence, block.start + start, lead):
                    yield parts


def doubted(label: str) -> bool:
    """Whether what stands under a label or heading may be shown as wrong, an example or a choice, not stated."""
    return _DOUBTED.search(label) is not None


def qualifies(label: str) -> bool:
    """Whether a label or lead narrows what follows: "When testing", "In legacy/"."""
    return _QUALIFIES.match(label) is not None


def _masked(page: Page) -> str:
    """Return the text without code blocks, each code span as a run of ``CODE``; emphasis is taken off."""
    parts, at = [], 0
    for start, end in zip(page.code.starts, page.code.ends, strict=True):
        held = page.text[start:end]
        if start >= at and held.strip():
            parts += [_flat(page.text[at:start]), blank(held) if "\n" in held else CODE * len(held)]
            at = end
    return "".join([*parts, _flat(page.text[at:])])


def _flat(plain: str) -> str:
    """Return text of the same length without emphasis, and with links as the words they show."""
    if "](" in plain:
        plain = _LINK.sub(lambda link: f" {link[1]} {' ' * len(link[2])}", plain)
    return compiled(r"\*+|__+|~~").sub(lambda found: " " * len(found[0]), plain)


def _blocks(text: str, view: str) -> Iterator[_Block]:
    """Yield the paragraphs and list items of a Markdown text, each with the line that introduces its list."""
    heading, intros, held, at = "", list[tuple[int, str]](), None, _after_frontmatter(view)
    for line in [*view[at:].split("\n"), ""]:
        end = at + len(line)
        item, titled = _ITEM.match(line), _HEADING.match(line)
        ends = item or titled or not line.strip() or _SKIPPED.match(line)
        if held and ends:
            yield _closed(text, view, held, heading, intros)
            held = None
        if titled:
            heading, intros = line.strip("# \t\r"), []
        elif item and not item[2]:
            held = (at + item.end(), end, len(item[1].expandtabs(4)))
        elif held:
            held = (held[0], end, held[2])
        elif not ends:
            held = (at, end, -1)
        at = end + 1


def _closed(text: str, view: str, block: tuple[int, int, int], heading: str, intros: list[tuple[int, str]]) -> _Block:
    """Return a block that has ended; one that ends in a colon or asks introduces what is indented deeper."""
    start, end, indent = block
    while intros and intros[-1][0] >= indent:
        intros.pop()
    intro = intros[-1][1] if intros and indent >= 0 else ""
    if view[start:end].rstrip().endswith((":", "?")):
        told = Clause(view[start:end], start, text).words(max(0, end - start - _INTRO), end - start)
        intros.append((indent, told.rstrip(": ")))
    return _Block(start, end, heading if indent >= 0 and not intro and doubted(heading) else intro)


def _after_frontmatter(view: str) -> int:
    found = compiled(r"\ufeff?---[ \t]*\r?\n(?:[^\n]*\n){0,200}?---[ \t]*(?:\r?\n|\Z)").match(view)
    return found.end() if found else 0


def _sentences(piece: str) -> Iterator[tuple[int, int]]:
    """Yield where the sentences of a paragraph stand, without questions and those that are too long."""
    start = 0
    for match in [*_END.finditer(piece), None]:
        end = match.start() if match else len(piece.rstrip(" .!"))
        if match and match[0] != ";" and _goes_on(piece, start, match):
            continue
        if end - start <= LONGEST and not (match and "?" in match[0]) and piece[start:end].strip():
            yield start, end
        start = match.end() if match else end


def _goes_on(piece: str, start: int, match: re.Match[str]) -> bool:
    """Whether a full stop does not end the statement: it belongs to a short form, or an exception follows."""
    if match[0] == "." and _SHORTENED.search(piece, max(start, match.start() - 8), match.start()):
        return True
    return _GOES_ON.match(piece, match.end(), match.end() + 40) is not None


def _parts(source: str, sentence: str, at: int, lead: str) -> tuple[Clause, ...]:
    """Return the clauses of a sentence: what stands before and after a colon or dash is one each."""
    shown = _PAREN.sub(_aside, _QUOTE.sub(lambda found: QUOTED * len(found[0]), sentence))
    parts, start = [], 0
    for match in [*_CUT.finditer(shown), None]:
        end = match.start() if match else len(shown)
        parts.append(Clause(shown[start:end], at + start, source, lead, match[0].strip() if match else ""))
        start = match.end() if match else end
    return tuple(part for part in parts if part.text.strip())


def _aside(found: re.Match[str]) -> str:
    """Return what stands for parentheses: "(not npm)" goes on with the sentence, other asides are left out."""
    return f",{found[1]}," if _MARKER.match(found[1]) else " " * len(found[0])
