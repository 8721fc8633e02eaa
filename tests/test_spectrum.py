"""Test Fourier sums at random frequencies: unbiased estimates, valid limits, exact merging."""

import pickle

import numpy as np
import pytest
from rskpca.spectrum import Spectrum, estimate

from rskpca import Gaussian, Laplacian, RadialKernel, ReducedSet, ShadowDensity
from rskpca.certificate import hilbert_schmidt, mmd
from tests import datasets

KERNELS = [Gaussian(3.0), Laplacian(3.0)]
IDS = ["Gaussian", "Laplacian"]
X = datasets.blobs(400, 3)


def spectrum_of(kernel, rows, weights=None, seed=0, origin=None, n_frequencies=160):
    weights = np.ones(len(rows)) if weights is None else weights
    origin = rows[0] if origin is None else origin
    return Spectrum.of(kernel, origin, n_frequencies, seed).add(rows, weights)


def reduced(kernel, ell=3.0):
    return ShadowDensity(kernel, ell).fit(X).reduced_set_


def exact(kernel, s):
    return (
        mmd.measure(kernel, X, s),
        hilbert_schmidt.measure(kernel, X, s),
        hilbert_schmidt.measure(kernel, X, s, center=True),
    )


@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
def test_estimates_of_squared_errors_are_unbiased(kernel):
    s = reduced(kernel)
    squares = np.concatenate(
        [
            spectrum_of(kernel, X, seed=seed, n_frequencies=2000).errors(s.centers, s.weights)
            for seed in range(4)
        ],
        axis=1,
    )
    error = squares.std(axis=1) / np.sqrt(squares.shape[1])
    expected = np.square(exact(kernel, s))
    assert np.all(np.abs(squares.mean(axis=1) - expected) < 4 * error)
    assert np.all(error < 0.06 * expected)  # otherwise the test has no power


@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
def test_the_limits_have_the_requested_coverage(kernel):
    """``python -m benchmarks certificate`` repeats this 1,000 times on six data sets."""
    s, expected = reduced(kernel), exact(kernel, reduced(kernel))
    limits = np.array(
        [
            [
                estimate(squares, 0.9).limit
                for squares in spectrum_of(kernel, X, seed=seed).errors(s.centers, s.weights)
            ]
            for seed in range(150)
        ]
    )
    covered = (limits >= expected).mean(axis=0)
    assert np.all(covered > 0.84)  # 0.9 minus 2.5 standard deviations
    assert np.all(np.median(limits, axis=0) < 1.35 * np.array(expected))


def test_a_higher_confidence_gives_a_larger_limit():
    squares = np.random.default_rng(0).exponential(size=80)
    limits = [estimate(squares, c).limit for c in (0.5, 0.9, 0.95, 0.99, 0.9999)]
    assert np.all(np.diff(limits) > 0)
    assert estimate(squares, 0.5).value == pytest.approx(np.sqrt(squares.mean()))


def test_the_limit_for_equal_squares_is_their_root():
    assert estimate(np.zeros(80), 0.95).value == 0
    assert 0 < estimate(np.zeros(80), 0.95).limit < 1e-5
    assert estimate(np.full(80, 4.0), 0.95).limit == pytest.approx(2.0, abs=1e-5)


@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_the_error_is_zero_if_every_row_is_a_center(shift):
    errors = spectrum_of(Gaussian(3.0), X + shift).errors(X + shift, np.ones(len(X)))
    assert all(np.all(squares == 0) for squares in errors)


@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
def test_merged_sums_equal_sums_over_all_rows(kernel):
    whole = spectrum_of(kernel, X)
    same_origin = spectrum_of(kernel, X[:150]).merge(spectrum_of(kernel, X[150:], origin=X[0]))
    assert same_origin == whole
    rotated = spectrum_of(kernel, X[:150]).merge(spectrum_of(kernel, X[150:]))
    np.testing.assert_allclose(rotated.sums, whole.sums, atol=2e-6 * len(X))


def test_sums_at_different_frequencies_cannot_be_merged():
    sums = spectrum_of(Gaussian(3.0), X)
    assert sums.merge(None) is None
    assert sums.merge(spectrum_of(Gaussian(3.0), X, seed=1)) is None
    assert sums.merge(spectrum_of(Gaussian(2.0), X)) is None


def test_the_sums_are_none_without_frequencies():
    assert Spectrum.of(Gaussian(1.0), X[0], 0, 0) is None
    assert Spectrum.of(RadialKernel(lambda s: 1 / (1 + s), 2, 1.0), X[0], 160, 0) is None


def test_sums_are_read_only_and_can_be_pickled():
    sums = spectrum_of(Gaussian(3.0), X)
    with pytest.raises(ValueError, match="read-only"):
        sums.sums[0] = 0
    assert pickle.loads(pickle.dumps(sums)) == sums
    assert sums != spectrum_of(Gaussian(3.0), X[1:])
    assert sums != 1


# ------------------------------------------------------------- streams and merging


@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
def test_streaming_forgetting_and_merging_give_the_same_sums_as_a_batch(kernel):
    batch = ShadowDensity(kernel, 3.0).fit(X).reduced_set_.spectrum
    stream = ShadowDensity(kernel, 3.0)
    for rows in np.array_split(X, 7):
        stream.partial_fit(rows)
    assert stream.reduced_set_.spectrum == batch
    more = datasets.blobs(300, 3, seed=5)
    assert stream.partial_fit(more).forget(more).reduced_set_.spectrum == batch
    halves = [ShadowDensity(kernel, 3.0).fit(part).reduced_set_ for part in (X[:150], X[150:])]
    merged = halves[0].merge(halves[1]).spectrum
    np.testing.assert_allclose(merged.sums, batch.sums, atol=2e-6 * len(X))


def test_integer_weights_are_equivalent_to_repeated_rows():
    weights = np.random.default_rng(0).integers(0, 4, len(X)).astype(float)
    weighted = ShadowDensity(Gaussian(3.0)).fit(X, sample_weight=weights).reduced_set_
    repeated = ShadowDensity(Gaussian(3.0)).fit(np.repeat(X, weights.astype(int), axis=0))
    assert weighted.spectrum == repeated.reduced_set_.spectrum


def test_merging_with_a_set_without_sums_drops_the_sums():
    s = reduced(Gaussian(3.0))
    bare = ReducedSet(s.centers, s.weights, s.radius, spacing=s.spacing)
    assert s.merge(bare).spectrum is None
    assert bare.merge(s).spectrum is None


def test_setting_n_frequencies_to_zero_disables_the_sums():
    off = ShadowDensity(Gaussian(3.0), n_frequencies=0).fit(X).partial_fit(X).forget(X[:5])
    assert off.reduced_set_.spectrum is None
    with pytest.raises(ValueError, match="n_frequencies must be an integer of at least 0"):
        ShadowDensity(n_frequencies=-1).fit(X)


def test_a_spectrum_with_a_different_number_of_features_is_rejected():
    sums = spectrum_of(Gaussian(3.0), X)
    with pytest.raises(ValueError, match="spectrum has 3 features, centers 2"):
        ReducedSet(X[:5, :2], np.ones(5), spectrum=sums)
