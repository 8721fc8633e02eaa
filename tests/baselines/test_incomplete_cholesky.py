"""Test incomplete Cholesky decomposition with a trace tolerance."""

import numpy as np
import pytest

from rskpca import Gaussian, NystromKernelPCA
from rskpca.baselines import IncompleteCholeskyKernelPCA
from tests import datasets, dense

KERNEL = Gaussian(4.0)


def residual_trace(X, pivots, weights):
    """Return the weighted trace of K - K_p K_pp^{-1} K_p', relative to that of K."""
    K = np.exp(dense.log_kernel(KERNEL, X, X))
    left = K - K[:, pivots] @ np.linalg.solve(K[np.ix_(pivots, pivots)], K[pivots])
    return weights @ np.diag(left) / weights.sum()


@pytest.mark.parametrize("tol", [0.3, 0.05, 1e-3])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_decomposition_stops_at_the_first_pivot_within_the_tolerance(tol, weighted):
    X = datasets.blobs(150, 3)
    weights = np.random.default_rng(0).random(150) + 0.1 if weighted else np.ones(150)
    model = IncompleteCholeskyKernelPCA(3, tol=tol, kernel=KERNEL)
    model.fit(X, sample_weight=weights if weighted else None)
    pivots = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in model.landmarks_]
    assert residual_trace(X, pivots, weights) <= tol
    assert residual_trace(X, pivots[:-1], weights) > tol


def test_the_total_error_of_the_eigenvalues_is_at_most_the_remaining_trace():
    X, tol = datasets.blobs(150, 3), 0.02
    exact = dense.KernelPCA(KERNEL, X, 5, center=False).eigenvalues
    model = IncompleteCholeskyKernelPCA(5, tol=tol, kernel=KERNEL, center=False).fit(X)
    error = exact - model.eigenvalues_
    assert np.all(error >= -1e-9)
    assert error.sum() <= tol * len(X)


@pytest.mark.parametrize("center", [True, False])
def test_the_result_equals_nystrom_with_the_same_number_of_pivots(center):
    X, new = datasets.blobs(150, 3), datasets.blobs(20, 3, seed=1)
    model = IncompleteCholeskyKernelPCA(3, tol=0.05, kernel=KERNEL, center=center).fit(X)
    same = NystromKernelPCA(
        3, kernel=KERNEL, landmarks="cholesky", n_centers=model.n_centers_, center=center
    ).fit(X)
    np.testing.assert_array_equal(model.landmarks_, same.landmarks_)
    np.testing.assert_allclose(model.transform(new), same.transform(new), atol=1e-10)


def test_too_few_pivots_for_the_tolerance_are_reported():
    with pytest.warns(UserWarning, match=r"With 4 pivots, .* Increase max_centers or tol"):
        IncompleteCholeskyKernelPCA(2, tol=1e-4, max_centers=4, kernel=KERNEL).fit(
            datasets.blobs(100, 3)
        )


@pytest.mark.parametrize("tol", [0, 1, -0.1, "auto", None])
def test_the_tolerance_must_be_between_zero_and_one(tol):
    with pytest.raises(ValueError, match=r"tol must be a number between 0 and 1"):
        IncompleteCholeskyKernelPCA(2, tol=tol).fit(datasets.blobs(30, 2))
