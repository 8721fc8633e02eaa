"""Cost model for more rows and more machines, based on measurements on one machine.

A job makes two passes over the rows, which are distributed over the workers: the first pass
computes covers, the second counts rows within the original radius. In between, a binary tree of
merges combines the summaries. A summary consists of the centers with their statistics and of the
row sample for the certificate, whose size is constant.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rskpca.density.forecast import extrapolate

from .datasets import Floats

NETWORK = 1e9 / 8  # bytes per second between two machines: gigabit Ethernet


@dataclass(frozen=True)
class Measured:
    """Measurements on one worker; with processor times, a worker is one core.

    Attributes
    ----------
    rows, centers, seconds : ndarray
        Number of rows and centers, and elapsed time, at several points in a stream.
    merge_seconds : float
        Time to merge two summaries with ``centers[-1]`` centers.
    summary_bytes : float
        Size of a summary per center.
    certificate_bytes : float
        Size of the row sample for the certificate.
    """

    rows: Floats
    centers: Floats
    seconds: Floats
    merge_seconds: float
    summary_bytes: float
    certificate_bytes: float

    def n_centers(self, n: float) -> float:
        """Extrapolate the number of centers to n rows."""
        return extrapolate(self.rows, self.centers, n)

    def pass_seconds(self, n: float) -> float:
        """Return the time of one pass, extrapolated at the speed of the second half."""
        if n <= self.rows[-1]:
            return float(np.interp(n, [0, *self.rows], [0, *self.seconds]))
        half = len(self.rows) // 2
        late = np.diff(self.seconds[half:]).sum() / np.diff(self.rows[half:]).sum()
        return float(self.seconds[-1] + late * (n - self.rows[-1]))

    def job(self, n: float, workers: int) -> Job:
        """Return the cost of two passes and a tree of merges."""
        m, depth = self.n_centers(n), math.ceil(math.log2(workers))
        size = m * self.summary_bytes + self.certificate_bytes
        merge = self.merge_seconds * (m / self.centers[-1]) ** 2 + size / NETWORK
        return Job(m, depth, size, 2 * self.pass_seconds(n / workers), depth * merge)


@dataclass(frozen=True)
class Job:
    """Cost of a job: centers, depth of the merge tree, size of a summary, and times."""

    n_centers: float
    depth: int
    summary_bytes: float
    pass_seconds: float
    merge_seconds: float

    @property
    def seconds(self) -> float:
        """Total time."""
        return self.pass_seconds + self.merge_seconds
