from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.shell import family, simple_commands


def families(script: str) -> list[str]:
    return [command.family for command in simple_commands(script)]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("git status", ["git status"]),
        ("cd /srv/app && npm run build", ["npm run"]),
        ("CI=1 NODE_ENV=test npx jest a.test.js", ["npx jest"]),
        ("env -i A=b make -C sub all", ["make all"]),
        ("sudo timeout 30s docker compose up -d", ["docker compose"]),
        ("git -C /srv/app -c user.name=x commit -m 'no; not && this'", ["git commit"]),
        ("bash -lc 'cd /srv && git push --force'", ["git push"]),
        ("sh -c \"bash -c 'ls -la'\"", ["ls"]),
        ("/usr/bin/python3 -m pytest tests", ["python3 -m pytest"]),
        ("./scripts/run.sh now", ["scripts/run.sh"]),
        ("cat a.txt | grep x | wc -l", ["cat", "grep", "wc"]),
        ("pnpm test || true; echo done", ["pnpm test", "true", "echo"]),
        ("npm test 2>&1 | tail -5", ["npm test", "tail"]),
        ("for f in *.py; do ruff check $f; done", ["ruff check"]),
        ("if [ -f a ]; then cargo build; fi", ["[", "cargo build"]),
        ("(cd web && yarn install)", ["yarn install"]),
        ("# only a comment\ngo vet ./...", ["go vet"]),
        ("echo a#b # c && rm x", ["echo"]),
        ("sleep 5 & curl localhost", ["sleep", "curl"]),
        ("", []),
        ("cd /srv", []),
        ("A=b", []),
    ],
)
def test_families(script: str, expected: list[str]) -> None:
    assert families(script) == expected


def test_heredoc_bodies_are_not_commands() -> None:
    script = "cat > a.py <<'EOF'\nimport os\nrm -rf / && git push\nEOF\npython a.py"
    assert families(script) == ["cat", "python"]
    assert simple_commands(script)[0].writes == "a.py"


def test_a_commit_message_in_a_substitution_with_an_apostrophe_stays_one_word() -> None:
    script = "git add a && git commit -m \"$(cat <<'EOF'\nDon't break; it && works\nEOF\n)\""
    assert families(script) == ["git add", "git commit"]


def test_a_heredoc_without_its_end_hides_nothing() -> None:
    assert families("cat <<EOF\nhello\ngit push") == ["cat", "hello", "git push"]


@pytest.mark.parametrize(
    ("script", "place"),
    [("cd web && npm test", "web"), ("git -C lib log", "lib"), ("npm --prefix=web ci", "web"), ("npm test", None)],
)
def test_place(script: str, place: str | None) -> None:
    assert simple_commands(script)[0].place == place


def test_quotes_are_taken_off_words_and_redirections_left_out() -> None:
    command = simple_commands("rg \"a b\" 'c|d' src\\ dir 2>/dev/null > out.txt")[0]
    assert command.words == ("rg", "a b", "c|d", "src dir")
    assert command.writes == "out.txt"


def test_background_and_joins() -> None:
    first, second, third = simple_commands("npm start & sleep 1 && curl x")
    assert first.background and not second.background
    assert (second.joined, third.joined) == ("&", "&&")


@pytest.mark.parametrize(
    "script", ["'", '"', "$(", "`", "a <<", "\\", "a | | b", "&&", '"$(cat', "bash -c", "((", "a >"]
)
def test_broken_scripts_give_a_best_guess(script: str) -> None:
    assert all(command.words for command in simple_commands(script))
    assert isinstance(family(script), str)


@given(st.text(alphabet="ab '\"$()`\\|&;<>\n#=-/{}EOF", max_size=80))
def test_never_raises_and_words_are_never_empty_lists(script: str) -> None:
    assert all(command.words for command in simple_commands(script))


def test_many_open_heredocs_take_linear_time() -> None:
    assert simple_commands("cat <<EOF\n" * 20_000)


@pytest.mark.parametrize(
    ("script", "environment"),
    [
        ("source .venv/bin/activate && pytest", ("source", ".venv/bin/activate", "&&")),
        (". venv/bin/activate; cd x; pytest", ("source", "venv/bin/activate", "&&")),
        ("PYTHONPATH=src A=b pytest", ("PYTHONPATH=src",)),
        ("export PYTHONPATH=. && pytest", ("PYTHONPATH=.",)),
        ("bash -lc 'source .venv/bin/activate && pytest'", ("source", ".venv/bin/activate", "&&")),
        ("source ~/.bashrc && TOKEN=x pytest", ()),
    ],
)
def test_what_a_command_finds_its_modules_by(script: str, environment: tuple[str, ...]) -> None:
    (only,) = simple_commands(script)
    assert (only.words, only.environment) == (("pytest",), environment)
