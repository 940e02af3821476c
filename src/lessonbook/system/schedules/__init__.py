"""What starts the night by itself: one module per timer a machine may have."""
