"""Reduced-set kernel PCA, the paper's method."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from .. import _validation as check
from .._validation import Rows, validate_more_rows, validate_points, validate_rows
from ..certificate import Certificate
from ..density import BaseDensity
from ..kernels import RadialKernel
from ..model import FittedModel
from ..reduced_set import ReducedSet
from ..spectral import Centered, EigenSystem, Moments, Plain, ritz, solve
from ..spectral.basis import sufficient
from ..spectral.eigensystem import STORED_CENTERS
from ..spectral.preimages import METHODS
from ._base import Array, KernelEmbedding, check_components
from ._basis import SMALL, basis_points, check_basis, tolerable


class ReducedSetKernelPCA(KernelEmbedding):
    """Kernel PCA on a reduced set of the data.

    One pass over the data selects m weighted centers (Algorithm 2); the m x m weighted Gram matrix
    is decomposed (Algorithm 1); new points are projected using the centers alone. The result is
    kernel PCA of the data with each point moved to its center, less than sigma / ell away.

    Parameters
    ----------
    n_components : int, default=None
        r. None keeps every component with a positive eigenvalue.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        None means the Gaussian, or the kernel of ``density`` if that has one.
    gamma : float, default=None
        scikit-learn's parameter for a kernel given by name: 1 / bandwidth^2 for the Gaussian. None
        means the median bandwidth, where ``KernelPCA`` uses 1 / n_features.
    bandwidth : float or "median", default=None
        sigma, for a kernel given by name. None means the median pairwise distance of a sample.
    density : density estimator, default=None
        How the reduced set is computed. None means ``ShadowDensity(ell=ell)``.
    ell : float, default=None
        Parameter of the shadow density if no ``density`` is given; None is 4.0. ``np.inf`` keeps
        every row, which is exact kernel PCA.
    center : bool, default=True
        True centers in feature space, like scikit-learn; False uses the paper's operator.
    basis : None, "auto", float, int, density estimator or ReducedSet, default=None
        The points at which ``transform`` evaluates the kernel. None means all centers, as in the
        paper. Otherwise the eigenfunctions are the best (Rayleigh-Ritz) in the span of fewer
        points: a number of centers or, as a float below 1, a share of them, chosen greedily for
        the leading eigenspace; the centers of a density that is fitted to the weighted centers;
        or those of any reduced set. ``"auto"`` is the smallest number that adds little to the
        error that the reduced set already has.
    refine : None or "nystrom", default=None
        ``"nystrom"`` reads the data a second time: Rayleigh-Ritz on the basis with the data
        themselves in the operator. This is much more accurate, and fast with a small ``basis``.
    random_state : int, RandomState or None, default=0
        Seed of the sample that the median bandwidth is computed from.
    verbose : int, default=0
        1 shows a progress line for fits that take more than a second.

    Attributes
    ----------
    reduced_set_ : ReducedSet
        Centers, weights, radius, n_samples.
    n_centers_ : int
        m, the number of centers.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the weighted Gram matrix, descending, on the scale of
        ``KernelPCA.eigenvalues_``.
    eigenvectors_ : ndarray of shape (n_centers, n_components)
        Its unit eigenvectors.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of the variance in feature space (with ``center=False``, of the second moment).
    basis_ : ndarray of shape (n_basis, n_features)
        The points at which ``transform`` evaluates the kernel.
    kernel_ : RadialKernel
        The kernel with a number for its bandwidth.
    density_ : density estimator
        The fitted density, with ``labels_``.
    certificate_ : Certificate
        How far the model can be from exact kernel PCA of its data.
    model_ : FittedModel
        Everything above in one frozen object.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X has them.

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
            Weight of each row. Integer weights equal repeated rows, except with a
            ``WindowDensity`` or ``FadingDensity``, where each is one row of the stream.

        Returns
        -------
        Self
            The fitted estimator.
        """
        self._check_parameters()
        rows = validate_rows(self, X, sample_weight)
        density = self._new_density()
        kernel = self._resolve_kernel(rows, density)
        density.summarize(rows, kernel)  # Algorithm 2
        model = self._decompose(kernel, density.reduced_set_, rows)  # Algorithm 1
        return self._store(rows, kernel, density, model)

    def _decompose(
        self, kernel: RadialKernel, reduced_set: ReducedSet, rows: Rows | None = None
    ) -> FittedModel:
        """Solve the eigenproblem: on all centers, on a basis, or with the rows themselves."""
        if self.refine is not None and rows is not None:
            moments = self._moments(kernel, reduced_set).add(rows.X, rows.given_weights)
            self._check_all_rows(moments, reduced_set)
            return self._refined_model(kernel, reduced_set, moments)
        if self.basis is not None:
            moments = self._moments(kernel, reduced_set, tolerable(kernel, reduced_set))
            system = self._ritz(moments.add(reduced_set.centers, reduced_set.weights))
        else:
            system = self._solve_centers(kernel, reduced_set)
        scale = np.sqrt(system.eigenvalues)  # coordinates are projections on unit-norm axes
        return FittedModel(kernel, reduced_set, system, system, scale, certified=True)

    def _solve_centers(self, kernel: RadialKernel, reduced_set: ReducedSet) -> EigenSystem:
        """Algorithm 1 of the paper: the weighted Gram matrix of all centers."""
        if self.n_components is None and reduced_set.n_centers > STORED_CENTERS:
            raise ValueError(
                f"n_components=None would compute all {reduced_set.n_centers:,} components; "
                "give a number."
            )
        count = reduced_set.n_centers if self.n_components is None else self.n_components
        system = solve(Centered() if self.center else Plain(), kernel, reduced_set, count)
        found = len(system.eigenvalues)
        check_components("n_components", self.n_components, found, reduced_set.n_centers)
        return system

    def _moments(
        self, kernel: RadialKernel, reduced_set: ReducedSet, tolerance: float = SMALL
    ) -> Moments:
        """Return empty moments on the requested basis.

        For ``basis="auto"`` the basis keeps the coordinates to within the tolerance.
        """

        def enough() -> Any:
            if self.n_components is None:
                raise ValueError(
                    'basis="auto" keeps the leading components and so needs n_components, got None.'
                )
            return sufficient(kernel, reduced_set, self.n_components, tolerance, center=self.center)

        return Moments.of(kernel, basis_points(self.basis, kernel, reduced_set, enough))

    def _ritz(self, moments: Moments) -> EigenSystem:
        count = len(moments.basis) if self.n_components is None else self.n_components
        system = ritz(moments, count, center=self.center)
        if isinstance(self.basis, ReducedSet) and not len(system.eigenvalues):
            raise ValueError(
                "no component has a positive eigenvalue: all rows are identical, or too far from "
                f"all {len(moments.basis)} basis points. Use other basis points."
            )
        points = "centers" if self.basis is None else "basis points"
        found = len(system.eigenvalues)
        check_components("n_components", self.n_components, found, len(moments.basis), points)
        return system

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_components is not None:
            check.positive_integer("n_components", self.n_components)
        check.boolean("center", self.center)
        if self.refine is not None:
            check.one_of("refine", self.refine, ("nystrom",))
        check_basis(self.basis)

    def _new_density(self) -> BaseDensity:
        density = super()._new_density()
        if self.density is None and self.refine is not None:  # its error is not estimated
            density.set_params(n_frequencies=0)
        return density

    def _refuse_stream(self, verb: str) -> None:
        if self.refine is not None:
            raise AttributeError(
                f'refine="nystrom" reads the data twice, which {verb} does not support; leave it '
                "out, and call refine_on with all rows at the end."
            )

    def _check_all_rows(self, moments: Moments, reduced_set: ReducedSet) -> None:
        if not same_weight(moments, reduced_set):
            raise ValueError(
                'refine="nystrom" gives every row its full weight, but '
                f"{type(self.density).__name__} does not; leave refine out, and call refine_on "
                "with the rows that have weight."
            )

    def refine_on(self, chunks: Any) -> Self:
        """Read the data of a stream a second time, as ``refine="nystrom"`` does in ``fit``.

        Parameters
        ----------
        chunks : array-like of shape (n_samples, n_features), or iterable
            The rows that ``partial_fit`` has seen, in any order: all at once, or in chunks. A
            chunk is an array-like, or a pair of rows and their sample weights.

        Returns
        -------
        Self
            The estimator, with eigenfunctions of the data themselves in the span of the basis.
            The next ``partial_fit`` or ``forget`` returns to those of the reduced set.
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
                f"refine_on was given rows of total weight {moments.total:g}, but the model has "
                f"seen {reduced_set.n_samples:g}; pass the same rows. Nothing was changed."
            )
        self.model_ = self._refined_model(self.kernel_, reduced_set, moments)
        return self

    def _refined_model(
        self, kernel: RadialKernel, reduced_set: ReducedSet, moments: Moments
    ) -> FittedModel:
        """Return the model of the data themselves in the span of the basis."""
        system = replace(self._ritz(moments), exact=True)
        scale = np.sqrt(system.eigenvalues)  # coordinates are projections on unit-norm axes
        return FittedModel(kernel, reduced_set, system, system, scale, certified=True)

    # -------------------------------------------------------------- answers

    @property
    def certificate_(self) -> Certificate:
        """How far the model can be from exact kernel PCA, without using the data again."""
        found = self.model_.certificate
        if found is None:
            raise AttributeError(f"{type(self).__name__} has no certificate.")
        return found

    def certify(
        self, X: Any = None, sample_weight: Any = None, *, confidence: float = 0.95
    ) -> Certificate:
        """Return the certificate at another confidence, or with the errors measured.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            The fitted data, or a sample of them, to measure the errors on. This is exact and
            takes O(n^2) time, but memory for only a few blocks of kernel values.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row of X.
        confidence : float, default=0.95
            Confidence of the estimated limits, between 0 and 1.

        Returns
        -------
        Certificate
            The certificate; it has a level "measured" if X is given.
        """
        confidence = check.share("confidence", confidence)
        if X is None:
            return self.model_.certify(confidence)
        model = self.model_
        rows = validate_more_rows(self, X, sample_weight, all_zero=False)
        return model.certify(confidence, rows.X, rows.weights)

    @property
    def eigenvectors_(self) -> Array:
        """Unit eigenvectors of the weighted Gram matrix, one row per center."""
        centers, system = self.reduced_set_.centers, self.eigensystem_
        own = np.array_equal(system.centers, centers)
        functions = system.functions if own else system.extend(centers.astype(np.float64))
        return np.sqrt(self.reduced_set_.weights)[:, None] * functions

    @property
    def explained_variance_ratio_(self) -> Array:
        """Share of the variance in feature space that each component explains."""
        return self.model_.explained_variance_ratio  # type: ignore[return-value]

    def inverse_transform(self, Z: Any, *, method: str = "ridge") -> Array:
        """Return points with approximately these coordinates.

        For the coordinates of noisy points these are denoised versions of the points.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_components)
            Coordinates, as returned by ``transform``.
        method : {"ridge", "fixed-point", "distances"}, default="ridge"
            ``"ridge"``: kernel ridge regression of the weighted centers on their coordinates
            (Bakir, Weston and Schoelkopf 2004), for every kernel; fitted at the first call.
            ``"fixed-point"``: the point whose image is nearest (Mika et al. 1999).
            ``"distances"``: placed by the distances from the nearest centers (Kwok and Tsang
            2004). The last two need the Gaussian kernel.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            float32 for float32 coordinates, else float64.
        """
        return invert(self.model_, Z, method)

    def reconstruction_error(self, X: Any) -> Array:
        """Return the squared distance in feature space between points and their projections.

        Hoffmann, Kernel PCA for novelty detection, 2007: k(x, x) - 2 mu(x) + ||mu||^2 minus the
        sum of the squared coordinates, with mu the mean in feature space, which is zero if the
        model is not centered. With a small basis mu is the projection of the mean on its span.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,)
            Non-negative errors; 0 if the components represent the point completely.
        """
        return self.model_.residuals(validate_points(self, X))

    def score_samples(self, X: Any) -> Array:
        """Return minus :meth:`reconstruction_error`: higher for points more like the data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,)
            Non-positive scores.
        """
        return -self.reconstruction_error(X)


def invert(model: FittedModel, Z: Any, method: str) -> Array:
    """Return pre-images of coordinates, after checking both arguments."""
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}.")
    checked = check_array(Z, dtype=check.FLOATS, input_name="Z")
    if checked.shape[1] != len(model.eigenvalues):
        raise ValueError(
            f"Z has {checked.shape[1]} columns, but the model has {len(model.eigenvalues)} "
            "components; pass what transform returns."
        )
    return model.preimages(checked, method)


def same_weight(moments: Moments, reduced_set: ReducedSet) -> bool:
    """Return True if both summarize the same total weight."""
    return math.isclose(moments.total, reduced_set.n_samples, rel_tol=1e-9)


def _chunks(chunks: Any) -> Iterator[tuple[Any, Any]]:
    """Yield rows and sample weights, chunk by chunk."""
    if not hasattr(chunks, "__iter__") or isinstance(chunks, str):
        raise TypeError(f"refine_on takes rows, or an iterable of chunks of them, got {chunks!r}.")
    nested = isinstance(chunks, list | tuple) and len(chunks) > 0 and _is_row(chunks[0])
    for part in [chunks] if nested or hasattr(chunks, "shape") else chunks:
        pair = isinstance(part, tuple) and len(part) == 2 and not _is_row(part[0])
        yield part if pair else (part, None)


def _is_row(values: Any) -> bool:
    """Return True for a sequence of numbers, False for a sequence of rows."""
    if hasattr(values, "ndim"):
        return bool(values.ndim == 1)
    return isinstance(values, list | tuple) and bool(values) and isinstance(values[0], Real)
