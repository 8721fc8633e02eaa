"""Test the verdict against the numbers in the certificate."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_moons

from rskpca import (
    DiffusionMaps,
    Gaussian,
    NormalizedCut,
    NystromKernelPCA,
    RadialKernel,
    ReducedSetKernelPCA,
    ShadowDensity,
)
from rskpca.model import FittedModel, unwrap
from rskpca.pairs import Estimate
from rskpca.planning.suggestions import suggest
from rskpca.planning.verdict import error_in_words, judge
from tests.datasets import blobs

X = blobs(800, 2)


def model_with(limit: float | None, *errors: float, **changes: object) -> FittedModel:
    """Return a model whose coordinates and eigenvalues are certified to these relative errors."""
    model = ReducedSetKernelPCA(len(errors), ell=4.0).fit(X).model_
    certificate = model.certificate
    scale = np.stack([1 - np.array(errors), 1 + np.array(errors)], axis=1)
    likely = (certificate.eigenvalues[:, None] * scale).clip(0)
    embedding = None if limit is None else Estimate(0.8 * limit, limit)
    changes |= {"likely": likely, "embedding": embedding}
    model.__dict__["certificate"] = replace(certificate, **changes)
    return model


def sentences(model: FittedModel) -> str:
    return " ".join(judge(model).sentences)


@pytest.mark.parametrize(
    ("limit", "color"),
    [(0.0, "green"), (0.049, "green"), (0.051, "amber"), (0.199, "amber"), (0.201, "red")],
)
@pytest.mark.parametrize("errors", [(0.01, 0.01), (0.9, 3.0)])
def test_the_color_depends_on_the_error_of_the_coordinates(limit, color, errors):
    model = model_with(limit, *errors)
    verdict = judge(model)
    assert (verdict.color, verdict.error) == (color, limit)
    assert verdict.headline == model.certificate.summary
    np.testing.assert_allclose([c.error for c in verdict.components], errors, rtol=1e-6)


@pytest.mark.parametrize(
    ("errors", "color"),
    [
        ((0.02, 0.09), "green"),
        ((0.02, 0.3), "amber"),
        ((0.2, 2.0), "amber"),
        ((0.6, 0.7), "red"),
        ((0.05,), "green"),
        ((0.123,), "amber"),
    ],
)
def test_without_an_estimate_the_color_depends_on_the_eigenvalues(errors, color):
    verdict = judge(model_with(None, *errors))
    assert (verdict.color, verdict.error) == (color, None)
    np.testing.assert_allclose([c.error for c in verdict.components], errors, rtol=1e-6)


def test_a_model_is_judged_at_another_confidence():
    rows = blobs(3000, 2)
    model = ReducedSetKernelPCA(2, ell=3.0).fit(rows).model_
    narrow, wide = (judge(model, model.certify(confidence)) for confidence in (0.5, 0.999))
    assert narrow.error < judge(model).error < wide.error
    assert "99.9% confidence" in wide.headline


def test_the_exact_eigenvalues_are_within_the_bounds():
    kernel = Gaussian(3.0)
    model = ReducedSetKernelPCA(4, kernel=kernel, ell=3.0).fit(X).model_
    exact = ReducedSetKernelPCA(4, kernel=kernel, ell=np.inf).fit(X).eigenvalues_ / len(X)
    for component, value in zip(judge(model).components, exact, strict=True):
        assert abs(value - component.value) <= component.error * component.value
        assert component.certain_low <= value <= component.certain_high


def test_the_verdict_explains_the_error():
    verdict = judge(ReducedSetKernelPCA(2).fit(blobs(3000, 2)).model_)
    assert "root-mean-square error" in verdict.sentences[0]
    assert verdict.sentences[0].endswith("computed from rows that were sampled during the fit.")
    refined = judge(ReducedSetKernelPCA(2, basis=0.9, refine="nystrom").fit(X).model_)
    assert refined.sentences[0].endswith("computed from all rows.")
    assert refined.sentences[1].startswith("The first eigenvalue is guaranteed to be off by")


def test_the_verdict_mentions_missing_bounds():
    kernel = RadialKernel(lambda s: 1 / (1 + s), 2, 4.0)
    verdict = judge(ReducedSetKernelPCA(2, kernel=kernel).fit(X).model_)
    named = [text for text in verdict.sentences if text.startswith("There is no ")]
    assert [text.split(" bound")[0] for text in named] == [
        "There is no a priori", "There is no a posteriori",
    ]  # fmt: skip
    bare = judge(ReducedSetKernelPCA(2, density=ShadowDensity(sample_size=0)).fit(X).model_)
    assert "no row sample was kept" in bare.headline
    assert not any(text.startswith("There is no ") for text in bare.sentences)


def test_a_model_with_every_row_as_a_center_is_exact():
    model = ReducedSetKernelPCA(2, ell=np.inf).fit(X[:50]).model_
    verdict = judge(model)
    assert verdict.color == "green"
    assert verdict.headline == "Coordinates equal those of exact kernel PCA up to rounding."
    assert "rotated by at most 0.01°" in sentences(model)


def test_large_bounds_on_eigenvalues_are_described_as_pessimistic():
    assert "actual error is often much smaller" in sentences(model_with(None, 0.2))
    assert "smaller" not in sentences(model_with(None, 0.02))
    assert "smaller" not in sentences(model_with(0.3, 0.2))


def test_the_verdict_describes_the_largest_space_with_a_useful_angle_bound():
    angles = np.array([np.nan, 5.0, 80.0])
    text = sentences(model_with(0.1, 0.01, 0.01, 0.01, likely_angles=angles))
    assert "The space of the first 2 components is rotated by at most 5°" in text
    unknown = np.array([np.nan, 80.0])
    assert "rotated" not in sentences(model_with(0.1, 0.01, 0.01, likely_angles=unknown))


@pytest.mark.parametrize("ell", [2.0, 3.0, 4.0])
def test_the_limit_covers_the_error_of_the_coordinates_of_integer_data(ell):
    grid = np.random.default_rng(0).integers(0, 6, size=(500, 2)).astype(float)
    model = ReducedSetKernelPCA(2, kernel=Gaussian(3.0), ell=ell).fit(grid)
    Z = ReducedSetKernelPCA(2, kernel=Gaussian(3.0), ell=np.inf).fit_transform(grid)
    design = np.column_stack([model.transform(grid), np.ones(len(grid))])
    residuals = Z - design @ np.linalg.lstsq(design, Z, rcond=None)[0]
    error = np.linalg.norm(residuals) / np.linalg.norm(Z)
    assert error - 1e-12 <= judge(model.model_).error <= 1.3 * error + 1e-7


def test_a_model_without_a_certificate_has_no_color():
    verdict = judge(replace(DiffusionMaps(2).fit(X).model_, certified=False))
    assert verdict.color == "none"
    assert "no error certificate" in verdict.headline
    assert "no row is farther than 0.25" in verdict.sentences[1]
    landmarks = NystromKernelPCA(2, n_centers=20, extension="data").fit(X)
    assert len(judge(landmarks.model_).sentences) == 1


def test_a_walk_is_judged_by_the_error_of_its_coordinates():
    model = NormalizedCut(3, bandwidth=2.0).fit(X).model_
    verdict = judge(model)
    assert verdict.error == model.certificate.embedding.limit
    assert verdict.components[0].value == model.eigenvalues[0]
    assert "normalized cut of the reduced set" in " ".join(verdict.sentences)


def test_a_walk_without_an_estimate_has_no_color():
    verdict = judge(NormalizedCut(3, bandwidth=2.0, graph=10).fit(X).model_)
    assert verdict.color == "none"
    assert "neighbor graph" in verdict.headline


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (1e-12, "rounding error"),
        (5.7e-7, "less than 0.01%"),
        (1.3e-4, "0.013%"),
        (0.0123, "1.2%"),
        (0.234, "23.4%"),
        (1.7, "100% or more"),
    ],
)
def test_errors_are_given_in_words_or_with_few_digits(error, text):
    assert error_in_words(error) == text


def test_an_unknown_error_is_not_explained_and_only_a_larger_bandwidth_is_suggested():
    model = NormalizedCut(2).fit(make_moons(5000, noise=0.05, random_state=0)[0])
    verdict = judge(model.model_)
    assert "is unknown" in verdict.headline
    assert (verdict.color, verdict.error) == ("red", None)
    assert "This is" not in sentences(model.model_)
    changes = [dict(suggestion.changes) for suggestion in suggest(unwrap(model))]
    assert {"bandwidth": pytest.approx(2 * model.kernel_.scale, rel=0.01)} in changes
    assert not any("ell" in change for change in changes)
