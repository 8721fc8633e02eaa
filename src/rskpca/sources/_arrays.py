"""Arrays: in memory, in .npy and .npz files, in HDF5 and Zarr."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._table import Batch, Field, Picked, Rows, Table, file_identity, needs


class ArrayTable(Table):
    """Anything with ``shape``, ``dtype`` and slices of rows. Columns have no names."""

    def __init__(self, data: Any, where: str = "the array") -> None:
        _check_matrix(data.shape, data.dtype, where)
        self.data, self.where = data, where
        self.n_rows = int(data.shape[0])
        self.fields = (Field(None, np.dtype(data.dtype)),) * int(data.shape[1])

    def batches(self, picked: Picked, start: int, size: int) -> Iterator[Batch]:
        """Slices of rows."""
        for first in range(start, len(self.data), size):
            rows = np.asarray(self.data[first : first + size])
            yield Batch(self._of(rows, picked), self.where, range(first, first + len(rows)))

    def take(self, picked: Picked, rows: Rows, size: int) -> Iterator[Batch]:
        """The rows at once: an array can jump."""
        found, places = np.unique(rows, return_inverse=True)  # HDF5 takes no row twice
        yield Batch(self._of(np.asarray(self.data[found])[places], picked), self.where, rows)

    def _of(self, rows: NDArray[Any], picked: Picked) -> NDArray[Any]:
        whole = picked.all == tuple(range(len(self.fields)))
        return rows if whole else rows[:, list(picked.all)]


class ArrayFile(ArrayTable):
    """An array in a file, told from others by the file."""

    def __init__(self, data: Any, path: Path) -> None:
        super().__init__(data, repr(str(path)))
        self.path = path

    def identity(self) -> Any:
        """Of the file."""
        return file_identity(self.path)


class _Deflated(ArrayFile):
    """A member of a compressed .npz file, inflated as it is read."""

    def __init__(self, header: _Header, path: Path, member: str) -> None:
        if header.fortran:
            raise ValueError(
                f"{str(path)!r} holds a compressed array in column order, which cannot be read by "
                "rows; save it with np.savez, or its np.ascontiguousarray."
            )
        super().__init__(header, path)
        self.member = member

    def batches(self, picked: Picked, start: int, size: int) -> Iterator[Batch]:
        """Read on and on; rows before the start are inflated and dropped."""
        dtype, width = self.data.dtype, self.data.shape[1]
        with zipfile.ZipFile(self.path) as archive, archive.open(self.member) as stream:
            _read_header(stream)
            stream.seek(start * width * dtype.itemsize, 1)
            for first in range(start, len(self.data), size):
                n = min(size, len(self.data) - first)
                content = _read_fully(stream, n * width * dtype.itemsize, self.where)
                rows = np.frombuffer(content, dtype).reshape(n, width)
                yield Batch(self._of(rows, picked), self.where, range(first, first + n))

    def take(self, picked: Picked, rows: Rows, size: int) -> Iterator[Batch]:
        """A compressed array cannot jump."""
        return Table.take(self, picked, rows, size)


class _Header:
    """Shape and dtype of an array, and its order."""

    def __init__(self, shape: tuple[int, ...], fortran: bool, dtype: np.dtype[Any]) -> None:
        self.shape, self.fortran, self.dtype = shape, fortran, dtype

    def __len__(self) -> int:
        return self.shape[0]


def npy(path: Path) -> Table:
    """A memory map."""
    try:
        return ArrayFile(np.load(path, mmap_mode="r", allow_pickle=False), path)
    except (ValueError, EOFError) as error:
        raise ValueError(f"cannot read {str(path)!r} as a .npy file: {error}") from error


def npz(path: Path, dataset: str | None = None) -> Table:
    """A member; memory-mapped where it is stored uncompressed."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist()]
            member = f"{_member(path, names, dataset)}.npy"
            info = archive.getinfo(member)
            with archive.open(member) as stream:
                header = _read_header(stream)
                header_size = stream.tell()
    except (zipfile.BadZipFile, EOFError) as error:
        raise ValueError(f"cannot read {str(path)!r} as a .npz file: {error}") from error
    _check_matrix(header.shape, header.dtype, repr(str(path)))
    if info.compress_type != zipfile.ZIP_STORED or 0 in header.shape:
        return _Deflated(header, path, member)
    offset = _content_offset(path, info) + header_size
    order: Any = "F" if header.fortran else "C"
    return ArrayFile(np.memmap(path, header.dtype, "r", offset, header.shape, order), path)


def hdf5(path: Path, dataset: str | None = None) -> Table:
    """A dataset of an HDF5 file."""
    try:
        import h5py
    except ImportError as error:
        raise needs("h5py", "files", "an HDF5 file") from error
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise ValueError(f"cannot read {str(path)!r} as an HDF5 file: {error}") from error
    names: list[str] = []
    file.visititems(lambda name, item: names.append(name) if _is_matrix(item) else None)
    return ArrayFile(file[_member(path, names, dataset)], path)


def zarr(path: Path, dataset: str | None = None) -> Table:
    """An array of a Zarr folder, or of a group."""
    try:
        import zarr as package
    except ImportError as error:
        raise needs("zarr", "files", "a Zarr folder") from error
    try:
        node = package.open(str(path), mode="r")
    except (OSError, ValueError, KeyError) as error:
        raise ValueError(f"cannot read {str(path)!r} as a Zarr folder: {error}") from error
    if not hasattr(node, "shape"):
        names = [name for name, item in node.members(max_depth=None) if _is_matrix(item)]
        node = node[_member(path, names, dataset)]
    return ArrayTable(_Orthogonal(node), repr(str(path)))


class _Orthogonal:
    """A Zarr array whose rows can be picked by number."""

    def __init__(self, array: Any) -> None:
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        return np.asarray(self.array.oindex[rows])


def _is_matrix(item: Any) -> bool:
    return len(getattr(item, "shape", ())) == 2


def _member(path: Path, names: Iterable[str], wanted: str | None) -> str:
    """The array that is meant: the one asked for, else X, else the only one."""
    names = list(names)
    if not names:
        raise ValueError(f"{str(path)!r} holds no array; it is empty.")
    if wanted is None and (len(names) == 1 or "X" in names):
        return "X" if "X" in names else names[0]
    if wanted not in names:
        asked = "" if wanted is None else f", but no {wanted!r}"
        raise ValueError(
            f"{str(path)!r} holds {', '.join(names)}{asked}; name one of them with dataset=, or "
            "name the data X."
        )
    return str(wanted)


def _check_matrix(shape: tuple[int, ...], dtype: Any, where: str) -> None:
    if getattr(dtype, "kind", "O") == "c":
        raise ValueError(f"{where} holds complex numbers; give real ones.")
    if getattr(dtype, "kind", "O") not in "fiub":
        raise ValueError(f"{where} has dtype {dtype}, which holds no numbers; give real numbers.")
    if len(shape) != 2:
        raise ValueError(
            f"{where} has shape {tuple(shape)}; rows of features need two dimensions: reshape it "
            "to (n_samples, n_features)."
        )


def _read_header(stream: Any) -> _Header:
    """Read the head of a .npy stream, up to the first number."""
    version = np.lib.format.read_magic(stream)
    read = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
    return _Header(*read[version[0]](stream))


def _read_fully(stream: Any, size: int, where: str) -> bytes:
    content = stream.read(size)
    if len(content) < size:
        raise ValueError(f"{where} ends before its last row; it is cut short.")
    return bytes(content)


def _content_offset(path: Path, info: zipfile.ZipInfo) -> int:
    """Where a stored member begins: after its local header, whose lengths stand in it."""
    with path.open("rb") as file:
        file.seek(info.header_offset)
        local = file.read(30)
    return (
        info.header_offset
        + 30
        + int.from_bytes(local[26:28], "little")
        + int.from_bytes(local[28:30], "little")
    )
