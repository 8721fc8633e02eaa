"""Section 2: radial kernels, k(x, y) = phi(||x - y||^p / sigma^p), eq. (profile2)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, gammaincinv, gammaln
from sklearn.base import BaseEstimator
from sklearn.utils import check_array

from . import _validation as check
from ._core import gram
from ._core.median import median_distance
from ._core.profiles import Squared, powered, steepest
from ._core.sampling import directions, stratified

Array = NDArray[np.floating]


class RadialKernel(BaseEstimator):
    """A radial kernel with a profile of your own.

    k(x, y) = profile(||x - y||^power / bandwidth^power), with r the Euclidean distance:
    eq. (profile2) of the paper. That the kernel is positive definite is yours to know.

    Parameters
    ----------
    profile : callable
        phi, from an array of s >= 0 to an array of the same shape, largest at 0.
    power : float
        p, positive.
    bandwidth : float or "median", default="median"
        sigma. ``"median"`` takes the median pairwise distance of a seeded sample when an
        estimator is fitted.
    lipschitz : float, default=None
        The largest slope of u -> profile(u^power) for u >= 0. The error bounds need it.
    log_integral : callable, default=None
        From a number of features d to the log of the integral of profile(||u||^power) over
        R^d. Without it densities are not normalised.
    monotone : bool, default=False
        Whether the profile never increases. Bounds from the radius need this or the slope.

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
    concave = False  # whether ||psi(x) - psi(y)|| is known to be concave in the distance

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
        self.scale  # noqa: B018  its checks
        try:
            values = np.asarray(self.profile(np.zeros(2)))
        except TypeError as error:
            raise ValueError(f"profile must take an array, but raised {error!r}.") from error
        if values.shape != (2,) or not (np.isfinite(values) & (values > 0)).all():
            raise ValueError(f"profile must be positive at 0, but of two zeros made {values!r}.")
        if not self.concave:  # all of it is known otherwise
            self._check_claims()

    def _check_claims(self) -> None:
        """What is said of the profile, against its values at some 4,000 distances."""
        check.boolean("monotone", self.monotone)
        seen, rise = steepest(self.profile, self.power)
        if self.lipschitz is not None:
            slope = check.positive_number("lipschitz", self.lipschitz)
            if slope < seen * (1 - 1e-6):
                raise ValueError(
                    f"lipschitz={slope!r} is below a slope of the profile, {seen:.6g}."
                )
        if self.monotone and rise > 1e-9 * self.kappa:
            raise ValueError(
                f"monotone=True, but the profile increases, by {rise:.3g} in one step."
            )

    @property
    def scale(self) -> float:
        """The bandwidth sigma as a number."""
        check.positive_number("power", self.power)
        if isinstance(self.bandwidth, str):
            raise ValueError(
                f"bandwidth={self.bandwidth!r} is not a number yet: an estimator takes the median "
                "of its data when it is fitted. Give a positive number."
            )
        bandwidth = check.positive_number("bandwidth", self.bandwidth, hint='Or give "median".')
        if not 1e-150 < bandwidth < 1e150:
            raise ValueError(
                f"bandwidth={bandwidth!r} has a square beyond floating point; rescale the data."
            )
        return bandwidth

    @property
    def kappa(self) -> float:
        """The largest value, k(x, x) = profile(0)."""
        return float(self.profile(np.float64(0.0)))

    @property
    def lipschitz_constant(self) -> float | None:
        """L, the largest slope of the kernel in the distance r; None where unknown."""
        return None if self.lipschitz is None else self.lipschitz / self.scale

    @property
    def centered_factor(self) -> float:
        """Bounds the error of the operators about the mean by this times the discrepancy."""
        # Roots of the largest eigenvalues, kappa / 2 where k >= 0: docs/bounds.md.
        return math.sqrt((2 if self.monotone else 4) * self.kappa)

    def drop(self, distance: Any) -> Any:
        """kappa - k at a distance, or at an array of them; half of ||psi(x) - psi(y)||^2."""
        return self.kappa - self.profile((distance / self.scale) ** self.power)

    def squared(self) -> RadialKernel:
        """The kernel k^2, whose feature space holds the operators psi(x) (x) psi(x)."""
        slope = None if self.lipschitz is None else 2 * self.kappa * self.lipschitz
        known: Any = {"lipschitz": slope, "monotone": self.monotone}
        return RadialKernel(Squared(self.profile), self.power, self.bandwidth, **known)

    def frequencies(
        self, shape: tuple[int, ...], n_features: int, generator: np.random.Generator
    ) -> Array | None:
        """Random omega with k(x, y) = kappa E cos <omega, x - y>; None where not known."""
        # Lengths are stratified along the last axis: the rare long ones get their share.
        return None

    def evaluate(self, scaled: Array) -> Array:
        """Kernel values.

        Parameters
        ----------
        scaled : ndarray
            ``sign`` times squared distances in bandwidths, r^2 / sigma^2; may be overwritten.

        Returns
        -------
        ndarray
            phi(scaled^(p/2)), of the same shape.
        """
        return self.profile(powered(scaled, self.power / 2))

    def log_evaluate(self, scaled: Array) -> Array:
        """Log of the kernel values.

        Parameters
        ----------
        scaled : ndarray
            ``sign`` times squared distances in bandwidths, r^2 / sigma^2; may be overwritten.

        Returns
        -------
        ndarray
            log of :meth:`evaluate`, without its underflow where the profile is known.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.evaluate(scaled))

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """The kernel matrix k(X, Y), whole; Y is X where it is not given."""
        self._check()
        X = check_array(X, dtype=np.float64)
        Y = X if Y is None else check_array(Y, dtype=np.float64)
        if X.shape[1] != Y.shape[1]:
            raise ValueError(f"X has {X.shape[1]} features, but Y has {Y.shape[1]}.")
        return gram.gram(self, X, Y)

    def resolve(
        self,
        X: Array,
        sample_weight: Array | None = None,
        random_state: Any = 0,
        before: RadialKernel | None = None,
    ) -> RadialKernel:
        """The same kernel with a number for its bandwidth.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            The data that ``"median"`` is taken from.
        sample_weight : ndarray of shape (n_samples,), default=None
            How often each row counts.
        random_state : int, RandomState or None, default=0
            Seed of the sample.
        before : RadialKernel, default=None
            Whose bandwidth is taken for ``"median"``, in place of that of the data.

        Returns
        -------
        RadialKernel
            A copy; ``bandwidth`` is a number.
        """
        resolved = type(self)(**self.get_params(deep=False))
        if isinstance(self.bandwidth, str):
            if self.bandwidth != "median":
                raise ValueError(
                    f'bandwidth must be a positive number or "median", got {self.bandwidth!r}.'
                )
            resolved.bandwidth = (
                before.bandwidth
                if before is not None
                else median_distance(X, sample_weight, random_state)
            )
        resolved._check()
        return resolved

    def same_as(self, other: RadialKernel) -> bool:
        """Whether both are one kernel with one bandwidth."""
        return type(self) is type(other) and self.get_params() == other.get_params()


class _Exponential(RadialKernel):
    """k(x, y) = exp(-gamma ||x - y||^p) with gamma = 1 / sigma^p."""

    concave = True  # for p = 1 and p = 2: docs/bounds.md
    monotone = True

    def __init__(self, bandwidth: float | str = "median") -> None:
        self.bandwidth = bandwidth

    @staticmethod
    def profile(s: Any) -> Any:
        """phi(s) = exp(-s)."""
        return np.exp(-s)

    def log_integral(self, n_features: int) -> float:
        """Log of the integral of exp(-||u||^p) over R^d: the sphere's area, Gamma(d/p) / p."""
        d, p = n_features, self.power
        area = math.log(2) + 0.5 * d * math.log(math.pi) - gammaln(d / 2)
        return float(area + gammaln(d / p) - math.log(p))

    def drop(self, distance: Any) -> Any:
        """1 - exp(-s), with all of its digits where s is small."""
        return -np.expm1(-((distance / self.scale) ** self.power))

    def squared(self) -> Self:
        """The same kernel with the bandwidth 2^(-1/p) sigma."""
        return type(self)(self.scale * 2 ** (-1 / self.power))

    @property
    def gamma(self) -> float:
        """1 / sigma^p, the parameter of scikit-learn's kernels."""
        return self.scale**-self.power

    @classmethod
    def from_gamma(cls, gamma: float) -> Self:
        """The kernel exp(-gamma ||x - y||^p).

        Parameters
        ----------
        gamma : float
            Positive.

        Returns
        -------
        Gaussian or Laplacian
            With bandwidth gamma^(-1/p).
        """
        return cls(check.positive_number("gamma", gamma) ** (-1 / cls.power))


class Gaussian(_Exponential):  # numpydoc ignore=PR02
    """The Gaussian kernel k(x, y) = exp(-||x - y||^2 / sigma^2).

    scikit-learn's ``gamma`` is 1 / sigma^2.

    Parameters
    ----------
    bandwidth : float or "median", default="median"
        sigma. ``"median"`` takes the median pairwise distance of a seeded sample when an
        estimator is fitted.

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
    lipschitz = math.sqrt(2 / math.e)  # of exp(-u^2), at u = 1/sqrt(2)

    def frequencies(
        self, shape: tuple[int, ...], n_features: int, generator: np.random.Generator
    ) -> Array:
        """Normal with the variance 2 / sigma^2: half the squared length is a gamma variable."""
        lengths = np.sqrt(gammaincinv(n_features / 2, stratified(shape, generator)))
        return directions(shape, n_features, generator) * (2 / self.scale * lengths[..., None])

    def evaluate(self, scaled: Array) -> Array:
        """exp(scaled), in place."""
        return np.exp(scaled, out=scaled)

    def log_evaluate(self, scaled: Array) -> Array:
        """The scaled distances themselves."""
        return scaled


class Laplacian(_Exponential):  # numpydoc ignore=PR02
    """The Laplacian kernel k(x, y) = exp(-||x - y|| / sigma), with the Euclidean distance.

    scikit-learn's ``"laplacian"`` uses the L1 distance instead, which is not radial.

    Parameters
    ----------
    bandwidth : float or "median", default="median"
        sigma. ``"median"`` takes the median pairwise distance of a seeded sample when an
        estimator is fitted.

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

    def frequencies(
        self, shape: tuple[int, ...], n_features: int, generator: np.random.Generator
    ) -> Array:
        """Multivariate Cauchy with the scale 1 / sigma: 1 / (1 + length^2) is a beta variable."""
        inverse = betaincinv(0.5, n_features / 2, stratified(shape, generator))
        lengths = np.sqrt((1 - inverse) / np.maximum(inverse, 1e-300))
        return directions(shape, n_features, generator) * (lengths[..., None] / self.scale)

    def evaluate(self, scaled: Array) -> Array:
        """exp(-sqrt(scaled)), in place."""
        return np.exp(self.log_evaluate(scaled), out=scaled)

    def log_evaluate(self, scaled: Array) -> Array:
        """-sqrt(scaled), in place."""
        return np.negative(np.sqrt(scaled, out=scaled), out=scaled)


_BY_NAME: dict[str, type[_Exponential]] = {
    "rbf": Gaussian,
    "gaussian": Gaussian,
    "laplacian": Laplacian,
}


def as_kernel(
    kernel: RadialKernel | str | None,
    gamma: float | None = None,
    bandwidth: float | str | None = None,
) -> RadialKernel:
    """The kernel that an estimator's ``kernel``, ``gamma`` and ``bandwidth`` name.

    Parameters
    ----------
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None
        None is the Gaussian.
    gamma, bandwidth : float or None
        At most one of them, and only with a name.

    Returns
    -------
    RadialKernel
        A kernel object.
    """
    if isinstance(kernel, RadialKernel):
        if gamma is not None or bandwidth is not None:
            raise ValueError(
                "gamma and bandwidth go with a kernel's name; "
                f"set the bandwidth in the kernel object instead: {kernel!r}."
            )
        return kernel
    name = "gaussian" if kernel is None else kernel
    if not isinstance(name, str) or name not in _BY_NAME:
        raise ValueError(
            f'kernel must be "rbf", "gaussian", "laplacian" or a kernel object such as '
            f"Gaussian(2.0), got {name!r}."
        )
    family = _BY_NAME[name]
    if gamma is not None and bandwidth is not None:
        raise ValueError(f"give gamma or bandwidth, not both: got {gamma!r} and {bandwidth!r}.")
    if gamma is not None:
        return family.from_gamma(gamma)
    return family() if bandwidth is None else family(bandwidth)
