"""What the numbers of a plan come to, in plain sentences."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .._core import gram
from .._format import bytes_in_words, percent, seconds_in_words
from ..kernels import RadialKernel
from ..spectral.eigensystem import STORED_CENTERS
from .result import PlannedFit
from .retention import Forecast

Array = NDArray[np.floating]

HARDLY, LITTLE, WELL = 0.5, 0.2, 0.1  # shares of the rows that are kept
_WIDER = 1.25
_WIDEST = 20
_MOST_ROWS = 1000


class Planner(Protocol):
    """What advice needs to know of the data."""

    rows: Array
    n_samples: int
    n_components: int
    kernel: RadialKernel

    def centers(self, radius: float) -> Forecast: ...


def advise(planner: Planner, fit: PlannedFit) -> tuple[str, ...]:
    """What to expect of the fit that was asked for, and what to do where it is of no use."""
    kept = fit.n_centers / planner.n_samples
    sentences = [_expectation(planner, fit, kept)]
    if kept > LITTLE:
        sentences += [_verdict(planner, kept), *_instead(planner, fit.ell)]
    if fit.n_centers > STORED_CENTERS:
        sentences.append(
            f"Of more than {STORED_CENTERS:,} centers the kernel matrix is not stored but made "
            "anew in each step of the eigensolver, which is slow."
        )
    return tuple(sentences)


def _expectation(planner: Planner, fit: PlannedFit, kept: float) -> str:
    span = "" if fit.low == fit.high else f" ({fit.low:,} to {fit.high:,})"
    return (
        f"At ell = {fit.ell:g} about {fit.n_centers:,} centers{span} stand for "
        f"{planner.n_samples:,} rows: {percent(kept)} of them are kept. The fit takes about "
        f"{seconds_in_words(fit.seconds)} and {bytes_in_words(fit.memory)} above the data."
    )


def _verdict(planner: Planner, kept: float) -> str:
    bandwidth = f"{planner.kernel.scale:.3g}"
    if kept > HARDLY:
        return (
            f"The data will not compress at the bandwidth {bandwidth}: most rows have no other "
            "within bandwidth / ell, and become centers of their own."
        )
    return f"The data compress little at the bandwidth {bandwidth}."


def _instead(planner: Planner, ell: float) -> list[str]:
    """A bandwidth that compresses, and landmarks that need not."""
    sentences = []
    wider = compressing_bandwidth(planner, ell)
    if wider is not None:
        sentences.append(
            f"A larger bandwidth compresses, if it suits the task: with {wider:.3g} about "
            f"{percent(WELL)} of the rows are kept at the same ell."
        )
    enough = landmarks(planner)
    sentences.append(
        f"Or keep the bandwidth and use the Nystrom method: about {enough:,} landmarks are "
        f"enough for {planner.n_components} components."
    )
    return sentences


def compressing_bandwidth(planner: Planner, ell: float) -> float | None:
    """The smallest, in steps of a quarter, that keeps at most a tenth of the rows."""
    for step in range(1, _WIDEST):
        bandwidth = planner.kernel.scale * _WIDER**step
        if planner.centers(bandwidth / ell).value <= WELL * planner.n_samples:
            return bandwidth
    return None


def landmarks(planner: Planner) -> int:
    """D log D of the effective dimension D = sum_i l_i / (l_i + g).

    So many uniform landmarks leave an error of about g (Rudi, Camoriano and Rosasco, 2015); g
    is a tenth of the last eigenvalue that is asked for.

    Parameters
    ----------
    planner : Planner
        The data.

    Returns
    -------
    int
        At most the number of rows.
    """
    rows = planner.rows[np.linspace(0, len(planner.rows) - 1, _MOST_ROWS, dtype=int)]
    rows = rows if len(planner.rows) > _MOST_ROWS else planner.rows
    values = np.linalg.eigvalsh(gram.gram(planner.kernel, rows, rows))[::-1].clip(0)
    level = values[min(planner.n_components, len(values) - 1)] / 10
    dimension = float(np.sum(values / (values + max(level, 1e-12 * values[0]))))
    enough = int(np.ceil(dimension * max(np.log(dimension), 1.0)))
    return min(enough, planner.n_samples)
