"""Files in earlier formats, which every later version must be able to read.

``python -m tests.io.golden PATH`` writes such a file in the current format. It contains models of
all kinds, each with its results on the machine that wrote the file.
"""

import copy
import sys
from pathlib import Path

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rskpca import (
    DiffusionMaps,
    FadingDensity,
    Gaussian,
    KernelPCANovelty,
    LaplacianEigenmaps,
    NormalizedCut,
    NystromKernelPCA,
    ReducedSetKernelPCA,
    ShadowDensity,
    WindowDensity,
    save,
    select_reduced_set,
)
from rskpca.baselines import SparseKernelPCA, SubsampledKernelPCA, WeightedNystromKernelPCA

FIRST = Path(__file__).with_name("golden.rskpca")  # written by 0.1.0
VERSION_1 = Path(__file__).with_name("golden_1.rskpca")
VERSION_2 = Path(__file__).with_name("golden_2.rskpca")
VERSION_3 = Path(__file__).with_name("golden_3.rskpca")
ROWS = np.array([[0.0, 1.0, 2.0], [5.5, 4.0, 3.0]])


def data():
    return np.arange(60.0).reshape(20, 3) % 7 + np.arange(20.0)[:, None] // 8


def models():
    """Return the models in the first file."""
    X = data()
    few = ShadowDensity(Gaussian(4.0), ell=2.0, sample_size=0)
    scaled = LaplacianEigenmaps(1, density=ShadowDensity("laplacian", sample_size=0), graph=5)
    return {
        "kernel pca": ReducedSetKernelPCA(2, density=few).fit(X),
        "stream": ReducedSetKernelPCA(2, density=few).partial_fit(X[:9].astype(np.float32)),
        "cut": NormalizedCut(2, density=few).fit(X),
        "pipeline": make_pipeline(StandardScaler(), scaled).fit(X),
    }


def more_models():
    """Return models whose state differs between the formats."""
    X, kernel = data(), Gaussian(4.0)
    window = WindowDensity(9, ShadowDensity(kernel, ell=2.0))
    few = ShadowDensity(ell=2.0, sample_size=0)
    return {
        "basis": ReducedSetKernelPCA(2, kernel=kernel, basis=4, density=few).fit(X),
        "window": ReducedSetKernelPCA(2, density=window).fit(X),
        "window stream": DiffusionMaps(1, density=window).partial_fit(X[:7]).partial_fit(X[7:]),
        "fading": ReducedSetKernelPCA(2, density=FadingDensity(5.0, few, kernel=kernel)).fit(X),
        "diffusion maps": DiffusionMaps(2, kernel=kernel, t="auto", basis=5, density=few).fit(X),
        "cut-off": LaplacianEigenmaps(1, kernel=kernel, graph=6.0, density=few).fit(X),
        "nystrom": NystromKernelPCA(2, kernel=kernel, landmarks=6).fit(X),
        "nystrom stream": NystromKernelPCA(2, kernel=kernel, landmarks=6).partial_fit(X),
        "nystrom, data": NystromKernelPCA(2, kernel=kernel, landmarks=6, extension="data").fit(
            X, sample_weight=np.arange(1.0, 21)
        ),
        "weighted nystrom": WeightedNystromKernelPCA(2, kernel=kernel, n_centers=6).fit(X),
        "weighted nystrom, data": WeightedNystromKernelPCA(
            2, kernel=kernel, n_centers=6, extension="data"
        ).fit(X),
        "subsampled": SubsampledKernelPCA(2, kernel=kernel, n_centers=6).fit(X),
        "sparse": SparseKernelPCA(2, kernel=kernel, n_centers=5, ell=2.0).fit(X),
        "compressed": select_reduced_set(
            ReducedSetKernelPCA(2, kernel=kernel, density=few).fit(X), 4
        ),
        "novelty": KernelPCANovelty().fit(X),
        "novelty stream": KernelPCANovelty(
            ReducedSetKernelPCA(2, kernel=kernel, density=few)
        ).partial_fit(X),
    }


def sampled_models():
    """Return models with row samples, which version 3 introduced."""
    X, kernel = data(), Gaussian(4.0)
    few = ShadowDensity(ell=2.0, sample_size=12)
    return {
        "sample": ReducedSetKernelPCA(2, kernel=kernel, density=few).fit(X),
        "sample stream": ReducedSetKernelPCA(2, kernel=kernel, density=few).partial_fit(
            X, sample_weight=np.arange(20.0) / 8
        ),
        "sample, fading": ReducedSetKernelPCA(
            2, density=FadingDensity(5.0, few, kernel=kernel)
        ).fit(X),
        "refined": ReducedSetKernelPCA(2, kernel=kernel, basis=5, refine="nystrom").fit(X),
    }


def answers(model):
    """Return coordinates, clusters or novelty scores, and pre-images if supported."""
    first = "predict" if isinstance(model, NormalizedCut) else "transform"
    verb = "decision_function" if isinstance(model, KernelPCANovelty) else first
    found = [getattr(model, verb)(ROWS)]
    if hasattr(model, "inverse_transform"):
        found.append(model.inverse_transform(found[0], alpha=1.0))
    return found


if __name__ == "__main__":
    everything = {**models(), **more_models(), **sampled_models()}
    copies = {name: copy.deepcopy(model) for name, model in everything.items()}  # not yet solved
    stored = {name: (copies[name], answers(m)) for name, m in everything.items()}
    save({**stored, "certificate": everything["refined"].certificate_}, sys.argv[1])
