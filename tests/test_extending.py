"""Test that the classes in docs/extending.md pass the density and embedding invariants."""

import functools
import sys
from types import ModuleType

import cloudpickle

from tests.density.invariants import DensityInvariants
from tests.embedding.invariants import EmbeddingInvariants
from tests.test_docs import ROOT, blocks


@functools.cache
def page() -> ModuleType:
    """Return the code on the page as a module, so that its classes can be pickled."""
    module = sys.modules["extending"] = ModuleType("extending")
    for block in blocks(ROOT / "docs" / "extending.md"):
        exec(compile(block.code, "extending.md", "exec"), vars(module))
    cloudpickle.register_pickle_by_value(module)
    return module


class TestDensity(DensityInvariants):
    repeats_rounding = 16

    def make(self, kernel=None):
        return page().CellDensity(step=2.0, kernel=kernel)


class TestEmbedding(EmbeddingInvariants):
    def make(self, n_components=4, **parameters):
        return page().TemperedKernelPCA(n_components, **parameters)
