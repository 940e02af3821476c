"""Whether two values of a setting, or two places of a thing, are the same."""

from __future__ import annotations

import re

from lessonbook.core.entity_paths import path_key

_SWITCH = {
    **dict.fromkeys(("on", "true", "yes", "enabled"), "on"),
    **dict.fromkeys(("off", "false", "no", "disabled"), "off"),
}
_UNITS = {
    **dict.fromkeys(("s", "sec", "second"), "s"),
    **dict.fromkeys(("min", "minute"), "min"),
    **dict.fromkeys(("ms", "millisecond"), "ms"),
    **dict.fromkeys(("char", "character", "column"), "character"),
}
_QUANTITY = re.compile(r"(\d+(?:[.,]\d+)*)[ -]?([a-z%]*)\Z")


def values_agree(one: str, other: str) -> bool:
    """Whether two values, as they are compared, may be one: equal, or quantities that cannot be compared."""
    first, second = _SWITCH.get(one, one), _SWITCH.get(other, other)
    if first == second or ("/" in first and "/" in second and paths_agree(first, second)):
        return True
    amount, against = _QUANTITY.match(first), _QUANTITY.match(second)
    if amount and against:
        unit, other_unit = (_UNITS.get(found[2], found[2]) for found in (amount, against))
        return (unit != other_unit and bool(unit and other_unit)) or amount[1].replace(",", "") == against[1].replace(
            ",", ""
        )
    return False


def paths_agree(one: str, other: str) -> bool:
    """Whether two paths may name one place: equal, one inside the other, or one the end of the other."""
    first, second = path_key(one).strip("/").split("/"), path_key(other).strip("/").split("/")
    short, long = sorted((first, second), key=len)
    return long[: len(short)] == short or long[-len(short) :] == short
