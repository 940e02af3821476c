"""Floor 3: the learned folder: its queue, its restack, its switch."""
