"""The whole way of a lesson, in a throwaway home: sessions → candidates → a person's decision → the next briefing.

Runs the real commands on the sample sessions of this checkout and prints each command with what it answered.
Nothing outside a temporary folder is read or written; exits non-zero when a step does not do what it says.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT = "/home/sam/work/shop"


class Demo:
    """Runs ``lessonbook`` in one throwaway home and shows what happens."""

    def __init__(self, home: Path) -> None:
        self.env = {"HOME": str(home), "PATH": os.environ.get("PATH", os.defpath), "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}
        self.program = [sys.executable, "-m", "lessonbook"]

    def step(self, title: str) -> None:
        print(f"\n== {title}")

    def show(self, *args: str) -> str:
        """Run one command, print it with its answer, and return the answer."""
        print("\n$ lessonbook " + " ".join(f'"{part}"' if " " in part else part for part in args), flush=True)
        answer = self._run(*args)
        print(textwrap.indent(answer.rstrip(), "  "), flush=True)
        return answer

    def rows(self) -> list[dict[str, str]]:
        """Return what is pending in every book."""
        found = json.loads(self._run("learned", "list", "--json"))
        return [row | {"book": book["book"]} for book in found["books"] for row in book["pending"]]

    def _run(self, *args: str) -> str:
        done = subprocess.run([*self.program, *args], env=self.env, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"demo: lessonbook {' '.join(args)} ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout


def main() -> int:
    """Play the whole way once."""
    with tempfile.TemporaryDirectory(prefix="lessonbook-demo-") as folder:
        demo = Demo(Path(folder))
        demo.step("1. Switch on a memory and the learn tool (both are off until a person says so)")
        demo.show("config", "set", "memory.backend", "mnemopi")
        demo.show("config", "set", "autolearn.enabled", "true")

        demo.step("2. Read past sessions of two agents and propose what went wrong again and again")
        demo.show("propose", "--from", str(ROOT / "samples"))

        demo.step("3. Nothing proposed has any effect: it waits for a person, with its evidence")
        demo.show("learned", "list")
        rows = demo.rows()
        tests = next(row for row in rows if "pnpm" in row["subject"])
        demo.show("learned", "diff", tests["id"])

        demo.step("4. The person accepts one; the others move onto it")
        demo.show("learned", "accept", tests["id"])

        demo.step("5. An agent stores a lesson while it works, and finds it again")
        demo.show("learn", "Basket totals are in cents; divide by 100 only when showing them.", "--cwd", PROJECT)
        demo.show("recall", "how are basket totals stored?", "--cwd", PROJECT)

        demo.step("6. What the next session in that project starts with")
        briefing = demo.show("brief", "--cwd", PROJECT)
        if "pnpm" not in briefing or "cents" not in briefing:
            sys.exit("demo: the accepted lesson did not reach the briefing")
    print("\nDone. The throwaway home is gone; nothing else was touched.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
