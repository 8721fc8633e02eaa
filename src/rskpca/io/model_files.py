"""Save and load model files, which contain arrays and a JSON header but no code."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from . import _container as container
from ._checks import sizes
from ._container import ModelFileError, refuse
from ._legacy import upgrade
from ._schema import check_value
from ._tree import Decoder, Encoder

_HEADER = {
    "rskpca": str,
    "class": str,
    "n_features": int | None,
    "n_centers": int | None,
    "created": str,
    "model": Any,
}


@dataclass(frozen=True)
class Description:
    """The header of a model file.

    Attributes
    ----------
    class_name : str
        Class of the model.
    n_features, n_centers : int or None
        Numbers of features and centers, or None if the model is not fitted.
    created : datetime
        Time when the model was saved.
    rskpca : str
        Version of rskpca that saved the model.
    n_bytes : int
        File size in bytes.
    """

    class_name: str
    n_features: int | None
    n_centers: int | None
    created: datetime
    rskpca: str
    n_bytes: int


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a model to a file that :func:`load` can read on any machine.

    The file is written atomically: an existing file is replaced only when the new one is complete.

    Parameters
    ----------
    model : estimator, ReducedSet, EigenSystem, Certificate or kernel
        The object to save, fitted or not. It can also be a ``Pipeline`` of a ``StandardScaler``
        and an rskpca estimator, or a list or dict of these and of numbers, strings and arrays.
    path : str or path
        File name, by convention with the suffix ``.rskpca``.

    Raises
    ------
    ModelFileError
        If a part of the model cannot be stored, such as a function or a ``RandomState``. In this
        case, nothing is written.

    Examples
    --------
    >>> import tempfile, os
    >>> import numpy as np
    >>> from rskpca import ReducedSetKernelPCA, load, save
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> model = ReducedSetKernelPCA(2).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, os.path.join(folder, "model.rskpca"))
    ...     loaded = load(os.path.join(folder, "model.rskpca"))
    >>> np.array_equal(loaded.transform(X), model.transform(X))
    True
    """
    from .. import __version__

    encoder, name = Encoder(), type(model).__name__
    tree = encoder.encode(model, name)
    n_features, n_centers = sizes(model)
    header = {
        "rskpca": __version__,
        "class": name,
        "n_features": n_features,
        "n_centers": n_centers,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "model": tree,
    }
    container.write(path, header, encoder.arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model written by :func:`save`. The result is bit-for-bit identical on any machine.

    The file cannot execute code. The lengths and the checksum are verified before any object is
    created, and every part is validated.

    Parameters
    ----------
    path : str or path
        File name.

    Returns
    -------
    object
        The saved model.

    Raises
    ------
    ModelFileError
        If the file is truncated, modified, invalid or written by a newer version. The message
        names the file and the reason.
    """
    with _naming_file(path):
        return _decode(*container.read(path))


def describe(path: str | os.PathLike[str]) -> Description:
    """Read the description of a model from the header of its file.

    Parameters
    ----------
    path : str or path
        File name.

    Returns
    -------
    Description
        The class, sizes, time and version. The arrays and the checksum are not read.
    """
    with _naming_file(path):
        return _describe(container.read_header(path))


@contextmanager
def _naming_file(path: str | os.PathLike[str]) -> Iterator[None]:
    """Add the name of the file to error messages."""
    try:
        yield
    except (ModelFileError, RecursionError) as error:
        raise ModelFileError(f"{os.fspath(path)}: {error!s:.400}.") from error


def _decode(contents: container.Contents, arrays: list[Any]) -> Any:
    described, tree = _describe(contents), contents.header["model"]
    for layout, array in zip(contents.layouts, arrays, strict=True):
        array.flags.writeable = layout.writeable  # constructors make arrays read-only if necessary
    if contents.version < container.VERSION:
        tree = upgrade(tree, arrays, contents.version)
    decoder = Decoder(arrays)
    model = decoder.decode(tree, described.class_name)
    if contents.version == container.VERSION and not decoder.has_used_all_arrays():
        refuse("it contains unused arrays")
    if type(model).__name__ != described.class_name:
        refuse(
            f"the header names a {described.class_name}, but the model is a {type(model).__name__}"
        )
    if sizes(model) != (described.n_features, described.n_centers):
        refuse("n_features or n_centers in the header does not match the model")
    return model


def _describe(contents: container.Contents) -> Description:
    header = contents.header
    if set(header) != set(_HEADER):
        refuse(f"the header must have the keys {', '.join(_HEADER)}, got {list(header)!r:.200}")
    for name, hint in _HEADER.items():
        check_value(name, header[name], hint)
    try:
        created = datetime.fromisoformat(header["created"])
    except ValueError as error:
        text = f"created must be a date and time, got {header['created']!r:.60}"
        raise ModelFileError(text) from error
    numbers = header["n_features"], header["n_centers"]
    return Description(header["class"], *numbers, created, header["rskpca"], contents.length)
