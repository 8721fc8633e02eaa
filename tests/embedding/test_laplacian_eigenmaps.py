"""Test LaplacianEigenmaps against dense algebra and scikit-learn's SpectralEmbedding."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.datasets import make_swiss_roll
from sklearn.manifold import SpectralEmbedding

from rskpca import Gaussian, LaplacianEigenmaps
from tests import datasets, dense
from tests.embedding import walks
from tests.embedding.invariants import EmbeddingInvariants
from tests.embedding.walks import N_COMPONENTS, quantized, split


class TestInvariants(EmbeddingInvariants):
    def make(self, n_components=4, **parameters):
        return LaplacianEigenmaps(n_components, **parameters)


class TestInvariantsOnAGraph(EmbeddingInvariants):
    def make(self, n_components=4, **parameters):
        return LaplacianEigenmaps(n_components, graph=40, **parameters)


@pytest.mark.parametrize("name", walks.DATA)
@pytest.mark.parametrize("self_affinity", [False, True])
@pytest.mark.parametrize("ell", [2.5, 4.0, np.inf])
def test_the_result_equals_laplacian_eigenmaps_of_the_quantized_data(name, self_affinity, ell):
    X, new, bandwidth = split(name)
    model = LaplacianEigenmaps(
        N_COMPONENTS, bandwidth=bandwidth, ell=ell, self_affinity=self_affinity
    ).fit(X)
    exact = dense.Markov(
        Gaussian(bandwidth), quantized(model), N_COMPONENTS, self_affinity=self_affinity
    )
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues, atol=1e-10)
    walks.assert_equal(model.transform(exact.X), exact.functions, exact)
    if self_affinity:
        walks.assert_equal(model.transform(new), exact.extend(new), exact)


@pytest.mark.parametrize("name", walks.DATA)
def test_results_with_an_infinite_ell_equal_those_of_scikit_learn(name):
    """Signs and scale also agree."""
    X, _, bandwidth = split(name)
    theirs = SpectralEmbedding(3, affinity="rbf", gamma=1 / bandwidth**2, random_state=0)
    ours = LaplacianEigenmaps(3, gamma=1 / bandwidth**2, ell=np.inf)
    expected = theirs.fit_transform(X)
    np.testing.assert_allclose(
        ours.fit_transform(X), expected, atol=1e-8 * np.abs(expected).max(), rtol=0
    )


@pytest.mark.parametrize("graph", [None, 1e3])
def test_components_with_negative_eigenvalues_equal_those_from_scikit_learn(graph):
    """Signs and scale also agree beyond the positive eigenvalues."""
    X = np.random.default_rng(0).normal(size=(40, 2))
    theirs = SpectralEmbedding(30, affinity="rbf", gamma=1.0, random_state=0)
    model = LaplacianEigenmaps(30, gamma=1.0, ell=np.inf, graph=graph).fit(X)
    assert 5 < np.count_nonzero(model.eigenvalues_ < 0) < 25
    expected = theirs.fit_transform(X)
    np.testing.assert_allclose(
        model.transform(X), expected, atol=1e-8 * np.abs(expected).max(), rtol=0
    )


def test_components_with_negative_eigenvalues_use_the_nearest_center():
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = LaplacianEigenmaps(30, gamma=1.0, ell=np.inf).fit(X)
    new = X + 1e-3
    negative = model.eigenvalues_ < 0
    Z = model.transform(new)
    np.testing.assert_array_equal(Z[:, negative], model.eigensystem_.functions[:, negative])
    with pytest.warns(UserWarning, match="1 of 1 rows have coordinates 0"):
        np.testing.assert_array_equal(model.transform([[1e5, 0.0]]), 0)


def test_negative_eigenvalues_are_supported_with_a_basis():
    X = np.random.default_rng(0).normal(size=(40, 2))
    plain, model = (
        LaplacianEigenmaps(30, kernel="laplacian", bandwidth=0.5, ell=np.inf, basis=b).fit(X)
        for b in (None, 1.0)
    )
    assert plain.eigenvalues_[-1] < 0
    new = X[:20] + 0.01
    np.testing.assert_allclose(model.transform(new), plain.transform(new), atol=1e-7)


def test_the_result_equals_that_of_scikit_learn_on_the_quantized_data():
    X, _, bandwidth = split("digits")
    ours = LaplacianEigenmaps(3, bandwidth=bandwidth, ell=4.0).fit(X)
    theirs = SpectralEmbedding(3, affinity="rbf", gamma=1 / bandwidth**2, random_state=0)
    expected = theirs.fit_transform(quantized(ours))
    Z = ours.transform(quantized(ours))
    np.testing.assert_allclose(Z, expected, atol=1e-8 * np.abs(expected).max(), rtol=0)


@pytest.mark.parametrize("ell", [3.0, np.inf])
def test_integer_weights_are_equivalent_to_repeated_rows(ell):
    X, new = datasets.blobs(300, 3), datasets.blobs(60, 3, seed=1)
    weights = np.random.default_rng(0).integers(0, 4, size=300)
    one, other = (LaplacianEigenmaps(3, bandwidth=4.0, ell=ell) for _ in range(2))
    one.fit(X, sample_weight=weights)
    other.fit(np.repeat(X, weights, axis=0))
    expected = other.transform(new)
    np.testing.assert_allclose(one.transform(new), expected, atol=1e-9 * np.abs(expected).max())


def test_new_points_are_embedded_like_fitted_points():
    """A model of half of the data embeds the other half like a model of all the data."""
    X, length = datasets.swiss_roll(4000)
    order = np.argsort(length[2000:])
    Z = LaplacianEigenmaps(1, bandwidth=2.0).fit(X[:2000]).transform(X[2000:])[order, 0]
    assert abs(np.corrcoef(np.argsort(np.argsort(Z)), np.arange(2000))[0, 1]) > 0.999


def test_isolated_centers_are_reported_with_the_bandwidth_that_connects_them():
    X = np.append(datasets.blobs(100, 2), [[1e3, 0.0], [0.0, 3e3]], axis=0)
    with pytest.warns(UserWarning, match="leave 2 centers isolated") as record:
        model = LaplacianEigenmaps(2, bandwidth=2.0).fit(X)
    bandwidth = float(str(record[0].message).split("bandwidth=")[1].split()[0])
    assert 2900 < bandwidth < 3100
    with pytest.warns(UserWarning, match="2 of 102 rows"):
        np.testing.assert_array_equal(model.transform(X)[-2:], 0)


@pytest.mark.parametrize("X", [[[0.0, 0.0]], [[0.0, 0.0], [1e3, 0.0]]])
def test_data_that_admit_no_random_walk_are_rejected(X):
    model = LaplacianEigenmaps(2, bandwidth=1.0).partial_fit(X)
    with pytest.raises(ValueError, match=f"All {len(X)} centers have zero affinity"):
        model.transform(X)


def test_self_affinity_must_be_a_boolean():
    with pytest.raises(ValueError, match="self_affinity must be True or False, got 1"):
        LaplacianEigenmaps(self_affinity=1).fit(datasets.blobs(50, 2))


# ------------------------------------------------------------------ neighbor graph


@pytest.mark.parametrize("name", walks.DATA)
@pytest.mark.parametrize("self_affinity", [False, True])
def test_a_graph_of_all_centers_equals_the_full_kernel(name, self_affinity):
    X, new, bandwidth = split(name)
    parameters = {"bandwidth": bandwidth, "self_affinity": self_affinity}
    full = LaplacianEigenmaps(3, **parameters).fit(X)
    expected = full.transform(new)
    for graph in (1e4, 10**6):
        Z = LaplacianEigenmaps(3, graph=graph, **parameters).fit(X).transform(new)
        np.testing.assert_allclose(Z, expected, atol=1e-8 * np.abs(expected).max(), rtol=0)


@pytest.mark.parametrize("graph", [12, 5.0])
def test_results_on_a_graph_equal_the_scikit_learn_embedding_of_its_affinities(graph):
    X = datasets.swiss_roll(900)[0]
    model = LaplacianEigenmaps(3, bandwidth=3.0, ell=np.inf, graph=graph).fit(X)
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    reach = np.sort(distances, axis=1)[:, 11] if graph == 12 else np.full(900, graph)
    near = distances <= np.maximum.outer(reach, reach)
    theirs = SpectralEmbedding(3, affinity="precomputed", random_state=0)
    expected = theirs.fit_transform(model.kernel_(X) * near)
    np.testing.assert_allclose(
        model.transform(X), expected, atol=1e-8 * np.abs(expected).max(), rtol=0
    )


@pytest.mark.parametrize("graph", [12, 6.0])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_extension_on_a_graph_is_exact_at_the_centers(graph, dtype):
    X = datasets.swiss_roll(2000)[0].astype(dtype)
    model = LaplacianEigenmaps(3, bandwidth=4.0, graph=graph).fit(X)
    functions = model.eigensystem_.functions
    Z = model.transform(model.reduced_set_.centers)
    tolerance = 100 * np.finfo(dtype).eps * np.abs(functions).max()
    np.testing.assert_allclose(Z, functions, atol=tolerance, rtol=0)


def test_a_disconnected_neighbor_graph_is_reported_with_the_cut_off_that_connects_it():
    X = datasets.blobs(100, 2)
    X = np.concatenate([X, X + 50.0])
    with pytest.warns(UserWarning, match="2 pieces") as record:
        LaplacianEigenmaps(2, bandwidth=20.0, ell=20.0, graph=5).fit(X)
    words = str(record[0].message).split()
    change = dict(word.split("=") for word in words if "=" in word)
    assert set(change) == {"bandwidth", "graph"}
    LaplacianEigenmaps(1, **{name: float(value) for name, value in change.items()}).fit(X)


def test_points_beyond_the_cut_off_are_reported():
    model = LaplacianEigenmaps(2, bandwidth=4.0, graph=10.0).fit(datasets.blobs(200, 2))
    with pytest.warns(UserWarning, match="1 of 1 rows .* larger cutoff"):
        np.testing.assert_array_equal(model.transform([[0.0, 30.0]]), 0)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (1, "graph must be at least 2 .* got 1"),
        (-1.0, "graph must be a positive, finite number, got -1.0"),
        ("knn", "graph must be"),
        (True, "graph must be"),
        (np.inf, "graph must be"),
    ],
)
def test_an_invalid_graph_is_reported(graph, message):
    with pytest.raises(ValueError, match=message):
        LaplacianEigenmaps(graph=graph).fit(datasets.blobs(50, 2))


def test_the_default_bandwidth_recovers_the_arc_length_of_a_swiss_roll():
    X, angle = make_swiss_roll(4000, random_state=2)
    length = angle * np.sqrt(1 + angle**2) + np.arcsinh(angle)
    found = LaplacianEigenmaps(1).fit(X).transform(X)[:, 0]
    assert abs(spearmanr(found, length).statistic) > 0.99
