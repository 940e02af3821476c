"""Floor 3: one module per way to find a lesson in sessions."""
