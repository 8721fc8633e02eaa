"""Test novelty detection: the reconstruction error and the scikit-learn conventions."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import roc_auc_score

from rskpca import (
    FadingDensity,
    Gaussian,
    KernelPCANovelty,
    Laplacian,
    NystromKernelPCA,
    ReducedSetKernelPCA,
)
from rskpca.spectral import FeatureSpace, Moments, ritz
from tests import datasets, dense
from tests.states import fitted_state

X_GOOD = datasets.blobs(100, 2)
DATA = {
    "german": (lambda: datasets.load("german", step=2), 30.0),
    "digits": (lambda: datasets.load("digits", step=4), 40.0),
}


def dense_error(kernel, X, n_components, center, new):
    """Return ||(psi(x) - mean) - P (psi(x) - mean)||^2 from the n x n matrix."""
    exact = dense.KernelPCA(kernel, X, n_components, center)
    squared = 1.0
    if center:
        rows = np.exp(dense.log_kernel(kernel, new, X)).mean(axis=1)
        squared = 1.0 - 2 * rows + exact.K.mean()
    return squared - np.sum(exact.transform(new) ** 2, axis=1)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("ell", [2.0, np.inf])
@pytest.mark.parametrize("family", [Gaussian, Laplacian])
def test_the_reconstruction_error_equals_that_of_the_quantized_data(name, center, ell, family):
    load, bandwidth = DATA[name]
    X, kernel = load(), family(bandwidth)
    model = ReducedSetKernelPCA(7, kernel=kernel, ell=ell, center=center).fit(X[::2])
    quantized = model.reduced_set_.centers[model.density_.labels_]
    expected = dense_error(kernel, quantized, 7, center, X)
    np.testing.assert_allclose(model.reconstruction_error(X), expected, atol=1e-8, rtol=0)
    np.testing.assert_array_equal(model.score_samples(X), -model.reconstruction_error(X))


@pytest.mark.parametrize("center", [True, False])
def test_a_ritz_basis_of_all_centers_gives_the_same_result(center):
    X, new = datasets.blobs(60, 3), datasets.blobs(30, 3, seed=1)
    model = ReducedSetKernelPCA(5, bandwidth=2.0, ell=3.0, center=center).fit(X)
    s = model.reduced_set_
    moments = Moments.of(model.kernel_, s.centers).add(s.centers, s.weights)
    residuals = FeatureSpace.of(ritz(moments, 5, center=center)).residuals(new)
    np.testing.assert_allclose(residuals, model.reconstruction_error(new), atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("center", [True, False])
def test_the_reconstruction_error_is_non_negative_and_vanishes_with_all_components(dtype, center):
    X = datasets.blobs(100, 2, dtype=dtype)
    model = ReducedSetKernelPCA(bandwidth=4.0, ell=8.0, center=center).fit(X)
    error = model.reconstruction_error(model.reduced_set_.centers)
    assert error.dtype == dtype
    assert np.all(error >= 0)
    # Up to m eigenvalues, each at most m eps times the first, cannot be distinguished from 0.
    dropped = model.n_centers_**2 * np.finfo(np.float64).eps * model.eigenvalues_[0]
    assert error.max() < dropped + 100 * np.finfo(dtype).eps
    assert model.reconstruction_error(X + dtype(1e3)).min() >= 1.0 - 1e-6


def test_the_error_with_a_wide_kernel_equals_that_of_linear_pca():
    """exp(-r^2/s^2) is about 1 - r^2/s^2, which gives linear PCA after centering."""
    X = datasets.blobs(200, 5)
    model = ReducedSetKernelPCA(2, bandwidth=1e3, ell=np.inf).fit(X)
    linear = PCA(2).fit(X)
    left = np.sum((X - linear.inverse_transform(linear.transform(X))) ** 2, axis=1)
    np.testing.assert_allclose(model.reconstruction_error(X) * 1e6 / 2, left, rtol=0.01, atol=0.01)


@pytest.mark.parametrize("center", [True, False])
def test_integer_weights_are_equivalent_to_repeated_rows(center):
    X, new = datasets.blobs(200, 3), datasets.blobs(40, 3, seed=1)
    weights = np.random.default_rng(0).integers(0, 4, size=200)
    embedding = ReducedSetKernelPCA(4, bandwidth=4.0, ell=3.0, center=center)
    weighted = KernelPCANovelty(embedding).fit(X, sample_weight=weights)
    repeated = KernelPCANovelty(embedding).fit(np.repeat(X, weights, axis=0))
    assert weighted.offset_ == pytest.approx(repeated.offset_, abs=1e-10)
    np.testing.assert_allclose(
        weighted.decision_function(new), repeated.decision_function(new), atol=1e-10
    )


# ----------------------------------------------------------------------------- the detector


@pytest.mark.parametrize("contamination", [0.001, 0.05, 0.1, 0.29, 0.5])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_contamination_is_the_share_of_training_outliers(contamination, dtype):
    X = datasets.blobs(300, 3, dtype=dtype)
    model = KernelPCANovelty(ReducedSetKernelPCA(4, ell=8.0), contamination=contamination).fit(X)
    found = np.sum(model.predict(X) == -1)
    assert found == int(300 * contamination + 1e-9)


def test_scores_follow_the_scikit_learn_convention():
    X, new = datasets.blobs(300, 3), datasets.blobs(100, 3, seed=3)
    model = KernelPCANovelty(ReducedSetKernelPCA(4)).fit(X)
    scores = model.score_samples(new)
    np.testing.assert_array_equal(scores, model.embedding_.score_samples(new))
    np.testing.assert_array_equal(model.decision_function(new), scores - model.offset_)
    np.testing.assert_array_equal(model.predict(new), np.where(scores < model.offset_, -1, 1))
    np.testing.assert_array_equal(model.fit_predict(X), model.predict(X))
    assert model.certificate_.summary == model.embedding_.certificate_.summary
    assert isinstance(model.embedding, ReducedSetKernelPCA)
    assert not hasattr(model.embedding, "density_")
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(new), model.predict(new))


@pytest.mark.parametrize("seed", range(5))
def test_two_outliers_in_fifty_rows_are_detected_by_default(seed):
    """With a component for each outlier, their reconstruction errors would be the smallest."""
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(size=(48, 5)), 8 + rng.normal(size=(2, 5))])
    outliers = np.arange(50) >= 48
    model = KernelPCANovelty().fit(X)
    assert roc_auc_score(outliers, -model.score_samples(X)) > 0.95
    thirty = KernelPCANovelty(ReducedSetKernelPCA(30)).fit(X)
    assert roc_auc_score(outliers, -thirty.score_samples(X)) < 0.5


def test_the_default_uses_components_that_more_than_four_rows_share():
    X = datasets.blobs(300, 3)
    model = KernelPCANovelty(bandwidth=3.0).fit(X)
    embedded = model.embedding_.model_
    count = np.count_nonzero(embedded.eigenvalues > 4 * embedded.reduced_set.weights.min())
    assert 1 < count < len(embedded.eigenvalues) == 30
    expected = ReducedSetKernelPCA(count, bandwidth=3.0).fit(X)
    np.testing.assert_allclose(model.score_samples(X), expected.score_samples(X), atol=1e-8)
    np.testing.assert_array_equal(model.model_.eigenvalues, embedded.eigenvalues[:count])
    scaled = KernelPCANovelty(bandwidth=3.0).fit(X, sample_weight=np.full(300, 1e-3))
    np.testing.assert_allclose(scaled.score_samples(X), model.score_samples(X), atol=1e-8)


def test_a_stream_uses_the_same_components_as_a_batch():
    X = datasets.blobs(300, 3)
    batch = KernelPCANovelty(bandwidth=2.0).fit(X)
    stream = KernelPCANovelty(bandwidth=2.0)
    for part in np.array_split(X, 3):
        stream.partial_fit(part)
    np.testing.assert_array_equal(stream.score_samples(X), batch.score_samples(X))


def test_the_bandwidth_of_the_default_embedding_can_be_set():
    X = datasets.blobs(100, 2)
    assert KernelPCANovelty(bandwidth=3.0).fit(X).embedding_.kernel_.bandwidth == 3.0
    with pytest.raises(ValueError, match=r"bandwidth=3.0 cannot be combined with embedding"):
        KernelPCANovelty(ReducedSetKernelPCA(2), bandwidth=3.0).fit(X)
    with pytest.raises(ValueError, match="bandwidth must be a positive"):
        KernelPCANovelty(bandwidth=-1.0).fit(X)


def test_points_far_from_the_data_are_detected():
    X, y = load_digits(return_X_y=True)
    train, new, novel = X[:1200][y[:1200] == 3], X[1200:], y[1200:] != 3
    exact = ReducedSetKernelPCA(10, bandwidth=35.0, ell=np.inf).fit(train)
    detector = KernelPCANovelty(ReducedSetKernelPCA(10, bandwidth=35.0, ell=2.0)).fit(train)
    area = roc_auc_score(novel, -detector.decision_function(new))
    expected = roc_auc_score(novel, exact.reconstruction_error(new))
    assert detector.embedding_.n_centers_ < 0.8 * len(train)
    assert expected > 0.97
    assert abs(area - expected) < 0.01


def test_the_threshold_of_a_stream_is_a_weighted_quantile_over_the_centers():
    X, new = datasets.blobs(400, 3), datasets.blobs(100, 3, seed=3)
    embedding = ReducedSetKernelPCA(4, bandwidth=3.0)
    stream = KernelPCANovelty(embedding)
    for rows in np.split(X, 4):
        stream.partial_fit(rows)
    whole = KernelPCANovelty(embedding).fit(X)
    np.testing.assert_array_equal(stream.score_samples(new), whole.score_samples(new))
    s = stream.embedding_.reduced_set_
    scores = stream.score_samples(s.centers)
    order = np.argsort(scores)
    below = np.cumsum(s.weights[order])
    called = scores[order] < stream.offset_
    np.testing.assert_array_equal(called, below <= 0.1 * s.n_samples)
    assert np.mean(stream.predict(X) != whole.predict(X)) < 0.1
    stream.forget(X[300:])
    assert stream.embedding_.reduced_set_.n_samples == 300
    assert np.isfinite(stream.decision_function(new)).all()


def test_a_rejected_chunk_leaves_the_detector_unchanged():
    X = datasets.blobs(200, 3)
    model = KernelPCANovelty(ReducedSetKernelPCA(4)).fit(X)
    before = fitted_state(model)
    for call in (model.partial_fit, model.forget):
        with pytest.raises(ValueError, match="NaN"):
            call(X * np.nan)
        with pytest.raises(ValueError, match="X has 2 features, but KernelPCANovelty"):
            call(X[:, :2])
    assert fitted_state(model) == before


@pytest.mark.parametrize("contamination", [0, 0.0, -0.1, 0.51, 1, np.nan, "auto", None, True])
def test_a_contamination_out_of_range_is_rejected(contamination):
    model = KernelPCANovelty(contamination=contamination)
    with pytest.raises(ValueError, match=r"contamination must be .* at most 0\.5, got"):
        model.fit(datasets.blobs(50, 2))


def test_an_invalid_contamination_set_after_fit_is_rejected_when_it_is_used():
    model = KernelPCANovelty(ReducedSetKernelPCA(2)).partial_fit(datasets.blobs(50, 2))
    with pytest.raises(ValueError, match=r"contamination must be .* got 5"):
        model.set_params(contamination=5).predict(datasets.blobs(5, 2))


def test_landmarks_determine_the_threshold_of_a_stream():
    X = datasets.blobs(300, 3)
    model = KernelPCANovelty(NystromKernelPCA(5, landmarks=60), contamination=0.2)
    for part in np.array_split(X, 3):
        model.partial_fit(part)
    assert np.mean(model.predict(model.embedding_.landmarks_) == -1) == pytest.approx(0.2, abs=0.02)
    assert model.predict(X.mean(axis=0, keepdims=True) + 100) == -1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_offset_is_a_python_float(dtype):
    X = datasets.blobs(100, 3).astype(dtype)
    assert type(KernelPCANovelty().fit(X).offset_) is float
    assert type(KernelPCANovelty().partial_fit(X).offset_) is float


def test_the_embedding_must_be_kernel_pca():
    with pytest.raises(TypeError, match=r"embedding must be a kernel PCA model .*, got PCA"):
        KernelPCANovelty(PCA(2)).fit(datasets.blobs(50, 2))


def test_identical_points_are_rejected_by_default():
    with pytest.raises(ValueError, match="the kernel cannot distinguish"):
        KernelPCANovelty(ReducedSetKernelPCA(2, bandwidth=1.0)).fit(np.ones((10, 2)))


@pytest.mark.parametrize("verb", ["partial_fit", "forget"])
def test_an_embedding_without_partial_fit_is_reported(verb):
    class Batch(ReducedSetKernelPCA):
        partial_fit = property()  # raises AttributeError

        forget = property()

    for model in (KernelPCANovelty(Batch(2)), KernelPCANovelty(Batch(2)).fit(X_GOOD)):
        assert not hasattr(model, verb)


def test_a_density_without_forget_is_reported():
    model = KernelPCANovelty(ReducedSetKernelPCA(2, density=FadingDensity(10.0))).fit(X_GOOD)
    assert hasattr(model, "partial_fit")
    with pytest.raises(AttributeError, match="forget") as error:
        model.forget(X_GOOD[:1])
    assert "FadingDensity does not support forget" in str(error.value.__cause__.__cause__)


@pytest.mark.parametrize("verb", ["partial_fit", "forget"])
def test_a_copy_of_a_detector_is_independent(verb):
    model = KernelPCANovelty(ReducedSetKernelPCA(2, bandwidth=2.0)).fit(X_GOOD)
    expected = model.decision_function(X_GOOD)
    getattr(copy.copy(model), verb)(X_GOOD[:20])
    np.testing.assert_array_equal(model.decision_function(X_GOOD), expected)
    assert model.embedding_.reduced_set_.n_samples == len(X_GOOD)
