"""The command line: one lazy module per verb."""
