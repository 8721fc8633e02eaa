"""Data, kernels and dense matrices for testing bounds."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from rskpca import Gaussian, Laplacian, RadialKernel, ReducedSet, ShadowDensity
from rskpca._core import reference

# The slope of 1 / (1 + u^2) is largest at u = 1 / sqrt(3).
CAUCHY = RadialKernel(lambda s: 1 / (1 + s), 2, 1.0, lipschitz=3 * np.sqrt(3) / 8)
QUARTER = RadialKernel(
    lambda s: 0.25 * np.exp(-s), 2, 1.0, lipschitz=0.25 * np.sqrt(2 / np.e), monotone=True
)
STEEP = RadialKernel(lambda s: 3 * np.exp(-s), 1, 1.0, lipschitz=3.0, monotone=True)
KERNELS = [Gaussian(1.0), Laplacian(1.0), CAUCHY, QUARTER, STEEP]
IDS = ["Gaussian", "Laplacian", "Cauchy", "Gaussian / 4", "3 Laplacian"]
ROUNDING = 3e-7  # error of a measured value due to cancellation

kernels = st.sampled_from(KERNELS)
ells = st.floats(0.3, 20.0)


@st.composite
def quantized(draw):
    """Draw points around random centers, displaced in various directions within a radius."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    d, m = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    radius = draw(st.floats(1e-3, 3.0))
    centers = rng.normal(scale=draw(st.sampled_from([0.3, 1.0, 5.0])), size=(m, d))
    labels = np.concatenate([np.arange(m), rng.integers(m, size=draw(st.integers(0, 20)))])
    directions = rng.normal(size=(len(labels), d))
    if draw(st.booleans()):  # all outward, the worst case for distances
        directions = centers[labels] + 1e-12
    directions /= np.linalg.norm(directions, axis=1, keepdims=True) + 1e-300
    lengths = radius * (1.0 if draw(st.booleans()) else rng.random((len(labels), 1)))
    return centers, labels, lengths * directions, radius


def reduced_set(centers, labels, moved, radius):
    """Return the data and the reduced set with the sums that a cover computes."""
    lengths = np.linalg.norm(moved, axis=1)
    count = lambda values: np.bincount(labels, values, minlength=len(centers))  # noqa: E731
    sums = {"displacement": count(lengths), "scatter": count(lengths**2)}
    weights = count(np.ones(len(labels)))
    return centers[labels] + moved, ReducedSet(centers, weights, max(radius, lengths.max()), **sums)


def shadow(kernel, X, ell):
    density = ShadowDensity(kernel, ell).fit(X)
    return density.reduced_set_, density.labels_


def matrix(kernel, X, Y):
    """Return the dense matrix k(X, Y)."""
    return kernel.profile(
        (reference.pairwise_squared_distances(X, Y) / kernel.bandwidth**2) ** (kernel.power / 2)
    )


def centering(n):
    return np.eye(n) - 1 / n


def operator_error(kernel, X, Y, center):
    """Return ||C_X - C_Y||_HS for two sets of n points, from the 2n x 2n Gram matrix."""
    n = len(X)
    H = centering(n) if center else np.eye(n)
    both = np.concatenate([X, Y])
    signed = np.block([[H, np.zeros((n, n))], [np.zeros((n, n)), -H]]) / n
    product = matrix(kernel, both, both) @ signed
    return np.sqrt(max(np.trace(product @ product), 0.0))
