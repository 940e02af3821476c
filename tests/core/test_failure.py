from __future__ import annotations

import pytest

from lessonbook.core.failure import Trouble, read_failure
from lessonbook.core.session import Call, CallKind, CallStatus


def shell(command: str, result: str, code: int = 1) -> Call:
    return Call("c", "Bash", CallKind.SHELL, CallStatus.FAILED, {"command": command}, None, command, result, code)


def tool(name: str, result: str) -> Call:
    return Call("c", name, CallKind.EDIT, CallStatus.FAILED, {}, None, None, result)


@pytest.mark.parametrize(
    ("call", "key"),
    [
        (shell("tok npm test", "error: unrecognized subcommand 'npm'", 2), "tok npm | unknown subcommand"),
        (shell("cat -A a.txt", "cat: illegal option -- A"), "cat | unknown option: -A"),
        (shell("head a | cat -A", "cat: illegal option -- A"), "cat | unknown option: -A"),
        (shell("rg --foo x", "error: unexpected argument '--foo' found", 2), "rg | unknown option: --foo"),
        (shell("pytest a", "bash: line 1: pytest: command not found", 127), "pytest | program not found"),
        (shell("timeout 9 npm test", "(eval):1: command not found: timeout", 127), "timeout | program not found"),
        (shell("python -m pytest", "/usr/bin/python: No module named pytest"), "python -m pytest | program not found"),
        (shell("npm run lnt", 'npm error Missing script: "lnt"'), "npm run | no such script: lnt"),
        (
            shell(
                "git add dist a && git commit", "The following paths are ignored by one of your .gitignore files:\ndist"
            ),
            "git add | path ignored by git: dist",
        ),
        (
            tool("Edit", "<tool_use_error>String to replace not found in file.\nString: x"),
            "Edit | text to replace not found",
        ),
        (tool("Edit", "File has been unexpectedly modified. Read it again"), "Edit | file changed since it was read"),
        (tool("Skill", "Unknown skill: deploy"), "Skill | no such tool: deploy"),
    ],
)
def test_mistakes_have_the_key_of_their_kind(call: Call, key: str) -> None:
    failure = read_failure(call)
    assert failure is not None and not failure.answer
    assert failure.key == key


@pytest.mark.parametrize(
    "call",
    [
        shell("npm run test", "FAIL a.test.js\n  expected 1 to be 2"),
        shell("pytest -q", "E   AssertionError\n1 failed"),
        shell("python -m pytest -q", "E   AssertionError\n1 failed"),
        shell("python3 manage.py test", "FAILED (failures=1)"),
        shell("python tests/runtests.py forms", "FAILED (failures=1)"),
        shell("ruby -Itest test/models/cart_test.rb", "1 runs, 1 failures"),
        shell("node scripts/run-tests.js", "AssertionError: 1 == 2"),
        shell("php vendor/bin/phpunit", "There was 1 failure:"),
        shell("pytest -q", "collected 3 items\n\n\n a\n b\n c\n d\nE  sh: foo: command not found"),
        shell("ruff check .", "a.py:1:1: F401 unused import"),
        shell("tsc --noEmit", "src/a.ts(3,1): error TS2339: Property 'x' does not exist on type 'Y'.", 2),
        shell("go build ./...", "./a.go:3:2: undefined: x"),
        shell("make", "make: *** [all] Error 1", 2),
        shell("grep -n foo src/a.py", ""),
        shell("cat a.py | grep foo", ""),
        shell("diff a b", "1c1\n< a\n---\n> b"),
        shell("git commit -m x", "husky - pre-commit hook failed\n3 problems (3 errors, 0 warnings)"),
        shell("git rebase main", "CONFLICT (content): Merge conflict in a.py"),
        shell("bin/test core", "1 failed"),
    ],
)
def test_answers_are_no_mistakes(call: Call) -> None:
    failure = read_failure(call)
    assert failure is not None and failure.answer


IMPORTING = """============ test session starts ============
platform linux -- Python 3.12
rootdir: /srv/shop
collected 0 items / 1 error

____________ ERROR collecting tests/test_a.py ____________
ImportError while importing test module '/srv/shop/tests/test_a.py'.
tests/test_a.py:1: in <module>
    import shop
E   ModuleNotFoundError: No module named 'shop'
!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!
1 error in 0.10s"""
CONFTEST = """ImportError while loading conftest '/srv/shop/conftest.py'.
conftest.py:1: in <module>
    from shop import db
E   ModuleNotFoundError: No module named 'shop'"""
JEST = """FAIL ./a.test.js
  Test suite failed to run
    Cannot find module 'shop' from 'a.test.js'
Test Suites: 1 failed, 1 total
Tests:       0 total"""


@pytest.mark.parametrize(
    ("command", "result", "error"),
    [
        ("pytest tests", IMPORTING, "ModuleNotFoundError: No module named 'shop'"),
        ("cd /srv && python -m pytest", CONFTEST, "ModuleNotFoundError: No module named 'shop'"),
        ("npx jest", JEST, "Cannot find module 'shop' from 'a.test.js'"),
    ],
)
def test_a_check_that_could_not_import_is_an_answer_that_ran_nothing(command: str, result: str, error: str) -> None:
    failure = read_failure(shell(command, result, 2))
    assert failure is not None and failure.answer and failure.unrun
    assert (failure.trouble, failure.error, failure.subject) == (Trouble.NO_MODULE, error, "")


@pytest.mark.parametrize(
    "result",
    [
        IMPORTING.replace("1 error in", "3 passed, 1 error in"),
        IMPORTING.replace("E   Module", "E   AssertionError: printed Module"),
        JEST.replace("0 total", "2 passed, 2 total"),
        "Ran 3 tests in 0.1s\nModuleNotFoundError: No module named 'shop'",
        "# pass 4\nError: Cannot find module './x'",
        "src/a.ts(1,1): error TS2307: Cannot find module 'x' or its corresponding type declarations.",
    ],
)
def test_a_check_that_ran_is_a_plain_answer(result: str) -> None:
    failure = read_failure(shell("npm test", result, 1))
    assert failure is not None and failure.answer and not failure.unrun


@pytest.mark.parametrize("command", ["npm run test", "pytest", "make build"])
def test_a_check_that_never_ran_is_a_mistake(command: str) -> None:
    program = command.split()[0]
    failure = read_failure(shell(command, f"zsh:1: command not found: {program}", 127))
    assert failure is not None and not failure.answer and failure.trouble is Trouble.NOT_INSTALLED


def test_a_script_that_is_only_called_a_test_is_no_check() -> None:
    failure = read_failure(shell("python test_it.py", "ValueError: no"))
    assert failure is not None and not failure.answer


def test_only_failed_calls_are_failures() -> None:
    for status in set(CallStatus) - {CallStatus.FAILED}:
        assert read_failure(Call("c", "Bash", CallKind.SHELL, status, command="ls", result="error")) is None


def test_odd_calls_do_not_raise() -> None:
    assert read_failure(shell("", "")) is not None
    assert read_failure(shell("A=b", "error")) is not None
    assert read_failure(Call("c", "Bash", CallKind.SHELL, CallStatus.FAILED)) is not None
    assert read_failure(tool("", "")) is not None
