"""Reduced-set kernel PCA, the paper's method."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from numbers import Real
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted, validate_data

from .. import _validation as check
from ..density import BaseDensity
from ..kernels import RadialKernel
from ..reduced_set import ReducedSet
from ..spectral import EigenSystem, Moments, ritz
from ..spectral.basis import sufficient
from ._base import ReducedSetEmbedding
from ._basis import SMALL, basis_points, check_basis, tolerable
from ._certified import Certified
from ._principal import PrincipalComponents


class ReducedSetKernelPCA(Certified, PrincipalComponents, ReducedSetEmbedding):
    """Kernel PCA on a reduced set of the data (Algorithm 1 on Algorithm 2).

    One pass over the data leaves m weighted centers; the m x m weighted Gram matrix is
    decomposed; new points are projected from the centers alone. The result is kernel PCA of
    the data with each point moved to its center, at most sigma / ell away.

    Parameters
    ----------
    n_components : int, default=None
        r. None keeps every component with a positive eigenvalue.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        None is the Gaussian, or the kernel of ``density``.
    gamma : float, default=None
        With a kernel's name: scikit-learn's parameter, 1 / bandwidth^2 for the Gaussian. None is
        the median bandwidth, where ``KernelPCA`` takes 1 / n_features.
    bandwidth : float or "median", default=None
        With a kernel's name: sigma. None is the median pairwise distance of a sample.
    density : density estimator, default=None
        How the reduced set is made. None is ``ShadowDensity(ell=ell)``.
    ell : float, default=None
        Of the shadow density, where no ``density`` is given; None is 4.0. ``np.inf`` keeps
        every row and is exact kernel PCA.
    center : bool, default=True
        True is scikit-learn's kernel PCA, about the mean in feature space; False is the
        paper's operator.
    basis : None, "auto", float, int, density estimator or ReducedSet, default=None
        The points that ``transform`` evaluates the kernel at. None is all centers, as in the
        paper. Otherwise the eigenfunctions are the best (Rayleigh-Ritz) in the span of fewer: a
        number of centers or, as a float below 1, a share of them, chosen greedily for the
        leading eigenspace; the centers of a density that is fitted to the centers with their
        weights; or any reduced set's. ``"auto"`` is the smallest number that adds little to the
        error that the reduced set has already.
    refine : None or "nystrom", default=None
        ``"nystrom"`` reads the data a second time: Rayleigh-Ritz on the basis with the data
        themselves in the operator. Much more accurate; with a small ``basis`` also fast.
    random_state : int, RandomState or None, default=0
        Seed of the sample that the median bandwidth is taken from.
    verbose : int, default=0
        1 shows a progress line on fits of over a second.

    Attributes
    ----------
    reduced_set_ : ReducedSet
        Centers, weights, radius, n_samples.
    n_centers_ : int
        m, the number of centers.
    eigenvalues_ : ndarray of shape (n_components,)
        Of the weighted Gram matrix, descending: the scale of ``KernelPCA.eigenvalues_``.
    eigenvectors_ : ndarray of shape (n_centers, n_components)
        Its unit eigenvectors.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of the variance in feature space (with ``center=False``, of the second moment).
    basis_ : ndarray of shape (n_basis, n_features)
        The points that ``transform`` evaluates the kernel at.
    kernel_ : RadialKernel
        The kernel with a number for its bandwidth.
    density_ : density estimator
        The fitted density, with ``labels_``.
    certificate_ : Certificate
        How far the model can be from exact kernel PCA of its data.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X has them.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rskpca import ReducedSetKernelPCA
    >>> X = load_digits().data
    >>> model = ReducedSetKernelPCA(n_components=2, bandwidth=60.0).fit(X)
    >>> model.transform(X).shape
    (1797, 2)
    >>> model.n_centers_ < len(X)
    True
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: RadialKernel | str | None = None,
        gamma: float | None = None,
        bandwidth: float | str | None = None,
        density: BaseDensity | None = None,
        ell: float | None = None,
        center: bool = True,
        basis: Any = None,
        refine: str | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.bandwidth = bandwidth
        self.density = density
        self.ell = ell
        self.center = center
        self.basis = basis
        self.refine = refine
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the reduced set and solve its eigenproblem.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data, at least two rows.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts; whole numbers equal repeated rows, but for a
            ``WindowDensity`` or ``FadingDensity``, where a row is one row of the stream.

        Returns
        -------
        Self
            The fitted estimator.
        """
        if self.refine is None:
            return super().fit(X, y, sample_weight)
        kernel, density = self._started(X, sample_weight, at_least=2)
        moments = self._moments(kernel, density.reduced_set_)
        rows = check.new_rows(self, X, at_least=2)
        given = None if sample_weight is None else check.sample_weights(sample_weight, len(rows))
        moments = moments.add(rows, given)
        if not same_weight(moments, density.reduced_set_):
            raise ValueError(
                f'refine="nystrom" counts every row, but {type(density).__name__} not all of them '
                "as much; leave refine out, and call refine_on with the rows that count."
            )
        self._adopt(X, kernel, density, replace(self._ritz(moments), exact=True))
        return self

    def refine_on(self, chunks: Any) -> Self:
        """Read the data of a stream a second time, as ``refine="nystrom"`` does in ``fit``.

        Parameters
        ----------
        chunks : array-like of shape (n_samples, n_features), or iterable
            The rows that ``partial_fit`` has seen, in any order: all of them, or parts. A part
            is an array-like, or a pair of rows and their sample weights.

        Returns
        -------
        Self
            The estimator, with eigenfunctions of the data themselves in the span of the basis.
            The next ``partial_fit`` or ``forget`` goes back to those of the reduced set.
        """
        check_is_fitted(self)
        self._check_parameters()
        moments = self._moments(self.kernel_, self.reduced_set_)
        for rows, weights in _parts(chunks):
            checked = validate_data(self, rows, dtype=check.FLOATS, reset=False)
            given = None if weights is None else check.sample_weights(weights, len(checked))
            moments = moments.add(checked, given)
        if not same_weight(moments, self.reduced_set_):
            raise ValueError(
                f"refine_on was given rows of weight {moments.total:g}, but the model has seen "
                f"{self.reduced_set_.n_samples:g}; pass the same rows. Nothing was changed."
            )
        self._system_ = replace(self._ritz(moments), exact=True)
        return self

    def _model_fields(self) -> dict[str, Any]:
        return {**super()._model_fields(), "certified": True}

    def _new_density(self) -> BaseDensity:
        density = super()._new_density()
        if self.density is None and self.refine is not None:  # no error for them to estimate
            density.set_params(n_frequencies=0)
        return density

    def _refuse_stream(self, verb: str) -> None:
        if self.refine is not None:
            raise AttributeError(
                f'refine="nystrom" reads the data twice, which {verb} cannot; leave it out, and '
                "call refine_on with the rows at the end."
            )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.refine is not None and not (
            isinstance(self.refine, str) and self.refine == "nystrom"
        ):
            raise ValueError(f'refine must be None or "nystrom", got {self.refine!r}.')
        check_basis(self.basis)

    def _solve(self, kernel: RadialKernel, reduced_set: ReducedSet) -> EigenSystem:
        if self.basis is None:
            return super()._solve(kernel, reduced_set)
        moments = self._moments(kernel, reduced_set, tolerable(kernel, reduced_set))
        return self._ritz(moments.add(reduced_set.centers, reduced_set.weights))

    def _ritz(self, moments: Moments) -> EigenSystem:
        count = len(moments.basis) if self.n_components is None else self.n_components
        system = ritz(moments, count, center=self.center)
        if isinstance(self.basis, ReducedSet) and not len(system.eigenvalues):
            raise ValueError(
                "no component has a positive eigenvalue: the data are equal, or too far from all "
                f"{len(moments.basis)} points of the basis for the kernel to tell. Take others."
            )
        points = "centers" if self.basis is None else "points of the basis"
        self._check_found(len(system.eigenvalues), len(moments.basis), points)
        return system

    def _moments(
        self, kernel: RadialKernel, reduced_set: ReducedSet, tolerance: float = SMALL
    ) -> Moments:
        """Moments of no data yet, on the basis that was asked for; "auto" keeps the tolerance."""

        def enough() -> Any:
            if self.n_components is None:
                raise ValueError(
                    'basis="auto" keeps the leading components and so needs n_components, got None.'
                )
            return sufficient(kernel, reduced_set, self.n_components, tolerance, center=self.center)

        return Moments.of(kernel, basis_points(self.basis, kernel, reduced_set, enough))


def same_weight(moments: Moments, reduced_set: ReducedSet) -> bool:
    """Whether both are of as many rows."""
    return math.isclose(moments.total, reduced_set.n_samples, rel_tol=1e-9)


def _parts(chunks: Any) -> Iterator[tuple[Any, Any]]:
    """Rows and sample weights, part by part."""
    if not hasattr(chunks, "__iter__") or isinstance(chunks, str):
        raise TypeError(f"refine_on takes rows, or an iterable of parts of them, got {chunks!r}.")
    nested = isinstance(chunks, list | tuple) and len(chunks) > 0 and _is_row(chunks[0])
    for part in [chunks] if nested or hasattr(chunks, "shape") else chunks:
        pair = isinstance(part, tuple) and len(part) == 2 and not _is_row(part[0])
        yield part if pair else (part, None)


def _is_row(values: Any) -> bool:
    """Whether these are numbers, and not rows of them."""
    if hasattr(values, "ndim"):
        return bool(values.ndim == 1)
    return isinstance(values, list | tuple) and bool(values) and isinstance(values[0], Real)
