"""Predict the size, time, memory and error of a fit from a small sample of the data."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, check_random_state
from sklearn.utils.random import sample_without_replacement

from .. import _validation as check
from .._core.sampling import MEDIAN_SAMPLE
from ..data import open_source
from ..density.forecast import Forecast, forecast
from ..kernels import RadialKernel, as_kernel
from .advice import advise
from .cost import SolveTime, bytes_needed, time_pass
from .distortion import coordinate_error, distortion
from .result import Plan, PlannedFit
from .retention import ELLS, retention

Array = NDArray[np.floating]

_MIN_SAMPLE = 100  # smallest sample that users can request


def plan(
    X: Any,
    kernel: RadialKernel | str | None = None,
    *,
    ell: float = 4.0,
    n_components: int = 5,
    sample: int | None = None,
    random_state: Any = 0,
) -> Plan:
    """Predict the cost and accuracy of a fit from a small sample of the data.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), str, path or Source
        The data, or any input of :func:`rskpca.data.open_source`: a file, a folder of files, a
        data frame, or a function that returns an iterator over arrays.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        Kernel of the fit. None means a Gaussian with the median bandwidth of the sample.
    ell : float, default=4.0
        The ell of the fit, to which the advice refers. The plan also includes the values 3, 3.5, 4,
        4.5 and 5.
    n_components : int, default=5
        Number of components of the fit.
    sample : int, default=None
        Number of rows to sample. If None, 5% of the rows are sampled, but at least 500 and at most
        20,000 rows; the maximum is smaller if there are more than ten features.
    random_state : int, RandomState or None, default=0
        Seed for the sample.

    Returns
    -------
    Plan
        The predictions. Print the plan as a table, or use ``plot``, ``advice`` and ``to_dict``.

    Notes
    -----
    The number of centers is extrapolated from the rate at which new centers appear in the sample,
    with an interval of two standard deviations on each side. The predicted time is that of
    ``ReducedSetKernelPCA(n_components, kernel=kernel, ell=ell).fit(X)`` with X in memory, scaled
    from fits of the sample that are timed on this machine. The error is an expected value, not a
    bound.

    Examples
    --------
    >>> import numpy as np
    >>> from rskpca import plan
    >>> X = np.random.default_rng(0).normal(size=(20_000, 3))
    >>> fit = plan(X, ell=3.0).asked
    >>> fit.low <= fit.n_centers <= fit.high
    True
    """
    ell = check.positive_number("ell", ell)
    check.positive_integer("n_components", n_components)
    unresolved = as_kernel(kernel)
    rng = check_random_state(random_state)
    rows, n_samples = draw_sample(X, sample, rng)
    start = time.perf_counter()
    resolved = unresolved.resolve(rows, None, rng)
    # The time to compute the median distance is proportional to the number of pairs of rows.
    ratio = min(n_samples, MEDIAN_SAMPLE) / min(len(rows), MEDIAN_SAMPLE)
    bandwidth_seconds = (time.perf_counter() - start) * ratio**2
    seed = rng.randint(2**31)
    planner = _Planner(rows, n_samples, resolved, n_components, bandwidth_seconds, seed)
    fits = planner.fits(sorted({*ELLS, ell}))
    return Plan(
        n_samples=n_samples,
        n_features=rows.shape[1],
        n_sampled=len(rows),
        kernel=resolved,
        ell=ell,
        n_components=n_components,
        fits=fits,
        advice=advise(planner, next(fit for fit in fits if fit.ell == ell)),
    )


def draw_sample(data: Any, size: int | None, rng: np.random.RandomState) -> tuple[Array, int]:
    """Return sampled rows in their original order, and the total number of rows."""
    if size is not None:
        check.positive_integer("sample", size)
        if size < _MIN_SAMPLE:
            raise ValueError(
                f"sample must be at least {_MIN_SAMPLE} to allow extrapolation, got {size}. "
                "Increase it, or pass None to use 5% of the rows."
            )
    source = open_source(data)
    if not source.again:
        raise ValueError(
            f"{source.name} can be read only once, but both plan and fit must read it. Pass a "
            "function that returns a new iterator instead."
        )
    n_samples = source.counted()
    wanted = min(sample_size(n_samples, source.n_features) if size is None else size, n_samples)
    chosen = sample_without_replacement(n_samples, wanted, random_state=rng)
    rows = source.take(np.sort(chosen))
    return check_array(rows, dtype=check.FLOATS, ensure_min_samples=2), n_samples


def sample_size(n_samples: int, n_features: int) -> int:
    """Return 5% of the number of rows, limited so that covering the sample takes only seconds."""
    largest = int(np.clip(np.sqrt(4e9 / max(n_features, 1)), 1000, 20_000))
    return max(min(int(0.05 * n_samples), largest), 500)


@dataclass(eq=False)
class _Planner:
    """A sample of the data, and the parameters of the planned fit."""

    rows: Array
    n_samples: int
    kernel: RadialKernel
    n_components: int
    bandwidth_seconds: float
    seed: int

    def centers(self, radius: float) -> Forecast:
        """Predict the number of centers for all rows at this radius."""
        return forecast(self.rows, radius, self.n_samples, np.random.RandomState(self.seed))

    def fits(self, ells: list[float]) -> tuple[PlannedFit, ...]:
        """Plan one fit per value of ell."""
        curve = retention(self.rows, self.kernel, self.n_samples, ells, seed=self.seed)
        solving = SolveTime(self.rows, self.kernel, self.n_components)
        lines = zip(ells, curve.n_centers, curve.low, curve.high, strict=True)
        return tuple(self._fit(ell, Forecast(*map(float, line)), solving) for ell, *line in lines)

    def _fit(self, ell: float, centers: Forecast, solving: SolveTime) -> PlannedFit:
        n, m = self.n_samples, centers.value
        covering = time_pass(self.rows, self.kernel, ell, n)
        radius = self.kernel.scale / ell
        moved = distortion(self.rows, self.kernel, radius)
        coordinates = coordinate_error(
            self.rows, self.kernel, radius, self.n_components, n_centers=m, n_samples=n
        )
        return PlannedFit(
            ell=ell,
            n_centers=round(m),
            low=round(centers.low),
            high=round(centers.high),
            seconds=self.bandwidth_seconds + covering.seconds(n, m) + solving.seconds(m),
            memory=bytes_needed(n, self.rows.shape[1], m),
            displacement=moved.mean_displacement(m / n),
            operator_error=moved.operator_error(m / n, n),
            embedding_error=coordinates,
        )
