"""What a project's own task files define: targets of a Makefile, scripts of a package.json, recipes of a justfile.

Each question has three answers: it is there, it is not, or nobody can tell without running something (``None``).
"""

from __future__ import annotations

import re

# Compiled where they are needed only: a session waits for this.
_TARGETS = r"(?m)^(?![\t#])([^\n:=#]{1,400}?)[ \t]*::?(?!=)([^\n]*)"
_LARGER = r"(?m)^[ \t]*-?s?include[ \t]+(?!\S*\.env\b)|\$\((?:eval|foreach|call)\b|^[ \t]*define\b"
"""Words of a Makefile by which it holds more than stands in it."""
_RECIPE = r"(?m)^@?([A-Za-z_][\w-]*)(?=[^\n]*?:(?!=))|^alias[ \t]+([A-Za-z_][\w-]*)[ \t]*:="
_JUST_LARGER = r"(?m)^(?:import|mod)\??[ \t]"

NAMES = {
    "make": ("GNUmakefile", "makefile", "Makefile"),
    "just": ("justfile", "Justfile", ".justfile"),
    "run": ("package.json",),
}
"""The files a runner reads, the first that is there; ``run`` for all that run scripts of a ``package.json``."""


def kind(task: str) -> str:
    """Return the key of ``NAMES`` for a task such as ``npm run build``."""
    runner = task.split(" ", 1)[0]
    return runner if runner in NAMES else "run"


def defines(task: str, text: str) -> bool | None:
    """Whether a task file with this text defines ``task``; ``None`` where that cannot be told."""
    name = task.rsplit(" ", 1)[-1]
    if kind(task) == "make":
        return _made(name, text)
    if kind(task) == "just":
        found = name in {match[1] or match[2] for match in re.finditer(_RECIPE, text)}
        return found or (None if re.search(_JUST_LARGER, text) else False)
    return _scripted(task, name, text)


def _made(name: str, text: str) -> bool | None:
    unsure = re.search(_LARGER, text) is not None
    for match in re.finditer(_TARGETS, text.replace("\\\n", " ")):
        for target in match[1].split():
            if target == name or (target == ".PHONY" and name in match[2].split()):
                return True
            if target == ".DEFAULT" or ("$" in target and "/" not in target):
                unsure = True
            elif "%" in target and re.fullmatch(re.escape(target).replace("%", ".+"), name):
                return True
    return None if unsure else False


def _scripted(task: str, name: str, text: str) -> bool | None:
    import json

    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return None
    scripts = told.get("scripts", {}) if isinstance(told, dict) else None
    if not isinstance(scripts, dict):
        return None
    if name in scripts:
        return True
    # These two also run what a package brought; no package brings a program with a colon in its name.
    return None if task.startswith(("yarn", "bun")) and ":" not in name else False
