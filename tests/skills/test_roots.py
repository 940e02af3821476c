"""Which folders of authored skills count for a session in a folder."""

from __future__ import annotations

from pathlib import Path

from lessonbook.skills.roots import authored_roots


def below(home: Path, cwd: Path | None) -> dict[str, tuple[str, ...]]:
    top = home.parent.resolve()
    return {str(root.path.relative_to(top)): root.agents for root in authored_roots(home.resolve(), cwd)}


def test_every_agents_home_folder_is_there(home: Path) -> None:
    found = below(home, None)
    assert found["home/.claude/skills"] == ("claude",)
    assert {"codex", "gemini", "omp", "ramabana"} <= set(found["home/.agents/skills"])
    for name in (".codex", ".gemini", ".omp/agent", ".hermes", ".config/ramabana"):
        assert f"home/{name}/skills" in found
    assert len(found) == len(set(found))


def test_a_project_counts_up_to_its_repository_and_no_further(home: Path) -> None:
    inner = home / "work" / "app" / "src"
    inner.mkdir(parents=True)
    (home / "work" / "app" / ".git").mkdir()
    found = list(below(home, inner))
    assert found[0] == "home/work/app/src/.claude/skills"
    assert {"home/work/app/.claude/skills", "home/work/app/.agents/skills", "home/work/app/.leela/skills"} <= set(found)
    assert "home/work/.claude/skills" not in found


def test_without_a_repository_the_walk_ends_below_home(home: Path) -> None:
    (home / "a" / "b").mkdir(parents=True)
    found = below(home, home / "a" / "b")
    assert {"home/a/b/.omp/skills", "home/a/.omp/skills"} <= set(found)
    assert "home/.omp/skills" not in found
    assert below(home, home) == below(home, None)


def test_outside_both_only_the_folder_itself_counts(home: Path) -> None:
    outside = home.parent / "outside" / "deep"
    outside.mkdir(parents=True)
    found = below(home, outside)
    assert "outside/deep/.claude/skills" in found
    assert "outside/.claude/skills" not in found


def test_a_folder_that_is_gone_or_goes_in_circles_gives_no_error(home: Path) -> None:
    (home / "loop").symlink_to(home / "loop")
    assert below(home, home / "gone")
    assert below(home, home / "loop")
