"""For everyone: no violation of WCAG 2.2 AA that a machine can find, dark and light, small screens, less motion.

Also makes the pictures of the documentation: ``LESSONBOOK_PICTURES=docs/pictures`` names where to.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from lessonbook.book import editing

spec = importlib.util.spec_from_file_location("book_of_many", Path(__file__).with_name("book_of_many.py"))
assert spec and spec.loader
many = importlib.util.module_from_spec(spec)
spec.loader.exec_module(many)

ROOT = Path(__file__).resolve().parents[3]
PICTURES = ("inbox", "candidate", "signs", "dark", "small", "briefing", "history", "report")
NOW = 1_774_800_000
ON = '[memory]\nbackend = "mnemopi"\n[autolearn]\nenabled = true\n[review]\nname = "Ana Lee"\n'
START = "# Rules\n\nUse npm here, always.\n\nRun the linter before each commit.\n"
CHANGED = "# Rules\n\nUse pnpm here, always; npm fails with Missing script.\n\nRun the linter before each commit.\n"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
LIGHT, DARK = {"color_scheme": "light"}, {"color_scheme": "dark"}
SMALL = {"viewport": {"width": 320, "height": 640}, "reduced_motion": "reduce"}
pytestmark = pytest.mark.slow


@pytest.fixture
def ids(commit: Callable[..., Path], home: Path, offered: Any, run: Any) -> list[str]:
    (home / ".config/lessonbook").mkdir(parents=True)
    (home / ".config/lessonbook/config.toml").write_text(ON)
    book = commit({"AGENTS.md": START})
    found: list[str] = many.fill(book, offered, 30, NOW)
    assert editing.edit(book, found[0], {"AGENTS.md": CHANGED}, NOW)["ok"]
    app = commit({"AGENTS.md": "Ports 8000 to 8010 are taken by the proxy.\n"}, "shop-7ab15098")
    offered(app, *many.rules(3), now=NOW + 60)
    for words in (["accept", found[9]], ["reject", found[10], "--reason", "only true on Windows"]):
        assert run("learned", *words, "--book", "global").returncode == 0
    many.sessions(home, 8, later=(date.today() - date(2026, 3, 2)).days // 7 - 6)
    for text in ("Run the database tests with make db-test.", "The staging server is reset every Monday."):
        assert run("learn", text).returncode == 0
    return found


def addresses(ids: list[str]) -> Iterator[tuple[str, str]]:
    """Each kind of page, by a name."""
    yield "inbox", "/"
    yield "nothing", "/?q=nothing+is+like+this"
    yield "candidate", f"/candidate?in=global&id={ids[0]}"
    yield "inline", f"/candidate?in=global&id={ids[0]}&diff=inline"
    yield "signs", f"/candidate?in=global&id={ids[-3]}"
    yield "skill", f"/candidate?in=global&id={ids[-2]}"
    yield "edit", f"/edit?in=global&id={ids[1]}"
    yield "briefing", "/briefing"
    yield "history", "/history"
    yield "skills", "/skills"
    yield "memories", "/memories"
    yield "found", "/memories?q=database"
    yield "lesson", "/lesson?id=1"
    yield "rejected", "/rejected"
    yield "outbox", "/outbox"
    yield "report", "/report"
    yield "lines", "/report?by=project"
    yield "session", "/session?n=0"
    yield "missing", "/nope"


def read_sessions(page: Any, server: Any) -> None:
    page.goto(f"{server.origin}/report")
    page.get_by_role("button", name="Read the sessions").click()
    page.wait_for_selector("#trend", timeout=30_000)


def violations(page: Any) -> list[str]:
    """What axe finds wrong, each as a line with the element."""
    axe = pytest.importorskip("axe_playwright_python")
    page.evaluate((files(axe) / "axe.min.js").read_text("utf-8"))
    told = page.evaluate("rules => axe.run({runOnly: {type: 'tag', values: rules}})", RULES)
    assert len(told["passes"]) > 10  # it did look
    return [f"{one['id']}: {one['help']}: {node['html'][:200]}" for one in told["violations"] for node in one["nodes"]]


@pytest.mark.parametrize("how", [LIGHT, DARK, SMALL], ids=["light", "dark", "small"])
def test_no_violation_on_any_page(serve: Any, open_page: Any, ids: list[str], how: dict[str, Any]) -> None:
    server = serve()
    page = open_page(server, **how)
    page.wait_for_selector(".badge.twin, .badge.risk")
    read_sessions(page, server)
    found = []
    for name, path in addresses(ids):
        page.goto(server.origin + path)
        for detail in page.locator("details").all():
            detail.evaluate("one => { one.open = true; }")
        found += [f"{name}: {line}" for line in violations(page)]
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= page.viewport_size["width"], f"{name} has to be scrolled sideways"
    page.goto(server.origin)
    page.keyboard.press("?")
    found += [f"help: {line}" for line in violations(page)]
    moves = page.evaluate("getComputedStyle(document.documentElement).scrollBehavior")
    assert moves == ("auto" if how is SMALL else "smooth")
    assert not found, "\n".join(found)
    open_page.wrong[:] = [line for line in open_page.wrong if "404" not in line]  # the page that is not there


def test_a_screen_reader_is_told(serve: Any, open_page: Any, ids: list[str]) -> None:
    server = serve()
    page = open_page(server)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.goto(f"{server.origin}/candidate?in=global&id={ids[0]}")
    told = page.locator("body").aria_snapshot()
    for part in (
        '- navigation "Pages"', "- main", '- heading "What it would change" [level=2]', 'columnheader "Before"',
        "removed: Use npm here", "added: Use pnpm here",
        'img "How often it happened, by week: 1 2026-02-02, 0 2026-02-09, 1 2026-02-16, 1 2026-02-23"',
        '- region "Decide"', 'textbox "Why not?"', 'button "Accept a"',
    ):  # fmt: skip
        assert part in told, f"{part} is not in\n{told}"
    rows = page.locator(".chart table")
    page.locator(".chart summary").click()
    assert "2026-02-16" in rows.inner_text() and "1" in rows.inner_text()
    with page.expect_navigation():
        page.keyboard.press("a")
    assert page.locator("[role=status].notice").inner_text().startswith("Accepted")


def test_nothing_is_hidden_behind_the_bar_that_stays(serve: Any, open_page: Any, ids: list[str]) -> None:
    server = serve()
    page = open_page(server, viewport={"width": 1000, "height": 600})
    page.goto(f"{server.origin}/candidate?in=global&id={ids[0]}")
    for _ in range(40):
        page.keyboard.press("Tab")
        hidden = page.evaluate(
            """() => { const one = document.activeElement, bar = document.querySelector('.decide');
            if (!one || one === document.body || bar.contains(one) || one.closest('.foot')) return '';
            const at = one.getBoundingClientRect(), its = bar.getBoundingClientRect();
            return at.top >= its.top && at.bottom <= its.bottom ? one.outerHTML : ''; }"""
        )
        assert not hidden


def test_the_pictures(serve: Any, open_page: Any, ids: list[str], tmp_path: Path) -> None:
    to = Path(os.environ.get("LESSONBOOK_PICTURES") or tmp_path / "pictures")
    to.mkdir(parents=True, exist_ok=True)
    server = serve()
    for name, path, how in (
        ("inbox", "/", {}),
        ("candidate", f"/candidate?in=global&id={ids[0]}", {"viewport": {"width": 1200, "height": 1500}}),
        ("signs", f"/candidate?in=global&id={ids[-3]}", {}),
        ("dark", f"/candidate?in=global&id={ids[0]}", DARK),
        ("small", f"/candidate?in=global&id={ids[0]}&diff=inline", {"viewport": {"width": 390, "height": 844}}),
        ("briefing", "/briefing", {}),
        ("history", "/history", {}),
        ("report", "/report", {}),
    ):
        page = open_page(server, **how)
        if name == "report":
            read_sessions(page, server)
        if name == "inbox":
            page.wait_for_selector(".badge.twin")
        page.goto(server.origin + path)
        page.evaluate(
            "for (const one of document.querySelectorAll('.foot code, .lead code')) one.textContent = '~/src/shop'"
        )
        page.screenshot(path=str(to / f"{name}.png"), full_page=name in ("history", "briefing"))
        assert (to / f"{name}.png").stat().st_size > 10_000
    assert {path.stem for path in to.glob("*.png")} == set(PICTURES)


def test_the_documentation_shows_them() -> None:
    shown = (ROOT / "docs" / "verbs" / "review.md").read_text("utf-8")
    there = {path.stem for path in (ROOT / "docs" / "pictures").glob("*.png")}
    assert there == set(PICTURES)
    assert all(f"../pictures/{name}.png" in shown for name in PICTURES)


def test_words_can_be_as_large_as_a_person_needs(serve: Any, open_page: Any, ids: list[str]) -> None:
    server = serve()
    page = open_page(server, viewport={"width": 640, "height": 480})
    for _, path in list(addresses(ids))[:8]:
        page.goto(server.origin + path)
        page.evaluate("document.documentElement.style.setProperty('font-size', '200%')")
        assert page.evaluate("document.documentElement.scrollWidth") <= 640


def test_the_page_needs_no_network() -> None:
    text = "".join(
        path.read_text("utf-8") for path in (ROOT / "src/lessonbook/hosts/web").rglob("*.*") if _is_sent(path)
    )
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "") and "https://" not in text


def _is_sent(path: Path) -> bool:
    return path.suffix in (".html", ".css", ".js", ".svg")
