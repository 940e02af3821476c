"""git's index of a book: what it holds, and setting paths in it without looking at a working file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lessonbook.system import git
from lessonbook.system.gitbatch import Entry

CONFLICT = Entry("conflict", "")
"""What ``read_index`` returns for a path that a merge left in conflict."""


def read_index(folder: Path) -> dict[bytes, Entry]:
    """Return every path of the index, ``CONFLICT`` for one that a merge left so."""
    index: dict[bytes, Entry] = {}
    for item in git.run(folder, "ls-files", "--stage", "-z").split(b"\0")[:-1]:
        told, _, path = item.partition(b"\t")
        mode, oid, stage = told.decode().split(" ")
        index[path] = Entry(mode, oid) if stage == "0" else CONFLICT
    return index


def edit_index(git_dir: Path, index: Path, entries: Mapping[bytes, Entry | None], like: str) -> None:
    """Set or remove (``None``) paths in the index file ``index``; no working file is read and no filter runs.

    A path that is set counts as not looked at yet: git compares it with the working file the next time it is asked.
    ``like`` is any id of the repository: removing needs to know how long ids are.
    """
    import tempfile

    nothing = "0" * len(like)
    lines = [
        f"{entry.mode} {entry.oid}\t".encode() + path if entry else f"0 {nothing}\t".encode() + path
        for path, entry in sorted(entries.items(), key=lambda item: item[1] is not None)
    ]
    data = b"".join(line + b"\0" for line in lines)
    # Whenever git writes an index it reads again, through their filters, the files that changed in the same second as
    # the index did. So it is shown a folder with no file in it.
    with tempfile.TemporaryDirectory(prefix="lessonbook-") as empty:
        where = (f"--git-dir={git_dir}", f"--work-tree={empty}")
        git.run(
            Path(empty), *where, "update-index", "-z", "--index-info", data=data, env={"GIT_INDEX_FILE": str(index)}
        )
