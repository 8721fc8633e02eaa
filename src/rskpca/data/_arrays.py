"""Arrays: in memory, in .npy and .npz files, in HDF5 and Zarr."""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._table import Batch, Field, Picked, Rows, Table, file_identity
from .packages import needs


class _Matrix(Table):
    """Anything with ``shape``, ``dtype`` and slices of rows. Columns have no names."""

    def __init__(self, shape: tuple[int, ...], dtype: Any, where: str) -> None:
        _check_matrix(shape, dtype, where)
        self.shape, self.where, self.n_rows = tuple(shape), where, int(shape[0])
        self.fields = (Field(None, np.dtype(dtype)),) * int(shape[1])

    @abstractmethod
    def _opened(self) -> AbstractContextManager[Any]:
        """The array, for as long as it is read."""

    def batches(self, picked: Picked, start: int, size: int) -> Iterator[Batch]:
        """Slices of rows."""
        with self._opened() as data:
            for first in range(start, self.shape[0], size):
                rows = np.asarray(data[first : first + size])
                yield Batch(self._of(rows, picked), self.where, range(first, first + len(rows)))

    def take(self, picked: Picked, rows: Rows, size: int) -> Iterator[Batch]:
        """The rows at once: an array can jump."""
        found, places = np.unique(rows, return_inverse=True)  # HDF5 takes no row twice
        with self._opened() as data:
            taken = np.asarray(data[found])[places]
        yield Batch(self._of(taken, picked), self.where, rows)

    def _of(self, rows: NDArray[Any], picked: Picked) -> NDArray[Any]:
        whole = picked.all == tuple(range(len(self.fields)))
        return rows if whole else rows[:, list(picked.all)]


class ArrayTable(_Matrix):
    """An array in memory."""

    def __init__(self, data: Any, where: str = "the array") -> None:
        super().__init__(data.shape, data.dtype, where)
        self.data = data

    def _opened(self) -> AbstractContextManager[Any]:
        return nullcontext(self.data)


class ArrayFile(_Matrix):
    """An array in a file, open only while it is read; told from others by file and member."""

    def __init__(
        self,
        opened: Callable[[], AbstractContextManager[Any]],
        path: Path,
        member: str | None = None,
    ) -> None:
        with opened() as data:
            super().__init__(data.shape, data.dtype, repr(str(path)))
        self.path, self.member, self._open = path, member, opened

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        with self._open() as data:
            if tuple(data.shape) != self.shape:
                raise ValueError(f"{self.where} has changed since it was opened; open it again.")
            yield data

    def identity(self) -> Any:
        """Of the file, and of the array in it."""
        return [*file_identity(self.path), self.member]


class _ZarrFolder(ArrayFile):
    """An array in files of a folder, one a chunk."""

    def identity(self) -> Any:
        """Of all files of the folder."""
        files = sorted(path for path in self.path.rglob("*") if path.is_file())
        found = [[str(file.relative_to(self.path)), *file_identity(file)] for file in files]
        digest = hashlib.sha256(json.dumps(found).encode()).hexdigest()
        return [self.path.name, self.member, digest]


class _Deflated(_Matrix):
    """A member of a compressed .npz file, inflated as it is read."""

    def __init__(self, header: _Header, path: Path, member: str) -> None:
        if header.fortran:
            raise ValueError(
                f"{str(path)!r} holds a compressed array in column order, which cannot be read by "
                "rows; save it with np.savez, or its np.ascontiguousarray."
            )
        super().__init__(header.shape, header.dtype, repr(str(path)))
        self.path, self.member, self.dtype = path, member, header.dtype

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        """The member, after its header."""
        with zipfile.ZipFile(self.path) as archive, archive.open(self.member) as stream:
            _read_header(stream)
            yield stream

    def batches(self, picked: Picked, start: int, size: int) -> Iterator[Batch]:
        """Read on and on; rows before the start are inflated and dropped."""
        n_rows, width = self.shape
        row_bytes = width * self.dtype.itemsize
        with self._opened() as stream:
            with _damage_named(self.where):
                stream.seek(start * row_bytes, 1)
            for first in range(start, n_rows, size):
                n = min(size, n_rows - first)
                with _damage_named(self.where):
                    content = _read_fully(stream, n * row_bytes, self.where)
                rows = np.frombuffer(content, self.dtype).reshape(n, width)
                yield Batch(self._of(rows, picked), self.where, range(first, first + n))

    def take(self, picked: Picked, rows: Rows, size: int) -> Iterator[Batch]:
        """A compressed array cannot jump."""
        return Table.take(self, picked, rows, size)

    def identity(self) -> Any:
        """Of the file, and of the array in it."""
        return [*file_identity(self.path), self.member]


@contextmanager
def _damage_named(where: str) -> Iterator[None]:
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise ValueError(f"cannot read {where}, which is damaged: {error}") from error


class _Header:
    """Shape and dtype of an array, and its order."""

    def __init__(self, shape: tuple[int, ...], fortran: bool, dtype: np.dtype[Any]) -> None:
        self.shape, self.fortran, self.dtype = shape, fortran, dtype


def npy(path: Path) -> Table:
    """A memory map."""
    try:
        return ArrayFile(lambda: nullcontext(np.load(path, "r", allow_pickle=False)), path)
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
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise ValueError(f"cannot read {str(path)!r} as a .npz file: {error}") from error
    _check_matrix(header.shape, header.dtype, repr(str(path)))
    if info.compress_type != zipfile.ZIP_STORED or 0 in header.shape:
        return _Deflated(header, path, member)
    offset = _content_offset(path, info) + header_size
    order: Any = "F" if header.fortran else "C"
    return ArrayFile(
        lambda: nullcontext(np.memmap(path, header.dtype, "r", offset, header.shape, order)),
        path,
        member,
    )


def hdf5(path: Path, dataset: str | None = None) -> Table:
    """A dataset of an HDF5 file."""
    try:
        import h5py
    except ImportError as error:
        raise needs("h5py", "files", "an HDF5 file") from error
    names: list[str] = []
    try:
        with h5py.File(path, "r") as file:
            file.visititems(lambda name, item: names.append(name) if _is_matrix(item) else None)
    except OSError as error:
        raise ValueError(f"cannot read {str(path)!r} as an HDF5 file: {error}") from error
    member = _member(path, names, dataset)

    @contextmanager
    def opened() -> Iterator[Any]:
        with h5py.File(path, "r") as file:
            yield file[member]

    return ArrayFile(opened, path, member)


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
    member = None
    if not hasattr(node, "shape"):
        names = [name for name, item in node.members(max_depth=None) if _is_matrix(item)]
        member = _member(path, names, dataset)
        node = node[member]
    return _ZarrFolder(lambda: nullcontext(_Orthogonal(node)), path, member)


class _Orthogonal:
    """A Zarr array whose rows can be picked by number."""

    def __init__(self, array: Any) -> None:
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

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
