"""The addresses a book may be shared with: a folder, ssh or https. Everything else is refused before git sees it.

git takes much more for an address, such as ``ext::command``, which runs the command.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lessonbook.core.errors import InputError
from lessonbook.core.screen import PATH_MOST, quoted, short

FOLDER, SSH, HTTPS = "file", "ssh", "https"
"""The kinds of address, by the name of the git protocol that each needs."""

_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<host>[^/]*)(?P<path>/.*)?\Z", re.DOTALL)
_SCP = re.compile(r"(?P<host>[^/:\s]+):(?P<path>(?!:).+)\Z", re.DOTALL)
_HOST = re.compile(r"(?:[A-Za-z0-9_.+%~-]+@)?(?:[A-Za-z0-9_][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.%]+\])(?::\d{1,5})?\Z")


@dataclass(frozen=True, slots=True)
class Remote:
    """Where a book is shared: ``kind`` is one of ``FOLDER``, ``SSH`` and ``HTTPS``."""

    kind: str
    address: str


def remote(text: str, folder: str = "") -> Remote:
    """Return the remote that ``text`` names. ``folder`` is what a path that starts with a dot is relative to.

    Raises ``InputError`` for every other kind of address, one with a password in it, or one that could be an option.
    """
    text = text.strip()
    if not text or any(ord(char) < 32 or ord(char) == 127 for char in text):
        raise InputError("Say where: the path of a folder, user@host:path, or an ssh:// or https:// address.")
    if text.startswith("-") or "::" in text.partition("/")[0]:
        raise InputError(
            f"{quoted(text, PATH_MOST)} is not an address a book is shared with: "
            "say a path, or an ssh or https address."
        )
    url = _URL.match(text)
    if url:
        return _by_scheme(text, url["scheme"].lower(), url["host"], url["path"] or "")
    scp = _SCP.match(text)
    if scp and not text.startswith(("/", ".", "~")):
        _check_host(text, scp["host"])
        _check_path(text, scp["path"])
        return Remote(SSH, text)
    if text.startswith((".", "..")):
        return Remote(FOLDER, f"{folder}/{text}")
    if not text.startswith("/"):
        raise InputError(f"{quoted(text, PATH_MOST)} is no address; a folder's path starts with /, ./ or ../.")
    return Remote(FOLDER, text)


def _by_scheme(text: str, scheme: str, host: str, path: str) -> Remote:
    if scheme == "file" and not host and path:
        return Remote(FOLDER, path)
    if scheme not in (SSH, HTTPS):
        why = "is not encrypted" if scheme in ("http", "git") else "is not a way a book is shared"
        raise InputError(f"{short(scheme)}:// {why}; say the path of a folder, or an ssh:// or https:// address.")
    if ":" in host.rpartition("@")[0]:
        raise InputError("The address holds a password; leave it out, git's credential helper has it.")
    _check_host(text, host)
    _check_path(text, path.lstrip("/"))
    return Remote(scheme, text)


def _check_host(text: str, host: str) -> None:
    # What starts with a dash would be an option of ssh's.
    if not _HOST.match(host) or host.startswith("-") or "@-" in host:
        raise InputError(f"{quoted(text, PATH_MOST)} does not name a host that can be asked.")


def _check_path(text: str, path: str) -> None:
    if not path or path.startswith("-"):
        raise InputError(f"{quoted(text, PATH_MOST)} does not name a repository.")
