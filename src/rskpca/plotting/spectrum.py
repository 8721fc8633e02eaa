"""Eigenvalues, and the intervals that hold the exact ones."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._style import BAND, INK, PALE, get_axes, log_axis, style_axes
from ..certificate import Certificate
from ._display import Display
from .models import has_coordinates, n_samples_of, split

Array = NDArray[np.floating]


class SpectrumDisplay(Display):
    """Eigenvalues with the certificate's interval for each.

    Parameters
    ----------
    eigenvalues : ndarray of shape (n_components,)
        Of the model.
    likely, certain : ndarray of shape (n_components, 2), default=None
        Intervals that hold the exact eigenvalues: at the confidence, and always.
    confidence : float, default=None
        Of the likely ones.
    walk : bool, default=False
        Whether they are those of a random walk, from -1 to 1.
    divided : bool, default=True
        Whether those of kernel PCA are divided by the number of rows.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rskpca import ReducedSetKernelPCA
    >>> from rskpca.plotting import SpectrumDisplay
    >>> model = ReducedSetKernelPCA(5, bandwidth=60.0).fit(load_digits().data)
    >>> display = SpectrumDisplay.from_estimator(model)
    >>> display.eigenvalues.shape
    (5,)
    """

    def __init__(
        self,
        eigenvalues: Array,
        *,
        likely: Array | None = None,
        certain: Array | None = None,
        confidence: float | None = None,
        walk: bool = False,
        divided: bool = True,
    ) -> None:
        self.eigenvalues = eigenvalues
        self.likely = likely
        self.certain = certain
        self.confidence = confidence
        self.walk = walk
        self.divided = divided

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None) -> Self:
        """Draw the spectrum of a fitted embedding.

        Parameters
        ----------
        model : embedding
            Fitted. Intervals are there where it has a certificate. Eigenvalues of kernel PCA
            are divided by the number of rows, where the model knows it.
        ax : matplotlib axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        SpectrumDisplay
            Drawn.
        """
        return cls.of(model).plot(ax)

    @classmethod
    def of(cls, model: Any, n_samples: float | None = None) -> Self:
        """What is to be drawn of a fitted embedding.

        Parameters
        ----------
        model : embedding
            Fitted.
        n_samples : float, default=None
            How many rows there are, where the model does not know it.

        Returns
        -------
        SpectrumDisplay
            Not drawn yet.
        """
        embedding = split(model)[1]
        has_coordinates(embedding)
        if hasattr(embedding, "certify"):  # the certificate itself takes a while to ask for
            return cls.of_certificate(embedding.certificate_)
        walk = not hasattr(embedding, "explained_variance_ratio_")
        n = None if walk else n_samples_of(embedding) or n_samples
        return cls(embedding.eigenvalues_ / (n or 1.0), walk=walk, divided=n is not None)

    @classmethod
    def from_certificate(cls, certificate: Certificate, *, ax: Any = None) -> Self:
        """Draw the spectrum that a certificate is of.

        Parameters
        ----------
        certificate : Certificate
            Of a kernel PCA.
        ax : matplotlib axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        SpectrumDisplay
            Drawn.
        """
        return cls.of_certificate(certificate).plot(ax)

    @classmethod
    def of_certificate(cls, certificate: Certificate) -> Self:
        """What is to be drawn of a certificate.

        Parameters
        ----------
        certificate : Certificate
            Of a kernel PCA.

        Returns
        -------
        SpectrumDisplay
            Not drawn yet.
        """
        n = certificate.n_samples
        return cls(
            certificate.eigenvalues / n,
            likely=certificate.likely / n,
            certain=certificate.certain / n,
            confidence=certificate.confidence,
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        SpectrumDisplay
            Itself.
        """
        ax = get_axes(ax)
        places = np.arange(1.0, len(self.eigenvalues) + 1)
        floor = self._floor()
        if self.certain is not None and self.likely is not None:
            label = "exact one, always"
            if not np.array_equal(self.certain, self.likely):
                self._bars(ax, places, self.certain, floor, PALE, 3, label)
                label = f"exact one, at {100 * (self.confidence or 1):.3g}%"
            self._bars(ax, places, self.likely, floor, BAND, 9, label)
        ax.plot(places, self.eigenvalues, "o", color=INK, markersize=5, label="this model")
        self._scale(ax, floor)
        ax.set_xticks(np.arange(1, len(places) + 1, max(len(places) // 10, 1)))
        style_axes(ax, "component", "eigenvalue / n" if self.divided else "eigenvalue")
        ax.grid(axis="y", alpha=0.25)
        ax.legend(frameon=False, ncols=3, loc="lower left", bbox_to_anchor=(0.0, 1.0))
        self._drawn_on([ax])
        return self

    def _floor(self) -> float:
        """Where the axis of the logs ends: intervals that reach zero go down to it."""
        values = (
            self.eigenvalues
            if self.likely is None
            else np.append(self.eigenvalues, self.likely[:, 0])
        )
        positive = values[values > 0]
        return float(max(positive.min(), self.eigenvalues.max() / 1e6) / 2) if len(positive) else 0

    def _bars(
        self, ax: Any, places: Array, spans: Array, floor: float, color: str, width: int, label: str
    ) -> None:
        low = np.maximum(spans[:, 0], floor)
        ax.vlines(places, low, spans[:, 1], color=color, linewidth=width, label=label)

    def _scale(self, ax: Any, floor: float) -> None:
        if self.walk:
            if self.eigenvalues.min() < 0:
                ax.axhline(0, color=PALE, linewidth=0.8)
        elif floor > 0:
            log_axis(ax.yaxis, floor, float(self.eigenvalues.max()))
            ax.set_ylim(bottom=floor)
