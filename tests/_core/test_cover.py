"""Test that Cover reproduces Algorithm 2 from ``reference.py`` bit for bit."""

from contextlib import ExitStack, contextmanager
from functools import cache
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rskpca._core import cover as cover_module
from rskpca._core import reference
from rskpca._core.cover import Cover
from tests import datasets


def assert_algorithm_2(X, radius, cuts=(), **options) -> Cover:
    """Cover X in chunks and compare centers, labels and squared distances with the reference."""
    rows, labels, squared = reference.cover(X, radius)
    cover = Cover(radius, X[:0], **options)
    results = [cover.extend(chunk) for chunk in np.split(X, sorted(cuts))]
    found, distances = (np.concatenate(parts) for parts in zip(*results, strict=True))
    np.testing.assert_array_equal(cover.centers, X[rows].astype(np.float64))
    np.testing.assert_array_equal(found, labels)
    np.testing.assert_array_equal(distances, squared)
    return cover


@contextmanager
def searching_by(search: str):
    """Force one search method on small data, and keep balls even if they save no time."""
    scan = cover_module._Balls.scan

    def scan_for_free(self, *args):
        scan(self, *args)
        return 0

    constants = {
        "tiles": {"PRODUCTS_FROM_FEATURES": 10**9, "BALLS_FROM_CENTERS": 10**9},
        "balls": {"PRODUCTS_FROM_FEATURES": 10**9, "BALLS_FROM_CENTERS": 128, "HEAD": 64},
        "products": {"PRODUCTS_FROM_FEATURES": 1, "PANEL": 48},
    }[search]
    with ExitStack() as stack:
        for name, value in constants.items():
            stack.enter_context(mock.patch.object(cover_module, name, value))
        stack.enter_context(mock.patch.object(cover_module._Balls, "scan", scan_for_free))
        yield


SEARCHES = ["tiles", "balls", "products"]


# ---------------------------------------------------------------------------- real data

REAL = {
    "german": lambda: datasets.load("german"),
    "pendigits": lambda: datasets.load("pendigits", step=2),
    "usps": lambda: datasets.load("usps", step=12),
    "skin": lambda: datasets.load("skin", step=12),
    "covtype": lambda: datasets.load("covtype", step=58)[:10_000],
    "covtype-10": lambda: datasets.load("covtype", step=58)[:10_000, :10].copy(),
}
CASES = [
    ("german", 5.0), ("german", 30 / 4), ("german", 12.0),
    ("pendigits", 24.0), ("pendigits", 30.0), ("pendigits", 120 / 3.5), ("pendigits", 60.0),
    ("usps", 18 / 5), ("usps", 18 / 3), ("usps", 12.0),
    ("skin", 5.0), ("skin", 13.0), ("skin", 40.5),
    ("covtype", 400.0), ("covtype", 750.0), ("covtype-10", 150.0), ("covtype-10", 500.0),
]  # fmt: skip


@cache
def real(name, dtype):
    return REAL[name]().astype(dtype)


@pytest.mark.parametrize(("name", "radius"), CASES)
def test_the_cover_equals_the_reference_on_real_data(name, radius):
    assert_algorithm_2(real(name, np.float64), radius)


@pytest.mark.parametrize(("name", "radius"), CASES[1::2])
def test_the_cover_of_float32_rows_equals_the_reference_on_real_data(name, radius):
    assert_algorithm_2(real(name, np.float32), radius)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize(("name", "radius"), [("german", 5.0), ("pendigits", 30.0)])
def test_every_search_equals_the_reference_on_real_data(name, radius, search):
    with searching_by(search):
        assert_algorithm_2(real(name, np.float64), radius)


def test_integer_data_have_exact_ties_at_the_radius():
    """This shows that the cases above include ties, which lie outside the shadow."""
    X = real("pendigits", np.float64)
    rows, _, _ = reference.cover(X, 30.0)
    squared = reference.pairwise_squared_distances(X, X[rows])
    assert np.count_nonzero(squared == 900.0) > 10


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("radius", [5.0, 0.1, 1.6436538845300674])
def test_a_row_at_exactly_the_radius_is_outside_the_shadow(radius, search):
    """The last radius is one for which radius * radius and pow(radius, 2) differ."""
    with searching_by(search):
        cover = assert_algorithm_2(np.array([[0.0], [radius], [-radius]]), radius)
    assert cover.n_centers == 3


# -------------------------------------------- bitwise equality across threads and batches


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("n_threads", [1, 2, 4])
@pytest.mark.parametrize("batch_rows", [1, 7, 64, 1000, 10_000])
def test_results_are_bitwise_equal_for_any_batches_and_threads(search, n_threads, batch_rows):
    X = np.random.default_rng(3).integers(0, 9, size=(1100, 4)).astype(np.float64)
    with searching_by(search):
        assert_algorithm_2(X, 2.0, batch_rows=batch_rows, n_threads=n_threads)


def test_results_are_bitwise_equal_for_automatic_batches_and_threads():
    X = real("pendigits", np.float64)
    for n_threads in (2, 4):
        assert_algorithm_2(X, 30.0, cuts=[1000], n_threads=n_threads)


@pytest.mark.parametrize("search", SEARCHES)
def test_a_cover_can_start_from_given_centers(search):
    X = datasets.blobs(900, 3)
    rows, labels, squared = reference.cover(X, 0.6)
    n_first = labels[:500].max() + 1
    with searching_by(search):
        cover = Cover(0.6, X[rows[:n_first]])
        found, distances = cover.extend(X[500:])
    np.testing.assert_array_equal(found, labels[500:])
    np.testing.assert_array_equal(distances, squared[500:])
    np.testing.assert_array_equal(cover.centers, X[rows])


@pytest.mark.parametrize("search", SEARCHES)
def test_assign_returns_the_first_center_within_the_radius_without_opening_any(search):
    rng = np.random.default_rng(0)
    C, X = rng.integers(0, 12, size=(400, 3)) * 1.0, rng.integers(0, 14, size=(700, 3)) * 1.0
    squared = reference.pairwise_squared_distances(X, C)
    within = squared < 4.0
    expected = np.where(within.any(axis=1), within.argmax(axis=1), -1)
    with searching_by(search):
        cover = Cover(2.0, C)
        labels, distances = cover.assign(X)
    np.testing.assert_array_equal(labels, expected)
    np.testing.assert_array_equal(
        distances, np.where(expected >= 0, squared[np.arange(len(X)), expected], 0)
    )
    assert 0 < np.count_nonzero(labels < 0) < len(X)
    assert cover.n_centers == len(C)


# ---------------------------------------------------------- choice of search method


def test_balls_are_used_and_exact_for_thousands_of_centers_in_three_dimensions():
    X = np.random.default_rng(0).random((16_000, 3))
    cover = assert_algorithm_2(X, 0.041)
    assert cover.n_centers > 5000
    assert cover._search.balls is not None


def test_balls_also_index_centers_that_are_opened_later():
    X = np.random.default_rng(1).random((3000, 3))
    with searching_by("balls"):
        cover = assert_algorithm_2(X, 0.08, batch_rows=100)
    assert cover._search.balls.stop > 2 * 128


def test_products_are_used_and_exact_for_many_features():
    X = datasets.blobs(700, 120)
    cover = assert_algorithm_2(X, 14.5)
    assert isinstance(cover._search, cover_module._ProductSearch)
    assert 20 < cover.n_centers < 600


# ------------------------------------------------------------------------- random data


@st.composite
def pointsets(draw):
    """Draw (X, radius): varied point clouds, often with pairs at exactly the radius."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, d = draw(st.integers(1, 400)), draw(st.integers(1, 9))
    kind = draw(st.sampled_from(["grid", "cloud", "scales", "far clusters", "repeats"]))
    if kind == "grid":  # 3-4-5 triangles give exact ties at integer radii
        X = rng.integers(0, draw(st.sampled_from([3, 7, 12])), size=(n, d)).astype(np.float64)
        radius = float(draw(st.integers(1, 6)))
    elif kind == "repeats":
        X = rng.normal(size=(n, d))[rng.integers(0, max(1, n // 5), size=n)]
        radius = draw(st.sampled_from([0.1, 1.0]))
    elif kind == "scales":
        X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-8, 9, size=d)
        radius = 10.0 ** draw(st.integers(-8, 8))
    elif kind == "far clusters":  # clusters 1e7 radii apart
        radius = draw(st.sampled_from([0.3, 1.0]))
        X = rng.normal(size=(n, d)) + 1e7 * radius * rng.integers(0, 3, size=(n, 1))
    else:
        X, radius = rng.normal(size=(n, d)), draw(st.sampled_from([0.05, 0.5, 1.0, 2.0, 100.0]))
    if draw(st.booleans()) and n > 1:  # within rounding error of a tie
        radius = float(np.linalg.norm(X[0] - X[rng.integers(1, n)])) or radius
    X[:, rng.random(d) < draw(st.sampled_from([0.0, 0.3]))] = draw(st.sampled_from([0.0, 1e6]))
    X += draw(st.sampled_from([0.0, 0.0, -3.5, 1e8]))
    return X.astype(draw(st.sampled_from([np.float64, np.float32]))), radius


@pytest.mark.slow
@given(
    points=pointsets(),
    search=st.sampled_from(SEARCHES),
    batch_rows=st.sampled_from([None, 1, 5, 100, 1000]),
    n_threads=st.sampled_from([1, 2, 4]),
    cuts=st.lists(st.integers(0, 400), max_size=4),
)
@settings(max_examples=400)
def test_the_cover_equals_the_reference_on_random_data(points, search, batch_rows, n_threads, cuts):
    X, radius = points
    with searching_by(search):
        assert_algorithm_2(X, radius, cuts, batch_rows=batch_rows, n_threads=n_threads)


_values = st.one_of(
    st.floats(-1e3, 1e3, width=32),
    st.integers(-5, 5).map(float),
    st.sampled_from([0.0, 1e8, 1e8 + 1, 1e-30, 1e15, -1e20]),
)


@given(
    X=hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=12),
        elements=_values,
    ),
    radius=st.one_of(st.floats(1e-3, 1e3), st.sampled_from([1.0, 5.0, 1e8, 1e20])),
    search=st.sampled_from(SEARCHES),
)
@example(X=np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 3.0]]), radius=5.0, search="tiles")
@settings(max_examples=200)
def test_the_cover_equals_the_reference_on_unusual_values(X, radius, search):
    with searching_by(search):
        assert_algorithm_2(X, radius)


# ------------------------------------------------------------------------ extreme radii


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("radius", [5e-324, 1e-310, 1e-200, 1e-30, 1e30, 1e200, 1.7e308])
def test_results_for_extreme_radii_equal_the_reference(search, radius):
    X = datasets.blobs(300, 4)
    X[100:200] = X[:100]
    with searching_by(search):
        cover = assert_algorithm_2(X, radius, cuts=[150])
    if radius > 1:
        assert cover.n_centers == 1


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("size", [1e-200, 1e-40, 1e40, 1e150])
def test_results_at_extreme_scales_equal_the_reference(search, size):
    X = np.random.default_rng(0).normal(size=(300, 3)) * size
    with searching_by(search):
        cover = assert_algorithm_2(X, 0.5 * size)
    assert cover.n_centers > 1


@pytest.mark.parametrize("search", SEARCHES)
def test_a_radius_larger_than_all_distances_leaves_one_center(search):
    X = datasets.blobs(200, 5)
    with searching_by(search):
        assert assert_algorithm_2(X, 1e6).n_centers == 1


def test_an_empty_chunk_opens_no_centers():
    labels, squared = Cover(1.0, np.empty((0, 3))).extend(np.empty((0, 3)))
    assert labels.shape == squared.shape == (0,)


def test_progress_is_called_after_every_batch():
    calls = []
    X = datasets.blobs(500, 2)
    cover = Cover(0.5, X[:0], batch_rows=200)
    cover.extend(X, lambda *state: calls.append(state))
    assert [rows for rows, _ in calls] == [200, 400, 500]
    assert calls[-1][1] == cover.n_centers


# ------------------------------------------------------------------------------ sums


def test_accumulated_distances_equal_separate_sums():
    from rskpca._core.compiled import accumulate, accumulate_distances

    rng = np.random.default_rng(0)
    labels, weights, squared = rng.integers(0, 7, 500), rng.random(500), rng.random(500)
    fused, separate = np.ones((2, 7)), np.ones((2, 7))
    accumulate_distances(labels, weights, squared, *fused)
    accumulate(labels, weights * np.sqrt(squared), separate[0])
    accumulate(labels, weights * squared, separate[1])
    np.testing.assert_array_equal(fused, separate)


@pytest.mark.parametrize(("factor", "product_error"), [(1.5, 0.0), (1.0, 0.25)])
def test_limits_include_rounding_errors_and_are_infinite_for_large_norms(factor, product_error):
    from rskpca._core.compiled_cover import set_limits

    squares = np.array([0.0, 1.0, 9.0, 1e30, np.inf, np.nan])
    norms, limits = np.empty((2, len(squares)), dtype=np.float32)
    set_limits(squares, 0.01, factor, product_error, 1e15, norms, limits)
    length = np.sqrt(squares[:3])
    expected = (1 + 0.01 * (2 * length + 3)) ** 2 * factor + product_error * (length + 1) ** 2
    np.testing.assert_allclose(limits[:3], expected, rtol=1e-7)
    assert np.all(np.isposinf(limits[3:]))
    np.testing.assert_array_equal(norms, np.sqrt(squares).astype(np.float32))


@given(st.integers(0, 2**32), st.integers(1, 50), st.integers(0, 300))
@settings(max_examples=50)
def test_accumulated_sums_equal_the_reference(seed, n_totals, n):
    from rskpca._core.compiled import accumulate

    rng = np.random.default_rng(seed)
    labels, values = rng.integers(n_totals, size=n), rng.random(n)
    fast, slow = rng.random(n_totals), np.empty(n_totals)
    slow[:] = fast
    accumulate(labels, values, fast)
    reference.accumulate(labels, values, slow)
    np.testing.assert_array_equal(fast, slow)


@pytest.mark.parametrize("search", SEARCHES)
def test_results_for_a_radius_with_a_subnormal_square_equal_the_reference(search):
    """Unscaled differences lose digits to underflow; scaled rows keep them."""
    X = np.zeros((2, 100))
    X[1] = 1.5e-162
    with searching_by(search):
        assert_algorithm_2(X, 1e-161)


def test_results_for_pivots_beyond_the_float32_range_equal_the_reference():
    """A ball whose pivot overflows in float32 has infinite reach and contains ordinary points."""
    rng = np.random.default_rng(0)
    X = 1000 * rng.random((1000, 3))
    pivots = X[64::64]
    pivots[:] = 1e22 * (1 + np.arange(len(pivots)))[:, None]
    X = np.concatenate([X, X[rng.integers(0, len(X), 500)] + 0.01])
    with searching_by("balls"):
        assert_algorithm_2(X, 1.0)


@pytest.mark.parametrize("size", [1e160, 1.7e308])
@pytest.mark.parametrize("search", SEARCHES)
def test_results_for_values_with_overflowing_squares_equal_the_reference(search, size):
    X = size * np.random.default_rng(0).uniform(-1, 1, (400, 3))
    with searching_by(search):
        assert_algorithm_2(X, size / 1e10)


@given(
    weights=hnp.arrays(np.float64, st.integers(1, 60), elements=st.floats(1e-6, 1e6)),
    n_labels=st.integers(1, 4),
)
def test_sums_plus_residues_are_exact(weights, n_labels):
    from rskpca._core.compiled import accumulate_exactly

    labels = np.arange(len(weights)) % n_labels
    fast, slow = np.zeros((2, n_labels)), np.zeros((2, n_labels))
    accumulate_exactly(labels, weights, *fast)
    reference.accumulate_exactly(labels, weights, *slow)
    np.testing.assert_array_equal(fast[0], slow[0])
    np.testing.assert_allclose(fast[1], slow[1], rtol=1e-12, atol=0)
