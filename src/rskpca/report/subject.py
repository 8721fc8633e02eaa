"""The subject of a report: a fitted model with a sample of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from ..planning.advice import LITTLE
from ..planning.retention import Retention
from ..plotting import SpectrumDisplay
from ..plotting.embedding import Colors
from ..plotting.retention import FACTORS, model_retention

Array = NDArray[np.floating]

MAX_ROWS = 8000  # rows used in a report; more would not change it visibly
_FEWEST_DRAWN, _MOST_DRAWN = 1000, 3000
_WORK = 4e9  # limit on feature differences computed for the drawn rows
_PROJECTION_WORK = 5e10  # limit on products for the estimated errors, a few seconds
ESTIMATED_ERROR = "estimated error"  # the name of a coloring
_MAX_FEATURES = 24  # features to color by
_WIDER = (0.25, 0.35)  # smaller multiples, used if the model's ell keeps many rows
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
    colors : dict of str to Colors
        The available colorings by name, with one value per drawn row. The first is the default.
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
    colors: dict[str, Colors]
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
        columns = _resolve_colors(color, names, total)
        size = min(total, MAX_ROWS)
        sampled = resample(
            X, *columns.values(), replace=False, n_samples=size, random_state=random_state
        )
        first, *values = sampled if columns else [sampled]
        rows = fitted.prepare(first)
        drawn = _drawn_count(fitted.model)
        given = {k: Colors.of(v[:drawn]) for k, v in zip(columns, values, strict=True)}
        colors = given | _model_colors(fitted, rows[:drawn], names, color) | given
        n = n_rows or fitted.model.n_samples or float(total)
        return cls(model, fitted, rows, colors, names, n, total, durations)

    @property
    def model(self) -> FittedModel:
        """Return the fitted model."""
        return self.fitted.model

    @property
    def kept(self) -> float:
        """Return the fraction of rows that are centers."""
        return self.model.n_centers / self.n_rows

    @cached_property
    def retention(self) -> Retention:
        """Return the number of centers as a function of ell."""
        factors: Sequence[float] = FACTORS if self.kept <= LITTLE else (*_WIDER, *FACTORS)
        if self.kept > _NEARLY_ALL:
            factors = (*_WIDER, 0.5)
        return model_retention(self.fitted, self.covered, self.n_rows, factors=factors)

    @cached_property
    def spectrum(self) -> SpectrumDisplay:
        """Return the eigenvalues with their intervals."""
        return SpectrumDisplay.of_model(self.model, self.n_rows)

    @property
    def drawn(self) -> Array:
        """Return the rows to draw."""
        return self.rows[: _drawn_count(self.model)]

    @property
    def covered(self) -> Array:
        """Return the rows used for the retention curve, at most as many as a window contains."""
        return self.rows[: min(enough_rows(self.rows.shape[1]), max(round(self.n_rows), 2))]

    def describe(self, count: int) -> str:
        """Describe a number of rows, such as "all 500 rows" or "3,000 random rows"."""
        whole = "all " if count >= max(self.n_rows, self.n_given) else ""
        return f"{whole}{count:,}{' random' if count < self.n_given else ''} rows"


def _drawn_count(model: FittedModel) -> int:
    """Return the number of rows to draw, which is smaller if each requires many kernel values."""
    return int(np.clip(_WORK / model.basis.size, _FEWEST_DRAWN, _MOST_DRAWN))


def _resolve_names(fitted: FittedEstimator, X: Any, given: Sequence[str] | None) -> list[str]:
    """Return the given names, matching names from the fit or from X, or numbered names."""
    if given is None and fitted.feature_names is None:
        found = [n for n in (fitted.columns, getattr(X, "columns", None)) if n is not None]
        given = next((names for names in found if len(names) == fitted.n_features), None)
    return fitted.names_of_features(given)


def _resolve_colors(color: Any, names: list[str], total: int) -> dict[str, NDArray[Any]]:
    """Return the given columns by name, after checking their length."""
    if isinstance(color, str):
        if color not in names:
            raise ValueError(f"color={color!r} is not a feature; choose from {', '.join(names)}.")
        return {}
    if color is not None and not isinstance(color, Mapping):
        color = {str(getattr(color, "name", None) or "color"): color}
    columns = {str(name): np.asarray(column) for name, column in (color or {}).items()}
    for name, column in columns.items():
        if column.shape != (total,):
            raise ValueError(
                f"color {name!r} must have one value per row of X, shape ({total},), got shape "
                f"{column.shape}."
            )
    return columns


def _model_colors(
    fitted: FittedEstimator, rows: Array, names: list[str], first: Any
) -> dict[str, Colors]:
    """Return the novelty scores and clusters, if the model has them, and the features."""
    model = fitted.model
    found: dict[str, Colors] = {}
    if isinstance(first, str):
        found[first] = Colors.of(rows[:, names.index(first)])
    if model.offset is not None:
        found["novelty score"] = Colors.of(model.scores(rows))
    if model.partition is not None:
        found["cluster"] = Colors.of(model.labels(rows))
    for j, name in enumerate(names[:_MAX_FEATURES]):
        found.setdefault(name, Colors.of(rows[:, j]))
    if _has_row_errors(model, len(rows)):
        found.setdefault(ESTIMATED_ERROR, Colors(model.row_errors(rows).coordinates, None))
    return found


def _has_row_errors(model: FittedModel, n_rows: int) -> bool:
    """Return True if the errors of the rows are known, not just rounding errors, and cheap."""
    certificate, analysis = model.certificate, model.analysis if model.certified else None
    if (
        not model.is_kernel_pca
        or certificate is None
        or certificate.embedding is None
        or analysis is None
    ):
        return False
    # Rows are projected on the basis, if there is one.
    work = 0 if analysis.represent is None else n_rows * len(model.system.centers) ** 2
    return certificate.embedding.limit > ROUNDING and work <= _PROJECTION_WORK


def _check_seconds(seconds: Mapping[str, float] | None) -> dict[str, float]:
    durations = {str(name): value for name, value in (seconds or {}).items()}
    for name, value in durations.items():
        check.number_within(f"seconds[{name!r}]", value, 0, np.inf)
    return {name: float(value) for name, value in durations.items()}
