"""Embedders: what makes vectors of texts on this machine, without a network. One module and one line each."""
