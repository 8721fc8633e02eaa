"""Models in files: one file of arrays and a JSON header, and no code."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from . import _container as container
from ._tree import Decoder, Encoder
from .errors import ModelFileError, refuse

_KEYS = {"rskpca", "class", "n_features", "n_centers", "created", "model"}


@dataclass(frozen=True)
class Description:
    """What the header of a model file says.

    Attributes
    ----------
    class_name : str
        Of the model.
    n_features, n_centers : int or None
        d and m; None where the model is not fitted.
    created : datetime
        When it was saved.
    rskpca : str
        The version that saved it.
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
    """Write a model to one file, which :func:`load` reads on any machine.

    Whatever was there stays until the new file is whole.

    Parameters
    ----------
    model : estimator, ReducedSet, EigenSystem, Certificate or kernel
        Fitted or not; a ``Pipeline`` of a ``StandardScaler`` and one of rskpca's estimators; or a
        list or a dict of these, and of numbers, strings and arrays.
    path : str or path
        Where to. The ending does not matter; ``.rskpca`` says what it is.

    Raises
    ------
    ModelFileError
        If some part of the model cannot be stored, such as a function or a ``RandomState``.
        Nothing is written then.

    Examples
    --------
    >>> import tempfile, os
    >>> import numpy as np
    >>> from rskpca import ReducedSetKernelPCA, load, save
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> model = ReducedSetKernelPCA(2).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, os.path.join(folder, "model.rskpca"))
    ...     again = load(os.path.join(folder, "model.rskpca"))
    >>> np.array_equal(again.transform(X), model.transform(X))
    True
    """
    from .. import __version__

    encoder = Encoder()
    name = type(model).__name__
    tree = encoder.encode(model, name)
    header = {
        "rskpca": __version__,
        "class": name,
        **_sizes(encoder.sizes.get(id(model), {})),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "model": tree,
    }
    container.write(path, header, encoder.arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that :func:`save` wrote: the same bits, on any machine.

    Nothing of the file is run. Sizes and checksum are checked before anything is made, and what
    is made is checked part by part.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    object
        What was saved.

    Raises
    ------
    ModelFileError
        If the file is cut short, altered, made by a newer version, or not sound in any other
        way. The message names the file and the reason.
    """
    contents, arrays = container.read(path)
    try:
        return _decoded(contents, arrays)
    except (ModelFileError, RecursionError) as error:
        raise ModelFileError(f"{os.fspath(path)}: {error!s:.400}.") from error


def describe(path: str | os.PathLike[str]) -> Description:
    """What a model file says of itself, from its header alone.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Description
        Class, sizes, when and by which version. The arrays are neither read nor checked.
    """
    contents = container.read_header(path)
    try:
        return _described(contents)
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}.") from error


def _sizes(found: dict[str, int]) -> dict[str, int | None]:
    return {"n_features": found.get("d"), "n_centers": found.get("m")}


def _decoded(contents: container.Contents, arrays: list[Any]) -> Any:
    said = _described(contents)
    for layout, array in zip(contents.layouts, arrays, strict=True):
        array.flags.writeable = layout.writeable  # what must not be written to is frozen again
    decoder = Decoder(arrays)
    model = decoder.decode(contents.header["model"], said.class_name)
    if not decoder.all_used():
        refuse("it has arrays that belong to nothing")
    if type(model).__name__ != said.class_name:
        refuse(f"it says {said.class_name}, but holds a {type(model).__name__}")
    found = _sizes(decoder.sizes.get(id(model), {}))
    if found != {"n_features": said.n_features, "n_centers": said.n_centers}:
        refuse("it says other sizes than its model has")
    return model


def _described(contents: container.Contents) -> Description:
    header = contents.header
    if set(header) != _KEYS:
        refuse(f"its header must have {', '.join(sorted(_KEYS))}, and has {list(header)!r:.200}")
    for name in ("class", "rskpca", "created"):
        if not isinstance(header[name], str):
            refuse(f"{name} must be a string, got {header[name]!r:.60}")
    for name in ("n_features", "n_centers"):
        size = header[name]
        if size is not None and (type(size) is not int or size < 1):
            refuse(f"{name} must be a whole number or nothing, got {size!r:.60}")
    return Description(
        header["class"],
        header["n_features"],
        header["n_centers"],
        _moment(header["created"]),
        header["rskpca"],
        contents.length,
    )


def _moment(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise ModelFileError(f"created must be a date and a time, got {text!r:.60}") from error
