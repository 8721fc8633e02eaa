"""The certificate in words, and what to try next: against the numbers, and against trying it."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits

from rskpca import (
    DiffusionMaps,
    Gaussian,
    NystromKernelPCA,
    ReducedSetKernelPCA,
    ShadowDensity,
)
from rskpca.report.advice import advise
from rskpca.report.subject import Subject
from rskpca.report.verdict import judge
from tests.datasets import blobs

X = blobs(800, 2)


def subject_of(model, rows=X) -> Subject:
    return Subject.of(
        model, rows, color=None, n_rows=None, feature_names=None, seconds=None, random_state=0
    )


def with_widths(*widths: float) -> Subject:
    """A model whose eigenvalues may be off by these shares of themselves."""
    subject = subject_of(ReducedSetKernelPCA(len(widths), ell=4.0).fit(X))
    values = subject.certificate.eigenvalues
    likely = np.stack([values * (1 - np.array(widths)), values * (1 + np.array(widths))], axis=1)
    subject.__dict__["certificate"] = replace(subject.certificate, likely=likely.clip(0))
    return subject


def titles(subject: Subject) -> list[str]:
    return [advice.title for advice in advise(subject, judge(subject))]


# ------------------------------------------------------------------------------ colours


@pytest.mark.parametrize(
    ("widths", "colour", "words"),
    [
        ((0.02, 0.09), "green", "All 2 eigenvalues are within 9% of exact"),
        ((0.02, 0.3), "amber", "1 of 2 eigenvalues are within 10%"),
        ((0.2, 2.0), "amber", "0 of 2 eigenvalues are within 10%"),
        ((0.6, 0.7), "red", "may be off by 60%"),
        ((0.05,), "green", "The eigenvalue is within 5%"),
    ],
)
def test_the_colour_follows_the_intervals(widths, colour, words):
    verdict = judge(with_widths(*widths))
    assert verdict.colour == colour
    assert words in verdict.headline
    np.testing.assert_allclose([c.off for c in verdict.components], widths, rtol=1e-6)


def test_what_it_promises_is_kept():
    """The eigenvalues of exact kernel PCA are within what the verdict says."""
    kernel = Gaussian(3.0)
    model = ReducedSetKernelPCA(4, kernel=kernel, ell=3.0).fit(X)
    exact = ReducedSetKernelPCA(4, kernel=kernel, ell=np.inf).fit(X).eigenvalues_ / len(X)
    for component, value in zip(judge(subject_of(model)).components, exact, strict=True):
        assert abs(value - component.value) <= component.off * component.value
        assert component.certain_low <= value <= component.certain_high


def test_certain_statements_are_told_from_likely_ones():
    estimated = judge(subject_of(ReducedSetKernelPCA(2).fit(X)))
    assert "at 95% confidence" in estimated.sentences[0]
    refined = judge(subject_of(ReducedSetKernelPCA(2, basis=0.9, refine="nystrom").fit(X)))
    assert refined.sentences[0].startswith("This always holds: the data themselves")
    density = ShadowDensity(n_frequencies=0)
    bare = judge(subject_of(ReducedSetKernelPCA(2, density=density).fit(X)))
    assert bare.sentences[0].startswith("This always holds: it follows")
    assert any(sentence.startswith("No spectral statement") for sentence in bare.sentences)


def test_tied_components_are_to_be_read_together():
    subject = with_widths(0.01, 0.01, 0.01)
    angles = np.array([np.nan, 5.0, np.nan])
    subject.__dict__["certificate"] = replace(subject.certificate, likely_angles=angles)
    sentences = judge(subject).sentences
    assert "Components 1 and 2 are too close to tell apart: read them together." in sentences
    assert "The space of the first 2 components is turned by at most 5°" in " ".join(sentences)


def test_rows_on_a_coarse_grid_are_a_caution():
    grid = np.random.default_rng(0).integers(0, 6, size=(500, 2)).astype(float)
    assert "Caution" in " ".join(
        judge(subject_of(ReducedSetKernelPCA(2).fit(grid), grid)).sentences
    )
    fine = np.round(1000 * X)
    assert "Caution" not in " ".join(
        judge(subject_of(ReducedSetKernelPCA(2).fit(fine), fine)).sentences
    )


def test_without_a_certificate_nothing_is_claimed():
    verdict = judge(subject_of(DiffusionMaps(2).fit(X)))
    assert verdict.colour == "none"
    assert "DiffusionMaps has none" in verdict.headline
    assert "none by more than 0.25" in verdict.sentences[1]
    assert len(judge(subject_of(NystromKernelPCA(2, n_centers=20).fit(X))).sentences) == 1


# ------------------------------------------------------------------------------ advice


def test_two_scales_make_it_green():
    model = ReducedSetKernelPCA(4, ell=2.0).fit(X)
    subject = subject_of(model)
    advice = advise(subject, judge(subject))[0]
    assert advice.code == 'ReducedSetKernelPCA(4, basis="auto", refine="nystrom")'
    tried = ReducedSetKernelPCA(4, basis="auto", refine="nystrom").fit(X)
    assert judge(subject_of(tried)).colour == "green"


def test_ell_up_brings_the_error_down_to_what_is_said():
    subject = subject_of(ReducedSetKernelPCA(3, ell=2.0, center=False).fit(X))
    code = advise(subject, judge(subject))[1].code
    tol = float(code.partition("tol=")[2].rstrip(")"))
    assert tol == pytest.approx(0.1 * judge(subject).components[-1].value, rel=0.1)
    density = ShadowDensity(ell="auto", tol=tol)
    tried = ReducedSetKernelPCA(3, density=density, center=False).fit(X)
    assert tried.certificate_.level("spectral").operator <= tol


def test_ell_may_go_down_where_there_is_room():
    assert "Ell down" in titles(with_widths(0.01, 0.015))
    assert "Ell down" not in titles(with_widths(0.01, 0.05))


def test_data_that_do_not_compress_have_a_bandwidth_that_does():
    digits = load_digits().data
    subject = subject_of(ReducedSetKernelPCA(4).fit(digits), digits)
    found = {advice.title: advice for advice in advise(subject, judge(subject))}
    bandwidth = float(found["A larger bandwidth"].code.partition("=")[2])
    tried = ReducedSetKernelPCA(4, bandwidth=bandwidth).fit(digits)
    assert tried.n_centers_ < 0.12 * len(digits)
    assert found["Landmarks"].code.startswith("NystromKernelPCA(4, n_centers=")
    assert "A smaller basis" in found


def test_components_that_drown_are_too_many():
    subject = with_widths(0.05, 0.3, 1.2)
    found = {advice.title: advice for advice in advise(subject, judge(subject))}
    assert found["Fewer components"].code == "n_components=2"


def test_a_spectrum_that_has_not_fallen_wants_more():
    noise = np.random.default_rng(0).normal(size=(500, 10))
    model = ReducedSetKernelPCA(3, bandwidth=2.0, ell=2.0).fit(noise)
    assert "More components" in titles(subject_of(model, noise))
    assert "A larger bandwidth, to see more in few components" in titles(subject_of(model, noise))


def test_a_kernel_may_be_too_wide():
    line = np.linspace(0, 1, 300)[:, None] * np.ones(2)
    assert "A smaller bandwidth" in titles(
        subject_of(ReducedSetKernelPCA(2, bandwidth=30.0, ell=100.0).fit(line), line)
    )


def test_without_a_certificate_one_compares():
    assert titles(subject_of(DiffusionMaps(2).fit(X))) == ["Ell up, and compare"]
    landmarks = NystromKernelPCA(2, n_centers=20).fit(X)
    assert titles(subject_of(landmarks))[0] == "A model that knows its error"
