"""The vectors that come with the extra: read from the wheel, without a network, equal to what their makers compute."""

from __future__ import annotations

import subprocess
import sys

import pytest

from lessonbook.core.words import plain_words
from lessonbook.memory.vectors.registry import open_embedder
from lessonbook.memory.vectors.wordllama import WordLlama

np = pytest.importorskip("numpy")
pytest.importorskip("wordllama")

ALONE = """
import socket, sys
def refuse(*a, **k): raise OSError("no network")
socket.socket.connect = refuse
socket.getaddrinfo = refuse
from lessonbook.memory.vectors.registry import open_embedder
embedder = open_embedder()
assert "numpy" not in sys.modules and not embedder.is_loaded
one, other, far = embedder.embed(["restart the database server", "reboot the db host", "paint the garden fence"])
assert embedder.is_loaded and "wordllama" not in sys.modules
print(float(one @ other), float(one @ far))
"""


def test_it_loads_late_needs_no_network_and_knows_what_is_alike() -> None:
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=True)
    near, far = map(float, done.stdout.split())
    assert near > far + 0.1


def test_it_computes_what_its_makers_do() -> None:
    import pathlib

    import wordllama

    place = pathlib.Path(wordllama.__file__).parent
    theirs = wordllama.WordLlama.load(config="l2_supercat", dim=256, cache_dir=place, disable_download=True)
    embedder = open_embedder()
    assert isinstance(embedder, WordLlama)
    texts = ["run the tests before you push", "parse_config() fails on Windows", "Node 20", "\u90e8\u7f72"]
    plain = [" ".join(plain_words(text)) for text in texts]
    assert np.abs(embedder.embed(texts) - np.asarray(theirs.embed(plain, norm=True))).max() < 2e-3


def test_numbers_say_nothing() -> None:
    embedder = open_embedder()
    assert embedder is not None
    assert np.array_equal(embedder.embed(["case 733 of port8080"]), embedder.embed(["case of port"]))
    assert not embedder.embed(["733929 42", "\u0664\u0662"]).any()


def test_a_word_known_by_its_letters_only_says_nothing() -> None:
    embedder = open_embedder()
    assert embedder is not None
    assert not embedder.embed(["qqzv", "jq xz", "zzqx8812"]).any()
    assert all(row.any() for row in embedder.embed(["npm", "kubernetes", "\u90e8\u7f72", "\u0431"]))


def test_nothing_said_is_no_vector_and_weights_count() -> None:
    embedder = open_embedder()
    assert embedder is not None
    assert not embedder.embed(["", "...", " "]).any()
    assert not embedder.embed_words([]).any()
    both, first = embedder.embed_words([("cat", 1.0), ("bus", 0.0)]), embedder.embed(["cat"])[0]
    assert np.allclose(both, first, atol=1e-5)
