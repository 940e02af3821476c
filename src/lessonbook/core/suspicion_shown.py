"""What a reader does not see, cannot read, or is led astray by: hidden text, encoded text, and links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lessonbook.core import unicode_ranges as ranges
from lessonbook.core.suspicion_text import LOOKALIKE_CYRILLIC, LOOKALIKE_GREEK, Code, compiled, decoded

_RTL = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
_BREAKING = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]"
_SEQUENCES = f"{ranges.VISIBLE_SEQUENCE}|([{ranges.HIDDEN}{ranges.SURROGATE}\u0085\u2028\u2029]+|\r(?!\n))"


@dataclass(frozen=True, slots=True)
class Find:
    """One sign in the text itself, from ``start`` to ``end``."""

    kind: str
    why: str
    start: int
    end: int


_HIDDEN = (
    ("[\u202a-\u202e\u2066-\u2069]", "Characters that reorder the text shown around them."),
    (f"[{ranges.CONTROL}\r]", "Control characters that a terminal obeys."),
    ("[\u0085\u2028\u2029]", "A line break that a diff does not show."),
    ("[\ufe00-\ufe0f\U000e0000-\U000e0fff]", "Invisible characters that can carry hidden text."),
)
_INVISIBLE = "Invisible characters inside the text."
_EXPLAINED = (
    ("[\u200b\u2060\ufeff]", _BREAKING, True),
    ("[\ufe00-\ufe0f]", r"[^\x00-\x7f\w]", False),
    ("[\ufe00-\ufe0f\U000e0100-\U000e01ef]", "[\u2e80-\u9fff\U00020000-\U0003ffff]", False),
    ("[\u180b-\u180f]", "[\u1800-\u18af]", False),
    ("\u2800+", "[\u2801-\u28ff]", True),
    ("[\u115f\u1160]", "[\u1100-\u11ff]", True),
)
"""Hidden characters that the writing beside them needs: which, beside what, and whether what follows counts too."""


STRETCH = 80
"""Characters of a line that one sign of a kind stands for: less than an excerpt shows."""


def hidden_characters(text: str) -> Iterator[Find]:
    """Yield where characters stand that a reader cannot see, unless the writing they stand in needs them."""
    if text.isascii() and not compiled(f"[{ranges.CONTROL}\r]").search(text):
        return
    shown = 0
    for run in compiled(_SEQUENCES).finditer(text):
        # One sign shows a stretch of its line, and with it whatever else is hidden there.
        if run[1] and run.start() >= shown and (why := _hidden_why(run, text)):
            yield Find("hidden", why, run.start(), run.end())
            line = text.find("\n", run.end(), run.end() + STRETCH)
            shown = run.end() + STRETCH if line < 0 else line


def _hidden_why(run: re.Match[str], text: str) -> str:
    """Return what a run of hidden characters is, in a sentence; ``""`` where it is harmless."""
    if _is_harmless(run, text):
        return ""
    if said := decoded(run[0]):
        return f"Invisible characters spell “{said[:80]}”."
    return next((why for inside, why in _HIDDEN if compiled(inside).search(run[0])), _INVISIBLE)


def _is_harmless(run: re.Match[str], text: str) -> bool:
    """Whether the writing around a run of hidden characters explains it."""
    signs, before, after = run[0], text[run.start() - 1 : run.start()], text[run.end() : run.end() + 1]
    if signs == "\x0c" or (signs == "\ufeff" and run.start() == 0):
        return True
    if compiled("[\u061c\u200c-\u200f]{1,2}").fullmatch(signs):
        return compiled(_RTL).search(text, max(0, run.start() - 40), run.end() + 40) is not None
    return any(
        compiled(inside).fullmatch(signs) and compiled(beside).search(before + after if both else before)
        for inside, beside, both in _EXPLAINED
    )


def mixed_words(text: str) -> Iterator[Find]:
    """Yield words in which letters of another script pass for Latin ones.

    A Latin word with a Cyrillic ending ("commitа") is how Russian inflects it: clean, and read as plain by the rules.
    """
    if text.isascii():
        return
    for word in compiled(r"[^\W\d_]{3,60}").finditer(text):
        if not word[0].isascii() and _is_mixed(word[0]):
            yield Find("hidden", "Letters of another script that look like Latin ones.", word.start(), word.end())


def _is_mixed(word: str) -> bool:
    latin = len(compiled("[A-Za-z]").findall(word))
    alike = len(compiled(f"[{LOOKALIKE_CYRILLIC}{LOOKALIKE_GREEK}]").findall(word))
    if latin < 2 or not alike or latin + alike != len(word) or (latin < 3 and alike > latin):
        return False
    return compiled(f"[{LOOKALIKE_CYRILLIC}{LOOKALIKE_GREEK}].*[A-Za-z]").search(word) is not None


_TOOL_COMMENT = (
    r"(?i)<!--\s{0,8}(?:[\w:./#-]{1,40}\s{0,8}-->"
    r"|(?:/|(?:end|begin|start)[ _-])?(?:markdownlint|prettier|eslint|toc|omit (?:in|from) toc|cspell|vale|textlint"
    r"|doctoc|spdx|copyright|all-contributors|begin|end|start|badges?|(?:end)?region|remark|lint|spell)\b"
    r"[\w\s:=,./@()*-]{0,60}-->)"
)
"""A word for a program: a linter, a generator, a marker. One word instructs nobody."""

_HIDING_STYLE = (
    r"(?:display\s{0,2}:\s{0,2}none|visibility\s{0,2}:\s{0,2}hidden|font-size\s{0,2}:\s{0,2}0|opacity\s{0,2}:\s{0,2}0(?![.\d]*[1-9])"
    r"|[^-\w]color\s{0,2}:\s{0,2}(?:white|transparent|#fff(?:fff)?)\b)"
)


_NOT_SHOWN = "the page does not show it, an agent reads it."
_MARKUP = (
    (f"A Markdown comment: {_NOT_SHOWN}", r"(?m)^ {0,3}\[[^\]\n]{1,40}\]:\s{0,2}(?:#|<>)\s{1,3}[(\"'][^\n]{1,2000}"),
    ("Text made invisible by its style.", rf"(?i)<[a-z][^<>\n]{{0,200}}\bstyle\s?=[^<>\n]{{0,200}}?{_HIDING_STYLE}"),
    (
        "Text made invisible by its colour.",
        r"(?i)<font[^<>\n]{1,80}color\s?=\s?[\"']?(?:white|#fff)|\\(?:text)?color\{white\}",
    ),
    (
        "Text made invisible by its markup.",
        r"(?i)<(?:p|div|span|section)\b[^<>\n]{0,80}\shidden(?:[\s=][^<>\n]{0,80})?>",
    ),
)


def hidden_markup(text: str, code: Code) -> Iterator[Find]:
    """Yield markup that keeps text from whoever reads the page and not from an agent, outside of code."""
    yield from _comments(text, code)
    for why, pattern in _MARKUP:
        for match in compiled(pattern).finditer(text):
            if not code.holds(match.start()):
                yield Find("hidden", why, match.start(), match.end())


_PUSHED = r"(?<=\S)[ \t]{160,}(?=[^\s|+])[^\n]{1,80}|(?<!\n)(?:\r?\n){40,}[ \t]{0,200}(?=\S)[^\n]{1,80}"


def _comments(text: str, code: Code) -> Iterator[Find]:
    """Yield the HTML comments; one that nothing closes runs to the end (CommonMark 4.6). In code none can open."""
    start = text.find("<!--")
    while start >= 0:
        end = start + 4
        if not code.holds(start):
            close = text.find("-->", start + 4)
            end = len(text) if close < 0 else close + 3
            inside = text[start + 4 : end].removesuffix("-->").strip()
            if inside and not compiled(_TOOL_COMMENT).fullmatch(text, start, end):
                yield Find("hidden", f"An HTML comment: {_NOT_SHOWN}", start, end)
        start = text.find("<!--", end)


def pushed_away(text: str) -> Iterator[Find]:
    """Yield text that blanks push out of sight: far to the right, or far below."""
    for match in compiled(_PUSHED).finditer(text):
        start = match.end() - len(match[0].lstrip())
        yield Find("hidden", "Text pushed out of sight by blanks.", start, match.end())


_HEX_CODES = "Text written as hex codes."
_ENCODED = (
    (
        "A data: address that carries its content inside.",
        r"(?i)\bdata:[a-z]{2,20}/[\w.+-]{1,60}(?:;[\w=-]{1,40}){0,3},[\w+/=%.~-]{32,}",
    ),
    (
        "A data: address that carries a page or a script.",
        r"(?i)\bdata:text/(?:html|javascript)[^\s,]{0,40},[^\s`)]{4,}",
    ),
    (
        "A long run of base64.",
        r"(?<![\w+/])(?<!base64,)(?:(?:[A-Za-z0-9+/]{60,100}\r?\n[ \t>]{0,8}){2,}[A-Za-z0-9+/]{2,100}={0,2}"
        r"|[A-Za-z0-9+/]{100,}={0,2}|[A-Za-z0-9_-]{120,}={0,2})",
    ),
    ("Text written as \\x codes.", r"(?:\\x[0-9a-fA-F]{2}){16,}"),
    ("Text written as \\u codes.", r"(?:\\u00[0-9a-fA-F]{2}){8,}"),
    ("Plain letters written as percent codes.", r"(?:%[2-7][0-9a-fA-F]){10,}"),
    ("Text written as character codes.", r"(?i)(?:&#x?[0-9a-f]{2,6};){6,}"),
    (_HEX_CODES, r"\b(?:(?:0x)?[0-9a-fA-F]{2}[ ,]{1,2}){24,}"),
    ("Words written in ROT13 or backwards.", r"(?i)\b(?:vafgehpgvbaf?|vtaber|cebzcg|snoitcurtsni|tpmorp)\b"),
    (
        "Decodes ROT13.",
        r"(?i)\btr\s{1,2}['\"]?\[?a-z(?:a-z)?\]?['\"]?\s{1,2}['\"]?\[?n-za-m|\bcodecs\.decode\([^\n]{0,80}rot[_-]?13",
    ),
)


def encoded(text: str) -> Iterator[Find]:
    """Yield long stretches that a person cannot read: base64, hex, codes for letters, data: addresses."""
    for why, pattern in _ENCODED:
        for match in compiled(pattern).finditer(text):
            reason = _blob_why(match, text) if why.endswith("base64.") else why
            if reason and (why != _HEX_CODES or compiled("[a-fA-Fx]").search(match[0])):
                yield Find("encoded", reason, match.start(), match.end())


def _blob_why(match: re.Match[str], text: str) -> str:
    """Return what a long run of base64 signs is; ``""`` for words, paths, lines and checksums."""
    blob = match[0]
    if compiled(r"(?i)(?:sha\d{3}|h1)[-:=]$").search(text[max(0, match.start() - 7) : match.start()]):
        return ""
    sample = blob[:400]
    if compiled(r"(?:[0-9a-fA-F]|\s)+").fullmatch(sample):
        return "A long run of hex digits." if len(blob) > 128 and len(set(sample)) > 6 else ""
    kinds = [compiled(kind).findall(sample) for kind in ("[A-Z]", "[a-z]", "[0-9]")]
    changes = len(compiled("[a-z][A-Z]|[A-Za-z][0-9]|[0-9][A-Za-z]|[A-Z][a-z]").findall(sample))
    if not all(len(kind) >= 3 for kind in kinds) or changes * 4 < len(sample):
        return ""
    return "A long run of base64."


_LINK_NAMES = (
    r"(?:env|secrets?|keys?|tokens?|history|conversation|chat|context|contents?|data|files?|session|user|prompts?|messages?|output"
    r"|responses?|answers?|summary|memory|code|password|credentials?|cookies?|payload)"
)
_HOLE = rf"(?:\{{\{{?|\$\{{?\(?|<|\[|%7b|\(){{1,2}}[\w .'-]{{0,30}}?{_LINK_NAMES}[\w .'-]{{0,30}}(?:\}}|\)|>|\]|%7d|\b)"
"""A place in an address that an agent is to fill: ``{conversation}``, ``$API_KEY``, ``<data>``."""

_QUERY = r"<?https?://[^\s)\"'>?]{1,200}\?[^\n)\"']{0,200}?"
_LINKS = (
    (
        "A link that runs a script.",
        r"(?i)\]\(\s{0,3}<?(?:javascript|vbscript):|\bhref\s?=\s?[\"']?\s{0,3}(?:javascript|vbscript):",
        True,
    ),
    (
        "An image address that carries data away when it is shown.",
        rf"(?i)(?:!\[[^\[\]\n]{{0,200}}\]\(|<img\b[^<>\n]{{0,100}}\bsrc\s?=\s?[\"']?){_QUERY}"
        rf"(?:(?<==){_HOLE}|(?<=[?&])(?:data|payload|exfil|leak|secret|env|history|conversation|content)=[^\s)&\"']"
        r"|=[\w%+/.-]{80})",
        False,
    ),
    (
        "A link that carries data away when it is followed.",
        rf"(?i)(?<!!)\[[^\[\]\n]{{0,200}}\]\({_QUERY}(?<==){_HOLE}",
        True,
    ),
    (
        "Markup that runs a script when it is shown.",
        r"(?i)<(?:script|iframe|object|embed)\b[^<>\n]{0,200}>"
        r"|<\w{1,20}\b[^<>\n]{0,200}\son(?:error|load|click|mouseover)\s?=",
        True,
    ),
)
_LINK_TEXT = (
    r"(?i)(?<!!)\[\s{0,2}(?:https?://)?(?:www\.)?((?:[a-z0-9-]{1,40}\.){1,4}[a-z]{2,10})(?:/[^\[\]\n]{0,200})?\]"
    r"\(<?https?://(?:[^/@\s)]{1,60}@)?(?:www\.)?([^/\s)>:?#]{1,100})"
)
_FILE_NAME = (
    r".*\.(?:md|py|[mc]?js|[jt]sx?|sh|rs|go|json|ya?ml|toml|txt|html?|css|rb|java|cpp|cfg|ini|lock|pdf|csv|vue|sql|xml)"
)


def links(text: str, code: Code) -> Iterator[Find]:
    """Yield links and images that run something, carry data, or go elsewhere than they say."""
    for why, pattern, outside in _LINKS:
        for match in compiled(pattern).finditer(text):
            if not (outside and code.holds(match.start())):
                yield Find("links", why, match.start(), match.end())
    for match in compiled(_LINK_TEXT).finditer(text):
        if not _same_site(match[1].lower(), match[2].lower()) and not code.holds(match.start()):
            why = f"A link that shows {match[1][:40]} and goes to {match[2][:40]}."
            yield Find("links", why, match.start(), match.end())


def _same_site(shown: str, real: str) -> bool:
    """Whether two hosts share their last two parts; a shown file name such as ``setup.py`` is no host."""
    if compiled(_FILE_NAME).fullmatch(shown):
        return True
    return shown.split(".")[-2:] == real.split(".")[-2:]
