"""Notes what a lesson names and states, and which lessons it may contradict. Inside the caller's transaction."""

from __future__ import annotations

import sqlite3


def note(db: sqlite3.Connection, number: int) -> None:
    """x"""


def disagreements(db: sqlite3.Connection, number: int, now: float) -> list[tuple[int, str]]:
    """x"""
    return []
