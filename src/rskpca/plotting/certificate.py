"""Plot of the levels of a certificate."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from .._style import BAND, INK, MARK, get_axes, log_axis, style_axes
from ..certificate import Certificate
from ..certificate.levels import Level
from ..model import unwrap
from ._display import Display


class Bound(NamedTuple):
    """One of the three error bounds of a level, and its plot style."""

    label: str
    marker: str
    color: str


BOUNDS = (
    Bound("MMD", "o", BAND),
    Bound("operator", "D", INK),
    Bound("eigenvalue / n", "v", MARK),
)


def numbers(level: Level) -> tuple[float | None, ...]:
    """Return the three bounds of a level, in the order of ``BOUNDS``."""
    return level.mmd, level.operator, level.eigenvalue


class CertificateDisplay(Display):
    """Upper bounds on the error for each level of a certificate, on a logarithmic axis.

    Parameters
    ----------
    certificate : Certificate
        The certificate of a kernel PCA.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        The axes and the figure of the plot.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rskpca import ReducedSetKernelPCA
    >>> from rskpca.plotting import CertificateDisplay
    >>> X = load_digits().data
    >>> model = ReducedSetKernelPCA(2, bandwidth=60.0).fit(X)
    >>> display = CertificateDisplay.from_estimator(model, X)
    >>> [label.get_text() for label in display.ax_.get_yticklabels()][::4]
    ['a priori', 'measured']
    """

    def __init__(self, certificate: Certificate) -> None:
        self.certificate = certificate

    @classmethod
    def from_estimator(cls, model: Any, X: Any = None, *, ax: Any = None) -> Self:
        """Draw the certificate of a fitted kernel PCA.

        Parameters
        ----------
        model : ReducedSetKernelPCA
            A fitted model, or a pipeline or novelty detector that contains one.
        X : array-like of shape (n_samples, n_features), default=None
            The fitted rows, or a subset of them, for measuring the errors in O(n^2) time.
        ax : matplotlib axes, default=None
            The axes to draw on. If None, a new figure is created.

        Returns
        -------
        CertificateDisplay
            The display.
        """
        fitted = unwrap(model)
        found = fitted.model.certificate
        if found is None:
            raise TypeError(f"{fitted.name} has no certificate; use ReducedSetKernelPCA.")
        if X is not None:
            rows = fitted.prepare(X)
            found = fitted.model.certify(found.confidence, rows)
        return cls(found).plot(ax)

    @classmethod
    def from_certificate(cls, certificate: Certificate, *, ax: Any = None) -> Self:
        """Draw a certificate.

        Parameters
        ----------
        certificate : Certificate
            The result of ``certify``.
        ax : matplotlib axes, default=None
            The axes to draw on. If None, a new figure is created.

        Returns
        -------
        CertificateDisplay
            The display.
        """
        return cls(certificate).plot(ax)

    def _draw(self, ax: Any) -> list[Any]:
        ax = get_axes(ax, (6.4, 3.4))
        levels = self.certificate.levels
        table = np.array([[value or np.nan for value in numbers(level)] for level in levels])
        for bound, values, shift in zip(BOUNDS, table.T, (-0.18, 0.0, 0.18), strict=True):
            heights = np.arange(len(levels)) + shift
            style = {"color": bound.color, "markersize": 7, "label": bound.label}
            ax.plot(values, heights, bound.marker, **style)
        positive = [value for level in levels for value in numbers(level) if value]
        log_axis(ax.xaxis, min(positive, default=0.1), max(positive, default=1.0))
        ax.set_yticks(range(len(levels)), [_label(level) for level in levels])
        ax.set_ylim(len(levels) - 0.5, -0.5)
        style_axes(ax, "upper bound on the error", "")
        ax.grid(axis="x", alpha=0.25)
        ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        self._label_zeros(ax)
        return [ax]

    def _label_zeros(self, ax: Any) -> None:
        """Label levels without an error or a bound, which a log axis cannot show."""
        for height, level in enumerate(self.certificate.levels):
            if not any(numbers(level)):
                text = "no bound" if level.operator is None else "no error"
                style = {"transform": ax.get_yaxis_transform(), "va": "center", "color": INK}
                ax.text(0.01, height, text, **style)


def _label(level: Level) -> str:
    confidence = "" if level.confidence == 1 else f"\nat {100 * level.confidence:.3g}%"
    return f"{level.name}{confidence}"
