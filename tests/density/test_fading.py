"""Test FadingDensity against a naive stream with decaying weights."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rskpca import FadingDensity, Gaussian, ReducedSetKernelPCA, ShadowDensity
from rskpca.density import _aging, fading
from tests.density.invariants import DensityInvariants
from tests.density.naive import NaiveStream, assert_same
from tests.density.test_window import drifting_rows
from tests.states import fitted_state


class TestInvariants(DensityInvariants):
    """Invariants for a half-life so long that weights hardly decay."""

    def make(self, kernel=None):
        return FadingDensity(1e300, ShadowDensity(kernel, ell=3.0))


def fading_density(half_life, radius=0.5, **options):
    return FadingDensity(half_life, ShadowDensity(Gaussian(4 * radius), ell=4.0, **options))


def naive_stream(half_life, radius=0.5):
    patience = math.ceil(fading.PATIENCE * half_life)
    return NaiveStream(radius, half_life=half_life, patience=patience)


@given(
    seed=st.integers(0, 2**32),
    half_life=st.sampled_from([0.05, 0.7, 1.0, 3.3, 20.0, 1e6]),
    chunks=st.lists(st.integers(1, 80), min_size=1, max_size=8),
    weighted=st.booleans(),
    pickled=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_any_stream_equals_the_naive_stream(seed, half_life, chunks, weighted, pickled):
    rng = np.random.default_rng(seed)
    density, naive = fading_density(half_life), naive_stream(half_life)
    for n in chunks:
        X = 2.0 * rng.normal(size=(n, 2))
        weights = rng.random(n) + 0.01 if weighted else np.ones(n)
        density.partial_fit(X, sample_weight=weights)
        naive.add(X, weights)
        density = pickle.loads(pickle.dumps(density)) if pickled else density
        s = density.reduced_set_
        assert_same(s, naive, rtol=1e-11)
        assert weighted or s.radius is not None
        assert (s.radius is None) == (s.sample is None) == (s.displacement is None)
        if s.sample is not None:  # otherwise, the expired weight is not negligible
            assert_sampled(s.sample, naive)


def assert_sampled(sample, naive):
    """Check the rows of a sample, their decayed weights and their centers."""
    homes = {home: j for j, home in enumerate(naive.centers)}
    counts = naive.counts()
    known = {row.tobytes(): (counts[n], homes[home]) for n, (row, _, home) in naive.rows.items()}
    expected = [known[row.tobytes()] for row in sample.rows]  # fails for rows that have expired
    np.testing.assert_allclose(sample.weights, [weight for weight, _ in expected], rtol=1e-11)
    np.testing.assert_array_equal(sample.labels, [label for _, label in expected])
    if sample.threshold == np.inf:  # rows that are not in the sample have no weight
        assert sample.weights.sum() == pytest.approx(sum(counts.values()), rel=1e-11)


@pytest.mark.parametrize("half_life", [3.0, 40.0, 500.0])
def test_estimates_from_the_sample_are_unbiased(half_life):
    X = drifting_rows(600)
    weights = 2.0 ** ((np.arange(600) - 599) / half_life)
    expected = weights @ np.sin(X[:, 0])
    found = []
    for seed in range(150):
        density = fading_density(half_life, sample_size=40, random_state=seed)
        sample = density.fit(X).reduced_set_.sample
        found.append(np.sin(sample.rows[:, 0]) @ (sample.weights / sample.probabilities))
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - expected) < 4 * error + 1e-6 * weights.sum()
    assert error < 0.05 * weights.sum()


@given(
    seed=st.integers(0, 2**32),
    cuts=st.lists(st.integers(1, 699), max_size=6),
    half_life=st.sampled_from([0.5, 1.0, 2.5, 300.0]),
    weighting=st.sampled_from([None, "whole", "fractional"]),
    size=st.sampled_from([5, 60, 2000]),
)
@settings(max_examples=60, deadline=None)
def test_any_chunking_gives_bitwise_equal_results(seed, cuts, half_life, weighting, size):
    X = drifting_rows(700, seed=seed)
    rng = np.random.default_rng(seed)
    weights = {"whole": rng.integers(1, 9, 700), "fractional": rng.random(700)}.get(weighting)
    weights = np.ones(700) if weights is None else weights.astype(float)
    whole = fading_density(half_life, sample_size=size).fit(X, sample_weight=weights)
    stream = fading_density(half_life, sample_size=size)
    for rows in np.split(np.arange(700), sorted(set(cuts))):
        stream.partial_fit(X[rows], sample_weight=weights[rows])
    assert stream.reduced_set_ == whole.reduced_set_


def test_any_chunking_gives_bitwise_equal_results_even_if_integer_sums_are_rounded():
    X = drifting_rows(60)
    weights = np.random.default_rng(0).integers(2**40, 2**52, 60) * 2.0**257
    whole = fading_density(1.0).fit(X, sample_weight=weights).reduced_set_
    for cut in range(30, 59):
        stream = fading_density(1.0).partial_fit(X[:cut], sample_weight=weights[:cut])
        assert stream.partial_fit(X[cut:], sample_weight=weights[cut:]).reduced_set_ == whole


def test_the_last_row_has_weight_one_and_earlier_rows_decay_geometrically():
    stream = fading_density(10.0).fit(np.zeros((500, 1)))
    ratio = 2 ** (-1 / 10)
    assert stream.reduced_set_.n_samples == pytest.approx((1 - ratio**500) / (1 - ratio), rel=1e-12)
    assert fading_density(10.0).fit([[0.0], [9.0]]).reduced_set_.weights[1] == 1.0


def test_accuracy_is_preserved_over_many_half_lives():
    """The weights are rescaled every 256 half-lives."""
    s = fading_density(1.5).fit(np.zeros((3000, 1))).reduced_set_
    total = 1 / (1 - 2 ** (-1 / 1.5))
    assert s.n_samples == pytest.approx(total, rel=1e-14)
    assert s.sample.weights.sum() == pytest.approx(total, rel=1e-14)


def test_a_drifting_stream_is_tracked_in_bounded_memory():
    X = np.random.default_rng(0).normal(size=(40_000, 2)) + np.linspace(0, 1e4, 40_000)[:, None]
    stream = fading_density(20.0, sample_size=0)
    sizes = [stream.partial_fit(chunk).reduced_set_.n_centers for chunk in np.split(X, 20)]
    assert max(sizes) <= fading.PATIENCE * 20
    assert len(pickle.dumps(stream)) < 100_000
    np.testing.assert_array_less(9e3, stream.reduced_set_.centers)


def test_the_sample_is_dropped_if_expired_centers_had_a_large_weight():
    X = np.zeros((1000, 1))
    X[0] = 50.0
    weights = np.r_[1e12, np.ones(999)]
    stream = fading_density(1.0).partial_fit(X[:80], sample_weight=weights[:80])
    assert stream.reduced_set_.n_centers == 1
    assert stream.reduced_set_.sample is not None  # 1e12 2^-79 is negligible
    assert stream.reduced_set_.radius == 0.5
    heavy = fading_density(1.0).partial_fit(X[:30], sample_weight=weights[:30])
    assert heavy.reduced_set_.n_centers == 1  # the heavy center expired with a weight of 1e12 2^-29
    for name in ("sample", "radius", "displacement", "scatter"):
        assert getattr(heavy.reduced_set_, name) is None
    assert heavy.partial_fit(X[30:]).reduced_set_.sample is not None


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize(("heaviest", "half_life"), [(1e12, 1.0), (1e8, 5.0), (2.0, 1.0)])
def test_the_certificate_remains_valid_after_a_heavy_row_expires(heaviest, half_life, center):
    n = int(fading.PATIENCE * half_life) + 2
    X = np.random.default_rng(0).normal(size=(n, 1))
    X[0] = 50.0
    weights = np.r_[heaviest, np.ones(n - 1)]
    model = ReducedSetKernelPCA(1, center=center, density=fading_density(half_life, radius=0.125))
    certificate = model.fit(X, sample_weight=weights).certify(
        X, sample_weight=weights * 2.0 ** ((np.arange(n) - n + 1) / half_life)
    )
    assert model.reduced_set_.centers.max() < 50  # the heavy row has expired
    measured = certificate.level("measured")
    for name in ("a priori", "a posteriori", "sample"):
        level = certificate.level(name)
        assert (level.operator is None) == (heaviest > 2)
        assert level.operator is None or measured.operator <= level.operator
        assert level.mmd is None or measured.mmd <= level.mmd


@pytest.mark.parametrize("center", [True, False])
def test_the_bounds_account_for_expired_weight(center):
    """All rows lie on their centers, so the whole error comes from the expired row."""
    X = np.r_[[[50.0]], np.zeros((26, 1)), [[9.0]]]
    weights = np.r_[24.0, np.ones(27)]
    model = ReducedSetKernelPCA(1, center=center, density=fading_density(1.0))
    model.fit(X, sample_weight=weights)
    certificate = model.certify(X, sample_weight=weights * 2.0 ** (np.arange(28) - 27.0))
    assert model.reduced_set_.n_centers == 2
    assert certificate.level("measured").mmd > 5e-8
    for name in ("a priori", "a posteriori"):
        level, measured = certificate.level(name), certificate.level("measured")
        assert measured.mmd <= level.mmd
        assert measured.operator <= level.operator
    exact = certificate.level("a posteriori")
    assert exact.operator == pytest.approx(6 * model.reduced_set_.lost_share, rel=1e-6)
    young = fading_density(1.0).fit(X[:24]).reduced_set_
    assert young.lost == 0


@pytest.mark.parametrize("weight", [1e-300, 1e250])
def test_weights_outside_the_range_for_decay_are_reported(weight):
    stream = fading_density(10.0).fit(drifting_rows(30))
    before = fitted_state(stream)
    with pytest.raises(ValueError, match="sample_weight must be 0 or between 1e-200 and 1e"):
        stream.partial_fit(drifting_rows(30), sample_weight=np.r_[weight, np.ones(29)])
    assert fitted_state(stream) == before


@pytest.mark.parametrize("center", [True, False])
def test_the_certificate_is_valid_for_the_decayed_rows(center):
    X = drifting_rows(2000)
    model = ReducedSetKernelPCA(3, center=center, density=fading_density(80.0))
    for chunk in np.split(X, 5):
        model.partial_fit(chunk)
    weights = 2.0 ** ((np.arange(2000) - 1999) / 80.0)
    certificate = model.certify(X, sample_weight=weights)
    measured = certificate.level("measured")
    for name in ("a priori", "a posteriori", "sample"):
        level = certificate.level(name)
        assert measured.operator <= level.operator
        assert measured.mmd <= level.mmd


def test_a_fading_density_cannot_forget_rows():
    stream = fading_density(10.0).fit(drifting_rows(50))
    assert not hasattr(stream, "forget")
    model = ReducedSetKernelPCA(2, density=fading_density(10.0)).fit(drifting_rows(50))
    with pytest.raises(AttributeError) as error:
        model.forget(drifting_rows(50)[:1])
    assert "FadingDensity does not support forget" in str(error.value.__cause__)


def test_a_copy_of_a_stream_is_independent():
    X = drifting_rows(900)
    one = fading_density(30.0).partial_fit(X[:400]).partial_fit(X[400:450])
    copy.copy(one).partial_fit(5 + X[450:])
    one.partial_fit(X[450:])
    assert one.reduced_set_ == fading_density(30.0).fit(X).reduced_set_


def test_an_interrupt_leaves_the_model_unchanged(monkeypatch):
    X = drifting_rows(6000)
    stream = fading_density(30.0).partial_fit(X[:1000])
    before = fitted_state(stream)
    calls = []

    def interrupt(self, X, progress=None, extend=_aging.AgingCover.extend):
        calls.append(1)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return extend(self, X)

    with monkeypatch.context() as patched:
        patched.setattr(_aging.AgingCover, "extend", interrupt)
        with pytest.raises(KeyboardInterrupt):
            stream.partial_fit(X[1000:] + 7.0)
    assert fitted_state(stream) == before
    assert stream.partial_fit(X[1000:]).reduced_set_ == fading_density(30.0).fit(X).reduced_set_


@pytest.mark.parametrize("half_life", [0, -1.0, np.nan, np.inf, "10", True, None])
def test_an_invalid_half_life_is_reported(half_life):
    density = fading_density(10.0).fit(drifting_rows(30))
    before = fitted_state(density)
    with pytest.raises(ValueError, match="half_life must be a positive, finite number") as error:
        density.set_params(half_life=half_life).fit(drifting_rows(30))
    assert repr(half_life) in str(error.value)
    assert fitted_state(density) == before


def test_the_half_life_cannot_change_within_a_stream():
    stream = fading_density(10.0).fit(drifting_rows(30))
    before = fitted_state(stream)
    for half_life, message in (
        (5.0, "half_life is 5.0, but the stream was started with 10.0"),
        (0, "pos"),
    ):
        with pytest.raises(ValueError, match=message):
            stream.set_params(half_life=half_life).partial_fit(drifting_rows(30))
    assert fitted_state(stream) == before
