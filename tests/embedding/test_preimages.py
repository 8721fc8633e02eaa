"""Test the properties of each pre-image method, and compare it with dense NumPy code."""

import pickle

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.decomposition import KernelPCA
from sklearn.exceptions import NotFittedError

from rskpca import Gaussian, Laplacian, ReducedSetKernelPCA
from rskpca.spectral import FeatureSpace, Moments, preimages, ritz
from rskpca.spectral.preimages import METHODS
from tests import datasets, dense

DATA = {
    "german": (lambda: datasets.load("german", step=4), 30.0),
    "digits": (lambda: datasets.load("digits", step=8), 40.0),
}


def fitted(X, bandwidth, n_components=12, **parameters):
    return ReducedSetKernelPCA(n_components, bandwidth=bandwidth, **parameters).fit(X)


def split(name):
    load, bandwidth = DATA[name]
    X = load()
    return X[::2], X[1::2], bandwidth


class DenseSpace:
    """Elements h(z) = mu + sum_i z_i u_i over the quantized data, computed with n x n matrices."""

    def __init__(self, model, center):
        self.kernel = model.kernel_
        self.X = model.reduced_set_.centers[model.density_.labels_]
        exact = dense.KernelPCA(self.kernel, self.X, len(model.eigenvalues_), center)
        mean = np.full(len(self.X), 1 / len(self.X)) if center else np.zeros(len(self.X))
        centering = np.eye(len(self.X)) - np.outer(mean, np.ones(len(self.X)))
        axes = centering @ exact.vectors / np.sqrt(exact.eigenvalues)
        # with signs matching the model
        axes *= np.sign(np.sum(exact.transform(self.X) * model.transform(self.X), axis=0))
        self.axes, self.mean, self.K = axes, mean, exact.K

    def coefficients(self, Z):
        return Z @ self.axes.T + self.mean


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("ell", [2.0, np.inf])
class TestOracle:
    """Comparison with dense results for the quantized data, which equal the data for ell=inf."""

    def case(self, name, center, ell):
        X, new, bandwidth = split(name)
        model = fitted(X, bandwidth, 6, center=center, ell=ell)
        return model, DenseSpace(model, center), model.transform(new), bandwidth

    def test_elements_of_feature_space_equal_the_dense_elements(self, name, center, ell):
        model, exact, Z, _ = self.case(name, center, ell)
        space = FeatureSpace.of(model.eigensystem_)
        a = exact.coefficients(Z)
        norms = np.einsum("ij,jk,ik->i", a, exact.K, a)
        np.testing.assert_allclose(space.squared_norms(Z), norms, atol=1e-8)
        at = a @ np.exp(dense.log_kernel(exact.kernel, exact.X, space.centers))
        np.testing.assert_allclose(space.at_centers(Z), at, atol=1e-8)
        own = space.coefficients(Z) @ np.exp(
            dense.log_kernel(exact.kernel, space.centers, space.centers)
        )
        np.testing.assert_allclose(own, at, atol=1e-8)

    def test_ridge_equals_the_dense_formula(self, name, center, ell):
        model, exact, Z, _ = self.case(name, center, ell)
        known = model.transform(exact.X)
        variance = model.eigenvalues_ / len(exact.X)
        total = np.trace(exact.K - (exact.K.mean(axis=0) if center else 0)) / len(exact.X)
        scale = np.sqrt(variance / (variance + total / exact.X.shape[1]))
        bandwidth = (
            METHODS["ridge"].fit(model.eigensystem_, model.reduced_set_, 1.0).kernel.bandwidth
        )
        distances = cdist(known * scale, known * scale)
        width = np.sqrt(np.mean(distances**2))
        assert bandwidth == pytest.approx(width, rel=1e-8)
        k = np.exp(-cdist(Z * scale, known * scale, "sqeuclidean") / width**2)
        K = np.exp(-cdist(known * scale, known * scale, "sqeuclidean") / width**2)
        mean = exact.X.mean(axis=0)
        expected = mean + k @ np.linalg.solve(K + np.eye(len(K)), exact.X - mean)
        np.testing.assert_allclose(
            model.inverse_transform(Z, alpha=1.0), expected, atol=1e-8 * np.abs(exact.X).max()
        )
        expected = mean + k @ np.linalg.solve(K + 0.03 * np.eye(len(K)), exact.X - mean)
        np.testing.assert_allclose(
            model.inverse_transform(Z, alpha=0.03), expected, atol=1e-7 * np.abs(exact.X).max()
        )

    def test_distances_equal_the_dense_formula(self, name, center, ell):
        model, exact, Z, sigma = self.case(name, center, ell)
        a = exact.coefficients(Z)
        C = model.reduced_set_.centers
        to_centers = (
            1
            + np.einsum("ij,jk,ik->i", a, exact.K, a)[:, None]
            - 2 * a @ np.exp(dense.log_kernel(exact.kernel, exact.X, C))
        )
        expected = []
        for row in to_centers:
            nearest = np.argsort(row)[:10]
            squared = -(sigma**2) * np.log(1 - row[nearest] / 2)
            points = C[nearest].T
            H = np.eye(10) - 1 / 10
            U, s, Vt = np.linalg.svd(points @ H, full_matrices=False)
            U, s, Vt = U[:, s > 1e-5 * s[0]], s[s > 1e-5 * s[0]], Vt[s > 1e-5 * s[0]]
            own = np.sum((points - points.mean(axis=1)[:, None]) ** 2, axis=0)
            z = 0.5 / s * (Vt @ (own - squared))  # Kwok and Tsang, eq. (11)
            expected.append(U @ z + points.mean(axis=1))
        np.testing.assert_allclose(
            model.inverse_transform(Z, method="distances"), expected, atol=1e-8 * np.abs(C).max()
        )

    def test_fixed_points_satisfy_the_dense_equation(self, name, center, ell):
        model, exact, Z, sigma = self.case(name, center, ell)
        a = exact.coefficients(Z)
        Y = model.inverse_transform(Z, method="fixed-point")
        terms = a * np.exp(dense.log_kernel(exact.kernel, Y, exact.X))
        again = terms @ exact.X / terms.sum(axis=1)[:, None]
        assert np.abs(again - Y).max() < 1e-7 * sigma
        at = a @ np.exp(dense.log_kernel(exact.kernel, exact.X, model.reduced_set_.centers))
        assert np.all(terms.sum(axis=1) >= at.max(axis=1) - 1e-10)  # no center is nearer


# ------------------------------------------------------------------------ properties


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("method", ["fixed-point", "distances"])
def test_centers_are_their_own_pre_images_with_all_components(center, method):
    X = datasets.blobs(300, 3)
    model = fitted(X, 1.0, 149 - center, ell=1.5, center=center)
    assert model.n_centers_ == 149
    C = model.reduced_set_.centers
    np.testing.assert_allclose(
        model.inverse_transform(model.transform(C), method=method), C, atol=1e-6
    )


@pytest.mark.parametrize(
    ("method", "tolerance"), [("ridge", 0.03), ("fixed-point", 1e-3), ("distances", 1e-3)]
)
def test_points_on_a_curve_are_recovered(method, tolerance):
    """The omitted components limit the accuracy, and for ridge regression also the penalty."""
    angle = np.linspace(0, 2 * np.pi, 300, endpoint=False)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    model = fitted(X, 1.0, 15, ell=6.0)
    back = model.inverse_transform(model.transform(X), method=method)
    assert np.abs(back - X).max() < tolerance


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("center", [True, False])
def test_integer_weights_are_equivalent_to_repeated_rows(method, center):
    X, new = datasets.blobs(200, 3), datasets.blobs(40, 3, seed=1)
    weights = np.random.default_rng(0).integers(0, 4, size=200)
    weighted = ReducedSetKernelPCA(4, bandwidth=4.0, ell=3.0, center=center)
    repeated = ReducedSetKernelPCA(4, bandwidth=4.0, ell=3.0, center=center)
    Z = weighted.fit(X, sample_weight=weights).transform(new)
    repeated.fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(
        weighted.inverse_transform(Z, method=method),
        repeated.inverse_transform(Z, method=method),
        atol=1e-6,
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("center", [True, False])
def test_a_ritz_basis_of_all_centers_gives_the_same_result(method, center):
    X, new = datasets.blobs(60, 3), datasets.blobs(30, 3, seed=1)
    model = fitted(X, 2.0, 5, ell=3.0, center=center)
    s = model.reduced_set_
    moments = Moments.of(model.kernel_, s.centers).add(s.centers, s.weights)
    system = ritz(moments, 5, center=center)
    Z = model.transform(new)
    np.testing.assert_allclose(
        METHODS[method].fit(system, s)(Z), model.inverse_transform(Z, method=method), atol=1e-6
    )


@pytest.mark.parametrize("method", METHODS)
def test_float32_results_are_accurate_to_single_precision(method):
    X, new = datasets.blobs(300, 3), datasets.blobs(60, 3, seed=2)
    double = fitted(X, 4.0, 4)
    single = fitted(X.astype(np.float32), 4.0, 4)
    expected = double.inverse_transform(double.transform(new), method=method)
    Y = single.inverse_transform(double.transform(new).astype(np.float32), method=method)
    assert Y.dtype == np.float32
    assert expected.dtype == np.float64
    error = np.linalg.norm(Y - expected, axis=1)
    assert np.median(error) < 1e-3
    assert np.quantile(error, 0.9) < 1e-2  # the neighbors may change


@pytest.mark.parametrize("method", METHODS)
def test_pre_images_are_independent_and_reproducible(method, monkeypatch):
    X = datasets.blobs(300, 3)
    model = fitted(X, 4.0, 4)
    Z = model.transform(X)
    Z.flags.writeable = False
    Y = model.inverse_transform(Z, method=method)
    np.testing.assert_array_equal(model.inverse_transform(Z, method=method), Y)
    monkeypatch.setattr("rskpca.spectral.preimages._BLOCK_ELEMENTS", 1)
    np.testing.assert_allclose(model.inverse_transform(Z, method=method), Y, atol=1e-6)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(again.inverse_transform(Z, method=method), Y, atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_pre_images_change_with_the_model(method):
    X = datasets.blobs(300, 3)
    stream = fitted(X[:150], 4.0, 4)
    stream.inverse_transform(stream.transform(X), method=method)
    stream.partial_fit(X[150:])
    Z = stream.transform(X)
    np.testing.assert_array_equal(
        stream.inverse_transform(Z, method=method),
        fitted(X, 4.0, 4).inverse_transform(Z, method=method),
    )


def test_ridge_handles_centers_that_represent_nearly_all_rows():
    X = np.concatenate([np.zeros((500, 2)), [[3.0, 0.0], [0.0, 3.0]]])
    model = fitted(X, 1.0, 2)
    back = model.inverse_transform(model.transform(X))
    np.testing.assert_allclose(back[:500], X[:500], atol=0.02)


def test_ridge_returns_the_center_if_there_is_only_one():
    X = np.array([[1.0, 2.0], [1.1, 2.0]])
    model = fitted(X, 10.0, 1, center=False)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X[[0, 0]])


def test_distances_to_centers_beyond_the_reach_of_the_kernel_are_used():
    C = np.array([[0.0, 0.0], [5.0, 0.0]])
    model = fitted(C, 1.0, 2, center=False, ell=np.inf)
    back = model.inverse_transform(model.transform(C), method="distances")
    np.testing.assert_allclose(back, C, atol=1e-3)


def test_cross_validation_suppresses_noise_and_trusts_points_on_a_curve():
    """Only the first coordinate determines the points, and it does so without error."""
    t, noise = np.linspace(-1, 1, 80), np.random.default_rng(0).normal(size=80)
    points = np.column_stack([t, t**2 - np.mean(t**2)])
    choices = np.array([1.0, 0.01]), np.ones(2)
    coordinates = np.column_stack([t, noise])
    scales, _, alpha = preimages._cross_validate(choices, coordinates, np.ones(80), points)
    np.testing.assert_array_equal(scales, choices[0])
    assert alpha == 1e-5


def test_ridge_works_with_every_kernel():
    X = datasets.blobs(400, 3)
    model = ReducedSetKernelPCA(20, kernel=Laplacian(4.0)).fit(X)
    back = model.inverse_transform(model.transform(X))
    assert np.mean((back - X) ** 2) < 0.05 * X.var()


def test_denoising_is_more_accurate_than_with_scikit_learn():
    images = datasets.load("digits") / 16
    train, clean = images[:600], images[600:900]
    noisy = clean + np.random.default_rng(0).normal(0, 0.3, clean.shape)
    model = fitted(train, 6.0, 32)
    Z = model.transform(noisy)
    ours = {
        method: np.mean((model.inverse_transform(Z, method=method) - clean) ** 2)
        for method in METHODS
    }
    ours["ridge"] = np.mean((model.inverse_transform(Z, alpha=1.0) - clean) ** 2)
    theirs = []
    for alpha in (1.0, 0.1, 0.01):
        exact = KernelPCA(
            32, kernel="rbf", gamma=1 / 36, fit_inverse_transform=True, alpha=alpha,
            eigen_solver="dense",
        ).fit(train)  # fmt: skip
        theirs.append(np.mean((exact.inverse_transform(exact.transform(noisy)) - clean) ** 2))
    noise = np.mean((noisy - clean) ** 2)
    assert ours["ridge"] < min(theirs) < noise
    assert max(ours.values()) < noise / 2


# ---------------------------------------------------------------------- invalid arguments

X_GOOD = datasets.blobs(200, 3)


@pytest.mark.parametrize(
    ("Z", "message"),
    [
        (np.zeros((5, 3)), "Z must have 4 columns, one per component, got 3"),
        (np.zeros(4), "Expected 2D array"),
        (np.full((2, 4), np.nan), "Z contains NaN"),
        (np.zeros((0, 4)), "0 sample"),
    ],
)
def test_invalid_coordinates_are_rejected(Z, message):
    with pytest.raises(ValueError, match=message):
        fitted(X_GOOD, 4.0, 4).inverse_transform(Z)


@pytest.mark.parametrize("method", ["knn", None, ["ridge"]])
def test_an_unknown_method_is_rejected_with_a_list_of_valid_methods(method):
    model = fitted(X_GOOD, 4.0, 4)
    with pytest.raises(ValueError, match="one of ridge, fixed-point, distances, got"):
        model.inverse_transform(np.zeros((2, 4)), method=method)


@pytest.mark.parametrize("method", ["fixed-point", "distances"])
def test_unsupported_kernels_are_rejected_with_a_suggested_fix(method):
    model = ReducedSetKernelPCA(4, kernel=Laplacian(4.0)).fit(X_GOOD)
    with pytest.raises(ValueError, match=r'Gaussian kernel, got Laplacian.*method="ridge"'):
        model.inverse_transform(np.zeros((2, 4)), method=method)


def test_ridge_rejects_too_many_centers(monkeypatch):
    monkeypatch.setattr("rskpca.spectral.preimages.STORED_CENTERS", 10)
    with pytest.raises(ValueError, match="a smaller ell"):
        fitted(X_GOOD, 4.0, 4).inverse_transform(np.zeros((2, 4)))


def test_pre_images_require_a_fitted_model():
    with pytest.raises(NotFittedError):
        ReducedSetKernelPCA(2, kernel=Gaussian(1.0)).inverse_transform(np.zeros((2, 2)))


def test_pre_images_from_a_small_basis_stay_within_the_data():
    X = np.random.default_rng(0).normal(size=(500, 3))
    model = ReducedSetKernelPCA(4, bandwidth=2.0, basis=10).fit(X)
    back = model.inverse_transform(model.transform(X), method="distances")
    plain = ReducedSetKernelPCA(4, bandwidth=2.0).fit(X)
    errors = np.sum((back - X) ** 2, axis=1)
    usual = np.sum((plain.inverse_transform(plain.transform(X), method="distances") - X) ** 2, 1)
    assert errors.mean() < 2 * usual.mean()


def test_the_default_ridge_has_the_smallest_leave_one_out_error():
    """The error of each point is computed from a fit to the other points."""
    X = datasets.load("german", step=20)
    model = fitted(X, 30.0, 6, ell=np.inf)
    Z, Y = model.transform(X), X - X.mean(axis=0)
    filtered = METHODS["ridge"].fit(model.eigensystem_, model.reduced_set_, 1.0).scales
    errors = {}
    for i, scales in enumerate((filtered, np.ones(6))):
        squared = cdist(Z * scales, Z * scales, "sqeuclidean")
        for factor in preimages._WIDTHS:
            K = np.exp(-squared / squared.mean() / factor**2)
            for alpha in preimages._RIDGES:
                errors[i, factor, alpha] = sum(
                    left_out_error(K, Y, alpha, j) for j in range(len(Y))
                )
            kernel = Gaussian(factor * np.sqrt(squared.mean()))
            found = preimages._leave_one_out(kernel, Z * scales, np.ones((len(Y), 1)), Y)
            for alpha, error in found.items():
                assert error == pytest.approx(errors[i, factor, alpha], rel=1e-4)
    i, factor, alpha = min(errors, key=errors.get)
    chosen = preimages._cross_validate((filtered, np.ones(6)), Z, np.ones(len(Y)), Y)
    np.testing.assert_array_equal(chosen[0], (filtered, np.ones(6))[i])
    assert chosen[1:] == (factor, alpha)


def left_out_error(K, Y, alpha, i):
    others = np.arange(len(K)) != i
    matrix = K[np.ix_(others, others)] + alpha * np.eye(len(K) - 1)
    return np.sum((Y[i] - K[i, others] @ np.linalg.solve(matrix, Y[others])) ** 2)


def test_clean_points_are_reconstructed_about_as_well_as_with_the_best_alpha_in_scikit_learn():
    images = datasets.load("digits") / 16
    train, clean = images[:600], images[600:900]
    model = fitted(train, 6.0, 64, ell=np.inf)
    ours = np.mean((model.inverse_transform(model.transform(clean)) - clean) ** 2)
    theirs = []
    for alpha in (1.0, 0.1, 1e-2, 1e-3, 1e-4):
        exact = KernelPCA(
            64, kernel="rbf", gamma=1 / 36, fit_inverse_transform=True, alpha=alpha,
            eigen_solver="dense",
        ).fit(train)  # fmt: skip
        theirs.append(np.mean((exact.inverse_transform(exact.transform(clean)) - clean) ** 2))
    assert ours < 1.2 * min(theirs) < 0.2 * theirs[0]


def test_an_invalid_alpha_is_rejected():
    model = fitted(X_GOOD, 4.0, 4)
    Z = model.transform(X_GOOD)
    with pytest.raises(ValueError, match=r"alpha must be a positive, finite number, got -1"):
        model.inverse_transform(Z, alpha=-1.0)
    with pytest.raises(ValueError, match=r'alpha=1.0 requires method="ridge"'):
        model.inverse_transform(Z, method="distances", alpha=1.0)
