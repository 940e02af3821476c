"""The standard streams of this process."""

from __future__ import annotations

import os
import sys


def is_output_closed() -> bool:
    """Whether nobody reads what this process prints any more: then a broken pipe is that one, else another's."""
    import select  # only asked once something is wrong

    if sys.stdout is None:
        return True
    try:
        asked = select.poll()
        asked.register(sys.stdout.fileno(), select.POLLOUT)
        return any(event & (select.POLLERR | select.POLLHUP | select.POLLNVAL) for _, event in asked.poll(0))
    except (OSError, ValueError):  # no file behind it
        return False


def reserve() -> None:
    """Open each standard stream that our caller closed on the null device.

    Otherwise the next file that is opened gets its number, and what is meant for a terminal is written into that file.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free, which is this one
