"""The real agents, one module each, by name."""
