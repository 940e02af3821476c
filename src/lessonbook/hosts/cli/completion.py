"""``lessonbook completion``: prints the script that teaches a shell to complete this command."""

from __future__ import annotations

import argparse

from lessonbook.hosts.cli.output import Out

EXAMPLES = """
  eval "$(lessonbook completion bash)"                                     in ~/.bashrc
  eval "$(lessonbook completion zsh)"                                      in ~/.zshrc, after compinit
  lessonbook completion fish > ~/.config/fish/completions/lessonbook.fish"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``completion``."""
    parser.add_argument("shell", choices=["bash", "zsh", "fish"], help="the shell you use")


def run(args: argparse.Namespace, out: Out) -> int:
    """Print the script."""
    from argcomplete.shell_integration import shellcode

    script = shellcode(["lessonbook"], shell=args.shell)
    out.result({"ok": True, "shell": args.shell, "script": script}, script.strip("\n"))
    return 0
