"""What a rule is, and the keys that are known by their shape.

Every pattern is linear: a start is cheap to refuse (a literal, or the first character of a run), and what follows is
one greedy run per class with nothing required behind it, or a run of bounded length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from lessonbook.core.redact_values import has_secret_part, is_jumbled, is_placeholder

LABEL = "[REDACTED]"
"""What stands where a secret stood."""

Judge = Callable[[re.Match[str]], bool]


@dataclass(frozen=True, slots=True)
class Span:
    """A find: ``start`` where its context begins, ``secret`` to ``end`` what is replaced by ``label``."""

    start: int
    secret: int
    end: int
    label: str = LABEL


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to recognise something. ``needles`` (lower case): one of them is in every text it can match.

    The group ``s`` (``s2``, ``s3`` in other branches) is what goes, or the whole match; ``judge`` can say no.
    """

    needles: tuple[str, ...]
    pattern: str
    judge: Judge | None = None
    label: str = LABEL


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return the compiled pattern; compiled when first needed, since most texts need none."""
    return re.compile(pattern)


def spans(rule: Rule, text: str) -> Iterator[Span]:
    """Yield where ``rule`` finds something in ``text``."""
    for match in compiled(rule.pattern).finditer(text):
        if rule.judge is None or rule.judge(match):
            start, end = match.span(secret_group(match))
            # A full stop or colon that ends a sentence is not the secret's.
            end = start + len(text[start:end].rstrip(".:")) if rule.label == LABEL else end
            yield Span(match.start(), start, end, rule.label)


def secret_group(match: re.Match[str]) -> str | int:
    """Return the group that holds the secret, ``0`` where all of the match is it."""
    return next((name for name in ("s", "s2", "s3") if match.groupdict().get(name) is not None), 0)


def _not_shown_only(match: re.Match[str]) -> bool:
    return has_secret_part(match[0]) or re.search(r"(?i)x{6}|your|key|here|\.\.\.", match[0]) is None


def _secret_part(match: re.Match[str]) -> bool:
    return has_secret_part(match[0]) and not is_placeholder(match[0].split("-", 1)[-1])


def _long_or_secret_part(match: re.Match[str]) -> bool:
    parts = re.split("[-_]", match[0])
    return has_secret_part(match[0]) or any(len(part) >= 20 and "x" * 8 not in part for part in parts)


def _jumbled(match: re.Match[str]) -> bool:
    return is_jumbled(match[secret_group(match)])


def _web_token(match: re.Match[str]) -> bool:
    parts = match[0].split(".")
    return "eyJ" in parts[0] and len(parts[0]) >= 12 and sum(map(len, parts[1:])) >= 12


_B = "(?<![A-Za-z0-9])"
_W = "[A-Za-z0-9_-]"


def _prefixed(prefix: str, run: str, judge: Judge | None = None, *, needle: str = "") -> Rule:
    """Return the rule for a key that starts with a literal and goes on as one run."""
    edge = _B if len(prefix) > 3 else f"(?<!{_W})"
    return Rule((needle or prefix.lower(),), f"{edge}{prefix}{run}", judge)


_PEM_DASHES = "-{4,5} ?"
_PEM = (
    f"(?:{_PEM_DASHES})?BEGIN [A-Z0-9 ]{{0,40}}PRIVATE KEY(?: BLOCK)?(?: ?-{{4,5}})?"
    rf"(?:(?:(?!----|BEGIN )[\s\S])*+{_PEM_DASHES}END [A-Z0-9 ]{{0,40}}PRIVATE KEY(?: BLOCK)?(?: ?-{{4,5}})?"
    r"|(?:(?:\\n|\s){0,4}[A-Z][A-Za-z-]{2,20}: ?[^\s\\]{1,80}){0,4}"
    r"""(?:(?:\\+[nr]|[\s"',+|>])*+[A-Za-z0-9+/=]{12,}+)++)"""
)

SHAPE_RULES = (
    Rule(("private key",), _PEM),
    Rule(("eyj",), rf"(?<!{_W}){_W}{{12,}}+(?:\.{_W}*+){{1,4}}+", _web_token),
    # OpenAI, Anthropic, OpenRouter and all who followed them.
    Rule(("sk-",), rf"{_B}sk-(?:proj|svcacct|admin|ant|or)-{_W}{{16,}}", _not_shown_only),
    Rule(("sk-", "sk_"), rf"{_B}(?:sk-|[hc]sk[-_]){_W}{{12,}}", _long_or_secret_part),
    Rule(("m0-",), rf"{_B}m0-{_W}{{16,}}", _long_or_secret_part),
    # The words the first `learn` tool redacts, followed by a run: `token_…`, `key-…`, `sk_…`.
    Rule(
        ("password", "secret", "token", "key", "tok", "sk", "pk", "rk"),
        rf"(?i:{_B}(?:password|secret|token|key|tok|sk|pk|rk))[-_](?=[A-Za-z0-9]){_W}{{12,}}",
        lambda match: any(is_jumbled(part) for part in re.split("[-_]", match[0])),
    ),
    # Source hosting.
    Rule(("ghp_", "gho_", "ghs_", "ghr_", "ghu_"), rf"{_B}gh[oprsu]_[A-Za-z0-9]{{16,}}[A-Za-z0-9_.-]*"),
    _prefixed("github_pat_", "[A-Za-z0-9_]{16,}"),
    Rule(
        ("gl",),
        rf"{_B}gl(?:pat|oas|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|ffct|wt)-{_W}{{16,}}[\w.-]*",
    ),
    _prefixed("GR1348941", f"{_W}{{16,}}"),
    Rule(("atatt3", "atctt3", "atbb"), rf"{_B}AT(?:ATT3|CTT3|BB)[A-Za-z0-9_=+-]{{20,}}"),
    # Clouds.
    Rule(
        ("akia", "asia", "abia", "acca"),
        rf"{_B}A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{{16,}}(?:[\s:,;|\"'/]{{1,5}}[A-Za-z0-9/+]{{40}}(?![A-Za-z0-9/+=]))?",
    ),
    _prefixed("ABSK", "[A-Za-z0-9+/]{60,}={0,2}"),
    _prefixed("bedrock-api-key-", "[A-Za-z0-9+/=]{20,}"),
    _prefixed("AIza", f"{_W}{{30,}}"),
    _prefixed(r"ya29\.", f"{_W}{{16,}}[\\w.-]*", needle="ya29."),
    _prefixed("GOCSPX-", f"{_W}{{16,}}"),
    _prefixed("1//0", f"{_W}{{30,}}", needle="1//0"),
    _prefixed(r"AQ\.", f"{_W}{{30,}}", _jumbled, needle="aq."),
    Rule(("8q~",), r"(?<![\w~.-])[\w.-]{3}8Q~[\w~.-]{31,}"),
    Rule(("dop_v1", "doo_v1", "dor_v1", "dot_v1"), rf"{_B}do[oprt]_v1_[a-f0-9]{{32,}}"),
    Rule(("dapi",), rf"{_B}dapi[a-f0-9]{{32,}}(?:-\d)?"),
    Rule(("hvs.", "hvb.", "hvr."), rf"{_B}hv[sbr]\.{_W}{{20,}}"),
    Rule((".atlasv1.",), rf"{_B}[A-Za-z0-9]{{14}}\.atlasv1\.{_W}{{40,}}"),
    _prefixed("tskey-", f"{_W}{{16,}}"),
    Rule(("dp.",), rf"{_B}dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9.]{{20,}}", _secret_part),
    Rule(("fm1_", "fm2_", "fo1_"), rf"{_B}f(?:m1|m2|o1)_[A-Za-z0-9+/=_-]{{30,}}"),
    # Chat, mail and payment.
    Rule(("xox",), rf"{_B}xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{{10,}}"),
    Rule(("xapp-",), rf"{_B}xapp-\d-[A-Za-z0-9-]{{16,}}"),
    Rule(("hooks.slack.com",), r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<s>[A-Za-z0-9_+/-]{16,})"),
    Rule(("/webhooks/",), rf"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/(?P<s>\d{{6,}}/{_W}{{20,}})"),
    Rule((":aa",), rf"(?<![\w-])\d{{8,10}}:AA{_W}{{30,}}"),
    Rule(
        ("_live_", "_test_", "_org_"), rf"{_B}[a-z]{{2,6}}_(?:live|test|org)_[A-Za-z0-9]{{16,}}[A-Za-z0-9_]*", _jumbled
    ),
    _prefixed("whsec_", "[A-Za-z0-9+/]{16,}={0,2}"),
    Rule(("sk",), rf"{_B}SK[0-9a-f]{{32}}(?![0-9a-f])"),
    Rule(("sg.",), rf"{_B}SG\.{_W}{{16,}}\.{_W}{{16,}}"),
    Rule(("-us",), rf"{_B}[0-9a-f]{{32}}-us\d{{1,2}}(?![A-Za-z0-9])"),
    Rule(("sq0",), rf"{_B}sq0(?:atp|csp|idp)-{_W}{{16,}}"),
    Rule(("shp",), rf"{_B}shp(?:at|ss|ca|pa)_[a-fA-F0-9]{{32,}}"),
    # Package registries and build services.
    _prefixed("npm_", "[A-Za-z0-9]{30,}"),
    _prefixed("pypi-", f"{_W}{{32,}}", lambda m: m[0].startswith("pypi-AgE") or _secret_part(m)),
    Rule(("dckr_",), rf"{_B}dckr_[po]at_{_W}{{16,}}"),
    _prefixed("rubygems_", "[a-f0-9]{32,}"),
    _prefixed("pul-", "[a-f0-9]{32,}"),
    Rule(("cio",), rf"{_B}cio[A-Za-z0-9]{{32}}(?![A-Za-z0-9])", _jumbled),
    # Models.
    _prefixed("hf_", "[A-Za-z0-9]{20,}", lambda m: is_jumbled(m[0][3:])),
    _prefixed("gsk_", "[A-Za-z0-9]{20,}"),
    _prefixed("xai-", "[A-Za-z0-9]{20,}"),
    _prefixed("pplx-", "[A-Za-z0-9]{20,}"),
    _prefixed("r8_", "[A-Za-z0-9]{20,}"),
    _prefixed("nvapi-", f"{_W}{{20,}}"),
    _prefixed("tvly-", f"{_W}{{16,}}", _secret_part),
    _prefixed("fc-", "[a-f0-9]{32,}"),
    _prefixed("pa-", f"{_W}{{40,}}", _secret_part),
    _prefixed("jina_", f"{_W}{{30,}}"),
    _prefixed("lsv2_", r"(?:pt|sk)_[a-f0-9_]{32,}"),
    _prefixed("e2b_", "[a-f0-9]{32,}"),
    _prefixed("fw_", "[A-Za-z0-9]{20,}", lambda m: is_jumbled(m[0][3:])),
    # Everything else that announces itself.
    _prefixed("AGE-SECRET-KEY-1", "[A-Z0-9]{40,}"),
    _prefixed("lin_api_", "[A-Za-z0-9]{30,}"),
    _prefixed("ntn_", "[A-Za-z0-9]{30,}"),
    _prefixed("figd_", f"{_W}{{30,}}"),
    Rule(("glc_eyj", "ops_eyj"), rf"{_B}(?:glc|ops)_eyJ[A-Za-z0-9+/=_-]{{30,}}"),
    _prefixed("glsa_", "[A-Za-z0-9_]{30,}"),
    Rule(("sntrys_", "sntryu_"), rf"{_B}sntry[su]_[A-Za-z0-9+/=_-]{{30,}}"),
    _prefixed("nfp_", "[A-Za-z0-9]{30,}"),
    Rule(("sbp_", "sb_secret_"), rf"{_B}(?:sbp|sb_secret)_[A-Za-z0-9_]{{20,}}"),
    Rule(("pscale_",), rf"{_B}pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{{30,}}"),
    Rule(("phx_", "phs_"), rf"{_B}ph[xs]_[A-Za-z0-9]{{30,}}"),
    _prefixed("rnd_", "[A-Za-z0-9]{20,}", _jumbled),
    _prefixed("re_", "[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}", _jumbled),
    Rule(("cfpat-", "pmak-", "nrak-"), rf"{_B}(?:CFPAT|PMAK|NRAK)-{_W}{{20,}}"),
)
