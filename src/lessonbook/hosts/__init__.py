"""Floor 5: programs a person or an agent talks to; thin: parse, call one action, print."""
