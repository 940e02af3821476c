"""The tools, languages and servers developers name, by how surely a word is meant as one.

Many are everyday words too ("make", "go", "node"), so a name of ``NAMES_IN_CAPITALS`` is taken only where it is written
as a name, and one of ``NAMES_IN_CODE`` only in code or as a command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lessonbook.core.entity import Entity, Kind, Page, compiled
from lessonbook.core.shelltokens import word_set

NAMES = word_set(
    "actionlint aider airflow alembic ansible apk apt apt-get argo argocd asdf ast-grep autopep8 awk aws axum azure "
    "babel bash bazel biome bower buck2 buf bun bundler cargo clang clang-format clang-tidy clickhouse clippy cmake "
    "codecov codex commitlint composer conan conda corepack coverage.py cron crontab ctest curl cython cypress dask "
    "datasette dbt deno direnv django dnf docker docker-compose dotnet drizzle duckdb dvc elasticsearch emacs envoy "
    "esbuild eslint fastapi ffmpeg flake8 flyctl flyway gcc gcloud gdb git github gitlab gitleaks gofmt golang "
    "golangci-lint gpg gradle grafana grep grype gulp gunicorn hadolint haproxy heroku hg homebrew httpie husky "
    "hypothesis isort java javac javascript jenkins jest jira jq julia junit jupyter k3s k8s k9s kafka karma "
    "keycloak kotlin ktlint kubectl kubernetes lefthook lerna libreoffice lightningcss lint-staged liquibase lldb "
    "llvm lua lxc mariadb markdownlint maven mercurial meson minikube mise mkdocs mlflow mocha mongodb mongosh mvn "
    "mypy mysql nats neovim netlify next.js nginx ninja nix nodejs node.js nodemon nox npm npx nuget numpy nuxt nvim "
    "nvm nx openssl oxlint packer pandas pandoc pdm perl phpstan phpunit php pip pipenv pip-tools pipx pixi "
    "playwright pm2 pnpm podman poetry postgres postgresql powershell pre-commit prettier prisma prometheus protobuf "
    "protoc psql pulumi pyenv pylint pyright pytest python python3 pytorch rabbitmq rails rclone redis renovate "
    "ripgrep rollup rspec rsync rubocop ruby ruff rust rustc rustfmt rustup rvm sbt scp sed selenium semgrep sentry "
    "shellcheck shfmt sops sphinx sqlalchemy sqlfluff sqlite sqlite3 sqlx ssh statsd storybook stylelint supabase "
    "svelte swiftlint systemctl systemd tailwind tcpdump tensorflow terraform terragrunt tmux tox traefik trivy tsc "
    "tsup tsx turbopack turborepo twine typescript typst unittest uv uvicorn uvx valgrind vercel vim vite vitest "
    "volta vscode webpack wget wrangler xcodebuild yamllint yarn yq zsh"
)
"""Names that are hardly ever meant otherwise, in any letter case."""

NAMES_IN_CAPITALS = word_set(
    "ant astro black celery chef chrome clojure consul cypress dart elixir electron erlang excel express figma "
    "firefox fish flask flutter go haskell hatch helm hugo istio jinja linear linux macos meteor minio nest nomad "
    "node nose notion puppet react scala scrapy slack solid spark spring swift tauri turbo ubuntu vault vue windows "
    "xcode zig"
)
"""Names that are also everyday words: taken where written with a capital inside a sentence, or used as a command."""

NAMES_IN_CODE = word_set(
    "cat chmod chown cp cut date dd df diff du echo env file find head install join kill less ln ls make man mkdir "
    "more mount mv nice open paste patch pg_dump pg_restore ping ps read rm rush sed service sort source split strip "
    "su sudo tail tar task tee test time top touch tr tree uniq unzip wait watch wc which xargs zip gh just rg fd nu "
    "bd brew mix rake bundle gem op sam sls ng stack cabal lein stow act dep"
)
"""Names taken only in code or after a word that runs something."""

PROGRAMS = NAMES | NAMES_IN_CAPITALS | NAMES_IN_CODE
"""Every name a command may start with."""

ALIASES = {
    "apt-get": "apt",
    "golang": "go",
    "k8s": "kubernetes",
    "next.js": "next",
    "node.js": "node",
    "nodejs": "node",
    "nvim": "neovim",
    "pip3": "pip",
    "postgresql": "postgres",
    "python3": "python",
    "sqlite3": "sqlite",
    "vue.js": "vue",
}
"""Other spellings of one name."""

_WORD = r"(?<![\w./@$:-])[A-Za-z][\w+-]*+(?:\.(?:js|py)\b)?(?![/@(=\\]|\.\w)"
_USED = re.compile(
    r"(?i)\b(?:run|running|use|uses|using|via|with|install|installs?|through|call|invoke|prefer|pin)\s+\Z"
)
_NUMBERED = re.compile(r"\s{1,2}(?:version )?(?:[<>=~^≥≤]{1,2} ?)?v?\d")
_OPENS = re.compile(r"(?:\A|[.!?:;|>*#-]|\d[.)])[\s*_\"'“(]*\Z")


def tool_key(name: str) -> str:
    """Return the one spelling of a tool's name."""
    low = name.casefold()
    return ALIASES.get(low, low)


def find(page: Page) -> Iterator[Entity]:
    """Yield the tools that ``page`` names in its words."""
    for match in compiled(_WORD).finditer(page.text):
        low = match[0].lower()
        if low in NAMES or (low in NAMES_IN_CAPITALS and _is_name(page, match)):
            yield page.entity(Kind.TOOL, match.start(), match.end(), tool_key(low))


def _is_name(page: Page, match: re.Match[str]) -> bool:
    """Whether an everyday word is written as a name here."""
    start, end = match.span()
    if page.text[start - 1 : start] == "`" and page.text[end : end + 1] == "`":
        return True
    if compiled(_NUMBERED.pattern).match(page.text, end):
        return True
    before = page.before(start)
    if match[0][0].isupper():
        return _OPENS.search(before) is None and not _titled(page.text, end)
    return _USED.search(before) is not None and page.text[end : end + 1] not in ("-", "'", "’")


def _titled(text: str, end: int) -> bool:
    """Whether another word with a capital follows: "Spring Cleaning", "Black Friday"."""
    return compiled(r" [A-Z][a-z]").match(text, end) is not None
