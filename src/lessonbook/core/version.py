"""The version of this package, in the one place everything else reads it from."""

__version__ = "0.1.0"
