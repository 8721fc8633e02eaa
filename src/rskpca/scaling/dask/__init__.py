"""Fit and apply estimators on ``dask.array`` and ``dask.dataframe``, on one machine or many."""

from ._apply import predict, score_samples, transform
from ._fit import fit

__all__ = ["fit", "predict", "score_samples", "transform"]
