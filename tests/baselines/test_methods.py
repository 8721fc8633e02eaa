"""Test that each registered method is accurate and correctly described."""

import time
from functools import cache

import numpy as np
import pytest

from rskpca import Gaussian, Laplacian
from rskpca.baselines.methods import METHODS
from tests import datasets, dense


def size_of(method):
    return {"n_centers": 20 if method.slow else 60, "ell": 4.0, None: None}[method.size]


X, NEW = np.split(datasets.blobs(400, 3), [300])
KERNEL = Gaussian(6.0)


def make(name, seed=0):
    method = METHODS[name]
    return method.make(3, KERNEL, size_of(method), random_state=seed)


@cache
def fitted(name, seed=0):
    return make(name, seed).fit(X)


# Each limit is 1.3 times the measured relative error, averaged over the first seeds.
LIMITS = {
    "kpca": 1e-13,
    "sklearn-kpca": 1e-13,
    "shadow": 0.052,
    "shadow-two-scales": 0.053,
    "shadow-refined": 1.1e-4,
    "shadow-two-scales-refined": 5.1e-3,
    "kmeans": 6.3e-3,
    "paring": 0.225,
    "paring-covering": 0.095,
    "paring-sampled": 0.457,
    "parzen": 0.019,
    "herding": 0.042,
    "subsampled": 0.225,
    "nystrom": 0.123,
    "wnystrom": 2.9e-3,
    "nystrom-landmarks": 3.6e-4,
    "nystrom-cholesky": 1.7e-5,
    "incomplete-cholesky": 1.6e-3,
    "sampled-gram": 0.295,
    "random-projection": 0.035,
    "nystrom-means": 7.3e-5,
    "nystrom-rpcholesky": 1.1e-5,
    "nystrom-leverage": 7.1e-5,
    "selection": 6.3e-6,
    "construction": 0.011,
    "map-compression": 1.1e-4,
    "learned-map": 1.3e-4,
    "sparse": 0.046,
    "sklearn-nystroem": 3.6e-4,
    "fourier": 0.212,
}


@pytest.mark.parametrize("name", METHODS)
def test_every_method_approximates_exact_kernel_pca(name):
    exact = dense.KernelPCA(KERNEL, X, 3, center=True).transform(NEW)
    errors = []
    for seed in range(4 if METHODS[name].random else 1):
        Z = fitted(name, seed).transform(NEW)
        aligned = Z @ np.linalg.lstsq(Z, exact, rcond=None)[0]
        errors.append(np.linalg.norm(aligned - exact) / np.linalg.norm(exact))
    assert np.mean(errors) < LIMITS[name]


@pytest.mark.parametrize("name", METHODS)
def test_randomness_and_memory_use_are_declared_correctly(name):
    method, models = METHODS[name], [fitted(name), make(name).fit(X), fitted(name, 1)]
    first, again, other = (model.transform(NEW) for model in models)
    np.testing.assert_array_equal(first, again)
    assert np.allclose(np.abs(first), np.abs(other), atol=1e-9) == (not method.random)
    if hasattr(models[0], "basis_"):
        assert (len(models[0].basis_) == len(X)) == method.keeps_data


PEERS = ["sklearn-kpca", "sklearn-nystroem", "fourier"]


@pytest.mark.parametrize("name", PEERS)
def test_settings_change_only_the_speed(name):
    settings = METHODS[name].settings(len(X))
    assert len(settings) >= 3
    expected = fitted(name).transform(NEW)
    for setting in settings:
        model = make(name).set_params(**setting).fit(X)
        dense.assert_equal_up_to_sign(model.transform(NEW), expected, 1e-6)


def test_every_solver_of_kernel_pca_is_a_setting():
    solvers = [{s["eigen_solver"] for s in METHODS["sklearn-kpca"].settings(n)} for n in (99, 9999)]
    assert solvers == [{"arpack", "randomized", "dense"}, {"arpack", "randomized"}]


@pytest.mark.parametrize("name", METHODS)
def test_the_fastest_setting_is_found_by_timing(name):
    method = METHODS[name]
    settings, tried = method.settings(100), []

    def fit(setting):
        tried.append(setting)
        time.sleep(0.0 if setting == settings[-1] else 0.01)

    assert method.fastest(100, fit) == settings[-1]
    assert len(tried) == (2 * len(settings) if len(settings) > 1 else 0)


@pytest.mark.parametrize("name", METHODS)
def test_unsupported_options_are_rejected(name):
    method = METHODS[name]
    with pytest.raises(ValueError, match="size"):
        method.make(3, Gaussian(1.0), 5 if method.size is None else None)
    if method.gaussian:
        with pytest.raises(ValueError, match="requires a Gaussian kernel, got Laplacian"):
            method.make(3, Laplacian(1.0), size_of(method))
    if method.always_centered:
        with pytest.raises(ValueError, match=r"center must be True for .* got False"):
            method.make(3, Gaussian(1.0), size_of(method), center=False)
    else:
        assert method.make(3, Gaussian(1.0), size_of(method), center=False).center is False


@pytest.mark.parametrize("name", ["sklearn-nystroem", "fourier"])
def test_the_randomized_pca_from_scikit_learn_is_seeded(name):
    """PCA uses a randomized solver above 500 features."""
    X = np.random.default_rng(0).normal(size=(800, 24))
    first, second = (
        METHODS[name].make(5, Gaussian(5.0), 600, center=True, random_state=0).fit_transform(X)
        for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)
