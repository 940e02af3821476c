"""``python -m lessonbook`` is the ``lessonbook`` command."""

import sys

from lessonbook.hosts.cli.main import main

sys.exit(main())
