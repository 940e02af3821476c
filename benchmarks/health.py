"""What the second night costs: health over a long history that has not changed, and one that has grown by a session.

``LESSONBOOK_BENCH_MB`` megabytes (60 by default). The baseline is the first night, which reads everything.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from benchmarks.mining_history import write
from benchmarks.table import Row

SIZE = int(os.environ.get("LESSONBOOK_BENCH_MB", "60")) * 1_000_000
MORE = SIZE // 100
TIMES = 3
LESS = 10.0


def run() -> list[Row]:
    """Look at a history for the first time, again, and once it has grown by a hundredth."""
    first, again, grown = [], [], []
    checks: list[str] = []
    for _ in range(TIMES):
        with tempfile.TemporaryDirectory() as place:
            home = Path(place)
            history = write(home / ".config" / "ramabana", SIZE)
            first.append(_look(home, checks, wanted=True))
            again.append(_look(home, checks, wanted=False))
            more = (
                write(home / "more", MORE).read_bytes().replace(b'{"at": 1', b'{"at": 2').replace(b'"2026_', b'"2027_')
            )
            with history.open("ab") as file:
                file.write(more)
            grown.append(_look(home, checks, wanted=True))
    note = f"{SIZE / 1e6:.0f} MB"
    return [
        Row("health, nothing new", again, "the first night", first, at_least=LESS, note=note, checks=checks),
        Row("health, a hundredth more", grown, "the first night", first, at_least=LESS, note=note),
    ]


def _look(home: Path, checks: list[str], wanted: bool) -> float:
    from lessonbook.actions.health import look
    from lessonbook.core.growth import Bounds
    from lessonbook.system.settings import places

    env = {"HOME": str(home)}
    start = time.perf_counter()
    found = look(None, places(env), Bounds(), env=env, now=time.time())
    took = time.perf_counter() - start
    if bool(found.sessions) is not wanted:
        checks.append(f"{found.sessions} sessions were read, where {'some' if wanted else 'none'} had something new")
    return took
