"""Before the run, from a small sample: how many centers, how long, how much memory, how wrong."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .. import _validation as check
from .._core.sampling import MEDIAN_SAMPLE
from ..kernels import RadialKernel, as_kernel
from .advice import advise
from .cost import SolveTimer, bytes_needed, time_pass
from .discovery import Forecast, forecast
from .distortion import distortion
from .report import Plan, PlannedFit
from .retention import ELLS, retention
from .sampling import Array, Drawn, draw


def plan(
    X: Any,
    kernel: RadialKernel | str | None = None,
    *,
    ell: float = 4.0,
    n_components: int = 5,
    sample: int | None = None,
    random_state: Any = 0,
) -> Plan:
    """Say what a fit will cost and gain, from a small sample of the data.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), str, path or Source
        The data, or anything else that :func:`rskpca.data.open_source` opens: a file, a folder
        of files, a data frame, a function that makes an iterator of arrays.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        None is the Gaussian with the median bandwidth, here that of the sample.
    ell : float, default=4.0
        The one that the advice is about; 3, 3.5, 4, 4.5 and 5 are planned beside it.
    n_components : int, default=5
        Of the kernel PCA whose time is told.
    sample : int, default=None
        Rows to look at, from all over the data. None is a twentieth of them, at least 500, and
        at most 20,000 or, of more than ten features, fewer.
    random_state : int, RandomState or None, default=0
        Seed of the sample.

    Returns
    -------
    Plan
        A table (print it), a figure (``plot``), sentences (``advice``), numbers (``to_dict``).

    Notes
    -----
    Numbers of centers are extrapolated from how fast the sample opens centers; their interval is
    two standard deviations wide to both sides. Times are those of
    ``ReducedSetKernelPCA(n_components, kernel=kernel, ell=ell).fit(X)`` with X in memory, scaled
    from fits of the sample on this machine. The error is an expectation and not a bound.

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
    asked = as_kernel(kernel)
    rng = check_random_state(random_state)
    drawn = draw(X, sample, rng)
    start = time.perf_counter()
    resolved = asked.resolve(drawn.rows, None, rng)
    planner = _Planner(drawn, resolved, n_components, rng.randint(2**31))
    pairs = min(drawn.n_samples, MEDIAN_SAMPLE) / min(len(drawn.rows), MEDIAN_SAMPLE)
    planner.median_seconds = (time.perf_counter() - start) * pairs**2
    fits = planner.planned(sorted({*ELLS, ell}))
    sentences = advise(planner, next(fit for fit in fits if fit.ell == ell))
    return Plan(
        n_samples=drawn.n_samples,
        n_features=drawn.rows.shape[1],
        n_sampled=len(drawn.rows),
        kernel=resolved,
        ell=ell,
        n_components=n_components,
        fits=fits,
        advice=sentences,
    )


class _Planner:
    """The sample, and what is asked of it at one ell after the other."""

    median_seconds = 0.0

    def __init__(self, drawn: Drawn, kernel: RadialKernel, n_components: int, seed: int) -> None:
        self.rows: Array = drawn.rows
        self.n_samples, self.kernel, self.n_components = drawn.n_samples, kernel, n_components
        self.seed = seed
        self.solve_timer = SolveTimer(drawn.rows, kernel, n_components)

    def centers(self, radius: float) -> Forecast:
        """Of all rows, at this radius; the same orders of the sample each time."""
        rng = np.random.RandomState(self.seed)
        return forecast(self.rows, radius, self.n_samples, rng)

    def planned(self, ells: list[float]) -> tuple[PlannedFit, ...]:
        """The lines of the table. A larger ell has no fewer centers."""
        curve = retention(self.rows, self.kernel, self.n_samples, ells, seed=self.seed)
        lines = zip(ells, curve.n_centers, curve.low, curve.high, strict=True)
        return tuple(self._planned(ell, Forecast(*map(float, line))) for ell, *line in lines)

    def _planned(self, ell: float, centers: Forecast) -> PlannedFit:
        kept = centers.value / self.n_samples
        moved = distortion(self.rows, self.kernel, self.kernel.scale / ell)
        return PlannedFit(
            ell=ell,
            n_centers=round(centers.value),
            low=round(centers.low),
            high=round(centers.high),
            seconds=self._seconds(ell, centers.value),
            memory=bytes_needed(self.n_samples, self.rows.shape[1], centers.value),
            displacement=moved.mean_displacement(kept),
            operator_error=moved.operator_error(kept, self.n_samples),
        )

    def _seconds(self, ell: float, n_centers: float) -> float:
        timed = time_pass(self.rows, self.kernel, ell, self.n_samples)
        one_pass = timed.seconds(self.n_samples, n_centers)
        return self.median_seconds + one_pass + self.solve_timer.seconds(n_centers)
