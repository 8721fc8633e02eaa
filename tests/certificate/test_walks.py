"""Test certificates of random walks against the exact walk on all rows."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs, make_moons, make_swiss_roll

from rskpca import DiffusionMaps, LaplacianEigenmaps, NormalizedCut, ShadowDensity
from rskpca.baselines.methods import embedding_error
from rskpca.certificate import Walk, WalkAnalysis
from rskpca.certificate.walks import normalized_cut
from rskpca.pairs import Estimate
from rskpca.row_sample import RowSample

CLASSES = [DiffusionMaps, LaplacianEigenmaps, NormalizedCut]
DATA = {
    "moons": (lambda n: make_moons(n, noise=0.05, random_state=0)[0], 0.3, 4),
    "blobs": (lambda n: make_blobs(n, 4, centers=4, random_state=1)[0], 2.5, 3),
    "swiss roll": (lambda n: make_swiss_roll(n, random_state=0)[0], 3.0, 2),
    "digits": (lambda n: load_digits().data[:n], 35.0, 3),
}


def fit(cls, name, n, **options):
    load, bandwidth, r = DATA[name]
    X, r = load(n), r + (cls is NormalizedCut)  # NormalizedCut counts the constant eigenfunction
    return X, cls(r, bandwidth=bandwidth, **{"ell": 3.0, **options}).fit(X)


def exact_of(model, X):
    size = model.get_params()[model._size_name]
    options = {"alpha": model.alpha} if isinstance(model, DiffusionMaps) else {}
    return type(model)(size, kernel=model.kernel_, ell=np.inf, **options).fit(X)


def with_sample(model, X, size, seed=0):
    """Return the fitted model with a row sample of another size."""
    sample = RowSample.of(X, np.ones(len(X)), model.density_.labels_, seed).head(size)
    return replace(model.model_, reduced_set=replace(model.reduced_set_, sample=sample))


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("cls", CLASSES)
def test_the_error_is_measured_if_the_sample_contains_all_rows(cls, name):
    X, model = fit(cls, name, 400)
    found, exact = model.certificate_, exact_of(model, X)
    true = embedding_error(exact.transform(X), model.transform(X))
    assert found.all_rows
    assert found.embedding.estimate == pytest.approx(true, rel=1e-4, abs=1e-7)
    np.testing.assert_allclose(found.likely.mean(axis=1), exact.eigenvalues_, atol=1e-9)


@pytest.mark.parametrize("name", ["moons", "blobs", "digits"])
@pytest.mark.parametrize("cls", CLASSES)
def test_the_error_is_estimated_from_a_sample(cls, name):
    X, model = fit(cls, name, 1200)
    exact = exact_of(model, X)
    true = embedding_error(exact.transform(X), model.transform(X))
    found = with_sample(model, X, 800).certificate
    assert not found.all_rows
    assert true < found.embedding.limit < 4 * true + 1e-3
    assert np.all(found.likely[:, 0] <= exact.eigenvalues_ + 1e-9)
    assert np.all(exact.eigenvalues_ <= found.likely[:, 1] + 1e-9)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_degree_drifts_are_exact_if_the_sample_contains_all_rows(alpha):
    _, model = fit(DiffusionMaps, "moons", 500, alpha=alpha)
    analysis = WalkAnalysis.of_walk(model.model_._walk)
    rows = analysis.sample.rows
    K = model.kernel_(rows)
    pull = K.sum(axis=1) ** -alpha
    reach = K @ pull
    degrees, drifts = analysis._degrees, analysis._drifts
    np.testing.assert_allclose(degrees.reach * (1 + drifts.reach.sum(axis=1)), reach, rtol=1e-10)
    lengths = degrees.pull / degrees.reach * (1 + drifts.lengths.sum(axis=1))
    np.testing.assert_allclose(lengths, pull / reach, rtol=1e-10)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_the_constant_function_is_found_if_the_sample_contains_all_rows(alpha):
    """Only terms of second order in the change are missing."""
    _, model = fit(DiffusionMaps, "blobs", 400, alpha=alpha)
    analysis = WalkAnalysis.of_walk(model.model_._walk)
    rows, values = analysis.sample.rows, analysis.system.eigenvalues
    K = model.kernel_(rows)
    pull = K.sum(axis=1) ** -alpha
    measure = pull * (K @ pull)
    functions = analysis.system.extend(rows)
    expected = np.sqrt(values) * (measure / measure.sum() @ functions) / functions[0, 0]
    found = analysis._constant(False)
    assert np.linalg.norm(found - expected) < 0.1 * np.linalg.norm(expected[1:])


def test_the_mean_drift_multiplies_the_known_mean_of_products():
    X, model = fit(DiffusionMaps, "moons", 500)
    analysis = WalkAnalysis.of_walk(with_sample(model, X, 200)._walk)
    sums = analysis._sums
    s, a, b, drift = sums.s, sums.a, sums.b, sums.drift.sum(axis=1)
    mean = s @ drift
    expected = (s * (drift - mean) * a.T) @ a + (1 + mean) * np.diag(sums.mu)
    expected += (s * a.T) @ a - (s * b.T) @ b
    assert abs(mean) > 1e-3
    np.testing.assert_allclose(sums.blocks().A, expected, atol=1e-10)
    assert sums.largest <= analysis.system.eigenvalues[-1]


def test_certificates_of_walks_contain_no_error_of_the_operator():
    _, model = fit(DiffusionMaps, "moons", 500)
    levels = json.loads(model.certificate_.to_json())["levels"]
    assert all(level["operator"] is None for level in levels)
    assert [list(level["estimate"]) for level in levels if level["estimate"]] == [["mmd"]]


def test_the_operators_of_walks_are_not_centered():
    X, model = fit(DiffusionMaps, "moons", 500)
    analysis = WalkAnalysis.of_walk(with_sample(model, X, 200)._walk)
    assert analysis.operator(0.9) == analysis.pairs.operator(0.9, center=False)


def test_the_summary_explains_why_large_self_affinities_prevent_an_estimate():
    X = np.repeat(np.arange(300.0), 2)[:, None]
    model = LaplacianEigenmaps(2, bandwidth=2.0, ell=4.0).fit(X)
    degrees = model.kernel_(X).sum(axis=1) - 1
    assert degrees.max() < 10
    found = with_sample(model, X, 400).certificate
    assert "affinities of rows with themselves exceed 10% of the degrees" in found.summary


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_the_constant_function_without_each_group_averages_to_that_of_all_groups(alpha):
    X, model = fit(DiffusionMaps, "moons", 600, alpha=alpha)
    analysis = WalkAnalysis.of_walk(with_sample(model, X, 300)._walk)
    whole, parts = analysis._constant(False), analysis._constant(True)
    assert len(parts) == 10
    assert np.linalg.norm(parts.mean(axis=0) - whole) < 0.005 * np.linalg.norm(whole[1:])


@pytest.mark.parametrize("self_affinity", [True, False])
def test_the_cut_equals_that_of_the_quantized_data(self_affinity):
    _, model = fit(NormalizedCut, "blobs", 300, self_affinity=self_affinity)
    centers = model.density_.labels_
    A = model.kernel_(model.reduced_set_.centers[centers])
    if not self_affinity:
        np.fill_diagonal(A, 0.0)
    labels = model.center_labels_[centers]
    expected = sum(
        A[labels == k][:, labels != k].sum() / A[labels == k].sum() for k in np.unique(labels)
    )
    assert model.certificate_.cut == pytest.approx(expected, rel=1e-9)
    walk = model.model_._walk
    assert normalized_cut(Walk(*(getattr(walk, n) for n in list(vars(walk))[:6]))) is None


def test_only_labels_near_a_border_could_change():
    X = DATA["moons"][0](1600)
    model = NormalizedCut(4, bandwidth=0.3, ell=3.0).fit(X)
    found = with_sample(model, X, 1000).certificate.labels
    assert 0 <= found.estimate <= found.limit < 0.3
    separate = NormalizedCut(2).fit(make_moons(1500, noise=0.05, random_state=0)[0])
    assert separate.certificate_.labels.limit == 0


def test_no_label_changes_if_the_error_is_zero(monkeypatch):
    _, model = fit(NormalizedCut, "blobs", 400, ell=np.inf)
    analysis = WalkAnalysis.of_walk(model.model_._walk)
    limits = analysis.limits(0.9)._replace(embedding=Estimate(0.0, 0.0))
    monkeypatch.setattr(WalkAnalysis, "limits", lambda self, confidence: limits)
    assert analysis.label_change(0.9) == (0.0, 0.0)


@pytest.mark.parametrize("cls", CLASSES)
def test_the_summary_and_the_json_text_name_the_method(cls):
    _, model = fit(cls, "moons", 600)
    found = model.certificate_
    assert found.method in found.summary
    assert found.summary in str(found)
    assert found.summary in model._repr_html_inner()
    assert json.loads(found.to_json())["method"] == found.method
    assert found.unit == 1


@pytest.mark.parametrize("cls", [LaplacianEigenmaps, NormalizedCut])
def test_the_summary_explains_why_a_neighbor_graph_has_no_estimate(cls):
    _, model = fit(cls, "moons", 600, graph=20)
    found = model.certificate_
    assert found.embedding is None
    assert "neighbor graph" in found.summary
    assert "nan" not in found.to_json().lower()


@pytest.mark.parametrize("cls", CLASSES)
def test_the_summary_explains_why_a_model_without_a_row_sample_has_no_estimate(cls):
    X = DATA["moons"][0](600)
    model = cls(2, bandwidth=0.3, density=ShadowDensity(ell=3.0, sample_size=0)).fit(X)
    assert model.certificate_.embedding is None
    assert "row sample" in model.certificate_.summary


@pytest.mark.parametrize("cls", CLASSES)
def test_a_sample_of_few_rows_is_not_used(cls):
    X, model = fit(cls, "moons", 600)
    found = with_sample(model, X, 50).certificate
    assert found.embedding is None
    assert "fewer than 100" in found.summary


def test_the_summary_explains_why_a_component_on_few_rows_has_no_estimate():
    """The fourth diffusion coordinate of four blobs separates six outlying rows."""
    X = DATA["blobs"][0](1200)
    model = DiffusionMaps(4, bandwidth=2.5, ell=3.0).fit(X)
    assert model.certificate_.all_rows
    found = with_sample(model, X, 800).certificate
    assert found.embedding is None
    assert "component 4 is concentrated on a few rows" in found.summary


def test_an_exact_walk_has_no_error():
    X = DATA["moons"][0](400)
    found = DiffusionMaps(2, bandwidth=0.3, ell=np.inf).fit(X).certificate_
    assert found.embedding.limit < 1e-6
    assert all(math.isnan(a) or a < 0.1 for a in found.likely_angles)


def test_row_errors_are_not_available_for_walks():
    X, model = fit(DiffusionMaps, "moons", 600)
    with pytest.raises(ValueError, match="row_error requires kernel PCA"):
        model.row_error(X[:3])


def test_integer_weights_give_the_same_certificate_as_repeated_rows():
    X = DATA["moons"][0](300)
    weights = np.random.default_rng(0).integers(1, 4, len(X))
    one = DiffusionMaps(3, bandwidth=0.3).fit(X, sample_weight=weights.astype(float))
    other = DiffusionMaps(3, bandwidth=0.3).fit(np.repeat(X, weights, axis=0))
    assert one.certificate_.embedding.estimate == pytest.approx(
        other.certificate_.embedding.estimate, rel=1e-6
    )
