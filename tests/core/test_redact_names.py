from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.redact_names import NAME_LABEL, Names


@pytest.mark.parametrize(
    ("seen", "text"),
    [
        ("Author: Zelda Quist <zq@example.org>", "Zelda said no, and QUIST agreed"),
        ("Co-authored-by: Zelda Quist <x@example.org>", "ask zelda"),
        ("mail zelda.quist@example.org", "Zelda, Quist"),
        ("cd /home/zelda/app", "zelda's box"),
        (r"C:\Users\zelda\app", "for zelda"),
        ("/t/-Users-zelda-work/a.jsonl", "(zelda)"),
        ('git config user.name "Zelda Quist"', "zelda_quist"),
        ("my name is Zelda Quist and", "Quist wants it"),
    ],
)
def test_a_name_that_is_sure_goes_everywhere(seen: str, text: str) -> None:
    names = Names()
    names.see(seen)
    left = names.without(text).casefold()
    assert "zelda" not in left and "quist" not in left and NAME_LABEL.casefold() in left


@pytest.mark.parametrize(
    "seen", ["/home/runner/work", "/Users/admin/x", "noreply@github.com", "/home/node/app", "git@github.com:a"]
)
def test_accounts_of_machines_are_no_names(seen: str) -> None:
    names = Names()
    names.see(seen)
    text = "the runner of node, the admin, a git log and github"
    assert names.without(text) == text


def test_a_name_inside_a_word_stays() -> None:
    names = Names()
    names.see("/home/lin/app")
    assert names.without("a lint line by Lin") == f"a lint line by {NAME_LABEL}"


def test_what_looks_like_a_name_goes_only_where_it_is_asked_for() -> None:
    text = "Zelda Quist wants it"
    assert Names().without(text) == text
    assert Names().without(text, guess=True) == f"{NAME_LABEL} wants it"
    for kept in ("Internal Server Error", "Visual Studio Code", "Permission Denied here", "Error: File Not Found"):
        assert Names().without(kept, guess=True) == kept


@given(st.text(max_size=200), st.text(max_size=200))
def test_it_is_idempotent_and_never_raises(seen: str, text: str) -> None:
    names = Names()
    names.see(seen)
    once = names.without(text, guess=True)
    assert names.without(once, guess=True) == once


def test_a_label_of_ours_is_no_name() -> None:
    names = Names()
    names.see("/home/name/app and /home/email/app and Author: Red Acted <a@b.example>")
    assert names.without("[NAME] [EMAIL] [REDACTED]", guess=True) == "[NAME] [EMAIL] [REDACTED]"
