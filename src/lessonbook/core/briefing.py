"""Blocks of lessons → the one text a session starts with, under budgets.

Hosts spill longer text to a file and show the agent its head only: Claude Code above 10,000 characters, Codex above
2,500 tokens, which it counts as UTF-8 bytes / 4. The budgets stay below both, counted as the text travels: in JSON,
where a line break or a quotation mark is two characters.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from lessonbook.core.value import Value

OPENING = "[lessonbook briefing] What earlier sessions on this machine learned; not typed by the person."
"""The first line of every briefing: how our own text is recognised in a transcript and never learned again."""
REMINDER = "[lessonbook reminder] A hook asks this at the end of a turn; not typed by the person."
"""The first line of what an agent is asked at the end of a turn, by which it is recognised like a briefing."""
CLOSING = "[end of lessonbook briefing]"
"""The last line of every briefing: where the person's own words go on, in hosts that put both in one message."""
MAX_CHARS = 9_400
MAX_TOKENS = 2_400
_BYTES_PER_TOKEN = 4


class Block(Value):
    """One part of a briefing. Items are whole lessons, most valuable first; a cut only ever falls between two."""

    title: str
    items: tuple[str, ...]
    label: str = ""
    """A sentence under the title: what these items are and what overrides them."""
    more: str = ""
    """The command that shows what was left out."""
    gap: str = "\n"
    """What stands between two items: a line break, or an empty line for paragraphs."""
    limit: int = MAX_CHARS
    """The most this block may take, in characters, whatever is free."""
    share: int = 0
    """What earlier blocks must leave free for this one, as far as it needs it."""
    beyond: int = 0
    """How many items there are that were not even handed in; they count as left out."""
    common: str = ""
    """A sentence that several blocks share: told after the label of the first of them that is shown."""


class Text(Value):
    """A finished briefing: ``text`` is empty where there is nothing to say. ``left_out`` counts items."""

    text: str
    characters: int
    tokens: int
    left_out: int


def briefing(
    blocks: Iterable[Block], notes: Sequence[str] = (), *, max_chars: int = MAX_CHARS, max_tokens: int = MAX_TOKENS
) -> Text:
    """Lay ``blocks`` out, first ones first, under both budgets; say in each block how many of its items did not fit.

    ``notes`` are sentences about what could not be read; they stand before the closing line, and make no briefing by
    themselves. No text where no block has an item, and none where not even the frame fits the budgets.
    """
    scale = _Scale(max_chars, max_tokens)
    full = [block for block in blocks if block.items]
    frame = [f"{OPENING}\n", *(f"\n({note})\n" for note in notes), f"\n{CLOSING}"]
    free = max_chars - sum(map(scale.size, frame))
    parts: list[str] = []
    left_out = 0
    told = set[str]()
    for index, plain in enumerate(full):
        block = plain.but(common="") if plain.common in told else plain
        kept_free = sum(
            min(scale.size(_shown(later, later.items, later.beyond)), later.share) for later in full[index + 1 :]
        )
        part, missing = _fit(block, min(block.limit, free - kept_free), scale)
        free -= scale.size(part)
        left_out += missing
        parts.append(part)
        told |= {block.common} if part else set()
    if not any(parts):
        return Text("", 0, 0, left_out)
    text = "".join([frame[0], *parts, *frame[1:]])
    return Text(text, len(text), tokens(text), left_out)


def tokens(text: str) -> int:
    """Return how many tokens ``text`` is, as Codex estimates it: UTF-8 bytes / 4, rounded up."""
    return -(-len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN)


def without_briefings(text: str, opening: str = OPENING, closing: str = CLOSING) -> str:
    """Return ``text`` without the briefings in it: what is left is what somebody else wrote.

    A briefing that was cut off before its closing line ends where the text does. ``opening`` and ``closing`` take out
    another text of ours.
    """
    before, *rest = text.split(opening)
    return before + "".join(part.partition(closing)[2] for part in rest)


class _Scale(Value):
    """One measure for both budgets, in characters: a text of ``max_chars`` here is within either."""

    max_chars: int
    max_tokens: int

    def size(self, text: str) -> int:
        as_json = len(json.dumps(text, ensure_ascii=False)) - 2
        size = len(text.encode("utf-8", "replace"))
        return max(as_json, -(-size * self.max_chars // (self.max_tokens * _BYTES_PER_TOKEN)))


def _fit(block: Block, allowance: int, scale: _Scale) -> tuple[str, int]:
    """Return the block with as many items as fit, in order; one too long by itself is passed over, not cut."""
    whole = _shown(block, block.items, block.beyond)
    if scale.size(whole) <= allowance:
        return whole, block.beyond
    used = scale.size(_shown(block, (), len(block.items) + block.beyond))
    kept: list[str] = []
    for item in block.items:
        cost = scale.size(block.gap + item)
        if used + cost <= allowance:
            used += cost
            kept.append(item)
    missing = len(block.items) - len(kept) + block.beyond
    shown = _shown(block, tuple(kept), missing)
    return (shown, missing) if scale.size(shown) <= allowance else ("", missing)


def _shown(block: Block, items: Sequence[str], missing: int) -> str:
    lines = [f"\n## {block.title}\n"]
    if block.label or block.common:
        lines.append(f"{' '.join(filter(None, (block.label, block.common)))}\n")
    if items:
        lines.append(f"{'' if block.gap == chr(10) else chr(10)}{block.gap.join(items)}\n")
    if missing:
        lines.append(f"\n({missing} more: run `{block.more}`)\n")
    return "".join(lines)
