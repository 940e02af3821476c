"""The doors to a model: a command that reads the prompt on standard input, or an OpenAI-compatible address.

Which one is in ``config.toml`` (``[editor]``); a key comes from the environment only and is in no message and no log.
Each turn is one JSON line in ``<state>/models.jsonl``: what it took in tokens and dollars, as far as the door says.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from lessonbook.core.errors import ModelError, SetupError, StoreError
from lessonbook.core.ports import Reply
from lessonbook.system import files
from lessonbook.system.settings import Editor, Places, environment, load

LOG = "models.jsonl"
NEEDS = (
    "{what} needs an editor model: put `[editor]` into {file}, with `command` (an agent's own, such as "
    '["claude", "-p"], which reads the prompt on standard input), or with `url` and `model` (an OpenAI-compatible '
    "address; `key_env` names the environment variable that holds its key)"
)

_DOING = {
    "compact": "compacting",
    "summary": "summing up old episodes",
    "extract": "extracting",
    "propose": "the proposer edited",
    "watch": "rewriting a lesson",
}


def ask_editor(prompt: str, where: Places, purpose: str) -> Reply:
    """Ask the editor model that the configuration names, and record what it took; ``purpose`` is one word for that.

    Raises ``SetupError`` where none is configured, or what is configured is not there, and ``ModelError`` where it
    gives no answer.
    """
    editor = load(where).editor
    if editor is None:
        raise needed(where, purpose)
    return ask_recorded(editor, prompt, where, purpose)


def ask_recorded(editor: Editor, prompt: str, where: Places, purpose: str) -> Reply:
    """Ask this model once and record what it took, as ``ask_editor`` does."""
    started, reply = time.monotonic(), None
    try:
        reply = ask(editor, prompt)
        return reply
    finally:
        _record(where.state / LOG, editor, reply, purpose, time.monotonic() - started)


def needed(where: Places, purpose: str) -> SetupError:
    """Return the error that says what must be configured before a model can be asked."""
    return SetupError(NEEDS.format(what=_DOING.get(purpose, purpose), file=where.config_file))


def ask(editor: Editor, prompt: str) -> Reply:
    """Ask this model once. Raises ``SetupError`` and ``ModelError`` as ``ask_editor`` does."""
    reply = _by_command(editor, prompt) if editor.command else _by_address(editor, prompt)
    if not reply.text.strip():
        raise ModelError(f"{_name(editor)} gave an empty answer.")
    return reply


def _by_command(editor: Editor, prompt: str) -> Reply:
    from lessonbook.system.programs import run

    # In an empty folder, so that no project's instructions and files come into it.
    with tempfile.TemporaryDirectory(prefix="lessonbook-", ignore_cleanup_errors=True) as empty:
        data, env = prompt.encode("utf-8", "replace"), environment()
        ended = run(editor.command, data, timeout=editor.timeout, folder=Path(empty), env=env)
    if ended.code:
        how = f"ended with exit code {ended.code}" if ended.code > 0 else f"was ended by signal {-ended.code}"
        said = _shown(ended.err) or _shown(ended.out)
        raise ModelError(f"{_name(editor)} {how}{': ' + said if said else ''}.")
    return _command_reply(editor, ended.out.decode("utf-8", "replace"))


def _command_reply(editor: Editor, text: str) -> Reply:
    """What a command printed: the answer itself, or the one JSON object agents print when asked for JSON."""
    try:
        told = json.loads(text) if text.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict) or not isinstance(told.get("result"), str):
        return Reply(text)
    if told.get("is_error"):
        raise ModelError(f"{_name(editor)} answered with an error: {_shown(told['result'])}.")
    usage = told.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    read = [_count(usage.get(key)) for key in _READ]
    tokens_in = sum(count or 0 for count in read) if any(count is not None for count in read) else None
    return Reply(told["result"], tokens_in, _count(usage.get("output_tokens")), _money(told.get("total_cost_usd")))


_READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def _by_address(editor: Editor, prompt: str) -> Reply:
    from lessonbook.system.http import check_address, post_json

    check_address(editor.url, "editor.url")
    base = editor.url.rstrip("/")
    url = base if base.endswith("/chat/completions") else f"{base}/chat/completions"
    key = _key(editor)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    document = {"model": editor.model, "messages": [{"role": "user", "content": prompt}]}
    answer = post_json(url, document, headers, timeout=editor.timeout)
    if 300 <= answer.status < 400:
        to = urlsplit(answer.location)
        where = f"{to.scheme}://{to.hostname}" if to.scheme and to.hostname else "another path"
        raise ModelError(
            f"{_name(editor)} redirects to {where}, which is not followed; set editor.url to the end of it."
        )
    if answer.status != 200:
        said = _shown(_error_of(answer.body), key)
        raise ModelError(
            f"{_name(editor)} answered {answer.status}{': ' + said if said else ''}{_advice(editor, answer.status)}."
        )
    return _address_reply(editor, answer.body)


def _address_reply(editor: Editor, body: bytes) -> Reply:
    try:
        told = json.loads(body)
        choice = told["choices"][0]
        content = choice["message"]["content"]
        cut = choice.get("finish_reason") == "length"
    except (ValueError, RecursionError):
        raise ModelError(f"{_name(editor)} answered with something that is not JSON; is editor.url right?") from None
    except (KeyError, IndexError, TypeError, AttributeError):
        raise ModelError(
            f"{_name(editor)} answered without a message; is editor.url an OpenAI-compatible one?"
        ) from None
    if cut:
        raise ModelError(f"{_name(editor)} stopped before the end of its answer, at its own limit of tokens.")
    usage = told.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    used = (_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")), _money(usage.get("cost")))
    return Reply(content if isinstance(content, str) else "", *used)


def _key(editor: Editor) -> str:
    if not editor.key_env:
        return ""
    key = environment().get(editor.key_env, "").strip()
    if not key:
        raise SetupError(f"editor.key_env names {editor.key_env}, which is not set in the environment.")
    if not key.isascii() or not key.isprintable():
        raise SetupError(f"the key in {editor.key_env} holds characters that no key has.")
    return key


def _advice(editor: Editor, status: int) -> str:
    if status in (401, 403):
        return (
            f" (the key is taken from {editor.key_env})"
            if editor.key_env
            else " (set editor.key_env if it needs a key)"
        )
    return " (editor.url must be the base address, often ending in /v1)" if status in (404, 405) else ""


def _error_of(body: bytes) -> str:
    """The sentence an OpenAI-compatible service gives with an error, where it is there."""
    try:
        told: Any = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    told = told.get("error", told) if isinstance(told, dict) else told
    told = told.get("message") if isinstance(told, dict) else told
    return told if isinstance(told, str) else ""


def _shown(said: bytes | str, key: str = "") -> str:
    """One short line of what another program said, without the key and anything like one."""
    from lessonbook.core.clean import bound, clean_line
    from lessonbook.core.redact import redact

    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    if key:
        text = text.replace(key, "[REDACTED]")
    lines = [line for line in text.splitlines() if line.strip()]
    last = redact(clean_line(lines[-1])).text if lines else ""
    return bound(last, 200)[0].rstrip(".")


def _name(editor: Editor) -> str:
    return f"the command {editor.command[0]!r}" if editor.command else urlsplit(editor.url).netloc


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _money(value: object) -> float | None:
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < float("inf")
    return float(value) if good else None  # type: ignore[arg-type]  # just looked at


def _record(path: Path, editor: Editor, reply: Reply | None, purpose: str, seconds: float) -> None:
    row: Mapping[str, object] = {
        "at": int(time.time()),
        "purpose": purpose,
        "door": "command" if editor.command else "url",
        "model": editor.model or editor.command[0],
        "ok": reply is not None,
        "seconds": round(seconds, 3),
        "tokens_in": reply.tokens_in if reply else None,
        "tokens_out": reply.tokens_out if reply else None,
        "cost": reply.cost if reply else None,
    }
    try:
        files.append_line(path, json.dumps(row).encode())
    except StoreError:  # an answer that was paid for is not lost because the log cannot be written
        pass
