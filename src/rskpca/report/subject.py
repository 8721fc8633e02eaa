"""What a report is about: a fitted model, and a sample of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .. import _validation as check
from ..certificate import Certificate
from ..planning.advice import LITTLE
from ..planning.retention import Retention, enough_rows
from ..plotting.embedding import Colors
from ..plotting.models import (
    Array,
    ell_of,
    feature_names,
    has_coordinates,
    n_samples_of,
    numbers,
    points_of,
    split,
)
from ..plotting.retention import FACTORS, of_rows

_FEWEST, _MOST = 1000, 3000  # rows of the pictures
_WORK = 4e9  # differences of features, in kernel values of the rows that are drawn
LOOKED_AT = 8000  # rows, of which more would tell no more
MOST_COLUMNS = 24  # features to colour by
_WIDER = (0.25, 0.35)  # of an ell that keeps many rows: where a wider kernel would keep fewer
_ALL, _COARSE = 0.9, (*_WIDER, 0.5)  # of an ell that keeps nearly all, only smaller ones tell


@dataclass(frozen=True, eq=False)
class Subject:
    """A model with a sample of rows.

    Attributes
    ----------
    model : Any
        As it was given: an embedding, a novelty detector or a pipeline.
    embedding : Any
        The embedding in it.
    rows : ndarray of shape (n_sampled, n_features)
        A random sample, as the embedding sees it.
    colors : dict
        Columns to colour by, one value for each row that is drawn. The first is shown at first.
    names : list of str
        Of the features.
    n_rows : float
        How many rows there are in all.
    seconds : dict
        What took how long.
    n_given : int
        How many rows the sample was drawn from; of a window more than count, perhaps.
    """

    model: Any
    embedding: Any
    rows: Array
    colors: dict[str, Colors]
    names: list[str]
    n_rows: float
    seconds: dict[str, float]
    n_given: int = 0

    @classmethod
    def of(
        cls,
        model: Any,
        X: Any,
        *,
        color: Any,
        n_rows: float | None,
        feature_names: Sequence[str] | None,
        seconds: Mapping[str, float] | None,
        random_state: Any,
    ) -> Subject:
        """Check everything, then draw the sample; the parameters are those of ``write``."""
        before, embedding = split(model)
        has_coordinates(embedding)
        names = _names(model, embedding, X, feature_names)
        total = _size(X)
        n = float(total if n_rows is None else check.positive_number("n_rows", n_rows))
        given = {} if isinstance(color, str) else _columns(color, total)
        if isinstance(color, str) and color not in names:
            raise ValueError(
                f"color={color!r} is the name of no feature; there are {', '.join(names)}."
            )
        chosen = check_random_state(random_state).permutation(total)[:LOOKED_AT]
        rows = numbers(before, _taken(X, chosen))
        drawn = rows_to_draw(embedding)
        colors = {name: Colors.of(column[chosen[:drawn]]) for name, column in given.items()}
        colors = colors | _own_columns(model, embedding, rows[:drawn], names, first=color) | colors
        known = n_samples_of(embedding) if n_rows is None else None
        spent = _checked_seconds(seconds)
        return cls(model, embedding, rows, colors, names, known or n, spent, total)

    @property
    def kind(self) -> str:
        """The class of the embedding."""
        return public_class(self.embedding).__name__

    @property
    def n_centers(self) -> int:
        """m; landmarks or a basis where there are no centers."""
        return len(points_of(self.embedding).centers)

    @property
    def kept(self) -> float:
        """m / n."""
        return self.n_centers / self.n_rows

    @property
    def ell(self) -> float | None:
        """Of a shadow density; None of any other."""
        return ell_of(self.embedding)

    @cached_property
    def certificate(self) -> Certificate | None:
        """Where the model has one."""
        has = hasattr(self.embedding, "certify")
        return self.embedding.certificate_ if has else None

    @cached_property
    def retention(self) -> Retention:
        """Centers over ell."""
        factors: Sequence[float] = FACTORS if self.kept <= LITTLE else (*_WIDER, *FACTORS)
        if self.kept > _ALL:
            factors = _COARSE
        return of_rows(self.embedding, self.covered, self.n_rows, factors=factors)

    @property
    def drawn(self) -> Array:
        """The rows of the pictures."""
        return self.rows[: rows_to_draw(self.embedding)]

    @property
    def covered(self) -> Array:
        """The rows that the curve is made from; of a window no more than are in it."""
        return self.rows[: min(enough_rows(self.rows.shape[1]), max(round(self.n_rows), 2))]


def rows_to_draw(embedding: Any) -> int:
    """Fewer where each costs many kernel values of many features."""
    return int(np.clip(_WORK / embedding.basis_.size, _FEWEST, _MOST))


def public_class(embedding: Any) -> Any:
    """The class that a user knows it by."""
    return next(kind for kind in type(embedding).__mro__ if not kind.__name__.startswith("_"))


def _size(X: Any) -> int:
    n = int(X.shape[0]) if hasattr(X, "shape") else len(X)
    if n < 2:
        raise ValueError(f"X must hold at least two rows to draw, got {n}.")
    return n


def _taken(X: Any, places: NDArray[np.intp]) -> Any:
    """Rows of an array or a frame, in this order."""
    if hasattr(X, "iloc"):
        return X.iloc[places]
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    return X[places]


def _names(model: Any, embedding: Any, X: Any, given: Sequence[str] | None) -> list[str]:
    """Given, or of the fit, or of what comes before it in a pipeline, or of X itself."""
    if given is not None or hasattr(embedding, "feature_names_in_"):
        return feature_names(embedding, given)
    for names in (getattr(model, "feature_names_in_", None), getattr(X, "columns", None)):
        if names is not None and len(names) == embedding.n_features_in_:
            return [str(name) for name in names]
    return feature_names(embedding)


def _columns(color: Any, total: int) -> dict[str, NDArray[Any]]:
    """Columns by name, each with one value a row."""
    if color is None:
        return {}
    if not isinstance(color, Mapping):
        color = {str(getattr(color, "name", None) or "colour"): color}
    columns = {str(name): np.asarray(column) for name, column in color.items()}
    for name, column in columns.items():
        if column.ndim != 1 or len(column) != total:
            raise ValueError(
                f"color {name!r} needs one value a row of X, shape ({total},), got shape "
                f"{column.shape}."
            )
    return columns


def _own_columns(
    model: Any, embedding: Any, rows: Array, names: list[str], first: Any
) -> dict[str, Colors]:
    """What the model says of each row, then the features."""
    own: dict[str, Colors] = {}
    if isinstance(first, str):
        own[first] = Colors.of(rows[:, names.index(first)])
    detector = model[-1] if hasattr(model, "steps") else model
    if hasattr(detector, "decision_function"):
        own["novelty score"] = Colors.of(detector.decision_function(rows))
    if hasattr(embedding, "predict"):
        own["cluster"] = Colors.of(embedding.predict(rows))
    for j, name in enumerate(names[:MOST_COLUMNS]):
        own.setdefault(name, Colors.of(rows[:, j]))
    return own


def _checked_seconds(seconds: Mapping[str, float] | None) -> dict[str, float]:
    found = {} if seconds is None else dict(seconds)
    for name, value in found.items():
        check.number_within(f"seconds[{name!r}]", value, 0, np.inf)
    return {str(name): float(value) for name, value in found.items()}
