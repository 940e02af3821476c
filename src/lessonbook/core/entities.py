"""Finds what a text names, without a model: files, commands, packages, tools, errors, versions and the like.

Each kind is a module with ``find(page)``; adding one is a module and its place in ``FINDERS``. Two kinds never take the
same characters: the finder that stands first wins, except that a command may hold others (``pnpm`` in
``pnpm install``). The rules are for English text and the names of programs; they cost time linear in the text's length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from lessonbook.core import (
    entity_branches,
    entity_commands,
    entity_errors,
    entity_names,
    entity_network,
    entity_packages,
    entity_paths,
    entity_settings,
    entity_tools,
    entity_versions,
)
from lessonbook.core.entity import Entity, Kind, Page, Secrets, page_of

__all__ = ["MOST", "Entity", "Kind", "entities"]

MOST = 500
"""Entities of one text, at most: the first of each kind and key, in the order of the text."""

HOLDING = frozenset({Kind.COMMAND, Kind.TOOL})
"""The kinds that other entities may stand in."""

FINDERS: tuple[Callable[[Page], Iterator[Entity]], ...] = (
    entity_network.find,
    entity_commands.find,
    entity_packages.find,
    entity_errors.find,
    entity_branches.find,
    entity_paths.find,
    entity_versions.find,
    entity_settings.find,
    entity_names.find,
    entity_tools.find,
)


def entities(text: str) -> tuple[Entity, ...]:
    """Return what ``text`` names, each thing once, where it first stands; at most ``MOST``. Never raises.

    Plain sentences and Markdown are read alike; of fenced blocks only a shell's. Nothing that is a secret is named.
    """
    page = page_of(text)
    taken = bytearray(len(text))
    found: dict[tuple[Kind, str, str], Entity] = {}
    for find in FINDERS:
        for entity in find(page):
            name = (entity.kind, entity.key, entity.of)
            known = found.get(name)
            if (known and known.start <= entity.start) or taken.find(1, entity.start, entity.end) >= 0:
                continue
            found[name] = entity
            if entity.kind not in HOLDING:
                taken[entity.start : entity.end] = b"\1" * (entity.end - entity.start)
        if find is entity_network.find:
            for start, end in entity_network.addresses(page.text):
                taken[start:end] = b"\1" * (end - start)
    ordered = sorted(found.values(), key=lambda entity: (entity.start, entity.end, entity.kind))
    secrets = Secrets(text)
    return tuple(islice((entity for entity in ordered if not secrets.hold(entity.start, entity.end)), MOST))
