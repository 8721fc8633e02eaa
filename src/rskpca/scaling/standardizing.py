"""Features of mean 0 and variance 1, in a pass before the fit."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import closing
from copy import copy
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from ..data import Block, Source, open_source, read_ahead
from ._columns import check_columns


def standardized(
    source: Any, scaler: StandardScaler | FrozenEstimator | None = None
) -> tuple[StandardScaler, Source]:
    """Fit a scaler to a source in one pass, and put it before whoever reads.

    Parameters
    ----------
    source : Source, or what :func:`rskpca.data.open_source` opens
        The rows. It must be one that can be read again.
    scaler : StandardScaler or FrozenEstimator, default=None
        With the parameters wanted; it is not changed. A fitted one within a ``FrozenEstimator`` is
        taken as it is.

    Returns
    -------
    scaler : StandardScaler
        Fitted.
    source : Source
        The same rows, standardized as they are read.
    """
    source = open_source(source)
    if isinstance(scaler, FrozenEstimator):
        check_columns(scaler.estimator, source)
        return scaler.estimator, Standardized(source, scaler.estimator)
    fitted = _fitted(StandardScaler() if scaler is None else clone(scaler), source)
    return fitted, Standardized(source, fitted)


def _fitted(fitted: StandardScaler, source: Source) -> StandardScaler:
    if not source.again:
        raise ValueError(
            f"standardizing reads the data twice, but {source.name} can be read only once; give "
            "a function that makes the iterator."
        )
    with closing(read_ahead(source.blocks())) as blocks:
        for block in blocks:
            if block.counts:
                fitted.partial_fit(block.rows, sample_weight=block.weights)
    if source.feature_names is not None:
        fitted.feature_names_in_ = np.array(source.feature_names, dtype=object)
    return fitted


class Standardized(Source):  # numpydoc ignore=PR01
    """A source through a fitted scaler; its features have no names, as after any scaler."""

    def __init__(self, source: Source, scaler: StandardScaler) -> None:
        check_is_fitted(scaler)
        super().__init__(source._table, source._selection, source.block_rows)
        self.n_rows, self.watch, self.feature_names = source.n_rows, source.watch, None
        self._scaler = copy(scaler)
        vars(self._scaler).pop("feature_names_in_", None)  # blocks have none to compare with

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """Read on from a row; see :meth:`rskpca.data.Source.blocks`."""
        for block in super().blocks(start):
            yield block._replace(rows=self._scaler.transform(block.rows))

    def take_block(self, rows: Any) -> Block:
        """Rows by number; see :meth:`rskpca.data.Source.take_block`."""
        block = super().take_block(rows)
        return block._replace(rows=self._scaler.transform(block.rows))

    def fingerprint(self) -> str:
        """A digest of what is read, and how it is scaled."""
        asked = sorted(self._scaler.get_params().items())
        digest = hashlib.sha256(f"{super().fingerprint()}{asked}".encode())
        for numbers in (self._scaler.mean_, self._scaler.scale_):
            digest.update(b"" if numbers is None else numbers.tobytes())
        return digest.hexdigest()
