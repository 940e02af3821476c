"""A line of the person's crontab, between two comments of ours; every other line keeps its bytes."""

from __future__ import annotations

import re
from shlex import quote

from lessonbook.core.errors import StoreError
from lessonbook.system.schedules.timer import Spot, Wanted, said
from lessonbook.system.surroundings import found

_OPENING, _CLOSING = b"# lessonbook nightly: begin", b"# lessonbook nightly: end"
_JOINED = b" (a line end was added before)"
_OURS = re.compile(
    b"(?m)^" + re.escape(_OPENING) + b"(?P<joined>" + re.escape(_JOINED) + b")?\n[^\n]*\n" + re.escape(_CLOSING) + b"\n"
)


class Cron:
    """A night in which the machine is off is left out."""

    name = "cron"

    def is_here(self) -> bool:
        """Whether there is a ``crontab`` command."""
        return found("crontab") is not None

    def spots(self, wanted: Wanted) -> list[Spot]:
        """Return the crontab as a whole."""
        words = [f"{name}={quote(value)}" for name, value in sorted(wanted.env.items())]
        command = " ".join([*words, *map(quote, wanted.words)]).replace("%", "\\%")
        line = f"{wanted.minute} {wanted.hour} * * * {command} >/dev/null".encode()
        return [Spot("crontab", _read, _write, lambda now: _with(now, line), _without)]

    def start(self) -> str | None:
        """Nothing: cron looks by itself."""
        return None

    def stop(self) -> str | None:
        """Nothing, too."""
        return None

    def runs(self) -> str | None:
        """Nobody can be asked."""
        return None


def _read() -> bytes | None:
    code, out, err = said("crontab", "-l")
    if code and "no crontab" not in err.lower():
        raise StoreError(f"the crontab cannot be read: {err or f'exit code {code}'}.")
    return None if code else out


def _write(then: bytes | None) -> None:
    code, _, err = said("crontab", "-r") if then is None else said("crontab", "-", data=then)
    if code:
        raise StoreError(f"the crontab cannot be written: {err or f'exit code {code}'}.")


def _with(now: bytes | None, line: bytes) -> bytes:
    before = _without(now) or b""
    joined = bool(before) and not before.endswith(b"\n")
    opening = _OPENING + (_JOINED if joined else b"")
    return b"\n".join([before + (b"\n" if joined else b"") + opening, line, _CLOSING, b""])


def _without(now: bytes | None) -> bytes | None:
    """The crontab without our lines; ``None`` where it holds nothing else."""
    found = _OURS.search(now) if now is not None else None
    if now is None or found is None:
        return now
    before, after = now[: found.start()], now[found.end() :]
    if found["joined"] and not after:
        before = before.removesuffix(b"\n")
    return before + after or None
