"""Test NormalizedCut against scikit-learn's SpectralClustering of the quantized data."""

from functools import partial

import numpy as np
import pytest
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from rskpca import Gaussian, KMeansDensity, NormalizedCut, ShadowDensity
from rskpca.model import FittedModel
from tests import datasets, dense
from tests.embedding import walks
from tests.embedding.invariants import EmbeddingInvariants
from tests.embedding.walks import quantized, split

WAYS = ["kmeans", "discretize", "cluster_qr"]


class TestInvariants(EmbeddingInvariants):
    def make(self, n_components=4, **parameters):
        return NormalizedCut(n_components, **parameters)


def rings(n, seed=0):
    """Return points on two rings and a separate bar, and their labels."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(3, size=n)
    angles = rng.uniform(0, 2 * np.pi, n)
    radii = np.where(kind == 0, 1.0, 3.0)
    X = radii[:, None] * datasets.on_circle(angles)
    X[kind == 2] = np.column_stack([rng.uniform(-4, 4, n), np.full(n, 6.0)])[kind == 2]
    return X + 0.1 * rng.normal(size=(n, 2)), kind


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ell", [2.5, 4.0, np.inf])
def test_separated_clusters_are_found_and_predicted(way, ell):
    X, kind = rings(600)
    new, new_kind = rings(300, seed=1)
    model = NormalizedCut(3, bandwidth=0.8, ell=ell, assign_labels=way).fit(X)
    assert adjusted_rand_score(model.labels_, kind) == 1.0
    assert adjusted_rand_score(model.predict(new), new_kind) == 1.0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ell", [4.0, np.inf])
def test_labels_agree_with_scikit_learn(way, ell):
    X, _ = rings(400)
    model = NormalizedCut(3, bandwidth=0.8, ell=ell, assign_labels=way).fit(X)
    theirs = SpectralClustering(
        3, affinity="precomputed", assign_labels=way, random_state=0, eigen_solver="lobpcg"
    )
    rows = quantized(model)
    assert adjusted_rand_score(theirs.fit_predict(model.kernel_(rows)), model.labels_) == 1.0


@pytest.mark.parametrize("way", WAYS)
def test_labels_agree_with_scikit_learn_for_touching_clusters(way):
    """Only labels of border points may differ, because the label assignment starts at random.

    At ``bandwidth=70``, "discretize" stops at different local optima.
    """
    X, bandwidth = split("digits")[0], 35.0
    model = NormalizedCut(3, bandwidth=bandwidth, ell=np.inf, assign_labels=way).fit(X)
    theirs = SpectralClustering(3, gamma=bandwidth**-2, assign_labels=way, random_state=0).fit(X)
    assert adjusted_rand_score(theirs.labels_, model.labels_) > 0.98


def test_labels_agree_with_scikit_learn_if_the_second_eigenvalue_is_negative():
    X = np.array([[0.0], [0.1], [5.0]])
    model = NormalizedCut(2, gamma=1.0, ell=np.inf).fit(X)
    assert model.eigenvalues_[1] < 0
    theirs = SpectralClustering(2, gamma=1.0, random_state=0).fit(X)
    assert adjusted_rand_score(theirs.labels_, model.labels_) == 1.0
    np.testing.assert_array_equal(model.predict([[0.03], [4.0], [1e4]]), [0, 1, 1])


@pytest.mark.parametrize("name", walks.DATA)
@pytest.mark.parametrize("self_affinity", [False, True])
def test_eigenfunctions_equal_those_of_the_quantized_data(name, self_affinity):
    X, _, bandwidth = split(name)
    model = NormalizedCut(7, bandwidth=bandwidth, self_affinity=self_affinity).fit(X)
    exact = dense.Markov(Gaussian(bandwidth), quantized(model), 6, self_affinity=self_affinity)
    assert model.eigenvalues_[0] == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(model.eigenvalues_[1:], exact.eigenvalues, atol=1e-10)
    Z = model.transform(exact.X)
    np.testing.assert_allclose(Z[:, 0], exact.degrees.sum() ** -0.5, rtol=1e-9)
    walks.assert_equal(Z[:, 1:], exact.functions, exact)


# ----------------------------------------------------------------------------- labels


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_labels_and_predictions_match_the_clusters_of_the_centers(way, dtype):
    X = datasets.blobs(400, 3, dtype=dtype)
    model = NormalizedCut(4, bandwidth=2.0, assign_labels=way).fit(X)
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    np.testing.assert_array_equal(model.predict(model.reduced_set_.centers), model.center_labels_)
    assert model.labels_.shape == (400,)
    assert set(model.labels_) == set(range(4))
    np.testing.assert_array_equal(
        NormalizedCut(4, bandwidth=2.0, assign_labels=way).fit_predict(X), model.labels_
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ell", [3.0, np.inf])
def test_integer_weights_are_equivalent_to_repeated_rows(way, ell):
    X, _ = rings(300)
    weights = np.random.default_rng(0).integers(1, 4, size=300)
    one, other = (NormalizedCut(3, bandwidth=0.8, ell=ell, assign_labels=way) for _ in range(2))
    one.fit(X, sample_weight=weights)
    other.fit(np.repeat(X, weights, axis=0))
    assert adjusted_rand_score(np.repeat(one.labels_, weights), other.labels_) == 1.0


def test_rows_with_zero_weight_have_no_cluster():
    X, _ = rings(100)
    weights = np.ones(100)
    weights[:5] = 0
    labels = NormalizedCut(3, bandwidth=0.8).fit_predict(X, sample_weight=weights)
    np.testing.assert_array_equal(labels[:5], -1)
    assert labels[5:].min() == 0


def test_labels_after_a_chunk_refer_to_the_rows_of_that_chunk():
    X, kind = rings(600)
    model = NormalizedCut(3, bandwidth=0.8).fit(X[:300])
    model.partial_fit(X[300:])
    assert model.labels_.shape == (300,)
    assert adjusted_rand_score(model.labels_, kind[300:]) == 1.0
    whole = NormalizedCut(3, bandwidth=0.8).fit(X)
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))
    model.forget(X[:10])
    assert not hasattr(model, "labels_")
    with pytest.raises(AttributeError, match=r"not available after forget.*Use predict"):
        model.labels_  # noqa: B018
    assert model.predict(X[:3]).shape == (3,)


def test_distant_points_are_assigned_to_the_nearest_cluster():
    """Ratios of kernel values remain accurate where the kernel is small but nonzero."""
    X, kind = rings(400)
    model = NormalizedCut(3, bandwidth=0.8).fit(X)
    outer = model.labels_[kind == 1][0]
    around = 12 * datasets.on_circle(np.linspace(np.pi, 2 * np.pi, 50))
    np.testing.assert_array_equal(model.predict(around), outer)


def test_predict_does_not_modify_the_model():
    from tests.states import fitted_state

    X, _ = rings(200)
    model = NormalizedCut(3, bandwidth=0.8).fit(X)
    before = fitted_state(model)
    model.predict(X)
    assert fitted_state(model) == before


def test_a_point_far_from_all_centers_is_assigned_to_the_nearest_cluster():
    X, kind = rings(400)
    model = NormalizedCut(3, bandwidth=0.8).fit(X)
    bar = model.labels_[kind == 2][0]
    np.testing.assert_array_equal(model.predict([[0.0, 1e4], [50.0, 1e3]]), bar)


@pytest.mark.parametrize("graph", [10, 1.5])
def test_a_neighbor_graph_gives_the_same_clusters(graph):
    X, kind = rings(600)
    model = NormalizedCut(3, bandwidth=0.8, graph=graph).fit(X)
    assert adjusted_rand_score(model.labels_, kind) == 1.0
    np.testing.assert_array_equal(model.predict(model.reduced_set_.centers), model.center_labels_)


# -------------------------------------------------------------------------- invalid input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "n_clusters must be an integer of at least 1, got 0"),
        ({"n_clusters": None}, "n_clusters must be"),
        (
            {"n_clusters": "all"},
            "n_clusters must be an integer of at least 1, or \"auto\", got 'all'",
        ),
        ({"n_clusters": 51}, "n_clusters must be at most 50"),
        ({"self_affinity": None}, "self_affinity must be"),
        (
            {"assign_labels": "best"},
            'assign_labels must be one of "kmeans", "discretize", "cluster_qr", got \'best\'',
        ),
    ],
)
def test_invalid_parameters_are_reported(parameters, message):
    parameters = {"bandwidth": 2.0, "ell": np.inf, **parameters}
    with pytest.raises(ValueError, match=message):
        NormalizedCut(**parameters).fit(datasets.blobs(50, 2))


def test_more_pieces_than_clusters_are_reported_with_a_sufficient_bandwidth():
    X = datasets.blobs(100, 2)
    X = np.concatenate([X + np.array(shift) for shift in ([0, 0], [1e3, 0], [0, 2e3])])
    with pytest.warns(UserWarning, match="at least 3 pieces") as record:
        NormalizedCut(2, bandwidth=2.0).fit(X)
    bandwidth = float(str(record[0].message).split("bandwidth=")[1].split()[0])
    assert 900 < bandwidth < 1000
    NormalizedCut(3, bandwidth=2.0).fit(X)  # no warning with one cluster per piece


BORDERS = {
    "uniform": (lambda: np.random.default_rng(0).uniform(size=(1000, 2)), 0.15, 4),
    "blobs": (lambda: make_blobs(1000, 2, centers=5, cluster_std=1.5, random_state=2)[0], 1.0, 5),
    "moons": (lambda: make_moons(1000, noise=0.2, random_state=0)[0], 0.2, 3),
    "digits": (lambda: datasets.load("digits", 3), 40.0, 6),
}


@pytest.mark.parametrize("options", [{}, {"graph": 20}, {"basis": 0.5}], ids=str)
@pytest.mark.parametrize("way", ["kmeans", "discretize", "cluster_qr"])
@pytest.mark.parametrize("name", BORDERS)
def test_labels_from_fit_equal_those_from_predict(name, way, options):
    load, bandwidth, n_clusters = BORDERS[name]
    X = load()
    model = NormalizedCut(n_clusters, bandwidth=bandwidth, assign_labels=way, **options).fit(X)
    np.testing.assert_array_equal(model.labels_, model.predict(X))


def test_some_rows_near_a_border_differ_in_label_from_their_center():
    load, bandwidth, n_clusters = BORDERS["uniform"]
    model = NormalizedCut(n_clusters, bandwidth=bandwidth).fit(load())
    differ = model.labels_ != model.center_labels_[model.density_.labels_]
    assert 0 < differ.mean() < 0.1


def test_only_rows_near_a_border_are_evaluated(monkeypatch):
    X, _ = make_moons(2000, noise=0.05, random_state=0)
    evaluated = []
    labels = FittedModel.labels
    monkeypatch.setattr(
        FittedModel, "labels", lambda self, X: evaluated.append(len(X)) or labels(self, X)
    )
    NormalizedCut(2).fit(X)
    NormalizedCut(3).fit(X)
    assert len(evaluated) == 1  # two moons have no border, three clusters have one
    assert 0 < evaluated[0] < 400


@pytest.mark.parametrize("density", [KMeansDensity(40), ShadowDensity(ell=1.0)], ids=str)
def test_labels_of_rows_far_from_their_centers_equal_those_from_predict(density):
    X = BORDERS["uniform"][0]()
    model = NormalizedCut(4, bandwidth=0.15, density=density).fit(X)
    np.testing.assert_array_equal(model.labels_, model.predict(X))


@pytest.mark.parametrize("n", [1000, 5000])
@pytest.mark.parametrize("make", [make_moons, partial(make_circles, factor=0.5)])
def test_the_default_bandwidth_separates_moons_and_circles(make, n):
    X, kind = make(n, noise=0.05, random_state=1)
    assert adjusted_rand_score(NormalizedCut(2).fit(X).labels_, kind) == 1.0


def test_the_default_bandwidth_separates_blobs():
    X, kind = make_blobs(3000, 4, centers=4, cluster_std=0.5, random_state=5)
    assert adjusted_rand_score(NormalizedCut(4).fit(X).labels_, kind) == 1.0


@pytest.mark.parametrize(
    ("make", "count"),
    [
        (partial(make_moons, 1500, noise=0.05, random_state=0), 2),
        (partial(make_circles, 1500, noise=0.05, factor=0.5, random_state=0), 2),
        (partial(make_blobs, 1500, n_features=3, centers=5, random_state=3), 5),
        (partial(rings, 1500), 3),
    ],
    ids=["moons", "circles", "blobs", "rings"],
)
def test_the_number_of_clusters_is_found_automatically(make, count):
    X, labels = make()
    model = NormalizedCut("auto").fit(X)
    assert model.n_clusters_ == len(model.eigenvalues_) == count
    assert adjusted_rand_score(labels, model.labels_) > 0.99
    given = NormalizedCut(count).fit(X)
    np.testing.assert_array_equal(model.predict(X), given.predict(X))
    assert given.n_clusters_ == count


@pytest.mark.parametrize("n_features", [1, 2])
def test_a_single_cluster_has_no_eigengap(n_features):
    X = np.random.default_rng(0).uniform(size=(1500, n_features))
    with pytest.raises(ValueError, match=r"no two consecutive .* Set n_clusters to a number"):
        NormalizedCut("auto").fit(X)


def test_an_eigengap_that_the_row_sample_does_not_confirm_is_rejected():
    X, _ = rings(1500)
    density = ShadowDensity(ell=4.0, sample_size=30)  # too few rows to connect the rings
    with pytest.raises(ValueError, match=r"does not occur in the sample\. Set n_clusters="):
        NormalizedCut("auto", density=density).fit(X)
    assert NormalizedCut("auto", ell=np.inf).fit(X[:600]).n_clusters_ == 3


def test_integer_weights_and_repeated_rows_give_the_same_number_of_clusters():
    X, _ = rings(900)
    counts = np.random.default_rng(0).integers(1, 4, size=900)
    weighted = NormalizedCut("auto", bandwidth=0.5).fit(X, sample_weight=counts)
    repeated = NormalizedCut("auto", bandwidth=0.5).fit(np.repeat(X, counts, axis=0))
    assert weighted.n_clusters_ == repeated.n_clusters_ == 3
