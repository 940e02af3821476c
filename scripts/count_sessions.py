"""Prints what the readers find in folders of published sessions, as the tables of docs/sessions-counted.md.

python scripts/count_sessions.py FOLDER…         one row for each folder, its files read together
python scripts/count_sessions.py --each FOLDER   one row for each file, read by itself
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from lessonbook.core.session import ReadReport
from lessonbook.transcripts.walk import read_paths

HEAD = ("what", "agent", "files", "not sessions", "sessions", "turns", "calls", "failed", "refused", "skipped")


def row(what: str, paths: list[Path]) -> tuple[str, ...]:
    """Return one row: what the files at ``paths``, read together, come to."""
    reports = [item for item in read_paths(paths) if isinstance(item, ReadReport)]
    agents = sorted({report.agent for report in reports if report.agent and not report.problem})
    skipped = sum((Counter(report.skipped) for report in reports), Counter())
    numbers = (
        len(reports),
        sum(report.problem is not None for report in reports),
        *(
            sum(getattr(report, name) for report in reports)
            for name in ("sessions", "turns", "calls", "failed", "denied")
        ),
    )
    told = ", ".join(f"{reason} {count}" for reason, count in sorted(skipped.items()))
    return (what, ", ".join(agents) or "–", *(f"{number:,}" for number in numbers), told or "–")


def rows(folders: Iterable[Path], *, each: bool = False) -> Iterator[tuple[str, ...]]:
    """Yield a row for each folder, or for each file in them."""
    for folder in folders:
        if each:
            yield from (row(file.name, [file]) for file in sorted(folder.rglob("*")) if file.is_file())
        else:
            yield row(folder.name, [folder])


def table(found: Iterable[tuple[str, ...]]) -> str:
    """Return the rows as a Markdown table."""
    lines = [HEAD, tuple("---" if at < 2 or at == len(HEAD) - 1 else "--:" for at in range(len(HEAD))), *found]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    words = sys.argv[1:]
    print(table(rows([Path(word) for word in words if word != "--each"], each="--each" in words)))
