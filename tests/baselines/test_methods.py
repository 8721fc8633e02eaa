"""The registry: each method fits, embeds, and is what it says it is."""

import numpy as np
import pytest

from rskpca import Gaussian, Laplacian
from rskpca.baselines.methods import METHODS
from tests import datasets, dense


def size_of(method):
    return {"n_centers": 20 if method.slow else 60, "ell": 4.0, None: None}[method.size]


@pytest.fixture(scope="module")
def data():
    X = datasets.blobs(400, 3)
    return X[:300], X[300:], Gaussian(6.0)


@pytest.mark.parametrize("name", METHODS)
def test_it_is_near_exact_kernel_pca(name, data):
    X, new, kernel = data
    method = METHODS[name]
    model = method.make(3, kernel, size_of(method)).fit(X)
    exact = dense.KernelPCA(kernel, X, 3, center=True).transform(new)
    Z = model.transform(new)
    aligned = Z @ np.linalg.lstsq(Z, exact, rcond=None)[0]
    limit = 0.35 if name == "fourier" else 0.2
    assert np.linalg.norm(aligned - exact) / np.linalg.norm(exact) < limit


@pytest.mark.parametrize("name", METHODS)
def test_what_it_says_of_the_seed_and_of_the_data_is_true(name, data):
    X, new, kernel = data
    method = METHODS[name]
    size = size_of(method)
    models = [method.make(3, kernel, size, random_state=seed).fit(X) for seed in (0, 0, 1)]
    first, again, other = (model.transform(new) for model in models)
    np.testing.assert_array_equal(first, again)
    if name != "sklearn-kpca":  # its solver's seed shows in the last digits only
        assert np.allclose(np.abs(first), np.abs(other), atol=1e-9) == (not method.random)
    if hasattr(models[0], "basis_"):
        assert (len(models[0].basis_) == len(X)) == method.keeps_data


@pytest.mark.parametrize("name", METHODS)
def test_what_it_cannot_do_is_said(name):
    method = METHODS[name]
    with pytest.raises(ValueError, match="size"):
        method.make(3, Gaussian(1.0), 5 if method.size is None else None)
    if method.gaussian:
        with pytest.raises(ValueError, match="needs a Gaussian kernel, got Laplacian"):
            method.make(3, Laplacian(1.0), size_of(method))
    if method.always_centered:
        with pytest.raises(ValueError, match="always about the mean, got center=False"):
            method.make(3, Gaussian(1.0), size_of(method), center=False)
    else:
        assert method.make(3, Gaussian(1.0), size_of(method), center=False).center is False


@pytest.mark.parametrize("name", ["sklearn-nystroem", "fourier"])
def test_scikit_learn_is_seeded_where_its_pca_is_random(name):
    """Above 500 features its PCA takes a randomized solver."""
    X = np.random.default_rng(0).normal(size=(800, 24))
    first, second = (
        METHODS[name].make(5, Gaussian(5.0), 600, center=True, random_state=0).fit_transform(X)
        for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)
