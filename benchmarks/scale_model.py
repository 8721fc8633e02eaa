"""What more rows and more machines would take, from what was measured on one.

Two passes over the rows (covers, then counts within the radius of one machine), each row once on
some worker; between them a tree of merges, two summaries at a time. A summary holds the centers
and their sums, and the sums at the frequencies of the certificate, which do not grow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rskpca.planning.retention import extrapolate

from .datasets import Floats

NETWORK = 1e9 / 8  # bytes a second, between two machines: a gigabit


@dataclass(frozen=True)
class Measured:
    """On one worker, which is a core where seconds are those of the processor.

    Attributes
    ----------
    rows, centers, seconds : ndarray
        How many rows had been counted, how many centers there were, when.
    merge_seconds : float
        Of two summaries of ``centers[-1]`` centers.
    summary_bytes : float
        Of a center of a summary.
    certificate_bytes : float
        Of a summary beyond its centers.
    """

    rows: Floats
    centers: Floats
    seconds: Floats
    merge_seconds: float
    summary_bytes: float
    certificate_bytes: float

    def n_centers(self, n: float) -> float:
        """m after n rows: the discovery curve, continued."""
        return extrapolate(self.rows, self.centers, n)

    def pass_seconds(self, n: float) -> float:
        """One pass over n rows: beyond what was seen, as fast as its second half."""
        if n <= self.rows[-1]:
            return float(np.interp(n, [0, *self.rows], [0, *self.seconds]))
        half = len(self.rows) // 2
        late = np.diff(self.seconds[half:]).sum() / np.diff(self.rows[half:]).sum()
        return float(self.seconds[-1] + late * (n - self.rows[-1]))

    def job(self, n: float, workers: int) -> Job:
        """Two passes and a tree of merges."""
        m, depth = self.n_centers(n), math.ceil(math.log2(workers))
        size = m * self.summary_bytes + self.certificate_bytes
        merge = self.merge_seconds * (m / self.centers[-1]) ** 2 + size / NETWORK
        return Job(m, depth, size, 2 * self.pass_seconds(n / workers), depth * merge)


@dataclass(frozen=True)
class Job:
    """What a job takes: centers, depth of the tree, bytes of a summary, seconds."""

    n_centers: float
    depth: int
    summary_bytes: float
    pass_seconds: float
    merge_seconds: float

    @property
    def seconds(self) -> float:
        """From the first row to the last merge."""
        return self.pass_seconds + self.merge_seconds
