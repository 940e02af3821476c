"""Commands that ask a question: tests, linters, type checkers, formatters, builds. That they fail is an answer."""

from __future__ import annotations

import re
from functools import lru_cache

from lessonbook.core.shell import Command
from lessonbook.core.shelltokens import word_set

_CHECK_WORDS = word_set(
    "test tests tested spec specs e2e lint linter linting check checks typecheck types build compile fmt format "
    "verify ci vet clippy coverage validate pytest py.test jest vitest mocha ava karma cypress playwright eslint "
    "tslint biome prettier stylelint tsc ruff flake8 pylint mypy pyright black isort bandit golangci-lint "
    "staticcheck rubocop rspec phpunit phpstan psalm shellcheck hadolint ktlint detekt swiftlint ctest cmake make "
    "ninja gradle gradlew mvn mvnw bazel msbuild xcodebuild tox nox pre-commit lefthook husky webpack vite rollup "
    "esbuild precommit pretest"
)
_INSTALLS = frozenset({"npm ci"})
_RUN_BY = re.compile(r"(?:python|pypy|node|ruby|perl|php|deno|bun)[\d.]*\Z")
_TESTS = frozenset({"test", "tests", "spec", "specs", "__tests__"})
_RUNNERS = frozenset({"runtests", "runtest", "run_tests", "run-tests", "test", "tests"})
_DRIVERS = frozenset({"manage.py", "setup.py", "artisan"})
"""Scripts of a project that take what to do as their first word."""


@lru_cache(maxsize=4_096)
def is_check(command: Command) -> bool:
    """Whether the command tests, lints, type-checks, formats or builds: its failing is an answer."""
    if command.family in _INSTALLS:
        return False
    words = [command.program]
    if not command.plain_utility:
        words += [word for word in command.words[1:5] if not word.startswith("-")]
    elif (command.verb or "").startswith("-m ") or (len(command.words) > 1 and command.words[1] in _DRIVERS):
        words.append(command.words[2] if len(command.words) > 2 else "")
    elif _RUN_BY.match(command.program):
        return _runs_tests(next((word for word in command.words[1:] if not word.startswith("-")), ""))
    return any(part in _CHECK_WORDS for word in words for part in _parts(word))


def _runs_tests(script: str) -> bool:
    """Whether an interpreter was given tests: a known runner, or a file in a folder of tests; no ``test_this.py``."""
    *folders, name = script.split("/")
    stem = name.split(".", 1)[0]
    runner = stem in _RUNNERS or (bool(folders) and stem in _CHECK_WORDS)
    return runner or (bool(name) and not _TESTS.isdisjoint(folders))


def _parts(word: str) -> list[str]:
    return [word, *re.split(r"[/:_.-]", word)]
