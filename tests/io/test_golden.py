"""Test files that were written on another machine by an earlier version."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest

from rskpca import ShadowDensity, load
from rskpca.io import describe
from rskpca.io._container import read_header
from rskpca.pairs import Estimate
from tests.io import golden

ROWS = golden.ROWS
EXPECTED = {
    "kernel pca": [
        [0.6129249297914239, 0.6317771561711971],
        [-0.0018793111448852035, -0.3585863053300624],
    ],
    "stream": [
        [0.698114541176974, -0.26974710320861484],
        [-0.24921922607916938, 0.3627472224443884],
    ],
    "pipeline": [[-0.04414297011986464], [0.08506109309375282]],
}
DIGESTS = {
    golden.FIRST: "c1ade9c044135f7617d43583645a40b6da13a398eb31f715dccdc310746723c4",
    golden.VERSION_1: "bdf1981425d33ddb1ec9adbcbf37da394ad6164e32a12ffc9c7573b299e23198",
    golden.VERSION_2: "a8565bfa1bfe3b586aa83a75e2255b5f620b6b1af9a18622533ad3419c94b856",
    golden.VERSION_3: "67cb6dff299e381fd25b3d1d357cc4bcdeb876a872be7065b250f8bc5802765c",
}
CASES = [*EXPECTED, "cut", *golden.more_models()]


@pytest.fixture(scope="module")
def first():
    return load(golden.FIRST)


@pytest.fixture(
    scope="module", params=[golden.VERSION_1, golden.VERSION_2, golden.VERSION_3], ids="123"
)
def loaded(request):
    return load(request.param)


@pytest.mark.parametrize("path", DIGESTS, ids=lambda path: path.name)
def test_the_stored_file_is_unchanged(path):
    assert hashlib.sha256(path.read_bytes()).hexdigest() == DIGESTS[path]
    assert describe(path).rskpca == "0.1.0"


@pytest.mark.parametrize("name", EXPECTED)
def test_coordinates_equal_those_from_the_other_machine(name, first):
    np.testing.assert_allclose(first[name].transform(ROWS), EXPECTED[name], rtol=1e-10)


def test_stored_numbers_are_loaded_exactly(first):
    model = first["kernel pca"]
    assert model.reduced_set_.weights.tolist() == [4.0, 9.0, 2.0, 2.0, 1.0, 1.0, 1.0]
    assert model.reduced_set_.centers[:2].tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert model.eigenvalues_.tolist() == [5.109138365020431, 3.195438073694276]
    assert first["stream"].reduced_set_.centers.dtype == np.float32
    assert first["cut"].predict(ROWS).tolist() == [0, 1]


def test_reduced_sets_equal_those_from_this_machine():
    """Covers are bitwise equal on every machine, including after a stream continues."""
    loaded = load(golden.FIRST)
    for name, model in golden.models().items():
        if name != "pipeline":
            assert model.reduced_set_ == loaded[name].reduced_set_
            model.partial_fit(ROWS)
            assert model.reduced_set_ == loaded[name].partial_fit(ROWS).reduced_set_


@pytest.mark.parametrize("name", CASES)
def test_results_equal_those_from_the_other_machine(name, loaded):
    model, expected = loaded[name]
    for found, stored in zip(golden.answers(model), expected, strict=True):
        np.testing.assert_allclose(found, stored, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("name", ["window stream", "nystrom stream", "novelty stream", "fading"])
def test_a_loaded_stream_continues_like_one_from_this_machine(name, loaded):
    model, _ = loaded[name]
    here = golden.more_models()[name].partial_fit(ROWS)
    for found, expected in zip(
        golden.answers(model.partial_fit(ROWS)), golden.answers(here), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("path", [golden.VERSION_1, golden.VERSION_2], ids="12")
def test_sums_at_random_frequencies_are_dropped(path):
    """Earlier versions stored such sums for windows. Everything else is bitwise equal.

    The weights of a fading density are powers of two that NumPy rounds differently in different
    versions and on different processors, so these weights are equal up to rounding.
    """
    assert "Spectrum" in str(read_header(path).header)
    loaded = load(path)
    for name in ("window", "window stream", "fading", "basis"):
        found = loaded[name][0].reduced_set_
        here = replace(golden.more_models()[name].reduced_set_, sample=None)
        if name == "fading":
            np.testing.assert_allclose(found.weights, here.weights, rtol=1e-15)
            here = replace(here, weights=found.weights, residue=found.residue)
        assert found.sample is None
        assert found == here
    assert loaded["window"][0].density.density.sample_size == ShadowDensity().sample_size
    assert loaded["basis"][0].density_.sample_size == 0  # stored without frequencies
    model = loaded["window"][0].partial_fit(ROWS)
    assert model.reduced_set_.sample is None
    assert "no row sample" in model.certificate_.level("sample").missing
    assert model.certificate_.embedding is None


@pytest.mark.parametrize("name", golden.sampled_models())
def test_row_samples_equal_those_from_this_machine(name):
    """The same rows are chosen; logarithms may be rounded differently."""
    model, _ = load(golden.VERSION_3)[name]
    here = golden.sampled_models()[name]
    for verb in ("load", "partial_fit"):
        if verb == "partial_fit" and name != "refined":
            model.partial_fit(ROWS)
            here.partial_fit(ROWS)
        ours, theirs = here.reduced_set_.sample, model.reduced_set_.sample
        np.testing.assert_array_equal(theirs.rows, ours.rows)
        np.testing.assert_array_equal(theirs.labels, ours.labels)
        np.testing.assert_allclose(theirs.weights, ours.weights, rtol=1e-12)
        np.testing.assert_allclose(theirs.keys, ours.keys, rtol=1e-12)
        assert (theirs.salt, theirs.position) == (ours.salt, ours.position)
        np.testing.assert_allclose(
            model.certificate_.likely, here.certificate_.likely, rtol=1e-6, atol=1e-9
        )


def test_a_stored_certificate_is_loaded_exactly():
    """Later versions may compute different estimates, but they do not change stored ones."""
    found = load(golden.VERSION_3)["certificate"]
    assert found.embedding == Estimate(estimate=0.09396118093638196, limit=0.09396118093638196)
    assert found.better_components is None
    assert [level.name for level in found.levels] == ["exact", "sample", "residual"]
    assert found.to_dict()["embedding"]["limit"] == 0.09396118093638196
