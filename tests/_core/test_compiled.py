"""Test properties that every compiled loop must have."""

import importlib

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

from rskpca import Gaussian
from rskpca._core import distances, gram
from rskpca._core.cover import Cover
from tests import datasets

MODULES = ["compiled", "compiled_cover", "compiled_sample"]


def loops(name):
    module = importlib.import_module(f"rskpca._core.{name}")
    return [value for value in vars(module).values() if isinstance(value, Dispatcher)]


@pytest.mark.parametrize("name", MODULES)
def test_every_loop_sets_fastmath_explicitly(name):
    """Otherwise, a loop inherits the flags of the first caller that compiles it."""
    assert loops(name)
    for loop in loops(name):
        assert "fastmath" in loop.targetoptions, loop
        assert loop.targetoptions["nogil"], loop


def test_no_loop_is_compiled_again_for_another_memory_layout():
    """Compilation takes seconds, and memory maps and frames are often read-only."""
    X = datasets.blobs(300, 3)

    def count_versions(X):
        labels, _ = Cover(0.5, X[:0]).extend(X)
        distances.nearest_centers(X, X[:9])
        distances.squared_distances_to(X, X, labels)
        distances.spanning_tree_lengths(X)
        gram.gram(Gaussian(1.0), X, X)
        return {loop: len(loop.signatures) for name in MODULES for loop in loops(name)}

    first = count_versions(X)
    read_only = X.copy()
    read_only.flags.writeable = False
    for same in (read_only, np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]):
        assert count_versions(same) == first
