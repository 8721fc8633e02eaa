"""A file that another machine wrote, some time ago."""

import hashlib

import numpy as np
import pytest

from rskpca import load
from tests.io import golden

ROWS = np.array([[0.0, 1.0, 2.0], [5.5, 4.0, 3.0]])
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


@pytest.fixture(scope="module")
def loaded():
    return load(golden.PATH)


def test_the_file_is_the_one_that_was_written():
    digest = hashlib.sha256(golden.PATH.read_bytes()).hexdigest()
    assert digest == "c1ade9c044135f7617d43583645a40b6da13a398eb31f715dccdc310746723c4"


@pytest.mark.parametrize("name", EXPECTED)
def test_coordinates_are_those_of_the_other_machine(name, loaded):
    np.testing.assert_allclose(loaded[name].transform(ROWS), EXPECTED[name], rtol=1e-10)


def test_stored_numbers_are_the_same_bits(loaded):
    model = loaded["kernel pca"]
    assert model.reduced_set_.weights.tolist() == [4.0, 9.0, 2.0, 2.0, 1.0, 1.0, 1.0]
    assert model.reduced_set_.centers[:2].tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert model.eigenvalues_.tolist() == [5.109138365020431, 3.195438073694276]
    assert loaded["stream"].reduced_set_.centers.dtype == np.float32
    assert loaded["cut"].predict(ROWS).tolist() == [0, 1]


def test_reduced_sets_are_those_of_this_machine():
    """A cover has the same bits everywhere, and goes on with them."""
    loaded = load(golden.PATH)
    for name, model in golden.models().items():
        if name != "pipeline":
            assert model.reduced_set_ == loaded[name].reduced_set_
            model.partial_fit(ROWS)
            assert model.reduced_set_ == loaded[name].partial_fit(ROWS).reduced_set_
