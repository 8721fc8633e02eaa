"""Test the measured exponents in Table 2."""

import numpy as np
import pytest

from experiments import table02
from experiments.data import store
from rskpca import Gaussian, ShadowDensity
from tests import datasets
from tests.experiments.quick import quick_settings, run_experiment


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return run_experiment("table02", quick_settings(tmp_path_factory.mktemp("table02")))


def test_storage_grows_as_stated_in_the_paper(run):
    exponents = run[0]["exponents"]
    for method, cost in table02.PAPER.items():
        for size, expected in zip("nm", cost.space_exponents, strict=True):
            if exponents[method][size] is not None:
                assert exponents[method][size]["stored"] == pytest.approx(expected, abs=0.1)


def test_all_stored_numbers_are_counted(run):
    numbers = run[0]
    d, r = numbers["n_features"], numbers["rank"]
    for method in ("nystrom", "wnystrom", "kpca-dense"):
        assert all(row["stored"] == row["n"] * (d + r) for row in numbers["rows"][method]["n"])
    for method in ("shadow", "kmeans", "subsampled", "herding"):
        assert all(row["stored"] == row["m"] * (d + r) for row in numbers["rows"][method]["m"])
    for row in numbers["rows"]["sklearn-nystroem"]["m"]:
        assert row["stored"] == row["m"] * (d + row["m"] + r + 1)


def test_every_method_is_measured_at_the_same_sizes(run):
    numbers = run[0]
    for rows in numbers["rows"].values():
        assert [row["n"] for row in rows["n"]] == list(table02.QUICK.ns)
    for row, m in zip(numbers["rows"]["shadow"]["m"], table02.QUICK.ms, strict=True):
        assert row["m"] == pytest.approx(m, rel=0.1)


def test_the_figure_and_the_table_are_written(run):
    numbers, path = run
    assert path.stat().st_size > 10_000
    table = path.with_suffix(".md").read_text().splitlines()
    assert len(table) == 2 + len(numbers["rows"])
    assert "| ShDE + RSKPCA | O(mn + m^3) |" in table[2]


def test_the_exponents_are_computed_from_the_largest_sizes():
    rows = [
        {"n": n, "seconds": max(5.0, n**2), "transform": n**0.5, "stored": 3 * n}
        for n in (1, 2, 4, 8, 16)
    ]
    assert table02.fit_exponents({"n": rows, "m": []}) == {
        "n": {"seconds": 2.0, "transform": 0.5, "stored": 1.0},
        "m": None,
    }


def test_find_ell_yields_about_the_requested_number_of_centers():
    X, kernel = datasets.blobs(300, 2), Gaussian(2.0)
    ell = table02.find_ell(kernel, X, 40)
    assert abs(ShadowDensity(kernel, ell).fit(X).reduced_set_.n_centers - 40) <= 1


def test_only_a_quick_run_replaces_missing_data_with_digits(tmp_path, monkeypatch):
    monkeypatch.setenv("RSKPCA_DATA", str(tmp_path))
    monkeypatch.setenv("RSKPCA_CACHE", str(tmp_path))
    load = table02._load_data.__wrapped__
    assert "replaced by" in load(quick=True).note
    monkeypatch.setattr(store, "_download", lambda dataset, tried: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        load(quick=False)


def test_rows_are_shuffled_reproducibly():
    first, second = (table02._load_data.__wrapped__(quick=True).X for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("method", ["shadow", "herding"])
def test_a_second_run_gives_the_same_numbers_except_timings(run, tmp_path, method):
    again = table02.measure(quick_settings(tmp_path), method)
    for size, rows in run[0]["rows"][method].items():
        timings = {"seconds": 0, "transform": 0}
        assert [row | timings for row in rows] == [row | timings for row in again[size]]
