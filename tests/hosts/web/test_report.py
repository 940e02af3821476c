"""The report page: sessions read when a person asks, weeks beside what was accepted, charts with their numbers."""

from __future__ import annotations

import importlib.util
import json
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

spec = importlib.util.spec_from_file_location("book_of_many", Path(__file__).with_name("book_of_many.py"))
assert spec and spec.loader
many = importlib.util.module_from_spec(spec)
spec.loader.exec_module(many)

pytestmark = pytest.mark.slow


@pytest.fixture
def book(commit: Callable[..., Path], offered: Any, run: Any) -> Path:
    folder = commit({"AGENTS.md": "Lint.\n"})
    (id,) = offered(folder, "Use pnpm here.")
    assert run("learned", "accept", id).returncode == 0
    return folder


def read(page: Any) -> None:
    with page.expect_navigation():
        page.get_by_role("link", name="Report").click()
    assert page.get_by_text("Nothing was read yet.").count() == 1
    with page.expect_navigation():
        page.get_by_role("button", name="Read the sessions").click()
    page.wait_for_selector("#trend", timeout=30_000)  # it comes by itself


def test_weeks_lessons_and_sessions(
    serve: Any, open_page: Any, run: Any, book: Path, home: Path, tmp_path: Path
) -> None:
    key = "ghp_" + "aB3" * 12
    many.sessions(home, 4, key)
    server = serve()
    page = open_page(server)
    read(page)
    told = run("report").stdout.splitlines()
    rows = page.locator("#trend ~ .scroll tbody tr")
    assert rows.count() == len(told) >= 5  # four weeks of sessions, and the one the lesson was accepted in
    for row, line in zip(rows.all(), told, strict=True):
        cells = [cell.inner_text() for cell in row.locator("th, td").all()]
        assert cells[0] == line.split("\t")[0]
        assert cells[1:3] == line.split("\t")[1:3]
    assert "Use pnpm here" in rows.last.inner_text()
    assert page.locator(".trend circle").count() == 4 and page.locator(".trend .mark").count() == 1
    assert "Use pnpm here" in page.locator("#did ~ .scroll").inner_text()
    page.select_option("#by", "agent")
    page.locator("#since").fill("2026-03-09")
    with page.expect_navigation():
        page.get_by_role("button", name="Show").click()
    assert page.locator(".trend circle").count() == 3
    with page.expect_download() as got:
        page.get_by_role("button", name="Save as PNG").click()
    got.value.save_as(tmp_path / "chart.png")
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG") and (
        tmp_path / "chart.png"
    ).stat().st_size > 5000
    with page.expect_navigation():
        page.locator("#worst ~ ol a").first.click()
    said = page.locator("main").inner_text()
    assert "tool_protocol" in said and "[REDACTED" in said and key not in said


def test_the_chart_is_a_file_of_its_own_with_every_number_in_words(
    serve: Any, open_page: Any, book: Path, home: Path
) -> None:
    server = serve()
    assert server.get("/report.svg").status == 404 and server.get("/session?n=0").status == 404
    many.sessions(home, 3)
    page = open_page(server)
    read(page)
    answer = server.get("/report.svg?by=project")
    assert answer.headers["content-type"].startswith("image/svg+xml") and answer.headers["content-security-policy"]
    root = ElementTree.fromstring(answer.text)
    space = "{http://www.w3.org/2000/svg}"
    told = root.findtext(f"{space}desc") or ""
    circles = root.findall(f".//{space}circle")
    assert len(circles) == 3 and all((circle.findtext(f"{space}title") or "?") in told for circle in circles)
    assert server.get("/report?since=nonsense").status == 400
    for odd in ("-1", "x", "9", "%EF%BC%91"):
        assert server.get(f"/session?n={odd}").status == 404


def test_what_nights_cost(serve: Any, book: Path, home: Path) -> None:
    nights = home / ".local/state/lessonbook/nights"
    for day, spent in (("01", 0.25), ("02", 1.5)):
        (nights / f"202612{day}-030000").mkdir(parents=True)
        record = {"night": f"202612{day}-030000", "began": 1_796_000_000, "spent": spent, "most": 2, "offered": [{}]}
        asks = ["notice: claude keeps <b>3,000.0 MB</b> of sessions"]
        (nights / f"202612{day}-030000" / "record.json").write_text(json.dumps(record | {"health": {"said": asks}}))
    (nights / "20261203-030000").mkdir()
    (nights / "20261203-030000" / "record.json").write_text("{not json")
    page = serve().get("/report").text
    assert "$1.75 in the last 2 nights, for 2 candidates" in page and "<td>$1.50</td>" in page
    assert "What no lesson can mend</h2><ul><li>notice: claude keeps &lt;b&gt;3,000.0 MB" in page


def test_without_sessions_it_says_so(serve: Any, open_page: Any, book: Path) -> None:
    page = open_page(serve())
    read(page)
    assert page.locator(".numbers dd").first.inner_text() == "0" and page.locator(".trend").count() == 0
    assert "cannot be counted" in page.locator("#did ~ .scroll").inner_text()


def test_everything_of_a_chart_lies_within_it() -> None:
    pytest.importorskip("jinja2")
    from hypothesis import given, settings
    from hypothesis import strategies as st

    from lessonbook.actions.trend import Week
    from lessonbook.hosts.web.charts import BOTTOM, HEIGHT, LEFT, MOST_LINES, TOP, WIDTH, chart

    weeks = st.builds(
        lambda day, group, calls, found: Week(day, group, 1, calls, 0, Counter({"schema": found})),
        st.none() | st.dates(date(2020, 1, 1), date(2030, 1, 1)),
        st.sampled_from(["", "a", "b", "c", "d", "e", "f"]),
        st.integers(0, 10**6),
        st.integers(0, 10**6),
    )

    @settings(deadline=None)
    @given(st.lists(weeks, max_size=12))
    def check(some: list[Week]) -> None:
        made = chart(some)
        drawn = [week for week in some if week.start is not None and week.calls]
        assert (made is None) == (not drawn)
        if made is None:
            return
        points = [point for line in made.lines for point in line.points]
        assert all(LEFT <= p.x <= WIDTH and TOP <= p.y <= HEIGHT - BOTTOM for p in points)
        assert len(made.lines) + made.left_out == len({week.group for week in drawn}) and len(made.lines) <= MOST_LINES
        if not made.left_out:
            assert len(points) == len(drawn)

    check()
