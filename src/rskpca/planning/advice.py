"""Advice on planned fits and on data that do not compress."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._core import gram
from .._format import bytes_in_words, percent, seconds_in_words
from ..density.forecast import Forecast
from ..kernels import RadialKernel
from ..spectral.eigensystem import STORED_CENTERS
from .distortion import spaced
from .result import PlannedFit
from .verdict import error_in_words

Array = NDArray[np.floating]

HARDLY, LITTLE, WELL = 0.5, 0.2, 0.1  # fractions of the rows that are kept
_STEP, _MAX_STEPS = 1.25, 20  # for the search for a wider bandwidth
_LANDMARK_ROWS = 1000  # rows used to estimate the effective dimension


class Data(Protocol):
    """A sample of the data, and a forecast of the number of centers."""

    rows: Array
    n_samples: int
    n_components: int
    kernel: RadialKernel

    def centers(self, radius: float) -> Forecast: ...


@dataclass(frozen=True)
class Suggestion:
    """A suggestion of what to try next."""

    title: str  # the suggestion in a few words
    reason: str  # the reason and the cost, in sentences
    code: str = ""  # Python code for the modified estimator
    # Parameters to change, by name: refine, basis, ell, tol, bandwidth, n_components or n_centers.
    changes: Mapping[str, Any] = field(default_factory=dict)


def rounded(value: float) -> float:
    """Round a suggested parameter to three significant digits."""
    return float(f"{value:.3g}")


def advise(data: Data, fit: PlannedFit) -> tuple[str, ...]:
    """Describe a planned fit, and suggest alternatives if it compresses the data too little."""
    kept = fit.n_centers / data.n_samples
    span = "" if fit.low == fit.high else f" ({fit.low:,} to {fit.high:,})"
    sentences = [
        f"At ell = {fit.ell:g}, about {fit.n_centers:,} centers{span} represent "
        f"{data.n_samples:,} rows: {percent(kept)} of them are kept. The fit takes about "
        f"{seconds_in_words(fit.seconds)} and {bytes_in_words(fit.memory)} in addition to the data."
    ]
    if fit.embedding_error is not None and kept < 1:
        sentences[0] += (
            " Coordinates are expected to differ from those of exact kernel PCA by "
            f"{error_in_words(fit.embedding_error)}."
        )
    if kept > LITTLE:
        sentences.append(_compression(data.kernel, kept))
        sentences += [other.reason for other in alternatives(data, fit.ell)]
    if fit.n_centers > STORED_CENTERS:
        sentences.append(
            f"With more than {STORED_CENTERS:,} centers, the kernel matrix is not stored but "
            "recomputed in each step of the eigensolver, which is slow."
        )
    return tuple(sentences)


def _compression(kernel: RadialKernel, kept: float) -> str:
    bandwidth = f"{kernel.scale:.3g}"
    if kept > HARDLY:
        return (
            f"The data will not compress at bandwidth {bandwidth}: most rows have no neighbor "
            "within bandwidth / ell and become centers."
        )
    return f"The data compress only slightly at bandwidth {bandwidth}."


def alternatives(data: Data, ell: float) -> Iterator[Suggestion]:
    """Yield suggestions for data that do not compress: a wider kernel, or landmarks."""
    wider = _compressing_bandwidth(data, ell)
    if wider is not None:
        yield Suggestion(
            "A larger bandwidth, for fewer centers",
            f"A larger bandwidth compresses the data, if it suits the task: at {wider:.3g}, about "
            f"{percent(WELL)} of the rows are kept with the same ell. A wider kernel captures "
            "coarser structure, and fewer centers are less accurate.",
            changes={"bandwidth": rounded(wider)},
        )
    enough = _count_landmarks(data)
    yield Suggestion(
        "Landmarks",
        f"With the same bandwidth, the Nystrom method needs about {enough:,} landmarks for "
        f"{data.n_components} components. Such a model has no error certificate.",
        f"NystromKernelPCA({data.n_components}, kernel={data.kernel!r}, n_centers={enough})",
        {"n_centers": enough},
    )


def _compressing_bandwidth(data: Data, ell: float) -> float | None:
    """Return the bandwidth that keeps a tenth of the rows, or None if none is found.

    The search takes steps of 25% and interpolates logarithmically within the last one.
    """
    scale, wanted = data.kernel.scale, WELL * data.n_samples
    before = data.centers(scale / ell).value
    for step in range(1, _MAX_STEPS):
        after = data.centers(scale * _STEP**step / ell).value
        if after <= wanted:
            share = np.log(before / wanted) / np.log(before / after) if before > wanted else 0.0
            return float(scale * _STEP ** (step - 1 + share))
        before = after
    return None


def _count_landmarks(data: Data) -> int:
    """Return a sufficient number of uniform landmarks, D log D, at most the number of rows.

    D = sum_i l_i / (l_i + g) is the effective dimension. With this many landmarks, the error is
    about g (Rudi, Camoriano and Rosasco, 2015), where g is a tenth of the last requested
    eigenvalue.
    """
    rows = spaced(data.rows, _LANDMARK_ROWS)
    values = np.linalg.eigvalsh(gram.gram(data.kernel, rows, rows))[::-1].clip(0)
    level = values[min(data.n_components, len(values) - 1)] / 10
    dimension = float(np.sum(values / (values + max(level, 1e-12 * values[0]))))
    enough = int(np.ceil(dimension * max(np.log(dimension), 1.0)))
    return min(enough, data.n_samples)
