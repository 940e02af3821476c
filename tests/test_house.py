"""The rules that keep the house: sizes, who may write, run and read what, no stand-ins, samples up to date."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "lessonbook"
MODULES = sorted(SOURCE.rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

WRITERS = {"write_text", "write_bytes", "unlink", "rename", "replace", "mkdir", "rmdir", "touch", "symlink_to"}
OS_WRITERS = {"rename", "replace", "remove", "unlink", "mkdir", "makedirs", "rmdir", "truncate", "link", "symlink"}


def name(path: Path) -> str:
    """A test id that reads well."""
    return str(path.relative_to(ROOT))


def calls(path: Path) -> Iterator[ast.Call]:
    """Every call in the module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            yield node


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_sizes(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 300, f"{name(path)} has over 300 lines"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= 60, f"{name(path)}:{node.lineno} {node.name} has {length} lines"


@pytest.mark.parametrize("path", [p for p in MODULES if "system" not in p.relative_to(SOURCE).parts], ids=name)
def test_only_system_writes_files_and_reads_the_environment(path: Path) -> None:
    for call in calls(path):
        if not isinstance(call.func, ast.Attribute):
            opened = isinstance(call.func, ast.Name) and call.func.id == "open"
            assert not opened or not _writes(call), f"{name(path)}:{call.lineno} opens a file for writing"
            continue
        owner = call.func.value.id if isinstance(call.func.value, ast.Name) else ""
        if owner == "os":
            assert call.func.attr not in OS_WRITERS, f"{name(path)}:{call.lineno} os.{call.func.attr}"
            assert call.func.attr not in ("getenv", "putenv"), f"{name(path)}:{call.lineno} reads the environment"
        elif call.func.attr in WRITERS - {"replace"}:
            assert owner in ("files", "connection"), f"{name(path)}:{call.lineno} .{call.func.attr}() outside system"
    assert "os.environ" not in path.read_text(encoding="utf-8"), f"{name(path)} reads the environment"


def _writes(call: ast.Call) -> bool:
    modes = [arg.value for arg in call.args[1:2] if isinstance(arg, ast.Constant)]
    modes += [k.value.value for k in call.keywords if k.arg == "mode" and isinstance(k.value, ast.Constant)]
    return any(set(str(mode)) & set("wax+") for mode in modes)


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_nothing_is_left_undone(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\b(TODO|FIXME|XXX|NotImplementedError)\b", text)
    assert "../shared" not in text
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ExceptHandler):
            broad = node.type is None or (
                isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException")
            )
            assert not broad or "#" in lines[node.lineno - 1], f"{name(path)}:{node.lineno} broad except, no reason"


@pytest.mark.parametrize("path", TESTS, ids=name)
def test_no_stand_ins_for_our_own_code(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for forbidden in ("unittest" + ".mock", "Magic" + "Mock", "mocker" + ".", "monkeypatch" + ".setattr"):
        assert forbidden not in text


def test_the_samples_are_what_their_script_writes() -> None:
    spec = importlib.util.spec_from_file_location("make_samples", ROOT / "scripts" / "make_samples.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    wanted = module.samples()
    there = {str(p.relative_to(ROOT / "samples")): p.read_text("utf-8") for p in (ROOT / "samples").rglob("*.jsonl")}
    assert there == wanted
