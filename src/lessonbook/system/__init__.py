"""Floor 2: one room per thing outside: git, files, settings, projects."""
