"""Test the suggestions for fitted models by following them."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_swiss_roll

import rskpca
from rskpca import (
    DiffusionMaps,
    Gaussian,
    KernelPCA,
    KernelPCANovelty,
    NormalizedCut,
    NystromKernelPCA,
    ReducedSetKernelPCA,
    ShadowDensity,
    WindowDensity,
)
from rskpca.model import unwrap
from rskpca.pairs import Estimate
from rskpca.planning.advice import Suggestion
from rskpca.planning.suggestions import suggest
from rskpca.planning.verdict import Verdict, judge
from rskpca.report.subject import Subject
from tests.datasets import blobs

X = blobs(800, 2)
digits = load_digits().data


def suggestions(model, rows=X) -> dict[str, Suggestion]:
    subject = Subject.of(model, rows)
    found = suggest(subject.fitted, subject.rows, subject.retention)
    return {suggestion.title: suggestion for suggestion in found}


def evaluate(suggestion: Suggestion):
    """Return the estimator that the suggested code creates."""
    return eval(suggestion.code, dict(vars(rskpca)))


def with_errors(*errors: float, limit: float = 0.03, **changes: object) -> ReducedSetKernelPCA:
    """Return a model whose eigenvalues and coordinates are certified to these relative errors."""
    model = ReducedSetKernelPCA(len(errors), ell=4.0).fit(X)
    certificate = model.certificate_
    scale = np.stack([1 - np.array(errors), 1 + np.array(errors)], axis=1)
    changes["likely"] = (certificate.eigenvalues[:, None] * scale).clip(0)
    changes["embedding"] = Estimate(limit, limit)
    model.model_.__dict__["certificate"] = replace(certificate, **changes)
    return model


def follow(model, rows, title: str) -> tuple[Verdict, Verdict]:
    """Return the verdicts before and after following a suggestion."""
    changed = evaluate(suggestions(model, rows)[title]).fit(rows)
    return judge(model.model_), judge(changed.model_)


DATA = {
    "blobs": (X, 4, None),
    "digits": (digits, 6, 80.0),
    "swiss roll": (make_swiss_roll(800, random_state=0)[0], 4, 15.0),
}


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize(
    "title", ["A second pass over the data", "A larger ell, until the error is small"]
)
def test_following_a_suggestion_improves_the_verdict(name, title):
    rows, count, bandwidth = DATA[name]
    model = ReducedSetKernelPCA(count, bandwidth=bandwidth, ell=3.0).fit(rows)
    before, after = follow(model, rows, title)
    assert before.color in ("amber", "red")
    assert after.error < 0.7 * before.error
    assert after.color == "green"


def test_a_larger_basis_and_then_more_centers_improve_refined_models():
    model = ReducedSetKernelPCA(6, bandwidth=40.0, ell=1.5, basis=20, refine="nystrom").fit(digits)
    before, after = follow(model, digits, "All centers as the basis")
    assert before.color == "red"
    assert after.error < 0.5 * before.error
    model = ReducedSetKernelPCA(6, bandwidth=40.0, ell=1.0, refine="nystrom").fit(digits)
    before, after = follow(model, digits, "A larger ell")
    assert before.color != "green"
    assert after.error < 0.8 * before.error


def test_suggestions_keep_the_other_parameters():
    density = ShadowDensity(ell=2.0, max_centers=30)
    model = ReducedSetKernelPCA(3, kernel=Gaussian(2.0), density=density, center=False).fit(X)
    refined, tolerant = (evaluate(s) for s in list(suggestions(model).values())[:2])
    assert not refined.center
    assert not tolerant.center
    assert refined.kernel.bandwidth == tolerant.kernel.bandwidth == 2.0
    assert refined.refine == "nystrom"
    assert (tolerant.density.ell, tolerant.density.max_centers) == ("auto", None)


def test_refining_a_window_model_on_its_rows_is_suggested():
    model = ReducedSetKernelPCA(3, kernel=Gaussian(2.0), density=WindowDensity(200)).fit(X)
    assert Subject.of(model, X).retention.n_centers.max() <= 200
    found = suggestions(model)
    assert found["A second pass over the data"].code.startswith("model.refine_on(rows)")
    changed = evaluate(found["A larger ell, until the error is small"])
    assert changed.density.density.ell == "auto"
    assert changed.density.window == 200


def test_suggestions_for_a_detector_apply_to_its_embedding():
    found = suggestions(KernelPCANovelty(ReducedSetKernelPCA(4, ell=2.0)).fit(X))
    codes = [s.code for s in found.values() if s.code.endswith(")")]
    assert codes
    assert all(code.startswith(("ReducedSetKernelPCA(", "NystromKernelPCA(")) for code in codes)


def test_following_the_suggestion_reaches_the_tolerance():
    model = ReducedSetKernelPCA(3, ell=2.0, center=False).fit(X)
    suggestion = suggestions(model)["A larger ell, until the error is small"]
    changed = evaluate(suggestion)
    assert suggestion.changes == {"tol": changed.density.tol} == {"tol": 0.05}
    assert "the error of the coordinates is at most 5%" in suggestion.reason
    assert 0.02 < changed.fit(X).certificate_.embedding.limit <= 0.05


def test_with_many_components_the_tolerance_depends_on_the_last_eigenvalue():
    model = ReducedSetKernelPCA(101, bandwidth=0.5, ell=2.0).fit(X)
    suggestion = suggestions(model)["A larger ell, until the error is small"]
    assert "To know the last eigenvalue to within 10%" in suggestion.reason
    expected = 0.1 * judge(model.model_).components[-1].value
    assert suggestion.changes["tol"] == pytest.approx(expected, rel=0.05)


def test_a_model_without_an_estimate_gets_one_by_following_the_suggestions():
    density = ShadowDensity(ell=2.0, sample_size=0, error="operator")
    model = ReducedSetKernelPCA(3, density=density).fit(X)
    suggestion = suggestions(model)["A larger ell, until the error is small"]
    assert evaluate(suggestion).fit(X).certificate_.embedding.limit <= 0.05
    first, suggestion = next(iter(suggestions(model).items()))
    assert first == "An estimate of the error"
    estimated = evaluate(suggestion).fit(X)
    np.testing.assert_array_equal(estimated.eigenvalues_, model.eigenvalues_)
    assert estimated.certificate_.embedding is not None


def test_a_number_of_components_without_a_tie_is_suggested_first():
    rows = np.random.default_rng(0).normal(size=(3000, 3))  # three directions are equivalent
    model = ReducedSetKernelPCA(2, ell=3.0).fit(rows)
    first, suggestion = next(iter(suggestions(model, rows).items()))
    assert first == "More components"
    assert suggestion.changes == {"n_components": model.certificate_.better_components}
    before, after = judge(model.model_), judge(evaluate(suggestion).fit(rows).model_)
    assert after.error < before.error / 3
    fewer = suggestions(with_errors(0.01, 2.0, 2.0, limit=0.5, better_components=1))
    assert [s.changes for s in fewer.values() if "n_components" in s.changes] == [
        {"n_components": 1}
    ]


def test_a_smaller_ell_is_suggested_if_the_errors_are_small_enough():
    assert "A smaller ell" in suggestions(with_errors(0.01, 0.3, limit=0.009))
    assert "A smaller ell" not in suggestions(with_errors(0.01, 0.01, limit=0.011))


@pytest.mark.parametrize("kernel", [None, Gaussian(60.0)])
def test_the_suggested_bandwidth_keeps_a_tenth_of_the_rows(kernel):
    model = ReducedSetKernelPCA(4, kernel=kernel).fit(digits)
    found = suggestions(model, digits)
    changed = evaluate(found["A larger bandwidth, for fewer centers"]).fit(digits)
    assert 0.07 * len(digits) < changed.n_centers_ < 0.13 * len(digits)
    assert evaluate(found["Landmarks"]).kernel.bandwidth == model.kernel_.scale


def test_landmarks_are_suggested_only_for_kernel_pca_and_only_if_they_are_fewer():
    cut = NormalizedCut(3).fit(digits)
    assert cut.n_centers_ > 0.5 * len(digits)
    assert "Landmarks" not in suggestions(cut, digits)
    few = digits[:7]
    assert "Landmarks" not in suggestions(ReducedSetKernelPCA(3).fit(few), few)


def test_a_smaller_basis_is_suggested_for_a_green_model_with_many_points():
    rows = np.random.default_rng(0).normal(size=(1500, 1))
    model = ReducedSetKernelPCA(1, ell=np.inf).fit(rows)
    assert "A smaller basis, for faster embedding of new rows" in suggestions(model, rows)


def test_dropping_components_that_are_smaller_than_their_error_is_suggested():
    suggestion = suggestions(with_errors(0.05, 0.3, 1.2))["Fewer components"]
    assert evaluate(suggestion).n_components == suggestion.changes["n_components"] == 2


def test_more_components_or_a_larger_bandwidth_are_suggested_if_eigenvalues_decay_slowly():
    noise = np.random.default_rng(0).normal(size=(500, 10))
    model = ReducedSetKernelPCA(3, bandwidth=2.0, ell=2.0).fit(noise)
    found = suggestions(model, noise)
    assert "More components" in found
    assert "A larger bandwidth, for more variance in few components" in found


def test_a_smaller_bandwidth_is_suggested_if_the_kernel_is_too_wide():
    line = np.linspace(0, 1, 300)[:, None] * np.ones(2)
    model = ReducedSetKernelPCA(2, bandwidth=30.0, ell=100.0).fit(line)
    assert "A smaller bandwidth" in suggestions(model, line)


@pytest.mark.parametrize("options", [{"kernel": "rbf", "gamma": 1e-3}, {"kernel": Gaussian(30.0)}])
def test_suggested_code_for_the_drop_in_creates_an_equivalent_estimator(options):
    line = np.linspace(0, 1, 300)[:, None] * np.ones(2)
    model = KernelPCA(1, **options).fit(line)
    suggestion = suggestions(model, line)["A smaller bandwidth"]
    narrower = evaluate(suggestion).fit(line)
    assert isinstance(narrower, KernelPCA)
    assert narrower.model_.kernel.scale == pytest.approx(model.model_.kernel.scale / 2, rel=0.01)
    assert "A smaller bandwidth" not in suggestions(KernelPCA(1).fit(line), line)  # linear


def test_a_comparison_is_suggested_for_models_without_a_certificate():
    walk = DiffusionMaps(2).fit(X)
    walk.model_ = replace(walk.model_, certified=False)  # as in files from earlier versions
    assert list(suggestions(walk)) == ["A larger ell, to compare"]
    landmarks = NystromKernelPCA(2, n_centers=20, extension="data").fit(X)
    assert next(iter(suggestions(landmarks))) == "A model with an error certificate"


def test_suggestions_without_a_sample_contain_no_forecasts():
    found = suggest(unwrap(ReducedSetKernelPCA(6, bandwidth=80.0, ell=3.0).fit(digits)))
    assert [set(suggestion.changes) for suggestion in found] == [{"basis", "refine"}, {"tol"}]
    assert not any("about" in suggestion.reason for suggestion in found)
