"""Runs the benches that are named, or all, and prints one table each. Ends with 1 where a bar is missed."""

from __future__ import annotations

import importlib
import os
import platform
import sys
from tempfile import gettempdir

from benchmarks.table import Row, table

BENCHES = (
    *("merge", "mixes", "queue", "commands", "hooks", "learn", "queued", "bank", "recall", "mcp", "skills"),
    *("prevention", "mining", "health"),
)


def main(names: list[str]) -> int:
    """Run and print; return the exit code."""
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        print(f"no bench {', '.join(unknown)}; there are {', '.join(BENCHES)}", file=sys.stderr)
        return 2
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"Python {platform.python_version()}, {os.cpu_count()} CPUs, load {load}, scratch in {gettempdir()} (TMPDIR)")
    print("Medians (lowest to highest), taken in turns. What writes is bound by the disk: repeat on a quiet one.")
    rows: list[Row] = []
    for name in names or BENCHES:
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"\n{name}: {(module.__doc__ or '').splitlines()[0]}", flush=True)
        try:
            found = module.run()
        except Exception as error:  # noqa: BLE001  a bench that fails must not hide the others
            found = [Row(name, checks=[f"failed: {error}"])]
        print(table(found), flush=True)
        rows += found
    return int(any(row.met is False for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
