"""Coding agents that run without a person: one module per agent, and the one place that starts and ends them."""
