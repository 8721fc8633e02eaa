"""Apply a model to the rows of a source, and write the results to a file."""

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
        Any estimator with a ``transform`` method.
    source : Source, or any input of :func:`rskpca.data.open_source`
        The rows. Columns selected with ``ids=`` are written before the coordinates. If the source
        was opened with ``skip_missing=True``, skipped rows stay in their original positions, with
        empty coordinates (NaN in a .npy file).
    output : str or path
        A file name that ends in .npy, .parquet or .csv. A .npy file cannot contain ids. The file
        appears only when it is complete.
    progress : bool or callable, default=None
        If None, a progress line is shown on terminals only. A function is called with the number
        of rows so far and the number of centers.

    Returns
    -------
    Path
        The path of the output file.
    """
    names = [str(name) for name in model.get_feature_names_out()]
    return _apply(model, model.transform, names, source, output, progress)


def predict(model: Any, source: Any, output: Any, *, progress: Progress = None) -> Path:
    """Write the labels of all rows to a file, block by block.

    Parameters
    ----------
    model : fitted clustering or novelty detector
        Any estimator with a ``predict`` method.
    source : Source, or any input of :func:`rskpca.data.open_source`
        The rows. Columns selected with ``ids=`` are written before the label. Skipped rows have
        no label, which a .npy file cannot represent.
    output : str or path
        A file name that ends in .npy, .parquet or .csv, as in :func:`transform`.
    progress : bool or callable, default=None
        If None, a progress line is shown on terminals only. A function is called with the number
        of rows so far and the number of centers.

    Returns
    -------
    Path
        The path of the output file.
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
        # Blocks are arrays without feature names, which check_columns has already compared.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        known = unwrap_known(model)
        n_centers = 0 if known is None else known.reduced_set.n_centers
        for block in blocks:
            append(block.ids, np.asarray(method(block.rows)), block.empty)
            show(block.stop, n_centers)
    return path
