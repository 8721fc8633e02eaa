"""Test ShadowDensity(max_centers=...), which streams in bounded memory."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rskpca import Gaussian, ReducedSetKernelPCA, ShadowDensity
from tests import datasets
from tests.density.invariants import DensityInvariants
from tests.density.test_shadow import distances_to
from tests.states import fitted_state


class TestInvariants(DensityInvariants):
    def make(self, kernel=None):
        return ShadowDensity(kernel, ell=3.0, max_centers=10_000)


def bounded(limit, ell=20.0, **options):
    return ShadowDensity(Gaussian(1.0), ell=ell, max_centers=limit, **options)


def true_sums(X, weights, density):
    """Return the sums of ||x - c|| and ||x - c||^2 per center, from the labels."""
    s, labels = density.reduced_set_, density.labels_
    distances = np.linalg.norm(X.astype(float) - s.centers[labels].astype(float), axis=1)
    return [
        np.bincount(labels, weights=weights * values, minlength=s.n_centers)
        for values in (distances, distances**2)
    ]


@given(
    seed=st.integers(0, 2**32),
    limit=st.integers(1, 120),
    n_features=st.integers(1, 4),
    fractional=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
)
@settings(max_examples=60)
def test_radius_displacement_and_scatter_remain_upper_bounds(
    seed, limit, n_features, fractional, dtype
):
    rng = np.random.default_rng(seed)
    X = rng.standard_cauchy(size=(400, n_features)).clip(-1e4, 1e4).astype(dtype)
    weights = rng.random(400) + 0.01 if fractional else np.ones(400)
    density = bounded(limit).fit(X, sample_weight=weights)
    s = density.reduced_set_
    assert s.n_centers <= limit
    assert s.weights.sum() == pytest.approx(weights.sum(), rel=1e-12)
    np.testing.assert_allclose(s.weights, np.bincount(density.labels_, weights=weights), rtol=1e-12)
    distances = distances_to(X, s.centers)
    assert distances[np.arange(400), density.labels_].max() <= s.radius * (1 + 1e-12)
    assert distances.min(axis=1).max() <= s.radius
    displacement, scatter = true_sums(X, weights, density)
    assert np.all(displacement <= s.displacement * (1 + 1e-12))
    assert np.all(scatter <= s.scatter * (1 + 1e-12))
    if s.n_centers > 1:
        between = distances_to(s.centers, s.centers) + np.diag(np.full(s.n_centers, np.inf))
        assert between.min() >= s.spacing


@given(
    seed=st.integers(0, 2**32),
    cuts=st.lists(st.integers(1, 3999), max_size=6),
    limit=st.integers(1, 300),
    fractional=st.booleans(),
    pickled=st.booleans(),
)
@settings(max_examples=40)
def test_any_chunking_is_bitwise_equal_to_a_single_fit(seed, cuts, limit, fractional, pickled):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4000, 2)) * rng.uniform(0.5, 5.0)
    weights = rng.random(4000) if fractional else np.ones(4000)
    whole = bounded(limit).fit(X, sample_weight=weights)
    stream = bounded(limit)
    for rows in np.split(np.arange(4000), sorted(set(cuts))):
        stream.partial_fit(X[rows], sample_weight=weights[rows])
        assert stream.reduced_set_.n_centers <= limit
        stream = pickle.loads(pickle.dumps(stream)) if pickled else stream
    assert stream.reduced_set_ == whole.reduced_set_


def test_labels_refer_to_the_centers_after_the_radius_has_grown():
    X = datasets.blobs(3000, 3)
    density = bounded(50).partial_fit(X[:1000]).partial_fit(X[1000:])
    s = density.reduced_set_
    distances = np.linalg.norm(X[1000:] - s.centers[density.labels_], axis=1)
    assert distances.max() <= s.radius


def test_a_limit_that_is_never_reached_has_no_effect():
    X = datasets.blobs(3000, 3)
    plain = ShadowDensity(Gaussian(2.0)).fit(X)
    limited = ShadowDensity(Gaussian(2.0), max_centers=plain.reduced_set_.n_centers).fit(X)
    assert limited.reduced_set_ == plain.reduced_set_
    np.testing.assert_array_equal(limited.labels_, plain.labels_)


def test_the_radius_grows_if_the_limit_is_one_center_too_low():
    X = datasets.blobs(3000, 3)
    plain = ShadowDensity(Gaussian(2.0)).fit(X).reduced_set_
    s = ShadowDensity(Gaussian(2.0), max_centers=plain.n_centers - 1).fit(X).reduced_set_
    assert s.n_centers < plain.n_centers
    assert plain.radius == plain.spacing < s.spacing < s.radius


def test_a_lower_limit_takes_effect_with_the_next_chunk():
    X = datasets.blobs(2000, 2)
    stream = bounded(500).partial_fit(X[:1000])
    stream.set_params(max_centers=40).partial_fit(X[1000:])
    assert stream.reduced_set_.n_centers <= 40
    assert distances_to(X, stream.reduced_set_.centers).min(axis=1).max() <= (
        stream.reduced_set_.radius
    )


def test_rows_can_be_forgotten_only_until_the_radius_grows():
    X = datasets.blobs(2000, 2)
    stream = bounded(400, ell=4.0).partial_fit(X[:100])
    stream.forget(X[50:100])
    assert stream.reduced_set_.n_samples == 50
    stream.set_params(max_centers=20).partial_fit(X[100:])
    before = fitted_state(stream)
    with pytest.raises(ValueError, match=r"forget: max_centers made the radius grow.*Nothing"):
        stream.forget(X[:1])
    assert fitted_state(stream) == before


def test_kernel_pca_works_with_a_limited_number_of_centers():
    X = datasets.blobs(5000, 3)
    model = ReducedSetKernelPCA(3, density=ShadowDensity(ell=30.0, max_centers=200))
    for chunk in np.array_split(X, 4):
        model.partial_fit(chunk)
    assert model.n_centers_ <= 200
    exact = ReducedSetKernelPCA(3, kernel=model.kernel_, ell=30.0).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=0.05)


@pytest.mark.parametrize("limit", [0, -1, 2.5, "10", True, np.nan])
def test_an_invalid_limit_is_reported(limit):
    X = datasets.blobs(30, 2)
    density = bounded(10).fit(X)
    before = fitted_state(density)
    for verb in (density.fit, density.partial_fit):
        density.set_params(max_centers=limit)
        with pytest.raises(ValueError, match="max_centers must be an integer of at least 1"):
            verb(X)
        assert fitted_state(density) == before


def test_an_infinite_ell_cannot_be_combined_with_a_limit():
    with pytest.raises(ValueError, match=r"max_centers=10 requires a finite ell.*100\.0"):
        bounded(10, ell=np.inf).fit(datasets.blobs(30, 2))


def test_data_that_no_finite_radius_can_cover_are_rejected():
    X = np.array([[0.0], [1e200], [2e200]])
    with pytest.raises(ValueError, match=r"max_centers: the data are spread so wide.*rescale"):
        bounded(2).fit(X)


@pytest.mark.slow
def test_a_long_stream_stays_within_the_limit():
    rng = np.random.default_rng(0)
    stream = bounded(2000)
    for _ in range(10):
        chunk = rng.normal(size=(500_000, 3))
        stream.partial_fit(chunk)
        assert stream.reduced_set_.n_centers <= 2000
        assert distances_to(chunk[::1000], stream.reduced_set_.centers).min(axis=1).max() <= (
            stream.reduced_set_.radius
        )
    assert stream.reduced_set_.n_samples == 5_000_000
    assert stream.reduced_set_.n_centers > 1000
