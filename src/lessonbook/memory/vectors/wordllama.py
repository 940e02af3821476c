"""The static vectors of WordLlama: 256 numbers for each of 32,000 word pieces, read straight from its wheel.

A text's vector is the sum of its words' vectors. The package itself is not imported: its loader looks for files on the
network that its own wheel carries, and the sum needs nothing else of it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from lessonbook.core.words import plain_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from lessonbook.memory.vectors.embedder import Embedder

_WEIGHTS = Path("weights", "l2_supercat_256.safetensors")
_TOKENIZER = Path("tokenizers", "l2_supercat_tokenizer_config.json")
_TENSOR = "embedding.weight"
_CACHED = 1 << 14
"""Words whose vectors are kept at hand: 16 MB."""


def open_wordllama() -> Embedder | None:
    """Return the embedder where the extra ``vectors`` is installed, else ``None``; loads nothing yet."""
    spec = find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations or any(find_spec(name) is None for name in _NEEDS):
        return None
    place = Path(spec.submodule_search_locations[0])
    return WordLlama(place) if (place / _WEIGHTS).is_file() and (place / _TOKENIZER).is_file() else None


_NEEDS = ("numpy", "tokenizers")


class WordLlama:
    """WordLlama's vectors, from the folder its wheel is installed in. Meets ``Embedder``."""

    id = "wordllama-l2-supercat-256/words-3"
    dimensions = 256

    def __init__(self, place: Path) -> None:
        self._place = place
        self._tokenizer: Any = None
        self._weights: NDArray[np.float32] | None = None
        self._known: dict[str, NDArray[np.float32]] = {}

    @property
    def is_loaded(self) -> bool:
        """Whether weights and tokenizer are in memory."""
        return self._weights is not None

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the unit vector of each text; zeros for one without words."""
        import numpy as np

        made = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(made, texts, strict=True):
            for word in plain_words(text):
                row += self._word(word)
        return _unit(made)

    def embed_words(self, words: Sequence[tuple[str, float]]) -> NDArray[np.float32]:
        """Return the unit vector of words that count as much as the number beside each says."""
        import numpy as np

        made = np.zeros((1, self.dimensions), np.float32)
        for word, counts in words:
            made[0] += counts * self._word(word)
        vector: NDArray[np.float32] = _unit(made)[0]
        return vector

    def _word(self, word: str) -> NDArray[np.float32]:
        found = self._known.get(word)
        if found is None:
            weights, tokenizer = self._loaded()
            pieces = tokenizer.encode(word, add_special_tokens=False)
            found = weights[pieces.ids].astype("float32").sum(0)
            if _is_spelled(word, pieces.tokens):
                found = found * 0
            if len(self._known) >= _CACHED:
                self._known.clear()
            self._known[word] = found
        return found

    def _loaded(self) -> tuple[NDArray[np.float32], Any]:
        if self._weights is None:
            from tokenizers import Tokenizer

            self._tokenizer = Tokenizer.from_file(str(self._place / _TOKENIZER))
            self._tokenizer.no_padding()
            self._tokenizer.no_truncation()
            self._weights = _read_tensor(self._place / _WEIGHTS, _TENSOR)
        return self._weights, self._tokenizer


def _is_spelled(word: str, pieces: Sequence[str]) -> bool:
    """Whether the model knows a word by its letters only (``q q z v``), of which none means anything."""
    return word.isascii() and len(pieces) > 1 and all(len(piece.strip("\u2581")) <= 1 for piece in pieces)


def _read_tensor(path: Path, name: str) -> NDArray[np.float32]:
    """Return one tensor of a safetensors file, mapped, not read: only the rows that are used are ever loaded.

    The format: eight bytes of length, that many bytes of JSON, then the numbers, at the offsets the JSON gives.
    """
    import numpy as np

    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        told = json.loads(file.read(size))[name]
    kind = {"F16": np.float16, "F32": np.float32}[told["dtype"]]
    start = 8 + size + told["data_offsets"][0]
    return np.memmap(path, kind, "r", start, tuple(told["shape"]))


def _unit(made: NDArray[np.float32]) -> NDArray[np.float32]:
    import numpy as np

    length = np.sqrt((made * made).sum(1, keepdims=True))
    unit: NDArray[np.float32] = (made / np.where(length > 0, length, 1)).astype(np.float32)
    return unit
