"""Test that the measured methods match the library's methods and textbook kernel PCA."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from experiments import contenders
from rskpca import Gaussian
from rskpca.baselines.methods import METHODS

X = load_digits().data[:400]
TRAIN, TEST = X[:300], X[300:]
KERNEL = Gaussian(40.0)


@pytest.fixture(scope="module")
def clusters():
    return contenders.Clusters(4, KERNEL, 50, seed=7).fit(TRAIN)


@pytest.mark.parametrize("name", ["kmeans", "wnystrom"])
def test_models_with_shared_clusters_equal_those_from_the_library(clusters, name):
    ours = clusters.make(name).fit(TRAIN)
    theirs = METHODS[name].make(4, KERNEL, 50, center=False, random_state=7).fit(TRAIN)
    np.testing.assert_allclose(ours.transform(TEST), theirs.transform(TEST), atol=1e-10)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-12)


def test_dense_kernel_pca_equals_exact_kernel_pca():
    dense = contenders.make("kpca-dense", 4, KERNEL, None, 0).fit(TRAIN)
    exact = contenders.make("kpca", 4, KERNEL, None, 0).fit(TRAIN)
    np.testing.assert_allclose(dense.eigenvalues_, exact.eigenvalues_, rtol=1e-9)
    ours, theirs = (np.abs(model.transform(TEST)) for model in (dense, exact))
    np.testing.assert_allclose(ours, theirs, atol=1e-8)


def test_the_shadow_method_equals_that_of_the_library_without_a_certificate():
    ours = contenders.make("shadow", 4, KERNEL, 3.0, 0).fit(TRAIN)
    theirs = METHODS["shadow"].make(4, KERNEL, 3.0, center=False).fit(TRAIN)
    assert ours.reduced_set_.sample is None
    assert np.array_equal(ours.transform(TEST), theirs.transform(TEST))


def test_the_eigenvalues_of_a_pipeline_equal_those_of_the_operator():
    """If every row is a landmark, Nystroem + PCA is centered kernel PCA."""
    pipeline = contenders.make("sklearn-nystroem", 4, KERNEL, len(TRAIN), 0).fit(TRAIN)
    exact = contenders.make("sklearn-kpca", 4, KERNEL, None, 0).fit(TRAIN)
    ours, theirs = (contenders.eigenvalues(model, len(TRAIN)) for model in (pipeline, exact))
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_the_fastest_solver_is_used():
    model = contenders.make_fastest("sklearn-kpca", 4, KERNEL, None, 0, TRAIN)
    assert model.eigen_solver in ("arpack", "randomized", "dense")
    exact = contenders.make("kpca", 4, KERNEL, None, 0).fit(TRAIN)
    centered = exact.set_params(center=True).fit(TRAIN)
    np.testing.assert_allclose(model.fit(TRAIN).eigenvalues_, centered.eigenvalues_, rtol=1e-6)
    assert contenders.make_fastest("shadow", 4, KERNEL, 3.0, 0, TRAIN).density.ell == 3.0


def test_every_method_can_be_warmed_up():
    contenders.warm_up(5, "shadow", "kpca", "kpca-dense", "nystrom", "sklearn-nystroem")
