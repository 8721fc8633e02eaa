"""Test WindowDensity against a naive stream."""

import copy
import gc
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rskpca import (
    FadingDensity,
    Gaussian,
    KMeansDensity,
    ReducedSetKernelPCA,
    ShadowDensity,
    WindowDensity,
)
from rskpca.density import _aging
from rskpca.density.window import SEGMENT
from tests import datasets
from tests.density.invariants import DensityInvariants
from tests.density.naive import NaiveStream, assert_same, assert_same_sample
from tests.states import fitted_state


class TestInvariants(DensityInvariants):
    """Invariants for a window that is never full."""

    def make(self, kernel=None):
        return WindowDensity(10_000, ShadowDensity(kernel, ell=3.0))


def window_density(window, radius=0.5, **options):
    return WindowDensity(window, ShadowDensity(Gaussian(4 * radius), ell=4.0, **options))


def drifting_rows(n, d=2, seed=0, speed=10.0):
    """Sample points around a mean that moves back and forth, so that expired centers recur."""
    rng = np.random.default_rng(seed)
    middles = speed * np.sin(np.linspace(0, 7, n))[:, None]
    return rng.normal(size=(n, d)) + middles


# ---------------------------------------------------- comparison with the naive stream


CHANGES = st.lists(
    st.tuples(st.sampled_from(["add", "add", "forget", "pickle", "reject"]), st.integers(1, 60)),
    min_size=1,
    max_size=12,
)


@given(
    seed=st.integers(0, 2**32),
    window=st.integers(1, 80),
    changes=CHANGES,
    weighting=st.sampled_from([None, "whole", "fractional"]),
    spread=st.sampled_from([0.3, 1.0, 4.0]),
    whole_numbers=st.booleans(),
    size=st.sampled_from([1, 10, 2000]),
)
@settings(max_examples=50, deadline=None)
def test_any_sequence_of_changes_matches_the_naive_stream(
    seed, window, changes, weighting, spread, whole_numbers, size
):
    rng = np.random.default_rng(seed)
    density = window_density(window, sample_size=size)
    naive = NaiveStream(0.5, window=window)
    for change, n in [("add", 5), *changes]:
        X = spread * rng.normal(size=(n, 2))
        X = np.round(X) if whole_numbers else X
        weights = {"whole": rng.integers(0, 3, n), "fractional": rng.random(n)}.get(weighting)
        weights = np.ones(n) if weights is None else np.append(weights[1:], 1.0)
        if change == "add":
            density.partial_fit(X, sample_weight=weights)
            naive.add(X, weights)
        elif change == "forget" and len(naive.rows) > 1:
            some = rng.choice(list(naive.rows), size=min(n, len(naive.rows) - 1), replace=False)
            gone = [naive.rows[i] for i in some]
            X, weights = np.array([row[0] for row in gone]), np.array([row[1] for row in gone])
            density.forget(X, sample_weight=weights)
            naive.forget(X, weights)
        elif change == "reject":
            with pytest.raises(ValueError, match="NaN"):
                density.partial_fit(np.full((n, 2), np.nan))
        else:
            density = pickle.loads(pickle.dumps(density))
        assert_same(density.reduced_set_, naive)
        assert_same_sample(density.reduced_set_.sample, naive)


@given(
    seed=st.integers(0, 2**32),
    cuts=st.lists(st.integers(1, 699), max_size=6),
    window=st.sampled_from([1, 7, 50, 400, 699, 5000]),
    fractional=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
)
@settings(max_examples=30, deadline=None)
def test_any_chunking_gives_bitwise_equal_results(seed, cuts, window, fractional, dtype):
    X = drifting_rows(700, seed=seed).astype(dtype)
    weights = np.random.default_rng(seed).random(700) if fractional else np.ones(700)
    weights[::9], weights[::70] = 1.0, 2.0**40
    whole = window_density(window, sample_size=60).fit(X, sample_weight=weights)
    stream = window_density(window, sample_size=60)
    for rows in np.split(np.arange(700), sorted(set(cuts))):
        stream.partial_fit(X[rows], sample_weight=weights[rows])
    assert stream.reduced_set_ == whole.reduced_set_


def test_internal_step_sizes_do_not_matter(monkeypatch):
    X = drifting_rows(3000)
    expected = window_density(200).fit(X).reduced_set_
    for step, few, walked in ((7, 0.0, 0), (100_000, 0.9, 0), (1024, 0.25, 1e9)):
        monkeypatch.setattr(_aging, "STEP", step)
        monkeypatch.setattr(_aging, "FEW", few)
        monkeypatch.setattr(_aging, "WALKED", walked)
        assert window_density(200).fit(X).reduced_set_ == expected


def test_a_window_equals_partial_fit_and_forget():
    X = drifting_rows(400)
    window, plain = window_density(80), ShadowDensity(Gaussian(2.0), ell=4.0)
    for i in range(400):
        window.partial_fit(X[i : i + 1])
        plain.partial_fit(X[i : i + 1])
        if i >= 80:
            plain.forget(X[i - 80 : i - 79])
    ours, theirs = window.reduced_set_, plain.reduced_set_
    np.testing.assert_array_equal(ours.centers, theirs.centers)
    np.testing.assert_array_equal(ours.weights, theirs.weights)
    assert ours.sample == theirs.sample
    np.testing.assert_allclose(ours.scatter, theirs.scatter, atol=1e-11)


def test_an_infinite_ell_keeps_the_rows_of_the_window():
    X = drifting_rows(500)
    stream = WindowDensity(100, ShadowDensity(Gaussian(1.0), ell=np.inf))
    for chunk in np.split(X, 10):
        stream.partial_fit(chunk)
    np.testing.assert_array_equal(stream.reduced_set_.centers, X[400:])
    assert stream.reduced_set_.radius == 0


def test_large_fractional_weights_leave_no_rounding_error_after_they_expire():
    X = datasets.blobs(300, 2)
    after = window_density(100).partial_fit(X[:200], sample_weight=np.full(200, 1e15 / 3))
    after.partial_fit(X[200:])
    s = after.reduced_set_
    assert s.n_samples == 100
    np.testing.assert_array_equal(s.weights, np.round(s.weights))
    np.testing.assert_array_equal(s.sample.weights, 1.0)


def test_the_pickled_size_of_a_stream_does_not_grow():
    X = drifting_rows(40_000, speed=1e3)
    stream = window_density(2000).partial_fit(X[:4000])
    chunks = np.split(X[4000:], 36)
    sizes = [len(pickle.dumps(stream.partial_fit(chunk))) for chunk in chunks]
    rows, centers = (2000 + 2 * SEGMENT) * (2 * 8 + 24), 2000 * (2 * 8 + 2 * 8)
    assert max(sizes) < rows + centers + 40_000
    assert max(sizes[18:]) < 1.1 * max(sizes[:18])


def test_the_memory_of_expired_rows_is_released():
    """Views would keep the memory allocated without affecting the pickled size."""
    X = drifting_rows(40_000, speed=1e3)
    stream = window_density(2000).partial_fit(X[:4000])
    chunks = np.split(X[4000:], 36)
    tracemalloc.start()
    gc.freeze()  # otherwise, each collection examines all objects of the process
    try:
        held = [allocated_by(stream, chunk.copy()) for chunk in chunks]
    finally:
        gc.unfreeze()
        tracemalloc.stop()
    assert max(held[18:]) < 1.2 * max(held[:18])


def allocated_by(stream, chunk):
    """Return the number of allocated bytes after adding a chunk."""
    stream.partial_fit(chunk)
    del chunk
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


@pytest.mark.parametrize("heavy", [2.0**33, 1e12, 1e18, 1e30])
def test_expired_integer_weights_of_any_size_leave_no_rounding_error(heavy):
    X = datasets.blobs(150, 2)
    stream = window_density(100).partial_fit(X[:50], sample_weight=np.full(50, heavy))
    np.testing.assert_array_equal(stream.reduced_set_.sample.weights, heavy)
    stream.partial_fit(X[50:])
    assert (
        stream.reduced_set_
        == window_density(100).partial_fit(X[:50]).partial_fit(X[50:]).reduced_set_
    )


def test_single_row_chunks_are_stored_compactly():
    stream_rows = np.concatenate([drifting_rows(1000), drifting_rows(500, seed=1)])
    stream = window_density(1000, sample_size=0).fit(stream_rows[:1000])
    for row in stream_rows[1000:]:
        stream.partial_fit(row[None])
    whole = window_density(1000, sample_size=0).fit(stream_rows)
    assert len(pickle.dumps(stream)) < 1.2 * len(pickle.dumps(whole))


# --------------------------------------------------------------- labels, copies, failures


def test_labels_refer_to_the_last_chunk():
    X = drifting_rows(900)
    stream = window_density(300).partial_fit(X[:600])
    weights = (np.arange(300) % 3 > 0).astype(float)
    stream.partial_fit(X[600:], sample_weight=weights)
    s, labels = stream.reduced_set_, stream.labels_
    np.testing.assert_array_equal(labels < 0, weights == 0)
    assert np.linalg.norm(X[600:] - s.centers[labels], axis=1)[weights > 0].max() < 0.5
    stream.forget(X[899:])
    assert not hasattr(stream, "labels_")


def test_rows_whose_centers_have_expired_are_unlabeled():
    X = drifting_rows(900, speed=40.0)
    stream = window_density(50).fit(X)
    here = stream.labels_ >= 0
    assert here[-50:].all()
    assert not here[:500].all()
    distances = np.linalg.norm(X - stream.reduced_set_.centers[stream.labels_], axis=1)
    assert distances[here].max() < 0.5


def test_a_copy_of_a_stream_is_independent():
    X = drifting_rows(900)
    one = window_density(200).partial_fit(X[:400]).partial_fit(X[400:450])
    for two in (copy.copy(one), copy.deepcopy(one)):
        two.partial_fit(5 + X[450:])
    one.partial_fit(X[450:])
    two = copy.copy(one)
    assert one.reduced_set_ == window_density(200).fit(X).reduced_set_
    one.partial_fit(9 + X)
    assert two.reduced_set_ == window_density(200).fit(X).reduced_set_


def test_an_interrupt_leaves_the_model_unchanged(monkeypatch):
    X = drifting_rows(6000)
    stream = window_density(500).partial_fit(X[:1000])
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
            # These rows are new, and their centers must not remain.
            stream.partial_fit(X[1000:] + 7.0)
    assert fitted_state(stream) == before
    assert stream.partial_fit(X[1000:]).reduced_set_ == window_density(500).fit(X).reduced_set_


@pytest.mark.parametrize(
    ("rows", "weights", "message"),
    [
        (slice(0, 3), None, "3 of 3 rows are not in the window.*Nothing was changed"),
        (slice(-3, None), [1.0, 2.0, 1.0], "1 of 3 rows are not in the window"),
        ([-1, -1], None, "1 of 2 rows"),
        (slice(-100, None), None, "no rows would be left"),
    ],
)
def test_forgotten_rows_must_have_been_fitted(rows, weights, message):
    X = drifting_rows(500)
    stream = window_density(100).fit(X)
    before = fitted_state(stream)
    with pytest.raises(ValueError, match=message):
        stream.forget(X[rows], sample_weight=weights)
    assert fitted_state(stream) == before


def test_forgotten_rows_are_found_among_many_duplicates():
    X = np.zeros((300, 4))
    X[:, 3] = np.arange(300) % 7
    stream = window_density(200).fit(X).forget(X[[150, 150, 151]])
    s = stream.reduced_set_
    assert s.n_samples == 197
    left = np.bincount(np.arange(100, 300) % 7)
    left[150 % 7], left[151 % 7] = left[150 % 7] - 2, left[151 % 7] - 1
    np.testing.assert_array_equal(s.weights[np.argsort(s.centers[:, 3])], left)


def test_negative_zero_equals_zero():
    stream = window_density(5).fit([[0.0], [3.0]]).forget([[-0.0]])
    np.testing.assert_array_equal(stream.reduced_set_.centers, [[3.0]])


# ------------------------------------------------------------------------ the certificate


@pytest.mark.parametrize("center", [True, False])
def test_the_certificate_is_valid_for_the_rows_in_the_window(center):
    X = drifting_rows(2000)
    model = ReducedSetKernelPCA(3, center=center, density=window_density(400))
    for chunk in np.split(X, 5):
        model.partial_fit(chunk)
    certificate = model.certify(X[-400:])
    measured = certificate.level("measured")
    for name in ("a priori", "a posteriori", "sample"):
        level = certificate.level(name)
        assert measured.operator <= level.operator
        assert measured.mmd <= level.mmd


# ---------------------------------------------------------------------------- parameters


@pytest.mark.parametrize("window", [0, -1, 2.5, "10", True, None])
def test_an_invalid_window_is_reported(window):
    density = window_density(10).fit(drifting_rows(30))
    before = fitted_state(density)
    with pytest.raises(ValueError, match="window must be an integer of at least 1") as error:
        density.set_params(window=window).fit(drifting_rows(30))
    assert repr(window) in str(error.value)
    assert fitted_state(density) == before


def test_a_window_longer_than_the_stream_keeps_all_rows():
    X = drifting_rows(300)
    longest = window_density(10**19).fit(X[:200]).partial_fit(X[200:])
    assert longest.reduced_set_ == window_density(1000).fit(X).reduced_set_
    assert longest.forget(X[:3]).reduced_set_.n_samples == 297


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"window": 20}, "window is 20, but the stream was started with 10"),
        ({"window": -3}, "window must be an integer"),
        ({"density__ell": 3.0}, r"ell is 3\.0, but the stream was started with 4"),
        ({"density__ell": -3.0}, "ell must be"),
        ({"density__kernel": Gaussian(3.0)}, r"kernel is Gaussian\(bandwidth=3\.0\), but"),
        ({"density__kernel": "laplacian"}, "kernel is 'laplacian', but"),
        ({"density": KMeansDensity(3)}, "density must be a ShadowDensity"),
        ({"kernel": Gaussian(1.0)}, "omit one of them"),
    ],
)
def test_parameters_cannot_change_within_a_stream(changed, message):
    X = drifting_rows(60)
    stream = window_density(10).partial_fit(X[:30])
    before, params = fitted_state(stream), stream.get_params()
    with pytest.raises((ValueError, TypeError), match=message):
        stream.set_params(**changed).partial_fit(X[30:])
    assert fitted_state(stream) == before
    stream.set_params(density=params["density"], window=10, kernel=None)
    stream.set_params(density__ell=4.0, density__kernel=params["density__kernel"])
    assert stream.partial_fit(X[30:]).reduced_set_ == window_density(10).fit(X).reduced_set_


@pytest.mark.parametrize("density", [KMeansDensity(3), "shadow", WindowDensity(3)])
def test_the_density_must_be_a_shadow_density(density):
    with pytest.raises(TypeError, match="density must be a ShadowDensity"):
        WindowDensity(10, density).fit(drifting_rows(30))


@pytest.mark.parametrize("options", [{"max_centers": 5}, {"warm_start": True}])
def test_incompatible_options_are_rejected(options):
    name = next(iter(options))
    with pytest.raises(ValueError, match=f"{name}=.* cannot be combined with WindowDensity"):
        window_density(10, **options).fit(drifting_rows(30))


def test_a_missing_kernel_is_taken_from_the_inner_or_outer_density():
    X = datasets.blobs(200, 2)
    own = ReducedSetKernelPCA(2, density=WindowDensity(100, ShadowDensity(Gaussian(3.0)))).fit(X)
    lent = ReducedSetKernelPCA(2, bandwidth=3.0, density=WindowDensity(100)).fit(X)
    assert own.kernel_.same_as(lent.kernel_)
    assert own.reduced_set_ == lent.reduced_set_


def test_the_median_bandwidth_is_computed_once():
    X = np.random.default_rng(0).normal(size=(20_000, 3))
    nested = WindowDensity(5000, ShadowDensity(Gaussian("median"), random_state=7))
    model = ReducedSetKernelPCA(1, density=nested).fit(X)
    assert model.density_.kernel_.same_as(model.kernel_)
    assert model.certificate_.level("sample").operator is not None
    assert nested.density.kernel.bandwidth == "median"


def test_a_kernel_that_differs_from_that_of_the_embedding_is_rejected():
    density = WindowDensity(100, ShadowDensity(Gaussian(1.0)))
    model = ReducedSetKernelPCA(2, bandwidth=3.0, density=density)
    with pytest.raises(ValueError, match="omit the kernel of the density"):
        model.fit(datasets.blobs(200, 2))


@pytest.mark.parametrize("embedded", [True, False])
def test_two_different_kernels_are_rejected(embedded):
    density = WindowDensity(100, ShadowDensity(Gaussian(1.0)), kernel=Gaussian(5.0))
    model = ReducedSetKernelPCA(2, density=density) if embedded else density
    with pytest.raises(ValueError, match=r"kernel=Gaussian.*5\.0.*but the density already has one"):
        model.fit(datasets.blobs(200, 2))


@pytest.mark.parametrize("make", [WindowDensity, FadingDensity])
def test_a_chunk_with_zero_weight_has_no_effect(make):
    X = drifting_rows(60)
    stream = make(20, ShadowDensity(Gaussian(2.0))).partial_fit(X[:30])
    expected = stream.reduced_set_
    assert stream.partial_fit(X[30:33], sample_weight=np.zeros(3)).reduced_set_ == expected
    np.testing.assert_array_equal(stream.labels_, -1)
    with pytest.raises(ValueError, match="all weights are zero"):
        make(20).partial_fit(X, sample_weight=np.zeros(60))


def test_the_first_chunk_determines_the_radius_for_a_tolerance():
    X = datasets.blobs(600, 2)
    auto = ShadowDensity(Gaussian(3.0), ell="auto", tol=0.05)
    stream = WindowDensity(200, auto).partial_fit(X[:300])
    assert stream.ell_ == ShadowDensity(Gaussian(3.0), ell="auto", tol=0.05).fit(X[:300]).ell_
    assert stream.partial_fit(X[300:]).reduced_set_.radius == 3.0 / stream.ell_
