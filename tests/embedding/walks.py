"""Data for comparing random walks with dense linear algebra."""

from functools import cache

import numpy as np

from tests import datasets, dense

N_COMPONENTS = 6
DATA = {
    "digits": (lambda: datasets.load("digits", step=3), 70.0),
    "breast cancer": (lambda: datasets.load("breast cancer"), 6.0),
    "swiss roll": (lambda: datasets.swiss_roll(800)[0], 4.0),
}


@cache
def split(name):
    """Return training rows, new rows and the bandwidth."""
    load, bandwidth = DATA[name]
    X = load()
    return X[: int(0.8 * len(X))], X[int(0.8 * len(X)) :], bandwidth


def quantized(model):
    return model.reduced_set_.centers[model.density_.labels_]


def assert_equal(Z, expected, exact, tolerance=1e-8):
    """Compare separated components up to sign, and the leading ones by their inner products."""
    columns = exact.separated()
    assert len(columns) >= 3
    dense.assert_equal_up_to_sign(Z[:, columns], expected[:, columns], tolerance)
    upto = columns[-1] + 1
    products, others = Z[:, :upto] @ Z[:, :upto].T, expected[:, :upto] @ expected[:, :upto].T
    assert np.abs(products - others).max() < tolerance * np.abs(others).max()
