"""Reads lessons out of other stores' files, which it never changes: one module for each kind of file."""
