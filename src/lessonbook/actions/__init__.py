"""Floor 4: the verbs a person or an agent asks for."""
