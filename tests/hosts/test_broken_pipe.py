"""A pipe that breaks is the reader's of our output, or it is told: no command ends without a word."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

FAILING = """
import sys
from types import SimpleNamespace
from lessonbook.hosts.cli import main

def broken(words, out):
    raise BrokenPipeError(32, "Broken pipe")

main._dispatch = broken
main.main()
"""


@pytest.mark.parametrize("json", [False, True])
def test_another_programs_pipe_is_an_error_that_is_told(json: bool) -> None:
    words = [sys.executable, "-c", FAILING, *(["--json"] if json else [])]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode not in (0, 141)
    assert (done.stdout if json else done.stderr).strip()


def test_a_reader_that_left_ends_it_quietly() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-c", FAILING], stdout=writing, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")
