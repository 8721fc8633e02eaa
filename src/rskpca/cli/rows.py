"""Open the rows of a data file with command-line options."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._format import join_words, percent
from ..data import Block, Source, SourceError, open_source, pyarrow_for
from ..data._sheets import is_number
from ..data.source import find_counters, leave_out
from ..model import FittedEstimator
from .files import shell_path
from .options import Reading

_WITHOUT_NAMES = (".npy", ".npz", ".h5", ".hdf5", ".zarr")
_HEAD_ROWS = 1000  # rows to search for columns that are not features
_HEAD_VALUES = 2**22
_FEWEST_ROWS = 20
# Standardizing is recommended if one column has more than 95% of the variance, or if few columns
# have more than 90% and the standard deviations differ by more than a factor of 10.
_DOMINANT, _MOSTLY = 0.95, 0.9
_FEW_COLUMNS, _FEW_SHARE = 10, 0.25
_WIDE_RATIO = 10.0
_MOST_LABELS = 3  # maximum number of columns named in a note
_MOST_GROUPS = 20  # categories that can be told apart in a plot
_SECONDS_PER_YEAR = 365.2425 * 24 * 3600
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}")
_UNNAMED = "the unnamed column"
_TABS = {"\\t": "\t", "tab": "\t"}


def open_rows(
    reading: Reading,
    data: Path,
    fitted: FittedEstimator | None = None,
    *,
    ids: Sequence[str] = (),
    color: str | None = None,
) -> Source:
    """Open a file or folder without reading it, selecting the columns of ``fitted`` if given."""
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
            ids=list(dict.fromkeys([*ids, *([] if color is None else [color])])),
            weight=reading.weight,
            exclude=_split(reading.exclude),
            skip_missing=reading.skip_missing,
            lenient=True,
            **{name: value for name, value in options.items() if value is not None},
        )
    except SourceError as error:
        if fitted is not None and error.argument == "columns" and not reading.columns:
            raise _missing_column(error, data) from error
        if error.argument == "ids" and error.column == color:
            error.argument = "color"
        raise
    if fitted is not None:
        _check_columns(source, fitted)
    elif columns is None:
        return _leave_out_counters(source, _split(reading.include))
    return source


def _missing_column(error: SourceError, data: Path) -> ValueError:
    """Return an error for data without one of the columns with which the model was fitted."""
    return ValueError(
        f"the model needs the column {error.column!r}, which {str(data)!r} does not have; "
        f"{error.choices} Rename the column, or fit a new model: rskpca fit {shell_path(data)}"
    )


def _leave_out_counters(source: Source, included: Sequence[str]) -> Source:
    """Leave out features that are row numbers, unless they are included or no others remain."""
    for name in included:
        if name not in (source.feature_names or ()):
            problem = f"{source.name} has no feature {name!r}."
            raise SourceError(f"include: {problem}", problem, argument="include")
    counters = [name for name in find_counters(source, _HEAD_ROWS) if name not in included]
    if not counters or len(counters) == source.n_features:
        return source
    return leave_out(source, dict.fromkeys(counters, "counter"))


def _check_columns(source: Source, fitted: FittedEstimator) -> None:
    """Raise an error unless the source has the columns with which the model was fitted."""
    if source.n_features != fitted.n_columns:
        raise ValueError(
            f"{source.name} has {source.n_features} features, but the model was fitted with "
            f"{fitted.n_columns}; select the same ones with --columns."
        )
    names, wanted = source.feature_names, fitted.columns
    if names is not None and wanted is not None and list(names) != wanted:
        raise ValueError(
            f"the model was fitted with the columns {', '.join(wanted)}, in this order; remove "
            "--columns to use them."
        )


def _split(lists: Sequence[str] | None) -> list[str]:
    """Split comma-separated lists into names; empty text, but not ",", is the unnamed column."""
    pairs = [(name.strip(), names) for names in lists or () for name in names.split(",")]
    return [name for name, names in pairs if name or not names]


class Review(NamedTuple):
    """Notes on the columns of a source."""

    notes: list[str]
    should_standardize: bool  # True if one of the notes recommends --standardize


def review(source: Source, *, standardize: bool) -> Review:
    """Return notes on columns that were left out and on features that need attention."""
    n_rows = max(_FEWEST_ROWS, min(_HEAD_ROWS, _HEAD_VALUES // source.n_features))
    head = source.head(n_rows)
    found = [*_left_out(source, head)]
    if len(head.rows) < _FEWEST_ROWS or source.n_features == 1:
        return Review(found, False)
    features = _Features(source, head.rows, complete=len(head.rows) < n_rows)
    dominant = [] if standardize else [*features.dominant()]
    return Review([*found, *features.ids(), *features.constant(), *dominant], bool(dominant))


def _left_out(source: Source, head: Block) -> Iterator[str]:
    """Yield notes on columns that were left out."""
    text = {name: head.ids[name] for name in source.left_out if name in head.ids}
    if text:
        kinds = {name: _describe(column) for name, column in text.items()}
        described = join_words([f"{name!r} ({kind})" for name, kind in kinds.items()], "and")
        groups = [name for name, kind in kinds.items() if kind.endswith(" groups")]
        fix = f"; --color {quote(groups[0])} shows the groups in a report" if groups else ""
        yield f"left out {described}, because features must be numbers{fix}."
    partial = [name for name, kind in source.left_out.items() if kind == "partial"]
    if partial:
        found = join_words([repr(name) for name in partial], "and")
        yield f"left out {found}, missing from some files of {source.name}."
    counters = [name for name, kind in source.left_out.items() if kind == "counter"]
    if counters:
        found = join_words([repr(name) if name else _UNNAMED for name in counters], "and")
        named = ",".join(filter(None, counters))
        lists = [named] * bool(named) + [""] * ("" in counters)
        options = " ".join(f"--include {quote(names)}" for names in lists)
        yield f"left out row numbers ({found}); to use them as features, add {options}."


class _Features:
    """The features in the first rows of a source."""

    def __init__(self, source: Source, rows: NDArray[np.floating], *, complete: bool) -> None:
        self.names = source.feature_names or range(source.n_features)
        self.rows, self.complete = rows, complete
        steps = np.diff(rows, axis=0)
        monotone = (steps > 0).all(axis=0) | (steps < 0).all(axis=0)
        included = np.isin(self.names, find_counters(source, _HEAD_ROWS))
        self.like_ids = monotone & (rows == np.rint(rows)).all(axis=0) & ~included

    def ids(self) -> Iterator[str]:
        """Yield notes on features that may be ids, unless there are many."""
        found = np.flatnonzero(self.like_ids)
        for k in found if len(found) <= _MOST_LABELS else ():
            changes = "increases" if self.rows[1, k] > self.rows[0, k] else "decreases"
            yield (
                f"column {self.names[k]!r} {changes} with every row; if it is an id, leave it out "
                f"with --exclude {quote(str(self.names[k]))}."
            )

    def constant(self) -> Iterator[str]:
        """Yield a note on constant features, which have no effect."""
        constant = (self.rows == self.rows[0]).all(axis=0)
        if constant.any():
            labels = [repr(self.names[k]) for k in np.flatnonzero(constant)]
            found = _join_labels(labels)
            verb = f"column {found} is" if len(labels) == 1 else f"columns {found} are"
            where = "" if self.complete else f" in the first {len(self.rows):,} rows"
            yield f"{verb} constant{where}; constant columns have no effect."

    def dominant(self) -> Iterator[str]:
        """Yield a note if one or a few features, other than ids, dominate the distances."""
        variances = np.where(self.like_ids, 0.0, self.rows.var(axis=0, dtype=np.float64))
        count = count_dominant(variances)
        if count == 0:
            return
        largest = np.argsort(-variances, kind="stable")[:count]
        share = float(variances[largest].sum() / variances.sum())
        shown = percent(share) if share < 0.99 else "more than 99%"
        if count == 1:
            name = self.names[int(largest[0])]
            yield (
                f"column {name!r} accounts for {shown} of the total variance, so it alone "
                "determines which rows are close; use --standardize, or leave it out with "
                f"--exclude {quote(str(name))}."
            )
        else:
            found = _join_labels([repr(self.names[k]) for k in largest])
            yield (
                f"columns {found} account for {shown} of the total variance, so they alone "
                "determine which rows are close; use --standardize."
            )


def count_dominant(variances: NDArray[np.float64]) -> int:
    """Return the number of columns that dominate the distances, or 0 if there are too many."""
    ordered = np.sort(variances[variances > 0])[::-1]
    if len(ordered) < 2:
        return 0
    shares = np.cumsum(ordered) / ordered.sum()
    if shares[0] > _DOMINANT:
        return 1
    count = int(np.argmax(shares > _MOSTLY)) + 1
    few = count <= min(_FEW_COLUMNS, _FEW_SHARE * len(ordered))
    return count if few and ordered[0] > _WIDE_RATIO**2 * ordered[-1] else 0


def _join_labels(labels: Sequence[str]) -> str:
    """Join the first labels, and the number of the others."""
    more = [f"{len(labels) - _MOST_LABELS} more"] if len(labels) > _MOST_LABELS else []
    return join_words([*labels[:_MOST_LABELS], *more], "and")


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
    """Return the row numbers that :func:`sample` selects."""
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


def id_texts(block: Block, name: str) -> list[str]:
    """Return the column ``name`` as text, with missing values as empty text."""
    column = block.ids[name]
    if column.dtype.kind == "M":
        column = np.where(np.isnat(column), "", np.datetime_as_string(column))
    # NaN is the only value that is not equal to itself.
    return ["" if value is None or value != value else str(value) for value in column.tolist()]


def write_digits(path: Path) -> None:
    """Write scikit-learn's handwritten digits to a .parquet file."""
    from sklearn.datasets import load_digits

    pa = pyarrow_for("running the demo")
    import pyarrow.parquet as pq

    images, labels = load_digits(return_X_y=True)
    names = [f"row {i} column {j}" for i in range(8) for j in range(8)]
    columns = dict(zip(names, np.ascontiguousarray(images.T), strict=True))
    pq.write_table(pa.table({**columns, "digit": [f"digit {label}" for label in labels]}), path)
