"""Floor 3: where lessons are kept and recalled; one module per backend."""
