"""Open the rows of a data file with command-line options."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data import Block, Source, SourceError, open_source, pyarrow_for
from ..model import FittedEstimator
from .options import Reading

_WITHOUT_NAMES = (".npy", ".npz", ".h5", ".hdf5", ".zarr")
_TABS = {"\\t": "\t", "tab": "\t"}


def open_rows(
    reading: Reading,
    data: Path,
    fitted: FittedEstimator | None = None,
    *,
    ids: Sequence[str] = (),
    color: str | None = None,
) -> Source:
    """Open a file or folder without reading it, selecting a fitted model's columns if given."""
    columns: Sequence[str] | None = _split(reading.columns) or None
    if columns is None and fitted is not None and data.suffix.lower() not in _WITHOUT_NAMES:
        columns = fitted.columns
    delimiter = _TABS.get(reading.delimiter or "", reading.delimiter)
    options: dict[str, Any] = {
        "delimiter": delimiter,
        "decimal": reading.decimal,
        "header": reading.header,
        "dataset": reading.dataset,
    }
    try:
        source = open_source(
            data,
            columns=columns,
            ids=[*ids, *([] if color is None else [color])],
            weight=reading.weight,
            exclude=_split(reading.exclude),
            skip_missing=reading.skip_missing,
            **{name: value for name, value in options.items() if value is not None},
        )
    except SourceError as error:
        if color is not None and error.argument == "ids":
            error.argument = "color"
        raise
    if fitted is not None:
        _check_columns(source, fitted)
    return source


def _check_columns(source: Source, fitted: FittedEstimator) -> None:
    """Raise an error unless the source has the columns that the model was fitted to."""
    if source.n_features != fitted.n_columns:
        raise ValueError(
            f"{source.name} has {source.n_features} features, but the model was fitted to "
            f"{fitted.n_columns}; select those with --columns."
        )
    names, wanted = source.feature_names, fitted.columns
    if names is not None and wanted is not None and list(names) != wanted:
        raise ValueError(
            f"the model was fitted to the columns {', '.join(wanted)}, in this order; remove "
            "--columns to use them."
        )


def _split(lists: Sequence[str] | None) -> list[str]:
    """Split comma-separated lists into names."""
    return [name.strip() for names in lists or () for name in names.split(",") if name.strip()]


def sample(source: Source, n_rows: int) -> Block:
    """Return a random sample of at most ``n_rows`` rows, in their original order."""
    return source.take_block(sample_numbers(source, n_rows))


def sample_numbers(source: Source, n_rows: int) -> NDArray[np.intp]:
    """Return the numbers of the rows in :func:`sample`."""
    total = source.counted()
    return np.sort(np.random.default_rng(0).choice(total, min(n_rows, total), replace=False))


def color_values(block: Block, source: Source, color: str) -> NDArray[Any]:
    """Return the column ``color``, converting text to numbers if all values are numeric."""
    column = block.ids[color]
    if not source.ids_are_text:
        return column
    try:
        return np.where(column == "", "nan", column).astype(np.float64)
    except ValueError:
        return column


def write_digits(path: Path) -> None:
    """Write scikit-learn's handwritten digits to a .parquet file."""
    from sklearn.datasets import load_digits

    pa = pyarrow_for("running the demo")
    import pyarrow.parquet as pq

    images, labels = load_digits(return_X_y=True)
    names = [f"row {i} column {j}" for i in range(8) for j in range(8)]
    columns = dict(zip(names, np.ascontiguousarray(images.T), strict=True))
    pq.write_table(pa.table({**columns, "digit": [f"digit {label}" for label in labels]}), path)
