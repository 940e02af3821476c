"""Ends a connection that another thread waits on, so that its wait ends at once."""

from __future__ import annotations


def hang_up(descriptor: int) -> None:
    """Shut a socket down both ways. It stays its owner's to close. Raises ``OSError`` where it is none."""
    import os
    import socket

    with socket.socket(fileno=os.dup(descriptor)) as line:
        line.shutdown(socket.SHUT_RDWR)
