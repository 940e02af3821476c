"""Runs one agent in a throwaway home, and looks at what is left there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path

from realagents.host import Host
from realagents.programs import PROGRAMS

_OURS = (".config/lessonbook", ".local/share/lessonbook", ".local/state/lessonbook")


class Place:
    """A home, a folder to work in, and an agent that is pointed at a model."""

    def __init__(self, host: Host, home: Path, work: Path, url: str) -> None:
        self.host, self.home, self.work = host, home, work
        path = [str(PROGRAMS[host.name].bin), str(Path(sys.executable).parent), os.defpath, _node()]
        self.env = {
            "HOME": str(home),
            "PATH": os.pathsep.join(path),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "NO_COLOR": "1",
            # Whoever asks for anything but the model is told at once that there is no network.
            "HTTP_PROXY": "http://127.0.0.1:9",
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "NO_PROXY": "127.0.0.1,localhost",
            **host.env(home, url),
        }
        for name, text in host.files(url).items():
            file = home / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def said(self, command: Sequence[str], *, fails: bool = False) -> str:
        """Run a command as the agent's person would, and return what it wrote; it and what it started end in time.

        Its exit code must be 0, unless it may fail.
        """
        process = subprocess.Popen(
            command,
            cwd=self.work,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            out, _ = process.communicate(timeout=self.host.seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, _ = process.communicate()
            raise AssertionError(f"{command[0]} took over {self.host.seconds} s: {out.decode()[-3000:]}") from None
        text = out.decode(errors="replace")
        assert fails or process.returncode == 0, f"{' '.join(command)} ended with {process.returncode}: {text[-3000:]}"
        return text

    def snapshot(self) -> dict[str, tuple[str, bytes]]:
        """Return every path of the home but lessonbook's own folders, with its kind and bytes."""
        found = {}
        for path in sorted(self.home.rglob("*")):
            name = str(path.relative_to(self.home))
            if name.startswith(_OURS):
                continue
            if path.is_symlink():
                found[name] = ("link", str(path.readlink()).encode())
            elif path.is_file():
                found[name] = (f"file {path.stat().st_mode:o}", path.read_bytes())
            elif path.is_dir() and not any(ours.startswith(f"{name}/") for ours in _OURS):
                found[name] = ("folder", b"")
        return found

    def changed(self, before: Mapping[str, tuple[str, bytes]]) -> list[str]:
        """Return the paths that are not as they were, and that the agent itself does not write."""
        now = self.snapshot()
        different = [name for name in sorted({*before, *now}) if before.get(name) != now.get(name)]
        return [name for name in different if not any(fnmatch(name, pattern) for pattern in self.host.own)]


def _node() -> str:
    import shutil

    found = shutil.which("node")
    return str(Path(found).parent) if found else os.defpath
