"""The ``postgres`` backend: the bank of a team on a PostgreSQL server, a schema for each team."""
