"""The coding agents people use: one module each, listed in ``registry``."""
