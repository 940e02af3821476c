from __future__ import annotations

import pytest

from lessonbook.core.consent import acts, consents
from lessonbook.core.session import Call, CallKind, CallStatus


@pytest.mark.parametrize("prompt", ["yes", "OK, go on", "push it", "sorry, continue", "sure, do it now", "retry"])
def test_consent(prompt: str) -> None:
    assert consents(prompt)


@pytest.mark.parametrize(
    "prompt", ["no", "no, do not push it", "add a test", "don't do it", "wait", "yes but never push", ""]
)
def test_no_consent(prompt: str) -> None:
    assert not consents(prompt)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git add a && git commit -m x", {"git commit"}),
        ("cd a && git push --force origin main", {"git push"}),
        ("ls && npm publish", {"npm publish"}),
        ("git add a", {"git add"}),
        ("git status", {"git status"}),
    ],
)
def test_acts(command: str, expected: set[str]) -> None:
    assert acts(Call("c", "Bash", CallKind.SHELL, CallStatus.DENIED, command=command)) == expected


def test_acts_of_tools() -> None:
    assert acts(Call("c", "WebFetch", CallKind.WEB, CallStatus.DENIED)) == {"WebFetch"}
