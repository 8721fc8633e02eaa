"""Fit estimators to blocks of rows, in steps that Dask, Spark, Ray or a plain loop can run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from .._validation import Rows, validate_rows
from ..density import ShadowDensity
from ..density.blocks import ShadowBlocks, check_goal
from ..kernels import RadialKernel, as_kernel
from ..model import FittedModel
from ..reduced_set import ReducedSet
from ..spectral import Moments
from ._base import KernelEmbedding, TooManyCentersError
from .kernel_pca import ReducedSetKernelPCA, same_weight
from .novelty import KernelPCANovelty
from .nystrom import NystromKernelPCA


@dataclass(frozen=True, eq=False)
class BlockFit:
    """Fit of one estimator to blocks of rows: cover, merge, count, merge, join and solve.

    The steps that process blocks are the pure methods ``cover``, ``merge``, ``count`` and ``join``
    of ``shadow``, which is small and can be pickled. The results of ``count`` have a ``merge``
    method.

    Attributes
    ----------
    estimator : ShadowDensity, KernelEmbedding or KernelPCANovelty
        The estimator to fit; it does not change until :meth:`fitted` is called.
    embedding : KernelEmbedding or None
        The estimator itself or the embedding inside it; None for a density.
    kernel : RadialKernel
        The kernel with its bandwidth resolved.
    density : ShadowDensity
        An unfitted density.
    shadow : ShadowBlocks
        The settings shared by all blocks.

    Examples
    --------
    >>> import numpy as np
    >>> from functools import reduce
    >>> from rskpca import ReducedSetKernelPCA
    >>> from rskpca.density.blocks import Counts
    >>> from rskpca.embedding.blocks import BlockFit
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> blocks = np.array_split(X, 8)
    >>> fit = BlockFit.of(ReducedSetKernelPCA(2, ell=2.0), X[::2])
    >>> merged = fit.shadow.merge([fit.shadow.cover(block) for block in blocks])
    >>> counts = reduce(Counts.merge, [fit.shadow.count(merged.centers, b) for b in blocks])
    >>> model = fit.fitted(fit.shadow.join(merged, counts))
    >>> model.reduced_set_.n_samples
    1000.0
    """

    estimator: Any
    embedding: KernelEmbedding | None
    kernel: RadialKernel
    density: ShadowDensity
    shadow: ShadowBlocks

    @classmethod
    def of(cls, estimator: Any, X: Any, sample_weight: Any = None) -> BlockFit:
        """Check the parameters, and fix the kernel, the radius and the seed.

        Parameters
        ----------
        estimator : ShadowDensity, KernelEmbedding or KernelPCANovelty
            The estimator to fit.
        X : array-like of shape (n_samples, n_features)
            At least one row. If ``bandwidth`` is a rule, it is applied to these rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row of X.

        Returns
        -------
        BlockFit
            The fit, before any block has been read.
        """
        embedding, density = unfitted(estimator)
        rows = validate_rows(estimator, X, sample_weight, min_rows=1)
        kernel = (
            density.resolve_kernel(rows)
            if embedding is None
            else embedding._resolve_kernel(rows, density)
        )
        shadow = ShadowBlocks.of(density, kernel, rows.X)
        if embedding is not None:
            shadow = replace(shadow, report=partial(_refuse_centers, _advice(estimator)))
        return cls(estimator, embedding, kernel, density, shadow)

    def moments(self, reduced_set: ReducedSet) -> Moments | None:
        """Return the empty moments to which all rows must be added for ``refine="nystrom"``.

        Parameters
        ----------
        reduced_set : ReducedSet
            The reduced set of all rows.

        Returns
        -------
        Moments or None
            None if the estimator does not need a second pass over the rows.
        """
        if not isinstance(self.embedding, ReducedSetKernelPCA) or not self._refines:
            return None
        return self.embedding._moments(self.kernel, reduced_set)

    @property
    def _refines(self) -> bool:
        return self.embedding is not None and self.embedding.get_params().get("refine") is not None

    def fitted(
        self,
        reduced_set: ReducedSet,
        moments: Moments | None = None,
        *,
        like: Any = None,
        joined: bool = True,
    ) -> Any:
        """Fit the estimator to the reduced set.

        Parameters
        ----------
        reduced_set : ReducedSet
            The joined set, or a set that was merged without counting the rows again.
        moments : Moments, default=None
            The moments of all rows; required if :meth:`moments` does not return None.
        like : data frame or array, default=None
            Data that supply the feature names; the rows are ignored.
        joined : bool, default=True
            Whether the set was joined. Rows cannot be removed with ``forget`` if it was only
            merged.

        Returns
        -------
        estimator
            The fitted estimator, as if ``partial_fit`` had been called with all rows.
        """
        like = reduced_set.centers if like is None else like
        if self.embedding is None:
            return self.estimator.adopt(like, self.kernel, reduced_set, merged=not joined)
        inside = self.embedding is not self.estimator  # a detector passes arrays to its embedding
        inner = reduced_set.centers if inside else like
        density = clone(self.density).adopt(inner, self.kernel, reduced_set, merged=not joined)
        model = self._model(self.embedding, reduced_set, moments)
        rows = named_like(self.embedding, inner, reduced_set)
        self.embedding._store(rows, self.kernel, density, model)
        if inside:
            rows = named_like(self.estimator, like, reduced_set)
            self.estimator._store(rows, self.embedding, None)
        return self.estimator

    def _model(
        self, embedding: Any, reduced_set: ReducedSet, moments: Moments | None
    ) -> FittedModel:
        if not self._refines:
            if moments is not None:
                raise ValueError("moments must be None unless the estimator has refine='nystrom'.")
            return embedding._decompose(self.kernel, reduced_set)
        total = 0.0 if moments is None else moments.total
        if moments is None or not same_weight(moments, reduced_set):
            raise ValueError(
                f'refine="nystrom" requires moments with the total weight of all rows, '
                f"{reduced_set.n_samples:g}, got {total:g}. Add every block to the result of "
                "moments(reduced_set). The estimator was not changed."
            )
        return embedding._refined_model(self.kernel, reduced_set, moments)


def _advice(estimator: Any) -> str:
    """Return what to use instead of a cover that has too many centers."""
    if isinstance(estimator, ReducedSetKernelPCA):
        return estimator._alternative()
    return "Use a larger bandwidth or a smaller ell, or fit a sample of the rows in memory."


def _refuse_centers(advice: str, n_centers: int, n_rows: int) -> None:
    """Raise an error because most rows have become centers."""
    raise TooManyCentersError(
        f"The data do not compress at this radius: {n_centers:,} of {n_rows:,} rows became "
        f"centers. {advice}"
    )


def named_like(estimator: Any, like: Any, reduced_set: ReducedSet) -> Rows:
    """Return the centers as rows with the feature names of ``like``."""
    stand_in = clone(estimator)
    validate_data(stand_in, like, reset=True, skip_check_array=True)
    names = stand_in.__dict__.get("feature_names_in_")
    return Rows(reduced_set.centers, np.array(reduced_set.weights), True, names)


def median_seeds(estimator: Any) -> list[Any]:
    """Return a list with the seed for the bandwidth rule; empty if the bandwidth is a number."""
    embedding, density = unfitted(estimator)
    if embedding is None:
        kernel, owner = as_kernel(density.own_kernel), estimator
    else:
        kernel = embedding._claim_kernel(density)
        given = estimator.embedding if isinstance(estimator, KernelPCANovelty) else estimator
        owner = embedding if given is None else given  # a copy would have a different generator
    return [owner.random_state] if isinstance(kernel.bandwidth, str) else []


def unfitted(estimator: Any) -> tuple[KernelEmbedding | None, ShadowDensity]:
    """Return the embedding of an estimator, if it has one, and an unfitted copy of its density."""
    if isinstance(estimator, ShadowDensity):
        check_goal(estimator)
        return None, clone(estimator)
    embedding = estimator
    if isinstance(estimator, KernelPCANovelty):
        estimator._check_parameters()
        embedding = estimator._unfitted()
    if not isinstance(embedding, KernelEmbedding) or isinstance(embedding, NystromKernelPCA):
        raise not_in_blocks(embedding)
    embedding._check_parameters()
    density = embedding._new_density()
    if not isinstance(density, ShadowDensity):
        raise not_in_blocks(density)
    check_goal(density)
    return embedding, density


def not_in_blocks(what: Any) -> TypeError:
    """Return the error for an estimator that needs all rows in memory."""
    return TypeError(
        f"{type(what).__name__} cannot be fitted in blocks. Use a ShadowDensity, an embedding that "
        "uses one, such as ReducedSetKernelPCA(5, ell=4.0), or a NystromKernelPCA with "
        'extension="landmarks".'
    )
