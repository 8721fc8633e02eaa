"""Plot of the number of centers as a function of ell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils import check_array, check_random_state

from .. import _validation as check
from ..density.forecast import enough_rows
from ..kernels import RadialKernel, as_kernel
from ..model import FittedEstimator, unwrap
from ..planning import Plan
from ..planning.retention import ELLS, Retention, draw_retention, retention
from ._display import Array, Display, sample_rows

FACTORS = (0.5, 0.7, 1.4, 2.0)  # multiples of the model's own ell
DEFAULT_ELLS = (2.0, 3.0, 4.0, 5.0, 6.0, 8.0)  # for models without an ell


class RetentionDisplay(Display):
    """The fraction of rows that become centers as a function of ell, with the chosen ell marked.

    Parameters
    ----------
    retention : Retention
        The curve.
    title : str, default=""
        Title of the plot.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        The axes and the figure of the plot.

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
        """Draw the curve for a fitted model, using its actual number of centers at its ell.

        Parameters
        ----------
        model : embedding or density
            A fitted model, or a pipeline or detector that contains one. Models without an ell,
            such as the Nystrom family, are not marked on the curve.
        X : array-like of shape (n_samples, n_features)
            The fitted rows, or a random sample of them.
        n_samples : float, default=None
            The total number of rows. If None, it is taken from the model or from X.
        n_rows : int, default=None
            The number of rows used to predict the number of centers for other values of ell. If
            None, 8,000 rows are used, or fewer if there are more than ten features.
        random_state : int, RandomState or None, default=0
            Seed for the sample.
        ax : matplotlib axes, default=None
            The axes to draw on. If None, a new figure is created.

        Returns
        -------
        RetentionDisplay
            The display.
        """
        fitted = unwrap(model)
        as_kernel(fitted.kernel)  # raises unless it is radial
        if n_samples is not None:
            n_samples = check.positive_number("n_samples", n_samples)
        rows = fitted.prepare(_sample(X, n_rows, random_state))
        n = n_samples or fitted.n_samples or np.shape(X)[0]
        return cls(model_retention(fitted, rows, float(n), random_state)).plot(ax)

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
        """Draw the curve for data without a model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
            The kernel. None means a Gaussian with the median bandwidth.
        ell : float, default=None
            The ell to mark.
        ells : sequence of float, default=(3, 3.5, 4, 4.5, 5)
            Values of ell on the curve.
        n_rows : int, default=None
            The number of rows used to predict the number of centers for all rows. If None, 8,000
            rows are used, or fewer if there are more than ten features.
        random_state : int, RandomState or None, default=0
            Seed for the sample.
        ax : matplotlib axes, default=None
            The axes to draw on. If None, a new figure is created.

        Returns
        -------
        RetentionDisplay
            The display.
        """
        points = [check.positive_number("ells", value) for value in ells]
        mark = None if ell is None else check.positive_number("ell", ell)
        sample = _sample(X, n_rows, random_state)
        rows = check_array(sample, dtype=check.FLOATS, input_name="X")
        resolved = as_kernel(kernel).resolve(rows, None, check_random_state(random_state))
        found = retention(rows, resolved, float(np.shape(X)[0]), points, ell=mark)
        return cls(found, f"bandwidth {resolved.scale:.4g}").plot(ax)

    @classmethod
    def from_plan(cls, plan: Plan, *, ax: Any = None) -> Self:
        """Draw the curve of a :func:`rskpca.plan` on ``ax`` or on a new figure."""
        return cls(plan.retention, f"bandwidth {plan.kernel.scale:.4g}").plot(ax)

    def _draw(self, ax: Any) -> list[Any]:
        return [draw_retention(self.retention, ax, self.title)]


def model_retention(
    fitted: FittedEstimator,
    rows: Array,
    n_samples: float,
    random_state: Any = 0,
    *,
    factors: Sequence[float] = FACTORS,
) -> Retention:
    """Compute the curve at multiples of a fitted model's ell, from a sample of prepared rows."""
    ell, seed = fitted.ell, int(check_random_state(random_state).randint(2**31 - 1))
    if ell is None or not np.isfinite(ell):
        return retention(rows, fitted.kernel, n_samples, DEFAULT_ELLS, seed=seed)
    ells, m = [ell * factor for factor in factors], fitted.reduced_set.n_centers
    return retention(rows, fitted.kernel, n_samples, ells, ell=ell, n_centers=m, seed=seed)


def _sample(X: Any, n_rows: int | None, random_state: Any) -> Any:
    """Return a sample that is large enough for a forecast."""
    count = enough_rows(np.shape(X)[-1]) if n_rows is None else n_rows
    return sample_rows(X, count, random_state)[0]
