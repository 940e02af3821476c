"""Finds rows in the pages of a SQLite file that SQLite itself can no longer open or walk through.

Every page is looked at by itself: where it is a leaf of a table, each of its cells is a row
(https://www.sqlite.org/fileformat2.html). So a row is found though the header, the schema or the pages above it are
gone. What a write-ahead log holds beside the file takes the place of the file's own pages, as far as it was committed.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress

Cell = int | float | str | bytes | None
PAGE = 4_096
_SIZES = frozenset(2**power for power in range(9, 17))
_HEADER, _WAL_HEADER, _FRAME_HEADER = 100, 32, 24
_LEAF = 13
_WAL_MAGIC = (0x377F0682, 0x377F0683)
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_CELL_MOST = 1 << 24
_BROKEN = (IndexError, ValueError, struct.error, OverflowError)


def rows(data: bytes, log: bytes, columns: int) -> Iterator[tuple[int, tuple[Cell, ...]]]:
    """Yield the number and the values of each row with so many columns, in the order of the pages.

    ``data`` is the file, ``log`` its write-ahead log; either may be empty, cut short or full of anything. One number
    can come more than once, where an older state of a row is still in the file.
    """
    size = _page_size(data, log)
    pages = {number: data[at : at + size] for number, at in enumerate(range(0, len(data), size), 1)}
    pages |= _committed(log, size)
    for number in sorted(pages):
        yield from _of_page(pages, number, size, columns)


def _page_size(data: bytes, log: bytes) -> int:
    told = [int.from_bytes(data[16:18], "big"), int.from_bytes(log[8:12], "big")]
    return next((size for size in (65_536 if one == 1 else one for one in told) if size in _SIZES), PAGE)


def _committed(log: bytes, size: int) -> dict[int, bytes]:
    """Return the pages of a write-ahead log, the newest of each, up to its last commit."""
    if len(log) < _WAL_HEADER or int.from_bytes(log[:4], "big") not in _WAL_MAGIC:
        return {}
    salts, pages, since = log[16:24], dict[int, bytes](), dict[int, bytes]()
    for at in range(_WAL_HEADER, len(log) - _FRAME_HEADER - size + 1, _FRAME_HEADER + size):
        number, commit = struct.unpack(">II", log[at : at + 8])
        if log[at + 8 : at + 16] != salts:
            break  # what an earlier round of the log left
        since[number] = log[at + _FRAME_HEADER : at + _FRAME_HEADER + size]
        if commit:
            pages |= since
            since = {}
    return pages


def _of_page(pages: dict[int, bytes], number: int, size: int, columns: int) -> Iterator[tuple[int, tuple[Cell, ...]]]:
    page, start = pages[number], _HEADER if number == 1 else 0
    if len(page) < start + 8 or page[start] != _LEAF:
        return
    count = int.from_bytes(page[start + 3 : start + 5], "big")
    for place in range(start + 8, min(start + 8 + 2 * count, len(page) - 1), 2):
        with suppress(*_BROKEN):  # this one is torn; the next may be whole
            cell = int.from_bytes(page[place : place + 2], "big")
            length, at = _varint(page, cell)
            row, at = _varint(page, at)
            values = _record(_payload(pages, page, at, length, size))
            if len(values) == columns:
                yield row, values


def _payload(pages: dict[int, bytes], page: bytes, at: int, length: int, size: int) -> bytes:
    """Return what a cell holds, with what of it stands on pages of its own."""
    if not 0 <= length <= _CELL_MOST:
        raise ValueError("no cell is so long")
    most, least = size - 35, (size - 12) * 32 // 255 - 23
    kept = least + (length - least) % (size - 4)
    here = length if length <= most else kept if kept <= most else least
    told = page[at : at + here]
    following = int.from_bytes(page[at + here : at + here + 4], "big") if here < length else 0
    met = set[int]()
    while len(told) < length and following in pages and following not in met:
        met.add(following)
        told += pages[following][4 : 4 + length - len(told)]
        following = int.from_bytes(pages[following][:4], "big")
    if len(told) != length:
        raise ValueError("a part of it is gone")
    return told


def _record(data: bytes) -> tuple[Cell, ...]:
    head, at = _varint(data, 0)
    if not at <= head <= len(data):
        raise ValueError("no record")
    kinds = []
    while at < head:
        kind, at = _varint(data, at)
        kinds.append(kind)
    return tuple(_values(data, head, kinds))


def _values(data: bytes, at: int, kinds: Sequence[int]) -> Iterator[Cell]:
    for kind in kinds:
        length = _INTEGERS.get(kind, 8 if kind == 7 else (kind - 12) // 2 if kind >= 12 else 0)
        part = data[at : at + length]
        if len(part) != length or kind in (10, 11):
            raise ValueError("no value")
        at += length
        yield _value(kind, part)


def _value(kind: int, part: bytes) -> Cell:
    if kind == 0:
        return None
    if kind in _INTEGERS:
        return int.from_bytes(part, "big", signed=True)
    if kind == 7:
        return float(struct.unpack(">d", part)[0])
    if kind in (8, 9):
        return kind - 8
    return part.decode("utf-8", "replace") if kind % 2 else part


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of one to nine bytes and where it ends."""
    value = 0
    for step in range(8):
        byte = data[at + step]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + step + 1
    value = value << 8 | data[at + 8]
    return value - (1 << 64) if value >= 1 << 63 else value, at + 9
