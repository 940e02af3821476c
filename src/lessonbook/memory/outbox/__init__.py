"""The outbox: what is on its way to a server, kept in one SQLite file until the server says that it has it."""
