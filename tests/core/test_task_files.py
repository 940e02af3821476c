from __future__ import annotations

import json
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.task_files import defines as defines_one
from lessonbook.core.task_files import kind, tasks_of


def defines(task: str, text: str) -> bool | None:
    """Whether a task file with this text defines a task."""
    return defines_one(task, tasks_of(kind(task), text))


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


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("\ufeffseed:\n\techo\n", True),
        ("a seed &: x\n", True),
        (".PHONY: a seed # b\r\n", True),
        (f"{' '.join(f'long-name-{n}' for n in range(90))} seed: x\n", True),
        ("seed ::= 3\nseed != echo\n", False),
        ("# seed:\n", False),
        ("include .env config/prod.env\n", False),
        ("include .env rules.mk\n", None),
        ("include rules.mk .env\n", None),
        ("ifdef A\n  sinclude rules.mk\nendif\n", None),
        (".PHONY: $(TASKS)\n", None),
        ("${foreach t,a,${eval $t:}}\n", None),
    ],
)
def test_a_makefile_that_is_strange(text: str, there: bool | None) -> None:
    assert defines("make seed", text) is there


@pytest.mark.parametrize(
    "unit", ["a", " ", "x ", "a:", "=", "a=", "@", "\\\n", "include ", "alias ", "`", "[", "{", "$("]
)
@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("task", ["make seed", "just seed", "npm run seed"])
def test_a_file_is_gone_through_once_however_it_is_made(unit: str, end: str, task: str) -> None:
    text = "seed " + (unit * (390 // len(unit)) + end) * (1 << 11)
    began = process_time()
    assert defines(task, text) in (True, False, None)
    assert process_time() - began < 3, "a square of its length would take minutes"


JUST = "set shell := ['bash']\nalias b := build\n@build target='x':\n  echo\nseed *args: build\n  echo\n"


@pytest.mark.parametrize(
    ("name", "there"), [("build", True), ("b", True), ("seed", True), ("set", False), ("x", False)]
)
def test_a_justfile(name: str, there: bool) -> None:
    assert defines(f"just {name}", JUST) is there
    assert defines(f"just {name}", f"{JUST}import 'more.just'\n") is (there or None)
    assert defines(f"just {name}", f"{JUST}set fallback\n") is (there or None)


@given(st.sampled_from(["make a", "just a", "npm run a", "bun run a:b"]), st.text(max_size=200))
def test_any_text_has_an_answer(task: str, text: str) -> None:
    assert defines(task, text) in (True, False, None)


@given(st.from_regex(r"[a-z][\w-]{0,12}", fullmatch=True), st.text("ab:\n\t =", max_size=60))
def test_a_target_of_its_own_line_is_found(name: str, before: str) -> None:
    assert defines(f"make {name}", f"{before}\n{name}: dep\n\techo\n") is True
