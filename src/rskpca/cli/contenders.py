"""Who is compared, and how: the same rows, the same threads, warm, in turns, medians."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..baselines.methods import METHODS, embedding_error, n_points
from ..kernels import Gaussian

Array = NDArray[np.floating]

ROUNDS = 3
_LONG = 10.0  # seconds after which a fit is not repeated
_WARM = 500
_EMBEDDED = 5000  # rows of a timed transform
_DEFAULT_LANDMARKS = 100  # scikit-learn's own
MOST_LANDMARKS = 2000  # of which the singular value decomposition takes seconds


@dataclass(frozen=True)
class Contender:
    """A method of the registry at one size.

    Attributes
    ----------
    title : str
        For people.
    method : str
        Of :data:`rskpca.baselines.methods.METHODS`.
    size : float or None
        Of the method: ell, or a number of landmarks.
    ours : bool
        Whether it is of this library.
    """

    title: str
    method: str
    size: float | None
    ours: bool = False

    def make(self, n_components: int, kernel: Gaussian, seed: int = 0) -> Any:
        """An estimator that is not fitted."""
        return METHODS[self.method].make(n_components, kernel, self.size, random_state=seed)

    def warm(self, n_components: int, kernel: Gaussian, rows: Array) -> None:
        """Load and compile whatever is loaded and compiled once."""
        counted = METHODS[self.method].size == "n_centers"
        few = 2 * n_components + 10 if counted else self.size
        model = METHODS[self.method].make(n_components, kernel, few)
        model.fit(rows[:_WARM]).transform(rows[:10])


def contenders(
    ell: float, n_components: int, kernel: Gaussian, rows: Array, *, exact: bool
) -> list[Contender]:
    """Ours; scikit-learn's at the size of each and at its own; the exact one if it fits."""
    ours = [
        Contender("rskpca", "shadow", ell, ours=True),
        Contender("rskpca --small --refine", "shadow-two-scales-refined", ell, ours=True),
    ]
    sizes = [n_points(one.make(n_components, kernel).fit(rows)) for one in ours]
    most = min(MOST_LANDMARKS, len(rows))
    beside = {int(np.clip(size, n_components, most)) for size in (_DEFAULT_LANDMARKS, *sizes)}
    theirs = [
        Contender(f"Nystroem + PCA, {size:,}", "sklearn-nystroem", size)
        for size in sorted(beside, reverse=True)
    ]
    last = [Contender("KernelPCA", "sklearn-kpca", None)] if exact else []
    return [*ours, *theirs, *last]


@dataclass
class Result:
    """What came of a contender.

    Attributes
    ----------
    contender : Contender
        Who.
    n_rows : int
        Rows that were fitted.
    points : int
        How many points a new row is compared with.
    fits, embeds : list of float
        Seconds of each fit, and of the transform of a thousand rows.
    errors : list of float
        Of held-out rows, against exact kernel PCA of the same rows; one a seed.
    memory : float or None
        Megabytes at the peak of a fit, above the data.
    """

    contender: Contender
    n_rows: int
    points: int = 0
    fits: list[float] = field(default_factory=list)
    embeds: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    memory: float | None = None

    @property
    def error(self) -> float | None:
        """The median over the seeds."""
        return median(self.errors) if self.errors else None

    def to_dict(self) -> dict[str, Any]:
        """Medians for machines."""
        return {
            "method": self.contender.title,
            "rows": self.n_rows,
            "points": self.points,
            "fit_seconds": median(self.fits),
            "embed_1000_rows_seconds": median(self.embeds),
            "megabytes": self.memory,
            "error": self.error,
        }


def contest(
    entered: Sequence[Contender],
    n_components: int,
    kernel: Gaussian,
    train: Array,
    test: Array,
    *,
    exact: Array | None,
    told: Callable[[str], object],
) -> list[Result]:
    """Fit and embed in turns.

    Parameters
    ----------
    entered : sequence of Contender
        Who.
    n_components : int
        r.
    kernel : Gaussian
        The same for all.
    train, test : ndarray
        The rows that are fitted, and the rows that are embedded.
    exact : ndarray or None
        Exact coordinates of ``test``; None leaves errors out.
    told : callable
        Is given the title of whoever is next.

    Returns
    -------
    list of Result
        In the order of ``entered``.
    """
    results = [Result(contender, len(train)) for contender in entered]
    for contender in entered:
        told(contender.title)
        contender.warm(n_components, kernel, train)
    many = np.resize(test, (_EMBEDDED, test.shape[1]))
    for seed in range(ROUNDS):
        for result in results:
            if sum(result.fits) < _LONG:
                told(result.contender.title)
                model = _timed_fit(result, n_components, kernel, seed, train)
                _time_embedding(result, model, many)
                if exact is not None:
                    result.errors.append(embedding_error(exact, model.transform(test)))
    return results


def _timed_fit(result: Result, n_components: int, kernel: Gaussian, seed: int, rows: Array) -> Any:
    start = time.perf_counter()
    model = result.contender.make(n_components, kernel, seed).fit(rows)
    result.fits.append(time.perf_counter() - start)
    result.points = n_points(model)
    return model


def _time_embedding(result: Result, model: Any, rows: Array) -> None:
    start = time.perf_counter()
    model.transform(rows)
    result.embeds.append(1000 * (time.perf_counter() - start) / len(rows))


def exact_coordinates(n_components: int, kernel: Gaussian, train: Array, test: Array) -> Array:
    """Exact kernel PCA of the rows ``train``, at the rows ``test``."""
    return METHODS["kpca"].make(n_components, kernel).fit(train).transform(test)
