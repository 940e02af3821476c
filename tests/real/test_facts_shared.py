"""Published rules and skills of others: names and facts stand in them, and no two paragraphs clash by mistake."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from lessonbook.core.contradictions import contradictions
from lessonbook.core.entities import entities
from lessonbook.core.facts import facts

pytestmark = [pytest.mark.shared, pytest.mark.slow]

PAIRS = 10_000
_BLANK = re.compile(r"\n\s*\n")


def texts(shared: Path) -> list[str]:
    found = [*(shared / "data" / "agents_md").glob("*.md"), *(shared / "data" / "skills").rglob("*.md")]
    return [path.read_text(encoding="utf-8", errors="replace") for path in sorted(found)]


def test_what_is_named_and_stated_stands_in_the_text(shared: Path) -> None:
    for text in texts(shared)[::6]:
        assert all(text[each.start : each.end] == each.value for each in entities(text))
        words = {"on", "off", *re.findall(r"\w+", text)}
        for fact in facts(text):
            assert set(re.findall(r"\w+", f"{fact.object} {fact.subject} {fact.instead} {fact.place}")) <= words, fact


def test_paragraphs_of_unlike_texts_do_not_clash(shared: Path) -> None:
    paragraphs = [part for text in texts(shared)[::2] for part in _BLANK.split(text) if len(part) > 30]
    given = [found for part in paragraphs if (found := facts(part))]
    assert len(given) > 800
    chosen = random.Random(4)
    clashes = [found for _ in range(PAIRS) for found in contradictions(*chosen.sample(given, 2))]
    assert len(clashes) <= 3, [found.sentence for found in clashes]


def test_hardly_any_text_contradicts_itself(shared: Path) -> None:
    given = [facts(text) for text in texts(shared)[::2]]
    against_itself = [found.sentence for each in given for found in contradictions(each, each)]
    assert len(against_itself) <= len(given) // 50, against_itself
