"""scikit-learn's own checks, with no expected failures."""

import numpy as np
from sklearn.utils.estimator_checks import parametrize_with_checks

from rskpca import (
    DiffusionMaps,
    Gaussian,
    LaplacianEigenmaps,
    NormalizedCut,
    ReducedSetKernelPCA,
    ShadowDensity,
)


@parametrize_with_checks(
    [
        ShadowDensity(),
        ShadowDensity(Gaussian(1.0), ell=2.0),
        ShadowDensity("laplacian", ell=np.inf),
        ReducedSetKernelPCA(),
        ReducedSetKernelPCA(1, center=False),
        ReducedSetKernelPCA(1, kernel="laplacian", bandwidth=2.0, ell=np.inf),
        ReducedSetKernelPCA(1, density=ShadowDensity(Gaussian(2.0), ell=3.0)),
        DiffusionMaps(1),
        DiffusionMaps(1, alpha=0.5, t="auto", ell=np.inf),
        LaplacianEigenmaps(1),
        LaplacianEigenmaps(1, self_affinity=True, graph=50.0, ell=np.inf),
        NormalizedCut(2),
        NormalizedCut(2, assign_labels="discretize", self_affinity=True),
        NormalizedCut(2, assign_labels="cluster_qr", ell=np.inf),
    ]
)
def test_scikit_learn_compatible(estimator, check):
    check(estimator)
