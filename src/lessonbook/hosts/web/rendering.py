"""Makes pages: every value is escaped, and what is hidden in a text is shown."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from lessonbook.actions.looking import heading
from lessonbook.core.clean import printable

HERE = Path(__file__).resolve().parent


@cache
def environment() -> Environment:
    """Return what makes pages of templates."""
    found = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {"day": day, "moment": moment, "exact": exact, "thousands": thousands, "lesson": heading}
    return found


def page(template: str, values: Mapping[str, Any]) -> str:
    """Return a page."""
    return environment().get_template(template).render(values)


def _shown(value: Any) -> Any:
    """Show what is hidden in a text (control characters, marks that turn the direction, joiners) as escapes."""
    if value is None:
        return ""
    return value if isinstance(value, Markup | int | float) else printable(str(value))


def exact(text: str) -> Markup:
    """Return a text to its last character, for a field whose content comes back to us."""
    return escape(text)


def day(at: float) -> str:
    """Return the day of a time in epoch seconds, in UTC as the evidence says it."""
    return moment(at)[:10]


def moment(at: float) -> str:
    """Return a time in epoch seconds as people read it, in UTC; ``""`` for one that is none."""
    try:
        return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M}" if at else ""
    except (OverflowError, ValueError, OSError):
        return ""


def thousands(number: float) -> str:
    """Return a number with its thousands apart."""
    return f"{number:,}"
