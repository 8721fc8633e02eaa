"""Test that damaged, hostile and special files raise errors that name the file."""

import os
import threading

import h5py
import numpy as np
import pytest

from rskpca.data import open_source

from .cases import make_input, table

FILES = ["npy", "npz", "compressed npz", "parquet", "feather", "arrow", "arrow stream", "hdf5"]
X = table(2000)


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("damage", ["truncated", "zeros", "noise"])
def test_errors_in_damaged_files_name_the_file(tmp_path, kind, damage):
    path = make_input(kind, tmp_path, X)
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    messages = []
    for _ in range(30):
        start = int(rng.integers(len(content)))
        middle = bytes(64) if damage == "zeros" else rng.bytes(64)
        rest = b"" if damage == "truncated" else middle + content[start + 64 :]
        path.write_bytes(content[:start] + rest)
        try:
            for _ in open_source(path).blocks():
                pass
        except ValueError as error:
            messages.append(str(error))
        except MemoryError:
            pass  # caused by an implausible size in the file
    assert all(path.name in message for message in messages)
    assert messages or damage != "truncated"  # other damage may only change numbers


@pytest.mark.skipif(os.name == "nt", reason="requires named pipes")
@pytest.mark.parametrize("name", ["pipe.csv", "pipe.npy", "pipe.parquet", "folder"])
def test_pipes_raise_an_error_instead_of_waiting(tmp_path, name):
    if name == "folder":
        (tmp_path / name).mkdir()
    os.mkfifo(tmp_path / name / "part.csv" if name == "folder" else tmp_path / name)
    errors = []

    def read():
        try:
            open_source(tmp_path / name)
        except ValueError as error:
            errors.append(str(error))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(20)
    assert "is not a regular file" in errors[0]


@pytest.mark.parametrize("kind", ["external", "virtual"])
def test_hdf5_datasets_stored_in_other_files_are_not_read(tmp_path, kind):
    np.arange(8.0).tofile(tmp_path / "secret")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["X"] = np.ones((4, 2))
    with h5py.File(tmp_path / "data.h5", "w") as file:
        if kind == "external":
            place = [(str(tmp_path / "secret"), 0, h5py.h5f.UNLIMITED)]
            file.create_dataset("X", (4, 2), "f8", external=place)
        else:
            layout = h5py.VirtualLayout((4, 2), "f8")
            layout[:] = h5py.VirtualSource(tmp_path / "other.h5", "X", (4, 2))
            file.create_virtual_dataset("X", layout)
        file["Y"] = np.ones((4, 2))
    with pytest.raises(ValueError, match=r"'X' of .*data\.h5' is stored in other files"):
        open_source(tmp_path / "data.h5")
    assert open_source(tmp_path / "data.h5", dataset="Y").n_rows == 4


def test_external_links_in_hdf5_files_are_not_followed(tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["X"] = np.ones((4, 2))
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file["X"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "X")
        file["Y"] = np.ones((4, 2))
    with pytest.raises(ValueError, match="contains Y, but not 'X'"):
        open_source(tmp_path / "data.h5", dataset="X")
