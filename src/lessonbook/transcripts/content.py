"""The content of a message in the shapes agents share: a text, or a list of text, image and other blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lessonbook.transcripts.values import text

_TEXTS = frozenset(("text", "input_text", "output_text", ""))


def parts(content: object) -> Iterator[dict[str, Any]]:
    """Yield the blocks of a content; a bare text is one text block, anything else none."""
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    elif isinstance(content, dict):
        yield content
    elif isinstance(content, list):
        for item in content:
            if isinstance(item, str):
                yield {"type": "text", "text": item}
            elif isinstance(item, dict):
                yield item


def plain(content: object) -> str:
    """Return the text of a content: its text blocks joined, what is no text as a word in brackets."""
    return "\n".join(part for part in map(_word, parts(content)) if part)


def typed(content: object) -> str:
    """Return only what is text in a content."""
    return "\n".join(said for part in parts(content) if _is_text(part) and (said := text(part.get("text"))))


def _is_text(part: dict[str, Any]) -> bool:
    return text(part.get("type")) in _TEXTS


def _word(part: dict[str, Any]) -> str:
    if _is_text(part):
        return text(part.get("text"))
    return f"[{text(part.get('type')) or 'something'}]"
