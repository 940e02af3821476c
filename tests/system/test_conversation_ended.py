"""A program that is gone before it is spoken to is told of in one sentence."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from lessonbook.core.errors import SetupError
from lessonbook.system.conversation import Conversation


@pytest.mark.parametrize("said", ["", "print('hello')", "import sys; sys.exit('no such server')"])
def test_one_that_ended_before_the_first_message(tmp_path: Path, said: str) -> None:
    words = [sys.executable, "-c", said]
    with (
        pytest.raises(SetupError, match=r"ended|no message"),
        Conversation(words, seconds=30, folder=tmp_path, env=os.environ) as talk,
    ):
        os.waitid(os.P_PID, talk._process.pid, os.WEXITED | os.WNOWAIT)
        time.sleep(0.05)
        talk.ask("initialize")
