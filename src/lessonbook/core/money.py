"""Money that is counted before it is spent: what a call may cost at worst, and purses that refuse what they cannot pay.

A purse is given its limit and, for a round, the night's purse it is part of. What a call may cost at worst is taken
before the call; afterwards what it did cost takes its place where that is known, and the worst stays where it is not.
"""

from __future__ import annotations

from dataclasses import dataclass

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs, in dollars per million tokens, and how many tokens one answer has at most."""

    input: float
    output: float
    most_output: int

    def worst(self, prompt: str) -> float:
        """Return what one answer to ``prompt`` can cost at most: no token is shorter than one byte of UTF-8."""
        read = len(prompt.encode("utf-8", "replace"))
        return (read * self.input + self.most_output * self.output) / _MILLION


class Purse:
    """What may be spent, and what was. Never gives more than its limit, nor than the purse it is part of has left."""

    def __init__(self, name: str, most: float, part_of: Purse | None = None) -> None:
        """``name`` says whose it is in sentences (``round``, ``night``); ``most`` is in dollars."""
        self.name = name
        self.most = most
        self.spent = 0.0
        self._part_of = part_of

    def refusal(self, worst: float) -> str | None:
        """Return why a call that may cost ``worst`` is not paid for, or ``None`` where it is."""
        if worst > self.most - self.spent + 1e-9:
            left = max(0.0, self.most - self.spent)
            return f"the next call may cost ${worst:.2f}, and ${left:.2f} of the {self.name}'s ${self.most:.2f} is left"
        return self._part_of.refusal(worst) if self._part_of else None

    def take(self, worst: float) -> None:
        """Take what a call may cost at worst; ask ``refusal`` first."""
        self.spent += worst
        if self._part_of:
            self._part_of.take(worst)

    def settle(self, worst: float, cost: float | None) -> None:
        """Put what a call did cost in the place of its worst; ``None``, where nobody says, keeps the worst."""
        if cost is not None:
            self.spent = max(0.0, self.spent + cost - worst)
            if self._part_of:
                self._part_of.settle(worst, cost)
