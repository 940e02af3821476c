"""Opens a person's own text editor on copies of some files, and returns what they made of them."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from lessonbook.core.errors import InputError, SetupError, reason
from lessonbook.system import files as writing
from lessonbook.system.settings import editor, environment


def edited(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files as the person left them in ``$VISUAL`` or ``$EDITOR``, all opened at once.

    They are edited in a folder that only the person can read and that is gone afterwards; a file keeps its name and
    folders, so that editors know its kind. Raises ``SetupError`` where no editor is set or it cannot be started, and
    ``InputError`` where it ends with an error or a file is gone.
    """
    import tempfile

    command = editor()
    if not command:
        raise SetupError("No editor is set: set VISUAL or EDITOR, or give the new text with --file PATH=FILE.")
    with tempfile.TemporaryDirectory(prefix="lessonbook-edit-") as name:
        folder = Path(name)
        for path, data in files.items():
            writing.write_atomic(folder / path, data, new_mode=0o600)
        _open(command, folder, list(files))
        return {path: _read(folder / path, path) for path in files}


def _open(command: str, folder: Path, names: list[str]) -> None:
    # Through a shell, as git does: people set editors with options, quotes and ``~`` in them.
    paths = [str(folder / name) for name in names]
    try:
        done = subprocess.run(["sh", "-c", f'{command} "$@"', command, *paths], env=environment(), check=False)
    except OSError as error:
        raise SetupError(f"The editor {command!r} cannot be started: {reason(error)}.") from error
    if done.returncode in (126, 127):
        raise SetupError(f"The editor {command!r} cannot be started; set VISUAL or EDITOR to one that can.")
    if done.returncode:
        raise InputError(f"The editor ended with exit code {done.returncode}; nothing was changed.")


def _read(path: Path, name: str) -> bytes:
    data = writing.read_bytes(path)
    if data is None:
        raise InputError(f"{name} is gone from the editor's folder; nothing was changed. To drop it, use --delete.")
    return data
