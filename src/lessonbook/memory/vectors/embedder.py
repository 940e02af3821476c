"""x"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol


class Embedder(Protocol):
    """x"""

    id: str
    dimensions: int

    def embed(self, texts: Sequence[str]) -> Any:
        """x"""
        ...
