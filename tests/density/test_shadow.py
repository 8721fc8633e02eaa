"""Test ShadowDensity, which is Algorithm 2 with weights, streaming and forgetting."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import NotFittedError

from rskpca import (
    DiffusionMaps,
    Gaussian,
    Laplacian,
    ReducedSetKernelPCA,
    ShadowDensity,
    WindowDensity,
)
from rskpca._core import reference
from rskpca._validation import Rows
from rskpca.density import _counting
from rskpca.density import shadow as shadow_module
from rskpca.kernels import sklearn_kernel
from tests import datasets
from tests.density.invariants import DensityInvariants
from tests.states import fitted_state


class TestInvariants(DensityInvariants):
    def make(self, kernel=None):
        return ShadowDensity(kernel, ell=3.0)


class TestExactInvariants(DensityInvariants):
    weights_equal_repeats = False  # each repeated row is a separate center

    def make(self, kernel=None):
        return ShadowDensity(kernel, ell=np.inf)


def with_radius(radius, **options):
    return ShadowDensity(Gaussian(4 * radius), ell=4.0, **options)


def distances_to(X, centers):
    return np.sqrt(reference.pairwise_squared_distances(X, centers))


# ------------------------------------------------------------------------ Algorithm 2


@pytest.mark.parametrize(
    ("name", "radius"),
    [("german", 7.5), ("pendigits", 30.0), ("usps", 6.0), ("skin", 13.0), ("covtype", 500.0)],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fit_equals_algorithm_2_on_real_data(name, radius, dtype):
    steps = {"pendigits": 6, "usps": 12, "skin": 40, "covtype": 200}
    X = datasets.load(name, steps.get(name, 1)).astype(dtype)
    density = with_radius(radius).fit(X)
    rows, labels, squared = reference.cover(X, radius)
    sums = np.zeros((3, len(rows)))
    for total, values in zip(sums, (np.ones(len(X)), np.sqrt(squared), squared), strict=True):
        reference.accumulate(labels, values, total)
    s = density.reduced_set_
    np.testing.assert_array_equal(s.centers, X[rows])
    np.testing.assert_array_equal(density.labels_, labels)
    np.testing.assert_array_equal(np.stack([s.weights, s.displacement, s.scatter]), sums)
    assert s.radius == s.spacing == radius


def test_the_radius_is_the_bandwidth_over_ell():
    X = datasets.blobs(100, 2)
    assert ShadowDensity(Laplacian(3.0), ell=2.5).fit(X).reduced_set_.radius == 3.0 / 2.5
    median = ShadowDensity().fit(X)
    assert median.reduced_set_.radius == median.kernel_.bandwidth / 4


def test_an_infinite_ell_keeps_every_row():
    X = datasets.blobs(100, 2)
    X[50:] = X[:50]
    density = ShadowDensity(ell=np.inf).fit(X)
    np.testing.assert_array_equal(density.reduced_set_.centers, X)
    np.testing.assert_array_equal(density.labels_, np.arange(100))
    assert density.reduced_set_.radius == 0


def test_a_single_feature_is_sufficient():
    density = with_radius(0.5).fit(np.array([[0.0], [0.4], [3.0], [3.2], [0.6]]))
    np.testing.assert_array_equal(density.reduced_set_.centers, [[0.0], [3.0], [0.6]])
    np.testing.assert_array_equal(density.reduced_set_.weights, [2, 2, 1])


def test_identical_rows_are_accepted_if_the_bandwidth_is_given():
    assert with_radius(0.5).fit(np.full((10, 3), 7.0)).reduced_set_.n_centers == 1


def test_verbose_shows_progress_without_changing_the_result(capsys, monkeypatch):
    clock = iter(np.arange(0.0, 1e6, 2.0))
    monkeypatch.setattr(shadow_module.ProgressLine.__init__.__globals__["time"], "monotonic",
                        lambda: next(clock))  # fmt: skip
    X = datasets.blobs(1000, 2)
    shown = with_radius(0.5, verbose=1).fit(X)
    assert "ShadowDensity: 1,000 of 1,000 rows (100%)" in capsys.readouterr().err
    assert shown.reduced_set_ == with_radius(0.5).fit(X).reduced_set_
    assert capsys.readouterr().err == ""


# ---------------------------------------------------------------------------- streams


@given(
    seed=st.integers(0, 2**32),
    cuts=st.lists(st.integers(2, 300), max_size=5),
    weighting=st.sampled_from([None, "whole", "fractional", "mixed", "huge"]),
    dtype=st.sampled_from([np.float32, np.float64]),
    ell=st.sampled_from([1.0, 4.0, np.inf]),
    pickled=st.booleans(),
)
@settings(max_examples=100)
def test_any_chunking_is_bitwise_equal_to_a_single_fit(seed, cuts, weighting, dtype, ell, pickled):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 2)).astype(dtype)
    weights = {
        "whole": rng.integers(0, 3, 300),
        "fractional": rng.random(300),
        "mixed": np.r_[rng.random(150), rng.integers(0, 3, 150)],
        "huge": rng.integers(2**40, 2**50, 300),
    }.get(weighting)
    if weights is not None:
        weights = weights.astype(float)
        weights[0] = 1.0
    whole = ShadowDensity(Gaussian(1.0), ell=ell).fit(X, sample_weight=weights)
    stream = ShadowDensity(Gaussian(1.0), ell=ell)
    labels = []
    cuts = sorted({cut for cut in cuts if cut < 300})
    for rows in np.split(np.arange(300), cuts):
        chunk = None if weights is None else weights[rows]
        stream.partial_fit(X[rows], sample_weight=chunk)
        labels.append(stream.labels_)
        if pickled:
            stream = pickle.loads(pickle.dumps(stream))
    assert stream.reduced_set_ == whole.reduced_set_
    np.testing.assert_array_equal(np.concatenate(labels), whole.labels_)


def test_a_stream_can_continue_after_fit():
    X = datasets.blobs(500, 3)
    stream = with_radius(0.8).fit(X[:200]).partial_fit(X[200:210]).partial_fit(X[210:])
    assert stream.reduced_set_ == with_radius(0.8).fit(X).reduced_set_


def test_a_stream_may_consist_of_single_rows():
    X = datasets.blobs(60, 3)
    stream = with_radius(0.8).fit(X[:2])
    for row in X[2:]:
        stream.partial_fit(row[None])
    assert stream.reduced_set_ == with_radius(0.8).fit(X).reduced_set_


def test_the_first_chunk_determines_the_bandwidth():
    X = datasets.blobs(300, 2)
    stream = ShadowDensity().partial_fit(X[:100])
    bandwidth = stream.kernel_.bandwidth
    stream.partial_fit(100 * X[100:])
    assert stream.kernel_.bandwidth == bandwidth
    assert stream.reduced_set_.radius == bandwidth / 4


def test_a_copy_of_a_stream_is_independent():
    X = datasets.blobs(300, 2)
    one = with_radius(0.5).partial_fit(X[:100]).partial_fit(X[100:150])
    for two in (copy.copy(one), copy.deepcopy(one)):
        two.partial_fit(5 + X[150:])
    one.partial_fit(X[150:])
    assert one.reduced_set_ == with_radius(0.5).fit(X).reduced_set_


def test_mixing_float32_and_float64_chunks_gives_float64():
    X = datasets.blobs(300, 2)
    X[:100] = X[:100].astype(np.float32)
    stream = with_radius(0.5).partial_fit(X[:100].astype(np.float32)).partial_fit(X[100:])
    assert stream.reduced_set_ == with_radius(0.5).fit(X).reduced_set_


BAD_CHUNKS = [
    (np.full((5, 2), np.nan), None),
    (np.full((5, 2), np.inf), None),
    (np.zeros((0, 2)), None),
    (np.zeros((5, 2)), [1, 1, 1, 1, -1]),
    (np.zeros((5, 2)), [np.nan] * 5),
    (np.zeros((5, 2)), [1.0]),
    (np.zeros((5, 2)), np.zeros(5)),
]
OTHER_FEATURES = (np.zeros((5, 3)), None)  # allowed only in a new fit


@pytest.mark.parametrize(
    ("verb", "chunk", "weights"),
    [
        *[("fit", *bad) for bad in BAD_CHUNKS],
        *[("partial_fit", *bad) for bad in [*BAD_CHUNKS[:-1], OTHER_FEATURES]],
        *[("forget", *bad) for bad in [*BAD_CHUNKS, OTHER_FEATURES]],
    ],
)
def test_a_rejected_chunk_leaves_the_model_unchanged(verb, chunk, weights):
    X = datasets.blobs(300, 2)
    stream = with_radius(0.5).partial_fit(X[:100]).partial_fit(X[100:200])
    before = fitted_state(stream)
    with pytest.raises(ValueError):  # noqa: PT011  the messages are tested below
        getattr(stream, verb)(chunk, sample_weight=weights)
    assert fitted_state(stream) == before
    assert stream.partial_fit(X[200:]).reduced_set_ == with_radius(0.5).fit(X).reduced_set_


def test_an_interrupt_leaves_the_model_unchanged(monkeypatch):
    X = datasets.blobs(600, 2)
    stream = with_radius(0.5, verbose=1).partial_fit(X[:100]).partial_fit(X[100:200])
    before = fitted_state(stream)

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(shadow_module.ProgressLine, "__call__", interrupt)
        with pytest.raises(KeyboardInterrupt):
            # These rows are new, and their centers must not remain.
            stream.partial_fit(X[200:] + 7.0)
    assert fitted_state(stream) == before
    assert stream.partial_fit(X[200:]).reduced_set_ == with_radius(0.5).fit(X).reduced_set_


# ----------------------------------------------------------------------------- forget


@given(seed=st.integers(0, 2**32), share=st.floats(0.05, 0.9), fractional=st.booleans())
@settings(max_examples=60)
def test_forgetting_preserves_the_weight_and_the_cover_of_the_remaining_rows(
    seed, share, fractional
):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 2))
    weights = rng.random(300) if fractional else np.ones(300)
    gone = rng.random(300) < share
    density = with_radius(0.4).fit(X, sample_weight=weights)
    labels = density.labels_
    centers = density.reduced_set_.centers
    density.forget(X[gone], sample_weight=weights[gone])
    s = density.reduced_set_
    assert s.n_samples == pytest.approx(weights[~gone].sum(), rel=1e-9)
    assert distances_to(X[~gone], s.centers).min(axis=1).max() < s.radius
    left = np.bincount(labels[~gone], weights=weights[~gone], minlength=len(centers))
    counts = np.bincount(labels[~gone], minlength=len(centers))
    np.testing.assert_array_equal(s.centers, centers[counts > 0])
    np.testing.assert_allclose(s.weights, left[counts > 0], rtol=1e-9)
    squared = np.sum((X - centers[labels]) ** 2, axis=1)
    scatter = np.bincount(
        labels[~gone], weights=(weights * squared)[~gone], minlength=len(centers)
    )[counts > 0]
    # A center that loses more than 99.9% of its weight uses the bound radius^2 w instead.
    exact = s.weights >= 1e-3 * np.bincount(labels, weights=weights)[counts > 0]
    np.testing.assert_allclose(s.scatter[exact], scatter[exact], rtol=1e-9, atol=1e-12)
    assert np.all(s.scatter[~exact] >= scatter[~exact])
    assert np.all(s.scatter <= s.radius**2 * s.weights * (1 + 1e-12))


def test_forgetting_the_last_rows_is_exact():
    """Rows that opened no center can be removed exactly."""
    X = datasets.blobs(400, 2)
    density = with_radius(0.7).fit(X)
    counted = density.labels_[300:] < density.labels_[:300].max() + 1
    last = X[300:][counted]
    kept = with_radius(0.7).fit(np.concatenate([X[:300], X[300:][~counted]]))
    density.forget(last)
    np.testing.assert_array_equal(density.reduced_set_.centers, kept.reduced_set_.centers)
    np.testing.assert_array_equal(density.reduced_set_.weights, kept.reduced_set_.weights)


def test_a_stream_continues_after_an_empty_center_is_dropped():
    X = np.array([[0.0], [5.0], [0.1], [5.1], [9.0]])
    density = with_radius(0.5).fit(X).forget(X[[1, 3]])
    np.testing.assert_array_equal(density.reduced_set_.centers, [[0.0], [9.0]])
    np.testing.assert_array_equal(density.reduced_set_.weights, [2, 1])
    assert not hasattr(density, "labels_")
    density.partial_fit([[9.1], [5.2]])
    np.testing.assert_array_equal(density.reduced_set_.centers, [[0.0], [9.0], [5.2]])
    np.testing.assert_array_equal(density.labels_, [1, 2])


def test_adding_and_forgetting_maintains_a_sliding_window():
    X = datasets.blobs(1000, 2)
    window = with_radius(0.5).fit(X[:200])
    for start in range(0, 800, 100):
        window.partial_fit(X[start + 200 : start + 300]).forget(X[start : start + 100])
    s = window.reduced_set_
    assert s.n_samples == pytest.approx(200)
    assert distances_to(X[800:], s.centers).min(axis=1).max() < 0.5


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[0.0], [77.0]], r"1 of 2 rows are not in any shadow; the first is row 1.*was changed"),
        ([[5.0], [5.0], [5.0]], r"center 1 has weight 2, but rows of weight 3 would be removed"),
        ([[0.0], [0.1], [5.0], [5.1], [9.0]], "no rows would be left"),
    ],
)
def test_forgotten_rows_must_have_been_fitted(rows, message):
    density = with_radius(0.5).fit([[0.0], [5.0], [0.1], [5.1], [9.0]])
    before = fitted_state(density)
    with pytest.raises(ValueError, match=message):
        density.forget(rows)
    assert fitted_state(density) == before


def test_forgetting_requires_a_finite_ell():
    X = datasets.blobs(20, 2)
    density = ShadowDensity(ell=np.inf).fit(X)
    before = fitted_state(density)
    with pytest.raises(ValueError, match=r"forget needs a positive radius.*ell=inf"):
        density.forget(X[:1])
    assert fitted_state(density) == before


# -------------------------------------------------------------------------- invalid input

X_GOOD = datasets.blobs(30, 2)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.where(np.arange(60).reshape(30, 2) == 7, np.nan, X_GOOD), "contains NaN"),
        (np.where(np.arange(60).reshape(30, 2) == 7, np.inf, X_GOOD), "contains infinity"),
        (X_GOOD[:0], "0 sample"),
        (X_GOOD[:1], r"1 sample\(s\).*minimum of 2"),
        (X_GOOD[:, :0], "0 feature"),
        (X_GOOD[:, 0], "Expected 2D array, got 1D"),
        (X_GOOD.astype(complex), "Complex data not supported"),
        ([["a", "b"], ["c", "d"]], "must contain numbers, but column 0 contains text"),
    ],
)
def test_invalid_data_are_rejected(X, message):
    density = with_radius(0.5).fit(X_GOOD)
    before = fitted_state(density)
    with pytest.raises(ValueError, match=message):
        density.fit(X)
    assert fitted_state(density) == before


def test_sparse_data_are_rejected_with_a_suggested_fix():
    with pytest.raises(TypeError, match=r"[Ss]parse.*toarray\(\)"):
        WindowDensity(10).fit(sparse.csr_matrix(X_GOOD))


@pytest.mark.parametrize("ell", [0, -1.0, np.nan, -np.inf, "4", None, 1j, True])
def test_an_invalid_ell_is_reported(ell):
    density = with_radius(0.5).fit(X_GOOD)
    before = fitted_state(density)
    with pytest.raises(ValueError, match="ell must be a positive number") as error:
        density.set_params(ell=ell).fit(X_GOOD)
    assert repr(ell) in str(error.value)
    assert fitted_state(density) == before


@pytest.mark.parametrize("bandwidth", [0.0, -1.0, np.nan, np.inf, "mean"])
def test_an_invalid_bandwidth_is_reported(bandwidth):
    density = with_radius(0.5).fit(X_GOOD)
    before = fitted_state(density)
    with pytest.raises(ValueError, match="bandwidth must be") as error:
        density.set_params(kernel=Gaussian(bandwidth)).fit(X_GOOD)
    assert repr(bandwidth) in str(error.value)
    assert fitted_state(density) == before


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros(30), "sample_weight must have a positive sum"),
        (np.arange(30) - 1.0, r"sample_weight must be non-negative, got a minimum of -1\.0"),
        (np.full(30, np.nan), "sample_weight must be finite"),
        (np.full(30, np.inf), "sample_weight must be finite"),
        (np.ones(29), r"sample_weight.*shape \(30,\).*\(29,\)"),
        (np.ones((30, 1)), r"sample_weight.*shape \(30,\).*\(30, 1\)"),
        (["a"] * 30, "sample_weight must contain numbers"),
        (np.ones(30) * 1j, "sample_weight must contain numbers"),
        (0.0, "sample_weight must have a positive sum"),
    ],
)
def test_invalid_weights_are_reported(weights, message):
    density = with_radius(0.5).fit(X_GOOD)
    before = fitted_state(density)
    with pytest.raises(ValueError, match=message):
        density.fit(X_GOOD, sample_weight=weights)
    assert fitted_state(density) == before


def test_the_median_bandwidth_of_identical_rows_is_undefined():
    with pytest.raises(ValueError, match=r'"median" rule for the bandwidth requires distinct rows'):
        ShadowDensity().fit(np.ones((10, 2)))


@pytest.mark.parametrize("verb", ["score_samples", "forget", "score"])
def test_methods_require_a_fitted_model(verb):
    with pytest.raises(NotFittedError):
        getattr(ShadowDensity(), verb)(X_GOOD)


@pytest.mark.parametrize("verb", ["score_samples", "partial_fit", "forget"])
def test_a_different_number_of_features_is_rejected(verb):
    with pytest.raises(ValueError, match=r"3 features, but ShadowDensity is expecting 2"):
        getattr(with_radius(0.5).fit(X_GOOD), verb)(np.zeros((4, 3)))


@pytest.mark.parametrize("weight", [0.1, 1 / 3])
def test_many_fractional_weights_can_be_forgotten_completely(weight):
    Z = np.zeros((100_000, 1))
    weights = np.full(len(Z) + 1, weight)
    density = ShadowDensity(Gaussian(1.0)).fit(np.r_[Z, [[5.0]]], sample_weight=weights)
    for part in np.array_split(Z, 7):
        density.forget(part, sample_weight=np.full(len(part), weight))
    np.testing.assert_array_equal(density.reduced_set_.centers, [[5.0]])
    np.testing.assert_array_equal(density.reduced_set_.weights, [weight])


def test_a_light_row_remains_after_heavy_rows_at_the_same_center_are_forgotten():
    X, weights = np.zeros((1001, 1)), np.r_[np.ones(1000), 1e-10]
    density = ShadowDensity(Gaussian(1.0)).fit(X, sample_weight=weights)
    density.forget(X[:1000])
    np.testing.assert_allclose(density.reduced_set_.weights, 1e-10, rtol=1e-6)


@pytest.mark.parametrize("heavy", [1e15, 1e19, 1e25, 1e30])
def test_integer_weights_of_any_ratio_are_forgotten_exactly(heavy):
    density = ShadowDensity(Gaussian(2.0)).partial_fit([[0.0]], sample_weight=[heavy])
    density.partial_fit([[0.1], [9.0]]).forget([[0.0]], sample_weight=[heavy])
    s = density.reduced_set_
    np.testing.assert_array_equal(s.weights, [1.0, 1.0])
    assert 0.1 <= s.displacement[0] <= s.radius
    assert 0.01 <= s.scatter[0] <= s.radius**2
    np.testing.assert_array_equal(np.sort(s.sample.rows, axis=0), [[0.1], [9.0]])


def test_a_remaining_weight_within_rounding_error_is_rejected():
    density = ShadowDensity(Gaussian(2.0)).fit([[0.0], [9.0]], sample_weight=[0.3e19, 1.0])
    density.partial_fit([[0.1]], sample_weight=[0.7])
    before = fitted_state(density)
    with pytest.raises(
        ValueError, match=r"of which 0\.7 would be left.*cannot be distinguished from rounding"
    ):
        density.forget([[0.0]], sample_weight=[0.3e19])
    assert fitted_state(density) == before


def test_more_than_the_fitted_integer_weight_cannot_be_forgotten():
    density = ShadowDensity(Gaussian(1.0)).fit([[0.0], [9.0]], sample_weight=[1e9, 1.0])
    with pytest.raises(ValueError, match="center 0 has weight 1e"):
        density.forget([[0.0]], sample_weight=[1e9 + 1])


@pytest.mark.parametrize("heavy", [1e14, 1e18])
def test_the_certificate_is_valid_after_heavy_rows_are_forgotten(heavy):
    centers = np.arange(20.0)[:, None]
    near, far = centers + 0.01, centers + 0.49
    model = ReducedSetKernelPCA(2, kernel=Gaussian(2.0), center=False).partial_fit(centers)
    model.partial_fit(near, sample_weight=np.full(20, heavy)).partial_fit(far)
    model.forget(near, sample_weight=np.full(20, heavy))
    certificate = model.certify(np.r_[centers, far])
    measured, known = certificate.level("measured"), certificate.level("a posteriori")
    assert measured.operator <= known.operator
    assert measured.mmd <= known.mmd


@pytest.mark.parametrize("limit", [None, 5])
def test_a_chunk_with_zero_weight_has_no_effect(limit):
    X = datasets.blobs(100, 2)
    stream = ShadowDensity(Gaussian(2.0), max_centers=limit).fit(X)
    expected = stream.reduced_set_
    assert stream.partial_fit(5 + X[:3], sample_weight=np.zeros(3)).reduced_set_ == expected
    np.testing.assert_array_equal(stream.labels_, -1)


def test_part_of_an_integer_weight_can_be_forgotten():
    X = datasets.blobs(50, 2)
    density = ShadowDensity(Gaussian(3.0)).fit(X, sample_weight=np.full(50, 2)).forget(X)
    np.testing.assert_array_equal(
        density.reduced_set_.weights, ShadowDensity(Gaussian(3.0)).fit(X).reduced_set_.weights
    )


def test_unit_weights_have_no_effect():
    X = datasets.blobs(3000, 3)
    plain, weighted = ShadowDensity().fit(X), ShadowDensity().fit(X, sample_weight=np.ones(3000))
    assert weighted.kernel_.bandwidth == plain.kernel_.bandwidth
    assert weighted.reduced_set_ == plain.reduced_set_


def test_feature_names_are_checked_before_any_computation():
    X = datasets.blobs(100, 3)
    density = ShadowDensity(Gaussian(1.0)).fit(X[:, :2])
    before = fitted_state(density)
    with pytest.raises(TypeError, match="names"):
        density.fit(pd.DataFrame(X, columns=["a", "b", 3]))
    assert fitted_state(density) == before


# ------------------------------------------------------------------------ data that do not compress

NOISE = np.random.default_rng(0).uniform(size=(1500, 24))


@pytest.fixture
def few_centers(monkeypatch):
    monkeypatch.setattr(_counting, "MOST_CENTERS", 400)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_fit_warns_early_if_most_rows_become_centers(make, few_centers):
    advice = r"larger bandwidth, a smaller ell, .* max_centers=2000, or KMeansDensity\(2000"
    message = f"512 of the first 512 rows became centers. Use a {advice}"
    with pytest.warns(UserWarning, match=message) as caught:
        ShadowDensity(Gaussian(1.0)).fit(make(NOISE))
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_a_stream_warns_once_if_most_rows_become_centers(few_centers):
    density = ShadowDensity(Gaussian(1.0)).partial_fit(NOISE[:300])
    with pytest.warns(UserWarning, match="600 of the first 600 rows became centers") as caught:
        density.partial_fit(NOISE[300:600])
    assert len(caught) == 1
    density.partial_fit(NOISE[600:])  # warnings are errors
    assert density.reduced_set_.n_centers == 1500


def test_the_warning_for_a_kernel_that_is_not_radial_suggests_what_it_supports(few_centers):
    kernel = sklearn_kernel("cosine", n_features=24)
    with pytest.warns(UserWarning, match=r"rows became centers\. Use a smaller ell\.$"):
        ShadowDensity(kernel).fit(NOISE - 0.5)


@pytest.mark.parametrize("options", [{"ell": np.inf}, {"max_centers": 450}])
def test_a_cover_of_all_rows_or_with_a_limit_does_not_warn(options, few_centers):
    ShadowDensity(Gaussian(1.0), **options).fit(NOISE)


def test_unused_centers_of_a_warm_start_are_not_counted(few_centers):
    density = ShadowDensity(Gaussian(1.0), warm_start=True)
    with pytest.warns(UserWarning, match="became centers"):
        density.fit(NOISE)
    density.fit(NOISE[:300])
    assert density.reduced_set_.n_centers == 300


@pytest.mark.parametrize("embedding", [ReducedSetKernelPCA, DiffusionMaps])
def test_an_embedding_that_predicts_the_number_of_centers_does_not_warn(embedding, few_centers):
    X = np.tile(NOISE[:600], (4, 1))  # all of the first rows are centers
    assert embedding(2, bandwidth=2.0).fit(X).n_centers_ == 600


def test_the_planned_radius_for_a_kernel_that_is_not_radial_depends_on_the_rows():
    kernel, rows = sklearn_kernel("poly", degree=2, n_features=24), Rows(NOISE, np.ones(1500))
    density = ShadowDensity(ell=3.0)
    fitted = ShadowDensity(kernel, ell=3.0).fit(NOISE)
    assert density.planned_radius(kernel, rows) == fitted.reduced_set_.radius
    assert density.planned_radius(kernel) is None
    assert ShadowDensity(ell="auto", tol=0.1).planned_radius(kernel, rows) is None
    assert density.planned_radius(Gaussian(6.0)) == 2.0
