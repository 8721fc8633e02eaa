"""Splits, sizes, alignment and errors."""

import numpy as np
import pytest
from scipy.linalg import eigh, qr
from sklearn.metrics.pairwise import rbf_kernel

from experiments import protocol
from experiments.data import IncompleteError, MissingDataError
from experiments.settings import Settings


def test_the_grid_of_ell():
    assert protocol.ELLS[0] == 3.0
    assert protocol.ELLS[-1] == 5.0
    np.testing.assert_allclose(np.diff(protocol.ELLS), 0.1)
    assert protocol.ells(Settings(), every=5) == (3.0, 3.5, 4.0, 4.5, 5.0)


@pytest.mark.parametrize("n", [1000, 3498])
def test_halves_part_the_rows(n):
    split = protocol.halves(n, run=3)
    assert len(split.train) == round(0.8 * n)
    assert sorted([*split.train, *split.test]) == list(range(n))
    again, other = protocol.halves(n, run=3), protocol.halves(n, run=4)
    assert np.array_equal(split.train, again.train)
    assert set(split.test) != set(other.test)


def test_folds_test_every_row_once():
    folds = [protocol.fold(2000, run) for run in range(protocol.FOLDS)]
    assert sorted(np.concatenate([fold.test for fold in folds])) == list(range(2000))
    for fold in folds:
        assert sorted([*fold.train, *fold.test]) == list(range(2000))
    assert len(folds[0].train) == 1800


def test_aligned_error_is_what_no_mixing_of_columns_removes():
    rng = np.random.default_rng(0)
    wanted, seen = rng.normal(size=(60, 5)), rng.normal(size=(60, 5))
    Q = qr(seen, mode="economic")[0]
    outside = wanted - Q @ (Q.T @ wanted)
    assert protocol.aligned_error(wanted, seen) == pytest.approx(np.linalg.norm(outside))
    mixed = wanted @ rng.normal(size=(5, 5))
    assert protocol.aligned_error(wanted, mixed) < 1e-9


def test_eigenvalues_that_were_not_found_count_as_zero():
    assert protocol.eigenvalue_error(np.array([3.0, 4.0]), np.array([3.0])) == 4.0
    assert protocol.eigenvalue_error(np.array([3.0, 4.0]), np.array([3.5, 4.0])) == 0.5


@pytest.mark.parametrize("center", [False, True])
def test_reference_is_kernel_pca_of_all_rows(center):
    X, setup = protocol.dataset("german", quick=True).X, protocol.TABLE1["german"]
    gram = rbf_kernel(X, gamma=1 / setup.bandwidth**2)
    if center:
        H = np.eye(len(X)) - 1 / len(X)
        gram = H @ gram @ H
    values, vectors = eigh(gram)
    values, vectors = values[:-6:-1], vectors[:, :-6:-1]
    found = protocol.reference("german", True, center=center)
    np.testing.assert_allclose(found.eigenvalues, values / len(X), rtol=1e-9)
    wanted = vectors * np.sqrt(values)
    np.testing.assert_allclose(np.abs(found.embedding), np.abs(wanted), atol=1e-8)


def test_sizes_are_the_mean_of_the_shadow_method():
    rows = [{"method": "shadow", "ell": 3.0, "m": m} for m in (10, 11, 13)]
    rows += [{"method": "kpca", "ell": None, "m": 100}, {"method": "shadow", "ell": 4.0, "m": 20}]
    assert protocol.mean_sizes(rows) == {3.0: 11, 4.0: 20}


def test_digits_stand_in_where_data_are_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("RSKPCA_DATA", str(tmp_path))
    monkeypatch.setenv("RSKPCA_CACHE", str(tmp_path))
    data = protocol.dataset.__wrapped__("usps", True)
    assert "digits stand in" in data.note
    assert data.X.shape == (protocol.QUICK_ROWS, 64)
    assert data.name == "usps"


def test_often_timed_takes_a_median():
    calls = []
    found = protocol.often_timed(calls.append, 1)
    assert len(calls) == 5
    assert 0 <= found.seconds < 0.1


def test_what_is_there_is_computed_where_a_data_set_is_missing(monkeypatch):
    def found(name, quick):
        if name == "c":
            raise MissingDataError("c is nowhere")

    monkeypatch.setattr(protocol, "dataset", found)
    assert protocol.of_those_there("ab", False, lambda names: {"of": names}) == {"of": ["a", "b"]}
    with pytest.raises(IncompleteError, match="c is nowhere") as raised:
        protocol.of_those_there("abc", False, lambda names: {"of": names})
    assert raised.value.numbers == {"of": ["a", "b"]}
    assert raised.value.missing == ["c"]
    with pytest.raises(MissingDataError) as raised:
        protocol.of_those_there("c", False, lambda names: pytest.fail("nothing to compute"))
    assert not isinstance(raised.value, IncompleteError)
