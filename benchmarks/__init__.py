"""Speed and memory against peers, as ratios within one run: ``python -m benchmarks``."""
