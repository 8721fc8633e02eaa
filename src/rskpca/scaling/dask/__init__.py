"""Fit and apply estimators to ``dask.array`` and ``dask.dataframe`` collections."""

from ._apply import predict, score_samples, transform
from ._fit import fit

__all__ = ["fit", "predict", "score_samples", "transform"]
