"""scikit-learn's own checks, with no expected failures."""

import numpy as np
from sklearn.utils.estimator_checks import parametrize_with_checks

from rskpca import Gaussian, KernelPCANovelty, ReducedSetKernelPCA, ShadowDensity


@parametrize_with_checks(
    [
        ShadowDensity(),
        ShadowDensity(Gaussian(1.0), ell=2.0),
        ShadowDensity("laplacian", ell=np.inf),
        ReducedSetKernelPCA(),
        ReducedSetKernelPCA(1, center=False),
        ReducedSetKernelPCA(1, kernel="laplacian", bandwidth=2.0, ell=np.inf),
        ReducedSetKernelPCA(1, density=ShadowDensity(Gaussian(2.0), ell=3.0)),
        KernelPCANovelty(),
        KernelPCANovelty(ReducedSetKernelPCA(1, center=False), contamination=0.2),
    ]
)
def test_scikit_learn_compatible(estimator, check):
    check(estimator)
