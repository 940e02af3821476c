"""A closed standard stream is never taken over by a file."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = """
import os, sys
from lessonbook.system.streams import reserve
reserve()
sys.exit(min(os.open(sys.argv[1], os.O_RDONLY), 3) - 3)
"""


@pytest.mark.parametrize("closed", ["", "<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_the_next_file_gets_another_number(closed: str) -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "SCRIPT": SCRIPT}
    command = f'exec "{sys.executable}" -c "$SCRIPT" /etc/hosts {closed}'
    assert subprocess.run(["/bin/sh", "-c", command], env=env, check=False).returncode == 0
