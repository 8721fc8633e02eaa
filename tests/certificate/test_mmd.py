"""Test the bound on the maximum mean discrepancy (Theorem 5.1)."""

import numpy as np
import pytest
from hypothesis import given, settings

from rskpca import Gaussian, Laplacian, RadialKernel, ReducedSet
from rskpca.certificate import mmd
from tests import datasets
from tests.certificate import cases
from tests.certificate.cases import IDS, KERNELS, ROUNDING, matrix


@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
def test_the_measured_discrepancy_matches_the_definition(kernel):
    X = datasets.blobs(60, 3)
    s, labels = cases.shadow(kernel, X, 0.8)
    Q = s.centers[labels]
    square = (matrix(kernel, X, X) - 2 * matrix(kernel, X, Q) + matrix(kernel, Q, Q)).mean()
    assert mmd.measure(kernel, X, s) == pytest.approx(np.sqrt(square), rel=1e-9)


def test_integer_weights_are_equivalent_to_repeated_rows():
    X = datasets.blobs(40, 2)
    weights = np.random.default_rng(0).integers(1, 4, 40)
    s, _ = cases.shadow(Gaussian(1.0), np.repeat(X, weights, axis=0), 1.0)
    repeated = mmd.measure(Gaussian(1.0), np.repeat(X, weights, axis=0), s)
    assert mmd.measure(Gaussian(1.0), X, s, weights) == pytest.approx(repeated, rel=1e-9)


def test_the_bound_equals_the_formula():
    assert mmd.bound(Gaussian(2.0), 4.0) == pytest.approx(0.348, abs=1e-3)
    assert mmd.bound(Gaussian(2.0), radius=0.5) == mmd.bound(Gaussian(2.0), 4.0)
    assert mmd.bound(Laplacian(2.0), 4.0) == pytest.approx(np.sqrt(2 * (1 - np.exp(-0.25))))
    assert mmd.bound(Gaussian(2.0), np.inf) == 0
    assert mmd.bound(Gaussian(2.0), 1e9) == pytest.approx(np.sqrt(2) * 1e-9)  # no cancellation


@given(case=cases.quantized(), kernel=cases.kernels)
@settings(max_examples=150, deadline=None)
def test_the_measured_discrepancy_never_exceeds_the_bounds(case, kernel):
    X, s = cases.reduced_set(*case)
    measured = mmd.measure(kernel, X, s)
    from_sums, from_radius = mmd.from_sums(kernel, s), mmd.bound(kernel, radius=s.radius)
    assert measured <= from_sums + ROUNDING
    assert from_sums <= from_radius * (1 + 1e-8)
    assert from_sums <= mmd.root_mean_square(kernel, s) * (1 + 1e-8)


@given(case=cases.quantized(), kernel=cases.kernels)
@settings(max_examples=100, deadline=None)
def test_the_root_mean_square_never_exceeds_its_bound(case, kernel):
    X, s = cases.reduced_set(*case)
    labels = case[1]
    drops = kernel.kappa - np.diag(matrix(kernel, X, s.centers[labels]))
    assert np.sqrt(2 * drops.mean()) <= mmd.root_mean_square(kernel, s) + 1e-7


@given(case=cases.quantized(), kernel=cases.kernels)
@settings(max_examples=50, deadline=None)
def test_the_bound_remains_valid_after_a_merge(case, kernel):
    X, s = cases.reduced_set(*case)
    moved = ReducedSet(
        s.centers + 0.1, s.weights, s.radius, spacing=1.0,
        displacement=s.displacement, scatter=s.scatter,
    )  # fmt: skip
    with_spacing = ReducedSet(
        s.centers, s.weights, s.radius, spacing=1.0,
        displacement=s.displacement, scatter=s.scatter,
    )  # fmt: skip
    merged = with_spacing.merge(moved)
    both = np.concatenate([X, X + 0.1])
    assert mmd.measure(kernel, both, merged) <= mmd.from_sums(kernel, merged) + ROUNDING


def test_one_point_displaced_by_the_radius_attains_the_bound():
    s = ReducedSet(np.zeros((1, 1)), np.ones(1), 0.5)
    X = np.array([[0.5]])
    assert mmd.measure(Gaussian(1.0), X, s) == pytest.approx(mmd.bound(Gaussian(1.0), radius=0.5))


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Laplacian(1.0)], ids=["Gaussian", "Laplacian"])
def test_kernels_declared_concave_are_concave(kernel):
    """The feature-space distance is concave in r and its square in r^power; see docs/bounds.md."""
    r = np.linspace(0, 5, 2001)[1:]
    assert np.all(np.diff(np.sqrt(kernel.drop(r)), 2) <= 1e-12)
    assert np.all(np.diff(kernel.drop(r ** (1 / kernel.power)), 2) <= 1e-12)


def test_a_periodic_profile_is_bounded_by_its_minimum():
    """The cosine is a periodic, positive definite kernel on the line."""
    kernel = RadialKernel(np.cos, 1.0, 1.0, lipschitz=1.0)
    s = ReducedSet(np.zeros((1, 1)), np.ones(1), 2 * np.pi)
    measured = mmd.measure(kernel, np.array([[np.pi]]), s)
    assert measured == pytest.approx(2.0)
    assert 2.0 <= mmd.bound(kernel, radius=s.radius) <= 2.002


def test_a_dip_between_grid_points_is_bounded_by_the_lipschitz_constant():
    """A profile may drop between grid points by at most what the Lipschitz constant allows."""
    radius, at = 1.0, 0.5 + 0.5 / 1024

    def profile(s):
        return 1 - 0.4 * np.exp(-((np.asarray(s) - at) ** 2) * 1e8)

    deepest = np.sqrt(2 * 0.4)
    steep = RadialKernel(profile, 1.0, 1.0, lipschitz=0.4 * np.sqrt(2 / np.e) * 1e4)
    assert mmd.bound(steep, radius=radius) >= deepest
    assert mmd.bound(RadialKernel(profile, 1.0, 1.0), radius=radius) is None
    assert mmd.bound(RadialKernel(profile, 1.0, 1.0), radius=0) == 0


def test_the_radius_is_used_if_the_sums_are_missing():
    centers, weights = np.zeros((1, 1)), np.ones(1)
    kernel = Gaussian(1.0)
    assert mmd.from_sums(kernel, ReducedSet(centers, weights, 0.5)) == mmd.bound(kernel, radius=0.5)
    assert mmd.from_sums(kernel, ReducedSet(centers, weights)) is None
    bare = RadialKernel(lambda s: 1 / (1 + s), 2, 1.0, monotone=True)
    sums = {"displacement": np.ones(1), "scatter": np.ones(1)}
    assert mmd.from_sums(bare, ReducedSet(centers, weights, **sums)) is None
    assert mmd.from_sums(bare, ReducedSet(centers, weights, 0.5, **sums)) == mmd.bound(
        bare, radius=0.5
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "ell or radius"),
        ({"ell": 4.0, "radius": 1.0}, "ell or radius"),
        ({"ell": -1.0}, "ell must be"),
        ({"radius": np.nan}, "radius must be"),
    ],
)
def test_invalid_input_is_reported(given, message):
    with pytest.raises(ValueError, match=message):
        mmd.bound(Gaussian(1.0), **given)
