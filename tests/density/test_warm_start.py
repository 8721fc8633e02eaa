"""Test ShadowDensity(warm_start=True), which starts from the previous centers."""

import numpy as np
import pytest

from rskpca import Gaussian, ReducedSetKernelPCA, ShadowDensity
from rskpca._core import reference
from rskpca.row_sample import RowSample
from tests import datasets
from tests.states import fitted_state

X = datasets.blobs(500, 2)
LATER = datasets.blobs(300, 2, seed=3)


def warm(ell=4.0, **options):
    return ShadowDensity(Gaussian(2.0), ell=ell, warm_start=True, **options)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_assigned_to_the_old_centers_first(dtype):
    """The result is as if the old centers had been added first and then forgotten."""
    density = warm().fit(X)
    old = density.reduced_set_.centers.astype(dtype)
    density.fit(LATER.astype(dtype))
    rows = np.concatenate([old, LATER.astype(dtype)])
    chosen, labels, squared = reference.cover(rows, 0.5)
    own, distances = labels[len(old) :], squared[len(old) :]
    used = np.unique(own)
    s = density.reduced_set_
    assert s.centers.dtype == dtype
    np.testing.assert_array_equal(s.centers, rows[chosen][used])
    np.testing.assert_array_equal(s.weights, np.bincount(own)[used])
    np.testing.assert_array_equal(density.labels_, np.searchsorted(used, own))
    np.testing.assert_allclose(s.scatter, np.bincount(own, distances)[used], atol=1e-12)
    sample = s.sample
    assert sample.relabel(np.zeros(s.n_centers, dtype=np.intp)) == RowSample.of(
        LATER.astype(dtype), np.ones(len(LATER)), np.zeros(len(LATER), dtype=np.intp)
    )
    distances = np.linalg.norm(sample.rows - s.centers[sample.labels], axis=1)
    assert distances.max() < s.radius


def test_the_first_fit_is_a_cold_start():
    assert warm().fit(X).reduced_set_ == ShadowDensity(Gaussian(2.0)).fit(X).reduced_set_


def test_a_stream_can_continue_and_forget_after_a_warm_start():
    density = warm().fit(X).fit(LATER).partial_fit(X[:50]).forget(LATER[:100])
    assert density.reduced_set_.n_samples == 250


def test_a_larger_radius_keeps_only_centers_that_are_far_enough_apart():
    density = warm(8.0).fit(X).set_params(ell=2.0).fit(X)
    s = density.reduced_set_
    gaps = np.linalg.norm(s.centers[:, None] - s.centers, axis=2) + 9 * np.eye(s.n_centers)
    assert gaps.min() >= s.spacing == 1.0


def test_the_median_bandwidth_is_kept():
    density = ShadowDensity(warm_start=True).fit(X)
    bandwidth = density.kernel_.bandwidth
    assert density.fit(10 * LATER).kernel_.bandwidth == bandwidth
    assert ShadowDensity().fit(10 * LATER).kernel_.bandwidth > 5 * bandwidth


def test_old_centers_are_discarded_if_ell_is_infinite():
    density = warm(np.inf).fit(X).fit(LATER)
    np.testing.assert_array_equal(density.reduced_set_.centers, LATER)


def test_the_certificate_is_valid_after_a_warm_start():
    model = ReducedSetKernelPCA(3, density=warm()).fit(X).fit(LATER)
    certificate = model.certify(LATER)
    for name in ("a priori", "a posteriori", "sample"):
        assert certificate.level("measured").operator <= certificate.level(name).operator


@pytest.mark.parametrize(
    ("options", "rows", "message"),
    [
        ({"warm_start": "yes"}, LATER, "warm_start must be True or False, got 'yes'"),
        ({"max_centers": 50}, LATER, "max_centers=50 and warm_start=True cannot be combined"),
        ({}, LATER[:, :1], "centers with 2 features, but X has 1; set warm_start=False"),
    ],
)
def test_settings_that_do_not_support_a_warm_start_are_rejected(options, rows, message):
    density = warm().fit(X)
    before = fitted_state(density)
    with pytest.raises(ValueError, match=message):
        density.set_params(**options).fit(rows)
    assert fitted_state(density) == before
