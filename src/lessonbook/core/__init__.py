"""Floor 1: values and pure rules. No file, process, clock, network or environment."""
