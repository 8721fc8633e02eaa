"""Test the errors estimated from pairs of sampled rows."""

import numpy as np
import pytest

from rskpca import Gaussian, Laplacian, ShadowDensity
from rskpca.pairs import FeaturePairs
from tests import datasets

X = datasets.blobs(600, 3)


def pairs_of(kernel, *, distinct=False, size=200):
    """Return the pairs of a weighted sample, with one point per row or the distinct points."""
    weights = np.random.default_rng(0).random(len(X)) + 0.5
    density = ShadowDensity(kernel, 2.0, sample_size=size).fit(X, sample_weight=weights)
    s = density.reduced_set_
    if distinct:
        used, index = np.unique(s.sample.labels, return_inverse=True)
        return FeaturePairs.of(kernel, s.sample, None, s.centers[used], s.n_samples, index)
    points = s.centers[s.sample.labels]
    return FeaturePairs.of(kernel, s.sample, None, points, s.n_samples)


def entrywise_sums(pairs, power, center):
    """Return the reference result, computed from one matrix of all terms."""
    a, total = pairs.shares, np.zeros_like(pairs.xx)
    for matrix, sign in ((pairs.xx, 1), (pairs.xq, -1), (pairs.xq.T, -1), (pairs.qq, 1)):
        if center:
            matrix = matrix - (matrix @ a)[:, None] - a @ matrix + a @ matrix @ a
        total += sign * matrix**power
    return total @ a, np.diag(total)


@pytest.mark.parametrize(("power", "center"), [(1, False), (2, False), (2, True)])
@pytest.mark.parametrize("kernel", [Gaussian(3.0), Laplacian(3.0)], ids=["Gaussian", "Laplacian"])
def test_the_sums_over_pairs_equal_those_of_the_whole_matrix(kernel, power, center):
    pairs = pairs_of(kernel)
    for found, expected in zip(
        pairs._sums(power, center), entrywise_sums(pairs, power, center), strict=True
    ):
        np.testing.assert_allclose(found, expected, atol=1e-14)
        assert np.abs(expected).max() > 1e-6


def test_points_can_be_shared_between_rows():
    one, two = pairs_of(Gaussian(3.0)), pairs_of(Gaussian(3.0), distinct=True)
    for name in ("xx", "xq", "qq", "shares", "own"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), atol=1e-14)
