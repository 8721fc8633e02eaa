"""Centers kept over ell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from .. import _validation as check
from ..kernels import RadialKernel, as_kernel
from ..planning import Plan
from ..planning.result import draw_retention
from ..planning.retention import ELLS, Retention, enough_rows, retention
from ._display import Display
from .models import ell_of, kernel_of, n_samples_of, numbers, points_of, some_rows, split

FACTORS = (0.5, 0.7, 1.4, 2.0)  # of the ell that was chosen
DEFAULT_ELLS = (2.0, 3.0, 4.0, 5.0, 6.0, 8.0)


class RetentionDisplay(Display):
    """The share of the rows that become centers, over ell, with the chosen one marked.

    Parameters
    ----------
    retention : Retention
        The curve.
    title : str, default=""
        Above it.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rskpca.plotting import RetentionDisplay
    >>> display = RetentionDisplay.from_data(load_digits().data, ell=3.0)
    >>> display.retention.ell
    3.0
    """

    def __init__(self, retention: Retention, title: str = "") -> None:
        self.retention = retention
        self.title = title

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        *,
        n_samples: float | None = None,
        n_rows: int | None = None,
        random_state: Any = 0,
        ax: Any = None,
    ) -> Self:
        """Draw the curve of a fitted model; at its own ell the number is the one seen.

        Parameters
        ----------
        model : embedding or density
            Fitted. One that has no ell, as the Nystrom family, has no mark.
        X : array-like of shape (n_samples, n_features)
            The fitted rows, or a random sample of them.
        n_samples : float, default=None
            How many rows there are in all; None is what the model knows, or those of X.
        n_rows : int, default=None
            Rows to look at; the numbers at other ells are forecast from them. None is 8,000,
            or fewer of more than ten features.
        random_state : int, RandomState or None, default=0
            Seed of these rows.
        ax : matplotlib axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        RetentionDisplay
            Drawn.
        """
        before, embedding = split(model)
        rows = numbers(before, _some(X, n_rows, random_state))
        found = of_rows(embedding, rows, _total(n_samples, embedding, X), random_state)
        return cls(found).plot(ax)

    @classmethod
    def from_data(
        cls,
        X: Any,
        kernel: RadialKernel | str | None = None,
        *,
        ell: float | None = None,
        ells: Sequence[float] = ELLS,
        n_rows: int | None = None,
        random_state: Any = 0,
        ax: Any = None,
    ) -> Self:
        """Draw the curve of data, without a model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
            None is the Gaussian with the median bandwidth.
        ell : float, default=None
            The one to mark.
        ells : sequence of float, default=(3, 3.5, 4, 4.5, 5)
            Where to look.
        n_rows : int, default=None
            Rows to look at; numbers of more rows are forecast from them. None is 8,000, or
            fewer of more than ten features.
        random_state : int, RandomState or None, default=0
            Seed of these rows.
        ax : matplotlib axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        RetentionDisplay
            Drawn.
        """
        wanted = [check.positive_number("ells", value) for value in ells]
        mark = None if ell is None else check.positive_number("ell", ell)
        rows = numbers(None, _some(X, n_rows, random_state))
        resolved = as_kernel(kernel).resolve(rows, None, check_random_state(random_state))
        found = retention(rows, resolved, _total(None, None, X), wanted, ell=mark)
        return cls(found, f"bandwidth {resolved.scale:.4g}").plot(ax)

    @classmethod
    def from_plan(cls, plan: Plan, *, ax: Any = None) -> Self:
        """Draw the curve of a plan.

        Parameters
        ----------
        plan : Plan
            What :func:`rskpca.plan` returns.
        ax : matplotlib axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        RetentionDisplay
            Drawn.
        """
        return cls(plan.retention, f"bandwidth {plan.kernel.scale:.4g}").plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        RetentionDisplay
            Itself.
        """
        self._drawn_on([draw_retention(self.retention, ax, self.title)])
        return self


def of_rows(
    embedding: Any,
    rows: Any,
    n_samples: float,
    random_state: Any = 0,
    *,
    factors: Sequence[float] = FACTORS,
) -> Retention:
    """The curve about the ell of a fitted model, from rows as it sees them.

    Parameters
    ----------
    embedding : embedding or density
        Fitted.
    rows : ndarray of shape (n_sampled, n_features)
        A random sample of its rows.
    n_samples : float
        How many there are in all.
    random_state : int, RandomState or None, default=0
        Seed of the orders that they are covered in.
    factors : sequence of float, default=(0.5, 0.7, 1.4, 2)
        Where to look, as multiples of its ell.

    Returns
    -------
    Retention
        With the number of centers that the model has at its own ell.
    """
    ell, seed = ell_of(embedding), int(check_random_state(random_state).randint(2**31 - 1))
    if ell is None or not np.isfinite(ell):
        return retention(rows, kernel_of(embedding), n_samples, DEFAULT_ELLS, seed=seed)
    ells = [ell * factor for factor in factors]
    m = len(points_of(embedding).centers)
    return retention(rows, kernel_of(embedding), n_samples, ells, ell=ell, n_centers=m, seed=seed)


def _some(X: Any, n_rows: int | None, random_state: Any) -> Any:
    width = X.shape[1] if hasattr(X, "shape") and len(X.shape) == 2 else 1
    return some_rows(X, enough_rows(width) if n_rows is None else n_rows, random_state)[0]


def _total(n_samples: float | None, embedding: Any, X: Any) -> float:
    if n_samples is not None:
        return check.positive_number("n_samples", n_samples)
    known = None if embedding is None else n_samples_of(embedding)
    return float(len(X) if not hasattr(X, "shape") else X.shape[0]) if known is None else known
