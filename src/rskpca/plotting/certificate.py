"""The levels of a certificate against each other."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from .._style import BAND, INK, MARK, get_axes, log_axis, style_axes
from ..certificate import Certificate
from ..certificate.levels import Level
from ._display import Display
from .models import split


class Kind(NamedTuple):
    """One of the three numbers of a level, and how it is drawn."""

    name: str
    label: str
    marker: str
    color: str


KINDS = (
    Kind("mmd", "MMD", "o", BAND),
    Kind("operator", "operator", "D", INK),
    Kind("eigenvalue", "eigenvalue / n", "v", MARK),
)


class CertificateDisplay(Display):
    """What each level says of the error, on an axis of logs.

    Parameters
    ----------
    certificate : Certificate
        Of a kernel PCA.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rskpca import ReducedSetKernelPCA
    >>> from rskpca.plotting import CertificateDisplay
    >>> X = load_digits().data
    >>> model = ReducedSetKernelPCA(2, bandwidth=60.0).fit(X)
    >>> display = CertificateDisplay.from_estimator(model, X)
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['a priori', 'a posteriori', 'spectral\\nat 95%', 'residual', 'measured']
    """

    def __init__(self, certificate: Certificate) -> None:
        self.certificate = certificate

    @classmethod
    def from_estimator(cls, model: Any, X: Any = None, *, ax: Any = None) -> Self:
        """Draw the certificate of a fitted kernel PCA.

        Parameters
        ----------
        model : ReducedSetKernelPCA
            Fitted; or a pipeline, or a novelty detector, that has one.
        X : array-like of shape (n_samples, n_features), default=None
            The fitted rows, or some of them, to measure the errors on: O(n^2) time.
        ax : matplotlib axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        CertificateDisplay
            Drawn.
        """
        before, embedding = split(model)
        if not hasattr(embedding, "certify"):
            raise TypeError(
                f"{type(embedding).__name__} has no certificate; ReducedSetKernelPCA has."
            )
        seen = X if X is None or before is None else before.transform(X)
        return cls(embedding.certify(seen)).plot(ax)

    @classmethod
    def from_certificate(cls, certificate: Certificate, *, ax: Any = None) -> Self:
        """Draw a certificate.

        Parameters
        ----------
        certificate : Certificate
            As of ``certify``.
        ax : matplotlib axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        CertificateDisplay
            Drawn.
        """
        return cls(certificate).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        CertificateDisplay
            Itself.
        """
        ax = get_axes(ax, (6.4, 3.4))
        for kind, shift in zip(KINDS, (-0.18, 0.0, 0.18), strict=True):
            self._draw_kind(ax, kind, shift)
        seen = [v for level in self.certificate.levels for v in _numbers(level) if v]
        log_axis(ax.xaxis, min(seen, default=0.1), max(seen, default=1.0))
        ax.set_yticks(range(len(self.certificate.levels)), self._names())
        ax.set_ylim(len(self.certificate.levels) - 0.5, -0.5)
        style_axes(ax, "error at most", "")
        ax.grid(axis="x", alpha=0.25)
        ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        self._note_zeros(ax)
        self._drawn_on([ax])
        return self

    def _draw_kind(self, ax: Any, kind: Kind, shift: float) -> None:
        values = np.array(
            [getattr(level, kind.name) or np.nan for level in self.certificate.levels]
        )
        places = np.arange(len(values)) + shift
        ax.plot(values, places, kind.marker, color=kind.color, markersize=7, label=kind.label)

    def _names(self) -> list[str]:
        return [
            level.name
            if level.confidence == 1
            else f"{level.name}\nat {100 * level.confidence:.3g}%"
            for level in self.certificate.levels
        ]

    def _note_zeros(self, ax: Any) -> None:
        """An axis of logs has no zero, and says nothing of what is missing."""
        for place, level in enumerate(self.certificate.levels):
            if not any(_numbers(level)):
                word = "says nothing" if level.operator is None else "no error"
                ax.text(
                    0.01, place, word, transform=ax.get_yaxis_transform(), va="center", color=INK
                )


def _numbers(level: Level) -> tuple[float | None, ...]:
    return tuple(getattr(level, kind.name) for kind in KINDS)
