"""What the commonest programs are asked to do, so that their commands are known in a sentence without any mark."""

from __future__ import annotations

from lessonbook.core.shelltokens import word_set

_VERBS = {
    "git": "add am bisect blame checkout cherry-pick clone commit config diff fetch gc init log merge pull push rebase "
    "reflog remote reset restore revert rm show stash status submodule switch tag worktree",
    "npm": "audit ci config dedupe exec init install link login outdated pack publish run start test uninstall update",
    "pnpm": "add approve-builds audit build check dedupe deploy dev dlx exec format import install lint link outdated "
    "patch prune publish rebuild remove run start store test typecheck up update why",
    "yarn": "add audit build dedupe dev dlx install lint remove run set start test up upgrade why workspace workspaces",
    "bun": "add build create install link pm publish remove run test update upgrade x",
    "cargo": "add bench build check clean clippy doc fix fmt install nextest publish run test tree update",
    "pip": "check download freeze install list show uninstall wheel",
    "uv": "add build export init lock pip publish python remove run sync tool tree venv",
    "poetry": "add build check env install lock publish remove run shell show update version",
    "docker": "attach build buildx commit compose container cp exec image images inspect login logs network ps pull "
    "push rm rmi run start stop system tag volume",
    "docker-compose": "build down exec logs ps pull restart run up",
    "kubectl": "annotate apply create delete describe edit exec explain get label logs patch port-forward rollout "
    "scale "
    "set top",
    "terraform": "apply destroy fmt import init output plan refresh state taint validate workspace",
    "helm": "dependency install lint list package pull push repo rollback template uninstall upgrade",
    "gh": "api auth gist issue pr release repo run secret workflow",
    "brew": "bundle cleanup install link list services tap uninstall update upgrade",
    "apt": "install remove update upgrade",
    "apt-get": "install remove update upgrade",
    "conda": "activate create env install list remove update",
    "dotnet": "add build clean ef format new nuget pack publish restore run test tool watch",
    "rustup": "component default override show target toolchain update",
    "pre-commit": "autoupdate clean install run uninstall",
    "ruff": "check format",
    "alembic": "downgrade history revision stamp upgrade",
    "systemctl": "daemon-reload disable enable reload restart start status stop",
    "nx": "affected build graph lint migrate reset run run-many serve test",
    "deno": "bench cache check compile fmt install lint run task test",
    "wrangler": "d1 deploy dev kv login publish r2 secret tail types",
    "mvn": "clean compile deploy install package test verify",
    "gradle": "assemble build check clean run test",
    "bundle": "exec install outdated update",
    "rails": "console db:migrate generate routes server test",
    "mix": "compile credo deps.get ecto.migrate format test",
    "supabase": "db functions gen link login migration start status stop",
    "mise": "exec install run trust use",
    "pipx": "inject install run upgrade",
    "twine": "check upload",
}
SUBCOMMANDS = {program: word_set(verbs) for program, verbs in _VERBS.items()}
"""The words that follow each program."""

RUNNERS = {
    "bun": ("run", "x"),
    "bundle": ("exec",),
    "docker": ("compose",),
    "gh": ("pr", "issue", "run", "repo"),
    "npm": ("run",),
    "pnpm": ("dlx", "run"),
    "uv": ("pip", "run", "tool"),
    "yarn": ("run",),
}
"""The words after which another one says what is run: ``npm run build``."""

TARGETS = word_set(
    "all bench build bundle check ci clean compile coverage deploy dev dist docs down e2e exec fix fmt format "
    "generate install lint logs migrate ps pytest mypy ruff python python3 release restart run seed serve setup "
    "start stop test tests typecheck types up update validate verify vet watch"
)
"""The usual names of what a task runner runs."""
