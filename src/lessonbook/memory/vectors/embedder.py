"""What an embedder must do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Makes vectors of texts, all of one length; nothing is loaded and nothing opened before the first is asked for."""

    id: str
    """Names the model and its rules: vectors of two embedders with different ids are never compared."""
    dimensions: int

    @property
    def is_loaded(self) -> bool:
        """Whether a vector costs little now; until then a lesson that is told is embedded at the next recall."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row for each text, of length 1; all zeros for a text that says nothing to the model."""
        ...

    def embed_words(self, words: Sequence[tuple[str, float]]) -> NDArray[np.float32]:
        """Return one vector of length 1, or zeros, for words that count as much as the number beside each says."""
        ...
