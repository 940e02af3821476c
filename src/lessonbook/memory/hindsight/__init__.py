"""The ``hindsight`` backend: lessons on a Hindsight server, handed over through the outbox."""
