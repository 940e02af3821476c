"""What a project's own task files define: targets of a Makefile, scripts of a package.json, recipes of a justfile.

Each question has three answers: it is there, it is not, or nobody can tell without running something (``None``).
A file is gone through once, line by line, however it is made: a session waits for this.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lessonbook.core.value import Value

NAMES = {
    "make": ("GNUmakefile", "makefile", "Makefile"),
    "just": ("justfile", "Justfile", ".justfile"),
    "run": ("package.json",),
}
"""The files a runner reads, the first that is there; ``run`` for all that run scripts of a ``package.json``."""
_MADE_ELSEWHERE = tuple(f"${bracket}{word}" for bracket in "({" for word in ("eval", "foreach", "call"))
"""Words of a Makefile by which it holds more than stands in it."""
_PATTERNS_MOST = 500
_INCLUDES = ("include", "-include", "sinclude")
# Patterns are compiled where they are needed only.
_RECIPE = r"@?([A-Za-z_][\w-]*)"
_ALIAS = r"alias[ \t]+([A-Za-z_][\w-]*)[ \t]*:="
_JUST_LARGER = r"(?m)^(?:(?:import|mod)\??[ \t]|set[ \t]+fallback\b)"


class Tasks(Value):
    """What one task file defines."""

    names: frozenset[str] = frozenset()
    patterns: tuple[str, ...] = ()
    """Targets with a ``%`` that stands for any characters."""
    more: bool = False
    """Whether it may define more than stands in it."""


UNSURE = Tasks(more=True)
"""A file of which nobody can tell what it defines."""


def kind(task: str) -> str:
    """Return the key of ``NAMES`` for a task such as ``npm run build``."""
    runner = task.split(" ", 1)[0]
    return runner if runner in NAMES else "run"


def tasks_of(kind: str, text: str) -> Tasks:
    """Return what a task file of a ``kind`` with this text defines."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n")
    return {"make": _made, "just": _justs}.get(kind, _scripts)(plain)


def defines(task: str, defined: Tasks) -> bool | None:
    """Whether a task file that defines these defines ``task``; ``None`` where that cannot be told."""
    name = task.rsplit(" ", 1)[-1]
    if name in defined.names or any(_fits(name, pattern) for pattern in defined.patterns):
        return True
    # These two also run what a package brought; no package brings a program with a colon in its name.
    runs_more = task.startswith(("yarn", "bun")) and ":" not in name
    return None if defined.more or runs_more else False


def _fits(name: str, pattern: str) -> bool:
    before, _, after = pattern.partition("%")
    return len(name) > len(before) + len(after) and name.startswith(before) and name.endswith(after)


def _made(text: str) -> Tasks:
    names, patterns = set[str](), list[str]()
    more = any(word in text for word in _MADE_ELSEWHERE)
    for line in text.replace("\\\n", " ").split("\n"):
        told = line.split("#", 1)[0]
        if not told.strip() or told.startswith("\t"):
            continue
        first, *others = told.split()
        more = more or first == "define" or (first in _INCLUDES and any(map(_is_no_setting, others)))
        for target in _targets(told):
            more = more or target == ".DEFAULT" or ("$" in target and "/" not in target)
            patterns += [target] if "%" in target else []
            names.add(target)
    return Tasks(frozenset(names), tuple(patterns[:_PATTERNS_MOST]), more or len(patterns) > _PATTERNS_MOST)


def _is_no_setting(path: str) -> bool:
    """Whether an included file may hold targets: one of settings does not."""
    name = path.rsplit("/", 1)[-1]
    return not name.startswith(".env") and not name.endswith(".env")


def _targets(line: str) -> Iterable[str]:
    """What a line of a Makefile defines: nothing where it sets a variable; of ``.PHONY`` what stands behind it."""
    targets, colon, rest = line.partition(":")
    rest = rest.lstrip(":")
    if not colon or "=" in targets or rest.startswith("="):
        return ()
    found = targets.replace("&", " ").split()
    return [*found, *rest.split()] if ".PHONY" in found else found


def _justs(text: str) -> Tasks:
    recipe, alias = re.compile(_RECIPE), re.compile(_ALIAS)
    names = set[str]()
    for line in text.split("\n"):
        found = recipe.match(line)
        if found and ":" in line[found.end() :].replace(":=", ""):
            names.add(found[1])
        elif found and (other := alias.match(line)):
            names.add(other[1])
    return Tasks(frozenset(names), more=re.search(_JUST_LARGER, text) is not None)


def _scripts(text: str) -> Tasks:
    import json

    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return UNSURE
    scripts = told.get("scripts", {}) if isinstance(told, dict) else None
    return Tasks(frozenset(scripts)) if isinstance(scripts, dict) else UNSURE
