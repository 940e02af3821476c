from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.twins import TWIN, Index, near, print_of, similarity


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use `pnpm test` instead of `npm test`.", "Always use `pnpm test`, instead of `npm test`!"),
        ("Run the linter before each commit.", "Before each commit, run the linter."),
        ("Never push to main without asking.", "You should never push to `main` without asking.".replace("`", "")),
        ("The tests need a database on port 5432.", "Tests need the database on port 5432"),
        ("Look in /home/ana/work/shop/log.", "Look in /home/bob/work/shop/log."),
        ("Seen on 2026-03-02: the build needs Node.", "Seen on 2026-04-09: the build needs Node."),
        ("The commit 1a2b3c4d5e broke the release script.", "The commit 9f8e7d6c5b broke the release script."),
        ("Les tests ont besoin d'une base de données.", "Les tests ont besoin d'une base de données !"),
    ],
)
def test_near_twins(one: str, other: str) -> None:
    assert near(print_of(one), print_of(other)), similarity(print_of(one), print_of(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use tabs, not spaces.", "Use spaces, not tabs."),
        ("Always push to main.", "Never push to main."),
        ("Use `pnpm` instead of `npm`.", "Use `npm` instead of `pnpm`."),
        ("Run `make test` before pushing.", "Run `make lint` before pushing."),
        ("Set the timeout to 30 seconds.", "Set the retries to 3 attempts."),
        ("Rule 1.", "Rule 2."),
        ("Use Python 3.11 for the server.", "Use Node 20 for the client."),
        ("", ""),
        ("the a of", "the a of"),
    ],
)
def test_what_only_looks_alike(one: str, other: str) -> None:
    assert not near(print_of(one), print_of(other)), similarity(print_of(one), print_of(other))


def test_the_digest_is_the_words_whatever_their_order() -> None:
    assert print_of("Run the linter first.").digest == print_of("First, run the linters").digest
    assert print_of("Run the linter first.").digest != print_of("Run the linter last.").digest


_WORDS = st.lists(st.sampled_from([*string.ascii_lowercase[1:14], "`x`", "`y`", "not"]), max_size=8).map(" ".join)


@given(texts=st.lists(_WORDS, max_size=12))
def test_the_index_finds_exactly_the_near_twins(texts: list[str]) -> None:
    prints = [print_of(text) for text in texts]
    index = Index(prints)
    for one in prints:
        assert index.near(one) == [place for place, other in enumerate(prints) if near(one, other)]


@given(st.text(), st.text())
def test_similarity_is_even_and_bounded(one: str, other: str) -> None:
    first, second = print_of(one), print_of(other)
    assert similarity(first, second) == similarity(second, first) and 0 <= similarity(first, second) <= 1
    assert not first.words or (near(first, first) and similarity(first, first) >= TWIN)
