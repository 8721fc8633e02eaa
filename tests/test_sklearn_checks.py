"""scikit-learn's own checks, with no expected failures."""

import numpy as np
from sklearn.utils.estimator_checks import parametrize_with_checks

from rskpca import (
    FastParzenDensity,
    Gaussian,
    HerdingDensity,
    KMeansDensity,
    ParingDensity,
    ReducedSetKernelPCA,
    ShadowDensity,
    UniformDensity,
)


@parametrize_with_checks(
    [
        ShadowDensity(),
        ShadowDensity(Gaussian(1.0), ell=2.0),
        ShadowDensity("laplacian", ell=np.inf),
        KMeansDensity(3),
        UniformDensity(3),
        ParingDensity(3),
        ParingDensity(3, covering=True),
        HerdingDensity(3),
        HerdingDensity(3, method="gradient"),
        FastParzenDensity(),
        FastParzenDensity(2.0, covariance="full"),
        ReducedSetKernelPCA(),
        ReducedSetKernelPCA(1, center=False),
        ReducedSetKernelPCA(1, kernel="laplacian", bandwidth=2.0, ell=np.inf),
        ReducedSetKernelPCA(1, density=ShadowDensity(Gaussian(2.0), ell=3.0)),
    ]
)
def test_scikit_learn_compatible(estimator, check):
    check(estimator)
