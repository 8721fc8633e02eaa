"""Test the bounds from the theorems in section 5 against the measured values."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from experiments import bounds, protocol
from rskpca import Gaussian, ReducedSet, ShadowDensity
from rskpca.certificate import eigenvalues
from tests import datasets, dense
from tests.experiments.quick import compute, quick_settings


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return compute("bounds", quick_settings(tmp_path_factory.mktemp("bounds")))


def test_every_bound_is_above_the_measured_value(run):
    assert list(run["sets"]) == list(protocol.TABLE1)
    for found in run["sets"].values():
        assert [row["ell"] for row in found["rows"]] == list(protocol.QUICK_ELLS)
        for row in found["rows"]:
            for theorem in bounds.THEOREMS:
                values = row[theorem]
                for name in ("printed", "corrected", "from_data"):
                    if values.get(name) is not None:
                        assert values[name] >= values["measured"]
                        assert values[name] >= values.get("centered", 0.0)


def test_the_condition_of_theorem_5_4_is_never_met(run):
    for found in run["sets"].values():
        for row in found["rows"]:
            assert row["eigenspaces"]["printed"] is None
            assert row["eigenspaces"]["unproved"] > row["eigenspaces"]["measured"]


@pytest.mark.parametrize("center", [False, True])
def test_the_spectrum_equals_that_of_the_dense_matrix(center):
    X, kernel = datasets.blobs(60, 3), Gaussian(2.0)
    expected = dense.KernelPCA(kernel, X, 60, center).eigenvalues / 60
    actual = bounds.spectrum(kernel, ReducedSet(X, np.ones(60)), center)
    np.testing.assert_allclose(actual, expected, atol=1e-13)


@pytest.mark.parametrize("center", [False, True])
def test_the_weighted_spectrum_equals_that_of_the_quantized_data(center):
    X, kernel = datasets.blobs(80, 2), Gaussian(2.0)
    density = ShadowDensity(kernel, 3.0).fit(X)
    quantized = density.reduced_set_.centers[density.labels_]
    m = density.reduced_set_.n_centers
    expected = dense.KernelPCA(kernel, quantized, m, center).eigenvalues / 80
    actual = bounds.spectrum(kernel, density.reduced_set_, center)
    np.testing.assert_allclose(actual, expected, atol=1e-13)


def test_the_distance_between_spectra_agrees_with_the_library():
    """The library measures eigenvalues one by one, and here their errors are combined."""
    X, kernel = datasets.blobs(50, 2), Gaussian(2.0)
    found = ShadowDensity(kernel, 3.0).fit(X).reduced_set_
    total = bounds.Exact.of(kernel, X).compare(3.0)["eigenvalues"]["measured"]
    each = eigenvalues.measure(kernel, X, found, len(X))
    assert total == pytest.approx(np.linalg.norm(each), rel=1e-6)


def test_a_second_run_gives_the_same_numbers(run, tmp_path):
    """Sums depend on the number of BLAS threads, so both runs use one."""
    first = run["sets"]["german"]
    with threadpool_limits(1):
        again = bounds.measure(quick_settings(tmp_path), "german")
    assert again["gap"] == pytest.approx(first["gap"], rel=1e-12)
    for row, expected in zip(again["rows"], first["rows"], strict=True):
        assert (row["ell"], row["m"]) == (expected["ell"], expected["m"])
        for theorem in bounds.THEOREMS:
            for name, value in expected[theorem].items():
                wanted = value if value is None else pytest.approx(value, rel=1e-12)
                assert row[theorem][name] == wanted
