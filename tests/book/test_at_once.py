"""Two people who review, a batch that offers and the person's own git, all at once: nothing is lost, nothing breaks.

For five seconds, or as many as ``LESSONBOOK_SECONDS`` says; ``pytest -s`` shows what was done and refused how often.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from lessonbook.book.history import accepted, history
from lessonbook.book.queue import listed, opened
from lessonbook.book.remembered import rejected
from lessonbook.book.verifying import verify

SECONDS = float(os.environ.get("LESSONBOOK_SECONDS") or 5)
LATE = 120
"""How many seconds more, at most, until each kind of work was done at all: a busy machine may be that slow."""

BATCH = """
import json, random, sys, time
from pathlib import Path
from lessonbook.book.offer import Offer, offer
from lessonbook.book.queue import book_locked
folder, end, late = Path(sys.argv[1]), time.time() + float(sys.argv[2]), float(sys.argv[3])
pick, ids, n = random.Random(1), [], 0
while time.time() < end or (n < 3 and time.time() < end + late):
    n += 1
    skill = {f"skills/s{n}/SKILL.md": "x\\n"}
    new = [Offer(f"rule {n}", f"Rule {n} of the batch."), Offer(f"both {n}", f"More of {n}.", skill)]
    new += [Offer(f"line {n}", files={f"skills/all/SKILL.md": f"line {n}\\n"})] if n % 3 == 0 else []
    ids += offer(folder, new, int(time.time()), lambda: f"{pick.randrange(1 << 24):06x}")
    if n % 4 == 0:
        with book_locked(folder, 10):
            time.sleep(0.05)
    time.sleep(0.05)
print(json.dumps({"ids": ids}))
"""

HOST = """
import json, random, sys, time
from pathlib import Path
from lessonbook import learned
folder, end, late = Path(sys.argv[1]), time.time() + float(sys.argv[2]), float(sys.argv[3])
pick = random.Random(sys.argv[4])
errors, done, split, taken = [], {}, [], []
while time.time() < end or (not taken and time.time() < end + late):
    rows = learned.pending(folder)
    if not rows:
        time.sleep(0.01)
        continue
    row = pick.choice(rows)
    id, verb = row["id"], pick.choice(["accept", "accept", "reject", "edit", "undo", "many", "split", "unreject"])
    if verb == "accept":
        told = learned.accept(folder, id)
        taken += [id] if told["ok"] else []
    elif verb == "reject":
        told = learned.reject(folder, id, "not now")
    elif verb == "edit":
        name = row["files"][0] if row["files"][0] != "AGENTS.md" else "skills/edited/SKILL.md"
        told = learned.edit(folder, id, {name: f"Edited {id}.\\n"})
    elif verb == "undo":
        told = learned.undo(folder, pick.choice(taken)) if taken else {"ok": True}
    elif verb == "many":
        told = learned.accept_many(folder, [row["id"] for row in rows[:3]])
        errors += [refused["error"] for refused in told["refused"]]
        told = {"ok": True}
    elif verb == "split":
        told = learned.split(folder, id)
        split += [[id, [part["id"] for part in told["parts"]]]] if told["ok"] else []
    else:
        gone = learned.rejected(folder)
        told = learned.unreject(folder, pick.choice(gone)["id"]) if gone else {"ok": True}
    done[verb] = done.get(verb, 0) + told["ok"]
    errors += [] if told["ok"] else [told["error"]]
print(json.dumps({"errors": errors, "done": done, "split": split}))
"""

REFUSALS = (
    "a batch is running", "no longer applies", "nothing is pending as", "past the 2,000", "uncommitted changes to",
    "waits for review; accept or reject that first", "was taken back already", "has been changed since",
    "says that it accepted", "is left in the book", "the book changed while", "has nothing to split by file",
    "is pending again", "nothing was rejected as", "git's own lock",
    "waits for review already",
)  # fmt: skip


def _start(script: str, folder: Path, *args: str) -> subprocess.Popen[bytes]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, "-c", script, str(folder), str(SECONDS), str(LATE), *args]
    return subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def _told(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    out, err = process.communicate(timeout=SECONDS + LATE + 60)
    assert process.returncode == 0, err.decode()
    told: dict[str, Any] = json.loads(out)
    return told


def _kind(error: str) -> str:
    """The documented refusal that this is, or the whole sentence."""
    return next((words for words in REFUSALS if words in error), error)


def test_two_hosts_a_batch_and_a_persons_git_lose_nothing(repo: Any) -> None:
    batch = _start(BATCH, repo.folder)
    hosts = [_start(HOST, repo.folder, seed) for seed in "ab"]
    by_hand, n, late = [], 0, time.time() + SECONDS + LATE
    while batch.poll() is None or (not by_hand and time.time() < late):
        n += 1
        repo.write({f"skills/hand{n}/SKILL.md": f"By hand {n}.\n"})
        repo.git("add", f"skills/hand{n}/SKILL.md", ok=False)
        subject = f"By hand {n}"
        repo.git("commit", "-q", "-m", subject, ok=False)  # git refuses where HEAD or the index is held: as ever
        time.sleep(0.1)
        by_hand += [n] if f"\n{subject}\n" in f"\n{repo.git('log', '--format=%s')}\n" else []
    offered = _told(batch)["ids"]
    told = [_told(host) for host in hosts]

    refused = Counter(_kind(error) for one in told for error in one["errors"])
    done = sum((Counter(one["done"]) for one in told), Counter[str]())
    print(f"offered {len(offered)}, by hand {len(by_hand)} of {n}, done {dict(done)}, refused {dict(refused)}")
    assert not refused.keys() - set(REFUSALS), refused
    assert offered and by_hand and done["accept"], told

    repo.git("add", "-A")
    repo.git("commit", "-q", "--allow-empty", "-m", "the rest by hand")
    rows, _ = listed(repo.folder)
    now = {row.id for row in rows} | {row.id for row in rejected(repo.folder)}
    now |= accepted(history(opened(repo.folder))).keys()
    parts = {id: ids for one in told for id, ids in one["split"]}
    lost = [id for id in offered if id not in now and not set(parts.get(id, [])) & now]
    assert not lost
    assert repo.git("rev-list", "--merges", "--all") == ""
    assert repo.git("rev-list", "--max-parents=0", "--all").count("\n") == 0
    repo.git("fsck", "--strict", "--no-dangling")
    assert repo.git("status", "--porcelain") == "" and not list((repo.folder / ".git").glob("*.lock"))
    assert not (repo.folder / ".git/lessonbook-intent").exists()
    assert {one.subject for one in verify(repo.folder).outside} <= {"first", "the rest by hand"} | {
        f"By hand {n}" for n in range(1, n + 1)
    }
    for n in by_hand:
        assert repo.text(f"skills/hand{n}/SKILL.md") == f"By hand {n}.\n"
