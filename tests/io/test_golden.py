"""Test files that were written on another machine by an earlier version."""

import hashlib

import numpy as np
import pytest

from rskpca import load
from rskpca.io import describe
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
}
CASES = [*EXPECTED, "cut", *golden.more_models()]


@pytest.fixture(scope="module")
def first():
    return load(golden.FIRST)


@pytest.fixture(scope="module", params=[golden.VERSION_1, golden.VERSION_2], ids=["1", "2"])
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
