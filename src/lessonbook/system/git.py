"""The one room that runs git: plumbing only, sealed from the person's configuration and from the repository's programs.

Inherited ``GIT_*`` variables are dropped (inside a hook they point at another repository). System and personal
configuration are not read. Hooks, fsmonitor, pagers, external diffs, signing and network helpers are off whatever the
repository's own configuration says, so nothing in a repository can make us run a program.
"""

from __future__ import annotations

import os
import select
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from lessonbook.core.errors import SetupError, StoreError, reason
from lessonbook.core.reviewer import TOOL
from lessonbook.core.value import Value
from lessonbook.system.settings import environment

NAME = TOOL.name
EMAIL = TOOL.email
"""The identity every commit of ours is made under; the person's is never read."""

_CHUNK = 1 << 16
_kept: ContextVar[tuple[int, ...]] = ContextVar("_kept", default=())

# Given with every command, so they win over the repository's own configuration.
_SEALED = {
    "core.hooksPath": "/dev/null",
    # Empty, because git before 2.36 takes any other value for the name of a program.
    "core.fsmonitor": "",
    "core.pager": "cat",
    "core.attributesFile": "/dev/null",
    "core.excludesFile": "/dev/null",
    "core.alternateRefsCommand": "true",
    "core.quotePath": "false",
    "core.warnAmbiguousRefs": "false",
    "core.fsync": "committed,loose-object,reference",
    "core.fsyncMethod": "batch",
    "commit.gpgSign": "false",
    "log.showSignature": "false",
    "color.ui": "false",
    # Logs that exist are kept up; a thousand pending branches get none of their own.
    "core.logAllRefUpdates": "false",
    "core.precomposeUnicode": "false",
    "fastimport.unpackLimit": "100",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "advice.detachedHead": "false",
}


class Ended(Value):
    """How a command ended, and all it printed."""

    returncode: int
    stdout: bytes
    stderr: bytes


class Started:
    """A git command that runs already, while its caller still does something else; ``ended`` waits for it.

    Starting a program takes longer than most of what we ask git. In a ``with``, a command that was not asked in the
    end is killed. It is started by the system call itself: loading ``subprocess``, which does no more here, takes
    3 ms, a tenth of all the time that ``lessonbook learned list`` may take.
    """

    def __init__(self, folder: Path, *args: str, env: Mapping[str, str] | None = None) -> None:
        """Start the command in ``folder``. Raises ``SetupError`` where there is no git."""
        self.folder = folder
        self.args = args
        options = sealed_options()
        words = ["git", "--no-pager", "--no-replace-objects", *options, "-C", str(folder), *args]
        # Both ends of a pipe close by themselves in every program that is started, but for what is copied here.
        pipes = [os.pipe() for _ in range(3)]
        (theirs_in, self._in), (self._out, theirs_out), (self._err, theirs_err) = pipes
        copies = [(os.POSIX_SPAWN_DUP2, end, number) for number, end in enumerate((theirs_in, theirs_out, theirs_err))]
        free = max(*_kept.get(), *(end for pipe in pipes for end in pipe)) + 1
        copies += [(os.POSIX_SPAWN_DUP2, handle, free + number) for number, handle in enumerate(_kept.get())]
        self._open = {self._in, self._out, self._err}
        self.pid: int | None = None
        try:
            self.pid = os.posix_spawnp("git", words, sealed_environment() | dict(env or {}), file_actions=copies)
        except FileNotFoundError as error:
            raise SetupError(
                "git is not installed or not on PATH; the review queue needs git 2.30 or newer."
            ) from error
        finally:
            for end in (theirs_in, theirs_out, theirs_err):
                os.close(end)
            if self.pid is None:
                self._close()

    def ended(self, data: bytes = b"") -> Ended:
        """Give the command all of its input and return how it ended, whatever that was."""
        with self:
            out, err = self._talk(data)
            return Ended(self._waited(), out, err)

    def answer(self, data: bytes = b"", ok: Sequence[int] = (0,)) -> bytes:
        """Give the command all of its input and return what it printed.

        Raises ``StoreError`` with git's own first sentence when the exit code is not one of ``ok``.
        """
        done = self.ended(data)
        if done.returncode not in ok:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            verb = next((arg for arg in self.args if not arg.startswith("-")), "")
            told = said[0] if said else f"exit code {done.returncode}"
            raise StoreError(f"git {verb} failed in {self.folder}: {told}")
        return done.stdout

    def _talk(self, data: bytes) -> tuple[bytes, bytes]:
        """Write and read at once, so that neither side ever waits for the other to empty a full pipe."""
        parts: dict[int, list[bytes]] = {self._out: [], self._err: []}
        left = memoryview(data)
        os.set_blocking(self._in, False)
        waiting = select.poll()
        for end in self._open:
            waiting.register(end, select.POLLOUT if end == self._in else select.POLLIN)
        while self._open:
            for end, _ in waiting.poll():
                if end == self._in:
                    left = _written(end, left)
                    done = not left
                else:
                    parts[end].append(os.read(end, _CHUNK))
                    done = not parts[end][-1]
                if done:
                    waiting.unregister(end)
                    self._close(end)
        return b"".join(parts[self._out]), b"".join(parts[self._err])

    def _waited(self) -> int:
        pid, self.pid = self.pid, None
        try:
            return os.waitstatus_to_exitcode(os.waitpid(pid or 0, 0)[1])
        except ChildProcessError:  # our caller set us up to leave no trace of children: all that is known is it ended
            return 0

    def _close(self, *ends: int) -> None:
        for end in ends or tuple(self._open):
            self._open.discard(end)
            os.close(end)

    def __enter__(self) -> Started:
        return self

    def __exit__(self, *error: object) -> None:
        self._close()
        if self.pid is not None:
            from signal import SIGKILL

            os.kill(self.pid, SIGKILL)
            self._waited()


@contextmanager
def keeping(handle: int) -> Iterator[None]:
    """Let every git started meanwhile keep the open file ``handle`` open, and so a lock on it, until that git ends.

    Where we are killed, a git that we started works on; nobody may take the lock until it has ended too.
    """
    token = _kept.set((*_kept.get(), handle))
    try:
        yield
    finally:
        _kept.reset(token)


def _written(end: int, left: memoryview) -> memoryview:
    """Write what fits and return the rest; nothing is left where the command ended without reading it all."""
    try:
        return left[os.write(end, left[:_CHUNK]) :]
    except BlockingIOError:
        return left
    except BrokenPipeError:
        return left[:0]


def run(
    folder: Path, *args: str, data: bytes | None = None, ok: Sequence[int] = (0,), env: Mapping[str, str] | None = None
) -> bytes:
    """Run one git command in ``folder`` and return what it printed.

    ``data`` is all of its standard input, written before anything is read back; ``env`` adds to the sealed
    environment. Raises ``StoreError`` with git's own first sentence when the exit code is not one of ``ok``, and
    ``SetupError`` where there is no git.
    """
    return Started(folder, *args, env=env).answer(data or b"", ok)


def attempt(folder: Path, *args: str, data: bytes | None = None, env: Mapping[str, str] | None = None) -> Ended:
    """Run one git command and return how it ended, whatever that was. Raises ``SetupError`` where there is no git."""
    return Started(folder, *args, env=env).ended(data or b"")


def sealed_options() -> list[str]:
    """Return the options that switch off every program a repository could start."""
    return [part for key, value in _SEALED.items() for part in ("-c", f"{key}={value}")]


def init(folder: Path) -> None:
    """Make ``folder`` a repository with no commit, in one step: nobody ever meets one that is half made.

    Raises ``StoreError`` where it cannot be made, ``SetupError`` where there is no git.
    """
    from tempfile import TemporaryDirectory

    from lessonbook.system.files import move

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".lessonbook-", dir=folder) as name:
            run(Path(name), "init", "--quiet", "--template=", "--initial-branch=main")
            move(Path(name) / ".git", folder / ".git")
    except OSError as error:
        raise StoreError(f"{folder} cannot be made a repository: {reason(error)}.") from error


def sealed_environment() -> dict[str, str]:
    """Return the environment git runs in: the person's, less every ``GIT_*``, without their configuration."""
    # git's own switch to pretend that a repository belongs to someone else stays: it can only make git stricter.
    env = {
        key: value
        for key, value in environment().items()
        if not key.startswith("GIT_") or key == "GIT_TEST_ASSUME_DIFFERENT_OWNER"
    }
    env.update(
        GIT_CONFIG_NOSYSTEM="1",
        GIT_CONFIG_SYSTEM="/dev/null",
        GIT_CONFIG_GLOBAL="/dev/null",
        GIT_ATTR_NOSYSTEM="1",
        GIT_OPTIONAL_LOCKS="0",
        GIT_TERMINAL_PROMPT="0",
        GIT_ALLOW_PROTOCOL="none",
        GIT_NO_LAZY_FETCH="1",
        GIT_NO_REPLACE_OBJECTS="1",
        # Reflog entries carry an identity; a person who has none configured must not be asked for one.
        GIT_AUTHOR_NAME=NAME,
        GIT_AUTHOR_EMAIL=EMAIL,
        GIT_COMMITTER_NAME=NAME,
        GIT_COMMITTER_EMAIL=EMAIL,
        # Before git 2.32 there was no GIT_CONFIG_GLOBAL; an empty home keeps the personal file out there too.
        HOME="/nonexistent",
        XDG_CONFIG_HOME="/nonexistent",
        LC_ALL="C",
    )
    return env
