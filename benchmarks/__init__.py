"""Speed, memory and accuracy compared with other methods: ``python -m benchmarks``."""
