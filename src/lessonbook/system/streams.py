"""The standard streams of this process."""

from __future__ import annotations

import os


def reserve() -> None:
    """Open each standard stream that our caller closed on the null device.

    Otherwise the next file that is opened gets its number, and what is meant for a terminal is written into that file.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free, which is this one
