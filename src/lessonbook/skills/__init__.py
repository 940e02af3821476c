"""Floor 3: SKILL.md procedures: managed ones, and discovery of all."""
