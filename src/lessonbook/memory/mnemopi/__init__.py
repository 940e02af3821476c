"""The ``mnemopi`` backend: one SQLite file for all projects, a bank for each and one that every project recalls."""
