"""Floor 3: one module per agent whose sessions we read."""
