"""Files and folders a text names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lessonbook.core.entity import Entity, Kind, Page, compiled, runs
from lessonbook.core.shelltokens import word_set

_CHARS = r"\w@+*~\[\]$-"
_SIGN = r"/|\.(?=[\w*])"
_CUT_OFF = r"[\\:=&?#%]"
_WINDOWS = r"(?<![\w/\\])[A-Za-z]:\\[^\s:*?\"<>|`'(),;]{1,200}"
_NAMED = (
    r"(?:Makefile|Dockerfile|Containerfile|Gemfile|Rakefile|Procfile|Jenkinsfile|Justfile"
    r"|Vagrantfile|Brewfile|Pipfile|CODEOWNERS)(?:\.\w{1,20})?(?![\w/(-])"
)

_ENDINGS = word_set(
    "adoc astro avif bash bat bib bicep bmp cc cfg cjs clj cmake conf cpp cs csproj css csv cts cxx dart db diff "
    "docx editorconfig ejs erb erl ex exs fish gif go gql gradle graphql groovy gz h5 hbs hcl hpp hs htm html ico "
    "ini ipynb java jpeg jpg js json json5 jsonc jsonl jsx kt kts less lock log lua md mdc mdx mjs ml mts nix nu "
    "parquet patch pdf pem php pkl plist png pptx prisma proto ps1 pxd py pyi pyx rb rs rst sass scala scss sh so "
    "sql sqlite sqlite3 svelte svg swift tar tex tf tfvars tgz toml ts tsv tsx ttf txt vue wasm webp whl woff2 xlsx "
    "xml yaml yml zig zip zsh zst"
)
_MEMBERS = re.compile(
    r"(?i)(?:res|resp|response|req|request|r|console|logger|math|np|process|this|self|data|body|ctx|event|args|re)"
    r"\.(?:json|log|html|db|sh|go|so|ex|md|conf|lock|sql|diff|patch|zip|tar|less|php|js)\Z"
)
_PRODUCTS = re.compile(
    r"(?:[A-Z][\w-]*|node|next|vue|nuxt|express|react|three|d3|chart|alpine|nest|discord|day|moment|socket|web3|p5"
    r"|ember|ethers|solid|phaser|pixi|backbone|leaflet|plotly|mermaid|reveal)\.js\Z"
)
_FOLDERS = word_set(
    ".agents .cargo .circleci .claude .codex .config .cursor .gemini .git .github .husky .idea .local .omp .ssh "
    ".venv .vscode __tests__ api app apps assets bin build cmake cmd components config configs core crates cypress "
    "db deploy dist docs e2e etc examples fixtures helm hooks infra integration internal legacy lib libs locales "
    "migrations node_modules out packages pages pkg plugins prompts public references resources schemas scripts "
    "server services skills snapshots spec specs src static styles target templates test tests third_party tools tmp "
    "types utils vendor web website workspace"
)
_ROOTS = word_set(
    "Applications Library Users Volumes bin boot data dev etc home lib media mnt opt private proc root run sbin srv "
    "sys tmp usr var workspace workspaces"
)
_DOTFILES = re.compile(
    r"\.(?:env(?:\.[\w.]+)?|git\w+|\w+rc(?:\.\w+)?|\w+ignore|editorconfig|nvmrc|python-version|node-version"
    r"|tool-versions|envrc|mailmap|htaccess|netrc|flake8|pylintrc|pre-commit-config\.ya?ml|mcp\.json)\Z"
)
_DOMAIN = re.compile(r"(?i)[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|ai|app|edu|gov|co|cloud|sh|me|uk|de|nih)\Z")
_PLAIN_PARTS = re.compile(r"[\w@+*~\[\]$-][\w@+*~\[\]$.-]*+")


def find(page: Page) -> Iterator[Entity]:
    """Yield the files and folders that ``page`` names."""
    for start, end in runs(page.text, _SIGN, _CHARS + "./"):
        end = start + len(page.text[start:end].rstrip(".-+$"))
        path = page.text[start:end]
        alone = not page.text.startswith(("(", ".."), end) and not compiled(_CUT_OFF).match(
            page.text[start - 1 : start]
        )
        if alone and _is_path(path):
            yield page.entity(Kind.FILE, start, end, path_key(path))
    if ":\\" in page.text:
        for match in compiled(_WINDOWS).finditer(page.text):
            path = match[0].rstrip(".")
            yield page.entity(Kind.FILE, match.start(), match.start() + len(path), path_key(path))
    for match in compiled(_NAMED).finditer(page.text):
        if not compiled(r"[\w./-]").match(page.text[match.start() - 1 : match.start()]):
            yield page.entity(Kind.FILE, *match.span())


def path_key(path: str) -> str:
    """Return a path as it is compared: forward slashes, no ``./`` before and no ``/`` after it."""
    path = path.replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    return (path.rstrip("/") or path).casefold()


def is_path(text: str) -> bool:
    """Whether all of ``text`` is a path that would be found in a sentence."""
    if compiled(_NAMED).fullmatch(text) or compiled(_WINDOWS).fullmatch(text):
        return True
    return compiled(rf"[{_CHARS}./]++").fullmatch(text) is not None and ("." in text or "/" in text) and _is_path(text)


def _is_path(path: str) -> bool:
    parts = path.split("/")
    last = parts[-1]
    if len(path) > 300 or len(path) < 3:
        return False
    if len(parts) == 1:
        return _is_file_name(last)
    if parts[0] and _DOMAIN.match(parts[0]) and parts[0] not in _FOLDERS:
        return False
    inner = [part for part in parts if part and part not in (".", "..", "~")]
    if not inner or not all(map(_PLAIN_PARTS.fullmatch, (part.lstrip(".") or "-" for part in inner))):
        return False
    if parts[0] in ("~", ".", ".."):
        return any(len(part) > 1 or part.isalpha() for part in inner)
    if not parts[0]:
        return (inner[0] in _ROOTS and len(inner) > 1) or inner[0] == "tmp" or _has_ending(last)
    return _has_ending(last) or _is_folder(parts, inner, last)


def _is_folder(parts: list[str], inner: list[str], last: str) -> bool:
    """Whether a relative path without a file's ending is one: it ends in a slash, or starts in a well-known folder."""
    if parts[0].startswith("@") or not any(map(str.isalpha, parts[0])):
        return False
    if not last:
        return len(parts[0]) > 1 and (len(inner) > 1 or parts[0].isascii())
    return parts[0] in _FOLDERS and (len(inner) > 2 or not last[0].isdigit())


def _is_file_name(name: str) -> bool:
    if name.startswith("."):
        return _DOTFILES.match(name) is not None
    return _has_ending(name) and not _MEMBERS.match(name) and not _PRODUCTS.match(name)


def _has_ending(name: str) -> bool:
    """Whether a file's usual ending follows a name, or the ``*`` that stands for one."""
    stem, _, ending = name.rpartition(".")
    return bool(stem.strip(".")) and ending in _ENDINGS
