"""Real coding agents, run offline against a scripted model: what `make test-agents` and `tests/agents` share."""
