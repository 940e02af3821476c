"""Writes the bundled sample sessions under ``samples/``: invented work on an invented web shop, in two agents' formats.

    python scripts/make_samples.py          # writes samples/ anew; a test says when it is out of date

The story: in this project `npm test` fails and `pnpm test` works, the person does not want a push to main, and the
agent keeps finding out again. One file ends in a torn line, as files do when a machine goes down.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

PROJECT = "/home/sam/work/shop"
NO_SCRIPT = (
    'Exit code 1\nnpm error Missing script: "{0}"\nnpm error\n'
    "npm error To see a list of scripts, run:\nnpm error   npm run"
)
REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, "
    "the user said:\n{0}"
)


class Claude:
    """One Claude Code session, record by record."""

    def __init__(self, session: str, day: str) -> None:
        self.session, self.day, self.minute, self.rows = session, day, 0, []
        self.parent: str | None = None

    def _row(self, kind: str, message: dict[str, object], **more: object) -> None:
        uuid = f"{self.session[:8]}-0000-4000-8000-{len(self.rows):012d}"
        stamp = f"{self.day}T09:{self.minute:02d}:{len(self.rows) % 60:02d}.000Z"
        row = {"parentUuid": self.parent, "isSidechain": False, "userType": "external", "cwd": PROJECT}
        row |= {"sessionId": self.session, "version": "2.1.60", "gitBranch": "main", "type": kind, "message": message}
        self.rows.append(row | {"uuid": uuid, "timestamp": stamp} | more)
        self.parent, self.minute = uuid, min(self.minute + 1, 59)

    def ask(self, text: str) -> None:
        self._row("user", {"role": "user", "content": text})

    def say(self, text: str) -> None:
        self._row("assistant", self._message([{"type": "text", "text": text}]))

    def call(self, name: str, args: dict[str, object], result: str, *, error: bool = False) -> None:
        use = f"toolu_{self.session[:4]}{len(self.rows):04d}"
        self._row("assistant", self._message([{"type": "tool_use", "id": use, "name": name, "input": args}]))
        block = {"type": "tool_result", "tool_use_id": use, "content": result} | ({"is_error": True} if error else {})
        self._row("user", {"role": "user", "content": [block]})

    def shell(self, command: str, result: str, *, error: bool = False) -> None:
        self.call("Bash", {"command": command, "description": "Run a command"}, result, error=error)

    def _message(self, content: list[dict[str, object]]) -> dict[str, object]:
        usage = {"input_tokens": 900, "output_tokens": 40, "cache_read_input_tokens": 4000}
        head = {"id": f"msg_{self.session[:4]}{len(self.rows):04d}", "role": "assistant", "type": "message"}
        return head | {"model": "sample-model", "content": content, "usage": usage}

    def text(self) -> str:
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in self.rows)


class Codex:
    """One Codex rollout, line by line."""

    def __init__(self, session: str, day: str) -> None:
        self.day, self.rows, self.calls = day, [], 0
        meta = {"id": session, "timestamp": f"{day}T14:00:00.000Z", "cwd": PROJECT, "originator": "codex_cli_rs"}
        self._row("session_meta", meta | {"cli_version": "0.140.0", "git": {"branch": "main"}})

    def _row(self, kind: str, payload: dict[str, object]) -> None:
        stamp = f"{self.day}T14:{len(self.rows):02d}:00.000Z"
        self.rows.append({"timestamp": stamp, "type": kind, "payload": payload})

    def ask(self, text: str) -> None:
        self._row("event_msg", {"type": "user_message", "message": text})

    def say(self, text: str) -> None:
        content = [{"type": "output_text", "text": text}]
        self._row("response_item", {"type": "message", "role": "assistant", "content": content})

    def shell(self, script: str, output: str, code: int = 0) -> None:
        self.calls += 1
        call = {
            "name": "shell",
            "arguments": json.dumps({"command": ["bash", "-lc", script]}),
            "call_id": f"c{self.calls}",
        }
        self._row("response_item", {"type": "function_call"} | call)
        said = json.dumps({"output": output, "metadata": {"exit_code": code, "duration_seconds": 0.4}})
        self._row("response_item", {"type": "function_call_output", "call_id": f"c{self.calls}", "output": said})

    def text(self) -> str:
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in self.rows)


def basket() -> str:
    """Day one: the test command is found the hard way."""
    s = Claude("5b1f0c2a-1111-4aaa-8bbb-0000000000a1", "2026-03-02")
    s.ask("The basket shows a wrong total when an item is removed. Please fix it.")
    s.call("Read", {"file_path": f"{PROJECT}/src/basket.ts"}, "export function total(items: Item[]) {\n  ...\n}")
    s.call(
        "Edit", {"file_path": f"{PROJECT}/src/basket.ts", "old_string": "a", "new_string": "b"}, "The file was updated."
    )
    s.shell("npm test", NO_SCRIPT.format("test"), error=True)
    s.shell("pnpm test", "Test Files  12 passed (12)\n     Tests  88 passed (88)")
    s.shell(
        "git push origin main",
        REFUSED.format("never push to main here, open a pull request with gh pr create"),
        error=True,
    )
    s.say("The total is right now; the tests pass. I have not pushed.")
    return s.text()


def checkout() -> str:
    """Day two: the same again, and another script."""
    s = Claude("6c2f0c2a-2222-4aaa-8bbb-0000000000a2", "2026-03-03")
    s.ask("Add a postcode check to the checkout form.")
    s.call(
        "Edit",
        {"file_path": f"{PROJECT}/src/checkout.ts", "old_string": "c", "new_string": "d"},
        "The file was updated.",
    )
    s.shell("npm run build", NO_SCRIPT.format("build"), error=True)
    s.shell("pnpm run build", "built in 2.1s")
    s.shell("npm test", NO_SCRIPT.format("test"), error=True)
    s.shell("pnpm test", "Test Files  13 passed (13)\n     Tests  91 passed (91)")
    s.say("The form checks the postcode.")
    s.ask("Great, please bring it in.")
    s.shell("git push origin main", REFUSED.format("again: no push to main, open a pull request"), error=True)
    s.say("I will open a pull request instead.")
    return s.text()


def invoices() -> str:
    """Day three: the machine went down in the middle of the last line."""
    s = Claude("7d3f0c2a-3333-4aaa-8bbb-0000000000a3", "2026-03-05")
    s.ask("Invoices need the order number in their file name.")
    s.shell("npm test -- invoices", NO_SCRIPT.format("test"), error=True)
    s.shell("pnpm test invoices", "Tests  9 passed (9)")
    s.say("Done: invoices are named after their order.")
    return s.text() + '{"parentUuid":"7d3f0c2a","type":"assistant","message":{"content":[{"type":"te'


def search() -> str:
    """Day four, in another agent: it does not know what the first one found out."""
    s = Codex("019a77aa-4444-7bbb-8ccc-0000000000b1", "2026-03-06")
    s.ask("Make the product search ignore accents.")
    s.shell("npm run build", NO_SCRIPT.format("build").partition("\n")[2], 1)
    s.shell("pnpm run build", "built in 2.3s")
    s.say("Search ignores accents now.")
    return s.text()


def samples() -> dict[str, str]:
    """Return each file's path under ``samples/`` and its text."""
    claude, codex = "claude/projects/-home-sam-work-shop", "codex/sessions/2026/03/06"
    return {
        f"{claude}/5b1f0c2a-1111-4aaa-8bbb-0000000000a1.jsonl": basket(),
        f"{claude}/6c2f0c2a-2222-4aaa-8bbb-0000000000a2.jsonl": checkout(),
        f"{claude}/7d3f0c2a-3333-4aaa-8bbb-0000000000a3.jsonl": invoices(),
        f"{codex}/rollout-2026-03-06T14-00-00-019a77aa-4444-7bbb-8ccc-0000000000b1.jsonl": search(),
    }


def main() -> int:
    """Write every sample below the folder named, or below ``samples`` of this checkout."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent / "samples"
    for name, text in samples().items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
