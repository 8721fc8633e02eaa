"""Open the rows of a data file with command-line options."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._format import join_words, percent
from ..data import Block, Source, SourceError, open_source, pyarrow_for
from ..data._sheets import is_number
from ..model import FittedEstimator
from .options import Reading

_WITHOUT_NAMES = (".npy", ".npz", ".h5", ".hdf5", ".zarr")
_HEAD_ROWS = 1000  # in which columns that are not features are noticed
_HEAD_VALUES = 2**22
_FEWEST_ROWS = 20
_DOMINANT = 0.95  # fraction of the variance
_MOST_GROUPS = 20  # categories that can be told apart in a plot
_SECONDS_PER_YEAR = 365.2425 * 24 * 3600
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}")
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
            lenient=True,
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


def notes(source: Source, *, standardize: bool) -> Iterator[str]:
    """Yield notes on columns that were left out, and on features that are probably not features."""
    head = source.head(max(_FEWEST_ROWS, min(_HEAD_ROWS, _HEAD_VALUES // source.n_features)))
    text = {name: head.ids[name] for name in source.left_out if name in head.ids}
    if text:
        kinds = {name: _describe(column) for name, column in text.items()}
        described = join_words([f"{name!r} ({kind})" for name, kind in kinds.items()], "and")
        groups = [name for name, kind in kinds.items() if kind.endswith(" groups")]
        fix = f"; --color {quote(groups[0])} shows the groups in a report" if groups else ""
        yield f"left out {described}, because features must be numbers{fix}."
    partial = [repr(name) for name, kind in source.left_out.items() if kind == "partial"]
    if partial:
        found = join_words(partial, "and")
        yield f"left out {found}, because only some files of {source.name} have it."
    if len(head.rows) >= _FEWEST_ROWS and source.n_features > 1:
        yield from _suspicious_features(source, head.rows, standardize)


def _suspicious_features(
    source: Source, rows: NDArray[np.floating], standardize: bool
) -> Iterator[str]:
    """Yield notes on columns that look like ids, or else on one that dominates the distances."""
    names = source.feature_names or range(source.n_features)
    labels = [repr(name) if isinstance(name, str) else str(name) for name in names]
    steps = np.diff(rows, axis=0)
    ids = ((steps > 0).all(axis=0) | (steps < 0).all(axis=0)) & (rows == np.rint(rows)).all(axis=0)
    variances = rows.var(axis=0, dtype=np.float64)
    j = int(np.argmax(variances))
    share = float(variances[j] / variances.sum()) if variances.any() else 0.0
    if ids.any():
        found = join_words([labels[k] for k in np.flatnonzero(ids)], "and")
        numbers = ",".join(str(names[k]) for k in np.flatnonzero(ids))
        yield (
            f"column {found} counts the rows, like an id, and is used as a feature; leave it out "
            f"with --exclude {quote(numbers)}."
        )
    elif share > _DOMINANT and not standardize:
        yield (
            f"column {labels[j]} has {percent(share)} of the variance of all features, so it alone "
            f"determines which rows are close; leave it out with --exclude {quote(str(names[j]))}, "
            "or use --standardize."
        )


def _describe(column: NDArray[Any]) -> str:
    """Describe a column that is not numeric."""
    if column.dtype.kind in "mM":
        return "dates"
    values = [str(value) for value in column.tolist() if value not in (None, "")]
    strange = [value for value in values if not is_number(value)]
    if len(strange) < len(values) / 2 and strange:
        return f"numbers, but also {strange[0]!r}"
    if values and all(map(_DATE.match, values)):
        return "dates"
    count = len(set(values))
    return f"{count} groups" if 1 < count <= min(_MOST_GROUPS, len(values) / 2) else "text"


def sample(source: Source, n_rows: int) -> Block:
    """Return a random sample of at most ``n_rows`` rows, in their original order."""
    return source.take_block(sample_numbers(source, n_rows))


def sample_numbers(source: Source, n_rows: int) -> NDArray[np.intp]:
    """Return the numbers of the rows in :func:`sample`."""
    total = source.counted()
    return np.sort(np.random.default_rng(0).choice(total, min(n_rows, total), replace=False))


def color_values(block: Block, source: Source, color: str) -> NDArray[Any]:
    """Return the column ``color``, converting dates to years and text to numbers if possible."""
    column = block.ids[color]
    if column.dtype.kind == "M":
        return 1970 + column.astype("datetime64[s]").astype(np.float64) / _SECONDS_PER_YEAR
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
