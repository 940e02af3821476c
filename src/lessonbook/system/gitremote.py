"""The only place where git uses a network, and only for ``learned pull`` and ``learned push``.

The programs that talk (ssh, git's https helper, credential helpers) are the person's own; nothing that a repository
configures takes part. git runs in an empty repository of our own that only borrows the book's object store, so the
book's configuration, hooks and aliases are not there to be read. Only the protocol of the address itself is open.
Where the remote is a folder, git's program at the other end runs sealed too: no hook of that repository is started.
Of the person's own configuration only ``credential.*`` and ``http.*`` are taken over (how to log in, proxies,
certificates). ssh is the ``ssh`` on PATH with the person's keys and settings; it never asks (``BatchMode``).
"""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lessonbook.core.errors import StoreError
from lessonbook.core.remote import FOLDER, HTTPS, Remote
from lessonbook.core.screen import PATH_MOST, short
from lessonbook.system import git
from lessonbook.system.settings import environment, places

_SSH = "ssh -o BatchMode=yes -o ConnectTimeout=20 -o ServerAliveInterval=15 -o ServerAliveCountMax=4"
_SLOW = ("-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=60")
# The branches of the empty repository are gone in a moment; only the objects, which are the book's, have to last.
_BRIEF = ("-c", "core.fsync=committed,loose-object")
_CHECKED = ("-c", "transfer.fsckObjects=true", "-c", "push.gpgSign=false", "-c", "http.followRedirects=initial")


@dataclass(frozen=True, slots=True)
class Line:
    """One way to a remote, open while ``connected`` runs."""

    folder: Path
    """The empty repository git runs in."""
    remote: Remote
    env: Mapping[str, str]

    def run(self, *args: str, data: bytes | None = None) -> bytes:
        """Run a git command in the empty repository, away from any network. Raises ``StoreError``."""
        return git.run(self.folder, *_BRIEF, *args, data=data, env=self.env)

    def talk(self, verb: str, *args: str, data: bytes | None = None) -> bytes:
        """Run a git command that talks to the remote; its address comes before ``args``. Raises ``StoreError``."""
        allowed = {"GIT_ALLOW_PROTOCOL": self.remote.kind, "GIT_SSH_COMMAND": _SSH, "GIT_SSH_VARIANT": "ssh"}
        opened = ("-c", f"protocol.{self.remote.kind}.allow=always", *_SLOW, *_CHECKED, *_BRIEF)
        done = git.attempt(self.folder, *opened, verb, *args, data=data, env={**self.env, **self._own(), **allowed})
        if done.returncode:
            where = short(self.remote.address, PATH_MOST)
            raise StoreError(f"{where} could not be reached or refused: {_said(done.stderr, done.stdout)}")
        return done.stdout

    def _own(self) -> dict[str, str]:
        """The person's home for ssh and credential helpers, and what their configuration says of logging in."""
        if self.remote.kind == FOLDER:
            return {}
        person = environment()
        own: dict[str, str] = {}
        own.update((name, person[name]) for name in ("HOME", "XDG_CONFIG_HOME") if name in person)
        pairs = _person_settings() if self.remote.kind == HTTPS else []
        own["GIT_CONFIG_COUNT"] = str(len(pairs))
        for number, (key, value) in enumerate(pairs):
            own |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        return own


@contextmanager
def connected(book: Path, remote: Remote) -> Iterator[Line]:
    """Give a way to ``remote`` that reads and writes the objects of the repository ``book``, and nothing else of it."""
    where = git.run(book, "rev-parse", "--show-object-format", "--git-path", "objects").decode().splitlines()
    with tempfile.TemporaryDirectory(prefix="lessonbook-", ignore_cleanup_errors=True) as name:
        empty = Path(name) / "git"
        git.run(Path(name), "init", "--quiet", "--bare", "--template=", f"--object-format={where[0]}", str(empty))
        yield Line(empty, remote, {"GIT_OBJECT_DIRECTORY": str((book / where[1]).resolve())})


def listed(line: Line) -> tuple[dict[str, str], str | None]:
    """Return the remote's refs with their commits, and the branch its HEAD is on.

    A bare repository's HEAD often names a branch that nobody pushed, as git makes it: then it is ``main``, else the
    only branch outside ``pending/``; ``None`` where there is none.
    """
    out = line.talk("ls-remote", "--symref", *other_end(line, "upload"), line.remote.address).decode("utf-8", "replace")
    refs: dict[str, str] = {}
    head = None
    for row in out.splitlines():
        what, _, ref = row.partition("\t")
        if what.startswith("ref: ") and ref == "HEAD":
            head = what.removeprefix("ref: ")
        elif ref and ref != "HEAD":
            refs[ref] = what
    return refs, head if head in refs else _main_of(refs)


def _main_of(refs: Mapping[str, str]) -> str | None:
    branches = [ref for ref in refs if ref.startswith("refs/heads/") and not ref.startswith("refs/heads/pending/")]
    if "refs/heads/main" in branches:
        return "refs/heads/main"
    return branches[0] if len(branches) == 1 else None


def other_end(line: Line, what: str) -> Sequence[str]:
    """Return the option that seals git's program at the other end, where that is on this machine."""
    if line.remote.kind != FOLDER:
        return ()
    words = ["git", *git.sealed_options(), "-c", "receive.autogc=false", f"{what}-pack"]
    return (f"--{'receive' if what == 'receive' else 'upload'}-pack={shlex.join(words)}",)


def _person_settings() -> list[tuple[str, str]]:
    home = places().home
    files = [Path(environment().get("XDG_CONFIG_HOME") or home / ".config") / "git" / "config", home / ".gitconfig"]
    pairs = []
    for file in files:
        if file.is_file():
            asked = ("config", "--file", str(file), "--includes", "--null", "--get-regexp", r"^(credential|http)\.")
            out = git.attempt(home, *asked, env={"HOME": str(home)}).stdout.decode("utf-8", "surrogateescape")
            pairs += [(key, value) for key, _, value in (item.partition("\n") for item in out.split("\0")[:-1])]
    return pairs


def _said(*texts: bytes) -> str:
    from lessonbook.core.clean import clean_line
    from lessonbook.core.redact import redact

    lines = [line for text in texts for line in text.decode("utf-8", "replace").splitlines()]
    told = [line.removeprefix("remote: ").removeprefix("fatal: ").removeprefix("error: ") for line in lines]
    first = next((line for line in told if line.strip() and not line.startswith(("To ", "hint:"))), "no reason given")
    return redact(clean_line(first)).text[:300]
