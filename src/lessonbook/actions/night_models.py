"""The models a night asks: the editor and the judge, each paid for before it is asked and noted afterwards."""

from __future__ import annotations

from lessonbook.core.errors import ModelError, SetupError
from lessonbook.core.money import Purse
from lessonbook.core.ports import AgentRunner, Reply
from lessonbook.system.chat import ask_recorded, needed
from lessonbook.system.night_settings import NightSettings
from lessonbook.system.settings import Editor, Places


class PurseError(ModelError):
    """A model or an agent is not asked, as it may cost more than is left."""


def ask(
    editor: Editor | None, what: str, prompt: str, purse: Purse, night: NightSettings, where: Places, purpose: str
) -> str:
    """Ask the model that is called ``what`` in the configuration once, out of ``purse``.

    Raises ``PurseError`` where it may cost more than is left, ``SetupError`` where none is configured or nothing says
    what an answer costs, and ``ModelError``. A model that gave no answer has cost its worst.
    """
    if editor is None:
        raise needed(where, purpose)
    worst = answer_worst(editor, what, prompt, night)
    pay(purse, worst)
    reply: Reply = ask_recorded(editor, prompt, where, purpose)
    purse.settle(worst, _cost(editor, reply, night))
    return reply.text


def answer_worst(editor: Editor, what: str, prompt: str, night: NightSettings) -> float:
    """Return what one answer costs at most: by the price of its model, else by ``nightly.answer_dollars``.

    Raises ``SetupError`` where the configuration has neither. A command may add to the prompt what it likes, so its
    price is never worked out.
    """
    price = night.prices.get(editor.model) if editor.url else None
    if price is not None:
        return price.worst(prompt)
    if night.answer_dollars is None:
        model = f'[prices."{editor.model}"] (input, output, most_output), or ' if editor.url else ""
        raise SetupError(
            f"nothing says what an answer of the {what} model costs at most: give {model}nightly.answer_dollars in the "
            "configuration; 0 where it costs nothing."
        )
    return night.answer_dollars


def run_worst(agent: AgentRunner, night: NightSettings) -> float:
    """Return what one run of an agent costs at most. Raises ``SetupError`` where nothing keeps it to an amount."""
    own = night.of(agent.name).run_dollars
    if own is not None:
        return own
    if not agent.bounded:
        raise SetupError(
            f"nothing says what a run of {agent.name} costs at most, and it does not stop at an amount by itself: give "
            f"agents.{agent.name}.run_dollars in the configuration; 0 where it costs nothing."
        )
    return night.run_dollars


def pay(purse: Purse, worst: float) -> None:
    """Take what a call may cost. Raises ``PurseError``, with nothing taken, where it is not there."""
    refusal = purse.refusal(worst)
    if refusal:
        raise PurseError(f"{refusal}.")
    purse.take(worst)


def _cost(editor: Editor, reply: Reply, night: NightSettings) -> float | None:
    price = night.prices.get(editor.model) if editor.url else None
    if reply.cost is not None or price is None or reply.tokens_in is None or reply.tokens_out is None:
        return reply.cost
    return (reply.tokens_in * price.input + reply.tokens_out * price.output) / 1_000_000
