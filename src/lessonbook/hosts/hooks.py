"""``lessonbook hook EVENT --agent NAME``: the one JSON object that agent expects, or nothing, and always exit 0.

Agents start this at every session, and some at every turn, and wait for it. So nothing heavy is imported, every source
has a deadline, the whole process has one well below the agent's, and whatever is on standard input or broken on this
machine costs at most what we would have said. Each agent's wording is in ``hosts.agents``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from json import dumps
from threading import Thread
from time import sleep

from lessonbook.hosts.agents.agent import EVENTS, PROMPT, SESSION_END, SESSION_START, STOP
from lessonbook.hosts.hooks_input import standard_input, table
from lessonbook.system.streams import reserve

DEADLINES = {SESSION_START: 8.0, PROMPT: 4.0, STOP: 8.0, SESSION_END: 1.3}
"""After how many seconds a hook ends with nothing to say, whatever hangs. Agents wait longer (``hosts.agents``)."""
_USAGE = f"""\
usage: lessonbook hook {{{",".join(EVENTS)}}} [--agent NAME] [--no-learned]

Coding agents run this. It reads an agent's hook JSON on standard input and answers in the way that agent expects:

  {SESSION_START}   the briefing of the folder
  {PROMPT}          lessons that fit the prompt, where recall.on_prompt is on
  {STOP}            asks once what was learned, where autolearn.enabled is on and enough was done
  {SESSION_END}     notes the session for the next batch

options:
  --agent NAME   which agent asks (default: claude, whose form Codex takes too)
  --no-learned   without what was accepted by review

`lessonbook setup` tells each agent to run it. Try it yourself:

  echo '{{"cwd": "."}}' | lessonbook hook {SESSION_START}"""


def main(words: Sequence[str]) -> int:
    """Answer one hook. Exit 0 whatever happens in one of ours; 1 for an event or an agent there is not.

    Never 2: hosts take that as an order to block what the person was doing.
    """
    help_asked = bool({"-h", "--help"} & set(words))
    if words[:1] and words[0] in EVENTS and not help_asked:
        _answer_and_leave(words[0], _agent(words), "--no-learned" not in words)
    print(_USAGE, file=sys.stdout if help_asked else sys.stderr)
    return 0 if help_asked else 1


def _agent(words: Sequence[str]) -> str:
    """The agent that asks: the word behind ``--agent``, or joined to it."""
    for at, word in enumerate(words):
        if word == "--agent" and at + 1 < len(words):
            return words[at + 1]
        if word.startswith("--agent="):
            return word.removeprefix("--agent=")
    return "claude"


def answer(event: str, agent: str, given: bytes, *, learned: bool = True) -> tuple[str, list[str]]:
    """Return the JSON text to print, empty where there is nothing to say, and notes for standard error.

    ``given`` is what the agent wrote on our standard input; anything is accepted. Never raises.
    """
    try:
        from lessonbook.hosts.agents.registry import agent as known
        from lessonbook.hosts.hooks_events import text_for

        dialect = known(agent).dialect
        if dialect is None or event not in dialect.events:
            return "", [f"{agent} has no hook {event}"]
        text, notes = text_for(event, agent, dialect, table(given), learned)
        return dumps(dialect.answer(event, text), ensure_ascii=False) if text else "", notes
    except Exception as error:  # noqa: BLE001  a session must go on whatever is broken here; the doctor tells more
        return "", [f"Nothing said: {type(error).__name__}; run `lessonbook doctor`."]


def _answer_and_leave(event: str, agent: str, learned: bool) -> None:
    """Print the answer and end this process at once: what still hangs is not waited for."""
    try:
        Thread(target=_give_up, args=(DEADLINES[event],), daemon=True).start()
        reserve()
        text, notes = answer(event, agent, standard_input(), learned=learned)
        for note in notes:
            _write(2, f"lessonbook: {note}\n")
        if text:
            _write(1, f"{text}\n")
    except BaseException:  # noqa: BLE001  exit 0 whatever happens: a closed pipe, Ctrl-C, no memory left
        pass
    os._exit(0)


def _give_up(seconds: float) -> None:
    """End this process when its time is over; in a thread, as what hangs may hang in the system."""
    sleep(seconds)
    os._exit(0)


def _write(handle: int, text: str) -> None:
    data = text.encode("utf-8", "replace")
    while data:
        data = data[os.write(handle, data) :]
