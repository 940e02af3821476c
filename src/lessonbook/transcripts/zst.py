"""Reading a zstd-compressed transcript piece by piece, as far as it goes."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, BinaryIO

from lessonbook.core.errors import SetupError

if TYPE_CHECKING:
    import zstandard

_FED = 1024
"""Compressed bytes taken at a time: few, so that a bomb cannot swell to more than tens of megabytes at once."""
_HELD = 1024 * 1024


class Decompressed(io.RawIOBase):
    """The text inside a compressed file. Damage, or a missing end, ends it and sets ``broken``; nothing raises.

    Raises ``SetupError`` on construction where the extra ``lessonbook[zst]`` is not installed.
    """

    def __init__(self, file: BinaryIO) -> None:
        try:
            import zstandard
        except ImportError as error:
            raise SetupError("It is compressed with zstd; install the extra lessonbook[zst] to read it.") from error
        self.broken = False
        self._file = file
        self._library = zstandard
        self._frame: zstandard.ZstdDecompressionObj | None = None
        self._fed = b""
        self._left = memoryview(b"")

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, into: memoryview) -> int:  # type: ignore[override]
        """Fill ``into`` with the next bytes of the text; 0 at its end."""
        while not self._left:
            self._fed = self._fed or self._file.read(_FED)
            if not self._fed:
                self.broken = self.broken or self._frame is not None
                return 0
            try:
                self._decompress()
            except (self._library.ZstdError, MemoryError):
                self.broken, self._fed = True, b""
                self._file = io.BytesIO()
        given = min(len(into), len(self._left))
        into[:given] = self._left[:given]
        self._left = self._left[given:]
        return given

    def _decompress(self) -> None:
        if self._frame is None:
            self._frame = self._library.ZstdDecompressor().decompressobj()
        self._left = memoryview(self._frame.decompress(self._fed))
        self._fed = self._frame.unused_data if self._frame.eof else b""
        if self._frame.eof:
            self._frame = None


def buffered(stream: Decompressed) -> io.BufferedReader:
    """Return the stream with a buffer, for reading by lines."""
    return io.BufferedReader(stream, _HELD)
