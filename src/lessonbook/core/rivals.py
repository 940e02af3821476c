"""Words that exclude each other in one place of one statement: "tabs" and "spaces", "pnpm" and "yarn"."""

from __future__ import annotations

import re
from functools import lru_cache

_GROUPS = tuple(
    tuple(words.split())
    for words in (
        "npm pnpm yarn bun",
        "pip poetry uv pipenv conda pdm",
        "pytest unittest nose",
        "jest vitest mocha jasmine",
        "black yapf autopep8",
        "eslint biome oxlint",
        "webpack vite parcel",
        "mysql postgres mariadb sqlite",
        "bash zsh fish",
        "docker podman",
        "merge rebase squash",
        "tab space",
        "single double",
        "short long",
        "small large big tiny huge",
        "terse concise brief verbose detailed",
        "formal informal",
        "light dark",
        "relative absolute",
        "named default",
        "functional class",
        "esm commonjs",
        "sync async",
        "synchronous asynchronous",
        "public private",
        "manual automatic",
        "http https",
        "british american us uk",
        "camelcase snake_case pascalcase kebab-case",
        "english german french spanish italian portuguese dutch polish russian ukrainian turkish japanese chinese "
        "korean hindi arabic",
    )
)
_GROUP_OF = {word: f"<{group[0]}>" for group in _GROUPS for word in group}
_COUNT = re.compile(r"\d+(?:\.\d+)?(?=\Z|-?[a-z%]+\Z)")
_NUMBERED = re.compile(
    r"\b(?:step|option|phase|part|example|figure|table|section|level|tier|approach|method|case|rule|chapter|item"
    r"|mode|variant|form|style|type|class|v)\b"
)


@lru_cache(maxsize=4096)
def frame(key: str) -> str:
    """Return a key with each word that has rivals, and each number, replaced by what stands for all of them.

    Two different keys of one frame exclude each other where they say what to do for the same purpose.
    """
    words = [_GROUP_OF.get(word, word) for word in key.split()]
    if len(words) > 1 and not _NUMBERED.search(key):
        words = [_COUNT.sub("#", word) for word in words]
    return " ".join(words)


def counts_only(one: str, other: str) -> bool:
    """Whether two keys of one frame differ in their numbers alone."""
    pairs = zip(one.split(), other.split(), strict=False)
    return all(first == second or _COUNT.match(first) for first, second in pairs)
