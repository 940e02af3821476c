"""Names from code a text uses: calls, ``snake_case``, ``camelCase`` and class names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lessonbook.core.entity import Entity, Kind, Page, compiled, runs
from lessonbook.core.shelltokens import word_set

_CALL = re.compile(r"(?<![\w./@-])[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*){0,6}\Z")
_CALLED = r"\((?<=\w\()[^()\n]{0,80}\)"
_SNAKE = re.compile(r"_{0,2}[a-z][a-z0-9]*+(?:_[a-z0-9]++)++_{0,2}\Z")
_CAMEL = re.compile(r"[a-z]{2,20}(?:[A-Z][a-z0-9]+)++\Z")
_CLASS = re.compile(r"[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+\Z")
_SUFFIX = re.compile(
    r".+(?:Service|Controller|Manager|Handler|Factory|Provider|Client|Repository|Builder|Adapter|Reader|Writer"
    r"|Parser|Store|View|Model|Context|Listener|Component|Props|State|Schema|Serializer|Middleware|Resolver|Registry"
    r"|Tool|Test|Tests|Config|Options|Params|Request|Response|Exporter|Loader|Router|Validator|Formatter|Wrapper"
    r"|Entity|Dto|Mixin|Base|Protocol|Interface|Iterator|Visitor|Worker|Queue|Cache|Session|Event|Module|Plugin"
    r"|Guard|Enum|Type|Id|Map|List|Set)\Z"
)
_SORT = (
    r"(?:class(?:es)?|functions?|methods?|components?|types?|interfaces?|structs?|enums?|traits?|hooks?|protocols?"
    r"|fixtures?)"
)
_SAID = re.compile(rf"(?i)\b{_SORT}[ `]{{1,2}}\Z")
_SAID_AFTER = rf"`? {_SORT}\b"
_PRODUCTS = word_set(
    "airtable arxiv bigquery biorxiv bitbucket chatgpt chembl clickup clickhouse cloudflare codebase codespaces "
    "coffeescript coreml datadog deepmind deepseek devops docusign dropbox duckduckgo dynamodb elasticsearch fastapi "
    "firebase gitflow github gitlab googlecloud graphql grafana huggingface hubspot intellij iphone javascript "
    "jetbrains jsdoc langchain langgraph latex linkedin macbook mailchimp mariadb markdown medrxiv mongodb mysql "
    "netbeans newrelic nextjs nodejs numpy onedrive openai opencode openrouter openapi paypal phpstorm playstation "
    "postgresql postgres powerpoint powershell pubchem pubmed pycharm pypi pytorch quickbooks readme rubymine "
    "salesforce scipy semver sendgrid servicenow sharepoint soundcloud stackoverflow sublimetext supabase tensorflow "
    "tiktok twitter typescript ubuntu uniprot virtualbox visualstudio vitepress webassembly webgl webrtc websocket "
    "websockets webstorm webhook whatsapp wordpress youtube yamlfmt zoominfo eslint oauth ios macos"
)
_EDGE = r"\w./@$:#=-"


def find(page: Page) -> Iterator[Entity]:
    """Yield the names from code that ``page`` uses."""
    text = page.text
    for match in compiled(_CALLED).finditer(text):
        yield from _called(page, match)
    for start, end in runs(text, r"[a-z0-9]_[a-z0-9]", _EDGE):
        end = start + len(text[start:end].rstrip(".:-"))
        if _SNAKE.match(text, start, end) and text[end : end + 1] != "(":
            yield page.entity(Kind.IDENTIFIER, start, end)
    for start, end in runs(text, r"[a-z0-9][A-Z]", _EDGE):
        end = start + len(text[start:end].rstrip(".:-"))
        if text[start:end].lower() not in _PRODUCTS and (
            _CAMEL.match(text, start, end) or (_CLASS.match(text, start, end) and _is_class(page, start, end))
        ):
            yield page.entity(Kind.IDENTIFIER, start, end)


def _called(page: Page, match: re.Match[str]) -> Iterator[Entity]:
    """Yield the name before parentheses that is called: with none inside, or written as code."""
    named = compiled(r"[\w.:]+\Z").search(page.before(match.start(), 80))
    name = named[0] if named else ""
    start = match.start() - len(name)
    if len(name) < 2 or not _CALL.match(page.text, start, match.start()):
        return
    coded = page.in_code(start) or any(mark in name for mark in "_.:") or any(map(str.isupper, name[1:]))
    if match[0] == "()" or (coded and not name.isupper() and match[0].count(" ") < 5):
        yield page.entity(Kind.IDENTIFIER, start, match.start())


def _is_class(page: Page, start: int, end: int) -> bool:
    if page.quoted(start, end) or _SAID.search(page.before(start)) or compiled(_SAID_AFTER).match(page.text, end):
        return True
    name = page.text[start:end]
    return _SUFFIX.match(name) is not None and len(re.findall("[A-Z]", name)) > 1
