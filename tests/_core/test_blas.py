"""Products that exploit the structure of a matrix."""

import numpy as np
import pytest

from rskpca._core import blas


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize(("n_rows", "size"), [(1, 1), (5, 3), (3, 5), (200, 40)])
def test_the_upper_triangle_of_a_gram_matrix_is_added(rng, n_rows, size):
    rows, before = rng.normal(size=(n_rows, size)), rng.normal(size=(size, size))
    sums = before.copy()
    blas.add_gram(rows, sums)
    np.testing.assert_allclose(np.triu(sums), np.triu(before + rows.T @ rows), rtol=1e-12)
    np.testing.assert_array_equal(np.tril(sums, -1), np.tril(before, -1))


def test_a_matrix_is_mirrored_at_its_diagonal(rng):
    symmetric = rng.normal(size=(4, 4))
    symmetric += symmetric.T
    np.testing.assert_array_equal(blas.mirror(np.triu(symmetric)), symmetric)


@pytest.mark.parametrize(("n_rows", "size"), [(1, 1), (5, 3), (3, 5), (200, 40)])
def test_values_are_multiplied_by_a_triangular_matrix_in_place(rng, n_rows, size):
    values, columns = rng.normal(size=(n_rows, size)), np.triu(rng.normal(size=(size, size)))
    expected = values @ columns
    assert blas.times_upper_triangular(values, columns) is values
    np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("change", [np.asfortranarray, lambda rows: rows.astype(np.float32)])
def test_matrices_that_blas_would_misread_are_refused(rng, change):
    with pytest.raises(ValueError, match="float64 matrices that are stored by rows"):
        blas.add_gram(change(rng.normal(size=(5, 3))), np.zeros((3, 3)))
