"""Test that docs/format.md is sufficient to read model files."""

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from rskpca import Gaussian, Laplacian, ReducedSetKernelPCA, save
from tests.io import second_reader
from tests.io.cases import CASES, data

MODELS = {
    "centered": ReducedSetKernelPCA(3, kernel=Gaussian(1.5), ell=2.0),
    "plain": ReducedSetKernelPCA(3, kernel=Gaussian(1.5), center=False),
    "laplacian": ReducedSetKernelPCA(2, kernel=Laplacian(2.0), ell=2.0),
    "basis": ReducedSetKernelPCA(2, kernel=Gaussian(2.0), basis=9),
}


@pytest.mark.parametrize("name", MODELS)
def test_another_reader_computes_the_same_coordinates(name, tmp_path):
    X, new = data()
    model = MODELS[name].fit(X)
    save(model, tmp_path / "model")
    header, read = second_reader.read(tmp_path / "model")
    assert read[0] == header["class"] == "ReducedSetKernelPCA"
    assert header["n_centers"] == len(read[1]["density_"][1]["reduced_set_"][1]["centers"])
    np.testing.assert_allclose(second_reader.embed(read, new), model.transform(new), atol=1e-10)


@pytest.mark.parametrize("name", CASES)
def test_another_reader_can_parse_every_kind_of_model(name, tmp_path):
    model = CASES[name](data()[0])
    save(model, tmp_path / "model")
    header, read = second_reader.read(tmp_path / "model")
    assert header["class"] == type(model).__name__
    assert isinstance(read, dict | list | tuple)


def test_every_value_type_is_read_back(tmp_path):
    value = {
        "numbers": (1, 2.5, np.inf, None, True, "\u00e9"),
        "arrays": [np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.empty((0, 2)), np.int8(3)],
        "scaler": StandardScaler(),
    }
    save(value, tmp_path / "values")
    _, read = second_reader.read(tmp_path / "values")
    assert read["numbers"] == value["numbers"]
    np.testing.assert_array_equal(read["arrays"][0], value["arrays"][0])
    assert read["arrays"][1].shape == (0, 2)
    assert read["arrays"][2] == 3
    assert read["scaler"][0] == "StandardScaler"


@pytest.mark.parametrize("position", [0, 20, 200, -1])
def test_another_reader_detects_a_changed_byte(position, tmp_path):
    save(Gaussian(1.0), tmp_path / "model")
    changed = bytearray((tmp_path / "model").read_bytes())
    changed[position] ^= 1
    (tmp_path / "model").write_bytes(changed)
    with pytest.raises(ValueError, match=r"invalid file|wrong"):
        second_reader.read(tmp_path / "model")
