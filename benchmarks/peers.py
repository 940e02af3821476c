"""The peers we are measured beside, set up in ``.bench/`` of this checkout, or named by the environment.

``LESSONBOOK_PEER_PYTHON`` names a Python that has the original ``ramabana``; ``LESSONBOOK_PEER_GIT`` a ``git`` that is
new enough for it (2.40: it needs ``merge-tree --merge-base``). Both sides of a comparison run with that same git.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BENCH = ROOT / ".bench"
PEER = "ramabana==0.2.80"
NEEDS = ("fastcore>=2.2.19",)
"""All that the peer's ``learned`` module imports; the whole of its dependencies cannot be installed from PyPI."""
PEER_PYTHON, PEER_GIT = (3, 12), (2, 40)


@dataclass(frozen=True, slots=True)
class Peer:
    """The original's Python, the folder of the git both run with, and why there is no peer where there is none."""

    python: str = ""
    git_folder: str = ""
    git: str = ""
    missing: str = ""


def peer() -> Peer:
    """Return the original, set up on first use; or why it cannot be run here."""
    git = os.environ.get("LESSONBOOK_PEER_GIT") or shutil.which("git")
    if git is None:
        return Peer(missing="there is no git here")
    said = subprocess.run([git, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    folder = str(Path(git).absolute().parent)
    found = [int(part) for part in re.findall(r"\d+", said)[:2]]
    if tuple(found) < PEER_GIT:
        needed = ".".join(map(str, PEER_GIT))
        return Peer(
            git_folder=folder, git=said, missing=f"the peer needs git {needed}, this is {said}; set LESSONBOOK_PEER_GIT"
        )
    python, problem = _python()
    return Peer(python, folder, said, problem)


def _python() -> tuple[str, str]:
    named = os.environ.get("LESSONBOOK_PEER_PYTHON") or str(BENCH / "peer" / "bin" / "python")
    if _imports(named):
        return named, ""
    if "LESSONBOOK_PEER_PYTHON" in os.environ:
        return "", f"LESSONBOOK_PEER_PYTHON={named} cannot import ramabana.learned"
    source = next(iter(peer_pythons()), None)
    if source is None:
        return "", "the peer needs Python {}.{} or newer; set LESSONBOOK_PEER_PYTHON".format(*PEER_PYTHON)
    print(f"setting up the peer ({PEER}) in {BENCH / 'peer'} …", file=sys.stderr)
    shutil.rmtree(BENCH / "peer", ignore_errors=True)
    pip = [named, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for command in ([source, "-m", "venv", str(BENCH / "peer")], [*pip, "--no-deps", PEER], [*pip, *NEEDS]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines()[-1:]
            return "", f"the peer cannot be installed here: {' '.join(said)[:120]}"
    return (named, "") if _imports(named) else ("", "the peer is installed but cannot be imported")


def peer_pythons() -> list[str]:
    """Return the Pythons here that a peer can be set up with."""
    return [path for path in _pythons() if _new_enough(path)]


def _pythons() -> list[str]:
    found = [sys.executable, *(shutil.which(f"python3.{minor}") or "" for minor in (14, 13, 12))]
    return [path for path in found if path]


def _new_enough(python: str) -> bool:
    test = f"import sys, venv; sys.exit(sys.version_info < {PEER_PYTHON!r})"
    return subprocess.run([python, "-c", test], capture_output=True, check=False).returncode == 0


def _imports(python: str) -> bool:
    try:
        return (
            subprocess.run([python, "-c", "import ramabana.learned"], capture_output=True, check=False).returncode == 0
        )
    except OSError:
        return False
