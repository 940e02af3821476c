"""Every real agent that is run here. A new one is one module, one line here and one in ``programs``."""

from __future__ import annotations

from realagents.host import Host
from realagents.hosts import claude, codex, copilot, gemini, hermes, omp, opencode, pi

_MODULES = (claude, codex, gemini, copilot, opencode, pi, omp, hermes)
HOSTS: dict[str, Host] = {module.HOST.name: module.HOST for module in _MODULES}
