"""Side-by-side timings beside a named baseline, in one run and in turns: ``python -m benchmarks [NAME …]``."""
