"""The result of planning, as a table, a figure and plain numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import numpy as np

from .._format import bytes_in_words, percent, seconds_in_words
from ..kernels import RadialKernel
from .retention import Retention, draw_retention
from .verdict import error_in_words

HEADER = ("ell", "centers", "95% interval", "kept", "time", "memory", "displacement", "error")

_TICK_DISTANCE = 0.3  # smallest distance between labeled values of ell


@dataclass(frozen=True)
class PlannedFit:
    """Prediction for a fit with one value of ell.

    Attributes
    ----------
    ell : float
        The ell of the fit; the radius is bandwidth / ell.
    n_centers : int
        Number of centers m.
    low, high : int
        Interval for m, with two standard deviations on each side.
    seconds : float
        Fit time on this machine, with the data in memory.
    memory : float
        Peak memory of the fit in bytes, in addition to the data.
    displacement : float
        Mean displacement of the rows in feature space, ||psi(x) - psi(c)||.
    operator_error : float
        Expected Hilbert-Schmidt distance between the uncentered covariance operators of the data
        and of the reduced set. It bounds the l2 norm of the errors of all eigenvalues divided
        by n. An eigenvalue divided by n is at most kappa.
    embedding_error : float or None
        Expected relative error of the coordinates of centered kernel PCA, as in the certificate;
        None if the sample is too small or there are more than 100 components.
    """

    ell: float
    n_centers: int
    low: int
    high: int
    seconds: float
    memory: float
    displacement: float
    operator_error: float
    embedding_error: float | None = None


@dataclass(frozen=True, repr=False)
class Plan:
    """The result of :func:`~rskpca.plan`, which prints as a table.

    Attributes
    ----------
    n_samples, n_features : int
        Shape of the data.
    n_sampled : int
        Number of rows in the sample.
    kernel : RadialKernel
        Kernel with a resolved bandwidth.
    ell : float
        The requested ell.
    n_components : int
        Number of components of the planned fit.
    fits : tuple of PlannedFit
        One prediction per ell, in ascending order.
    advice : tuple of str
        An interpretation of the numbers, and suggested changes.
    """

    n_samples: int
    n_features: int
    n_sampled: int
    kernel: RadialKernel
    ell: float
    n_components: int
    fits: tuple[PlannedFit, ...]
    advice: tuple[str, ...]

    @property
    def asked(self) -> PlannedFit:
        """Return the prediction for the requested ell."""
        return next(fit for fit in self.fits if fit.ell == self.ell)

    @property
    def retention(self) -> Retention:
        """Return the number of centers as a function of ell."""
        value, low, high = np.array([(f.n_centers, f.low, f.high) for f in self.fits], float).T
        ells = tuple(fit.ell for fit in self.fits)
        return Retention(self.n_samples, ells, value, low, high, self.ell)

    @property
    def title(self) -> str:
        """Return the shape, kernel, number of components and sample size on one line."""
        kernel = f"{type(self.kernel).__name__}({self.kernel.scale:.4g})"
        return (
            f"{self.n_samples:,} x {self.n_features}, {kernel}, {self.n_components} components; "
            f"predicted from {self.n_sampled:,} rows"
        )

    def __repr__(self) -> str:
        """Return a one-line summary."""
        fit = self.asked
        return (
            f"Plan({self.n_samples:,} rows, ell={fit.ell:g}: about {fit.n_centers:,} centers, "
            f"{seconds_in_words(fit.seconds)})"
        )

    def __str__(self) -> str:
        """Return the table followed by the advice."""
        lines = [HEADER, *self.cells()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = ["  ".join(map(str.rjust, line, widths)) for line in lines]
        return "\n".join([self.title, "", *table, "", *self.advice])

    def _repr_html_(self) -> str:
        """Return the table and the advice as HTML for notebooks."""
        rows = [f"<tr>{''.join(f'<th>{name}</th>' for name in HEADER)}</tr>"]
        for fit, line in zip(self.fits, self.cells(), strict=True):
            style = ' style="font-weight: bold"' if fit.ell == self.ell else ""
            rows.append(f"<tr{style}>{''.join(f'<td>{cell}</td>' for cell in line)}</tr>")
        advice = "".join(f"<p>{escape(sentence)}</p>" for sentence in self.advice)
        return f"<p>{escape(self.title)}</p><table>{''.join(rows)}</table>{advice}"

    def cells(self) -> list[tuple[str, ...]]:
        """Return the formatted rows of the table, without the header."""
        return [
            (
                f"{fit.ell:g}",
                f"{fit.n_centers:,}",
                f"{fit.low:,} to {fit.high:,}",
                percent(fit.n_centers / self.n_samples),
                seconds_in_words(fit.seconds),
                bytes_in_words(fit.memory),
                f"{fit.displacement:.2g}",
                "-" if fit.embedding_error is None else error_in_words(fit.embedding_error),
            )
            for fit in self.fits
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON-serializable numbers and strings."""
        return {
            "n_samples": self.n_samples,
            "n_features": self.n_features,
            "n_sampled": self.n_sampled,
            "kernel": type(self.kernel).__name__,
            "bandwidth": self.kernel.scale,
            "ell": self.ell,
            "n_components": self.n_components,
            "fits": [asdict(fit) for fit in self.fits],
            "advice": list(self.advice),
        }

    def plot(self, ax: Any = None) -> Any:
        """Plot the fraction of rows kept and the fit time for each ell.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        matplotlib axes
            The axes with the curve.
        """
        title = f"{self.n_samples:,} rows x {self.n_features}, bandwidth {self.kernel.scale:.4g}"
        ax = draw_retention(self.retention, ax, title)
        ticks = [
            fit
            for fit in self.fits
            if fit.ell == self.ell or abs(fit.ell - self.ell) > _TICK_DISTANCE
        ]
        labels = [f"{fit.ell:g}\n{seconds_in_words(fit.seconds)}" for fit in ticks]
        ax.set_xticks([fit.ell for fit in ticks], labels)
        ax.set_xlabel("ell and fit time")
        return ax
