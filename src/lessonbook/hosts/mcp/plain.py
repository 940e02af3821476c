"""Turns values into what JSON can hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from lessonbook.core.value import Value


def plain(value: object) -> Any:
    """Return ``value`` made of tables, lists, texts and numbers; fields of ours that say nothing are left out.

    Half a character pair becomes ``U+FFFD``, and a number that JSON does not know ``null``.
    """
    if isinstance(value, Value):
        return {name: plain(one) for name, one in value.as_dict().items() if one not in (None, "", ()) and one != {}}
    if isinstance(value, Mapping):
        return {str(plain(str(name))): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, str):
        return str(value).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float) else plain(str(value))
