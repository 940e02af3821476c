"""``lessonbook config``: reads and changes the few settings there are."""

from __future__ import annotations

import argparse

from lessonbook.core.errors import InputError
from lessonbook.hosts.cli.output import Out

EXAMPLES = """
  lessonbook config                                every setting and its value
  lessonbook config get memory.backend
  lessonbook config set memory.backend mnemopi     keep lessons in one SQLite file
  lessonbook config set autolearn.enabled true     offer agents the learn tool"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``config``."""
    parser.add_argument(
        "do", nargs="?", choices=["list", "get", "set"], default="list", help="what to do (default: list)"
    )
    key = parser.add_argument("key", nargs="?", metavar="KEY", help="the setting, such as memory.backend")
    value = parser.add_argument("value", nargs="?", metavar="VALUE", help="its new value, for set")
    key.completer = _keys  # type: ignore[attr-defined]  # where argcomplete looks for it
    value.completer = _values  # type: ignore[attr-defined]  # where argcomplete looks for it


def _keys(**_: object) -> list[str]:
    """The settings a shell completes."""
    from lessonbook.actions.config import ABOUT

    return list(ABOUT)


def _values(parsed_args: argparse.Namespace, **_: object) -> list[str]:
    """What a shell completes behind a setting that has only a few values."""
    from lessonbook.actions.config import values

    return values(parsed_args.key)


def run(args: argparse.Namespace, out: Out) -> int:
    """List, read or change settings."""
    from lessonbook.actions import config
    from lessonbook.system.settings import places

    where = places()
    if args.do == "list":
        if args.key:
            raise InputError(f"To read one setting say `lessonbook config get {args.key}`.")
        found = config.listed(where)
        document = {"ok": True, "file": str(where.config_file), "settings": {item.key: item.value for item in found}}
        rows = [[item.key, config.shown(item.value), "" if item.is_set else "default", item.about] for item in found]
        out.table(document, ["setting", "value", "", "what it does"], rows, "")
        return 0
    if not args.key or (args.do == "set") != (args.value is not None):
        raise InputError(f"Say `lessonbook config {args.do} KEY{' VALUE' if args.do == 'set' else ''}`.")
    if args.do == "get":
        item = config.get(where, args.key)
        out.result({"ok": True, "key": item.key, "value": item.value}, config.shown(item.value))
        return 0
    item = config.change(where, args.key, args.value)
    document = {"ok": True, "key": item.key, "value": item.value, "file": str(where.config_file)}
    if note := config.note(where, item):
        document |= {"note": note}
        if not out.json:
            out.note(f"lessonbook: {note}")
    out.result(document, f"{item.key} = {config.shown(item.value)}   in {where.config_file}")
    return 0
