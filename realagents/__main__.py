"""``python -m realagents [AGENT…]``: installs the named agents, or all, and says what is there."""

from __future__ import annotations

import sys

from realagents.programs import PROGRAMS, InstallError, install


def main(names: list[str]) -> int:
    """Install them; exit 1 where one cannot be had, 2 for a name there is not."""
    unknown = [name for name in names if name not in PROGRAMS]
    if unknown:
        print(f"There is no agent {unknown[0]!r}; there are {', '.join(PROGRAMS)}.", file=sys.stderr)
        return 2
    failed = False
    for name in names or PROGRAMS:
        try:
            install(PROGRAMS[name])
            print(f"{name}: {PROGRAMS[name].versions}")
        except InstallError as error:
            failed = True
            print(f"{name}: {error}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
