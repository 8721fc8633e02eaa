"""Test random-walk embeddings with a basis."""

import numpy as np
import pytest

from rskpca import DiffusionMaps, LaplacianEigenmaps, NormalizedCut, ReducedSet, ShadowDensity
from tests import datasets
from tests.embedding.invariants import ReducedSetInvariants
from tests.states import fitted_state

WALKS = [DiffusionMaps, LaplacianEigenmaps, NormalizedCut]


class TestInvariants(ReducedSetInvariants):
    def make(self, n_components=4, **parameters):
        return DiffusionMaps(n_components, basis=0.8, **parameters)


def roll(n=1200, seed=0):
    rng = np.random.default_rng(seed)
    angle = 1.5 * np.pi * (1 + 2 * rng.random(n))
    return np.column_stack([angle * np.cos(angle), 21 * rng.random(n), angle * np.sin(angle)])


@pytest.mark.parametrize("walk", WALKS)
def test_using_all_centers_as_the_basis_has_no_effect(walk):
    X, new = roll(), roll(200, seed=1)
    plain = walk(4, bandwidth=3.0, ell=2.0).fit(X)
    model = walk(4, bandwidth=3.0, ell=2.0, basis=1.0).fit(X)
    scale = np.abs(plain.transform(X)).max()
    for points in (X, new):
        np.testing.assert_allclose(
            model.transform(points), plain.transform(points), atol=1e-6 * scale
        )
    np.testing.assert_array_equal(model.eigenvalues_, plain.eigenvalues_)
    np.testing.assert_array_equal(model.eigenvectors_, plain.eigenvectors_)


@pytest.mark.parametrize("walk", WALKS)
@pytest.mark.parametrize("options", [{"bandwidth": 6.0}, {"bandwidth": 6.0, "kernel": "laplacian"}])
def test_an_automatic_basis_is_small_and_accurate(walk, options):
    X, new = roll(), roll(200, seed=1)
    plain = walk(3, **options).fit(X)
    model = walk(3, basis="auto", **options).fit(X)
    assert len(model.basis_) < 0.7 * plain.n_centers_
    Z, exact = model.transform(new), plain.transform(new)
    assert np.linalg.norm(Z - exact) < 0.03 * np.linalg.norm(exact)


@pytest.mark.parametrize("walk", WALKS)
def test_an_automatic_basis_of_all_centers_has_no_effect(walk):
    X, options = roll(), {"bandwidth": 3.0, "ell": 20.0}
    plain = walk(4, **options).fit(X)
    model = walk(4, basis="auto", **options).fit(X)
    assert len(model.basis_) == plain.n_centers_ > 1000
    np.testing.assert_array_equal(model.transform(X), plain.transform(X))


def test_the_error_decreases_with_more_basis_points():
    X = roll()
    plain = DiffusionMaps(3, bandwidth=5.0).fit(X)
    exact = plain.transform(X)
    errors = [
        np.linalg.norm(DiffusionMaps(3, bandwidth=5.0, basis=b).fit(X).transform(X) - exact)
        for b in (40, 80, 160)
    ]
    assert errors[0] > 2 * errors[1] > 4 * errors[2]


@pytest.mark.parametrize("walk", WALKS)
def test_integer_weights_are_equivalent_to_repeated_rows(walk):
    X = datasets.blobs(200, 3)
    w = np.random.default_rng(0).integers(0, 4, 200)
    model = walk(3, bandwidth=4.0, basis=20)
    weighted = model.fit(X, sample_weight=w).transform(X)
    repeated = model.fit(np.repeat(X, w, axis=0)).transform(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-8)


def test_a_stream_can_continue_with_a_basis():
    X = roll()
    whole = LaplacianEigenmaps(2, bandwidth=5.0, basis=60).fit(X)
    stream = LaplacianEigenmaps(2, bandwidth=5.0, basis=60).fit(X[:500])
    stream.transform(X)
    stream.partial_fit(X[500:])
    np.testing.assert_array_equal(stream.basis_, whole.basis_)
    np.testing.assert_allclose(stream.transform(X), whole.transform(X), atol=1e-10)


def test_a_basis_preserves_the_clusters():
    X = datasets.blobs(400, 3)
    plain = NormalizedCut(4, bandwidth=3.0).fit(X)
    model = NormalizedCut(4, bandwidth=3.0, basis=ShadowDensity(ell=1.5)).fit(X)
    assert len(model.basis_) < 0.7 * model.n_centers_
    assert np.mean(model.predict(X) == plain.predict(X)) > 0.99


@pytest.mark.parametrize("walk", [LaplacianEigenmaps, NormalizedCut])
def test_a_basis_cannot_be_combined_with_a_graph(walk):
    with pytest.raises(ValueError, match=r"basis=20 requires the full kernel, but graph=5"):
        walk(2, basis=20, graph=5).fit(datasets.blobs(100, 3))


@pytest.mark.parametrize("walk", WALKS)
def test_invalid_values_are_reported(walk):
    with pytest.raises(ValueError, match="basis must be an integer of at least 1, got 0"):
        walk(2, basis=0).fit(datasets.blobs(100, 3))


# ------------------------------------------------------------------ changes after fit


@pytest.mark.parametrize("walk", WALKS)
def test_a_fit_that_fails_while_selecting_the_basis_leaves_the_model_unchanged(walk):
    X = datasets.blobs(100, 3)
    model = walk(2, bandwidth=4.0).fit(X)
    before, Z = fitted_state(model), model.transform(X)
    model.set_params(basis=ReducedSet(np.ones((2, 5)), np.ones(2)))
    with pytest.raises(ValueError, match="features"):
        model.fit(X + 100)
    assert fitted_state(model) == before
    np.testing.assert_array_equal(model.set_params(basis=None).transform(X), Z)


@pytest.mark.parametrize("walk", WALKS)
@pytest.mark.parametrize("basis", [None, 30])
@pytest.mark.parametrize("count", [1, 5])
def test_changing_the_number_of_components_takes_effect_at_the_next_update(walk, basis, count):
    X = datasets.blobs(100, 3)
    model = walk(2, bandwidth=4.0, basis=basis).fit(X)
    Z = model.transform(X)
    size = "n_clusters" if walk is NormalizedCut else "n_components"
    model.set_params(**{size: count})
    np.testing.assert_array_equal(model.transform(X), Z)
    assert model.eigenvalues_.shape == (2,)
    model.partial_fit(X[:10])
    assert model.transform(X).shape == (100, count)
