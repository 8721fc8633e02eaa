"""FadingDensity: rows that count less and less, against a dictionary of centers."""

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
from tests.density.naive import NaiveStream, assert_same, spectrum_of
from tests.density.test_window import drifting
from tests.states import fitted_state


class TestInvariants(DensityInvariants):
    """Of a half-life so long that rows do not fade."""

    def make(self, kernel=None):
        return FadingDensity(1e300, ShadowDensity(kernel, ell=3.0))


def fades(half_life, radius=0.5, **options):
    return FadingDensity(half_life, ShadowDensity(Gaussian(4 * radius), ell=4.0, **options))


def naive_of(half_life, radius=0.5):
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
def test_any_stream_is_that_of_a_direct_count(seed, half_life, chunks, weighted, pickled):
    rng = np.random.default_rng(seed)
    density, naive = fades(half_life), naive_of(half_life)
    for n in chunks:
        X = 2.0 * rng.normal(size=(n, 2))
        weights = rng.random(n) + 0.01 if weighted else np.ones(n)
        density.partial_fit(X, sample_weight=weights)
        naive.add(X, weights)
        density = pickle.loads(pickle.dumps(density)) if pickled else density
        s = density.reduced_set_
        assert_same(s, naive, rtol=1e-11)
        assert weighted or s.spectrum is not None
        if s.spectrum is None:  # the weights differ so much that what went is not small
            continue
        direct = spectrum_of(naive, s.spectrum)
        np.testing.assert_allclose(s.spectrum.sums, direct.sums, atol=1e-6 * s.n_samples)


@given(
    seed=st.integers(0, 2**32),
    cuts=st.lists(st.integers(1, 699), max_size=6),
    half_life=st.sampled_from([0.5, 1.0, 2.5, 300.0]),
    weighting=st.sampled_from([None, "whole", "fractional"]),
)
@settings(max_examples=30, deadline=None)
def test_any_chunking_gives_the_same_bits(seed, cuts, half_life, weighting):
    X = drifting(700, seed=seed)
    rng = np.random.default_rng(seed)
    weights = {"whole": rng.integers(1, 9, 700), "fractional": rng.random(700)}.get(weighting)
    weights = np.ones(700) if weights is None else weights.astype(float)
    whole = fades(half_life).fit(X, sample_weight=weights)
    stream = fades(half_life)
    for rows in np.split(np.arange(700), sorted(set(cuts))):
        stream.partial_fit(X[rows], sample_weight=weights[rows])
    assert stream.reduced_set_ == whole.reduced_set_


def test_nor_do_chunks_matter_where_weights_are_whole_and_their_sums_are_not_exact():
    X = drifting(60)
    weights = np.random.default_rng(0).integers(2**40, 2**52, 60) * 2.0**257
    whole = fades(1.0).fit(X, sample_weight=weights).reduced_set_
    for cut in range(30, 59):
        stream = fades(1.0).partial_fit(X[:cut], sample_weight=weights[:cut])
        assert stream.partial_fit(X[cut:], sample_weight=weights[cut:]).reduced_set_ == whole


def test_the_last_row_counts_one_and_the_total_is_the_sum_of_the_powers():
    stream = fades(10.0).fit(np.zeros((500, 1)))
    ratio = 2 ** (-1 / 10)
    assert stream.reduced_set_.n_samples == pytest.approx((1 - ratio**500) / (1 - ratio), rel=1e-12)
    assert fades(10.0).fit([[0.0], [9.0]]).reduced_set_.weights[1] == 1.0


def test_many_spans_keep_the_digits():
    """The unit of the weights is chosen anew every 256 half-lives."""
    s = fades(1.5).fit(np.zeros((3000, 1))).reduced_set_
    total = 1 / (1 - 2 ** (-1 / 1.5))
    assert s.n_samples == pytest.approx(total, rel=1e-14)
    np.testing.assert_allclose(s.spectrum.sums, total, rtol=1e-14)


def test_it_follows_a_drift_in_bounded_memory():
    X = np.random.default_rng(0).normal(size=(40_000, 2)) + np.linspace(0, 1e4, 40_000)[:, None]
    stream = fades(20.0, n_frequencies=0)
    sizes = [stream.partial_fit(chunk).reduced_set_.n_centers for chunk in np.split(X, 20)]
    assert max(sizes) <= fading.PATIENCE * 20
    assert len(pickle.dumps(stream)) < 100_000
    np.testing.assert_array_less(9e3, stream.reduced_set_.centers)


def test_no_spectrum_where_what_centers_took_along_is_not_small():
    X = np.zeros((1000, 1))
    X[0] = 50.0
    weights = np.r_[1e12, np.ones(999)]
    stream = fades(1.0).partial_fit(X[:80], sample_weight=weights[:80])
    assert stream.reduced_set_.n_centers == 1
    assert stream.reduced_set_.spectrum is not None  # 1e12 2^-79 is little
    heavy = fades(1.0).partial_fit(X[:30], sample_weight=weights[:30])
    assert heavy.reduced_set_.n_centers == 1  # gone, and 1e12 2^-29 of weight with it
    assert heavy.reduced_set_.spectrum is None
    assert heavy.partial_fit(X[30:]).reduced_set_.spectrum is not None


@pytest.mark.parametrize("center", [True, False])
def test_the_certificate_holds_of_the_faded_rows(center):
    X = drifting(2000)
    model = ReducedSetKernelPCA(3, center=center, density=fades(80.0))
    for chunk in np.split(X, 5):
        model.partial_fit(chunk)
    weights = 2.0 ** ((np.arange(2000) - 1999) / 80.0)
    certificate = model.certify(X, sample_weight=weights)
    measured = certificate.level("measured")
    for name in ("a priori", "a posteriori", "spectral"):
        level = certificate.level(name)
        assert measured.operator <= level.operator
        assert measured.mmd <= level.mmd


def test_it_does_not_forget_rows():
    stream = fades(10.0).fit(drifting(50))
    assert not hasattr(stream, "forget")
    model = ReducedSetKernelPCA(2, density=fades(10.0)).fit(drifting(50))
    with pytest.raises(AttributeError) as error:
        model.forget(drifting(50)[:1])
    assert "FadingDensity cannot forget" in str(error.value.__cause__)


def test_a_copy_of_a_stream_is_a_stream_of_its_own():
    X = drifting(900)
    one = fades(30.0).partial_fit(X[:400]).partial_fit(X[400:450])
    copy.copy(one).partial_fit(5 + X[450:])
    one.partial_fit(X[450:])
    assert one.reduced_set_ == fades(30.0).fit(X).reduced_set_


def test_an_interrupt_leaves_the_model_as_it_was(monkeypatch):
    X = drifting(6000)
    stream = fades(30.0).partial_fit(X[:1000])
    before = fitted_state(stream)
    calls = []

    def interrupt(self, X, take=_aging.AgingCover.take):
        calls.append(1)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return take(self, X)

    with monkeypatch.context() as patched:
        patched.setattr(_aging.AgingCover, "take", interrupt)
        with pytest.raises(KeyboardInterrupt):
            stream.partial_fit(X[1000:] + 7.0)
    assert fitted_state(stream) == before
    assert stream.partial_fit(X[1000:]).reduced_set_ == fades(30.0).fit(X).reduced_set_


@pytest.mark.parametrize("half_life", [0, -1.0, np.nan, np.inf, "10", True, None])
def test_a_bad_half_life_is_named(half_life):
    density = fades(10.0).fit(drifting(30))
    before = fitted_state(density)
    with pytest.raises(ValueError, match="half_life must be a positive, finite number") as error:
        density.set_params(half_life=half_life).fit(drifting(30))
    assert repr(half_life) in str(error.value)
    assert fitted_state(density) == before
