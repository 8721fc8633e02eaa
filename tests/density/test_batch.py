"""Test the behavior that all batch densities share."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from rskpca import (
    FastParzenDensity,
    Gaussian,
    HerdingDensity,
    KMeansDensity,
    Laplacian,
    ParingDensity,
    ReducedSetKernelPCA,
)
from rskpca.baselines import UniformDensity
from rskpca.density import _batch
from tests import datasets, dense
from tests.states import fitted_state

COUNTED = {
    "kmeans": KMeansDensity,
    "uniform": UniformDensity,
    "paring": ParingDensity,
    "covering": lambda *args, **options: ParingDensity(*args, covering=True, **options),
    "herding": HerdingDensity,
    "gradient": lambda *args, **options: HerdingDensity(*args, method="gradient", **options),
}
MAKE = {
    **COUNTED,
    "parzen": lambda n_centers, **options: FastParzenDensity(2.0, **options),
    "parzen-full": lambda n_centers, **options: FastParzenDensity(
        2.0, covariance="full", **options
    ),
}
REAL = {"german": (1, 30.0), "digits": (3, 25.0)}  # step between rows, bandwidth

every_density = pytest.mark.parametrize("make", MAKE.values(), ids=MAKE)
every_counted = pytest.mark.parametrize("make", COUNTED.values(), ids=COUNTED)


def real(name):
    step, bandwidth = REAL[name]
    return datasets.load(name, step), bandwidth


# --------------------------------------------------------------------------- real data


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("kernel", [Gaussian, Laplacian])
@pytest.mark.parametrize("density", ["kmeans", "uniform", "covering", "herding"])
@pytest.mark.parametrize("center", [True, False])
def test_kernel_pca_equals_dense_kernel_pca_with_the_same_weights(name, kernel, density, center):
    X, bandwidth = real(name)
    model = ReducedSetKernelPCA(
        6, kernel=kernel(bandwidth), density=MAKE[density](60), center=center
    ).fit(X[::2])
    s = model.reduced_set_
    exact = dense.WeightedKernelPCA(kernel(bandwidth), s.centers, s.weights, 7, center)
    scale = exact.eigenvalues[0]
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues[:6], atol=1e-10 * scale)
    columns = exact.separated()
    assert len(columns) >= 2
    Z, expected = model.transform(X[1::2]), exact.transform(X[1::2])
    dense.assert_equal_up_to_sign(Z[:, columns], expected[:, columns], 1e-8)


@pytest.mark.parametrize("density", ["gradient", "parzen", "parzen-full"])
def test_kernel_pca_accepts_every_density(density):
    X, kernel = datasets.blobs(300, 3), Gaussian(3.0)
    model = ReducedSetKernelPCA(3, kernel=kernel, density=MAKE[density](40)).fit(X)
    s = model.reduced_set_
    exact = dense.WeightedKernelPCA(kernel, s.centers, s.weights, 3, center=True)
    dense.assert_equal_up_to_sign(model.transform(X), exact.transform(X), 1e-8)


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("density", ["kmeans", "uniform", "paring", "covering", "herding"])
def test_the_density_matches_the_dense_formula(name, density):
    X, bandwidth = real(name)
    fitted = MAKE[density](50, kernel=Gaussian(bandwidth)).fit(X)
    s = fitted.reduced_set_
    integral = X.shape[1] * np.log(np.sqrt(np.pi) * bandwidth)
    expected = dense.log_density(Gaussian(bandwidth), s.centers, s.weights, X) - integral
    np.testing.assert_allclose(fitted.score_samples(X), expected, rtol=1e-10)


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("density", ["kmeans", "uniform", "paring", "covering", "herding"])
def test_labels_are_the_indices_of_the_nearest_centers(name, density):
    X, bandwidth = real(name)
    fitted = MAKE[density](50, kernel=Gaussian(bandwidth)).fit(X)
    distances = cdist(X, fitted.reduced_set_.centers)
    own = distances[np.arange(len(X)), fitted.labels_]
    np.testing.assert_allclose(own, distances.min(axis=1), rtol=0, atol=1e-12 * bandwidth)


@every_density
@pytest.mark.parametrize("fitted", [False, True])
def test_kernel_pca_reports_that_the_density_does_not_support_streaming(make, fitted):
    X = datasets.blobs(60, 3)
    model = ReducedSetKernelPCA(2, density=make(5))
    if fitted:
        model.fit(X)
    with pytest.raises(AttributeError) as error:
        model.partial_fit(X)
    assert "does not support partial_fit. Use a ShadowDensity" in str(error.value.__cause__)


LAZY = ("uniform", "paring", "herding", "gradient")


@pytest.mark.parametrize("density", LAZY)
def test_labels_are_computed_on_first_access_if_the_weights_ignore_them(density, monkeypatch):
    X, weights = datasets.blobs(80, 2), np.arange(80) % 3
    fitted = MAKE[density](9, kernel=Gaussian(2.0)).fit(X, sample_weight=weights)
    with monkeypatch.context() as patch:
        patch.setattr(_batch, "nearest_centers", None)  # would raise if it were called
        MAKE[density](9, kernel=Gaussian(2.0)).fit(X)
        fitted.score_samples(X)
    expected = cdist(X, fitted.reduced_set_.centers).argmin(axis=1)
    np.testing.assert_array_equal(fitted.labels_, np.where(weights > 0, expected, -1))
    assert fitted.labels_ is fitted.labels_
    assert "_rows_" not in vars(fitted)


@pytest.mark.parametrize("make_copy", [copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))])
def test_saved_densities_contain_the_labels_instead_of_the_rows(make_copy):
    fitted = UniformDensity(9).fit(datasets.blobs(80, 2))
    again = make_copy(fitted)
    assert "_rows_" not in vars(again)
    np.testing.assert_array_equal(again.labels_, fitted.labels_)


def test_a_shallow_copy_does_not_compute_the_labels():
    fitted = UniformDensity(9).fit(datasets.blobs(80, 2))
    again = copy.copy(fitted)
    assert again._rows_ is fitted._rows_
    np.testing.assert_array_equal(again.labels_, fitted.labels_)


def test_a_new_fit_discards_labels_that_were_not_computed():
    X = datasets.blobs(80, 2)
    density = ParingDensity(9).fit(X)
    density.set_params(covering=True).fit(X[:50])
    assert "_rows_" not in vars(density)
    assert len(density.labels_) == 50
    density.set_params(covering=False).fit(X[:40])
    assert len(density.labels_) == 40


@every_density
def test_an_unfitted_density_has_no_labels(make):
    with pytest.raises(AttributeError, match=r"has no labels_\. Call fit first"):
        make(5).labels_  # noqa: B018


# --------------------------------------------------------------------------- invalid input


@every_counted
@pytest.mark.parametrize("n_centers", [0, -3, 2.5, 4.0, "8", True, None, np.nan])
def test_n_centers_must_be_a_positive_integer(make, n_centers):
    with pytest.raises(ValueError, match=r"n_centers must be an integer of at least 1, got"):
        make(n_centers).fit(datasets.blobs(20, 2))


@every_counted
def test_n_centers_must_not_exceed_the_number_of_rows_with_positive_weight(make):
    X, weights = datasets.blobs(20, 2), np.ones(20)
    with pytest.raises(ValueError, match=r"n_centers=21 exceeds the number of rows .* at most 20"):
        make(21).fit(X)
    weights[:5] = 0
    with pytest.raises(ValueError, match=r"n_centers=16 exceeds .*weight; use at most 15"):
        make(16).fit(X, sample_weight=weights)
    assert make(np.int64(15)).fit(X, sample_weight=weights).reduced_set_.n_centers <= 15


@every_density
def test_invalid_data_and_weights_are_rejected_without_side_effects(make):
    X = datasets.blobs(30, 2)
    density = make(5).fit(X)
    before = fitted_state(density)
    for bad, weights, message in [
        (np.full((30, 2), np.nan), None, "NaN"),
        (X, -np.ones(30), "negative"),
        (X, np.zeros(30), "positive sum"),
        (X, np.ones(29), "one number per row"),
        (X[:1], None, "minimum of 2"),
    ]:
        with pytest.raises(ValueError, match=message):
            density.fit(bad, sample_weight=weights)
    density.set_params(kernel="cosine")
    with pytest.raises(ValueError, match="kernel must be"):
        density.fit(X)
    assert fitted_state(density) == before


# ------------------------------------------------------------- unusual but valid input


@every_density
def test_feature_names_are_stored_and_checked(make):
    X = pd.DataFrame(datasets.blobs(60, 3), columns=["a", "b", "c"])
    density = make(5).fit(X)
    assert list(density.feature_names_in_) == ["a", "b", "c"]
    np.testing.assert_array_equal(
        density.score_samples(X), make(5).fit(X.to_numpy()).score_samples(X.to_numpy())
    )
    with pytest.raises(ValueError, match="feature names"):
        density.score_samples(X[["c", "b", "a"]])


@every_density
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_feature_and_integer_data_are_accepted(make, dtype):
    X = np.random.default_rng(0).normal(size=(40, 1)).astype(dtype)
    assert make(4).fit(X).reduced_set_.centers.dtype == dtype
    assert make(4).fit(np.arange(40)[:, None]).reduced_set_.centers.dtype == np.float64


@every_density
def test_scaling_the_sample_weights_scales_only_the_weights(make):
    X, weights = datasets.blobs(80, 2), np.random.default_rng(0).random(80) + 0.5
    kernel = Gaussian(2.0)
    once = make(9, kernel=kernel).fit(X, sample_weight=weights).reduced_set_
    twice = make(9, kernel=kernel).fit(X, sample_weight=2 * weights).reduced_set_
    np.testing.assert_allclose(twice.centers, once.centers, rtol=1e-9)
    np.testing.assert_allclose(twice.weights, 2 * once.weights, rtol=1e-12)


@pytest.mark.parametrize("density", ["uniform", "paring", "covering", "herding"])
def test_identical_rows_share_one_center(density):
    X = np.repeat(np.array([[0.0, 1.0], [5.0, 5.0], [9.0, 0.0]]), 10, axis=0)
    s = MAKE[density](30, kernel=Gaussian(1.0)).fit(X).reduced_set_
    order = np.argsort(s.centers[:, 0])
    np.testing.assert_array_equal(s.centers[order], X[::10])
    np.testing.assert_allclose(s.weights[order], 10, rtol=1e-12)


@pytest.mark.parametrize("density", ["uniform", "paring", "kmeans", "covering"])
def test_the_centers_equal_the_data_if_there_is_one_center_per_row(density):
    X = datasets.blobs(50, 3)
    s = MAKE[density](50).fit(X).reduced_set_
    np.testing.assert_array_equal(s.centers, X)
    np.testing.assert_array_equal(s.weights, np.ones(50))
    assert s.radius in (0.0, None)


@pytest.mark.parametrize(
    ("density", "known"),
    [("kmeans", 1), ("covering", 1), ("parzen", 1), ("uniform", 0), ("paring", 0), ("herding", 0)],
)
def test_the_radius_is_set_only_if_rows_are_assigned_to_centers(density, known):
    s = MAKE[density](20).fit(datasets.blobs(200, 3)).reduced_set_
    for value in (s.radius, s.displacement, s.scatter):
        assert (value is not None) == bool(known)
