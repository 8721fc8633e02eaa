"""Test streams for every embedding: adding, forgetting and lazy decomposition."""

import copy

import numpy as np
import pytest

from rskpca import (
    DiffusionMaps,
    FadingDensity,
    Gaussian,
    KernelPCANovelty,
    KMeansDensity,
    LaplacianEigenmaps,
    NormalizedCut,
    ReducedSetKernelPCA,
    ShadowDensity,
    WindowDensity,
    merge,
)
from rskpca.embedding import KernelEmbedding
from tests import datasets
from tests.states import fitted_state

X = datasets.blobs(400, 2)
NEW = datasets.blobs(40, 2, seed=5)

EMBEDDINGS = {
    "kernel PCA": lambda density: ReducedSetKernelPCA(3, density=density),
    "kernel PCA on a basis": lambda density: ReducedSetKernelPCA(3, density=density, basis=20),
    "diffusion maps": lambda density: DiffusionMaps(3, density=density),
    "Laplacian eigenmaps": lambda density: LaplacianEigenmaps(3, density=density),
    "normalized cut": lambda density: NormalizedCut(3, density=density),
    "novelty": lambda density: KernelPCANovelty(ReducedSetKernelPCA(3, density=density)),
}


def shadow(ell=4.0, **options):
    return ShadowDensity(Gaussian(2.5), ell=ell, **options)


def answer(model, rows=NEW):
    """Return coordinates up to sign, or the scores from a detector."""
    if hasattr(model, "transform"):
        return np.abs(model.transform(rows))
    return model.decision_function(rows)


def embedding_of(model):
    return getattr(model, "embedding_", model)


@pytest.fixture(params=EMBEDDINGS)
def make(request):
    return EMBEDDINGS[request.param]


@pytest.fixture
def solved(monkeypatch, make):
    """Record every eigenproblem that is solved."""
    count = []
    family = type(make(None)) if issubclass(type(make(None)), KernelEmbedding) else None
    family = family or ReducedSetKernelPCA

    def decompose(self, *arguments, decompose=family._decompose):
        count.append(1)
        return decompose(self, *arguments)

    monkeypatch.setattr(family, "_decompose", decompose)
    return count


@pytest.mark.parametrize(
    "density", [shadow(), WindowDensity(150, shadow()), FadingDensity(100.0, shadow())],
    ids=["shadow", "window", "fading"],
)  # fmt: skip
def test_the_eigenproblem_is_solved_only_when_results_are_requested(make, solved, density):
    model = make(density)
    for chunk in np.split(X, 8):
        model.partial_fit(chunk)
    assert len(solved) == 0
    answer(model)
    answer(model, X)
    assert len(solved) == 1
    if hasattr(density, "forget"):
        model.forget(X[-3:]).forget(X[-20:-10])
        assert len(solved) == 1
    model.partial_fit(X[:5])
    assert len(solved) == 1
    answer(model)
    answer(model)
    assert len(solved) == 2


def test_partial_fit_and_forget_result_in_a_model_of_the_remaining_rows(make):
    """Distant rows are removed together with their centers."""
    far = X[:100] + 60.0
    model = make(shadow()).partial_fit(X[:200]).partial_fit(far).partial_fit(X[200:])
    model.forget(far[:50]).forget(far[50:])
    np.testing.assert_allclose(answer(model), answer(make(shadow()).partial_fit(X)), atol=1e-8)


def test_an_exact_window_equals_the_exact_model_of_the_last_rows(make):
    stream = make(WindowDensity(150, shadow(np.inf)))
    for chunk in np.array_split(X, 7):
        stream.partial_fit(chunk)
    expected = make(shadow(np.inf)).partial_fit(X[-150:])
    np.testing.assert_allclose(answer(stream), answer(expected), atol=1e-8)


def test_a_fading_density_is_equivalent_to_decaying_weights(make):
    stream = make(FadingDensity(100.0, shadow(np.inf)))
    for chunk in np.array_split(X, 7):
        stream.partial_fit(chunk)
    weights = 2.0 ** ((np.arange(400) - 399) / 100.0)
    expected = make(shadow(np.inf)).partial_fit(X, sample_weight=weights)
    np.testing.assert_allclose(answer(stream), answer(expected), atol=1e-8)


def test_single_rows_can_be_forgotten_from_a_window(make):
    model = make(WindowDensity(200, shadow())).fit(X)
    model.forget(X[-10:-5])
    inner = embedding_of(model)
    assert inner.reduced_set_.n_samples == 195
    before = fitted_state(inner.density_)
    with pytest.raises(ValueError, match="not in the window"):
        model.forget(X[:1])
    assert fitted_state(inner.density_) == before


def test_clusters_follow_the_window():
    model = NormalizedCut(2, density=WindowDensity(100, shadow()))
    model.partial_fit(X).partial_fit(X[:50])
    np.testing.assert_array_equal(model.labels_, model.predict(X[:50]))


@pytest.mark.parametrize("density", [WindowDensity(150, shadow()), FadingDensity(50.0, shadow())])
def test_refine_on_uses_the_rows_in_the_window(density):
    model = ReducedSetKernelPCA(3, density=density, refine="nystrom")
    with pytest.raises(ValueError, match=r'refine="nystrom" gives every row.*call refine_on'):
        model.fit(X)
    assert not hasattr(model, "density_")


def test_a_window_model_can_be_refined_on_its_rows():
    window = WindowDensity(150, shadow())
    model = ReducedSetKernelPCA(3, density=window).fit(X).refine_on(X[-150:])
    exact = ReducedSetKernelPCA(3, density=shadow(np.inf)).fit(X[-150:])
    np.testing.assert_allclose(answer(model), answer(exact), atol=0.01)
    with pytest.raises(ValueError, match="Pass the same rows"):
        model.refine_on(X)


# ------------------------------------------------------------------------- warm starts


def test_a_warm_start_keeps_the_bandwidth_and_the_centers_and_recounts_the_rows(make):
    model = make(ShadowDensity(warm_start=True))
    first = embedding_of(model.fit(X))
    bandwidth, old = first.kernel_.bandwidth, first.reduced_set_
    later = datasets.blobs(300, 2, seed=0)[:250] + 0.05
    second = embedding_of(model.fit(later))
    s = second.reduced_set_
    assert second.kernel_.bandwidth == second.density_.kernel_.bandwidth == bandwidth
    assert s.n_samples == 250
    known = {tuple(center) for center in old.centers}
    shared = sum(tuple(center) in known for center in s.centers)
    assert shared > 0.5 * s.n_centers
    cold = embedding_of(make(ShadowDensity()).fit(later)).reduced_set_
    assert not {tuple(center) for center in cold.centers} & known
    assert np.linalg.norm(later - s.centers[second.density_.labels_], axis=1).max() < s.radius
    answer(model)


def test_a_warm_start_on_the_same_rows_has_no_effect(make):
    model = make(ShadowDensity(warm_start=True)).fit(X)
    expected = answer(model)
    np.testing.assert_array_equal(answer(model.fit(X)), expected)


def test_a_warm_start_uses_changed_parameters():
    model = ReducedSetKernelPCA(2, density=ShadowDensity(ell=3.0, warm_start=True)).fit(X)
    coarse = model.reduced_set_.centers
    model.set_params(density__ell=6.0, n_components=3).fit(X)
    fine = model.reduced_set_
    assert {tuple(c) for c in coarse} <= {tuple(c) for c in fine.centers}  # the covers are nested
    assert model.transform(NEW).shape == (40, 3)
    model.set_params(bandwidth=1.0).fit(X)
    assert model.kernel_.bandwidth == 1.0


@pytest.mark.parametrize("verb", ["partial_fit", "forget"])
@pytest.mark.parametrize("density", [ShadowDensity(), WindowDensity(300)])
def test_a_copy_of_an_embedding_is_independent(verb, density):
    model = ReducedSetKernelPCA(2, bandwidth=2.0, density=density).fit(X[:100])
    model.partial_fit(X[100:150])
    s, system = model.reduced_set_, model.eigensystem_
    getattr(copy.copy(model), verb)(X[140:150])
    assert model.reduced_set_ == s
    assert model.eigensystem_ is system


def test_a_copy_continues_the_stream_independently():
    one = ReducedSetKernelPCA(2, bandwidth=2.0).partial_fit(X[:100]).partial_fit(X[100:150])
    two = copy.copy(one).partial_fit(5 + X[150:])
    one.partial_fit(X[150:])
    for model, rows in ((one, X[150:]), (two, 5 + X[150:])):
        whole = ReducedSetKernelPCA(2, bandwidth=2.0).fit(np.r_[X[:150], rows])
        assert model.reduced_set_ == whole.reduced_set_


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"density": WindowDensity(50)}, "fitted with a ShadowDensity.*call fit to start over"),
        ({"density": KMeansDensity(5)}, "density is a KMeansDensity, but"),
    ],
)
def test_the_density_cannot_change_within_a_stream(changed, message):
    model = ReducedSetKernelPCA(2, bandwidth=2.0).fit(X)
    with pytest.raises(ValueError, match=message):
        model.set_params(**changed).partial_fit(X)


def test_the_window_cannot_change_within_a_stream():
    model = ReducedSetKernelPCA(2, bandwidth=2.0, density=WindowDensity(50)).fit(X)
    with pytest.raises(ValueError, match="window is 60, but the stream was started with 50"):
        model.set_params(density__window=60).partial_fit(X)


def test_updating_a_model_that_does_not_support_streaming_is_reported():
    model = ReducedSetKernelPCA(2, bandwidth=2.0, density=KMeansDensity(5)).fit(X)
    with pytest.raises(AttributeError, match="partial_fit") as error:
        model.set_params(density=ShadowDensity()).partial_fit(X)
    assert "KMeansDensity does not support partial_fit. Use a ShadowDensity and call fit" in str(
        error.value.__cause__
    )


def test_labels_are_unavailable_after_a_merge():
    parts = [NormalizedCut(2, bandwidth=2.0).fit(part) for part in (X[:100], X[100:])]
    with pytest.raises(AttributeError, match="merge or a fit in blocks"):
        _ = merge(*parts).labels_
