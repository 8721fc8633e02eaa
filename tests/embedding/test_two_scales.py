"""Test kernel PCA with a basis and with a second pass over the data."""

import numpy as np
import pytest

from rskpca import (
    Gaussian,
    Laplacian,
    NystromKernelPCA,
    ReducedSet,
    ReducedSetKernelPCA,
    ShadowDensity,
)
from rskpca.baselines import UniformDensity
from rskpca.baselines.methods import embedding_error
from tests import datasets, dense
from tests.embedding.invariants import EmbeddingInvariants, ReducedSetInvariants


class TestBasis(ReducedSetInvariants):
    def make(self, n_components=4, **parameters):
        return ReducedSetKernelPCA(n_components, basis=40, **parameters)


class TestAutomaticBasis(ReducedSetInvariants):
    def make(self, n_components=4, **parameters):
        return ReducedSetKernelPCA(n_components, basis="auto", center=False, **parameters)


class TestRefined(EmbeddingInvariants):
    def make(self, n_components=4, **parameters):
        return ReducedSetKernelPCA(n_components, basis=0.5, refine="nystrom", **parameters)


def german():
    X = datasets.load("german")
    return X[:800], X[800:], Gaussian(30.0)


def digits():
    X = datasets.load("digits", step=2)
    return X[:700], X[700:], Gaussian(60.0)


@pytest.fixture(params=[german, digits])
def case(request):
    return request.param()


@pytest.mark.parametrize("center", [False, True])
def test_using_all_centers_as_the_basis_equals_the_method_in_the_paper(case, center):
    X, new, kernel = case
    paper = ReducedSetKernelPCA(5, kernel=kernel, center=center).fit(X)
    for basis in (1.0, 10**6, paper.reduced_set_):
        model = ReducedSetKernelPCA(5, kernel=kernel, center=center, basis=basis).fit(X)
        np.testing.assert_allclose(model.eigenvalues_, paper.eigenvalues_, rtol=1e-8)
        dense.assert_equal_up_to_sign(model.transform(new), paper.transform(new), 1e-8)
        np.testing.assert_allclose(
            model.explained_variance_ratio_, paper.explained_variance_ratio_, rtol=1e-8
        )
        np.testing.assert_allclose(
            np.abs(model.eigenvectors_), np.abs(paper.eigenvectors_), atol=1e-7
        )


def relative_error(Z, exact):
    aligned = Z @ np.linalg.lstsq(Z, exact, rcond=None)[0]
    return np.linalg.norm(aligned - exact) / np.linalg.norm(exact)


def test_an_automatic_basis_is_small_and_preserves_accuracy(case):
    X, new, kernel = case
    kernel = Gaussian(1.5 * kernel.bandwidth)  # digits cannot be compressed otherwise
    exact = dense.KernelPCA(kernel, X, 5, center=True).transform(new)
    paper = ReducedSetKernelPCA(5, kernel=kernel).fit(X)
    model = ReducedSetKernelPCA(5, kernel=kernel, basis="auto").fit(X)
    assert len(model.basis_) < 0.4 * paper.n_centers_
    limit = 1.15 * relative_error(paper.transform(new), exact)
    assert relative_error(model.transform(new), exact) < limit


def test_an_automatic_basis_does_not_require_scatter():
    X = datasets.blobs(300, 3)
    s = ReducedSet(X, np.ones(300))
    model = ReducedSetKernelPCA(3, density=UniformDensity(200), basis="auto", bandwidth=4.0).fit(X)
    assert model.reduced_set_.scatter is None
    assert len(model.basis_) < 150
    refined = ReducedSetKernelPCA(3, bandwidth=4.0, basis=s, refine="nystrom").fit(X)
    assert len(refined.basis_) <= 300


@pytest.mark.parametrize("center", [False, True])
def test_refinement_on_all_centers_equals_nystrom_with_the_centers_as_landmarks(case, center):
    X, new, kernel = case
    refined = ReducedSetKernelPCA(5, kernel=kernel, center=center, refine="nystrom").fit(X)
    nystrom = NystromKernelPCA(5, kernel=kernel, center=center, landmarks=refined.reduced_set_).fit(
        X
    )
    np.testing.assert_allclose(refined.transform(new), nystrom.transform(new), atol=1e-12)
    assert refined.eigenvectors_.shape == (refined.n_centers_, 5)


def test_refinement_improves_accuracy(case):
    X, new, kernel = case
    exact = dense.KernelPCA(kernel, X, 5, center=True).transform(new)
    paper = ReducedSetKernelPCA(5, kernel=kernel).fit(X).transform(new)
    refined = ReducedSetKernelPCA(5, kernel=kernel, refine="nystrom").fit(X).transform(new)
    assert relative_error(refined, exact) < 0.2 * relative_error(paper, exact)


def test_a_stream_can_be_refined_chunk_by_chunk():
    X = datasets.blobs(600, 3)
    options = {"bandwidth": 4.0, "basis": 20}
    whole = ReducedSetKernelPCA(4, refine="nystrom", **options).fit(X)
    for chunks in (np.array_split(X, 5), iter(np.array_split(X, 3)), X):
        stream = ReducedSetKernelPCA(4, **options)
        for part in np.array_split(X, 4):
            stream.partial_fit(part)
        stream.refine_on(chunks)
        np.testing.assert_allclose(stream.eigenvalues_, whole.eigenvalues_, rtol=1e-10)
        np.testing.assert_allclose(stream.transform(X), whole.transform(X), atol=1e-9)
    before = stream.transform(X)
    stream.partial_fit(X[:50])
    assert not np.allclose(stream.transform(X), before, atol=1e-6)


@pytest.mark.parametrize("center", [False, True])
def test_a_stream_is_refined_on_the_same_automatic_basis_as_a_fit(center):
    X = datasets.blobs(600, 3)
    options = {"bandwidth": 4.0, "basis": "auto", "center": center}
    whole = ReducedSetKernelPCA(4, refine="nystrom", **options).fit(X)
    model = ReducedSetKernelPCA(4, **options).fit(X)
    assert len(model.basis_) < len(whole.basis_)
    np.testing.assert_array_equal(model.refine_on(X).basis_, whole.basis_)
    np.testing.assert_allclose(model.transform(X), whole.transform(X), atol=1e-9)


@pytest.mark.parametrize("refine", [None, "nystrom"])
def test_an_automatic_basis_may_have_one_center(refine):
    X = datasets.blobs(50, 3)
    options = {"bandwidth": 1e3, "refine": refine, "center": False}
    model = ReducedSetKernelPCA(1, basis="auto", **options).fit(X)
    np.testing.assert_array_equal(model.basis_, model.reduced_set_.centers)
    expected = ReducedSetKernelPCA(1, **options).fit(X).transform(X)
    np.testing.assert_allclose(model.transform(X), expected, rtol=1e-12)


@pytest.mark.parametrize("center", [False, True])
def test_an_automatic_basis_preserves_accuracy_for_a_kernel_with_a_cusp(center):
    X, new = np.split(datasets.load("german"), [800])
    kernel = Laplacian(30.0)
    exact = dense.KernelPCA(kernel, X, 5, center).transform(new)
    paper, auto = (
        relative_error(
            ReducedSetKernelPCA(5, kernel=kernel, center=center, basis=basis).fit(X).transform(new),
            exact,
        )
        for basis in (None, "auto")
    )
    assert auto < 1.1 * paper


def test_the_warning_about_too_few_components_mentions_the_basis():
    with pytest.warns(UserWarning, match="Use more than 1 basis points"):
        ReducedSetKernelPCA(3, bandwidth=4.0, basis=1).fit(datasets.blobs(100, 3))


@pytest.mark.parametrize("rows", [None, 5, "rows"])
def test_the_second_pass_rejects_invalid_rows(rows):
    model = ReducedSetKernelPCA(2, bandwidth=4.0).fit(datasets.blobs(100, 3))
    with pytest.raises(TypeError, match="chunks must be an array of rows or an iterable"):
        model.refine_on(rows)


@pytest.mark.parametrize("kernel", [Gaussian(3.0), Laplacian(3.0)])
@pytest.mark.parametrize("refine", [None, "nystrom"])
@pytest.mark.parametrize("basis", [15, "auto", ShadowDensity(ell=2.0)])
def test_integer_weights_are_equivalent_to_repeated_rows(kernel, refine, basis):
    X = datasets.blobs(200, 3)
    w = np.random.default_rng(0).integers(0, 4, 200)
    model = ReducedSetKernelPCA(3, kernel=kernel, basis=basis, refine=refine)
    weighted = model.fit(X, sample_weight=w).transform(X)
    repeated = model.fit(np.repeat(X, w, axis=0)).transform(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-8)


def test_the_centers_of_a_density_can_be_used_as_the_basis():
    X = datasets.blobs(300, 3)
    model = ReducedSetKernelPCA(3, bandwidth=4.0, basis=ShadowDensity(ell=2.0)).fit(X)
    coarse = ShadowDensity(Gaussian(4.0), ell=2.0).fit(model.reduced_set_.centers)
    np.testing.assert_array_equal(model.basis_, coarse.reduced_set_.centers)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"basis": 0}, ValueError, "basis must be an integer of at least 1, got 0"),
        ({"basis": True}, ValueError, "basis must be an integer"),
        ({"basis": 1.5}, ValueError, "basis must be above 0 and at most 1"),
        ({"basis": 0.0}, ValueError, "above 0 and at most 1"),
        ({"basis": "small"}, ValueError, 'basis must be None, "auto", "means", a number'),
        ({"basis": np.zeros((3, 3))}, TypeError, "got ndarray"),
        (
            {"basis": ReducedSet(np.zeros((3, 2)), np.ones(3))},
            ValueError,
            "basis must have 3 features",
        ),
        (
            {"basis": "auto", "n_components": None},
            ValueError,
            "n_components must be an integer, got None",
        ),
        ({"refine": "twice"}, ValueError, 'refine must be one of "nystrom", got'),
        ({"refine": np.array(["nystrom", ""])}, ValueError, "refine must be one of"),
        (
            {"basis": ReducedSet(np.full((3, 3), 1e6), np.ones(3))},
            ValueError,
            "too far from all 1 basis points",
        ),
    ],
)
def test_invalid_parameters_are_reported(parameters, error, message):
    with pytest.raises(error, match=message):
        ReducedSetKernelPCA(**{"n_components": 2} | parameters).fit(datasets.blobs(100, 3))


# ------------------------------------------------------------------------ certificates


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("refine", [None, "nystrom"])
@pytest.mark.parametrize("basis", [None, 20, "auto"])
def test_the_certificate_includes_the_basis_error(case, center, refine, basis):
    X, _, kernel = case
    X = X[:500]
    model = ReducedSetKernelPCA(4, kernel=kernel, center=center, basis=basis, refine=refine).fit(X)
    exact = dense.KernelPCA(kernel, X, 4, center=center).eigenvalues
    certificate = model.certificate_
    for low, high in (certificate.certain.T, certificate.likely.T):
        assert np.all(low <= exact * (1 + 1e-9))
        assert np.all(exact <= high * (1 + 1e-9))
    if refine:
        np.testing.assert_allclose(certificate.certain[:, 0], model.eigenvalues_, rtol=1e-9)
        width = np.diff(certificate.certain, axis=1)
        assert width.max() <= model.eigensystem_.residual * (1 + 1e-9)


# ------------------------------------------------------------------ the second pass


@pytest.mark.parametrize("verb", ["partial_fit", "forget"])
def test_methods_with_two_passes_do_not_support_streaming(verb):
    model = ReducedSetKernelPCA(2, refine="nystrom")
    with pytest.raises(AttributeError) as error:
        getattr(model, verb)
    assert "call refine_on with all rows at the end" in str(error.value.__cause__)


class Parts:
    """An iterable that is not an iterator."""

    def __init__(self, parts):
        self.parts = parts

    def __iter__(self):
        return iter(self.parts)


def test_the_second_pass_accepts_arrays_lists_and_chunks():
    X = datasets.blobs(200, 3)
    w = np.random.default_rng(0).integers(1, 4, 200).astype(float)
    whole = ReducedSetKernelPCA(3, bandwidth=4.0, basis=20, refine="nystrom")
    expected = whole.fit(X).transform(X)
    model = ReducedSetKernelPCA(3, bandwidth=4.0, basis=20).fit(X)
    for rows in (X, X.tolist(), [X[:50], X[50:]], Parts([X[:9], X[9:]]), (X[:2], X[2:])):
        np.testing.assert_allclose(model.refine_on(rows).transform(X), expected, atol=1e-9)
    weighted = ReducedSetKernelPCA(3, bandwidth=4.0, basis=20).fit(X, sample_weight=w)
    weighted.refine_on([(X[:50], w[:50]), (X[50:], w[50:])])
    np.testing.assert_allclose(
        weighted.transform(X), whole.fit(X, sample_weight=w).transform(X), atol=1e-9
    )


@pytest.mark.parametrize("rows", [iter([]), [], datasets.blobs(150, 3)])
def test_refine_on_rejects_a_different_number_of_rows(rows):
    X = datasets.blobs(200, 3)
    model = ReducedSetKernelPCA(3, bandwidth=4.0).fit(X)
    before = model.transform(X)
    with pytest.raises(ValueError, match=r"must have total weight 200, like the fitted rows"):
        model.refine_on(rows)
    np.testing.assert_array_equal(model.transform(X), before)


def test_means_of_the_centers_form_a_small_and_accurate_basis():
    X = datasets.load("digits")
    exact = ReducedSetKernelPCA(5, ell=np.inf).fit(X).transform(X)
    model = ReducedSetKernelPCA(5, basis="means", refine="nystrom").fit(X)
    assert len(model.basis_) < model.n_centers_ / 4
    assert embedding_error(exact, model.transform(X)) < 0.005


def test_means_require_a_number_of_components():
    with pytest.raises(ValueError, match='basis="means" preserves the leading components'):
        ReducedSetKernelPCA(basis="means").fit(datasets.blobs(60, 3))


def test_all_centers_are_used_if_selecting_a_few_would_take_longer(monkeypatch):
    monkeypatch.setattr("rskpca.spectral.basis.MANY", 50)
    X = np.random.default_rng(0).normal(size=(300, 20))
    plain = ReducedSetKernelPCA(5, ell=20.0).fit(X)
    auto = ReducedSetKernelPCA(5, ell=20.0, basis="auto").fit(X)
    assert auto.basis_ is auto.reduced_set_.centers
    np.testing.assert_array_equal(auto.eigenvalues_, plain.eigenvalues_)
