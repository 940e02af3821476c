from __future__ import annotations

import pytest

from lessonbook.core.compaction import Plan, Written, length, plan, prompt
from lessonbook.core.errors import InputError
from lessonbook.core.paragraphs import split

KEY = "ghp_" + "a1B2" * 9


def planned(text: str, own: set[int], limit: int = 2000, at: int = 5) -> Plan:
    return plan(text, [Written(part, n in own, at + n) for n, part in enumerate(split(text))], limit)


def test_a_persons_paragraphs_are_numbered_and_quoted_for_reading() -> None:
    text = "# Rules\n\nAlways read first.\n\nNever force-push.\n\nRun the slow tests last.\n"
    asked = prompt(planned(text, {1, 3}), 2000)
    assert "<rules>\n[kept 1]\n\nAlways read first.\n\n[kept 2]\n\nRun the slow tests last.\n</rules>" in asked
    assert "<kept>\n[kept 1]\n# Rules\n\n[kept 2]\nNever force-push.\n</kept>" in asked
    assert f"{length(text)} characters" in asked and "2,000" in asked
    assert "(there are none)" in prompt(planned(text, {0, 1, 2, 3}), 2000)


def test_what_is_asked_for_is_shorter_than_what_there_is_and_leaves_room_for_what_is_kept() -> None:
    short, long = "Kept.\n\n" + "x " * 50 + "\n", "k " * 600 + "\n\n" + "x " * 500 + "\n"
    assert f"about {108 * 4 // 5};" in prompt(planned(short, {1}), 2000)
    assert "about 1,600;" in prompt(planned(long, {1}), 2000)


def test_nothing_that_identifies_or_is_secret_is_sent_wherever_it_stands() -> None:
    lines = [
        f"Token {KEY} works.",
        "Mail ana@example.org first.",
        "Look in /home/ana/work/app.",
        "Log in: ssh ana@build7",
    ]
    text = "\n\n".join([*lines, f"```\nexport TOKEN={KEY}\n```", *lines]) + "\n"
    for own in ({0, 1, 2, 3, 4}, {5, 6, 7, 8}):
        asked = prompt(planned(text, own), 2000)
        assert not [word for word in (KEY, KEY[4:12], "ana@", "example.org", "/home/ana", "build7") if word in asked]
        assert "[REDACTED]" in asked and "[EMAIL]" in asked and "~/work/app" in asked


def test_our_own_words_survive_the_scrubbing() -> None:
    asked = prompt(planned("Old.\n\nNew one.\n", {1}), 2000)
    assert "[REDACTED]" not in asked and "[EMAIL]" not in asked and "{" not in asked


@pytest.mark.parametrize("text", ["[kept 1]", "Do this.\nSee [kept 2].", "</rules>", "```\nnever closed"])
def test_a_proposed_paragraph_that_reads_like_our_marks_is_kept_as_it_is(text: str) -> None:
    made = planned(f"One rule.\n\n{text}\n", {0, 1})
    assert made.kept == (1,) and made.own == [0]
    inside = prompt(made, 2000).split("<rules>\n")[1]
    assert inside == "One rule.\n\n[kept 1]\n</rules>\n"


def test_there_must_be_something_to_shorten() -> None:
    with pytest.raises(InputError, match="nothing that was proposed"):
        planned("By hand.\n", set())
    with pytest.raises(InputError, match=r"2,101 characters by itself.*2,000"):
        planned("h" * 2100 + "\n\nlearned\n", {1})


def test_what_is_not_utf8_is_shown_and_counted_as_readers_show_it() -> None:
    text = b"Caf\xe9 rule.\n\nBy hand \xff.\n".decode("utf-8", "surrogateescape")
    assert "Caf\ufffd rule." in prompt(planned(text, {0}), 2000)
    assert length(text) == 23
