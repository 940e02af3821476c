from __future__ import annotations

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from lessonbook.system.measuring import Size, measured


def test_files_count_once_and_links_are_not_followed(tmp_path: Path) -> None:
    top = tmp_path / "top"
    (top / "in" / "deep").mkdir(parents=True)
    (top / "a").write_bytes(b"x" * 10)
    (top / "in" / "deep" / "b").write_bytes(b"x" * 30)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "c").write_bytes(b"x" * 500)
    (top / "link").symlink_to(tmp_path / "out")
    (top / "gone").symlink_to(tmp_path / "nowhere")
    os.link(top / "a", top / "same")
    os.mkfifo(top / "pipe")
    whole = Size(40, 2, str(top / "in" / "deep" / "b"), 30)
    assert measured([top]) == whole
    assert measured([top, top / "in", tmp_path / "nothing"]) == whole
    assert measured([top], [top / "in"]).bytes == 10
    assert measured([top / "in" / "deep" / "b"]).bytes == 30
    (tmp_path / "moved").symlink_to(top)
    assert measured([tmp_path / "moved"]).bytes == 40, "a root that is a link is where the agent put it"


@given(st.lists(st.integers(0, 5_000), max_size=12))
def test_the_sum_is_the_sum(tmp_path_factory: object, sizes: list[int]) -> None:
    top = Path(str(tmp_path_factory.mktemp("sizes")))  # type: ignore[attr-defined]  # pytest's own
    for number, size in enumerate(sizes):
        (top / f"{number % 3}").mkdir(exist_ok=True)
        (top / f"{number % 3}" / f"{number}").write_bytes(b"x" * size)
    found = measured([top])
    assert (found.bytes, found.files, found.largest_bytes) == (sum(sizes), len(sizes), max(sizes, default=0))
