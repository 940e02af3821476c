from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.cited import cited, gone, marked


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
