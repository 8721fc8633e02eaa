"""The subject of a report: a fitted model with a sample of its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import resample

from .. import _validation as check
from ..certificate.summary import ROUNDING
from ..density.forecast import enough_rows
from ..model import FittedEstimator, FittedModel, unwrap
from ..pairs import Estimate
from ..planning.advice import LITTLE
from ..planning.retention import Retention
from ..planning.verdict import has_unknown_error
from ..plotting import SpectrumDisplay
from ..plotting.retention import FACTORS, model_retention
from .table import Column, row_bytes

Array = NDArray[np.floating]

MAX_ROWS = 50_000  # rows in a report; a browser can draw this many in one frame
_MAX_STUDIED = 8000  # rows used for suggestions; more would not change them
_FEWEST_DRAWN = 1000
_TABLE_BYTES = 3.0e6  # size of the drawn rows, so that the page stays below 8 MB
MAX_COMPONENTS = 12
MAX_FEATURES = 730  # the number that fits into the table with 1,000 rows
_WORK = 4e9  # limit on the work of embedding the drawn rows, in feature differences
_KERNEL_WORK = 20  # extra work per kernel value, in feature differences
_PROJECTION_WORK = 5e10  # limit on products for the estimated errors; takes a few seconds
_MAX_ERRORS = 10_000  # maximum number of rows whose errors are estimated
ESTIMATED_ERROR = "estimated error"
_WIDER = (0.25, 0.35)  # smaller multiples of ell, used if the model keeps many rows
_NEARLY_ALL = 0.9  # if more rows are kept, only smaller ells are shown


@dataclass(frozen=True, eq=False)
class Subject:
    """A fitted model with a sample of its rows.

    Attributes
    ----------
    given : estimator
        The embedding, novelty detector or pipeline that was passed in.
    fitted : FittedEstimator
        The same model, unwrapped.
    rows : ndarray of shape (n_sampled, n_features)
        A random sample of the rows, after preprocessing.
    ids : list
        The ids of the drawn rows.
    id_name : str
        The name of the ids.
    ids_are_rows : bool
        True if the ids are row numbers.
    columns : list of Column
        The columns of the drawn rows: the components, then all others.
    color : str or None
        The column by which the rows are colored initially.
    names : list of str
        Feature names.
    n_rows : float
        Total number of rows.
    n_given : int
        Number of rows from which the sample was drawn. A window may contain fewer.
    seconds : dict of str to float
        Durations by name.
    """

    given: Any
    fitted: FittedEstimator
    rows: Array
    ids: list[Any]
    id_name: str
    ids_are_rows: bool
    columns: list[Column]
    color: str | None
    names: list[str]
    n_rows: float
    n_given: int
    seconds: dict[str, float]

    @classmethod
    def of(
        cls,
        model: Any,
        X: Any,
        *,
        color: Any = None,
        ids: Any = None,
        ids_are_rows: bool = False,  # True if the given ids are the original row numbers
        n_rows: float | None = None,
        feature_names: Sequence[str] | None = None,
        seconds: Mapping[str, float] | None = None,
        random_state: Any = 0,
    ) -> Subject:
        """Check the arguments of :func:`rskpca.report.write`, and draw the sample."""
        fitted = unwrap(model)
        total = int(np.shape(X)[0])
        if total < 2:
            raise ValueError(f"X must have at least two rows, got {total}.")
        names = _resolve_names(fitted, X, feature_names)
        if n_rows is not None:
            n_rows = check.positive_number("n_rows", n_rows)
        durations = _check_seconds(seconds)
        given = _resolve_colors(color, names, total)
        id_name, all_ids, default_ids = _resolve_ids(ids, X, total)
        first, labels, *values = resample(
            X, all_ids, *given.values(), replace=False,
            n_samples=min(total, MAX_ROWS), random_state=random_state,
        )  # fmt: skip
        rows = fitted.prepare(first)
        columns = _table(fitted, rows, first, names, dict(zip(given, values, strict=True)))
        n = n_rows or fitted.model.n_samples or float(total)
        drawn = labels[: len(columns[0].values)].tolist()
        start = color if isinstance(color, str) else None
        return cls(
            model, fitted, rows, drawn, id_name, ids_are_rows or default_ids, columns, start, names,
            n, total, durations,
        )  # fmt: skip

    @property
    def model(self) -> FittedModel:
        """Return the fitted model."""
        return self.fitted.model

    @property
    def n_drawn(self) -> int:
        """Return the number of rows on the page."""
        return len(self.ids)

    @property
    def n_features_drawn(self) -> int:
        """Return the number of features on the page, including those that color the rows."""
        return len({column.name for column in self.columns}.intersection(self.names))

    @property
    def excerpt(self) -> str:
        """Describe the part of the rows and features on the page, or return "" if it has all."""
        numbers = {
            "rows": (self.n_drawn, max(self.n_rows, self.n_given)),
            "features": (self.n_features_drawn, len(self.names)),
        }
        parts = [f"{n:,} of {of:,.10g} {what}" for what, (n, of) in numbers.items() if n < of]
        return f"The report shows {' and '.join(parts)}." if parts else ""

    @property
    def error(self) -> Estimate | None:
        """Return the error of the coordinates, or None if it is unknown."""
        found = self.model.certificate
        return None if found is None or has_unknown_error(found) else found.embedding

    @property
    def kept(self) -> float:
        """Return the fraction of rows that are centers."""
        return self.model.n_centers / self.n_rows

    @cached_property
    def retention(self) -> Retention | None:
        """Return the number of centers as a function of ell, or None if there is no bandwidth."""
        if self.fitted.bandwidth is None:
            return None
        factors: Sequence[float] = FACTORS if self.kept <= LITTLE else (*_WIDER, *FACTORS)
        if self.kept > _NEARLY_ALL:
            factors = (*_WIDER, 0.5)
        return model_retention(self.fitted, self.covered, self.n_rows, factors=factors)

    @cached_property
    def spectrum(self) -> SpectrumDisplay:
        """Return the eigenvalues with their intervals."""
        return SpectrumDisplay.of_model(self.model, self.n_rows)

    @property
    def studied(self) -> Array:
        """Return the rows on which suggestions are based."""
        return self.rows[:_MAX_STUDIED]

    @property
    def covered(self) -> Array:
        """Return the rows used for the retention curve, but no more than a window contains."""
        return self.rows[: min(enough_rows(self.rows.shape[1]), max(round(self.n_rows), 2))]

    def describe(self, count: int) -> str:
        """Describe a number of rows, such as "all 500 rows" or "3,000 random rows"."""
        whole = "all " if count >= max(self.n_rows, self.n_given) else ""
        return f"{whole}{count:,}{' random' if count < self.n_given else ''} rows"


def _resolve_names(fitted: FittedEstimator, X: Any, given: Sequence[str] | None) -> list[str]:
    """Return the given names, matching names from the fit or from X, or else numbered names."""
    if given is None and fitted.feature_names is None:
        found = [n for n in (fitted.columns, getattr(X, "columns", None)) if n is not None]
        given = next((names for names in found if len(names) == fitted.n_features), None)
    return fitted.names_of_features(given)


def _resolve_ids(ids: Any, X: Any, total: int) -> tuple[str, NDArray[Any], bool]:
    """Return the name and values of the ids, and True if they are row numbers by default."""
    if isinstance(ids, Mapping):
        if len(ids) != 1:
            raise ValueError(f"ids must have one column, got {len(ids)}.")
        ((name, ids),) = ids.items()
        return str(name), _as_column("ids", ids, total), False
    if ids is not None:
        return _name_of(ids, "id"), _as_column("ids", ids, total), False
    index, numbers = getattr(X, "index", None), np.arange(total)
    if index is None or callable(index):
        return "row", numbers, True
    labels = np.asarray(index)
    are_numbers = labels.dtype.kind in "iu" and np.array_equal(labels, numbers)
    is_default = are_numbers and getattr(index, "name", None) is None
    return _name_of(index, "row" if is_default else "id"), labels, is_default


def _name_of(column: Any, default: str) -> str:
    """Return the name of a Series or an index, or the default."""
    name = getattr(column, "name", None)
    return default if name is None else str(name)


def _resolve_colors(color: Any, names: list[str], total: int) -> dict[str, NDArray[Any]]:
    """Return the given columns by name, after checking their length."""
    if isinstance(color, str):
        if color not in names:
            raise ValueError(f"color={color!r} is not a feature; choose from {', '.join(names)}.")
        return {}
    if color is not None and not isinstance(color, Mapping):
        color = {str(getattr(color, "name", None) or "color"): color}
    columns = {str(name): column for name, column in (color or {}).items()}
    return {name: _as_column(f"color {name!r}", column, total) for name, column in columns.items()}


def _as_column(name: str, values: Any, total: int) -> NDArray[Any]:
    """Return the values as an array, after checking their number."""
    column = np.asarray(values)
    if column.shape != (total,):
        raise ValueError(
            f"{name} must have one value per row of X, shape ({total},), got shape {column.shape}."
        )
    return column


def _table(
    fitted: FittedEstimator,
    rows: Array,
    original: Any,
    names: list[str],
    given: Mapping[str, NDArray[Any]],
) -> list[Column]:
    """Return all columns of the rows to draw, with as many rows as time and space allow."""
    model = fitted.model
    shown = [j for j, name in enumerate(names) if name not in given]
    count = min(len(rows), _affordable_rows(model, len(shown)))
    readable = _in_original_units(fitted, rows, original)[:count]
    if len(shown) > MAX_FEATURES:
        spread = rows[:count].std(axis=0)[shown]
        widest = np.argsort(-spread, kind="stable")[:MAX_FEATURES]
        shown = [shown[k] for k in np.sort(widest)]
    columns = [
        *(Column.of(name, "given", values[:count]) for name, values in given.items()),
        *(Column.of(names[j], "feature", readable[:, j]) for j in shown),
    ]
    size = row_bytes(columns) + 4 * (1 + min(len(model.eigenvalues), MAX_COMPONENTS))
    count = min(count, max(_FEWEST_DRAWN, int(_TABLE_BYTES / size)))
    columns = [column.head(count) for column in columns]
    taken = {column.name for column in columns}
    return [
        *_components(model, rows[:count]),
        *(c for c in columns if c.kind == "given"),
        *(c for c in _model_columns(model, rows[:count]) if c.name not in taken),
        *(c for c in columns if c.kind == "feature"),
    ]


def _affordable_rows(model: FittedModel, n_features: int) -> int:
    """Return the number of rows that can be embedded quickly and that fit into the table."""
    work = model.basis.size + _KERNEL_WORK * len(model.basis)
    smallest = 4 * min(len(model.eigenvalues), MAX_COMPONENTS) + min(n_features, MAX_FEATURES)
    return max(_FEWEST_DRAWN, int(min(_WORK / work, _TABLE_BYTES / smallest)))


def _in_original_units(fitted: FittedEstimator, rows: Array, original: Any) -> NDArray[Any]:
    """Return the rows before preprocessing if it preserves the columns, as a scaler does.

    Otherwise, return the preprocessed rows. The columns count as preserved if their number does not
    change and the original values are numeric.
    """
    if fitted.preprocessing is None:
        return rows
    given = np.asarray(original)
    same = given.shape == rows.shape and given.dtype.kind in "fiu"
    return given if same else rows


def _components(model: FittedModel, rows: Array) -> Iterator[Column]:
    ratio = model.explained_variance_ratio
    for k, values in enumerate(model.embed(rows)[:, :MAX_COMPONENTS].T):
        share = "" if ratio is None else f" ({100 * ratio[k]:.1f}%)"
        yield Column(f"component {k + 1}{share}", "component", values.astype(np.float32))


def _model_columns(model: FittedModel, rows: Array) -> Iterator[Column]:
    """Yield the novelty scores, the clusters and the estimated errors, if the model has them."""
    if model.offset is not None:
        yield Column.of("novelty score", "model", model.scores(rows))
    if model.partition is not None:
        yield Column.of("cluster", "model", model.labels(rows))
    count = _rows_with_errors(model, len(rows))
    if count:
        errors = np.full(len(rows), np.nan, dtype=np.float32)
        errors[:count] = model.row_errors(rows[:count]).coordinates
        yield Column(ESTIMATED_ERROR, "model", errors)


def _rows_with_errors(model: FittedModel, n_rows: int) -> int:
    """Return the number of rows with error estimates.

    It is 0 if the errors are unknown, negligible or too slow to estimate.
    """
    certificate, analysis = model.certificate, model.analysis if model.certified else None
    if (
        not model.is_kernel_pca
        or certificate is None
        or certificate.embedding is None
        or certificate.embedding.limit <= ROUNDING
        or analysis is None
    ):
        return 0
    # Rows are projected onto the basis, if there is one.
    work = 0 if analysis.represent is None else len(model.system.centers) ** 2
    affordable = int(min(_MAX_ERRORS, _PROJECTION_WORK / max(work, 1)))
    return min(n_rows, affordable) if affordable >= _FEWEST_DRAWN else 0


def _check_seconds(seconds: Mapping[str, float] | None) -> dict[str, float]:
    durations = {str(name): value for name, value in (seconds or {}).items()}
    for name, value in durations.items():
        check.number_within(f"seconds[{name!r}]", value, 0, np.inf)
    return {name: float(value) for name, value in durations.items()}
