from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.cited import cited, gone, marked, programs, tasks, told


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("Use `bin/test …` here, not `pytest …`, which fails with `src/a.py: not found`.", ("bin/test",)),
        ("Run `scripts/seed.py` before `make test`.", ("scripts/seed.py",)),
        ("Run `./gradlew check` from `app/`.", ("./gradlew",)),
        ("See `docs/setup.md` and `docs/faq.md`.", ("docs/setup.md", "docs/faq.md")),
        ("Use `pnpm …` instead of `npm …`.", ()),
        ("Never push to `origin/main`.", ()),
        ("Leave `frontend/dist` out of `git add`.", ()),
        ("Do not edit `src/gen.py`.", ()),
        ("It stops with `src/gen.py`.", ()),
        ("Use `@scope/pkg run x` and `https://a.example/b.py` and `~/x/y.py` and `/etc/x.conf`.", ()),
        ("Use `../other/x.py`.", ()),
    ],
)
def test_what_a_lesson_tells_to_use(text: str, paths: tuple[str, ...]) -> None:
    assert cited(text) == paths


def test_what_is_gone_is_marked() -> None:
    text = "Run `bin/test x` and `scripts/a.sh y`."
    assert marked(text, gone(text, lambda path: True)) == text
    assert marked(text, gone(text, lambda path: path != "bin/test")) == (
        f"{text} (`bin/test` is no longer there: check before you follow this.)"
    )
    assert "`bin/test` and `scripts/a.sh` are no longer there" in marked(text, gone(text, lambda path: False))


@given(st.text(max_size=300))
def test_any_text_is_looked_into(text: str) -> None:
    assert all(path in text and not path.startswith(("/", "~")) for path in cited(text))


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("```sh\nmake a\n# b\n$ c\n```\nd\n", ["make a", "c"]),
        ("```python\nprint()\n```\nNot `a`.\nprose\n```\nmake a\n```\n", ["make a"]),
        ("~~~bash\r\nmake a\r\n```\r\n~~~\r\nprose\r\n", ["make a", "```"]),
        ("````\n```\nmake a\n````\nprose\n", ["```", "make a"]),
        ("1. x\n   ```sh\n   make a\n   ```\n", ["make a"]),
        ("```x``` is code\nprose\n", []),
    ],
)
def test_the_lines_of_scripts_and_of_nothing_else(text: str, lines: list[str]) -> None:
    assert list(told(text)) == lines


@pytest.mark.parametrize("unit", ["a", " ", "\n", "`", "use ", "use `", "in the ", "```sh\n", "~~~\nx\n", ". ", "not "])
@pytest.mark.parametrize("before", ["make x `make y` ", "---\nmake x\n"])
def test_a_lesson_is_gone_through_once_however_it_is_made(unit: str, before: str) -> None:
    text = before + unit * (100_000 // len(unit))
    began = process_time()
    assert (tasks(text), cited(text), programs(text)) is not None
    assert process_time() - began < 3, "a square of its length took 12 seconds"
