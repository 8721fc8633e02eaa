"""Plots of fitted models, in the style of scikit-learn's Displays.

``from_estimator`` computes and draws a plot, and ``plot(ax=...)`` draws it again. The matplotlib
objects are available as ``ax_``, ``axes_`` and ``figure_``.
"""

from .certificate import CertificateDisplay
from .density import DensityDisplay
from .embedding import EmbeddingDisplay
from .retention import RetentionDisplay
from .spectrum import SpectrumDisplay

__all__ = [
    "CertificateDisplay",
    "DensityDisplay",
    "EmbeddingDisplay",
    "RetentionDisplay",
    "SpectrumDisplay",
]
