"""Every example in the documentation runs, and prints what the page says it prints.

In a ``console`` block a line that starts with ``$ `` is run by a shell, in a throwaway home shared by the whole page
and with the sample sessions beside it; the lines under it are what it must print, where ``...`` stands for any text.
A ``python`` block is run as a program and must succeed. Other blocks are not run. What the examples under ``--help``
call must exist, and every option must be named on its verb's page.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from lessonbook.core.errors import LessonbookError
from lessonbook.hosts.cli.main import INTERNAL, INTERRUPTED, PIPE_CLOSED
from lessonbook.hosts.cli.parser import for_verb
from lessonbook.hosts.registry import VERBS

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)")
ANCHOR = re.compile(r"\]\((?!https?://)([^)#\s]*)#([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def name(path: Path) -> str:
    """A test id that reads well."""
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_examples_run(page: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    shutil.copytree(ROOT / "samples", place / "samples")
    (tmp_path / "home").mkdir(exist_ok=True)
    for language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            done = _run([sys.executable, "-c", text], place, tmp_path / "home")
            assert done.returncode == 0, f"{name(page)}:\n{text}\n{done.stdout}"
            continue
        for command, wanted in _steps(text):
            done = _run(["bash", "-c", command], place, tmp_path / "home")
            got = done.stdout
            same = doctest.OutputChecker().check_output(
                wanted or "", got, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
            )
            assert same, f"{name(page)}: $ {command}\nwanted:\n{wanted}\ngot:\n{got}"


def _steps(text: str) -> list[tuple[str, str]]:
    steps: list[tuple[str, str]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            steps.append((line[2:], ""))
        elif steps and steps[-1][0].endswith("\\"):
            steps[-1] = (steps[-1][0][:-1] + line.strip(), "")
        elif steps:
            steps[-1] = (steps[-1][0], steps[-1][1] + line + "\n")
    return steps


def _run(command: list[str], place: Path, home: Path) -> subprocess.CompletedProcess[str]:
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    env = {"HOME": str(home), "PATH": tools, "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "COLUMNS": "100"}
    env |= {key: os.environ[key] for key in ("PYTHONPATH",) if key in os.environ}
    return subprocess.run(
        command,
        cwd=place,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,  # as a terminal shows it: both, in the order they come
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{name(page)} links to {target}, which is not there"
    for target, anchor in ANCHOR.findall(page.read_text(encoding="utf-8")):
        headings = HEADING.findall((page.parent / target if target else page).read_text(encoding="utf-8"))
        slugs = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert anchor in slugs, f"{name(page)} links to {target}#{anchor}, which is not there"


@pytest.mark.parametrize("verb", [*VERBS, "hook"])
def test_every_verb_has_a_page_that_names_its_options(verb: str, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir(exist_ok=True)
    page = ROOT / "docs" / "verbs" / f"{verb}.md"
    assert page.is_file(), f"docs/verbs/{verb}.md is missing"
    text = page.read_text(encoding="utf-8")
    told = _run([sys.executable, "-m", "lessonbook", verb, "--help"], tmp_path, tmp_path / "home").stdout
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", told.partition("\nexamples:")[0])) - {"--help"}
    assert options, told
    for option in options:
        assert f"`{option}" in text, f"docs/verbs/{verb}.md does not name {option}"


@pytest.mark.parametrize("verb", VERBS)
def test_the_examples_of_help_are_understood(verb: str) -> None:
    module = import_module(VERBS[verb].module)
    examples = re.findall(r"lessonbook ([a-z].*?)(?= {2,}| > |\)\"|$)", module.EXAMPLES, re.MULTILINE)
    assert len(examples) == len(module.EXAMPLES.strip().splitlines())
    for example in examples:
        words = shlex.split(example)
        assert words[0] == verb
        for_verb(verb, module).parse_args(words[1:])


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, waiting = set(), {ROOT / "README.md"}
    while waiting:
        page = waiting.pop()
        reached.add(page)
        links = LINK.findall(page.read_text(encoding="utf-8"))
        waiting |= {found for link in links if (found := (page.parent / link).resolve()) in PAGES} - reached
    assert set(PAGES) <= reached, f"no page links to {set(PAGES) - reached}"


def test_every_exit_code_is_explained() -> None:
    text = (ROOT / "docs" / "exit-codes.md").read_text(encoding="utf-8")
    explained = {int(code) for code in re.findall(r"^\| (\d+) \|", text, re.MULTILINE)}
    raised = {kind.exit_code for kind in (LessonbookError, *LessonbookError.__subclasses__())}
    assert explained == {0, INTERNAL, INTERRUPTED, PIPE_CLOSED} | raised
