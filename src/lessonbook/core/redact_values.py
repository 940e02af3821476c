"""Tell a secret from an ordinary word: what is put where a secret could stand, and what only looks like one."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

_WORDS_WITH_DIGITS = (
    r"(?<![a-z0-9])(?:base(?:16|32|58|62|64)|sha-?\d+|utf-?\d+|oauth2?|md5|rsa\d*|aes\d*|ed25519|[hrep]s(?:256|384|512)"
    r"|iso\d+|k8s|i18n|l10n|x509|p256|http2?|ipv[46]|s3|ec2|web3|v\d+|mp[34]|e2e|x86|x64|arm64|amd64|win32|int\d+"
    r"|float\d+)"
)
_PLACEHOLDER = (
    r"(?i)[\W_]*(?:x{3,}|your|my[-_ ]|insert|put[-_ ]|enter[-_ ]|change[-_ ]?(?:me|this|it)|replace|placeholder"
    r"|redacted|example[-_ ]|<|\[|\.{3}|…|\*{3})|[\w-]*[x*.]{6,}\W*\Z|.*[-_]here\W*\Z"
)
_REFERENCE = r"\$[A-Za-z_{(]|\$\$|%[A-Za-z_]\w*%|%[sdr]|@[A-Za-z]\w*$|\{|!\w+|&\w|[a-z]+://|\\\("
_DOTTED = r"[A-Za-z_$][\w$]*\??(?:(?:\.|::|->|:)[A-Za-z_$][\w$]*[!?]?)+"
_UUID = r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_VERSION = r"[v^~<>=]*\d+(?:\.(?:\d+|[x*]))+(?:[-+.][\w.-]*)?"


@cache
def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def is_placeholder(value: str) -> bool:
    """Whether a value only shows where a secret goes: ``your-key``, ``xxxx``, ``changeme``, ``…``."""
    return _re(_PLACEHOLDER).match(value[:200]) is not None


def is_reference(value: str) -> bool:
    """Whether an unquoted value names a secret kept elsewhere: ``$TOKEN``, ``process.env.KEY``, ``./secrets/db``."""
    if _re(_REFERENCE).match(value) or _re(_VERSION).fullmatch(value):
        return True
    named = _re(_DOTTED).fullmatch(value) or _re(r"(?:\.{0,2}|~)/").match(value)
    return named is not None and not has_secret_part(value)


def is_uuid(value: str) -> bool:
    """Whether the value is a UUID, which names far more sessions and rows than secrets."""
    return _re(_UUID).fullmatch(value) is not None


def is_jumbled(part: str) -> bool:
    """Whether one run of letters and digits looks drawn at random: 12 characters that mix both, or 16 of one kind."""
    part = part.strip("-_=")
    if part.isdigit():
        return len(part) >= 16
    known = _re(_WORDS_WITH_DIGITS).sub("", part.lower())
    digits, letters = _kinds(known)
    if len(part) >= 12 and digits and letters >= 2:
        return digits >= 4 or _changes(known) >= 3
    return len(part) >= 16 and _unspeakable(part)


def has_secret_part(value: str) -> bool:
    """Whether a part of ``value`` between separators is jumbled."""
    return any(is_jumbled(part) for part in re.split("[-_.:/+]", value))


def is_credential(value: str) -> bool:
    """Whether a value after a word such as ``token`` or ``api_key`` looks like one, and not like a name."""
    if has_secret_part(value) or is_uuid(value):
        return True
    if len(value) >= 16 and value.isalpha() and (value.islower() or value.isupper()):
        return not value.lower().startswith("xxxx")
    digits, letters = _kinds(_re(_WORDS_WITH_DIGITS).sub("", value.lower()))
    if digits and letters and _re(r"[!@#$%^*+?~]").search(value):
        return len(value) >= 8
    if len(value) >= 20 and digits and _re(r"[\w+/=-]*[a-z][A-Z][\w+/=-]*").fullmatch(value):
        return True
    longest = max(map(len, re.split(r"[-_.:/]", value)))
    mixed = (digits >= 2 and letters >= 3 and longest >= 8) or (digits >= 4 and len(value) >= 16)
    return len(value) >= 8 and mixed


def is_password(value: str) -> bool:
    """Whether a value after the word ``password`` is one: people choose them, so words with a digit or sign count."""
    if len(value) < 6:
        return False
    if value.isdigit():
        return True
    digits, letters = _kinds(value)
    if digits and letters:
        return True
    if letters and _re(r"[A-Za-z0-9][!@#$%^*+?~]+[A-Za-z0-9]|[A-Za-z]{4}[!#$%^*]+$").search(value):
        return True
    return len(value) >= 16 and value.isalpha() and value.islower()


def _kinds(text: str) -> tuple[int, int]:
    return sum(map(str.isdigit, text)), sum(map(str.isalpha, text))


def _changes(text: str) -> int:
    """Return how often letters and digits take turns."""
    return sum(a.isdigit() != b.isdigit() for a, b in pairwise(text))


def _unspeakable(part: str) -> bool:
    """Whether a run of letters is no word: six consonants on end, or single small letters between capitals."""
    if _re("(?!x{6})[bcdfghjklmnpqrstvwxz]{6}").search(part.lower()):
        return True
    return len(_re("(?<=[A-Z])[a-z](?=[A-Z])").findall(part)) >= 3
