"""Test that data which do not compress are recognized before the work starts."""

import numpy as np
import pytest

from rskpca import DiffusionMaps, KernelPCANovelty, ReducedSetKernelPCA, ShadowDensity
from rskpca.density.forecast import roughly_forecast
from rskpca.embedding import _base
from tests import datasets

NOISE = np.random.default_rng(0).uniform(size=(20_000, 24))


@pytest.mark.parametrize(
    ("estimator", "advice"),
    [
        (ReducedSetKernelPCA(7), 'Use NystromKernelPCA\\(7, landmarks="auto"\\)'),
        (KernelPCANovelty(), "Use NystromKernelPCA"),
        (DiffusionMaps(2), "ShadowDensity\\(max_centers=5000\\)"),
    ],
)
def test_rows_that_are_far_apart_are_rejected_with_advice(estimator, advice):
    with pytest.raises(ValueError, match=f"The data do not compress at this radius.*{advice}"):
        estimator.fit(NOISE)


def test_a_limit_on_the_number_of_centers_permits_the_fit():
    density = ShadowDensity(max_centers=200)
    assert ReducedSetKernelPCA(2, density=density).fit(NOISE).n_centers_ <= 200


def test_data_that_compress_are_fitted(monkeypatch):
    monkeypatch.setattr(_base, "MOST_CENTERS", 500)
    X = datasets.blobs(5_000, 2)
    assert ReducedSetKernelPCA(2).fit(X).n_centers_ <= 500


@pytest.mark.parametrize("radius", [0.3, 1.0])
def test_the_rough_forecast_is_of_the_right_size(radius):
    X = datasets.blobs(30_000, 3)
    actual = ShadowDensity(ell=4.0).fit(X)
    found = roughly_forecast(X, actual.kernel_.scale / 4 * radius, np.random.RandomState(0))
    counted = ShadowDensity(actual.kernel_, ell=4.0 / radius).fit(X).reduced_set_.n_centers
    assert counted / 2 < found < 2 * counted
