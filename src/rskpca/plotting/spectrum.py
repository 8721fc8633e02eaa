"""Plot of eigenvalues, with intervals for the exact eigenvalues."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .._style import BAND, INK, PALE, get_axes, log_axis, style_axes
from ..certificate import Certificate
from ..certificate.certificate import KERNEL_PCA
from ..model import FittedModel, unwrap
from ._display import Array, Display


class SpectrumDisplay(Display):
    """Eigenvalues with the intervals of a certificate.

    Parameters
    ----------
    eigenvalues : ndarray of shape (n_components,)
        The eigenvalues of the model.
    likely, certain : ndarray of shape (n_components, 2), default=None
        Intervals for the exact eigenvalues: at the confidence level, and guaranteed.
    confidence : float, default=None
        The confidence level of the likely intervals.
    walk : bool, default=False
        True for the eigenvalues of a random walk, which are between -1 and 1.
    divided : bool, default=True
        True if the eigenvalues of kernel PCA are divided by the number of rows.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        The axes and the figure of the plot.

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
            A fitted embedding, or a pipeline or detector that contains one. Intervals are drawn
            if it has a certificate. Eigenvalues of kernel PCA are divided by the number of rows if
            the model stores this number.
        ax : matplotlib axes, default=None
            The axes to draw on. If None, a new figure is created.

        Returns
        -------
        SpectrumDisplay
            The display.
        """
        return cls.of_model(unwrap(model).model).plot(ax)

    @classmethod
    def from_certificate(cls, certificate: Certificate, *, ax: Any = None) -> Self:
        """Draw the eigenvalues and intervals of a certificate on ``ax`` or on a new figure."""
        return cls.of_certificate(certificate).plot(ax)

    @classmethod
    def of_model(cls, model: FittedModel, n_samples: float | None = None) -> Self:
        """Return the display of a model without drawing it."""
        # n_samples is used only if the model does not store the number of rows.
        if model.certificate is not None:
            return cls.of_certificate(model.certificate)
        walk = not model.is_kernel_pca
        n = None if walk else model.n_samples or n_samples
        return cls(model.eigenvalues / (n or 1.0), walk=walk, divided=n is not None)

    @classmethod
    def of_certificate(cls, certificate: Certificate) -> Self:
        """Return the display of a certificate without drawing it."""
        n, walk = certificate.unit, certificate.method != KERNEL_PCA
        return cls(
            certificate.eigenvalues / n,
            likely=None if walk else certificate.likely / n,
            certain=None if walk else certificate.certain / n,
            confidence=certificate.confidence,
            walk=walk,
            divided=not walk,
        )

    @property
    def label(self) -> str:
        """Return the axis label."""
        return "eigenvalue / n" if self.divided else "eigenvalue"

    @property
    def floor(self) -> float:
        """Return the lower end of a log axis, at which intervals that reach zero are cut off."""
        values = self.eigenvalues
        if self.likely is not None:
            values = np.append(values, self.likely[:, 0])
        positive = values[values > 0]
        return float(max(positive.min(), self.eigenvalues.max() / 1e6) / 2) if len(positive) else 0

    def intervals(self) -> list[tuple[str, Array]]:
        """Return (name, intervals) pairs, the widest intervals first."""
        if self.likely is None or self.certain is None:
            return []
        guaranteed = [("guaranteed interval", self.certain)]
        if np.array_equal(self.certain, self.likely):
            return guaranteed
        return [*guaranteed, (f"{100 * (self.confidence or 1):.3g}% interval", self.likely)]

    def _draw(self, ax: Any) -> list[Any]:
        ax = get_axes(ax)
        components = np.arange(1, len(self.eigenvalues) + 1)
        styles = [(PALE, 3), (BAND, 9)]
        spans = self.intervals()
        for (name, span), (color, width) in zip(spans, styles[-len(spans) :], strict=False):
            low = np.maximum(span[:, 0], self.floor)
            ax.vlines(components, low, span[:, 1], color=color, linewidth=width, label=name)
        ax.plot(components, self.eigenvalues, "o", color=INK, markersize=5, label="this model")
        self._scale(ax)
        ax.set_xticks(components[:: max(len(components) // 10, 1)])
        style_axes(ax, "component", self.label)
        ax.grid(axis="y", alpha=0.25)
        ax.legend(frameon=False, ncols=3, loc="lower left", bbox_to_anchor=(0.0, 1.0))
        return [ax]

    def _scale(self, ax: Any) -> None:
        if self.walk:
            if self.eigenvalues.min() < 0:
                ax.axhline(0, color=PALE, linewidth=0.8)
        elif self.floor > 0:
            log_axis(ax.yaxis, self.floor, float(self.eigenvalues.max()))
            ax.set_ylim(bottom=self.floor)
