"""First-order changes of the errors of a model."""

import numpy as np
import pytest

from rskpca.certificate.lanczos import Blocks, Solution

N_AXES = 5


def blocks(T: np.ndarray, offsets: np.ndarray) -> Blocks:
    """Return the blocks of an operator; the axes are the first unit vectors."""
    f = T[..., N_AXES:, :N_AXES]
    S = np.swapaxes(f, -1, -2) @ f
    moments = [S, np.swapaxes(f, -1, -2) @ T[..., N_AXES:, N_AXES:] @ f]
    return Blocks(T[..., :N_AXES, :N_AXES], moments, offsets, [f], [])


def operators(step: float) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Return an operator and the offsets, and three others that differ by ``step``."""
    rng = np.random.default_rng(0)
    T = np.diag([1.0, 0.7, 0.5, 0.3, 0.2, *np.linspace(0.15, 0.01, 8)])
    turned = np.linalg.qr(np.eye(len(T)) + 0.1 * rng.normal(size=T.shape))[0]
    T = turned @ T @ turned.T
    changes = rng.normal(size=(3, *T.shape))
    offsets = 0.05 * rng.normal(size=N_AXES)
    others = T + step * (changes + np.swapaxes(changes, 1, 2))
    return (T, offsets), (others, offsets + step * rng.normal(size=(3, N_AXES)))


@pytest.mark.parametrize("largest", [1.0, 0.13])  # the second one limits D
def test_changes_agree_with_other_solutions_to_first_order(largest):
    differences = []
    for step in (1e-4, 1e-5):
        one, others = operators(step)
        whole, near = Solution.near(blocks(*one), blocks(*others), largest, 2)
        exact = Solution.of(blocks(*others), largest, 2, detailed=False)
        expected = Solution.of(blocks(*one), largest, 2, detailed=False)
        np.testing.assert_allclose(whole.squares, expected.squares, rtol=1e-10)
        np.testing.assert_allclose(whole.eigenvalues, expected.eigenvalues, rtol=1e-10)
        assert near.sizes == exact.sizes == [2]
        assert np.abs(exact.squares - whole.squares).min() > step * 1e-3
        differences.append(
            (np.abs(near.squares - exact.squares).max(),
             np.abs(near.eigenvalues - exact.eigenvalues).max())
        )  # fmt: skip
    np.testing.assert_array_less(differences[1], 0.02 * np.array(differences[0]))


def test_vectors_that_vanish_are_ignored():
    T, offsets = operators(0.0)[0]
    T[N_AXES:, :N_AXES] = T[:N_AXES, N_AXES:] = 0
    whole, near = Solution.near(blocks(T, offsets), blocks(T[None], offsets[None]), 1.0, 2)
    np.testing.assert_allclose(near.squares[0], whole.squares)
    np.testing.assert_allclose(near.eigenvalues[0], whole.eigenvalues)
