"""``lessonbook mcp``: what agents ask for while they work, served by the Model Context Protocol."""
