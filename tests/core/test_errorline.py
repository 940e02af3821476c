from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.errorline import LINE_LIMIT, error_key, error_line, mask, without_places


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Exit code 2\nerror: unrecognized subcommand 'x'\n\nUsage: y", "error: unrecognized subcommand 'x'"),
        (
            "<tool_use_error>File has not been read yet. Read it.</tool_use_error>",
            "File has not been read yet. Read it.",
        ),
        ("\x1b[31mfatal: not a git repository\x1b[0m", "fatal: not a git repository"),
        (
            "$ tool check\n> app@1 test\nsomething else\n0 errors\nnpm ERR! missing script: lint",
            "npm ERR! missing script: lint",
        ),
        ("plain output\nno word of trouble", "plain output"),
        ("warning: 3 errors ignored\nls: cannot access 'a'", "ls: cannot access 'a'"),
        ("", ""),
        ("Exit code 1\n", ""),
        (
            "Traceback (most recent call last):\n  File \"a.py\", line 3\n    raise ValueError('no')\nValueError: bad",
            "ValueError: bad",
        ),
    ],
)
def test_first_telling_line(text: str, line: str) -> None:
    assert error_line(text) == line


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("cat: src/a/b.ts: No such file or directory", "cat: lib/c.py: No such file or directory"),
        ("error: script 'lint' exited with code 1", "error: script 'test' exited with code 127"),
        ("/home/a/x.go:12:3: undefined: foo", "/home/b/y.go:400:31: undefined: foo"),
        ("fatal: bad object 3f2a9bc", "fatal: bad object 99aa00bbccdd"),
        ("could not fetch https://a.example/x?y=1", "could not fetch http://b.example/"),
    ],
)
def test_equal_reasons_have_equal_keys(one: str, other: str) -> None:
    assert error_key(one) == error_key(other)


def test_different_reasons_have_different_keys() -> None:
    assert error_key("bash: pytest: command not found") != error_key("bash: jest: command not found")


def test_without_places_stops_before_the_file() -> None:
    assert without_places("Failed to find expected lines in /srv/app/a.ts:") == "Failed to find expected lines"
    assert without_places("Found 2 matches of the string") == "Found 2 matches of the string"


@given(st.text(max_size=300))
def test_bounded_one_line_and_stable(text: str) -> None:
    line = error_line(text)
    assert "\n" not in line and len(line) <= LINE_LIMIT
    assert mask(mask(line)) == mask(line)


def test_long_lines_take_linear_time() -> None:
    def spent(size: int) -> float:
        line, start = "error: " + "'a" * size + "/" * size, process_time()
        error_key(line)
        return process_time() - start

    assert spent(800_000) < 12 * spent(200_000) + 0.001  # four times the text; quadratic would be sixteen


LINES = [
    "an ERROR here",
    "x: not  found",
    "0 errors",
    "İ denied",
    "bad y",
    "warning: failed",
    "$ fatal",
    "ok",
    "<error>",
]


@given(st.lists(st.text(alphabet="aeinoprtuER!:' \t", max_size=30) | st.sampled_from(LINES), max_size=12))
def test_the_first_telling_line_is_found_as_if_every_line_was_looked_at(lines: list[str]) -> None:
    from lessonbook.core.errorline import _exception, _tells, error_of, plain_lines

    plain = plain_lines("\n".join(lines))
    slowly = _exception(plain) or next((line for line in plain if _tells(line)), "")
    assert not slowly or error_of(plain) == slowly
    assert slowly or not _tells(error_of(plain))


@pytest.mark.parametrize(
    "text",
    [
        "Output: bash: kite: command not found\nExit Code: 127\nProcess Group PGID: 7",
        "Command: kite go\nDirectory: (root)\nStdout: (empty)\nStderr: bash: kite: command not found\nError: (none)"
        "\nExit Code: 127\nSignal: 0\nBackground PIDs: (none)\nProcess Group PGID: 7",
        "bash: kite: command not found\n\n\nCommand exited with code 127",
        "npm warn Unknown env config 'x'. This will stop working.\nbash: kite: command not found",
    ],
)
def test_what_an_agent_puts_around_a_result_is_no_part_of_it(text: str) -> None:
    assert error_line(text) == "bash: kite: command not found"


def test_an_exception_of_a_library_and_of_a_language_tells() -> None:
    django = (
        "Traceback (most recent call last):\n  File 'x'\n    raise kite('not here')\nkite.conf.NotReady: call setup()"
    )
    assert error_line(django) == "kite.conf.NotReady: call setup()"
    assert error_line("a.js:3\nfoo()\n^\n\nReferenceError: foo is not defined") == "ReferenceError: foo is not defined"
