"""Test that covers with expiring centers are bitwise equal to the reference."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rskpca._core import reference
from rskpca.density import _aging
from rskpca.density._aging import AgingCover
from tests import datasets
from tests.density.test_window import drifting_rows


def cover_by_row(X, radius, patience):
    """Return, per row, the index of the row that opened its center and the squared distance."""
    aging = AgingCover(radius, patience, X)
    homes, squared = [], []
    start = 0
    while start < len(X):
        aging.bury()
        labels, distances = aging.extend(X[start:])
        assert len(labels) > 0
        homes.append(aging.opened[labels])
        squared.append(distances)
        start += len(labels)
    return np.concatenate(homes), np.concatenate(squared)


def assert_equals_the_reference(X, radius, patience):
    homes, squared = cover_by_row(X, radius, patience)
    expected_homes, expected_squared = reference.aging_cover(X, radius, patience)
    np.testing.assert_array_equal(homes, expected_homes)
    np.testing.assert_array_equal(squared, expected_squared)


@pytest.fixture(params=[0, 1_000_000, np.inf], ids=["searched", "either", "walked"])
def lookup(request, monkeypatch):
    monkeypatch.setattr(_aging, "WALKED", request.param)
    if request.param == 0:
        monkeypatch.setattr(_aging, "STEP", 15)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("patience", [1, 30, 200, 10_000])
@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_the_cover_equals_the_reference(lookup, dtype, patience, shift):
    X = (drifting_rows(600) + shift).astype(dtype)
    assert_equals_the_reference(X, 0.5, patience)


def test_rows_exactly_at_the_radius_are_not_covered(lookup):
    X = np.random.default_rng(0).integers(0, 6, size=(1500, 3)).astype(float)
    assert_equals_the_reference(X, 2.0, 40)


@pytest.mark.parametrize("d", [1, 16, 120])
def test_any_number_of_features_is_supported(lookup, d):
    assert_equals_the_reference(datasets.blobs(500, d), 1.2 * np.sqrt(d), 60)


def test_branches_of_a_cover_are_independent(lookup):
    X = drifting_rows(900)
    one = AgingCover(0.5, 300, X)
    _add_all(one, X[:300])
    for rows in (X[300:450] + 0.3, X[300:450] - 7.0):  # as when a chunk fails
        _add_all(one.branch(), rows)
    again = one.branch()
    homes = _add_all(again, X[300:])
    np.testing.assert_array_equal(homes, reference.aging_cover(X, 0.5, 300)[0][300:])
    assert one.n_rows == 300


def _add_all(aging, X):
    """Add all rows and return, for each row, the index of the row that opened its center."""
    homes = []
    while len(X):
        aging.bury()
        labels, _ = aging.extend(X)
        homes.extend(aging.opened[labels])
        X = X[len(labels) :]
    return homes


@given(seed=st.integers(0, 2**32), patience=st.integers(1, 300), spread=st.floats(0.1, 20))
@settings(max_examples=40, deadline=None)
def test_any_stream_equals_the_reference(seed, patience, spread):
    X = spread * np.random.default_rng(seed).normal(size=(300, 2))
    assert_equals_the_reference(X, 1.0, patience)


def test_branches_can_be_extended_in_several_threads():
    """Branches would corrupt each other if they shared one mutable cover."""
    X = np.random.default_rng(0).normal(size=(6000, 3))
    aging = AgingCover(0.2, 5000, X)
    _add_all(aging, X[:4000])
    expected = _add_all(aging.branch(), X[4000:])
    with ThreadPoolExecutor(4) as pool:
        branches = [aging.branch() for _ in range(4)]
        results = list(pool.map(_add_all, branches, [X[4000:]] * 4))
    for result in results:
        np.testing.assert_array_equal(result, expected)
