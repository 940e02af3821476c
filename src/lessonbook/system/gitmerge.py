"""Shows a conflict the way git does, between markers, for a person to solve in an editor. Nothing else reads it."""

from __future__ import annotations

from pathlib import Path

from lessonbook.system import git


def with_markers(ours: bytes, base: bytes, theirs: bytes, names: tuple[str, str]) -> bytes:
    """Return the merge of three texts, each conflict between lines that start ``<<<<<<<``, ``=======``, ``>>>>>>>``.

    ``names`` are what the markers call the two sides. Raises ``StoreError`` where git cannot merge the texts.
    """
    import tempfile

    with tempfile.TemporaryDirectory(prefix="lessonbook-") as name:
        folder = Path(name)
        for side, data in (("ours", ours), ("base", base), ("theirs", theirs)):
            (folder / side).write_bytes(data)
        labels = ("-L", names[0], "-L", "before", "-L", names[1])
        # Its exit code is the number of conflicts; what is above is trouble.
        return git.run(folder, "merge-file", "-p", "-q", *labels, "ours", "base", "theirs", ok=range(128))
