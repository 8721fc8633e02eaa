"""Model files: one file with arrays and a JSON header, and no code."""

from __future__ import annotations

import os
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
        d and m, or None if the model is not fitted.
    created : datetime
        Time at which the model was saved.
    rskpca : str
        Version of rskpca that saved it.
    n_bytes : int
        Length of the file.
    """

    class_name: str
    n_features: int | None
    n_centers: int | None
    created: datetime
    rskpca: str
    n_bytes: int


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a model to one file, which :func:`load` reads on any machine.

    The file is written atomically: an existing file is replaced when the new one is complete.

    Parameters
    ----------
    model : estimator, ReducedSet, EigenSystem, Certificate or kernel
        Fitted or not. Also a ``Pipeline`` of a ``StandardScaler`` and an estimator of rskpca, or
        a list or dict of these and of numbers, strings and arrays.
    path : str or path
        Name of the file, by convention with the suffix ``.rskpca``.

    Raises
    ------
    ModelFileError
        If a part of the model cannot be stored, such as a function or a ``RandomState``. Nothing
        is written in this case.

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
    """Load a model that :func:`save` wrote, with the same bits on any machine.

    No code in the file is executed. Lengths and checksum are verified before anything is
    created, and every part is checked.

    Parameters
    ----------
    path : str or path
        Name of the file.

    Returns
    -------
    object
        The model that was saved.

    Raises
    ------
    ModelFileError
        If the file is truncated, altered, invalid or written by a newer version. The message
        names the file and the reason.
    """
    contents, arrays = container.read(path)
    try:
        return _decode(contents, arrays)
    except (ModelFileError, RecursionError) as error:
        raise ModelFileError(f"{os.fspath(path)}: {error!s:.400}.") from error


def describe(path: str | os.PathLike[str]) -> Description:
    """Describe a model file from its header alone.

    Parameters
    ----------
    path : str or path
        Name of the file.

    Returns
    -------
    Description
        Class, sizes, time and version. Arrays and checksum are not read.
    """
    contents = container.read_header(path)
    try:
        return _describe(contents)
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}.") from error


def _decode(contents: container.Contents, arrays: list[Any]) -> Any:
    described, tree = _describe(contents), contents.header["model"]
    for layout, array in zip(contents.layouts, arrays, strict=True):
        array.flags.writeable = layout.writeable  # objects with read-only arrays freeze them
    if contents.version == 1:
        tree = upgrade(tree, arrays)
    decoder = Decoder(arrays)
    model = decoder.decode(tree, described.class_name)
    if contents.version > 1 and not decoder.has_used_all_arrays():
        refuse("it contains unused arrays")
    if type(model).__name__ != described.class_name:
        refuse(f"its header names a {described.class_name}, but it is a {type(model).__name__}")
    if sizes(model) != (described.n_features, described.n_centers):
        refuse("n_features or n_centers in the header does not match the model")
    return model


def _describe(contents: container.Contents) -> Description:
    header = contents.header
    if set(header) != set(_HEADER):
        refuse(f"the header must have {', '.join(_HEADER)}, got {list(header)!r:.200}")
    for name, hint in _HEADER.items():
        check_value(name, header[name], hint)
    try:
        created = datetime.fromisoformat(header["created"])
    except ValueError as error:
        text = f"created must be a date and time, got {header['created']!r:.60}"
        raise ModelFileError(text) from error
    numbers = header["n_features"], header["n_centers"]
    return Description(header["class"], *numbers, created, header["rskpca"], contents.length)
