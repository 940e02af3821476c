from __future__ import annotations

import pytest

from lessonbook.core import clean
from lessonbook.core.screen import printable


@pytest.mark.parametrize(
    "text", ["", "plain\nlines", "a\tb", "\x1b[31mred", "a\rb", "\u202eevil", "Grüße 😀", "\ud800"]
)
def test_the_quick_way_and_the_whole_way_say_the_same(text: str) -> None:
    assert printable(text) == clean.printable(text)
