"""A systemd user timer: two unit files and the link that turns the timer on, in ``~/.config/systemd/user``."""

from __future__ import annotations

from pathlib import Path

from lessonbook.core.errors import StoreError, reason
from lessonbook.system import files
from lessonbook.system.schedules.timer import Spot, Wanted, file_spot, said
from lessonbook.system.surroundings import found

UNIT = "lessonbook-nightly"
_SERVICE = """\
[Unit]
Description=lessonbook: what coding agents learned, a night of it

[Service]
Type=oneshot
ExecStart={command}
{environment}Nice=10
"""
_TIMER = """\
[Unit]
Description=lessonbook: every night

[Timer]
OnCalendar=*-*-* {hour:02}:{minute:02}:00
Persistent=true

[Install]
WantedBy=timers.target
"""


class Systemd:
    """``Persistent`` makes up for a night in which the machine was off."""

    name = "systemd"

    def __init__(self, home: Path, config: Path, booted: Path = Path("/run/systemd/system")) -> None:
        """``config`` is the person's folder of settings, above ours; ``booted`` is there where systemd runs."""
        self._folder = config / "systemd" / "user"
        self._top, self._booted = home, booted

    def is_here(self) -> bool:
        """Whether systemd started this machine, and its command is here."""
        return self._booted.is_dir() and found("systemctl") is not None

    def spots(self, wanted: Wanted) -> list[Spot]:
        """Return the two unit files and the link."""
        command = " ".join(_quoted(word).replace("$", "$$") for word in wanted.words)
        rows = "".join(f"Environment={_quoted(f'{name}={value}')}\n" for name, value in sorted(wanted.env.items()))
        service = _SERVICE.format(command=command, environment=rows)
        timer = _TIMER.format(hour=wanted.hour, minute=wanted.minute)
        path = self._folder / f"{UNIT}.timer"
        return [
            file_spot(self._folder / f"{UNIT}.service", service.encode(), self._top),
            file_spot(path, timer.encode(), self._top),
            _link_spot(self._folder / "timers.target.wants" / path.name, path, self._top),
        ]

    def start(self) -> str | None:
        """Have systemd read the files and start the timer."""
        for words in (("daemon-reload",), ("start", f"{UNIT}.timer")):
            code, _, err = said("systemctl", "--user", *words)
            if code:
                why = err.splitlines()[-1] if err else f"exit code {code}"
                return f"systemd could not be told ({why}); it starts the timer at your next login"
        return None

    def stop(self) -> str | None:
        """Stop the timer."""
        said("systemctl", "--user", "stop", f"{UNIT}.timer")
        return None

    def runs(self) -> str | None:
        """Ask whether the timer is active."""
        code, out, _ = said("systemctl", "--user", "is-active", f"{UNIT}.timer")
        return f"systemd says that the timer is {out.decode().strip() or 'not known'}" if code else None


def _quoted(word: str) -> str:
    """A word as unit files have it (systemd.syntax, systemd.service)."""
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%") + '"'


def _link_spot(path: Path, to: Path, top: Path) -> Spot:
    def read() -> bytes | None:
        try:
            return bytes(path.readlink()) if path.is_symlink() else files.read_bytes(path)
        except OSError as error:
            raise StoreError(f"{path} cannot be read: {reason(error)}.") from error

    def write(then: bytes | None) -> None:
        files.remove(path, up_to=top if then is None else None)
        if then is not None:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.symlink_to(then.decode("utf-8", "surrogateescape"))
            except OSError as error:
                raise StoreError(f"{path} cannot be made: {reason(error)}.") from error

    return Spot(str(path), read, write, lambda _: bytes(to))
