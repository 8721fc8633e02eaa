"""Reproduction of the paper's figures, tables and claims: ``python -m experiments``."""
