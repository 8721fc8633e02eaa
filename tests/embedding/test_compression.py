"""Test that data that do not compress are detected before the fit starts, or in the stream."""

import numpy as np
import pytest
from sklearn.base import clone

from rskpca import (
    DiffusionMaps,
    KernelPCANovelty,
    KMeansDensity,
    LaplacianEigenmaps,
    NormalizedCut,
    NystromKernelPCA,
    ReducedSetKernelPCA,
    ShadowDensity,
    WindowDensity,
    merge,
)
from rskpca.density import _counting
from rskpca.density.forecast import roughly_forecast
from rskpca.embedding import _base, _walk
from rskpca.embedding._base import TooManyCentersError
from rskpca.kernels import sklearn_kernel
from tests import datasets
from tests.states import fitted_state

NOISE = np.random.default_rng(0).uniform(size=(20_000, 24))
WALKS = [DiffusionMaps(2), LaplacianEigenmaps(2), NormalizedCut(3)]


@pytest.fixture
def few_centers(monkeypatch):
    """Lower the limits so that the tests need only a few rows."""
    monkeypatch.setattr(_base.KernelEmbedding, "_most_centers", 500)
    monkeypatch.setattr(_walk.WalkEmbedding, "_most_centers", 500)
    monkeypatch.setattr(_walk, "_N_MEANS", 100)
    return NOISE[:1500, :8]


@pytest.mark.parametrize(
    "estimator",
    [ReducedSetKernelPCA(7), KernelPCANovelty(ReducedSetKernelPCA(7))],
    ids=["kernel PCA", "novelty"],
)
def test_rows_that_are_far_apart_are_rejected_with_advice(estimator):
    advice = 'or NystromKernelPCA\\(7, landmarks="auto"\\)'
    with pytest.raises(ValueError, match=f"The data do not compress at this radius.*{advice}"):
        estimator.fit(NOISE)


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: type(walk).__name__)
def test_walks_use_means_as_centers_if_rows_are_far_apart(walk, few_centers):
    model = walk.fit(few_centers)
    same = type(walk)(kernel=model.kernel_, density=KMeansDensity(100, max_iter=3))
    same.set_params(**{walk._size_name: walk._size}).fit(few_centers)
    assert isinstance(model.density_, KMeansDensity)
    np.testing.assert_array_equal(model.transform(few_centers), same.transform(few_centers))
    assert "100 centers, because the default cover would have more than 500" in model.method_
    assert model.certificate_ is not None


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: type(walk).__name__)
def test_a_walk_with_an_explicit_ell_always_uses_a_cover(walk, few_centers):
    model = type(walk)(ell=4.0).fit(few_centers)
    assert isinstance(model.density_, ShadowDensity)
    assert model.method_ == f"ShadowDensity represents 1,500 rows by {model.n_centers_:,} centers."


def test_a_neighbor_graph_permits_many_centers(few_centers):
    assert LaplacianEigenmaps(2, graph=10).fit(few_centers).n_centers_ > 500


def test_far_too_many_centers_are_rejected_even_with_an_explicit_ell():
    with pytest.raises(ValueError, match="density=KMeansDensity\\(2000, max_iter=3\\)"):
        DiffusionMaps(2, ell=4.0).fit(NOISE)


def test_many_centers_that_were_requested_are_announced(monkeypatch, recwarn):
    monkeypatch.setattr(_base, "MOST_CENTERS", 200)
    X = datasets.blobs(1500, 3)
    with pytest.warns(UserWarning, match=r"About \d{3} of 1,500 rows will become centers.*minutes"):
        model = ReducedSetKernelPCA(2, bandwidth=2.0, ell=5.0).fit(X)
    assert 200 < model.n_centers_ < 750
    recwarn.clear()
    ReducedSetKernelPCA(2, bandwidth=2.0, ell=1.0).fit(X)
    assert not recwarn.list


def test_means_of_weighted_rows_equal_those_of_repeated_rows(few_centers):
    X, counts = few_centers[:900], np.random.default_rng(1).integers(1, 4, size=900)
    weighted = DiffusionMaps(2, bandwidth=0.4).fit(X, sample_weight=counts)
    repeated = DiffusionMaps(2, bandwidth=0.4).fit(np.repeat(X, counts, axis=0))
    assert isinstance(weighted.density_, KMeansDensity)
    np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-9)


def test_novelty_uses_landmarks_for_rows_that_are_far_apart(few_centers):
    model = KernelPCANovelty().fit(few_centers)
    assert isinstance(model.embedding_, NystromKernelPCA)
    assert "landmarks, because the default cover" in model.method_
    assert np.mean(model.predict(few_centers) < 0) == pytest.approx(0.1, abs=0.01)
    far = few_centers[:50] + 3.0
    assert (model.predict(far) == -1).all()


def test_landmarks_do_not_hide_isolated_rows(few_centers):
    X = np.vstack([few_centers, [[9.0] * 8]])
    scores = KernelPCANovelty().fit(X).score_samples(X)
    assert np.argmin(scores) == len(X) - 1


def test_a_novelty_detector_with_an_explicit_embedding_always_uses_a_cover(few_centers):
    embedding = ReducedSetKernelPCA(30, ell=4.0)
    model = KernelPCANovelty(embedding).fit(few_centers)
    assert isinstance(model.embedding_.density_, ShadowDensity)


def test_a_limit_on_the_number_of_centers_permits_the_fit():
    density = ShadowDensity(max_centers=200)
    assert ReducedSetKernelPCA(2, density=density).fit(NOISE).n_centers_ <= 200


def test_data_that_compress_are_fitted(monkeypatch):
    monkeypatch.setattr(_base.KernelEmbedding, "_most_centers", 500)
    X = datasets.blobs(5_000, 2)
    assert ReducedSetKernelPCA(2).fit(X).n_centers_ <= 500


@pytest.mark.parametrize("radius", [0.3, 1.0])
def test_the_rough_forecast_is_within_a_factor_of_two(radius):
    X = datasets.blobs(30_000, 3)
    actual = ShadowDensity(ell=4.0).fit(X)
    found = roughly_forecast(X, actual.kernel_.scale / 4 * radius, np.random.RandomState(0))
    counted = ShadowDensity(actual.kernel_, ell=4.0 / radius).fit(X).reduced_set_.n_centers
    assert counted / 2 < found < 2 * counted


# ------------------------------------------------------------------------ kernels of any kind

COSINE = sklearn_kernel("cosine", n_features=8)


def test_rows_that_are_far_apart_in_feature_space_are_rejected(few_centers):
    with pytest.raises(TooManyCentersError, match="of 1,500 rows would become centers"):
        ReducedSetKernelPCA(2, kernel=COSINE).fit(few_centers - 0.5)


def test_data_that_compress_in_feature_space_are_fitted(few_centers):
    lengths = np.linspace(1, 9, len(few_centers))[:, None]  # the cosine kernel ignores them
    X = lengths * np.repeat(few_centers[:15], 100, axis=0)
    assert ReducedSetKernelPCA(2, kernel=COSINE).fit(X).n_centers_ <= 15


def test_the_rough_forecast_in_feature_space_is_within_a_factor_of_two():
    X, radius = NOISE[:6000, :4] - 0.5, 0.2
    kernel = sklearn_kernel("cosine", n_features=4)
    found = roughly_forecast(X, radius, np.random.RandomState(0), kernel)
    counted = _counting.open_cover(radius, X[:0], kernel).extend(X)[0].max() + 1
    assert counted / 2 < found < 2 * counted


# ------------------------------------------------------------------------ streams

STREAMS = [ReducedSetKernelPCA(7), KernelPCANovelty(), *WALKS]


@pytest.fixture
def short_streams(monkeypatch):
    """Lower the limit so that a few hundred rows are too many centers."""
    monkeypatch.setattr(_counting, "MOST_CENTERS", 400)


@pytest.mark.parametrize("estimator", STREAMS, ids=lambda model: type(model).__name__)
def test_a_chunk_that_makes_a_stream_run_away_is_not_added(estimator, short_streams):
    model = clone(estimator).partial_fit(NOISE[:300])
    coordinates = model.model_.embed(NOISE[:20])
    before = fitted_state(model)
    with pytest.raises(TooManyCentersError, match="600 of the first 600 rows became"):
        model.partial_fit(NOISE[300:600])
    assert fitted_state(model) == before
    np.testing.assert_array_equal(model.model_.embed(NOISE[:20]), coordinates)
    same = clone(estimator).partial_fit(NOISE[:300]).partial_fit(NOISE[200:350])
    model.partial_fit(NOISE[200:350])  # the stream can continue with other rows
    assert _reduced_set(model) == _reduced_set(same)


def _reduced_set(model):
    return getattr(model, "embedding_", model).reduced_set_


@pytest.mark.parametrize("estimator", STREAMS, ids=lambda model: type(model).__name__)
def test_a_long_first_chunk_is_rejected_before_all_of_its_rows_are_covered(
    estimator, short_streams
):
    model = clone(estimator)
    with pytest.raises(TooManyCentersError, match="512 of the first 512 rows"):
        model.partial_fit(NOISE)
    assert fitted_state(model) == fitted_state(clone(estimator))


def test_a_stream_with_a_kernel_that_is_not_radial_is_rejected(short_streams):
    model = ReducedSetKernelPCA(2, kernel=COSINE, ell=8.0).partial_fit(NOISE[:300, :8] - 0.5)
    with pytest.raises(TooManyCentersError, match="of the first 812 rows became centers"):
        model.partial_fit(NOISE[300:1500, :8] - 0.5)


def test_the_error_in_a_stream_suggests_a_density_for_chunks(short_streams):
    with pytest.raises(ValueError, match=r"density=ShadowDensity\(max_centers=2000\)"):
        DiffusionMaps(2).partial_fit(NOISE)


@pytest.mark.parametrize(
    "options",
    [
        {"ell": np.inf},
        {"density": ShadowDensity(max_centers=450)},
        {"density": WindowDensity(1000)},
    ],
    ids=["every row", "max_centers", "window"],
)
def test_streams_that_cannot_run_away_are_accepted(options, short_streams):
    model = ReducedSetKernelPCA(2, bandwidth=1.0, **options)
    for rows in (NOISE[:500], NOISE[500:900]):
        model.partial_fit(rows)
    assert model.reduced_set_.n_samples == 900


@pytest.mark.parametrize("size", [0, 2000])
def test_a_stream_may_have_many_centers_if_most_rows_join_them(size, short_streams):
    model = ReducedSetKernelPCA(2, bandwidth=1.0, density=ShadowDensity(sample_size=size))
    for rows in np.split(np.repeat(NOISE[:600], 3, axis=0), 4):
        model.partial_fit(rows)
    assert model.n_centers_ == 600


@pytest.mark.parametrize("weight", [1e-3, 100.0])
def test_rows_in_a_stream_are_counted_regardless_of_their_weights(weight, short_streams):
    model = ReducedSetKernelPCA(2, bandwidth=1.0)
    for rows in np.split(np.repeat(NOISE[:600], 10, axis=0), 4):
        model.partial_fit(rows, sample_weight=np.full(len(rows), weight))
    model = ReducedSetKernelPCA(2, bandwidth=1.0).partial_fit(
        NOISE[:300], sample_weight=np.full(300, weight)
    )
    with pytest.raises(TooManyCentersError, match="600 of the first 600 rows"):
        model.partial_fit(NOISE[300:600], sample_weight=np.full(300, weight))


@pytest.mark.parametrize("weight", [1.0, 0.01])
def test_merged_streams_count_the_rows_of_all_parts(weight, short_streams):
    parts = [
        ReducedSetKernelPCA(2, bandwidth=1.0).partial_fit(rows, sample_weight=[weight] * len(rows))
        for rows in np.split(np.repeat(NOISE[:500], 3, axis=0), 2)
    ]
    model = merge(*parts).partial_fit(NOISE[:1])
    assert model.n_centers_ == 500
