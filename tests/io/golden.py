"""The models of ``golden.rskpca``, which every later version must be able to read.

``python -m tests.io.golden PATH`` writes such a file anew, for a new format.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rskpca import (
    Gaussian,
    LaplacianEigenmaps,
    NormalizedCut,
    ReducedSetKernelPCA,
    ShadowDensity,
    save,
)

PATH = Path(__file__).with_name("golden.rskpca")


def models():
    """A kernel PCA, a stream of float32 that is not solved, clusters, and a pipeline."""
    X = np.arange(60.0).reshape(20, 3) % 7 + np.arange(20.0)[:, None] // 8
    few = ShadowDensity(Gaussian(4.0), ell=2.0, n_frequencies=0)
    scaled = LaplacianEigenmaps(1, density=ShadowDensity("laplacian", n_frequencies=0), graph=5)
    return {
        "kernel pca": ReducedSetKernelPCA(2, density=few).fit(X),
        "stream": ReducedSetKernelPCA(2, density=few).partial_fit(X[:9].astype(np.float32)),
        "cut": NormalizedCut(2, density=few).fit(X),
        "pipeline": make_pipeline(StandardScaler(), scaled).fit(X),
    }


if __name__ == "__main__":
    save(models(), sys.argv[1])
