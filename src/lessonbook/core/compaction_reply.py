"""What of an editor model's reply may become the next ``AGENTS.md``.

Contract §2.4. Whatever the model answers: it is refused, or what comes of it holds each paragraph a person wrote byte
for byte, once and in order, every fenced block, no secret, and fewer characters than before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lessonbook.core.compaction import OURS, Plan, length, scrubbed
from lessonbook.core.errors import ModelError
from lessonbook.core.paragraphs import fences, is_blank, lines_of, split

_MARKER = re.compile(r"\[kept (\d{1,6})\]")
_CONFLICT = re.compile(r"^(?:<{7}|>{7})(?: [^\r\n]*)?", re.MULTILINE)
_OUTER = re.compile(r"(`{3,}|~{3,})([\w-]*)[ \t]*\Z")
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
"""What some local models put before their answer."""
_TALK = re.compile(
    r"(?i)(?:sure|certainly|of course|okay|ok|here(?:'s|\u2019s| is| are)|below is|i(?:'ve| have))\b.*:\Z"
)


@dataclass(frozen=True, slots=True)
class Compacted:
    """A shorter file that may be proposed, and how old each rewritten line is (``line_key`` → epoch seconds)."""

    text: str
    times: Mapping[str, int]


def compacted(plan: Plan, reply: str, limit: int) -> Compacted:
    """Return the shorter file the reply comes to. Raises ``ModelError`` with the reason where it is refused."""
    pieces = list(_pieces(_body(plan, reply)))
    _check_kept(plan, pieces)
    texts = [_kept_text(plan, piece) if isinstance(piece, int) else _own_text(plan, piece) for piece in pieces]
    text = _laid(plan, pieces, texts)
    _check_fences(plan, pieces, text)
    _check_whole(plan, pieces, texts, text)
    if length(text) >= length(plan.before):
        raise _refused(f"it is {length(text):,} characters, no shorter than the {length(plan.before):,} there are")
    if length(text) > limit:
        raise _refused(f"it is {length(text):,} characters, past the {limit:,} a book allows")
    return Compacted(text, _times(plan, pieces, texts))


def line_key(line: str) -> str:
    """Return how a ``Lesson-times`` trailer names a line: ten hex digits, as the originals write and read them."""
    from hashlib import sha1

    return sha1(line.strip().encode("utf-8", "surrogateescape"), usedforsecurity=False).hexdigest()[:10]


def _refused(why: str) -> ModelError:
    return ModelError(f"the editor model's reply was refused and nothing was proposed: {why}")


def _body(plan: Plan, reply: str) -> str:
    """The file in the reply: between the tags it was asked for, or all of it; a fence around everything goes."""
    from lessonbook.core.clean import clean_body

    text = _THOUGHT.sub("", clean_body(reply))
    start, end = text.rfind("<rules>"), text.rfind("</rules>")
    if start > end:
        raise _refused("it stops before its end")
    tagged = start >= 0
    if tagged:
        text = text[start + len("<rules>") : end].strip("\n")
    text = _unfenced(plan, text)
    if not text.strip():
        raise _refused("it is empty")
    first = text.strip().partition("\n")[0]
    if not tagged and _TALK.match(first) and not any(first in shown for shown in plan.sent):
        raise _refused(f"it talks about the file ({scrubbed(first)[:60]!r})")
    return text


def _unfenced(plan: Plan, text: str) -> str:
    lines = text.strip().split("\n")
    opening = _OUTER.match(lines[0])
    if opening is None or len(lines) < 2 or _key(text) in _blocks(plan):
        return text
    run, info = opening.groups()
    closing = lines[-1].strip()
    if len(closing) < len(run) or closing.strip(run[0]):
        return text
    inner = "\n".join(lines[1:-1])
    # Where fences stand inside, the outer one looks closed by the first of them, and the last looks open.
    around = all(fences(lines)[1 : len(lines)]) or (fences(lines)[-1] and not fences(lines[1:-1])[-1])
    return inner if around or info in ("markdown", "md") else text


def _pieces(body: str) -> Iterator[int | str]:
    """The reply's paragraphs in order: a kept one's number, or the text of a rewritten one."""
    lines = lines_of(body)
    inside = fences(lines)
    if inside[-1]:
        raise _refused("a fenced block in it is never closed")
    held: list[str] = []
    for index, line in enumerate(lines):
        marker = _MARKER.fullmatch(line.strip())
        fenced = inside[index] or inside[index + 1]
        if fenced or not (is_blank(line) or marker):
            held.append(line)
            continue
        if held:
            yield "".join(held).rstrip("\n")
        held = []
        if marker:
            yield int(marker[1])
    if held:
        yield "".join(held).rstrip("\n")


def _check_kept(plan: Plan, pieces: Sequence[int | str]) -> None:
    said = [piece for piece in pieces if isinstance(piece, int)]
    wanted = list(range(1, len(plan.kept) + 1))
    for number in said:
        if number not in wanted:
            raise _refused(f"it names [kept {number}], which is not there")
        if said.count(number) > 1:
            raise _refused(f"it repeats [kept {number}], which a person wrote")
    inline = next((found for piece in pieces if isinstance(piece, str) and (found := OURS.search(piece))), None)
    if inline:
        raise _refused(f"it changes {inline[0]}, which stands alone on its line")
    for number in wanted:
        if number not in said:
            raise _refused(f"it drops [kept {number}], which a person wrote")
    if said != wanted:
        raise _refused("it moves a paragraph that a person wrote")
    _check_repeats(plan, pieces)


def _check_repeats(plan: Plan, pieces: Sequence[int | str]) -> None:
    own = {_key(plan.sent[place]) for place in plan.own}
    shown = {_key(plan.sent[place]): number for number, place in enumerate(plan.kept, 1)}
    for piece in pieces:
        if isinstance(piece, str) and _key(piece) in shown and _key(piece) not in own:
            raise _refused(f"it repeats the words of [kept {shown[_key(piece)]}], which a person wrote")


def _kept_text(plan: Plan, number: int) -> str:
    return _without_end(plan.paragraphs[plan.kept[number - 1]].paragraph.text)


def _own_text(plan: Plan, piece: str) -> str:
    """A rewritten paragraph as it goes into the file: scrubbed, and what was copied unchanged as it was in the file."""
    own = {_key(plan.sent[place]): plan.paragraphs[place].paragraph.text for place in plan.own}
    text = own.get(_key(piece))
    if text is None:
        text = _with_blocks(scrubbed(piece), _blocks(plan))
    else:
        text = _stored(text)
    return text.replace("\n", _end_of(plan.before))


def _stored(text: str) -> str:
    """What may be written again of a text the file held: as it was, but never a secret."""
    from lessonbook.core.redact import redact

    return redact(_without_end(text).replace("\r\n", "\n")).text


def _with_blocks(text: str, blocks: Mapping[str, str]) -> str:
    lines = lines_of(text)
    for start, end in reversed(_fenced(lines)):
        raw = blocks.get(_key("".join(lines[start:end])))
        if raw is not None:
            lines[start:end] = [raw + "\n"]
    return "".join(lines).rstrip("\n")


def _blocks(plan: Plan) -> dict[str, str]:
    """Each fenced block the model was shown, as it can be known again, and what the file holds for it."""
    found: dict[str, str] = {}
    for place in plan.own:
        sent = lines_of(plan.sent[place])
        raw = lines_of(_stored(plan.paragraphs[place].paragraph.text))
        for shown, held in zip(_fenced(sent), _fenced(raw), strict=False):
            found[_key("".join(sent[slice(*shown)]))] = "".join(raw[slice(*held)]).rstrip("\n")
    return found


def _fenced(lines: Sequence[str]) -> list[tuple[int, int]]:
    """The fenced blocks as first line and the line after the last."""
    inside, found, start = fences(lines), list[tuple[int, int]](), 0
    for index in range(len(lines)):
        if inside[index + 1] and not inside[index]:
            start = index
        elif inside[index] and not inside[index + 1]:
            found.append((start, index + 1))
    return [*found, (start, len(lines))] if lines and inside[-1] else found


def _key(text: str) -> str:
    """What makes two copies of a text the same: all but the ends of its lines and blanks around it."""
    return "\n".join(line.rstrip() for line in text.strip().split("\n"))


def _end_of(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _without_end(text: str) -> str:
    return text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text


def _laid(plan: Plan, pieces: Sequence[int | str], texts: Sequence[str]) -> str:
    """The file: one blank line between paragraphs, but a person's own spacing between two of theirs."""
    end = _end_of(plan.before)
    parts = []
    for at, (piece, text) in enumerate(zip(pieces, texts, strict=True)):
        follows = pieces[at + 1] if at + 1 < len(pieces) else None
        gap = _gap(plan, piece, follows)
        parts += [text, (end if follows is None else end + end) if gap is None else gap]
    return "".join(parts)


def _gap(plan: Plan, piece: int | str, follows: int | str | None) -> str | None:
    """What a person put after one kept paragraph, where what follows it is what followed it before."""
    if not isinstance(piece, int):
        return None
    place = plan.kept[piece - 1]
    after = plan.kept[follows - 1] if isinstance(follows, int) else len(plan.paragraphs) if follows is None else None
    if after != place + 1:
        return None
    paragraph = plan.paragraphs[place].paragraph
    return paragraph.text[len(_without_end(paragraph.text)) :] + paragraph.after


def _check_fences(plan: Plan, pieces: Sequence[int | str], text: str) -> None:
    lines = lines_of(text.replace("\r\n", "\n"))
    held = {_key("".join(lines[start:end])) for start, end in _fenced(lines)}
    blocks = _blocks(plan)
    for raw in blocks.values():
        if _key(raw) not in held:
            raise _refused(f"it drops or changes the fenced block that starts {_first_line(raw)!r}")
    for piece in pieces:
        own = lines_of(piece) if isinstance(piece, str) else []
        for start, end in _fenced(own):
            if _key("".join(own[start:end])) not in blocks:
                raise _refused(f"it adds a fenced block that starts {scrubbed(own[start].strip())[:60]!r}")


def _first_line(block: str) -> str:
    """The first line of code in it, by which a person knows it."""
    lines = block.split("\n")
    return next((line for line in lines[1:-1] if line.strip()), lines[0]).strip()[:60]


def _check_whole(plan: Plan, pieces: Sequence[int | str], texts: Sequence[str], text: str) -> None:
    """The file must fall into the very paragraphs it was put together from: none may swallow or break another."""
    from lessonbook.core.redact import redact

    found = [_without_end(part.text) for part in split(text) if part.text]
    if found != list(texts):
        raise _refused("its paragraphs would run into those that a person wrote")
    own = [text for piece, text in zip(pieces, texts, strict=True) if isinstance(piece, str)]
    there = set(_CONFLICT.findall(plan.before))  # a lesson may be about them
    if any(line not in there for text in own for line in _CONFLICT.findall(text)):
        raise _refused("it holds conflict markers")
    if redact("\n\n".join(own)).count:
        raise _refused("it holds what looks like a secret")


def _times(plan: Plan, pieces: Sequence[int | str], texts: Sequence[str]) -> dict[str, int]:
    sources = [(_words(plan.sent[place]), plan.paragraphs[place].at) for place in plan.own]
    same = {_key(plan.sent[place]): plan.paragraphs[place].at for place in plan.own}
    times: dict[str, int] = {}
    for piece, text in zip(pieces, texts, strict=True):
        if isinstance(piece, str):
            at = same.get(_key(piece)) or _source_time(_words(piece), sources)
            for line in text.split("\n"):
                if line.strip():
                    times[line_key(line)] = max(at, times.get(line_key(line), 0))
    return times


def _source_time(words: frozenset[str], sources: Sequence[tuple[frozenset[str], int]]) -> int:
    """The newest of the sources that share half of the words of the shorter one; where none does, the newest of all."""
    near = [at for theirs, at in sources if 2 * len(words & theirs) >= max(1, min(len(words), len(theirs)))]
    return max(near or [at for _, at in sources])


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w{3,}", text.casefold()))
