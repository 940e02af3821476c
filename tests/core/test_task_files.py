from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.task_files import defines

MAKEFILE = """\
VERSION := 1:2
export HOME_OF = a:b
.PHONY: test seed \\
  image
all: build lint
build lint:: deps
\tmake nothing: here
pack-%: ; echo $*
$(OUT)/x.o: x.c
-include local.env
"""


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("test", True),
        ("image", True),
        ("build", True),
        ("lint", True),
        ("pack-all", True),
        ("deploy", False),
        ("nothing", False),
        ("VERSION", False),
        ("x", False),
    ],
)
def test_a_makefile(name: str, there: bool) -> None:
    assert defines(f"make {name}", MAKEFILE) is there


@pytest.mark.parametrize(
    "more", ["include rules.mk", "$(TASKS):\n\techo", "$(foreach t,a b,$(eval $(t):;))", ".DEFAULT:"]
)
def test_a_makefile_that_holds_more_than_it_says(more: str) -> None:
    assert defines("make deploy", f"{MAKEFILE}\n{more}\n") is None
    assert defines("make build", f"{MAKEFILE}\n{more}\n") is True


PACKAGE = json.dumps({"scripts": {"build": "tsc", "test:unit": "vitest"}})


@pytest.mark.parametrize(
    ("task", "text", "there"),
    [
        ("npm run build", PACKAGE, True),
        ("pnpm run test:unit", PACKAGE, True),
        ("npm run lint", PACKAGE, False),
        ("yarn run eslint", PACKAGE, None),
        ("bun run lint:fix", PACKAGE, False),
        ("npm run lint", "{}", False),
        ("npm run lint", "{", None),
        ("npm run lint", "[]", None),
        ("npm run lint", '{"scripts": 3}', None),
    ],
)
def test_a_package(task: str, text: str, there: bool | None) -> None:
    assert defines(task, text) is there


JUST = "set shell := ['bash']\nalias b := build\n@build target='x':\n  echo\nseed *args: build\n  echo\n"


@pytest.mark.parametrize(
    ("name", "there"), [("build", True), ("b", True), ("seed", True), ("set", False), ("x", False)]
)
def test_a_justfile(name: str, there: bool) -> None:
    assert defines(f"just {name}", JUST) is there
    assert defines(f"just {name}", f"{JUST}import 'more.just'\n") is (there or None)


@given(st.sampled_from(["make a", "just a", "npm run a", "bun run a:b"]), st.text(max_size=200))
def test_any_text_has_an_answer(task: str, text: str) -> None:
    assert defines(task, text) in (True, False, None)


@given(st.from_regex(r"[a-z][\w-]{0,12}", fullmatch=True), st.text("ab:\n\t =", max_size=60))
def test_a_target_of_its_own_line_is_found(name: str, before: str) -> None:
    assert defines(f"make {name}", f"{before}\n{name}: dep\n\techo\n") is True
