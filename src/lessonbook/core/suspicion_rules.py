r"""The words that are signs of poisoning: instructions to an agent that a lesson or skill has no reason to give.

Every pattern is read on ``suspicion_text.plain``: lower case, without hidden characters and look-alike letters. Each is
linear: a start is cheap to refuse, and what may stand between two words of a pattern is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from lessonbook.core.suspicion_text import compiled

Judge = Callable[[re.Match[str]], bool]


@dataclass(frozen=True, slots=True)
class Rule:
    """One sign that can be named. ``needles``: one of them is in every text the pattern can match.

    ``judge`` can say no to a match. ``advice``: nothing is marked where the words before forbid it ("never …").
    """

    kind: str
    why: str
    needles: tuple[str, ...]
    pattern: str
    judge: Judge | None = None
    advice: bool = True

    def finds(self, match: re.Match[str]) -> bool:
        """Whether a match of the pattern is the sign."""
        return not (self.advice and is_advice(match)) and (self.judge is None or self.judge(match))


W = r"[\s*_`'\"~>]{1,8}"
"""What stands between two words: white space, a line's end and its quote mark, emphasis."""

_NOT = (
    r"(?:\b(?:never|not|cannot|avoid|refuse to|without|instead of|rather than|prohibited|forbidden)|n't)"
    rf"(?:{W}(?:ever|also|just|simply|let|try to|allow|use|using|run|running|pass|passing|add|execute|suggest|recommend"
    r"|pipe|do|it|this|them|with|the|a|an|any|commands?|like|flags?|such as|to)){0,4}[\s*_`'\"~>(:]{0,8}\Z"
)

_NOT_EITHER = rf"(?:\b(?:never|not|cannot)|n't)\b(?:(?![,;:!?]|\.\s|\b(?:and|but|then)\b)[\s\S]){{1,60}}\bor{W}\Z"


def is_advice(match: re.Match[str]) -> bool:
    """Whether the words directly before a match forbid what it says."""
    start = match.start()
    before = match.string[max(0, start - 80) : start]
    return compiled(_NOT).search(before) is not None or compiled(_NOT_EITHER).search(before) is not None


def holds(pattern: str) -> Judge:
    """Return a judge that says yes where ``pattern`` is found inside the match."""
    return lambda match: compiled(pattern).search(match[0]) is not None


_PAST = "previous|prior|preceding|earlier|above|foregoing|former|original|initial"
_ORDERS = r"(?:instructions?|directives?|guardrails?|safeguards?)\b"
_RULES = r"(?:(?:rule|guideline|constraint|restriction|prompt)s?|polic(?:y|ies)|training|programming)\b"
_OWN = f"your|system|developer|safety|security|{_PAST}"
_MORE = f"all|any|every|my|these|those|its|their|other|existing|users?|user's|project|{_OWN}"
_MARKED = r"(?:system[\s-]prompts?|system[\s-]messages?|(?:agents|claude|gemini)\.md(?!\W{1,3}files?))\b"
_DROP = (
    r"\b(?:ignore|disregard|forget|bypass|overrule|discard|circumvent|override|(?:do not|don't|never) (?:follow|obey)"
    r"|stop (?:following|obeying))"
)
_PERSON = r"(?:the |your |any )?(?:user|human|operator|developer|owner|reviewer|maintainer|person|anyone|anybody)s?\b"
_DROPS = "Tells the agent to drop the instructions it was given."


def _guarded(match: re.Match[str]) -> bool:
    """Whether "without telling the user" stands in a sentence that forbids it."""
    if not match[0].startswith("without"):
        return False
    before = match.string[max(0, match.start() - 160) : match.start()]
    sentence = re.split(r"[.!?;]\s|\n\s{0,8}[-*\n]", before)[-1]
    return re.search(r"\b(?:never|not|no|avoid|cannot)\b|n't\b", sentence) is not None


_OVERRIDE = (
    (
        _DROPS,
        ("ignor", "disregard", "forget", "bypass", "overrul", "discard", "circumvent", "overrid", "follow", "obey"),
        rf"{_DROP}{W}(?:(?:the|of){W}){{0,2}}(?:{_MORE}){W}(?:(?:{_MORE}|the|of){W}){{0,5}}{_ORDERS}"
        rf"|{_DROP}{W}(?:(?:all|any|every|the|of){W}){{0,3}}(?:{_OWN}){W}(?:(?:{_MORE}|the|of){W}){{0,3}}{_RULES}"
        rf"|{_DROP}{W}(?:(?:all|any|the|your|of|every){W}){{0,3}}{_MARKED}"
        rf"|{_DROP}{W}(?:everything|anything|all|what){W}"
        rf"(?:(?:that|you|were|was|i|told|have|been|is|said){W}){{0,5}}(?:above|before|previously|told|earlier)\b",
        None,
    ),
    (
        _DROPS,
        ("ignor", "olvida", "oublie", "忽略", "无视"),
        r"\bignorier\w{0,3} [^.\n]{0,30}(?:vorherigen|bisherigen|obigen|vorigen)[^.\n]{0,20}anweisungen"
        r"|\b(?:ignore[rz]?|oubliez?) [^.\n]{0,30}(?:instructions|consignes|règles) (?:précédentes|antérieures)"
        r"|\b(?:ignora|olvida) [^.\n]{0,30}(?:instrucciones|reglas|istruzioni) (?:anteriores|previas|precedenti)"
        r"|(?:忽略|无视)[^。\n]{0,12}(?:指令|指示|规则|提示)",
        None,
    ),
    (
        _DROPS,
        ("your new ", "as if ", "void", "no longer", "cancel", "obsolete", "revoked"),
        rf"\byour new{W}(?:instructions|rules|role|identity|directives?){W}(?:are|is)\b"
        rf"|\bas if{W}(?:you{W}(?:had|have)|there{W}(?:were|are)){W}no{W}"
        rf"(?:restrictions|rules|limits|guidelines|filters)\b"
        rf"|\b(?:{_PAST}){W}(?:instructions|rules|guidance|directives){W}(?:are|is){W}(?:now{W})?"
        r"(?:void|no longer|cancell?ed|obsolete|revoked)\b",
        None,
    ),
    (
        "Gives the agent another identity or mode.",
        ("you are n",),
        rf"\byou are now{W}(?:(?:a|an|the|in|my){W})?(?:(?!to\b|ready\b)[\w-]{{1,20}}{W}){{0,4}}"
        r"(?:dan|unrestricted|jailbroken|unfiltered|agent|assistant|ai|persona|root|free (?:from|of)|no longer|mode)\b"
        rf"|\byou are no longer{W}(?:bound|restricted|limited|required|subject|an? (?:ai|assistant)|claude)\b",
        lambda match: re.search(r"\b(?:plan|read-only|draft|normal)\W+mode\Z", match[0]) is None,
    ),
    (
        "Imitates a system message or the end of one.",
        ("<|im_", "<|system", "<<sys", "[/inst]", "system-reminder>", "</system", "system:"),
        r"<\|im_(?:start|end)\|>|<\|system\|>|<</?sys>>|\[/inst\]|</?system-reminder>|</system(?:-prompt|_prompt)?>"
        r"|(?:>|\]|\A|\n)[ \t#*]{0,6}system:[* ]{0,4}(?:new |you |from |ignore|override|the (?:user|agent|assistant))",
        None,
    ),
    (
        "Tells the agent to keep something from the person.",
        ("tell", "inform", "mention", "notif", "alert", "warn", "reveal", "disclos", "hide", "keep", "conceal"),
        rf"(?:\b(?:do not|never|must not|should not|cannot)|n't){W}(?:ever{W})?"
        rf"(?:(?:tell|inform|notify|alert|warn){W}{_PERSON}(?!{W}(?:to|how|when)\b)"
        rf"|(?:mention|reveal|disclose){W}(?:this|it|that|any of this|these){W}(?:[\w-]{{1,20}}{W}){{0,3}}to{W}"
        rf"{_PERSON})"
        rf"|\b(?:hide|conceal|keep){W}(?:this|it|that|these)(?:{W}[\w-]{{1,20}}){{0,3}}{W}from{W}{_PERSON}"
        rf"|\bwithout{W}(?:telling|informing|notifying|alerting|warning){W}{_PERSON}",
        lambda match: not _guarded(match),
    ),
    (
        "Switches approval or a safety check off.",
        ("approv", "accept", "allow", "disabl", "turn", "switch", "skip", "bypass", "confirm", "grant", "circumvent"),
        rf"\b(?:always|automatically|silently|blindly){W}(?:approve|accept|allow|grant|confirm){W}"
        rf"(?:(?:all|any|every|the|these|tool|its|this|agent|permission){W}){{0,3}}(?:tools?|permissions?|requests?"
        r"|commands?|actions?|prompts?|candidates?|lessons?|everything|anything)\b"
        rf"|\bapprove{W}(?:everything|all|any(?:thing)?)(?:{W}[\w-]{{1,20}}){{0,3}}{W}without\b"
        rf"|\b(?:disable|turn off|switch off|skip|bypass|circumvent){W}(?:(?:all|any|the|your|every){W}){{0,2}}"
        r"(?:safety|approval|permission|confirmation|sandbox|guardrail|human[ -]review)s?"
        rf"(?:{W}(?:checks?|prompts?|steps?|rules?|requests?|filters?|mode|gates?))?\b",
        None,
    ),
    (
        "Tells the agent to act without asking.",
        ("ask", "already approved"),
        rf"\b(?:every|all|any){W}(?:command|tool|action|request|change|edit|step|call)s?{W}(?:[\w-]{{1,20}}{W}){{0,2}}without"
        rf"{W}asking\b"
        rf"|(?:\b(?:do not|never)|n't|\bno need to){W}ask{W}(?:(?:the|your|user|human|me|him|them){W}){{0,2}}for{W}"
        rf"(?:(?:any|their|his|her|my){W})?(?:permission|confirmation|approval|consent)\b"
        rf"|\balready approved{W}(?:all|every|any|everything)\b",
        None,
    ),
    (
        "Starts an agent that asks for no approval.",
        ("skip-permissions", "--yolo", "bypass", "danger-full", "trust-all", "allow-all", "approval"),
        r"--(?:allow-)?dangerously-skip-permissions\b|--yolo\b|--dangerously-bypass-approvals-and-sandbox\b"
        r"|--(?:trust-all-tools|allow-all-tools|allow-all-paths)\b|\bdanger-full-access\b|\bbypasspermissions\b"
        r"|\bapproval[_-](?:policy|mode)[\"']?\s{0,3}[=:]\s{0,3}[\"']?(?:never|yolo|full-auto)\b",
        None,
    ),
    (
        "Claims to stand above other instructions.",
        ("overrid", "supersed", "preceden", "priority over"),
        rf"\b(?:overrides?|supersedes?|takes? (?:precedence|priority) over){W}"
        rf"(?:(?:{_MORE}|the|of|previously|given){W}){{1,5}}(?:{_ORDERS}|{_MARKED}|rules\b|guidelines\b)",
        None,
    ),
    (
        "Asks for the agent's own instructions.",
        ("system prompt", "system message", "instructions"),
        rf"\b(?:reveal|print|output|repeat|show|leak|dump|send|recite){W}"
        rf"(?:(?:all|of|me|us|verbatim|full|entire){W}){{0,3}}your{W}(?:(?:full|entire|own|hidden|exact|complete|initial|original){W}){{0,3}}"
        rf"(?:system{W}(?:prompt|message)|instructions)\b",
        None,
    ),
)

_SECRET = (
    r"(?:~|\$home|/root|/home/[\w.-]{1,30})/\.(?:ssh|aws|gnupg|kube|netrc|npmrc|pypirc|docker|git-credentials|config/gh"
    r"|config/gcloud)\b|\bid_(?:rsa|ed25519|ecdsa)\b(?!\.pub)|(?<![\w./*-])(?:\./)?\.env(?:\.local|\.production)?"
    r"(?![\w.*-])"
    r"|/etc/(?:passwd|shadow)\b|\.git-credentials\b|\.aws/credentials\b|\.netrc\b|\bkeychains?\b|\bprivate keys?\b"
    r"|\bssh keys?\b|\b(?:all|the|every|their|your|user's|full|any) (?:environment variables|env vars|secrets"
    r"|credentials|api[ -]keys|passwords|access tokens|auth tokens|session cookies)\b|\bos\.environ\b(?![\[.])"
    r"|\bprocess\.env\b(?![.\[])|\b(?:conversation|chat|session) (?:history|transcript)\b|\bhome directory\b"
    r"|\bsource code\b|\bvalues? of \W{0,3}\w{0,40}(?:secret|token|password|api_key)"
)
"""What is worth stealing. Weak words ("a token") are not in it: every page on an API says to send one."""

_SEND = r"\b(?:exfiltrate|upload|post|transmit|forward|leak|e-?mail|send|submit|beacon)(?:s|ed|ing)?\b"
_TOP = "com|net|io|dev|org|xyz|site|ru|cn|top|me|app|example|invalid|test"
_PLACE = (
    r"https?://|ftp://|\bwebhook\b|\bpastebin\b|[\w.-]@[\w-]{1,40}\.[a-z]{2,10}\b"
    r"|\bto (?:our|my|this|the following|an? (?:external|remote)) (?:server|endpoint|address|url|host|api|channel"
    r"|bucket)\b"
    rf"|[\w-]\.(?:{_TOP})/|\bto [\w-]{{1,40}}\.(?:[\w-]{{1,40}}\.){{0,3}}(?:{_TOP})\b"
)
_SENTENCE = r"(?:(?![.!?]\s|\n[ \t]{0,8}\n|\n[ \t]{0,12}[-*#+]\s)[\s\S]){1,300}"


_SEEN = (
    r"\b(?:in|into|to|as)\b[\s\S]{1,20}?\b(?:commit|pull request|prs?|issue|comment|reply|response|url|query"
    r"|request|message|image)\b"
)
"""Where others read what an agent writes."""


def _sends(match: re.Match[str]) -> bool:
    """Whether a sentence sends something secret to an address, and does not only warn of it."""
    text, start, end = match.string, match.start(), match.end()
    if not compiled(_SECRET).search(text, start, end) or not compiled(_PLACE).search(text, start, end):
        return False
    return any(not is_advice(verb) for verb in compiled(_SEND).finditer(text, start, end))


def _reads(match: re.Match[str]) -> bool:
    """Whether a sentence reads something secret and then sends it."""
    secret = compiled(_SECRET).search(match.string, match.start(), match.end())
    passed = (
        rf"(?:\band\b|\bthen\b|,)[\s\S]{{0,40}}?(?:{_SEND}|\bpass (?:it|them) on\b"
        rf"|\b(?:include|append|paste|put|embed|add|write)\b[\s\S]{{1,60}}?{_SEEN})"
    )
    return secret is not None and compiled(passed).search(match.string, secret.end(), match.end()) is not None


def _shows(match: re.Match[str]) -> bool:
    """Whether a sentence puts something secret where others read it."""
    secret = compiled(_SECRET).search(match.string, match.start(), match.end())
    return secret is not None and compiled(_SEEN).search(match.string, secret.end(), match.end()) is not None


_EXFILTRATE = (
    (
        "Tells the agent to send secrets or files to an address.",
        ("exfiltrat", "upload", "post", "transmit", "forward", "leak", "mail", "send", "submit", "beacon"),
        _SEND + _SENTENCE,
        _sends,
        False,
    ),
    (
        "Tells the agent to take data out.",
        ("exfiltrat",),
        rf"\bexfiltrate{W}(?:(?:all|any|the|their|your|user|user's|its|private|sensitive){W}){{0,3}}"
        r"(?:data|files?|secrets?|keys?|tokens?|credentials|code)\b",
        None,
        True,
    ),
    (
        "Tells the agent to read secrets and pass them on.",
        ("read", "open", "cat ", "collect", "gather", "find", "extract", "harvest", "grab", "search", "copy", "take"),
        rf"\b(?:read|open|cat|collect|gather|find|extract|harvest|grab|search|copy|take)\b{_SENTENCE}",
        _reads,
        True,
    ),
    (
        "Tells the agent to show secrets where others read them.",
        ("include", "append", "paste", "print", "embed", "encode", "put "),
        rf"\b(?:include|append|paste|print|embed|encode|put)\b{_SENTENCE}",
        _shows,
        True,
    ),
)

PHRASES = (
    *(Rule("override", why, needles, pattern, judge) for why, needles, pattern, judge in _OVERRIDE),
    *(Rule("exfiltrate", *row) for row in _EXFILTRATE),
)
"""What a text tells an agent to do."""
