"""Standardize features to mean 0 and variance 1 in a separate pass before the fit."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import closing
from copy import copy
from typing import Any

from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from ..data import Block, Source, open_source, read_ahead
from ._passes import check_columns, check_readable_again, name_features


def standardized(
    source: Any, scaler: StandardScaler | FrozenEstimator | None = None
) -> tuple[StandardScaler, Source]:
    """Fit a scaler to a source in one pass, and return the source with scaled rows.

    Parameters
    ----------
    source : Source, or any input of :func:`rskpca.data.open_source`
        The rows, which must be readable more than once.
    scaler : StandardScaler or FrozenEstimator, default=None
        A scaler with the desired parameters, which is not modified. A fitted scaler inside a
        ``FrozenEstimator`` is used without refitting.

    Returns
    -------
    scaler : StandardScaler
        The fitted scaler.
    source : Source
        The same rows, standardized as they are read.
    """
    source = open_source(source)
    if isinstance(scaler, FrozenEstimator):
        fitted = scaler.estimator
        check_columns(fitted, source)
    else:
        fitted = _fit_scaler(StandardScaler() if scaler is None else clone(scaler), source)
    return fitted, StandardizedSource(source, fitted)


def _fit_scaler(scaler: StandardScaler, source: Source) -> StandardScaler:
    check_readable_again(source, "standardizing")
    with closing(read_ahead(source.blocks())) as blocks:
        for block in blocks:
            if block.counts:
                scaler.partial_fit(block.rows, sample_weight=block.weights)
    name_features(scaler, source)
    return scaler


class StandardizedSource(Source):  # numpydoc ignore=PR01
    """A source whose rows are transformed by a fitted scaler. Its features are unnamed."""

    def __init__(self, source: Source, scaler: StandardScaler) -> None:
        check_is_fitted(scaler)
        super().__init__(source._table, source._selection, source.block_rows)
        self.n_rows, self.watch, self.feature_names = source.n_rows, source.watch, None
        self._scaler = copy(scaler)
        vars(self._scaler).pop("feature_names_in_", None)  # the blocks are arrays without names

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """Yield the rows in order; see :meth:`rskpca.data.Source.blocks`."""
        for block in super().blocks(start):
            yield block._replace(rows=self._scaler.transform(block.rows))

    def take_block(self, rows: Any) -> Block:
        """Return the given rows; see :meth:`rskpca.data.Source.take_block`."""
        block = super().take_block(rows)
        return block._replace(rows=self._scaler.transform(block.rows))

    def fingerprint(self) -> str:
        """Return a digest of the source and the scaler."""
        parameters = sorted(self._scaler.get_params().items())
        digest = hashlib.sha256(f"{super().fingerprint()}{parameters}".encode())
        for numbers in (self._scaler.mean_, self._scaler.scale_):
            digest.update(b"" if numbers is None else numbers.tobytes())
        return digest.hexdigest()
