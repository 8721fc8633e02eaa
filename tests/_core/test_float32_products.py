"""Test float32 kernel values and sums against the float64 reference, with bounds on rounding.

If rounding errors are independent, those of a sum of d products are at most about sqrt(d) unit
roundoffs, relative to the product of the norms (Higham and Mary, 2019). In units of the bandwidth,
||x - c||^2 = ||x||^2 + ||c||^2 - 2 <x', c'>: the projection x' of a row consists of sums of d
products, and <x', c'> is a sum of p products, where p is the dimension of the subspace.
"""

import numpy as np
import pytest

from rskpca import Gaussian, Laplacian
from rskpca._core import gram, reference
from rskpca._core.subspace import Subspace
from tests import datasets

N_ROWS, N_FEATURES, N_AXES, N_CENTERS = 700, 200, 20, 30
UNIT = np.finfo(np.float32).eps / 2  # largest relative error of rounding to float32
KERNELS = {"gaussian": Gaussian(40.0), "laplacian": Laplacian(40.0)}
WEIGHTS = np.random.default_rng(2).uniform(0.5, 2.0, size=N_ROWS)


class Case:
    """Random rows and centers in a subspace, with kernel values in float64 and their bounds."""

    def __init__(self, kernel, shift):
        self.kernel = kernel
        self.X = (datasets.blobs(N_ROWS, N_FEATURES) + shift).astype(np.float32)
        self.subspace = Subspace.principal(self.double, np.ones(N_ROWS), N_AXES)
        spread = np.std(self.subspace.coordinates(self.double), axis=0)
        rng = np.random.default_rng(1)
        self.C = self.subspace.points(spread * rng.normal(size=(N_CENTERS, N_AXES)))

    @property
    def double(self):
        return self.X.astype(np.float64)

    def squares(self):
        """Return the squared distances of the reference, in units of the bandwidth."""
        C, (origin, axes) = self.C, (self.subspace.origin, self.subspace.axes)
        coordinates = self.subspace.coordinates(C)
        found = reference.subspace_squared_distances(self.double, coordinates, origin, axes)
        return found / self.kernel.scale**2

    def values(self):
        return self.kernel.evaluate(self.kernel.sign * self.squares())

    def square_bounds(self):
        """Return a bound on the rounding error of each squared distance."""
        sizes = [
            np.square((rows - self.subspace.origin) / self.kernel.scale).sum(axis=1)
            for rows in (self.double, self.C)
        ]
        factor = 1 + np.sqrt(N_AXES) + np.sqrt(N_FEATURES)
        return factor * UNIT * np.add.outer(*sizes)

    def bounds(self):
        """Return a bound on the rounding error of each kernel value."""
        squares, errors = self.squares(), self.square_bounds()
        if isinstance(self.kernel, Laplacian):  # exp(-distance) instead of exp(-distance^2)
            distances = np.sqrt(squares)
            errors = distances - np.sqrt(np.maximum(squares - errors, 0)) + UNIT * distances
        return self.values() * (np.expm1(errors) + 4 * UNIT)

    def prepared(self, dtype, rough):
        return gram.prepare(self.kernel, self.C, dtype, self.subspace, rough=rough)


@pytest.fixture(params=[(name, shift) for name in KERNELS for shift in (0.0, 1e3)], ids=str)
def case(request):
    name, shift = request.param
    return Case(KERNELS[name], shift)


def test_float32_kernel_values_equal_the_reference_up_to_rounding(case):
    centers = case.prepared(np.float32, rough=False)
    found = gram.product(case.kernel, case.X, centers, np.copy, N_CENTERS, dtype=np.float32)
    assert found.dtype == np.float32
    errors = np.abs(found - case.values())
    assert errors.max() > 1e-9
    assert (errors <= case.bounds()).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernel_values_of_rows_projected_in_float32_equal_the_reference_up_to_rounding(case, dtype):
    centers = case.prepared(np.float64, rough=dtype == np.float64)
    found = gram.product(case.kernel, case.X.astype(dtype), centers, np.copy, N_CENTERS)
    assert found.dtype == np.float64
    errors = np.abs(found - case.values())
    assert errors.max() > 1e-9
    assert (errors <= case.bounds()).all()


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["rows", "weights"])
def test_sums_of_float32_kernel_values_equal_the_reference_up_to_rounding(case, weights):
    first, second = gram.moments(case.kernel, case.X, weights, case.prepared(np.float32, False))
    w = np.ones(N_ROWS) if weights is None else weights
    expected = reference.moments(case.kernel, case.double, w, case.C, np.eye(N_CENTERS))
    K, E = case.values(), case.bounds()
    summing = (2 + np.sqrt(N_ROWS)) * UNIT  # products are rounded, then N_ROWS of them are added
    weighted = w[:, None] * (K + E)
    bounds = (
        w @ E + summing * expected[0],
        weighted.T @ (K + E) - expected[1] + summing * expected[1],
    )
    assert first.dtype == second.dtype == np.float64
    assert (np.abs(first - expected[0]) <= bounds[0]).all()
    assert (np.abs(second - expected[1]) <= bounds[1]).all()
