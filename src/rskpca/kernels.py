"""Radial kernels k(x, y) = phi(||x - y||^p / sigma^p), eq. (profile2) of the paper.

Other positive definite kernels are evaluated directly rather than through a profile: see
:class:`Kernel`, or :func:`sklearn_kernel` for scikit-learn's kernels. All kernels have the methods
``diagonal``, ``squared``, ``resolve`` and ``same_as``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln
from sklearn.base import BaseEstimator
from sklearn.utils import check_array

from . import _validation as check
from ._core import gram
from ._core.sampling import RULES, bandwidth_sample, rule_bandwidth, steepest_scale
from .value_kernels import NAMES, RowKernel
from .value_kernels import Kernel as Kernel
from .value_kernels import NamedKernel as NamedKernel

Array = NDArray[np.floating]


class RadialKernel(BaseEstimator):
    """Radial kernel with a custom profile.

    k(x, y) = profile(||x - y||^power / bandwidth^power), with the Euclidean distance (eq. profile2
    of the paper). The kernel must be positive definite; this is not checked.

    Parameters
    ----------
    profile : callable
        The function phi, which maps an array of s >= 0 to an array of the same shape. Its maximum
        must be at 0.
    power : float
        The exponent p; must be positive.
    bandwidth : float, "median", "neighbors", "slope" or "reconstruction", default="median"
        sigma, or a rule that computes it from a seeded sample when an estimator is fitted:
        ``"median"`` is the median pairwise distance, ``"neighbors"`` is 0.8 times the distance
        within which 95% of the sampled rows have five other distinct rows, ``"slope"`` is the scale
        at which the sum of the Gaussian kernel over all pairs grows fastest, and
        ``"reconstruction"`` is the smallest bandwidth with which a few components of Gaussian
        kernel PCA reconstruct held-out rows about as well as with the best one.
    lipschitz : float, default=None
        Largest slope of u -> profile(u^power) for u >= 0. Most error bounds require it.
    log_integral : callable, default=None
        Function that maps a number of features d to the log of the integral of
        profile(||u||^power) over R^d. If None, density estimates are not normalized.
    monotone : bool, default=False
        True if the profile is non-increasing. Bounds based on the radius require this or
        ``lipschitz``.

    Examples
    --------
    >>> import numpy as np
    >>> from rskpca import RadialKernel
    >>> cauchy = RadialKernel(lambda s: 1 / (1 + s), power=2, bandwidth=2.0)
    >>> cauchy(np.array([[0.0], [2.0]]))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    profile: Callable[[Any], Any]
    power: float
    bandwidth: float | str
    lipschitz: float | None
    log_integral: Callable[[int], float] | None
    monotone: bool
    sign = 1.0
    smooth = False
    concave = False  # True if ||psi(x) - psi(y)|| is known to be concave in the distance

    def __init__(
        self,
        profile: Callable[[Any], Any],
        power: float,
        bandwidth: float | str = "median",
        *,
        lipschitz: float | None = None,
        log_integral: Callable[[int], float] | None = None,
        monotone: bool = False,
    ) -> None:
        self.profile = profile
        self.power = power
        self.bandwidth = bandwidth
        self.lipschitz = lipschitz
        self.log_integral = log_integral
        self.monotone = monotone

    def _check(self) -> None:
        """Check the parameters; the bandwidth must be a number."""
        self.scale  # noqa: B018  the property checks the bandwidth
        try:
            values = np.asarray(self.profile(np.zeros(2)))
        except TypeError as error:
            raise ValueError(f"profile must accept an array, but raised {error!r}.") from error
        if values.shape != (2,) or not (np.isfinite(values) & (values > 0)).all():
            raise ValueError(
                "profile must return positive, finite values of the same shape, got "
                f"{values!r} for an array of two zeros."
            )
        if not self.concave:  # the built-in kernels are known to be correct
            self._check_claims()

    def _check_claims(self) -> None:
        """Check ``lipschitz`` and ``monotone`` against the profile at about 4,000 distances."""
        self._check_far_values()
        check.boolean("monotone", self.monotone)
        largest, rise = _steepest(self.profile, self.power)
        if self.lipschitz is not None:
            slope = check.positive_number("lipschitz", self.lipschitz)
            if slope < largest * (1 - 1e-6):
                raise ValueError(
                    f"lipschitz must be at least {largest:.6g}, the largest slope of the profile, "
                    f"got {slope!r}."
                )
        if self.monotone and rise > 1e-9 * self.kappa:
            raise ValueError(
                f"monotone must be False for a profile that increases, got True. This profile "
                f"increases by {rise:.3g} between two distances."
            )

    def _check_far_values(self) -> None:
        """Check that the profile is finite for rows that are far apart."""
        distances = np.geomspace(1e-3, 1e6, 91)
        with np.errstate(all="ignore"):
            invalid = ~np.isfinite(self.profile(distances**self.power))
        if invalid.any():
            raise ValueError(
                "profile must be finite at all distances, but it is NaN or infinite at a distance "
                f"of {distances[invalid][0]:.3g} bandwidths. Return 0 there instead, for example "
                "with np.where."
            )

    @property
    def scale(self) -> float:
        """The bandwidth sigma as a number."""
        check.positive_number("power", self.power)
        if isinstance(self.bandwidth, str):
            raise ValueError(
                f"bandwidth={self.bandwidth!r} is resolved only when an estimator is fitted. "
                "Set it to a positive number."
            )
        bandwidth = check.positive_number(
            "bandwidth", self.bandwidth, hint='Use "median" to compute it from the data.'
        )
        if not 1e-150 < bandwidth < 1e150:
            raise ValueError(
                f"bandwidth must be between 1e-150 and 1e150, so that its square neither overflows "
                f"nor underflows, got {bandwidth!r}. Rescale the data."
            )
        return bandwidth

    @property
    def kappa(self) -> float:
        """The largest kernel value, k(x, x) = profile(0)."""
        return float(self.profile(np.float64(0.0)))

    def diagonal(self, X: Any) -> Array:
        """Return k(x, x) for each row, which is kappa."""
        return np.full(X.shape[0], self.kappa)

    @property
    def lipschitz_constant(self) -> float | None:
        """The largest slope L of the kernel as a function of the distance; None if unknown."""
        return None if self.lipschitz is None else self.lipschitz / self.scale

    @property
    def centered_factor(self) -> float:
        """Factor that turns an MMD bound into a bound on the error of the centered operator."""
        # The largest eigenvalue of either operator is at most kappa / 2 if k >= 0, else kappa. The
        # factor is the sum of the two square roots (docs/bounds.md).
        return math.sqrt((2 if self.monotone else 4) * self.kappa)

    def drop(self, distance: Any) -> Any:
        """Return kappa - k at one or more distances, which is ||psi(x) - psi(y)||^2 / 2."""
        return self.kappa - self.profile((distance / self.scale) ** self.power)

    def squared(self) -> RadialKernel:
        """Return the kernel k^2, whose feature map is psi(x) (x) psi(x)."""
        slope = None if self.lipschitz is None else 2 * self.kappa * self.lipschitz
        known: Any = {"lipschitz": slope, "monotone": self.monotone}
        return RadialKernel(_SquaredProfile(self.profile), self.power, self.bandwidth, **known)

    def evaluate(self, scaled: Array) -> Array:
        """Return the kernel values.

        Parameters
        ----------
        scaled : ndarray
            ``sign`` times squared distances in units of the bandwidth, r^2 / sigma^2. The array
            may be overwritten.

        Returns
        -------
        ndarray
            The values phi(scaled^(p/2)), with the same shape.
        """
        return self.profile(_power(scaled, self.power / 2))

    def log_evaluate(self, scaled: Array) -> Array:
        """Return the logarithms of the kernel values.

        Parameters
        ----------
        scaled : ndarray
            ``sign`` times squared distances in units of the bandwidth, r^2 / sigma^2. The array
            may be overwritten.

        Returns
        -------
        ndarray
            The log of :meth:`evaluate`. Built-in kernels avoid underflow.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.evaluate(scaled))

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """Return the kernel matrix k(X, Y). Y defaults to X."""
        self._check()
        X = check_array(X, dtype=np.float64, accept_sparse="csr")
        Y = X if Y is None else check_array(Y, dtype=np.float64, accept_sparse="csr")
        if X.shape[1] != Y.shape[1]:
            raise ValueError(f"Y must have {X.shape[1]} features, like X, got {Y.shape[1]}.")
        return gram.gram(self, X, Y)

    def resolve(
        self,
        X: Array,
        sample_weight: Array | None = None,
        random_state: Any = 0,
        before: RadialKernel | None = None,
    ) -> RadialKernel:
        """Return a copy of the kernel with a numeric bandwidth.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Data for a bandwidth rule such as ``"median"``.
        sample_weight : ndarray of shape (n_samples,), default=None
            Weights of the rows.
        random_state : int, RandomState or None, default=0
            Seed for drawing the sample.
        before : RadialKernel, default=None
            A resolved kernel. If given, its bandwidth replaces the rule, and X is not used.

        Returns
        -------
        RadialKernel
            A copy whose ``bandwidth`` is a number.
        """
        resolved = type(self)(**self.get_params(deep=False))
        if isinstance(self.bandwidth, str):
            if self.bandwidth not in RULES:
                names = ", ".join(f'"{rule}"' for rule in RULES)
                raise ValueError(
                    f"bandwidth must be a positive number or one of {names}, got "
                    f"{self.bandwidth!r}."
                )
            resolved.bandwidth = (
                before.bandwidth
                if before is not None
                else rule_bandwidth(self.bandwidth, X, sample_weight, random_state)
            )
        resolved._check()
        return resolved

    def same_as(self, other: RadialKernel) -> bool:
        """Return True if both kernels have the same type and parameters."""
        return type(self) is type(other) and self.get_params() == other.get_params()


def _power(values: Array, exponent: float) -> Array:
    """Return values^exponent. Square roots are computed in place."""
    if exponent == 1:
        return values
    return np.sqrt(values, out=values) if exponent == 0.5 else np.power(values, exponent)


def _steepest(profile: Callable[[Any], Any], power: float) -> tuple[float, float]:
    """Return the largest slope and the largest increase of u -> profile(u^power) on a grid."""
    u = np.unique(np.concatenate([np.linspace(0, 8, 2049), np.geomspace(1e-3, 1e3, 2048)]))
    with np.errstate(all="ignore"):
        steps = np.diff(profile(u**power))
        slopes = np.abs(steps) / np.maximum(np.diff(u), 1e-6)
    return float(np.nanmax(slopes, initial=0.0)), float(np.nanmax(steps, initial=0.0))


class _SquaredProfile:
    """Squared profile phi^2 as a picklable object."""

    def __init__(self, profile: Callable[[Any], Any]) -> None:
        self.profile = profile

    def __call__(self, s: Any) -> Any:
        return self.profile(s) ** 2


class _Exponential(RadialKernel):
    """Exponential kernel k(x, y) = exp(-gamma ||x - y||^p) with gamma = 1 / sigma^p."""

    concave = True  # for p = 1 and p = 2; see docs/bounds.md
    monotone = True

    def __init__(self, bandwidth: float | str = "median") -> None:
        self.bandwidth = bandwidth

    @staticmethod
    def profile(s: Any) -> Any:
        """Return phi(s) = exp(-s)."""
        return np.exp(-s)

    def log_integral(self, n_features: int) -> float:
        """Return the log of the integral of exp(-||u||^p) over R^d, area * Gamma(d/p) / p."""
        d, p = n_features, self.power
        area = math.log(2) + 0.5 * d * math.log(math.pi) - gammaln(d / 2)
        return float(area + gammaln(d / p) - math.log(p))

    def drop(self, distance: Any) -> Any:
        """Return 1 - exp(-s), computed accurately for small s."""
        return -np.expm1(-((distance / self.scale) ** self.power))

    def squared(self) -> Self:
        """Return the same kernel with bandwidth 2^(-1/p) sigma."""
        return type(self)(self.scale * 2 ** (-1 / self.power))

    @property
    def gamma(self) -> float:
        """The parameter gamma = 1 / sigma^p of scikit-learn's kernels."""
        return self.scale**-self.power

    @classmethod
    def from_gamma(cls, gamma: float) -> Self:
        """Create the kernel exp(-gamma ||x - y||^p).

        Parameters
        ----------
        gamma : float
            The parameter gamma; must be positive.

        Returns
        -------
        Gaussian or Laplacian
            The kernel with bandwidth gamma^(-1/p).
        """
        return cls(check.positive_number("gamma", gamma) ** (-1 / cls.power))


class Gaussian(_Exponential):  # numpydoc ignore=PR02
    """Gaussian kernel k(x, y) = exp(-||x - y||^2 / sigma^2).

    In scikit-learn, ``gamma`` is 1 / sigma^2.

    Parameters
    ----------
    bandwidth : float, "median", "neighbors", "slope" or "reconstruction", default="median"
        sigma, or a rule that computes it from a seeded sample when an estimator is fitted:
        ``"median"`` is the median pairwise distance, ``"neighbors"`` is 0.8 times the distance
        within which 95% of the sampled rows have five other distinct rows, ``"slope"`` is the scale
        at which the sum of the Gaussian kernel over all pairs grows fastest, and
        ``"reconstruction"`` is the smallest bandwidth with which a few components of Gaussian
        kernel PCA reconstruct held-out rows about as well as with the best one.

    Examples
    --------
    >>> import numpy as np
    >>> from rskpca import Gaussian
    >>> Gaussian(2.0)(np.array([[0.0], [2.0]])).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    power = 2.0
    sign = -1.0
    smooth = True
    lipschitz = math.sqrt(2 / math.e)  # slope of exp(-u^2) at u = 1/sqrt(2)

    def evaluate(self, scaled: Array) -> Array:
        """Return exp(scaled), computed in place."""
        return gram.exp_in_place(scaled)

    def log_evaluate(self, scaled: Array) -> Array:
        """Return ``scaled``, which is the logarithm of the kernel values."""
        return scaled


class Laplacian(_Exponential):  # numpydoc ignore=PR02
    """Laplacian kernel k(x, y) = exp(-||x - y|| / sigma), with the Euclidean distance.

    scikit-learn's ``"laplacian"`` kernel is not radial, because it uses the L1 distance.

    Parameters
    ----------
    bandwidth : float, "median", "neighbors", "slope" or "reconstruction", default="median"
        sigma, or a rule that computes it from a seeded sample when an estimator is fitted:
        ``"median"`` is the median pairwise distance, ``"neighbors"`` is 0.8 times the distance
        within which 95% of the sampled rows have five other distinct rows, ``"slope"`` is the scale
        at which the sum of the Gaussian kernel over all pairs grows fastest, and
        ``"reconstruction"`` is the smallest bandwidth with which a few components of Gaussian
        kernel PCA reconstruct held-out rows about as well as with the best one.

    Examples
    --------
    >>> import numpy as np
    >>> from rskpca import Laplacian
    >>> Laplacian(2.0)(np.array([[0.0], [2.0]])).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    power = 1.0
    lipschitz = 1.0

    def evaluate(self, scaled: Array) -> Array:
        """Return exp(-sqrt(scaled)), computed in place."""
        return gram.exp_in_place(self.log_evaluate(scaled))

    def log_evaluate(self, scaled: Array) -> Array:
        """Return -sqrt(scaled), computed in place."""
        return np.negative(np.sqrt(scaled, out=scaled), out=scaled)


_BY_NAME: dict[str, type[_Exponential]] = {
    "rbf": Gaussian,
    "gaussian": Gaussian,
    "laplacian": Laplacian,
}


AnyKernel = RadialKernel | Kernel


def sklearn_kernel(
    kernel: Any,
    gamma: float | None = None,
    degree: float = 3,
    coef0: float = 1,
    params: dict[str, Any] | None = None,
    *,
    n_features: int,
) -> AnyKernel:
    """Return the kernel for the parameters of a scikit-learn estimator.

    Parameters
    ----------
    kernel : str or callable
        scikit-learn's name for the kernel, or a function of two rows.
    gamma : float, default=None
        Parameter of the named kernels. None means 1 / n_features.
    degree, coef0 : float
        Parameters of the polynomial and sigmoid kernels.
    params : dict, default=None
        Additional keyword arguments of a function; ``kernel_params`` in scikit-learn.
    n_features : int
        Number of features of the data.

    Returns
    -------
    Gaussian or Kernel
        A Gaussian for ``"rbf"``, otherwise a kernel that is evaluated directly.

    Examples
    --------
    >>> from rskpca.kernels import sklearn_kernel
    >>> sklearn_kernel("rbf", n_features=4)
    Gaussian(bandwidth=2.0)
    >>> sklearn_kernel("cosine", n_features=4)
    NamedKernel(gamma=0.25, name='cosine')
    """
    if callable(kernel):
        return RowKernel(kernel, params)
    gamma = 1 / n_features if gamma is None else gamma
    if kernel == "rbf":
        return Gaussian.from_gamma(gamma)
    if kernel not in NAMES:
        names = ", ".join(f'"{name}"' for name in ("rbf", *NAMES))
        raise ValueError(f"kernel must be {names} or a function of two rows, got {kernel!r}.")
    return NamedKernel(kernel, gamma, degree, coef0)


def as_kernel(
    kernel: AnyKernel | str | None,
    gamma: float | None = None,
    bandwidth: float | str | None = None,
    rule: str = "median",
    *,
    radial: bool = True,
) -> Any:
    """Return the kernel object for the parameters of an estimator.

    Parameters
    ----------
    kernel : RadialKernel, Kernel, "rbf", "gaussian", "laplacian" or None
        Kernel object or name. None means the Gaussian.
    gamma, bandwidth : float or None
        Parameters for a kernel given by name. At most one of them may be set.
    rule : str, default="median"
        Bandwidth of a kernel given by name if neither ``gamma`` nor ``bandwidth`` is set.
    radial : bool, default=True
        If True, raise an error for a kernel that is not radial.

    Returns
    -------
    RadialKernel or Kernel
        The kernel object.
    """
    if isinstance(kernel, Kernel) and radial:
        raise ValueError(
            f"kernel must be a radial kernel, such as Gaussian(2.0), got {kernel!r}. KernelPCA, "
            "ReducedSetKernelPCA, NystromKernelPCA and ShadowDensity accept other kernels."
        )
    if isinstance(kernel, RadialKernel | Kernel):
        if gamma is not None or bandwidth is not None:
            raise ValueError(
                "gamma and bandwidth can be set only if kernel is a name, but kernel is "
                f"{kernel!r}. Set the bandwidth of the kernel object instead."
            )
        return kernel
    name = "gaussian" if kernel is None else kernel
    if not isinstance(name, str) or name not in _BY_NAME:
        raise ValueError(
            f'kernel must be "rbf", "gaussian", "laplacian" or a kernel object such as '
            f"Gaussian(2.0), got {name!r}.{_hint(name, gamma, radial)}"
        )
    family = _BY_NAME[name]
    if gamma is not None and bandwidth is not None:
        raise ValueError(
            f"gamma={gamma!r} and bandwidth={bandwidth!r} cannot be combined. Set one of them to "
            "None."
        )
    if gamma is not None:
        return family.from_gamma(gamma)
    return family(rule if bandwidth is None else bandwidth)


def _hint(name: Any, gamma: float | None, radial: bool) -> str:
    """Return a sentence with the call that creates one of scikit-learn's kernels, if it is one."""
    if not isinstance(name, str) or name not in NAMES:
        return ""
    given = "" if gamma is None else f"gamma={gamma!r}, "
    call = f'rskpca.kernels.sklearn_kernel("{name}", {given}n_features=X.shape[1])'
    if not radial:
        return f" For scikit-learn's kernel, pass kernel={call} without gamma and bandwidth."
    return (
        f' For scikit-learn\'s kernel, use KernelPCA(kernel="{name}"), or pass {call} to '
        "ReducedSetKernelPCA, NystromKernelPCA or ShadowDensity."
    )


def intrinsic_dimension(X: Any, sample_weight: Array | None = None, random_state: Any = 0) -> float:
    """Estimate the dimension of the data at the scale of ``bandwidth="slope"``.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows; a seeded sample of at most 1,000 rows is used.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the rows.
    random_state : int, RandomState or None, default=0
        Seed for drawing the sample.

    Returns
    -------
    float
        The largest exponent d for which the sum of the Gaussian kernel over all pairs grows as
        sigma^d. It is generally not an integer, and it is too small for high-dimensional data,
        where most sampled rows are near the boundary. It is 0 if all rows are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from rskpca.kernels import intrinsic_dimension
    >>> sheet = np.random.default_rng(0).uniform(size=(1000, 2)) @ np.ones((2, 5))
    >>> round(intrinsic_dimension(sheet))
    1
    """
    X = check_array(X, dtype=np.float64)
    return steepest_scale(*bandwidth_sample("slope", X, sample_weight, random_state))[1]
