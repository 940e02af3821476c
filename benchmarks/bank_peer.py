"""The original's bank, ``pi-mnemopi``, set up by npm in ``.bench/bank`` of this checkout, or named by the environment.

``LESSONBOOK_PEER_BANK`` names a folder whose ``node_modules`` holds ``@oh-my-pi/pi-mnemopi`` and
``@oven/bun-linux-x64``. Half a gigabyte: its native modules and the Bun it needs come with it.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers import BENCH

PEER = "pi-mnemopi 18.2.11"
_OWN = "@oh-my-pi"
_NEEDS = {f"{_OWN}/pi-mnemopi": "18.2.11", "@oven/bun-linux-x64": "1.4.5"}
# What this version asks for was never published whole; with these it runs, its own source unchanged.
_PARTS = ("pi-natives", "pi-natives-linux-x64", "pi-utils", "pi-ai", "pi-catalog", "omptype", "pi-wire")
_PACKAGE = {"private": True, "dependencies": _NEEDS, "overrides": {f"{_OWN}/{part}": "18.2.3" for part in _PARTS}}
_WAIT = 900


@dataclass(frozen=True, slots=True)
class BankPeer:
    """The commands that start the original's bank, or why it cannot be run here."""

    bun: str = ""
    module: str = ""
    missing: str = ""


def bank_peer() -> BankPeer:
    """Return the original's bank, set up on first use; or why there is none."""
    named = os.environ.get("LESSONBOOK_PEER_BANK")
    folder = Path(named) if named else BENCH / "bank"
    found = _found(folder)
    if found is not None:
        return found
    if named:
        return BankPeer(missing=f"LESSONBOOK_PEER_BANK={named} holds no pi-mnemopi and Bun")
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        return BankPeer(missing="the original's bank is set up on Linux x86-64 only; set LESSONBOOK_PEER_BANK")
    npm = shutil.which("npm")
    if npm is None:
        return BankPeer(missing="the original's bank needs npm to be set up; install Node, or set LESSONBOOK_PEER_BANK")
    problem = _install(npm, folder)
    return BankPeer(missing=problem) if problem else _found(folder) or BankPeer(missing="npm installed it incompletely")


def _install(npm: str, folder: Path) -> str:
    """Install it, and return why that failed, where it did. No package's own scripts are run."""
    print(f"setting up the original's bank ({PEER}, half a gigabyte) in {folder} …", file=sys.stderr)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps(_PACKAGE))
    command = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=_WAIT)
    except subprocess.TimeoutExpired:
        return f"npm took more than {_WAIT} seconds to install the original's bank"
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()[:1]
        return f"npm cannot install the original's bank here: {' '.join(said)[:120]}"
    return ""


def _found(folder: Path) -> BankPeer | None:
    modules = folder.absolute() / "node_modules"
    bun, module = modules / "@oven/bun-linux-x64/bin/bun", modules / _OWN / "pi-mnemopi/src/index.ts"
    if not (bun.is_file() and module.is_file()):
        return None
    return BankPeer(str(bun), str(module))
