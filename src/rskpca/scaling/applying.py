"""Embed or label the rows of a source, and write the result to a file."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data import open_source, read_ahead
from ._outputs import write_blocks
from ._passes import Progress, check_columns, show_progress, unwrap_known


def transform(model: Any, source: Any, output: Any, *, progress: Progress = None) -> Path:
    """Write the coordinates of all rows to a file, block by block.

    Parameters
    ----------
    model : fitted embedding
        Any estimator with ``transform``.
    source : Source, or any input of :func:`rskpca.data.open_source`
        The rows. Columns selected with ``ids=`` are written before the coordinates. If the source
        was opened with ``skip_missing=True``, all rows are written in their order: skipped rows
        are empty, or NaN in a .npy file.
    output : str or path
        A file name that ends in .npy, .parquet or .csv; .npy files cannot hold ids. The file
        appears once it is complete.
    progress : bool or callable, default=None
        None shows a progress line on a terminal. A function is called with the numbers of rows
        so far and of centers.

    Returns
    -------
    Path
        The file.
    """
    names = [str(name) for name in model.get_feature_names_out()]
    return _apply(model, model.transform, names, source, output, progress)


def predict(model: Any, source: Any, output: Any, *, progress: Progress = None) -> Path:
    """Write the labels of all rows to a file, block by block.

    Parameters
    ----------
    model : fitted clustering or novelty detector
        Any estimator with ``predict``.
    source : Source, or any input of :func:`rskpca.data.open_source`
        The rows. Columns selected with ``ids=`` are written before the label. Skipped rows are
        empty, which a .npy file of labels cannot represent.
    output : str or path
        A file name that ends in .npy, .parquet or .csv, as for :func:`transform`.
    progress : bool or callable, default=None
        None shows a progress line on a terminal. A function is called with the numbers of rows
        so far and of centers.

    Returns
    -------
    Path
        The file.
    """
    return _apply(model, model.predict, ["label"], source, output, progress)


def _apply(
    model: Any,
    method: Callable[[Any], Any],
    names: list[str],
    source: Any,
    output: Any,
    progress: Progress,
) -> Path:
    check_is_fitted(model)
    source = open_source(source)
    check_columns(model, source)
    path = Path(output)
    with (
        write_blocks(path, names, source) as append,
        show_progress(progress, source, type(model).__name__) as show,
        closing(read_ahead(source.with_skipped().blocks())) as blocks,
        warnings.catch_warnings(),
    ):
        # Blocks are arrays without names; check_columns has compared the names.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        known = unwrap_known(model)
        n_centers = 0 if known is None else known.reduced_set.n_centers
        for block in blocks:
            append(block.ids, np.asarray(method(block.rows)), block.empty)
            show(block.stop, n_centers)
    return path
