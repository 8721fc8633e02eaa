"""Fixtures that provide saved cases and check that a file is rejected."""

import pytest

from rskpca import load, save
from rskpca.io import ModelFileError
from tests.io.cases import CASES, data


@pytest.fixture(scope="session")
def saved(tmp_path_factory):
    """Return a function that reads a saved case as bytes."""
    folder = tmp_path_factory.mktemp("saved")

    def read(name="kernel pca"):
        path = folder / f"{name}.rskpca"
        if not path.exists():
            save(CASES[name](data()[0]), path)
        return path.read_bytes()

    return read


@pytest.fixture
def assert_rejected(tmp_path):
    """Return a function that checks that ``load``, or another reader, rejects the given bytes."""

    def check(contents, match, *, by=load):
        path = tmp_path / "hostile.rskpca"
        path.write_bytes(contents)
        with pytest.raises(ModelFileError, match=match) as caught:
            by(path)
        assert "hostile.rskpca: " in str(caught.value)

    return check
