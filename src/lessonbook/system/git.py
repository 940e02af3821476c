"""The one room that runs git: plumbing only, sealed from the person's configuration and from the repository's programs.

Inherited ``GIT_*`` variables are dropped (inside a hook they point at another repository). System and personal
configuration are not read. Hooks, fsmonitor, pagers, external diffs, signing and network helpers are off whatever the
repository's own configuration says, so nothing in a repository can make us run a program.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from lessonbook.core.errors import SetupError, StoreError
from lessonbook.system.settings import environment

NAME = "lessonbook"
EMAIL = "lessonbook@localhost"
"""The identity every commit of ours is made under; the person's is never read."""

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


def run(
    folder: Path, *args: str, data: bytes | None = None, ok: Sequence[int] = (0,), env: Mapping[str, str] | None = None
) -> bytes:
    """Run one git command in ``folder`` and return what it printed.

    ``data`` is all of its standard input, written before anything is read back; ``env`` adds to the sealed
    environment. Raises ``StoreError`` with git's own first sentence when the exit code is not one of ``ok``, and
    ``SetupError`` where there is no git.
    """
    done = attempt(folder, *args, data=data, env=env)
    if done.returncode not in ok:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        verb = next((arg for arg in args if not arg.startswith("-")), "")
        raise StoreError(f"git {verb} failed in {folder}: {said[0] if said else f'exit code {done.returncode}'}")
    return done.stdout


def attempt(
    folder: Path, *args: str, data: bytes | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run one git command and return how it ended, whatever that was. Raises ``SetupError`` where there is no git."""
    options = [part for key, value in _SEALED.items() for part in ("-c", f"{key}={value}")]
    try:
        return subprocess.run(
            ["git", "--no-pager", "--no-replace-objects", *options, "-C", str(folder), *args],
            input=data if data is not None else b"",
            capture_output=True,
            env=sealed_environment() | dict(env or {}),
            check=False,
        )
    except FileNotFoundError as error:
        raise SetupError("git is not installed or not on PATH; the review queue needs git 2.30 or newer.") from error


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
