"""Test that reduced-set selection projects the axes onto a subset of the centers."""

import numpy as np
import pytest

from rskpca import Laplacian, ReducedSet, ReducedSetKernelPCA, select_reduced_set
from tests import datasets, dense
from tests.baselines.cases import case, centered_or_not, dense_axes, each, kernel, project_densely
from tests.baselines.invariants import CompressionInvariants


class TestInvariants(CompressionInvariants):
    def compress(self, model, n_centers):
        return select_reduced_set(model, n_centers)


@each
@centered_or_not
@pytest.mark.parametrize("n_centers", [5, 40])
def test_the_selection_projects_the_axes(name, center, n_centers):
    _, new, model = case(name, center)
    small = select_reduced_set(model, n_centers)
    expected = project_densely(name, center, small.basis_, new)
    np.testing.assert_allclose(small.transform(new), expected, atol=1e-8)


@each
@centered_or_not
def test_each_selected_point_reduces_the_error_most(name, center):
    X, _, model = case(name, center)
    K, V, chosen = kernel(name, X, X), dense_axes(name, center), []
    for _ in range(4):
        errors = np.full(len(X), np.inf)
        for i in set(range(len(X))) - set(chosen):
            S = [*chosen, i]
            errors[i] = -np.sum((K[S] @ V) * np.linalg.solve(K[np.ix_(S, S)], K[S] @ V))
        chosen.append(int(np.argmin(errors)))
    small = select_reduced_set(model, 4)
    np.testing.assert_array_equal(small.basis_, X[np.sort(chosen)])
    assert np.sum(small.axis_errors_**2) == pytest.approx(4 + errors.min(), rel=1e-8)


@each
@centered_or_not
def test_selecting_all_centers_reproduces_the_model(name, center):
    X, new, model = case(name, center)
    small = select_reduced_set(model, len(X))
    np.testing.assert_allclose(small.transform(new), model.transform(new), atol=1e-8)


@pytest.mark.parametrize("center", [False, True])
def test_any_kernel_and_weights_are_supported(center):
    X, new = datasets.blobs(120, 3), datasets.blobs(30, 3, seed=9)
    weights = np.random.default_rng(0).integers(1, 5, size=120)
    weighted, repeated = (
        ReducedSetKernelPCA(3, kernel=Laplacian(4.0), ell=np.inf, center=center) for _ in range(2)
    )
    weighted.fit(X, sample_weight=weights)
    repeated.fit(np.repeat(X, weights, axis=0))
    small, other = (select_reduced_set(model, 15) for model in (weighted, repeated))
    np.testing.assert_allclose(small.transform(new), other.transform(new), atol=1e-9)
    K = np.exp(dense.log_kernel(Laplacian(4.0), small.basis_, small.basis_))
    axes = weighted.eigensystem_.extend(small.basis_) * np.sqrt(weighted.eigenvalues_)
    if not center:  # K_ZZ A = <psi(Z), v>
        A = small.eigensystem_.coefficients * np.sqrt(small.eigenvalues_)
        np.testing.assert_allclose(K @ A, axes, atol=1e-9)


def test_the_error_decreases_with_more_points():
    _, new, model = case("digits")
    errors = [
        np.linalg.norm(select_reduced_set(model, m).transform(new) - model.transform(new))
        for m in (5, 20, 80, 150)
    ]
    assert np.all(np.diff(errors) < 0)


def test_repeated_centers_are_selected_once():
    X = datasets.blobs(15, 3)
    model = ReducedSetKernelPCA(3, bandwidth=4.0, ell=np.inf).fit(X)
    once = model.transform(X)
    model.density_.reduced_set_ = ReducedSet(np.repeat(X, 4, axis=0), np.full(60, 0.25))
    small = select_reduced_set(model, 40)
    assert small.n_centers_ == 15
    np.testing.assert_allclose(small.transform(X), once, atol=1e-8)
