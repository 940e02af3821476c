from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.candidate import BookKind, Evidence, Proposal
from lessonbook.proposers.skill_edit import corrected

PATH = "skills/ship/SKILL.md"
FOUND = Proposal(
    "Use bun", BookKind.PROJECT, Evidence("failed-then-worked", (), (), 2, None, None), "npm | gone",
    rule="Use `bun run …` here, not `npm run …`, which fails with `npm: command not found`.",
)  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("1. Run `npm run pack`.", "1. Run `bun run pack`."),
        ("```sh\n$ npm run pack\n  npm run x\n```", "```sh\n$ bun run pack\n  bun run x\n```"),
        ("Do not say npm run in words, nor `pnpm run x` or `npm runner`.", None),
        ("`npm run`", "`bun run`"),
        ("Never run `npm run x`, use `npm run y`.", "Never run `npm run x`, use `bun run y`."),
        ("`npm  run x` and `sudo npm run x`", None),
    ],
)
def test_a_command_is_replaced_where_it_stands_as_code(before: str, after: str | None) -> None:
    assert corrected({PATH: before}, FOUND, add=False) == ({} if after is None else {PATH: after})


def test_a_skill_that_does_not_run_it_is_told() -> None:
    assert corrected({PATH: "Ship it.\n"}, FOUND, add=True) == {PATH: f"Ship it.\n\n{FOUND.rule}\n"}
    assert corrected({PATH: "Run `npm run x`."}, FOUND, add=True) == {PATH: "Run `bun run x`."}


def test_what_is_told_of_one_whole_command_is_not_told_of_what_begins_like_it() -> None:
    one = replace(FOUND, rule="Use `bun run …` here, not `npm run pack`, which fails with `x`.")
    assert corrected({PATH: "`npm run pack`"}, one, add=False) == {}


@given(st.text(st.sampled_from("`$ \nnpmrubx"), max_size=80))
def test_what_was_corrected_stays(text: str) -> None:
    once = corrected({PATH: text}, FOUND, add=False).get(PATH, text)
    assert corrected({PATH: once}, FOUND, add=False) == {}
    assert len(once.splitlines()) == len(text.splitlines())
