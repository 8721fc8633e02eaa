"""Test the Nystrom methods against a few lines of dense NumPy."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from rskpca import (
    Gaussian,
    KMeansDensity,
    Laplacian,
    NystromKernelPCA,
    ReducedSet,
    ReducedSetKernelPCA,
    ShadowDensity,
)
from rskpca.baselines import SubsampledKernelPCA, UniformDensity, WeightedNystromKernelPCA
from rskpca.baselines.methods import embedding_error
from rskpca.spectral.landmarks import RULES
from tests import datasets, dense
from tests.embedding.invariants import EmbeddingInvariants


class TestLandmarks(EmbeddingInvariants):
    def make(self, n_components=4, **parameters):
        return NystromKernelPCA(n_components, landmarks=30, **parameters)


class TestMeans(EmbeddingInvariants):
    def make(self, n_components=4, **parameters):
        return NystromKernelPCA(n_components, landmarks="means", n_centers=30, **parameters)


class TestData(EmbeddingInvariants):
    def make(self, n_components=4, **parameters):
        return NystromKernelPCA(n_components, landmarks=30, extension="data", **parameters)


class TestWeightedLandmarks(EmbeddingInvariants):
    def make(self, n_components=4, **parameters):
        return WeightedNystromKernelPCA(n_components, n_centers=30, **parameters)


class TestWeightedData(EmbeddingInvariants):
    def make(self, n_components=4, **parameters):
        return WeightedNystromKernelPCA(n_components, n_centers=30, extension="data", **parameters)


class TestSubsampled(EmbeddingInvariants):
    def make(self, n_components=4, **parameters):
        return SubsampledKernelPCA(n_components, n_centers=40, **parameters)


# ---------------------------------------------------------------- the dense formulas

DATA = {"german": (lambda: datasets.load("german"), 30.0), "digits": (
    lambda: datasets.load("digits", step=2), 60.0)}  # fmt: skip


@pytest.fixture(params=DATA)
def case(request):
    """Return training rows, new rows and the kernel."""
    load, bandwidth = DATA[request.param]
    X = load()
    cut = int(0.8 * len(X))
    return X[:cut], X[cut:], Gaussian(bandwidth)


def k(kernel, X, Y):
    return np.exp(dense.log_kernel(kernel, X, Y))


def leading(values, vectors, r):
    order = np.argsort(-values)[:r]
    return values[order], vectors[:, order]


def dense_nystrom_through_data(kernel, Z, w, X, new, r):
    """Extend eigenvectors to X and from there to new rows, as Zhang and Kwok do.

    They satisfy K_ZZ W phi = lambda phi and phi(x) = k(x, Z) W phi / lambda.
    """
    values, vectors = np.linalg.eig(k(kernel, Z, Z) * w)
    values, vectors = leading(values.real, vectors.real, r)
    vectors /= np.sqrt(np.sum(w[:, None] * vectors**2, axis=0))
    u = k(kernel, X, Z) * w @ vectors / values
    return values, k(kernel, new, X) @ u / np.sqrt(values)


def dense_nystrom_on_landmarks(kernel, Z, X, new, r, center):
    values, vectors = np.linalg.eigh(k(kernel, Z, Z))
    kept = values > 1e-11 * values[-1]
    whiten = vectors[:, kept] / np.sqrt(values[kept])
    B = k(kernel, X, Z) @ whiten
    mean = B.mean(axis=0) if center else 0
    values, axes = leading(*np.linalg.eigh((B - mean).T @ (B - mean)), r)
    return values, (k(kernel, new, Z) @ whiten - mean) @ axes


@pytest.mark.parametrize("center", [False, True])
def test_extension_on_landmarks_equals_the_dense_formula(case, center):
    X, new, kernel = case
    model = NystromKernelPCA(5, kernel=kernel, landmarks=60, center=center).fit(X)
    values, Z = dense_nystrom_on_landmarks(kernel, model.landmarks_, X, new, 5, center)
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-8)
    dense.assert_equal_up_to_sign(model.transform(new), Z, 1e-8)


def test_extension_through_the_data_equals_the_dense_formula(case):
    X, new, kernel = case
    model = NystromKernelPCA(5, kernel=kernel, landmarks=60, center=False, extension="data").fit(X)
    weights = np.full(60, len(X) / 60)
    values, Z = dense_nystrom_through_data(kernel, model.landmarks_, weights, X, new, 5)
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-8)
    dense.assert_equal_up_to_sign(model.transform(new), Z, 1e-8)
    # Williams and Seeger's own scaling: sqrt(m/n) K_nm U / lambda, (n/m) lambda
    lam, U = leading(*np.linalg.eigh(k(kernel, model.landmarks_, model.landmarks_)), 5)
    u = np.sqrt(60 / len(X)) * k(kernel, X, model.landmarks_) @ U / lam
    np.testing.assert_allclose(model.eigenvalues_, len(X) / 60 * lam, rtol=1e-8)
    dense.assert_equal_up_to_sign(
        model.transform(new), k(kernel, new, X) @ u / np.sqrt(len(X) / 60 * lam), 1e-8
    )


def test_centered_extension_through_the_data_equals_the_dense_formula(case):
    X, new, kernel = case
    model = NystromKernelPCA(4, kernel=kernel, landmarks=50, extension="data").fit(X)
    Z, n, m = model.landmarks_, len(X), 50

    def centered(K, of):
        return K - K.mean(axis=1)[:, None] - of.mean(axis=0) + of.mean()

    K_ZZ = k(kernel, Z, Z)
    lam, U = leading(*np.linalg.eigh(centered(K_ZZ, K_ZZ)), 4)
    u = np.sqrt(m / n) * centered(k(kernel, X, Z), K_ZZ) @ U / lam
    projected = centered(k(kernel, new, X), k(kernel, X, X)) @ u / np.sqrt(n / m * lam)
    dense.assert_equal_up_to_sign(model.transform(new), projected, 1e-8)


def test_weighted_extension_through_the_data_equals_the_dense_formula(case):
    X, new, kernel = case
    model = WeightedNystromKernelPCA(
        5, n_centers=60, kernel=kernel, center=False, extension="data"
    ).fit(X)
    s = model.reduced_set_
    values, Z = dense_nystrom_through_data(kernel, s.centers, s.weights, X, new, 5)
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-8)
    dense.assert_equal_up_to_sign(model.transform(new), Z, 1e-8)
    assert model.basis_.shape == X.shape


def test_weighted_extension_on_landmarks_equals_the_reduced_set_method_with_k_means(case):
    X, new, kernel = case
    model = WeightedNystromKernelPCA(5, n_centers=60, kernel=kernel).fit(X)
    other = ReducedSetKernelPCA(5, density=KMeansDensity(60), kernel=kernel).fit(X)
    np.testing.assert_array_equal(model.transform(new), other.transform(new))
    values, _ = leading(
        *np.linalg.eig(
            k(kernel, model.landmarks_, model.landmarks_) * model.reduced_set_.weights
        ), 5
    )  # fmt: skip
    plain = WeightedNystromKernelPCA(5, n_centers=60, kernel=kernel, center=False).fit(X)
    np.testing.assert_allclose(plain.eigenvalues_, values.real, rtol=1e-8)


@pytest.mark.parametrize("center", [False, True])
def test_subsampled_kernel_pca_equals_kernel_pca_of_the_subset(case, center):
    X, new, kernel = case
    model = SubsampledKernelPCA(5, n_centers=200, kernel=kernel, center=center).fit(X)
    rows = model.reduced_set_.centers
    assert set(map(tuple, rows)) <= set(map(tuple, X))
    exact = dense.KernelPCA(kernel, rows, 5, center=center)
    np.testing.assert_allclose(
        model.eigenvalues_, exact.eigenvalues * len(X) / len(rows), rtol=1e-8
    )
    dense.assert_equal_up_to_sign(model.transform(new), exact.transform(new), 1e-8)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("extension", ["landmarks", "data"])
def test_using_all_points_as_landmarks_gives_exact_kernel_pca(case, extension, center):
    X, new, kernel = case
    model = NystromKernelPCA(5, kernel=kernel, landmarks=X, extension=extension, center=center).fit(
        X
    )
    exact = dense.KernelPCA(kernel, X, 5, center=center)
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues, rtol=1e-8)
    dense.assert_equal_up_to_sign(model.transform(new), exact.transform(new), 1e-8)
    total = np.trace(exact._centered(exact.K))
    np.testing.assert_allclose(
        model.explained_variance_ratio_, exact.eigenvalues / total, rtol=1e-8
    )


# --------------------------------------------------------------------- landmarks


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("extension", ["landmarks", "data"])
def test_landmark_rules_select_rows_of_the_data(rule, extension):
    X = datasets.blobs(200, 3)
    model = NystromKernelPCA(3, landmarks=rule, n_centers=20, extension=extension).fit(X)
    assert model.n_centers_ == 20
    assert set(map(tuple, model.landmarks_)) <= set(map(tuple, X))


def test_landmarks_may_be_a_density_or_a_reduced_set():
    X = datasets.blobs(300, 3)
    density = ShadowDensity(Gaussian(2.0), ell=3.0)
    fitted = density.fit(X).reduced_set_
    by_density = NystromKernelPCA(3, landmarks=ShadowDensity(Gaussian(2.0), ell=3.0)).fit(X)
    by_set = NystromKernelPCA(3, kernel=Gaussian(2.0), landmarks=fitted).fit(X)
    by_array = NystromKernelPCA(3, kernel=Gaussian(2.0), landmarks=fitted.centers).fit(X)
    assert by_density.kernel_.bandwidth == 2.0
    np.testing.assert_array_equal(by_density.landmarks_, fitted.centers)
    for other in (by_set, by_array):
        np.testing.assert_array_equal(other.transform(X), by_density.transform(X))


def test_an_integer_selects_uniform_landmarks():
    X = datasets.blobs(300, 3)
    by_number = NystromKernelPCA(3, landmarks=25).fit(X)
    by_rule = NystromKernelPCA(3, n_centers=25).fit(X)
    by_density = NystromKernelPCA(3, landmarks=UniformDensity(25)).fit(X)
    np.testing.assert_array_equal(by_number.landmarks_, by_rule.landmarks_)
    np.testing.assert_array_equal(by_number.landmarks_, by_density.landmarks_)


@pytest.mark.parametrize("extension", ["landmarks", "data"])
def test_repeated_landmarks_have_no_effect(extension):
    X = datasets.blobs(200, 3)
    few = X[:25]
    once = NystromKernelPCA(4, landmarks=few, extension=extension).fit(X)
    twice = NystromKernelPCA(4, landmarks=np.repeat(few, 2, axis=0), extension=extension).fit(X)
    Z = twice.transform(X)
    assert np.isfinite(Z).all()
    np.testing.assert_allclose(Z, once.transform(X), atol=1e-8)


@pytest.mark.parametrize("extension", ["landmarks", "data"])
@pytest.mark.parametrize("kernel", [Gaussian(3.0), Laplacian(3.0)])
def test_integer_weights_are_equivalent_to_repeated_rows(extension, kernel):
    X = datasets.blobs(200, 3)
    w = np.random.default_rng(0).integers(0, 4, 200)
    options = {"kernel": kernel, "landmarks": X[::8], "extension": extension}
    weighted = NystromKernelPCA(4, **options).fit(X, sample_weight=w)
    repeated = NystromKernelPCA(4, **options).fit(np.repeat(X, w, axis=0))
    np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(weighted.transform(X), repeated.transform(X), atol=1e-9)


@pytest.mark.parametrize("method", [WeightedNystromKernelPCA, SubsampledKernelPCA])
def test_integer_weights_are_equivalent_to_repeated_rows_with_the_same_seed(method):
    X = datasets.blobs(200, 3)
    w = np.random.default_rng(0).integers(0, 4, 200)
    weighted = method(3, n_centers=20, bandwidth=3.0).fit(X, sample_weight=w)
    repeated = method(3, n_centers=20, bandwidth=3.0).fit(np.repeat(X, w, axis=0))
    np.testing.assert_allclose(weighted.transform(X), repeated.transform(X), atol=1e-9)


def test_fitting_in_chunks_equals_a_single_fit():
    X = datasets.blobs(500, 3)
    whole = NystromKernelPCA(4, bandwidth=3.0, landmarks=X[:40]).fit(X)
    stream = NystromKernelPCA(4, bandwidth=3.0, landmarks=X[:40])
    for chunk in np.array_split(X, 7):
        stream.partial_fit(chunk)
    np.testing.assert_allclose(stream.eigenvalues_, whole.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(stream.transform(X), whole.transform(X), atol=1e-9)


def test_stored_data_are_copied():
    X = datasets.blobs(100, 2)
    model = NystromKernelPCA(2, landmarks=20, extension="data").fit(X)
    before = model.transform(X[:5].copy())
    point = X[:5].copy()
    X[:] = 0
    np.testing.assert_array_equal(model.transform(point), before)


def test_float32_data_give_float32_landmarks():
    X = datasets.blobs(200, 3, dtype=np.float32)
    model = NystromKernelPCA(2, landmarks=X[:20].astype(np.float64)).fit(X)
    assert model.basis_.dtype == np.float32


# --------------------------------------------------------------------- invalid input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"landmarks": 0}, "landmarks must be an integer of at least 1, got 0"),
        ({"landmarks": 2.5}, "landmarks must be an integer"),
        ({"landmarks": 101}, "landmarks must be at most 100, .* got 101"),
        ({"n_centers": 101}, "n_centers must be at most 100, .* got 101"),
        ({"n_centers": -1}, "n_centers must be an integer"),
        ({"landmarks": "k-means"}, "landmarks must be one of 'uniform', 'cholesky'"),
        (
            {"landmarks": 10, "n_centers": 10},
            "n_centers=.* can be set only if landmarks is the name",
        ),
        ({"landmarks": np.zeros((5, 2))}, "landmarks must have 3 features, like the data, got 2"),
        ({"landmarks": np.full((5, 3), np.nan)}, "landmarks contains NaN"),
        ({"landmarks": ReducedSet(np.zeros((5, 2)), np.ones(5))}, "landmarks must have 3 features"),
        ({"extension": "both"}, 'extension must be one of "landmarks", "data", got'),
        ({"center": 1}, "center must be True or False"),
        ({"n_components": 0}, "n_components must be an integer"),
        ({"kernel": "poly"}, 'kernel must be "rbf"'),
    ],
)
def test_invalid_nystrom_parameters_are_reported(parameters, message):
    X = datasets.blobs(100, 3)
    with pytest.raises(ValueError, match=message):
        NystromKernelPCA(**parameters).fit(X)


@pytest.mark.parametrize("method", [WeightedNystromKernelPCA, SubsampledKernelPCA])
@pytest.mark.parametrize("n_centers", [0, -3, 2.5, 101, "ten"])
def test_an_invalid_number_of_centers_is_reported(method, n_centers):
    with pytest.raises(ValueError, match="n_centers"):
        method(2, n_centers=n_centers).fit(datasets.blobs(100, 3))


def test_extension_through_the_data_does_not_support_streaming():
    X = datasets.blobs(100, 3)
    with pytest.raises(AttributeError) as error:
        NystromKernelPCA(2, landmarks=9, extension="data").partial_fit(X)
    assert 'partial_fit requires extension="landmarks"' in str(error.value.__cause__)
    model = NystromKernelPCA(2, landmarks=9, extension="data").fit(X)
    with pytest.raises(ValueError, match="partial_fit cannot continue a fit"):
        model.set_params(extension="landmarks").partial_fit(X)
    with pytest.raises(AttributeError) as error:
        SubsampledKernelPCA(2, n_centers=9).partial_fit(X)
    assert "SubsampledKernelPCA does not support partial_fit" in str(error.value.__cause__)


def test_requesting_more_components_than_landmarks_gives_a_warning():
    with pytest.warns(UserWarning, match="Only 4 of the 9 requested .* more than 4 landmarks"):
        NystromKernelPCA(9, landmarks=4, center=False).fit(datasets.blobs(100, 3))


# ---------------------------------------------- limitations of extension through the data

DATA_METHODS = [
    lambda: NystromKernelPCA(4, landmarks=30, bandwidth=2.0, extension="data"),
    lambda: WeightedNystromKernelPCA(4, n_centers=30, bandwidth=2.0, extension="data"),
]


@pytest.mark.parametrize("make", DATA_METHODS)
def test_methods_that_require_orthogonal_axes_are_rejected(make):
    X = datasets.blobs(200, 3)
    model = make().fit(X)
    for method in ("reconstruction_error", "score_samples"):
        with pytest.raises(AttributeError) as error:
            getattr(model, method)
        assert 'Use extension="landmarks"' in str(error.value.__cause__)
    with pytest.raises(ValueError, match='not available with extension="data"'):
        model.inverse_transform(model.transform(X), method="fixed-point")
    assert model.inverse_transform(model.transform(X)).shape == X.shape


@pytest.mark.parametrize("extension", ["landmarks", "data"])
def test_explained_variance_ratios_sum_to_at_most_one(extension):
    rng = np.random.default_rng(0)
    X = np.concatenate([0.1 * rng.normal(size=(500, 2)), 3 * rng.normal(size=(20, 2))])
    for seed in range(10):
        model = NystromKernelPCA(
            landmarks=10, bandwidth=1.0, extension=extension, random_state=seed
        ).fit(X)
        assert model.explained_variance_ratio_.sum() <= 1 + 1e-9


def test_pre_images_respect_the_weights():
    X = datasets.blobs(300, 3)
    model = WeightedNystromKernelPCA(4, n_centers=30, bandwidth=3.0).fit(X)
    other = ReducedSetKernelPCA(4, density=KMeansDensity(30), bandwidth=3.0).fit(X)
    Z = other.transform(X)
    np.testing.assert_array_equal(model.inverse_transform(Z), other.inverse_transform(Z))
    w = np.random.default_rng(0).integers(0, 4, 300)
    data = NystromKernelPCA(4, bandwidth=3.0, landmarks=X[:30], extension="data")
    weighted = data.fit(X, sample_weight=w).inverse_transform(Z)
    repeated = data.fit(np.repeat(X, w, axis=0)).inverse_transform(Z)
    np.testing.assert_allclose(weighted, repeated, atol=1e-6)


def test_float32_is_accurate_for_close_landmarks():
    """The coefficients of close landmarks are large and cancel each other."""
    X = datasets.blobs(1000, 3, dtype=np.float32)
    model = NystromKernelPCA(5, bandwidth=30.0, n_centers=300).fit(X)
    exact, seen = model.transform(X.astype(np.float64)), model.transform(X)
    assert seen.dtype == np.float32
    np.testing.assert_allclose(seen, exact, rtol=0, atol=1e-5 * np.abs(exact).max())


# ---------------------------------------------------------------- means


def test_a_model_on_means_estimates_its_error():
    X = datasets.load("digits")
    train, new = X[:1200], X[1200:]
    model = NystromKernelPCA(4, landmarks="means", n_centers=60).fit(train)
    exact = ReducedSetKernelPCA(4, ell=np.inf).fit(train)
    error = embedding_error(exact.transform(train), model.transform(train))
    assert model.certificate_.all_rows
    assert model.certificate_.embedding.estimate == pytest.approx(error, rel=1e-3)
    assert model.row_error(new).coordinates.shape == (len(new),)


def test_the_row_sample_of_a_stream_equals_that_of_a_fit():
    X = datasets.blobs(5_000, 6)
    whole = NystromKernelPCA(3, landmarks=X[:20]).fit(X)
    parts = NystromKernelPCA(3, landmarks=X[:20], bandwidth=whole.kernel_.bandwidth)
    for start in range(0, 5_000, 1_700):
        parts.partial_fit(X[start : start + 1_700])
    assert parts.model_.reduced_set.sample == whole.model_.reduced_set.sample
    assert parts.model_.reduced_set.n_samples == 5_000
    stated, expected = parts.certificate_.embedding, whole.certificate_.embedding
    np.testing.assert_allclose(stated, expected, rtol=1e-6)


def test_n_axes_can_be_set_only_for_means():
    X = datasets.blobs(60, 3)
    with pytest.raises(ValueError, match='n_axes=2 can be set only for landmarks="means"'):
        NystromKernelPCA(2, landmarks="uniform", n_centers=20, n_axes=2).fit(X)
    with pytest.raises(ValueError, match="n_axes must be an integer of at least 1, got 0"):
        NystromKernelPCA(2, landmarks="means", n_centers=20, n_axes=0).fit(X)


def low_rank_rows(d, rank=3):
    """Return rows that vary in three directions only, far from the origin."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(400, rank)) @ rng.normal(size=(rank, d)) + 50


def test_n_axes_is_at_most_the_number_of_features():
    X = datasets.blobs(200, 5)
    model = NystromKernelPCA(2, landmarks="means", n_centers=20, n_axes=50)
    message = "n_axes must be at most 5, the number of features, got 50"
    for method in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=message):
            method(X)
    assert not hasattr(model, "landmarks_")
    assert model.set_params(n_axes=5).fit(X).shared_landmarks_.subspace is None


@pytest.mark.parametrize("form", [np.asarray, csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("d", [30, 200])
def test_n_axes_is_at_most_the_number_of_axes_with_variance(d, form):
    X = form(low_rank_rows(d))
    model = NystromKernelPCA(2, bandwidth=9.0, landmarks="means", n_centers=20, n_axes=20)
    message = r"n_axes must be at most 3, the number of principal axes .* got 20"
    with pytest.raises(ValueError, match=message):
        model.fit(X)
    assert model.set_params(n_axes=3).fit(X).shared_landmarks_.subspace.n_axes == 3
    assert model.set_params(n_axes=None).fit(X).transform(X).shape == (400, 2)


def test_as_many_axes_as_features_are_allowed_for_rows_of_lower_rank():
    X = low_rank_rows(5)
    model = NystromKernelPCA(2, landmarks="means", n_centers=20, n_axes=5).fit(X)
    assert np.isfinite(model.transform(X)).all()
    with pytest.raises(ValueError, match="n_axes must be at most 3"):
        model.set_params(n_axes=4).fit(X)


@pytest.mark.parametrize("options", [{"n_axes": 2}, {}, {"landmarks": "auto", "n_centers": None}])
def test_constant_columns_do_not_change_the_coordinates(options):
    X = datasets.blobs(200, 2)
    padded = np.hstack([X, np.full((200, 4), 1e3)])
    options = {"landmarks": "means", "n_centers": 40, **options}
    model = NystromKernelPCA(2, bandwidth=5.0, **options).fit(padded)
    exact = ReducedSetKernelPCA(2, bandwidth=5.0, ell=np.inf).fit(X)
    assert embedding_error(exact.transform(X), model.transform(padded)) < 0.01


def test_constant_columns_do_not_count_as_axes():
    padded = np.hstack([datasets.blobs(200, 2), np.full((200, 4), 1e3)])
    model = NystromKernelPCA(2, landmarks="means", n_centers=40, n_axes=3)
    with pytest.raises(ValueError, match="n_axes must be at most 2, the number of principal axes"):
        model.fit(padded)


@pytest.mark.parametrize(
    ("d", "options", "message"),
    [
        (3, {"n_centers": 5}, "only 1 distinct values. Use n_centers=1 or fewer"),
        (40, {"n_centers": 5}, "All 50 sampled rows are equal"),
        (40, {"n_centers": 5, "n_axes": 9}, "All 50 sampled rows are equal"),
        (3, {"landmarks": "auto"}, "the kernel cannot distinguish the points"),
        (40, {"landmarks": "auto"}, "the kernel cannot distinguish the points"),
        (40, {"landmarks": "auto", "bandwidth": None}, "requires distinct rows"),
    ],
)
def test_equal_rows_are_reported(d, options, message):
    options = {"landmarks": "means", "bandwidth": 1.0, **options}
    with pytest.raises(ValueError, match=message):
        NystromKernelPCA(2, **options).fit(np.ones((50, d)))


@pytest.mark.parametrize("landmarks", ["means", "auto"])
@pytest.mark.parametrize(("value", "message"), [(np.nan, "contains NaN"), (np.inf, "infinity")])
def test_missing_and_infinite_values_are_reported(landmarks, value, message):
    X = datasets.blobs(200, 6)
    bad = X.copy()
    bad[3, 1] = value
    model = NystromKernelPCA(2, landmarks=landmarks)
    for method in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=message):
            method(bad)
    model.fit(X)
    for method in (model.transform, model.partial_fit, model.forget):
        with pytest.raises(ValueError, match=message):
            method(bad)


# ---------------------------------------------------------------- a target error


@pytest.mark.parametrize("landmarks", ["means", "uniform", "auto"])
@pytest.mark.parametrize("max_error", [0.1, 0.02])
def test_the_target_error_determines_the_number_of_landmarks(landmarks, max_error):
    X = datasets.load("digits")
    model = NystromKernelPCA(3, landmarks=landmarks, max_error=max_error).fit(X)
    exact = ReducedSetKernelPCA(3, ell=np.inf).fit(X).transform(X)
    assert model.n_centers_ < len(X)
    assert embedding_error(exact, model.transform(X)) <= max_error
    assert model.certificate_.embedding.limit <= max_error


def test_more_landmarks_are_needed_for_a_smaller_error_and_fewer_if_they_are_means(monkeypatch):
    monkeypatch.setattr("rskpca.embedding._sizing._MOST_CHEAP", 0)  # look for the smallest basis
    X = datasets.load("digits")
    few = NystromKernelPCA(3, landmarks="means", max_error=0.1).fit(X)
    many = NystromKernelPCA(3, landmarks="means", max_error=0.01).fit(X)
    rows = NystromKernelPCA(3, landmarks="uniform", max_error=0.1).fit(X)
    assert few.n_centers_ < many.n_centers_
    assert few.n_centers_ < rows.n_centers_


def test_integer_weights_are_equivalent_to_repeated_rows_for_a_target_error():
    X, counts = datasets.blobs(200, 4), np.arange(200) % 3 + 1
    weighted = NystromKernelPCA(2, landmarks="means", max_error=0.02, kernel=Gaussian(3.0))
    repeated = NystromKernelPCA(2, landmarks="means", max_error=0.02, kernel=Gaussian(3.0))
    weighted.fit(X, sample_weight=counts)
    repeated.fit(np.repeat(X, counts, axis=0))
    assert weighted.certificate_.embedding.limit <= 0.02
    assert repeated.certificate_.embedding.limit <= 0.02
    found = embedding_error(repeated.transform(X), weighted.transform(X))
    assert found <= 0.05


def test_all_rows_of_small_data_are_used_if_the_target_error_requires_it():
    X = np.random.default_rng(0).normal(size=(60, 5))
    model = NystromKernelPCA(3, landmarks="uniform", max_error=1e-6, bandwidth=3.0).fit(X)
    assert model.n_centers_ == 60
    assert model.certificate_.embedding.limit <= 1e-6


def test_a_target_error_that_cannot_be_reached_gives_a_warning(monkeypatch):
    monkeypatch.setattr("rskpca.embedding._sizing._MOST", 40)
    X = datasets.load("digits")
    with pytest.warns(UserWarning, match=r"max_error=0\.001 was not reached"):
        model = NystromKernelPCA(5, landmarks="means", max_error=0.001).fit(X)
    assert model.n_centers_ == 40


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_error": 0.0}, "max_error must be a number between 0 and 1"),
        ({"max_error": 1.5}, "max_error must be a number between 0 and 1"),
        ({"max_error": 0.1, "n_centers": 10}, "requires the name of a rule"),
        ({"max_error": 0.1, "landmarks": 10}, "requires the name of a rule"),
        ({"max_error": 0.1, "n_components": None}, "n_components must be an integer"),
        ({"max_error": 0.1, "extension": "data"}, 'requires extension="landmarks"'),
        ({"max_error": 0.1, "n_axes": 5}, "n_axes=5 can be set only"),
    ],
)
def test_an_invalid_target_error_is_reported(parameters, message):
    parameters = {"n_components": 2, "landmarks": "means", **parameters}
    with pytest.raises(ValueError, match=message):
        NystromKernelPCA(**parameters).fit(datasets.blobs(60, 3))
