"""The steps of a fit to data in blocks, for whatever runs them: Dask, Spark, Ray, a loop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import clone

from .. import _validation as check
from ..density import ShadowDensity
from ..density.blocks import ShadowBlocks, checked_goal
from ..kernels import RadialKernel, as_kernel
from ..reduced_set import ReducedSet
from ..spectral import EigenSystem, Moments
from ._base import ReducedSetEmbedding
from .kernel_pca import ReducedSetKernelPCA, same_weight
from .novelty import KernelPCANovelty

_NOTHING: Any = (None, None, None)  # no kernel, gamma or bandwidth


@dataclass(frozen=True, eq=False)
class BlockFit:
    """A fit in steps: cover each block, merge, count each block, merge, join, solve.

    ``shadow`` has the steps that see rows, as pure functions: ``cover``, ``count`` and ``join``.
    It is small and pickles. What they return has a ``merge``.

    Attributes
    ----------
    estimator : ShadowDensity, embedding on one, or KernelPCANovelty
        Not changed before :meth:`fitted`.
    embedding : ReducedSetEmbedding or None
        The estimator, or the one inside it.
    kernel : RadialKernel
        Of the embedding, with a number for its bandwidth.
    density : ShadowDensity
        Not fitted yet.
    shadow : ShadowBlocks
        What all blocks agree on.

    Examples
    --------
    >>> import numpy as np
    >>> from functools import reduce
    >>> from rskpca import ReducedSet, ReducedSetKernelPCA
    >>> from rskpca.density.blocks import Counts
    >>> from rskpca.embedding.blocks import BlockFit
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> blocks = np.array_split(X, 8)
    >>> fit = BlockFit.of(ReducedSetKernelPCA(2, ell=2.0), X[::2])
    >>> merged = reduce(ReducedSet.merge, map(fit.shadow.cover, blocks))
    >>> counts = reduce(Counts.merge, [fit.shadow.count(merged.centers, b) for b in blocks])
    >>> model = fit.fitted(fit.shadow.join(merged, counts))
    >>> model.reduced_set_.n_samples
    1000.0
    """

    estimator: Any
    embedding: ReducedSetEmbedding | None
    kernel: RadialKernel
    density: ShadowDensity
    shadow: ShadowBlocks

    @classmethod
    def of(
        cls, estimator: Any, X: Any, sample_weight: Any = None, *, origin: Any = None
    ) -> BlockFit:
        """Check the parameters, and fix the kernel, the radius and the frequencies.

        Parameters
        ----------
        estimator : ShadowDensity, embedding on one, or KernelPCANovelty
            What to fit.
        X : array-like of shape (n_samples, n_features)
            A sample of the rows, at least one, which the median bandwidth is taken from.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row of it counts.
        origin : ndarray of shape (n_features,), default=None
            Where the phases of the frequencies are zero; None is the first row of X.

        Returns
        -------
        BlockFit
            The fit, of which no row has been seen yet.
        """
        embedding, density = unfitted(estimator)
        X = check.new_rows(estimator, X, at_least=1)
        if sample_weight is not None:
            sample_weight = check.sample_weights(sample_weight, len(X))
        origin = X[0] if origin is None else origin
        if embedding is None:
            shadow = ShadowBlocks.of(density, X, sample_weight, origin)
            return cls(estimator, None, shadow.kernel, density, shadow)
        kernel, _ = embedding._lent_kernel(density, X, sample_weight)  # lends it to the density
        shadow = ShadowBlocks.of(density, X, sample_weight, origin)
        return cls(estimator, embedding, kernel, density, shadow)

    def moments(self, reduced_set: ReducedSet) -> Moments | None:
        """For ``refine="nystrom"``: moments of no data yet, to which the rows must be added.

        Parameters
        ----------
        reduced_set : ReducedSet
            Of all rows.

        Returns
        -------
        Moments or None
            None where the estimator needs no further look at the rows.
        """
        if not self._refines:
            return None
        return self.embedding._moments(self.kernel, reduced_set)  # type: ignore[union-attr]

    @property
    def _refines(self) -> bool:
        inside = self.embedding
        return isinstance(inside, ReducedSetKernelPCA) and inside.refine is not None

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
            Joined, or merged without a second look at the rows.
        moments : Moments, default=None
            With all rows added: those that :meth:`moments` has asked for, else None.
        like : data frame or array, default=None
            Has the names of the features; rows are not looked at.
        joined : bool, default=True
            False of a reduced set that was merged only; its rows cannot be forgotten.

        Returns
        -------
        estimator
            The estimator, fitted, as after a ``partial_fit`` of all rows.
        """
        like = reduced_set.centers if like is None else like
        if self.embedding is None:
            return self.estimator.adopt(like, self.kernel, reduced_set, merged=not joined)
        density = clone(self.density).adopt(
            reduced_set.centers, self.shadow.kernel, reduced_set, merged=not joined
        )
        system = self._solved(self.embedding, reduced_set, moments)
        inside = self.embedding is not self.estimator  # such a one is given arrays
        names = reduced_set.centers if inside else like
        self.embedding._adopt(names, self.kernel, density, system)
        if inside:
            self.estimator._adopt(like, self.embedding, None)
        return self.estimator

    def _solved(
        self, embedding: Any, reduced_set: ReducedSet, moments: Moments | None
    ) -> EigenSystem:
        if not self._refines:
            if moments is not None:
                raise ValueError("moments were given, but nothing is refined; leave them out.")
            return embedding._solve(self.kernel, reduced_set)
        total = 0.0 if moments is None else moments.total
        if moments is None or not same_weight(moments, reduced_set):
            raise ValueError(
                f'refine="nystrom" needs moments of all rows, of weight {reduced_set.n_samples:g}, '
                f"got {total:g}; add every block to what moments(reduced_set) gives, and pass "
                "the sum. Nothing was changed."
            )
        return replace(embedding._ritz(moments), exact=True)


def median_seeds(estimator: Any) -> list[Any]:
    """Seeds of the samples that median bandwidths are taken from.

    Parameters
    ----------
    estimator : ShadowDensity, embedding on one, or KernelPCANovelty
        Not fitted.

    Returns
    -------
    list
        That of the embedding's kernel, then that of a kernel of the density's own. Empty where
        the parameters say all bandwidths.
    """
    embedding, density = unfitted(estimator)
    own, asked, kernels = density.own_kernel, _NOTHING, []
    given: Any = getattr(estimator, "embedding", None) or embedding or estimator  # no copy of it
    if embedding is not None:
        asked = embedding.kernel, embedding.gamma, embedding.bandwidth
    if own is None or asked != _NOTHING:
        kernels.append((as_kernel(*asked), given.random_state))
    if own is not None:
        lent = embedding is None or asked == _NOTHING
        kernels.append((as_kernel(own), (given if lent else given.density).random_state))
    return [seed for kernel, seed in kernels if isinstance(kernel.bandwidth, str)]


def unfitted(estimator: Any) -> tuple[ReducedSetEmbedding | None, ShadowDensity]:
    """The embedding inside an estimator, and a fresh density for it; its parameters checked.

    Parameters
    ----------
    estimator : ShadowDensity, embedding on one, or KernelPCANovelty
        Not changed.

    Returns
    -------
    embedding : ReducedSetEmbedding or None
        None of a density.
    density : ShadowDensity
        A copy.
    """
    if isinstance(estimator, ShadowDensity):
        checked_goal(estimator)
        return None, clone(estimator)
    embedding = estimator
    if isinstance(estimator, KernelPCANovelty):
        estimator._check_parameters()
        embedding = estimator._unfitted()
    if not isinstance(embedding, ReducedSetEmbedding):
        raise _not_in_blocks(embedding)
    embedding._check_parameters()
    density = embedding._new_density()
    if not isinstance(density, ShadowDensity):
        raise _not_in_blocks(density)
    checked_goal(density)
    return embedding, density


def _not_in_blocks(what: Any) -> TypeError:
    return TypeError(
        f"{type(what).__name__} is not made from blocks of rows that merge; give a ShadowDensity, "
        "or an embedding on one such as ReducedSetKernelPCA(5, ell=4.0)."
    )
