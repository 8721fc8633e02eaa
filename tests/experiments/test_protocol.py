"""Test the splits, sizes, alignment, timings and errors in the protocol."""

import numpy as np
import pytest
from scipy.linalg import eigh, qr
from sklearn.metrics.pairwise import rbf_kernel

from experiments import protocol
from experiments.data import IncompleteError, MissingDataError
from experiments.experiment import Settings


def test_ell_ranges_from_3_to_5_in_steps_of_a_tenth():
    assert protocol.ELLS[0] == 3.0
    assert protocol.ELLS[-1] == 5.0
    np.testing.assert_allclose(np.diff(protocol.ELLS), 0.1)
    assert protocol.ells(Settings(), every=5) == (3.0, 3.5, 4.0, 4.5, 5.0)


@pytest.mark.parametrize("n", [1000, 3498])
def test_a_random_split_contains_every_row_once(n):
    split = protocol.random_split(n, run=3)
    assert len(split.train) == round(0.8 * n)
    assert sorted([*split.train, *split.test]) == list(range(n))
    again, other = protocol.random_split(n, run=3), protocol.random_split(n, run=4)
    assert np.array_equal(split.train, again.train)
    assert set(split.test) != set(other.test)


def test_every_row_is_in_the_test_set_of_exactly_one_fold():
    folds = [protocol.fold(2000, run) for run in range(protocol.FOLDS)]
    assert sorted(np.concatenate([fold.test for fold in folds])) == list(range(2000))
    for fold in folds:
        assert sorted([*fold.train, *fold.test]) == list(range(2000))
    assert len(folds[0].train) == 1800


def test_the_aligned_error_is_invariant_to_linear_maps_of_the_columns():
    rng = np.random.default_rng(0)
    expected, actual = rng.normal(size=(60, 5)), rng.normal(size=(60, 5))
    Q = qr(actual, mode="economic")[0]
    residual = expected - Q @ (Q.T @ expected)
    assert protocol.aligned_error(expected, actual) == pytest.approx(np.linalg.norm(residual))
    mixed = expected @ rng.normal(size=(5, 5))
    assert protocol.aligned_error(expected, mixed) < 1e-9


def test_missing_eigenvalues_count_as_zero():
    assert protocol.eigenvalue_error(np.array([3.0, 4.0]), np.array([3.0])) == 4.0
    assert protocol.eigenvalue_error(np.array([3.0, 4.0]), np.array([3.5, 4.0])) == 0.5


@pytest.mark.parametrize("center", [False, True])
def test_the_reference_equals_kernel_pca_of_all_rows(center):
    X, setup = protocol.dataset("german", quick=True).X, protocol.TABLE1["german"]
    gram = rbf_kernel(X, gamma=1 / setup.bandwidth**2)
    if center:
        H = np.eye(len(X)) - 1 / len(X)
        gram = H @ gram @ H
    values, vectors = eigh(gram)
    values, vectors = values[:-6:-1], vectors[:, :-6:-1]
    found = protocol.reference("german", True, center=center)
    np.testing.assert_allclose(found.eigenvalues, values / len(X), rtol=1e-9)
    expected = vectors * np.sqrt(values)
    np.testing.assert_allclose(np.abs(found.embedding), np.abs(expected), atol=1e-8)


def test_the_sizes_equal_the_mean_number_of_shadow_centers():
    rows = [{"method": "shadow", "ell": 3.0, "m": m} for m in (10, 11, 13)]
    rows += [{"method": "kpca", "ell": None, "m": 100}, {"method": "shadow", "ell": 4.0, "m": 20}]
    assert protocol.mean_sizes(rows) == {3.0: 11, 4.0: 20}


def test_a_quick_run_replaces_missing_data_with_digits(monkeypatch, tmp_path):
    monkeypatch.setenv("RSKPCA_DATA", str(tmp_path))
    monkeypatch.setenv("RSKPCA_CACHE", str(tmp_path))
    data = protocol.dataset.__wrapped__("usps", True)
    assert "replaced by scikit-learn's digits" in data.note
    assert data.X.shape == (protocol.QUICK_ROWS, 64)
    assert data.name == "usps"


def test_time_median_repeats_short_calls():
    calls = []
    found = protocol.time_median(calls.append, 1)
    assert len(calls) == 5
    assert 0 <= found.seconds < 0.1


def test_results_are_computed_for_available_data_sets_if_another_is_missing(monkeypatch):
    def load(name, quick):
        if name == "c":
            raise MissingDataError("c is missing")

    monkeypatch.setattr(protocol, "dataset", load)
    computed = protocol.compute_available("ab", False, lambda names: {"names": names})
    assert computed == {"names": ["a", "b"]}
    with pytest.raises(IncompleteError, match="c is missing") as raised:
        protocol.compute_available("abc", False, lambda names: {"names": names})
    assert raised.value.numbers == {"names": ["a", "b"]}
    assert raised.value.missing == ["c"]
    with pytest.raises(MissingDataError) as raised:
        protocol.compute_available("c", False, lambda names: pytest.fail("called without data"))
    assert not isinstance(raised.value, IncompleteError)
