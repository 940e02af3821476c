"""A person in a real Chromium, on a real book with 300 candidates: every decision, by key or mouse, and its undo."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lessonbook.book import editing, queue
from lessonbook.book.offer import Offer

spec = importlib.util.spec_from_file_location("book_of_many", Path(__file__).with_name("book_of_many.py"))
assert spec and spec.loader
many = importlib.util.module_from_spec(spec)
spec.loader.exec_module(many)

COUNT = 300
START = "# Rules\n\nUse npm here, always.\n"
NOW = 1_798_675_200
pytestmark = pytest.mark.slow


@pytest.fixture
def book(commit: Callable[..., Path], home: Path) -> Path:
    (home / ".config/lessonbook").mkdir(parents=True)
    (home / ".config/lessonbook/config.toml").write_text('[review]\nname = "Ana Lee"\nemail = "ana@example.org"\n')
    return commit({"AGENTS.md": START})


@pytest.fixture
def ids(book: Path, offered: Any) -> list[str]:
    found: list[str] = many.fill(book, offered, COUNT, NOW)
    return found


def waiting(book: Path) -> list[str]:
    return [row["id"] for row in queue.pending(book)]


def rules(book: Path) -> str:
    return (book / "AGENTS.md").read_text()


def git(book: Path, *words: str) -> str:
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return subprocess.run(["git", "-C", str(book), *words], env=env, capture_output=True, check=True).stdout.decode()


def pressed(page: Any, *keys: str) -> None:
    """Press keys, the last of which leads to another page."""
    for key in keys[:-1]:
        page.keyboard.press(key)
    with page.expect_navigation():
        page.keyboard.press(keys[-1])


def see(page: Any, server: Any, id: str, book: str = "global", **more: str) -> None:
    page.goto(f"{server.origin}/candidate?in={book}&id={id}" + "".join(f"&{k}={v}" for k, v in more.items()))


def test_one_key_each_accepts_rejects_and_takes_back(serve: Any, open_page: Any, book: Path, ids: list[str]) -> None:
    page = open_page(serve(enter=False))
    assert page.locator("h1").inner_text().startswith(f"Inbox {COUNT} wait")
    assert page.locator("[data-row]").count() == 50
    pressed(page, "j", "Enter")
    assert "1 of 300" in page.locator(".steps").inner_text()
    pressed(page, "a")
    assert "Accepted" in page.locator(".notice.done").inner_text() and "1 of 299" in page.locator(".steps").inner_text()
    assert ids[0] not in waiting(book) and "services/000-api" in rules(book)
    said = git(book, "log", "-1", "--format=%cn|%(trailers:key=Accepted-by,valueonly)").strip()
    assert said == "Ana Lee|Ana Lee <ana@example.org>"
    page.keyboard.press("r")
    page.keyboard.type("only on Windows, a r e")
    pressed(page, "Enter")
    assert ids[1] not in waiting(book) and "2 of" not in page.locator(".steps").inner_text()
    pressed(page, "u")  # the reject, told above
    assert waiting(book) == ids[1:] and "waits for review again" in page.locator(".notice.done").inner_text()
    assert "Start the database" in page.locator("h1").inner_text()
    pressed(page, "u")  # the accept, from the foot of the page
    assert waiting(book) == ids and rules(book) == START
    page.keyboard.press("u")
    page.wait_for_selector("#said:has-text('nothing to undo')", state="attached")


def test_keys_go_on_and_back_and_everywhere(serve: Any, open_page: Any, book: Path, ids: list[str]) -> None:
    server = serve()
    page = open_page(server)
    see(page, server, ids[1])
    pressed(page, "j")
    assert f"id={ids[2]}" in page.url
    pressed(page, "k")
    pressed(page, "k")
    assert f"id={ids[0]}" in page.url
    pressed(page, "d")
    assert "diff=side" in page.url and page.locator("table.side").count() == 1
    pressed(page, "j")
    assert page.locator("table.side").count() == 1  # it stays as it was chosen
    pressed(page, "d")
    assert page.locator("table.inline").count() == 1
    for key, path in (("b", "/briefing"), ("h", "/history"), ("i", "/")):
        pressed(page, key)
        assert page.url == f"{server.origin}{path}"
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.locator("#keys-on").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("b")
    page.reload()
    page.keyboard.press("h")
    assert page.url == f"{server.origin}/"  # keys are off, and stay so
    page.locator("[data-opens=help]").click()
    page.locator("#keys-on").check()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("bahaus")  # in a field keys type
    assert page.locator("#q").input_value() == "bahaus"


def test_the_inbox_is_narrowed_and_marked(serve: Any, open_page: Any, book: Path, ids: list[str]) -> None:
    page = open_page(serve())
    page.locator("#q").fill("services/007")
    pressed(page, "Enter")
    assert page.locator("[data-row]").count() == 1 and "1 of 300 shown" in page.locator("#shown-count").inner_text()
    pressed(page, "Escape", "i")
    page.select_option("#only", "signs")
    with page.expect_navigation():
        page.get_by_role("button", name="Show", exact=True).click()
    row = page.locator("[data-row]")
    assert row.count() == 1 and "override" in row.inner_text() and "in a hurry" in row.inner_text()
    page.goto(page.url.replace("only=signs", "only=twins"))
    assert "Twin of the first rule" in page.locator(".list").inner_text()
    page.goto(page.url.replace("only=twins", "page=6"))
    assert page.locator("[data-row]").count() == 50 and "Page 6 of 6" in page.locator(".pager").inner_text()
    page.wait_for_selector(".badge.risk")  # marks follow by themselves
    page.locator(".pager a").click()
    page.wait_for_url("**page=5**")


def test_several_at_once(serve: Any, open_page: Any, book: Path, ids: list[str]) -> None:
    page = open_page(serve())
    page.keyboard.press("a")
    page.wait_for_selector("#said:has-text('Select some')", state="attached")
    for key in "jxjxjjx":
        page.keyboard.press(key)
    assert page.locator("#selected").inner_text() == "3 selected"
    pressed(page, "a")
    assert waiting(book) == [ids[2], *ids[4:]] and rules(book).count("services/") == 3
    notice = page.locator(".notice.done")
    assert notice.inner_text().startswith("Accepted 3 candidates.") and notice.get_by_role("button").count() == 3
    with page.expect_navigation():
        notice.get_by_role("button").nth(1).click()
    assert waiting(book) == ids[1:3] + ids[4:]
    page.goto(page.url.partition("/candidate")[0])
    risky = page.locator("[data-row]", has_text="in a hurry")
    page.goto(f"{page.url}?q=hurry")
    risky.locator("input").check()
    pressed(page, "a")
    told = page.locator(".notice.refused").inner_text()
    assert "Accepted 0 candidates." in told and "signs" in told and ids[COUNT - 3] in waiting(book)


def test_signs_are_agreed_to_before_accepting(serve: Any, open_page: Any, book: Path, ids: list[str]) -> None:
    server, risky = serve(), ids[COUNT - 3]
    page = open_page(server)
    see(page, server, risky)
    warned = page.locator(".warn.risk").inner_text()
    assert "override in AGENTS.md line 5" in warned and "Ignore all previous instructions" in warned
    page.keyboard.press("a")  # the browser asks for the tick
    assert page.locator("#acknowledge:invalid").count() == 1 and risky in waiting(book)
    page.locator("#acknowledge").check()
    page.locator("h1").click()
    pressed(page, "a")
    assert risky not in waiting(book) and "Ignore all previous" in rules(book)
    assert "Acknowledged: override" in git(book, "log", "-1", "--format=%B")


def test_edit_then_accept_keeps_what_others_accept_meanwhile(
    serve: Any, open_page: Any, run: Any, book: Path, ids: list[str]
) -> None:
    server = serve()
    page = open_page(server)
    see(page, server, ids[5])
    pressed(page, "e")
    text = page.locator("#after-0").input_value()
    assert text.startswith(START) and "services/005" in text
    page.locator("#after-0").fill(text.replace("Run `make client`", "Always run `make client`"))
    assert run("learned", "accept", ids[0]).returncode == 0  # another person, while the field is open
    with page.expect_navigation():
        page.get_by_role("button", name="Save and accept").click()
    assert ids[5] not in waiting(book) and "Accepted" in page.locator(".notice.done").inner_text()
    assert "services/000" in rules(book) and "Always run `make client`" in rules(book)
    assert "Edited-by: Ana Lee" in git(book, "log", "-1", "--format=%B")


def test_what_cannot_be_saved_is_still_in_the_field(serve: Any, open_page: Any, book: Path, ids: list[str]) -> None:
    server = serve()
    page = open_page(server)
    page.goto(f"{server.origin}/edit?in=global&id={ids[5]}")
    page.locator("#after-0").fill("Mine.\n")
    assert editing.edit(book, ids[5], {"AGENTS.md": f"{START}\nTheirs.\n"}, NOW)["ok"]
    with page.expect_navigation():
        page.get_by_role("button", name="Save and look").click()
    assert "has changed since it was shown" in page.locator(".notice.refused").inner_text()
    assert page.locator("#after-0").input_value() == "Mine.\n"
    with page.expect_navigation():
        page.get_by_role("link", name="Look at it as it is now").click()
    assert "Theirs." in page.locator("table.diff").inner_text()
    pressed(page, "e")
    page.locator("#after-0").fill(f"{START}\nOurs.\n")
    with page.expect_navigation():
        page.get_by_role("button", name="Save and look").click()
    assert "Ours." in page.locator("table.diff").inner_text() and "Edited" in page.locator(".notice.done").inner_text()
    open_page.wrong[:] = [line for line in open_page.wrong if "409" not in line]


def test_split_by_paragraph_and_by_file(serve: Any, open_page: Any, book: Path, offered: Any) -> None:
    (two,) = offered(book, Offer("Both", "Use uv here.\n\nTag before releasing."))
    (files,) = offered(
        book, Offer("Rule and skill", "Look first.", files={"skills/release-check/SKILL.md": many.SKILL})
    )
    server = serve()
    page = open_page(server)
    see(page, server, two)
    pressed(page, "s")
    assert "Split into 2" in page.locator(".notice.done").inner_text() and two not in waiting(book)
    assert "Use uv here." in page.locator("table.diff").inner_text()
    pressed(page, "a")
    assert rules(book) == f"{START}\nUse uv here.\n"
    see(page, server, files)
    page.locator("input[name=only]").nth(1).uncheck()
    pressed(page, "a")
    assert "still waiting under that id: skills/release-check" in page.locator(".notice.done").inner_text()
    assert "Look first." in rules(book) and files in waiting(book)
    assert "release-check" in page.locator("table.diff").inner_text()


def test_a_stale_one_says_so_and_an_edit_is_the_way_out(serve: Any, open_page: Any, book: Path, offered: Any) -> None:
    (id,) = offered(book, "Other.")
    assert editing.edit(book, id, {"AGENTS.md": "# Rules\n\nUse pnpm here, always.\n"}, NOW)["ok"]
    (book / "AGENTS.md").write_text("# Rules\n\nUse yarn here, always.\n")
    git(book, "-c", "user.name=Ana", "-c", "user.email=a@b.c", "commit", "-qam", "By hand")
    server = serve()
    page = open_page(server)
    assert "stale" in page.locator("[data-row]").inner_text()
    see(page, server, id)
    assert "It cannot be accepted as it is" in page.locator(".warn").first.inner_text()
    pressed(page, "a")
    assert "no longer applies" in page.locator(".notice.refused").inner_text()
    pressed(page, "e")
    assert "<<<<<<<" in page.locator("#after-0").input_value()
    page.locator("#after-0").fill(page.locator("#after-0").input_value() + "More.\n")
    with page.expect_navigation():
        page.get_by_role("button", name="Save and accept").click()
    assert "conflict markers" in page.locator(".notice.refused").inner_text()
    page.locator("#after-0").fill("# Rules\n\nUse pnpm here, always.\n")
    with page.expect_navigation():
        page.get_by_role("button", name="Save and accept").click()
    assert waiting(book) == [] and rules(book) == "# Rules\n\nUse pnpm here, always.\n"
    open_page.wrong.clear()  # the browser notes the status of the refusal


def test_two_people_see_each_other(serve: Any, open_page: Any, run: Any, book: Path, ids: list[str]) -> None:
    one, other = serve(), serve()
    here, there = open_page(one), open_page(other)
    see(here, one, ids[3])
    before = here.locator("#live").get_attribute("data-commit")
    see(there, other, ids[0])
    there.locator("h1").click()
    pressed(there, "a")
    here.wait_for_selector(f"#live:not([data-commit='{before}'])")
    assert here.locator("[role=alert]").count() == 0  # it was only moved
    pressed(here, "a")
    assert not {ids[0], ids[3]} & set(waiting(book))
    see(here, one, ids[7])
    assert run("learned", "reject", ids[7]).returncode == 0
    here.wait_for_selector("[role=alert]")
    assert here.locator("#accept button").is_disabled()
    see(here, one, ids[8])
    text = here.locator("table.diff").inner_text()
    assert editing.edit(book, ids[8], {"AGENTS.md": f"{rules(book)}\nNew words.\n"}, NOW)["ok"]
    here.wait_for_selector("text=Somebody changed this candidate")
    assert "New words." in here.locator("table.diff").inner_text() and "New words." not in text
    here.goto(one.origin)
    assert json.loads(run("learned", "list", "--json").stdout)["books"][0]["pending"][0]["id"] == ids[1]
    assert run("learned", "reject", ids[1]).returncode == 0
    here.wait_for_selector("h1:has-text('296')")


def test_without_script_all_of_it_works_and_nobody_accepts_what_they_did_not_see(
    serve: Any, open_page: Any, book: Path, ids: list[str]
) -> None:
    server = serve()
    page = open_page(server, java_script_enabled=False)
    with page.expect_navigation():
        page.get_by_role("link", name="Start the database before the tests (1)").click()
    assert editing.edit(book, ids[1], {"AGENTS.md": f"{START}\nOther words.\n"}, NOW)["ok"]
    with page.expect_navigation():
        page.get_by_role("button", name="Accept").click()
    assert "has changed since it was shown" in page.locator(".notice.refused").inner_text()
    assert "Other words." in page.locator("table.diff").inner_text() and waiting(book) == ids
    with page.expect_navigation():
        page.get_by_role("button", name="Accept").click()
    assert "Other words." in rules(book)
    with page.expect_navigation():
        page.get_by_role("button", name="Undo", exact=True).click()
    assert rules(book) == START and waiting(book) == ids
    page.locator("#reason").fill("no")
    with page.expect_navigation():
        page.get_by_role("button", name="Reject").click()
    with page.expect_navigation():
        page.get_by_role("link", name="Rejected").click()
    assert "no" in page.locator(".item").inner_text()
    with page.expect_navigation():
        page.get_by_role("button", name="Unreject").click()
    assert waiting(book) == ids
    with page.expect_navigation():
        page.get_by_role("link", name="Inbox", exact=True).first.click()
    page.locator("[name=which]").first.check()
    with page.expect_navigation():
        page.get_by_role("button", name="Accept selected").click()
    with page.expect_navigation():
        page.get_by_role("link", name="History").first.click()
    with page.expect_navigation():
        page.get_by_role("button", name="Undo: ").first.click()
    assert waiting(book) == ids and rules(book) == START


def test_compacting_is_offered_followed_and_told_of(
    serve: Any, open_page: Any, book: Path, home: Path, tmp_path: Path
) -> None:
    long = "Read sizes with ls, not by opening files. " * 30
    (book / "AGENTS.md").write_text(f"{START}\n{long}\n")
    name = ["-c", "user.name=Ana", "-c", "user.email=a@b.c"]
    git(book, *name, "commit", "-qam", "Lesson from a replay: sizes")
    page = open_page(serve())
    with page.expect_navigation():
        page.get_by_role("button", name="Propose a shorter AGENTS.md of global").click()
    assert "editor" in page.locator("main").inner_text()  # it says what it needs
    open_page.wrong.clear()  # the browser notes the status of the refusal
    script = tmp_path / "model.py"
    script.write_text("import sys\nsys.stdin.read()\nprint('[kept 1]\\n\\n[kept 2]\\n\\nRead sizes with ls.')\n")
    words = json.dumps([sys.executable, str(script)])
    (home / ".config/lessonbook/config.toml").write_text(f"[editor]\ncommand = {words}\n")
    page.goto(page.url.partition("/compact")[0])
    with page.expect_navigation():
        page.get_by_role("button", name="Propose a shorter AGENTS.md of global").click()
    page.wait_for_selector("[data-row]", timeout=30_000)
    assert "Compact learned AGENTS.md" in page.locator("[data-row]").inner_text()
    pressed(page, "j", "Enter")
    pressed(page, "a")
    assert rules(book) == f"{START}\nRead sizes with ls.\n"
    script.write_text("import sys\nsys.exit('no model today')\n")
    with page.expect_navigation():
        page.get_by_role("button", name="Propose a shorter AGENTS.md of global").click()
    page.wait_for_selector("text=No shorter AGENTS.md of global", timeout=30_000)
    with page.expect_navigation():
        page.get_by_role("button", name="Dismiss").click()
    assert page.locator(".job").count() == 0
