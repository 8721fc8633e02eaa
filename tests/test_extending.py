"""The density and the embedding of docs/extending.md hold to what those of the package do."""

import functools
import sys
from types import ModuleType

import cloudpickle

from tests.density.invariants import DensityInvariants
from tests.embedding.invariants import EmbeddingInvariants
from tests.test_docs import ROOT, blocks


@functools.cache
def page() -> ModuleType:
    """The code of the page as a module, so that its classes pickle, also to other processes."""
    module = sys.modules["extending"] = ModuleType("extending")
    for block in blocks(ROOT / "docs" / "extending.md"):
        exec(compile(block.code, "extending.md", "exec"), vars(module))
    cloudpickle.register_pickle_by_value(module)
    return module


class TestDensity(DensityInvariants):
    repeats_rounding = 16

    def make(self, kernel=None):
        return page().GridDensity(step=2.0, kernel=kernel)


class TestEmbedding(EmbeddingInvariants):
    def make(self, n_components=4, **parameters):
        return page().TemperedKernelPCA(n_components, **parameters)
