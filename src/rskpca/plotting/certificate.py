"""Plot of the levels of a certificate."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .._style import BAND, INK, MARK, get_axes, log_axis, style_axes
from ..certificate import Certificate
from ..certificate.levels import Level
from ..model import unwrap
from ._display import Display

_BOUNDS = (  # label, marker, color and vertical shift
    ("MMD", "o", BAND, -0.18),
    ("operator", "D", INK, 0.0),
    ("eigenvalue / n", "v", MARK, 0.18),
)


class CertificateDisplay(Display):
    """Upper bounds on the error for each level of a certificate, on a logarithmic axis.

    Parameters
    ----------
    certificate : Certificate
        The certificate of a kernel PCA model.

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
        """Draw the certificate of a fitted kernel PCA model.

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
            found = fitted.model.certify(found.confidence, fitted.prepare(X))
        return cls(found).plot(ax)

    @classmethod
    def from_certificate(cls, certificate: Certificate, *, ax: Any = None) -> Self:
        """Draw a certificate, such as the result of ``certify``, on ``ax`` or on a new figure."""
        return cls(certificate).plot(ax)

    def _draw(self, ax: Any) -> list[Any]:
        ax = get_axes(ax, (6.4, 3.4))
        levels = self.certificate.levels
        bounds = [(level.mmd, level.operator, level.eigenvalue) for level in levels]
        for k, (label, marker, color, shift) in enumerate(_BOUNDS):
            heights = np.arange(len(levels)) + shift
            shown = [values[k] or np.nan for values in bounds]
            ax.plot(shown, heights, marker, color=color, markersize=7, label=label)
        positive = [value for values in bounds for value in values if value]
        log_axis(ax.xaxis, min(positive, default=0.1), max(positive, default=1.0))
        ax.set_yticks(range(len(levels)), [_label(level) for level in levels])
        ax.set_ylim(len(levels) - 0.5, -0.5)
        style_axes(ax, "upper bound on the error", "")
        ax.grid(axis="x", alpha=0.25)
        ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        for height, values in enumerate(bounds):
            if not any(values):  # a log axis cannot show them
                text = "no bound" if levels[height].operator is None else "no error"
                place = ax.get_yaxis_transform()
                ax.text(0.01, height, text, transform=place, va="center", color=INK)
        return [ax]


def _label(level: Level) -> str:
    confidence = "" if level.confidence == 1 else f"\nat {100 * level.confidence:.3g}%"
    return f"{level.name}{confidence}"
