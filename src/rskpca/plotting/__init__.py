"""Pictures of fitted models, after scikit-learn's Displays.

``from_estimator`` computes what is drawn and draws it; ``plot(ax=...)`` draws it again. What
was drawn on is in ``ax_``, ``axes_`` and ``figure_``.
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
