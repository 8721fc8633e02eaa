"""The compiled loops as a whole."""

import importlib

import pytest
from numba.core.dispatcher import Dispatcher

MODULES = [
    "compiled",
    "compiled_aging",
    "compiled_blocks",
    "compiled_links",
    "compiled_nearest",
    "compiled_waves",
]


@pytest.mark.parametrize("name", MODULES)
def test_every_loop_says_how_exact_it_is(name):
    """numba lets a loop that does not say so inherit it from whichever caller compiles it first."""
    module = importlib.import_module(f"rskpca._core.{name}")
    loops = [value for value in vars(module).values() if isinstance(value, Dispatcher)]
    assert loops
    for loop in loops:
        assert "fastmath" in loop.targetoptions, loop
        assert loop.targetoptions["nogil"], loop
