"""The certificate in words, and what to try next: against the numbers, and against trying it."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_swiss_roll

import rskpca
from rskpca import (
    DiffusionMaps,
    Gaussian,
    KernelPCANovelty,
    NormalizedCut,
    NystromKernelPCA,
    ReducedSetKernelPCA,
    ShadowDensity,
    WindowDensity,
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
        ((0.02, 0.3), "amber", "1 of 2 eigenvalues are known to within 10%; the worst may be off"),
        ((0.2, 2.0), "amber", "No eigenvalue is known to within 10%: the first may be off by 20%"),
        ((0.6, 0.7), "red", "may be off by 60%"),
        ((0.05,), "green", "The eigenvalue is within 5%"),
        ((0.123,), "amber", "The eigenvalue is not known to within 10%: it may be off by 12%"),
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


def test_a_model_of_every_row_is_exact():
    verdict = judge(subject_of(ReducedSetKernelPCA(2, ell=np.inf).fit(X[:50]), X[:50]))
    assert verdict.headline == "All 2 eigenvalues are those of exact kernel PCA."
    assert verdict.sentences[0].startswith("This always holds")
    assert "turned by at most 0.01°" in " ".join(verdict.sentences)


def test_what_is_not_green_may_still_be_right():
    assert "error itself is often much smaller" in " ".join(judge(with_widths(0.2)).sentences)
    assert "smaller" not in " ".join(judge(with_widths(0.02)).sentences)


def test_tied_components_are_to_be_read_together():
    subject = with_widths(0.01, 0.01, 0.01)
    angles = np.array([np.nan, 5.0, np.nan])
    subject.__dict__["certificate"] = replace(subject.certificate, likely_angles=angles)
    sentences = judge(subject).sentences
    assert "Components 1 and 2 are too close to tell apart: read them together." in sentences
    assert "The space of the first 2 components is turned by at most 5°" in " ".join(sentences)


def test_rows_on_a_coarse_grid_are_a_caution():
    grid = np.random.default_rng(0).integers(0, 6, size=(500, 2)).astype(float)
    coarse = ReducedSetKernelPCA(2, ell=2.0).fit(grid)
    assert "Caution" in " ".join(judge(subject_of(coarse, grid)).sentences)
    unmoved = ReducedSetKernelPCA(2).fit(grid)  # no estimate is needed
    assert "Caution" not in " ".join(judge(subject_of(unmoved, grid)).sentences)
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


def read(code: str):
    """A model as it is written."""
    return eval(code, dict(vars(rskpca)))


def followed(model, rows, title: str):
    """The verdict before, and after doing what is said under this title."""
    before = judge(subject_of(model, rows))
    found = {advice.title: advice.code for advice in advise(subject_of(model, rows), before)}
    return before, judge(subject_of(read(found[title]).fit(rows), rows))


digits = load_digits().data
DATA = {
    "blobs": (X, 4, None),
    "digits": (digits, 6, 80.0),
    "swiss roll": (make_swiss_roll(800, random_state=0)[0], 4, 15.0),
}


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize(
    "title", ["Read the data a second time", "Ell up, until the error is small"]
)
def test_advice_that_is_followed_improves_the_verdict(name, title):
    rows, count, bandwidth = DATA[name]
    model = ReducedSetKernelPCA(count, bandwidth=bandwidth, ell=3.0).fit(rows)
    before, after = followed(model, rows, title)
    assert before.colour in ("amber", "red")
    assert max(c.off for c in after.components) < 0.5 * max(c.off for c in before.components)
    if title.startswith("Ell"):
        assert after.colour == "green"


def test_a_basis_of_all_centers_improves_it_and_then_more_centers_do():
    model = ReducedSetKernelPCA(6, bandwidth=80.0, basis="auto", refine="nystrom").fit(digits)
    before, after = followed(model, digits, "All centers as the basis")
    assert after.components[0].off < 0.3 * before.components[0].off
    model = ReducedSetKernelPCA(6, bandwidth=80.0, refine="nystrom").fit(digits)
    before, after = followed(model, digits, "Ell up")
    assert after.components[0].off < 0.5 * before.components[0].off


def test_advice_keeps_the_settings_of_the_model():
    density = ShadowDensity(Gaussian(2.0), ell=2.0, max_centers=30)
    model = ReducedSetKernelPCA(3, density=density, center=False).fit(X)
    codes = [advice.code for advice in advise(subject_of(model), judge(subject_of(model)))]
    tried = read(codes[0]), read(codes[1])
    assert [t.center for t in tried] == [False, False]
    assert [t.density.kernel.bandwidth for t in tried] == [2.0, 2.0]
    assert tried[0].refine == "nystrom"
    assert (tried[1].density.ell, tried[1].density.max_centers) == ("auto", None)


def test_a_window_is_refined_on_its_rows():
    density = WindowDensity(200, kernel=Gaussian(2.0))
    subject = subject_of(ReducedSetKernelPCA(3, density=density).fit(X))
    assert subject.retention.n_centers.max() <= 200
    code = {a.title: a.code for a in advise(subject, judge(subject))}
    assert code["Read the data a second time"].startswith("model.refine_on(rows)")
    tried = read(code["Ell up, until the error is small"])
    assert tried.density.density.ell == "auto"
    assert tried.density.window == 200


def test_novelty_is_told_of_a_class_that_there_is():
    subject = subject_of(KernelPCANovelty().fit(X))
    assert subject.kind == "ReducedSetKernelPCA"
    assert all("_AtMost" not in advice.code for advice in advise(subject, judge(subject)))


def test_ell_up_brings_the_error_down_to_what_is_said():
    subject = subject_of(ReducedSetKernelPCA(3, ell=2.0, center=False).fit(X))
    tried = read(advise(subject, judge(subject))[1].code)
    assert tried.density.tol == pytest.approx(0.1 * judge(subject).components[-1].value, rel=0.1)
    assert tried.fit(X).certificate_.level("spectral").operator <= tried.density.tol


def test_ell_may_go_down_where_there_is_room():
    assert "Ell down" in titles(with_widths(0.01, 0.015))
    assert "Ell down" not in titles(with_widths(0.01, 0.05))


@pytest.mark.parametrize("kernel", [None, Gaussian(60.0)])
def test_data_that_do_not_compress_have_a_bandwidth_that_does(kernel):
    subject = subject_of(ReducedSetKernelPCA(4, kernel=kernel).fit(digits), digits)
    found = {advice.title: advice for advice in advise(subject, judge(subject))}
    tried = read(found["A larger bandwidth, for fewer centers"].code).fit(digits)
    assert 0.07 * len(digits) < tried.n_centers_ < 0.13 * len(digits)
    assert read(found["Landmarks"].code).kernel.bandwidth == subject.embedding.kernel_.scale


def test_landmarks_are_for_kernel_pca_and_where_they_are_fewer():
    cut = subject_of(NormalizedCut(3).fit(digits), digits)
    assert cut.kept > 0.5
    assert "Landmarks" not in titles(cut)
    few = digits[:7]
    assert "Landmarks" not in titles(subject_of(ReducedSetKernelPCA(3).fit(few), few))


def test_a_green_model_of_many_points_may_have_a_smaller_basis():
    rows = np.random.default_rng(0).normal(size=(1500, 1))
    found = subject_of(ReducedSetKernelPCA(1, ell=np.inf).fit(rows), rows)
    assert "A smaller basis, for fast new rows" in titles(found)


def test_components_that_drown_are_too_many():
    subject = with_widths(0.05, 0.3, 1.2)
    found = {advice.title: advice for advice in advise(subject, judge(subject))}
    assert read(found["Fewer components"].code).n_components == 2


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
