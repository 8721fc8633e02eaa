"""Embed or label the rows of a source, into a file."""

from __future__ import annotations

import warnings
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data import open_source, read_ahead
from ._columns import check_columns
from ._outputs import written
from ._progress import Progress, shown
from .fitting import n_centers


def transform(model: Any, source: Any, output: Any, *, progress: Progress = None) -> Path:
    """Write the coordinates of all rows to a file, block by block.

    Parameters
    ----------
    model : fitted embedding
        Anything with ``transform``.
    source : Source, or what :func:`rskpca.data.open_source` opens
        The rows; columns named in ``ids=`` go into the file, before the coordinates. Of one that
        was opened with ``skip_missing=True`` all rows are written, in their order: those that it
        skips are empty, or NaN in a .npy file.
    output : str or path
        A file that ends in .npy, .parquet or .csv; .npy takes no ids. It appears under its name
        when it is whole.
    progress : bool or callable, default=None
        None shows a line on a terminal; a function is called with rows and centers so far.

    Returns
    -------
    Path
        The file.
    """
    names = [str(name) for name in model.get_feature_names_out()]
    return _applied(model, "transform", names, source, output, progress)


def predict(model: Any, source: Any, output: Any, *, progress: Progress = None) -> Path:
    """Write the labels of all rows to a file, block by block.

    Parameters
    ----------
    model : fitted clustering or novelty detector
        Anything with ``predict``.
    source : Source, or what :func:`rskpca.data.open_source` opens
        The rows; columns named in ``ids=`` go into the file, before the label. Rows that it skips
        are empty, which a .npy file of labels cannot hold.
    output : str or path
        A file that ends in .npy, .parquet or .csv, as in :func:`transform`.
    progress : bool or callable, default=None
        None shows a line on a terminal; a function is called with rows and centers so far.

    Returns
    -------
    Path
        The file.
    """
    return _applied(model, "predict", ["label"], source, output, progress)


def _applied(
    model: Any, verb: str, names: list[str], source: Any, output: Any, progress: Progress
) -> Path:
    check_is_fitted(model)
    source = open_source(source)
    check_columns(model, source)
    path = Path(output)
    with (
        written(path, names, source) as append,
        shown(progress, source, type(model).__name__) as show,
        closing(read_ahead(source.with_skipped().blocks())) as blocks,
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings("ignore", "X does not have valid feature names")  # see above
        for block in blocks:
            append(block.ids, np.asarray(getattr(model, verb)(block.rows)), block.empty)
            show(block.stop, n_centers(model))
    return path
