"""A model that is none: an OpenAI-compatible address on loopback that answers by rule, so that a server needs no model.

Its facts are the sentences of a text, its vectors count words, its reflection repeats what was found. So what is shown
with it is how the server keeps, finds and loses things; not how well it understands them.

``python model.py PORT`` serves. ``POST /faults {"path": …, "status": …, "times": …}`` makes the next requests fail.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import struct
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any, ClassVar

DIMENSIONS = 384


def vector(text: str) -> list[float]:
    """Count words and pairs of words into ``DIMENSIONS`` places, and bring the length to one."""
    words = re.findall(r"\w+", text.lower()) or ["nothing"]
    places = [0.0] * DIMENSIONS
    pairs = ((0.5, "+".join(pair)) for pair in pairwise(words))
    for weight, feature in [*((1.0, word) for word in words), *pairs]:
        number = int.from_bytes(hashlib.sha256(feature.encode()).digest()[:8], "little")
        places[number % DIMENSIONS] += weight if number & (1 << 40) else -weight
    length = sum(place * place for place in places) ** 0.5
    return [place / length for place in places] if length else [1.0, *places[1:]]


def embeddings(asked: dict[str, Any]) -> dict[str, Any]:
    """Answer ``/v1/embeddings``, as numbers or packed."""
    texts = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
    rows = []
    for index, text in enumerate(texts):
        found: Any = vector(str(text))
        if asked.get("encoding_format") == "base64":
            found = base64.b64encode(struct.pack(f"<{DIMENSIONS}f", *found)).decode()
        rows.append({"object": "embedding", "index": index, "embedding": found})
    return {
        "object": "list",
        "data": rows,
        "model": asked.get("model"),
        "usage": {"prompt_tokens": 1, "total_tokens": 1},
    }


def chat(asked: dict[str, Any]) -> dict[str, Any]:
    """Answer ``/v1/chat/completions``: facts of a text, nothing to merge, or a reflection over what tools found."""
    message: dict[str, Any] = {"role": "assistant", "content": _content(asked)}
    reason = "stop"
    if asked.get("tools"):
        name, arguments = _tool(asked)
        call = {"name": name, "arguments": json.dumps(arguments)}
        number = len(asked["messages"])
        message |= {"content": None, "tool_calls": [{"id": f"call_{number}", "type": "function", "function": call}]}
        reason = "tool_calls"
    choice = {"index": 0, "message": message, "finish_reason": reason}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    head = {"id": "chatcmpl-0", "object": "chat.completion", "created": 0, "model": asked.get("model")}
    return {**head, "choices": [choice], "usage": usage}


def _content(asked: dict[str, Any]) -> str:
    said = json.dumps([asked.get("response_format"), asked.get("messages")])
    if "source_fact_ids" in said:
        return json.dumps({"creates": [], "updates": [], "deletes": []})
    if "fact_type" in said or "fact_kind" in said:
        return json.dumps({"facts": [_fact(sentence) for sentence in _sentences(_asked_text(asked))]})
    return "ok"


def _asked_text(asked: dict[str, Any]) -> str:
    texts = [one.get("content") for one in asked.get("messages", []) if one.get("role") == "user"]
    parts = [text if isinstance(text, str) else "".join(part.get("text", "") for part in text or ()) for text in texts]
    whole = "\n".join(parts)
    return re.split(r"(?:^|\n)(?:Content|Text):\s*\n", whole)[-1]


def _sentences(text: str) -> list[str]:
    found = [part.strip() for part in re.split(r"(?<=[.!?])\s+|\n+", text)]
    return [part for part in found if len(part) > 5][:20] or [text.strip()[:200] or "nothing"]


def _fact(sentence: str) -> dict[str, Any]:
    unknown = dict.fromkeys(("when", "where", "who", "why"), "N/A")
    return {"what": sentence, **unknown, "fact_kind": "conversation", "fact_type": "world", "entities": []}


def _tool(asked: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Recall once, then be done with what came back."""
    offered = [tool["function"]["name"] for tool in asked["tools"]]
    forced = asked.get("tool_choice")
    if isinstance(forced, dict):
        offered = [forced["function"]["name"]]
    heard = [str(one.get("content")) for one in asked["messages"] if one.get("role") == "tool"]
    if "recall" in offered and not heard:
        return "recall", {"query": _asked_text(asked)[:200], "reason": "to know"}
    if "done" in offered:
        found = re.findall(r'"text":\s*"((?:[^"\\]|\\.)*)"', " ".join(heard))
        ids = re.findall(r'"id":\s*"([0-9a-f-]{36})"', " ".join(heard))
        return "done", {"answer": " ".join(dict.fromkeys(found)) or "nothing is known", "memory_ids": ids[:5]}
    return offered[0], {"query": _asked_text(asked)[:200], "reason": "to know"}


class Handler(BaseHTTPRequestHandler):
    """One request; the faults are shared by all."""

    faults: ClassVar[list[dict[str, Any]]] = []
    lock = threading.Lock()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._answer(200, {"object": "list", "data": []})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        if self.path == "/faults":
            with self.lock:
                self.faults[:] = [asked] if asked else []
            return self._answer(200, {})
        with self.lock:
            fault = next((one for one in self.faults if one["path"] == self.path and one["times"] > 0), None)
            if fault:
                fault["times"] -= 1
        if fault:
            return self._answer(fault["status"], {"error": {"message": "as asked", "type": "server_error"}})
        return self._answer(200, embeddings(asked) if self.path.endswith("/embeddings") else chat(asked))

    def _answer(self, status: int, document: dict[str, Any]) -> None:
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
