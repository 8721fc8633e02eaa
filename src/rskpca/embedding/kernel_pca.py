"""Reduced-set kernel PCA, the method of the paper.

Algorithm 2, which selects the centers, is in ``density/shadow.py``; Algorithm 1, which solves the
eigenproblem, is in ``spectral/eigensystem.py``, with centering in ``spectral/operators.py``; a
smaller basis and the second pass use ``spectral/ritz.py``. ``transform`` is in ``_base.py``.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import replace
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from .. import _validation as check
from .._core.sparse import same_rows
from .._validation import Rows, validate_more_rows, validate_points, validate_rows
from ..certificate.sampled import MOST_COMPONENTS
from ..density import BaseDensity, ShadowDensity
from ..density.tolerance import CONFIDENCE, Limit
from ..kernels import AnyKernel, RadialKernel
from ..model import FittedModel
from ..reduced_set import ReducedSet
from ..spectral.basis import MANY, sufficient
from ..spectral.eigensystem import EigenSystem, solve
from ..spectral.means import Basis
from ..spectral.operators import Centered, Plain
from ..spectral.preimages import METHODS
from ..spectral.ritz import Moments
from ._base import Array, KernelEmbedding, check_components, ritz_with_more
from ._basis import MODEST, SMALL, basis_points, check_basis, tolerable
from ._sizing import BasisSearch


class ReducedSetKernelPCA(KernelEmbedding):
    """Kernel PCA on a reduced set of the data.

    One pass over the data selects m weighted centers (Algorithm 2), and the eigenproblem of their
    m x m weighted Gram matrix is solved (Algorithm 1). New points are projected using only the
    centers. The result is kernel PCA of the data after each point has been moved to its center,
    less than sigma / ell away.

    Parameters
    ----------
    n_components : int, default=None
        Number of components. None keeps every component with a positive eigenvalue, but at most
        100, with a warning if there could be more.
    kernel : RadialKernel, Kernel, "rbf", "gaussian", "laplacian" or None, default=None
        The kernel; :class:`rskpca.kernels.Kernel` wraps any positive definite one. None means the
        kernel of ``density`` if it has one, else the Gaussian.
    gamma : float, default=None
        scikit-learn's kernel parameter, for a kernel given by name; for the Gaussian,
        ``gamma = 1 / bandwidth**2``. None means the median bandwidth, unlike in ``KernelPCA``,
        where it means 1 / n_features.
    bandwidth : float, "median", "neighbors", "slope" or "reconstruction", default=None
        sigma, for a kernel given by name, or a rule that computes it from a sample of the rows (see
        :class:`Gaussian`). None means ``"median"``, the median pairwise distance.
    density : density estimator, default=None
        Estimator that computes the reduced set. None means ``ShadowDensity(ell=ell)``.
    ell : float, default=None
        Resolution parameter of the default shadow density; None means 4.0. Cannot be combined
        with ``density``. ``np.inf`` keeps every row and computes exact kernel PCA.
    center : bool, default=True
        If True, center the data in feature space, as scikit-learn does. If False, use the
        uncentered operator of the paper.
    basis : None, "auto", "means", float, int, density estimator or ReducedSet, default=None
        The points at which ``transform`` evaluates the kernel. None means all centers, as in the
        paper. Otherwise the Rayleigh-Ritz approximation in the span of fewer points is used. An
        int is a number of centers and a float a fraction of them, chosen greedily for the
        leading eigenspace. ``"auto"`` chooses the smallest number that adds little to the error
        of the reduced set. ``"means"`` does the same with means of the centers, in the span of
        principal axes, instead of centers (see :class:`NystromKernelPCA`). With ``refine``,
        ``"auto"`` also uses means, for an error of about 1%, if too many centers would be needed.
        A density is fitted to the weighted centers, and its centers are used. The centers of a
        ReducedSet are used directly.
    refine : None or "nystrom", default=None
        ``"nystrom"`` makes a second pass over the data and uses the operator of all rows,
        restricted to the span of the basis, instead of the operator of the reduced set. This is
        much more accurate, and fast with a small ``basis``.
    random_state : int, RandomState or None, default=0
        Seed for the sample from which the median bandwidth is computed.
    verbose : int, default=0
        If 1, show a progress line for fits that take more than a second.

    Attributes
    ----------
    reduced_set_ : ReducedSet
        The weighted centers that represent the data.
    n_centers_ : int
        Number of centers, m.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the weighted Gram matrix in descending order, scaled like
        ``KernelPCA.eigenvalues_``.
    eigenvectors_ : ndarray of shape (n_centers, n_components)
        Unit eigenvectors of the weighted Gram matrix. With ``basis`` or ``refine``, the
        eigenfunctions at the centers, each multiplied by the root of the center's weight.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Fraction of the feature-space variance explained by each component (with
        ``center=False``, of the second moment).
    basis_ : ndarray of shape (n_basis, n_features)
        The points at which ``transform`` evaluates the kernel.
    kernel_ : RadialKernel or Kernel
        The kernel with its bandwidth resolved.
    density_ : density estimator
        The fitted density; its ``labels_`` are the center indices of the training rows.
    certificate_ : Certificate
        Bounds on the difference between the model and exact kernel PCA of the same data.
    model_ : FittedModel
        The fitted model as a single immutable object.
    method_ : str
        A sentence that says which points represent the data, and why.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Feature names seen during ``fit``; defined only if X has feature names.

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

    kernel_: AnyKernel
    _takes_any_kernel = True
    _takes_sparse_rows = True

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: AnyKernel | str | None = None,
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
        X : {array-like, sparse array} of shape (n_samples, n_features)
            Training data with at least two rows. Sparse rows require a ``ShadowDensity``, the
            default.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row. An integer weight is equivalent to repeating the row, except
            with a ``WindowDensity`` or ``FadingDensity``, where the row still counts as one row
            of the stream.

        Returns
        -------
        Self
            The fitted estimator.
        """
        self._check_parameters()
        rows = validate_rows(self, X, sample_weight)
        density = self._new_density()
        kernel = self._resolve_kernel(rows, density)
        density = self._suitable_density(rows, kernel, density)
        self._summarize(density, rows, kernel)  # Algorithm 2
        model = self._decompose(kernel, density.reduced_set_, rows)  # Algorithm 1
        return self._store(rows, kernel, density, model)

    def _decompose(
        self, kernel: RadialKernel, reduced_set: ReducedSet, rows: Rows | None = None
    ) -> FittedModel:
        """Solve the eigenproblem using all centers, a basis, or the rows themselves."""
        if self.refine is not None and rows is not None:
            moments = self._moments(kernel, reduced_set).add(rows.X, rows.given_weights)
            self._check_all_rows(moments, reduced_set)
            return self._refined_model(kernel, reduced_set, moments)
        basis = self._choose_basis(kernel, reduced_set, tolerable(kernel, reduced_set))
        if basis.points is reduced_set.centers:
            system = self._solve_centers(kernel, reduced_set)
        else:
            moments = Moments.of(kernel, basis.points, basis.subspace)
            system, _ = self._ritz(moments.add(reduced_set.centers, reduced_set.weights))
            system = replace(system, exact=False)  # the operator is that of the reduced set
        scale = np.sqrt(system.eigenvalues)  # coordinates are projections onto unit-norm axes
        return FittedModel(kernel, reduced_set, system, system, scale, certified=True)

    def _coordinate_limit(self, rows: Rows, kernel: RadialKernel) -> Limit | None:
        if self.n_components is None or self.n_components > MOST_COMPONENTS:
            return None
        n_components = self.n_components

        def limit(reduced_set: ReducedSet) -> float:
            if not reduced_set.displacement.any():  # type: ignore[union-attr]
                return 0.0  # each row coincides with its center
            if reduced_set.n_centers <= n_components:
                return math.inf
            with warnings.catch_warnings():  # a coarse reduced set may have fewer components
                warnings.simplefilter("ignore", check.FewComponentsWarning)
                model = self._decompose(kernel, reduced_set, rows)
            limits = model.analysis.limits(CONFIDENCE)  # type: ignore[union-attr]
            return math.inf if limits is None else limits.embedding.limit

        return limit

    def _solve_centers(self, kernel: RadialKernel, reduced_set: ReducedSet) -> EigenSystem:
        """Solve the eigenproblem of the weighted Gram matrix (Algorithm 1 of the paper)."""
        wanted = self._limit_components(reduced_set.n_centers)
        count = reduced_set.n_centers if wanted is None else wanted
        system = solve(Centered() if self.center else Plain(), kernel, reduced_set, count)
        found = len(system.eigenvalues)
        check_components("n_components", self.n_components, found, reduced_set.n_centers)
        return system

    def _limit_components(self, n_points: int) -> int | None:
        """Return ``n_components``, or a limit if it is None and there are many points."""
        if self.n_components is not None or n_points <= MOST_COMPONENTS:
            return self.n_components
        check.warn(
            f"n_components=None keeps only the first {MOST_COMPONENTS} of up to {n_points:,} "
            "components. Set n_components to the number of components to keep."
        )
        return MOST_COMPONENTS

    def _moments(self, kernel: RadialKernel, reduced_set: ReducedSet) -> Moments:
        """Return empty moments for the requested basis."""
        basis = self._choose_basis(kernel, reduced_set, SMALL)
        return Moments.of(kernel, basis.points, basis.subspace)

    def _choose_basis(
        self, kernel: RadialKernel, reduced_set: ReducedSet, tolerance: float
    ) -> Basis:
        """Return the requested basis, which preserves coordinates to within the tolerance."""
        m = reduced_set.n_centers
        if not isinstance(self.basis, str):
            return Basis(basis_points(self.basis, kernel, reduced_set))
        if self.n_components is None:
            raise ValueError(
                f'basis="{self.basis}" preserves the leading components, so n_components must be '
                "an integer, got None."
            )
        if self.basis == "auto":
            wanted = self.n_components, tolerance
            rows = sufficient(kernel, reduced_set, *wanted, center=self.center)
            if len(rows) < m:
                return Basis(reduced_set.centers[rows])
            if m <= MANY or self.refine is None:
                return Basis(reduced_set.centers)
            tolerance = max(tolerance, MODEST)  # for data that do not compress
        return self._means(kernel, reduced_set, tolerance)

    def _means(self, kernel: RadialKernel, reduced_set: ReducedSet, tolerance: float) -> Basis:
        """Return means of the centers, or all centers if half as many means do not suffice."""
        centers, weights = reduced_set.centers, reduced_set.weights
        search = BasisSearch(
            kernel,
            (centers, weights),
            self.n_components,  # type: ignore[arg-type]
            center=self.center,
            rules=("means",),
            max_error=tolerance,
            random_state=self.random_state,
        )
        return search.find()

    def _ritz(self, moments: Moments) -> tuple[EigenSystem, EigenSystem]:
        """Return the requested eigenpairs, and an extended set with a few more."""
        wanted = self._limit_components(moments.basis.shape[0])
        system, wider = ritz_with_more(moments, wanted, center=self.center)
        if isinstance(self.basis, ReducedSet) and not len(system.eigenvalues):
            raise ValueError(
                "No component has a positive eigenvalue, because all rows are identical or too far "
                f"from all {moments.basis.shape[0]} basis points. Use other basis points."
            )
        points = "centers" if self.basis is None else "basis points"
        found = len(system.eigenvalues)
        size = moments.basis.shape[0]
        check_components("n_components", self.n_components, found, size, points)
        return system, wider

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        takes = self._takes_sparse_rows and isinstance(self.density, ShadowDensity | None)
        tags.input_tags.sparse = takes
        return tags

    def _alternative(self) -> str:
        count = 10 if self.n_components is None else self.n_components
        return (
            "Use a larger bandwidth, a smaller ell, or "
            f'NystromKernelPCA({count}, landmarks="auto"), which needs few points.'
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_components is not None:
            check.positive_integer("n_components", self.n_components)
        check.boolean("center", self.center)
        if self.refine is not None:
            check.one_of("refine", self.refine, ("nystrom",))
        check_basis(self.basis, ("auto", "means"))

    def _refuse_stream(self, verb: str) -> None:
        if self.refine is not None:
            raise AttributeError(
                f'refine="nystrom" reads the data twice, which {verb} does not support. Set '
                "refine=None, and call refine_on with all rows at the end."
            )

    def _check_all_rows(self, moments: Moments, reduced_set: ReducedSet) -> None:
        if not same_weight(moments, reduced_set):
            raise ValueError(
                'refine="nystrom" gives every row its full weight, but '
                f"{type(self.density).__name__} does not. Set refine=None, and call refine_on "
                "with the rows that still have weight."
            )

    def refine_on(self, chunks: Any) -> Self:
        """Refine the model with a second pass over the data, like ``refine="nystrom"``.

        Parameters
        ----------
        chunks : array-like of shape (n_samples, n_features), or iterable
            All rows passed to ``partial_fit``, in any order, as one array or in chunks. A chunk
            is an array-like, or a pair of rows and sample weights.

        Returns
        -------
        Self
            The estimator. Its eigenfunctions are computed from all rows, in the span of the
            basis, until the next ``partial_fit`` or ``forget`` discards the refinement.
        """
        check_is_fitted(self)
        self._check_parameters()
        reduced_set = self.reduced_set_
        moments = self._moments(self.kernel_, reduced_set)
        for X, sample_weight in _chunks(chunks):
            rows = validate_more_rows(self, X, sample_weight, all_zero=False)
            moments = moments.add(rows.X, rows.given_weights)
        if not same_weight(moments, reduced_set):
            raise ValueError(
                f"chunks must have total weight {reduced_set.n_samples:g}, like the fitted rows, "
                f"got {moments.total:g}. Pass the same rows as to partial_fit. The model was not "
                "changed."
            )
        self.model_ = self._refined_model(self.kernel_, reduced_set, moments)
        return self

    def _refined_model(
        self, kernel: RadialKernel, reduced_set: ReducedSet, moments: Moments
    ) -> FittedModel:
        """Return the model computed from all rows, restricted to the span of the basis."""
        system, wider = self._ritz(moments)
        scale = np.sqrt(system.eigenvalues)  # coordinates are projections onto unit-norm axes
        return FittedModel(kernel, reduced_set, system, system, scale, certified=True, wider=wider)

    # -------------------------------------------------------------- fitted results

    @property
    def eigenvectors_(self) -> Array:
        """Unit eigenvectors of the weighted Gram matrix, one row per center."""
        centers, system = self.reduced_set_.centers, self.eigensystem_
        own = same_rows(system.centers, centers)
        functions = system.functions if own else system.extend(centers.astype(np.float64))
        return np.sqrt(self.reduced_set_.weights)[:, None] * functions

    @property
    def explained_variance_ratio_(self) -> Array:
        """Fraction of the feature-space variance explained by each component."""
        return self.model_.explained_variance_ratio  # type: ignore[return-value]

    def inverse_transform(
        self, Z: Any, *, method: str = "ridge", alpha: float | None = None
    ) -> Array:
        """Return points with approximately these coordinates.

        If Z contains the coordinates of noisy points, the result is a denoised version of them; use
        ``alpha=1.0`` in this case.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_components)
            Coordinates, as returned by ``transform``.
        method : {"ridge", "fixed-point", "distances"}, default="ridge"
            ``"ridge"`` uses kernel ridge regression of the weighted centers on their coordinates
            (Bakir, Weston and Schoelkopf 2004), fitted on the first call; it supports every
            kernel. ``"fixed-point"`` finds the point whose image is nearest (Mika et al. 1999).
            ``"distances"`` reconstructs the point from its distances to the nearest centers
            (Kwok and Tsang 2004). The last two require a Gaussian kernel.
        alpha : float, default=None
            Ridge parameter for ``method="ridge"``, relative to the weight of one row. None means
            the value with the smallest leave-one-out error on the centers, which is best for
            points without noise.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            The points; float32 for float32 coordinates, else float64.
        """
        return invert(self.model_, Z, method, alpha)

    def reconstruction_error(self, X: Any) -> Array:
        """Return the squared distance in feature space between points and their projections.

        The error is k(x, x) - 2 mu(x) + ||mu||^2 minus the sum of the squared coordinates, where
        mu is the mean in feature space, or zero if the model is not centered (Hoffmann, Kernel
        PCA for novelty detection, 2007). With a basis, mu is the projection of the mean onto its
        span.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New points.

        Returns
        -------
        ndarray of shape (n_samples,)
            Non-negative errors; 0 if the components represent the point exactly.
        """
        return self.model_.residuals(validate_points(self, X))

    def score_samples(self, X: Any) -> Array:
        """Return the negative :meth:`reconstruction_error`; higher means more like the data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New points.

        Returns
        -------
        ndarray of shape (n_samples,)
            Non-positive scores.
        """
        return -self.reconstruction_error(X)


def invert(model: FittedModel, Z: Any, method: str, alpha: float | None) -> Array:
    """Validate the arguments and return the pre-images of the coordinates."""
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}.")
    checked = check_array(Z, dtype=check.FLOATS, input_name="Z")
    if checked.shape[1] != len(model.eigenvalues):
        raise ValueError(
            f"Z must have {len(model.eigenvalues)} columns, one per component, "
            f"got {checked.shape[1]}. Pass coordinates returned by transform."
        )
    if alpha is None:
        return model.preimages(checked, method)
    if method != "ridge":
        raise ValueError(f'alpha={alpha!r} requires method="ridge", got method="{method}".')
    return model.preimages(checked, method, alpha=check.positive_number("alpha", alpha))


def same_weight(moments: Moments, reduced_set: ReducedSet) -> bool:
    """Return True if the moments and the reduced set have the same total weight."""
    return math.isclose(moments.total, reduced_set.n_samples, rel_tol=1e-9)


def _chunks(chunks: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the rows and sample weights of each chunk."""
    if not hasattr(chunks, "__iter__") or isinstance(chunks, str):
        raise TypeError(
            f"chunks must be an array of rows or an iterable of arrays, got {chunks!r}."
        )
    nested = isinstance(chunks, list | tuple) and len(chunks) > 0 and _is_row(chunks[0])
    for part in [chunks] if nested or hasattr(chunks, "shape") else chunks:
        pair = isinstance(part, tuple) and len(part) == 2 and not _is_row(part[0])
        yield part if pair else (part, None)


def _is_row(values: Any) -> bool:
    """Return True for a sequence of numbers, False for a sequence of rows."""
    if hasattr(values, "ndim"):
        return bool(values.ndim == 1)
    return isinstance(values, list | tuple) and bool(values) and isinstance(values[0], Real)
