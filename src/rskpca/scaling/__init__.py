"""Drivers for data larger than memory, streams and clusters; no mathematics."""
