"""Which project a folder belongs to, so that clones and worktrees share a book and two projects of one name do not."""

from __future__ import annotations

import re

from lessonbook.core.value import Value


class Project(Value):
    """One project: what identifies it, and the readable name its book's folder carries."""

    identity: str
    """The remote address (normal form, no credentials), else the git common folder, else the folder."""
    name: str
    root: str
    """The top folder of this checkout, or the folder itself outside a repository."""
    branch: str | None = None
    """The branch that is checked out there; ``None`` outside a repository and on a detached HEAD."""

    @property
    def slug(self) -> str:
        """A readable name plus a short digest of the identity: ``lessonbook-1a2b3c4d``."""
        digest = _sha256(self.identity.encode("utf-8", "replace"))[:8]
        readable = re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")[:40].strip("-")
        return f"{readable or 'project'}-{digest}"


def _sha256(data: bytes) -> str:
    """The digest, from where Python keeps it: ``hashlib`` loads OpenSSL first, which takes longer than all else."""
    try:
        from _sha2 import sha256  # type: ignore[import-not-found]  # private, and so without types
    except ImportError:
        try:
            from _sha256 import sha256  # type: ignore[import-not-found]  # what it is called before Python 3.12
        except ImportError:  # built without it
            from hashlib import sha256
    return str(sha256(data).hexdigest())


def normal_remote(address: str) -> str:
    """Return a remote address in one form for all its spellings: ``host/path``, no user, scheme, port or ``.git``.

    ``git@github.com:me/app.git`` and ``https://token@github.com/me/app/`` are the same project.
    """
    text = address.strip()
    scheme = re.match(r"[a-z][a-z0-9+.-]*://", text, re.IGNORECASE)
    if scheme:
        host, _, path = text[scheme.end() :].partition("/")
    elif re.match(r"[^/]+:", text):
        host, _, path = text.partition(":")
    else:
        return re.sub(r"(/|\.git)+\Z", "", text)
    host = re.sub(r":\d+\Z", "", host.rpartition("@")[2]).lower()
    path = re.sub(r"(/|\.git)+\Z", "", path.strip("/"))
    return f"{host}/{path}" if host else f"/{path}"


def from_remote(address: str, root: str = "", branch: str | None = None) -> Project:
    """Return the project a remote address names."""
    identity = normal_remote(address)
    return Project(identity=identity, name=identity.rpartition("/")[2] or "project", root=root, branch=branch)


def from_folder(folder: str) -> Project:
    """Return the project a folder names by itself: one without a remote."""
    clean = folder.rstrip("/\\") or "/"
    return Project(identity=clean, name=re.split(r"[/\\]", clean)[-1] or "project", root=clean)
