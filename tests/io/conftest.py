"""Files of the cases, and files that must be refused."""

import pytest

from rskpca import load, save
from rskpca.io import ModelFileError
from tests.io.cases import CASES, data


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The bytes of a case's file."""
    folder = tmp_path_factory.mktemp("saved")

    def bytes_of(name="kernel pca"):
        path = folder / f"{name}.rskpca"
        if not path.exists():
            save(CASES[name](data()[0]), path)
        return path.read_bytes()

    return bytes_of


@pytest.fixture
def refuse(tmp_path):
    """Check that bytes are refused, by ``load`` at least."""

    def check(contents, match, *, by=load):
        path = tmp_path / "hostile.rskpca"
        path.write_bytes(contents)
        with pytest.raises(ModelFileError, match=match) as caught:
            by(path)
        assert "hostile.rskpca: " in str(caught.value)

    return check
