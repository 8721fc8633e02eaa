"""The plan as a table, a figure, and numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import numpy as np

from ..kernels import RadialKernel
from .retention import Retention

HEADER = ("ell", "centers", "expected in", "kept", "time", "memory", "moved", "error")


@dataclass(frozen=True)
class PlannedFit:
    """What a fit at one ell is expected to be.

    Attributes
    ----------
    ell : float
        The radius is bandwidth / ell.
    n_centers : int
        m.
    low, high : int
        An interval for m, two standard deviations to both sides.
    seconds : float
        Time of the fit on this machine, with the data in memory.
    memory : float
        Bytes at the peak of the fit, above the data.
    displacement : float
        The mean over the rows of ||psi(x) - psi(c)||, how far the feature map moves a row.
    operator_error : float
        Expected Hilbert-Schmidt distance between the covariance operators (not centered) of the
        data and of the reduced set. The eigenvalues, divided by n, are off by at most this, all
        together in the l2 norm; the largest possible eigenvalue is kappa.
    """

    ell: float
    n_centers: int
    low: int
    high: int
    seconds: float
    memory: float
    displacement: float
    operator_error: float


@dataclass(frozen=True, repr=False)
class Plan:
    """What :func:`~rskpca.plan` found out. Print it for the table.

    Attributes
    ----------
    n_samples, n_features : int
        Of the data.
    n_sampled : int
        Rows that were looked at.
    kernel : RadialKernel
        With a number for its bandwidth.
    ell : float
        The one that was asked for.
    n_components : int
        Of the kernel PCA that was timed.
    fits : tuple of PlannedFit
        One for each ell, ascending.
    advice : tuple of str
        What it comes to, in sentences.
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
        """The fit at the ell that was asked for."""
        return next(fit for fit in self.fits if fit.ell == self.ell)

    @property
    def retention(self) -> Retention:
        """The number of centers over ell, with its interval."""
        value, low, high = np.array([(f.n_centers, f.low, f.high) for f in self.fits], float).T
        ells = tuple(fit.ell for fit in self.fits)
        return Retention(self.n_samples, ells, value, low, high, self.ell)

    def __repr__(self) -> str:
        """One line."""
        fit = self.asked
        return (
            f"Plan({self.n_samples:,} rows, ell {fit.ell:g}: about {fit.n_centers:,} centers, "
            f"{seconds_in_words(fit.seconds)})"
        )

    def __str__(self) -> str:
        """The table, and the advice below it."""
        lines = [HEADER, *self.cells()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = ["  ".join(map(str.rjust, line, widths)) for line in lines]
        return "\n".join([self.title, "", *table, "", *self.advice])

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        rows = [f"<tr>{''.join(f'<th>{name}</th>' for name in HEADER)}</tr>"]
        for fit, line in zip(self.fits, self.cells(), strict=True):
            style = ' style="font-weight: bold"' if fit.ell == self.ell else ""
            rows.append(f"<tr{style}>{''.join(f'<td>{cell}</td>' for cell in line)}</tr>")
        advice = "".join(f"<p>{escape(sentence)}</p>" for sentence in self.advice)
        return f"<p>{escape(self.title)}</p><table>{''.join(rows)}</table>{advice}"

    @property
    def title(self) -> str:
        """What was looked at, on one line."""
        kernel = f"{type(self.kernel).__name__}({self.kernel.scale:.4g})"
        return (
            f"{self.n_samples:,} x {self.n_features}, {kernel}, {self.n_components} components; "
            f"from {self.n_sampled:,} rows"
        )

    def cells(self) -> list[tuple[str, ...]]:
        """The lines of the table as they are printed, below ``HEADER``."""
        return [self._cells(fit) for fit in self.fits]

    def _cells(self, fit: PlannedFit) -> tuple[str, ...]:
        return (
            f"{fit.ell:g}",
            f"{fit.n_centers:,}",
            f"{fit.low:,} to {fit.high:,}",
            percent(fit.n_centers / self.n_samples),
            seconds_in_words(fit.seconds),
            bytes_in_words(fit.memory),
            f"{fit.displacement:.2g}",
            f"{fit.operator_error:.2g}",
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and strings, which JSON can hold."""
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
        """Draw the share of the rows that is kept at each ell, with its interval.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        matplotlib axes
            With the curve.
        """
        from .figure import draw_plan

        return draw_plan(self, ax)


def percent(share: float) -> str:
    """Two digits, or three near the whole."""
    return f"{100 * share:.3g}%" if share > 0.1 else f"{100 * share:.2g}%"


def seconds_in_words(seconds: float) -> str:
    """In the unit that it is read in."""
    if seconds < 1:
        return f"{1000 * seconds:.2g} ms" if seconds < 0.0995 else f"{seconds:.2g} s"
    if seconds < 100:
        return f"{seconds:.2g} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:,.1f} h"


def bytes_in_words(n_bytes: float) -> str:
    """In MB or GB."""
    megabytes = n_bytes / 1e6
    return f"{megabytes:.0f} MB" if megabytes < 999.5 else f"{megabytes / 1000:.1f} GB"
