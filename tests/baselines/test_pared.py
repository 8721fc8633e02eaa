"""Test KDE paring with points sampled from the density estimate."""

import numpy as np
import pytest
from scipy import stats

from rskpca import Gaussian, Laplacian, ParingDensity, RadialKernel
from rskpca.baselines import SampledParingDensity, UniformDensity
from rskpca.baselines.densities import displacements
from tests import datasets
from tests.density.invariants import DensityInvariants


class TestSampledParing(DensityInvariants):
    weights_equal_repeats = False  # rows are drawn with replacement

    def make(self, kernel=None):
        return SampledParingDensity(40, kernel=kernel)

    def test_labels_map_each_row_to_a_center_within_the_radius(self, X):
        pytest.skip("points drawn from the density need not be the nearest to any row")

    def test_the_density_is_not_normalized_if_the_kernel_has_no_integral(self, X):
        pytest.skip("such a kernel cannot be sampled")


@pytest.mark.parametrize("n_features", [1, 2, 5])
@pytest.mark.parametrize("kernel", [Gaussian(1.7), Laplacian(1.7)])
def test_displacements_have_the_kernel_as_their_density(kernel, n_features):
    """The length has a density proportional to r^(d-1) k(r), and the direction is uniform."""
    moved = displacements(kernel, 20_000, n_features, np.random.RandomState(0))
    lengths = np.linalg.norm(moved, axis=1) / 1.7
    law = stats.gamma(n_features)
    if isinstance(kernel, Gaussian):  # r^2 has a gamma distribution
        lengths, law = lengths**2, stats.gamma(n_features / 2)
    assert stats.kstest(lengths, law.cdf).pvalue > 1e-3
    np.testing.assert_allclose(moved.mean(axis=0), 0, atol=6 * moved.std() / np.sqrt(20_000))


def test_points_are_drawn_from_the_density_estimate():
    """In one dimension, the points follow the distribution function of the estimate."""
    X, sigma = np.array([[0.0], [5.0]]).repeat(5000, axis=0), 0.8
    density = SampledParingDensity(8000, kernel=Gaussian(sigma)).fit(
        X, sample_weight=np.repeat([3.0, 1.0], 5000)
    )
    points = density.reduced_set_.centers[:, 0]

    def cdf(x):
        each = [stats.norm(m, sigma / np.sqrt(2)).cdf(x) for m in (0.0, 5.0)]
        return 0.75 * each[0] + 0.25 * each[1]

    assert stats.kstest(points, cdf).pvalue > 1e-3
    np.testing.assert_allclose(density.reduced_set_.weights, 20_000 / 8000)


def test_sampled_paring_draws_new_points_but_plain_paring_keeps_rows():
    X, kernel = datasets.blobs(200, 3), Gaussian(2.0)
    ours, uniform = (
        density(30, kernel=kernel).fit(X).reduced_set_
        for density in (SampledParingDensity, UniformDensity)
    )
    assert ParingDensity(30, kernel=kernel).fit(X).reduced_set_ == uniform
    rows = {row.tobytes() for row in X}
    assert not any(center.tobytes() in rows for center in ours.centers)


def test_a_kernel_that_cannot_be_sampled_is_rejected():
    cauchy = RadialKernel(lambda s: 1 / (1 + s), power=2, bandwidth=2.0)
    with pytest.raises(ValueError, match="requires a Gaussian or Laplacian kernel"):
        SampledParingDensity(5, kernel=cauchy).fit(datasets.blobs(20, 2))
