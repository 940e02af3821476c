"""How well the bank finds what was asked for: nDCG@10 on two public retrieval sets, with vectors and without.

The sets are not part of this project (their licences differ, and one may only be evaluated on): they are read from the
folder that ``LESSONBOOK_RETRIEVAL`` names, ``../shared/data/retrieval`` by default.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import random
import re
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.table import Row
from lessonbook.core.lesson import Lesson
from lessonbook.memory.mnemopi.bank import MnemopiMemory
from lessonbook.memory.vectors.embedder import Embedder
from lessonbook.memory.vectors.registry import open_embedder

DATA = Path(os.environ.get("LESSONBOOK_RETRIEVAL") or Path(__file__).parents[2] / "shared" / "data" / "retrieval")
BARS = {"metatool": (0.566, 0.683), "locomo": (0.462, 0.462)}
"""The best row of others on each set: by words alone, and of all (all-MiniLM-L6-v2 on metatool, FTS5 on locomo)."""
LEFT_OUT = {"locomo": {"adversarial"}}
"""Questions that have no answer."""
AT = 10
RESAMPLES = 1000
Search = Callable[[str], Sequence[str]]


def run() -> list[Row]:
    """Measure each set with the one default the bank has, beside the bars and beside FTS5 in the same run."""
    if not DATA.is_dir():
        return [Row("recall quality", skipped=f"there is no folder {DATA}; LESSONBOOK_RETRIEVAL names another")]
    embedder = open_embedder()
    return [row for name in BARS for row in _rows(name, embedder)]


def _rows(name: str, embedder: Embedder | None) -> Iterator[Row]:
    groups = _load(name)
    plain = _measure(groups, _fts5)
    words = _measure(groups, lambda items: _bank(items, None))
    yield _row(f"{name}, words alone", words, BARS[name][0], plain)
    if embedder is None:
        yield Row(f"{name}, with vectors", skipped="the extra `vectors` is not installed")
        return
    yield _row(f"{name}, with vectors", _measure(groups, lambda items: _bank(items, embedder)), BARS[name][1], plain)


def _row(what: str, ours: list[float], bar: float, plain: list[float]) -> Row:
    """The bar is another's mean, whose single answers are not known here; beside FTS5 the answers are paired."""
    mean = sum(ours) / len(ours)
    low, high = _interval([one - other for one, other in zip(ours, plain, strict=True)])
    lowest, _ = _interval(ours)
    wrong = [] if mean >= bar else [f"{mean:.3f} is below {bar}"]
    note = (
        f"{len(ours):,} questions; lower end of the 95 % interval {lowest:.3f}; beside FTS5 {low:+.3f} to {high:+.3f}"
    )
    found, best = [1000 * mean], [1000 * bar]
    return Row(f"nDCG@{AT} × 1,000: {what}", found, "best of others", best, unit="", note=note, checks=wrong)


def _load(name: str) -> list[dict[str, Any]]:
    with gzip.open(DATA / f"{name}.json.gz", "rt", encoding="utf-8") as file:
        groups = json.load(file)["groups"]
    left_out = LEFT_OUT.get(name, set())
    return [{**group, "queries": [one for one in group["queries"] if one["cat"] not in left_out]} for group in groups]


def _measure(groups: list[dict[str, Any]], make: Callable[[list[dict[str, Any]]], Search]) -> list[float]:
    found = []
    for group in groups:
        search = make(group["items"])
        found += [_ndcg(search(query["text"]), query["rel"]) for query in group["queries"]]
    return found


def _ndcg(ids: Sequence[str], relevant: dict[str, int]) -> float:
    ideal = sorted(relevant.values(), reverse=True)[:AT]
    gained = [relevant.get(one, 0) for one in dict.fromkeys(ids)][:AT]
    best = sum((2**gain - 1) / math.log2(place + 2) for place, gain in enumerate(ideal))
    return sum((2**gain - 1) / math.log2(place + 2) for place, gain in enumerate(gained)) / best if best else 0.0


def _bank(items: list[dict[str, Any]], embedder: Embedder | None) -> Search:
    folder = tempfile.TemporaryDirectory()
    memory = MnemopiMemory(Path(folder.name) / "bank.db", "p-1", lambda: 1.7e9, embedder=embedder)
    receipts = memory.store_many([Lesson(item["text"], title=item.get("title")) for item in items])
    ids: dict[str | None, str] = {}
    for receipt, item in zip(receipts, items, strict=True):
        ids.setdefault(receipt.id, item["id"])

    def search(question: str) -> Sequence[str]:
        assert folder.name  # the folder lives as long as what asks it
        return [ids[found.id] for found in memory.recall(question, AT)]

    return search


def _fts5(items: list[dict[str, Any]]) -> Search:
    """The plainest good baseline: FTS5 with Porter's stems, any word of the question."""
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE t USING fts5 (id UNINDEXED, text, tokenize = 'porter unicode61')")
    db.executemany("INSERT INTO t VALUES (?, ?)", [(item["id"], item["text"]) for item in items])

    def search(question: str) -> Sequence[str]:
        words = dict.fromkeys(re.findall(r"[^\W_]+", question.lower()))
        match = " OR ".join(f'"{word}"' for word in list(words)[:200])
        order = "SELECT id FROM t WHERE t MATCH ? ORDER BY bm25(t) LIMIT ?"
        return [row[0] for row in db.execute(order, (match, AT))] if match else []

    return search


def _interval(values: Sequence[float]) -> tuple[float, float]:
    chance = random.Random(2)
    means = sorted(sum(chance.choices(values, k=len(values))) / len(values) for _ in range(RESAMPLES))
    return means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES) - 1]
