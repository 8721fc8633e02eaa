"""Test the verdict against the numbers in the certificate."""

from dataclasses import replace

import numpy as np
import pytest

from rskpca import DiffusionMaps, Gaussian, NystromKernelPCA, ReducedSetKernelPCA, ShadowDensity
from rskpca.model import FittedModel
from rskpca.planning.verdict import error_in_words, judge
from tests.datasets import blobs

X = blobs(800, 2)


def model_with_errors(*errors: float, **changes: object) -> FittedModel:
    """Return a model whose eigenvalues are certified to these relative errors."""
    model = ReducedSetKernelPCA(len(errors), ell=4.0).fit(X).model_
    certificate = model.certificate
    scale = np.stack([1 - np.array(errors), 1 + np.array(errors)], axis=1)
    likely = (certificate.eigenvalues[:, None] * scale).clip(0)
    model.__dict__["certificate"] = replace(certificate, likely=likely, **changes)
    return model


def sentences(model: FittedModel) -> str:
    return " ".join(judge(model).sentences)


@pytest.mark.parametrize(
    ("errors", "color", "text"),
    [
        ((0.02, 0.09), "green", "All 2 eigenvalues are within 9% of exact"),
        ((0.02, 0.3), "amber", "1 of 2 eigenvalues is known to within 10%; the worst may be off"),
        ((0.2, 2.0), "amber", "No eigenvalue is known to within 10%: the first may be off by 20%"),
        ((0.6, 0.7), "red", "may be off by 60%"),
        ((0.05,), "green", "The eigenvalue is within 5%"),
        ((0.123,), "amber", "The eigenvalue is not known to within 10%: it may be off by 12%"),
    ],
)
def test_the_color_depends_on_the_intervals(errors, color, text):
    verdict = judge(model_with_errors(*errors))
    assert verdict.color == color
    assert text in verdict.headline
    np.testing.assert_allclose([c.error for c in verdict.components], errors, rtol=1e-6)


def test_the_exact_eigenvalues_are_within_the_bounds():
    kernel = Gaussian(3.0)
    model = ReducedSetKernelPCA(4, kernel=kernel, ell=3.0).fit(X).model_
    exact = ReducedSetKernelPCA(4, kernel=kernel, ell=np.inf).fit(X).eigenvalues_ / len(X)
    for component, value in zip(judge(model).components, exact, strict=True):
        assert abs(value - component.value) <= component.error * component.value
        assert component.certain_low <= value <= component.certain_high


def test_guaranteed_and_estimated_bounds_are_distinguished():
    estimated = judge(ReducedSetKernelPCA(2).fit(X).model_)
    assert "with 95% confidence" in estimated.sentences[0]
    refined = judge(ReducedSetKernelPCA(2, basis=0.9, refine="nystrom").fit(X).model_)
    assert refined.sentences[0].startswith("This is guaranteed: the eigenproblem uses the data")
    density = ShadowDensity(n_frequencies=0)
    bare = judge(ReducedSetKernelPCA(2, density=density).fit(X).model_)
    assert bare.sentences[0].startswith("This is guaranteed: it follows")
    assert any(sentence.startswith("There is no ") for sentence in bare.sentences)


def test_a_model_with_every_row_as_a_center_is_exact():
    model = ReducedSetKernelPCA(2, ell=np.inf).fit(X[:50]).model_
    verdict = judge(model)
    assert verdict.headline == "All 2 eigenvalues equal those of exact kernel PCA."
    assert verdict.sentences[0].startswith("This is guaranteed")
    assert "rotated by at most 0.01°" in sentences(model)


def test_verdicts_mention_smaller_errors_unless_they_are_green():
    assert "actual error is often much smaller" in sentences(model_with_errors(0.2))
    assert "smaller" not in sentences(model_with_errors(0.02))


def test_the_verdict_recommends_interpreting_tied_components_together():
    angles = np.array([np.nan, 5.0, np.nan])
    text = sentences(model_with_errors(0.01, 0.01, 0.01, likely_angles=angles))
    assert "Components 1 and 2 are too close to separate; interpret them together." in text
    assert "The space of the first 2 components is rotated by at most 5°" in text


def test_the_verdict_cautions_about_integer_data_with_a_small_radius():
    grid = np.random.default_rng(0).integers(0, 6, size=(500, 2)).astype(float)
    assert "Caution" in sentences(ReducedSetKernelPCA(2, ell=2.0).fit(grid).model_)
    exact = ReducedSetKernelPCA(2).fit(grid).model_  # requires no estimate
    assert "Caution" not in sentences(exact)
    assert "Caution" not in sentences(ReducedSetKernelPCA(2).fit(np.round(1000 * X)).model_)


def test_a_model_without_a_certificate_has_no_color():
    verdict = judge(DiffusionMaps(2).fit(X).model_)
    assert verdict.color == "none"
    assert "no error certificate" in verdict.headline
    assert "at most 0.25" in verdict.sentences[1]
    assert len(judge(NystromKernelPCA(2, n_centers=20).fit(X).model_).sentences) == 1


@pytest.mark.parametrize(
    ("error", "text"),
    [(1e-12, "rounding error"), (0.0123, "1.2%"), (0.99, "99%"), (1.7, "100% or more")],
)
def test_errors_are_given_with_two_digits(error, text):
    assert error_in_words(error) == text
