"""Test the scikit-learn interface of KernelPCA, and that its error stays below max_error."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.decomposition import KernelPCA as Peer
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import GridSearchCV

from rskpca import Gaussian, KernelPCA, load, merge, save
from rskpca.embedding import _autopilot, _precomputed
from rskpca.embedding._components import largest_gap

KERNELS = ("linear", "poly", "rbf", "cosine", "laplacian")


def embedding_error(exact, found):
    fitted = found @ np.linalg.lstsq(found, exact, rcond=None)[0]
    return np.linalg.norm(exact - fitted) / np.linalg.norm(exact)


@pytest.fixture
def approximate(monkeypatch):
    """Make KernelPCA approximate even small data."""
    monkeypatch.setattr(_autopilot, "_AT_ONCE", 0.0)
    monkeypatch.setattr(_autopilot, "_SMALL", 0)
    monkeypatch.setattr(_autopilot, "_WHOLE", 0.0)


def values(X, Y, kernel, gamma):
    return pairwise_kernels(X, Y, kernel, gamma=gamma, filter_params=True)


def rows(n=300, d=4, seed=0):
    return make_blobs(n, d, centers=4, cluster_std=2.0, random_state=seed)[0]


@pytest.mark.parametrize("kernel", [*KERNELS, "sigmoid"])
def test_results_for_small_data_equal_those_of_scikit_learn(kernel):
    X, new = rows(), rows(20, seed=1)
    found, peer = KernelPCA(3, kernel=kernel, gamma=0.01).fit(X), Peer(3, kernel="precomputed")
    peer.fit(values(X, X, kernel, 0.01))
    expected = np.abs(peer.transform(values(new, X, kernel, 0.01)))
    np.testing.assert_allclose(found.eigenvalues_, peer.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(np.abs(found.transform(new)), expected, atol=1e-6)
    own = peer.eigenvectors_ * np.sqrt(peer.eigenvalues_)
    np.testing.assert_allclose(np.abs(found.fit_transform(X)), np.abs(own), atol=1e-6)


def test_the_attributes_of_an_exact_model_equal_those_of_scikit_learn():
    X = rows()
    options = {"kernel": "rbf", "gamma": 0.02, "fit_inverse_transform": True, "alpha": 0.1}
    found, peer = (cls(3, **options).fit(X) for cls in (KernelPCA, Peer))
    for name in ("eigenvalues_", "eigenvectors_", "X_transformed_fit_"):
        np.testing.assert_allclose(np.abs(getattr(found, name)), np.abs(getattr(peer, name)), 1e-6)
    np.testing.assert_array_equal(found.X_fit_, peer.X_fit_)
    assert found.gamma_ == pytest.approx(peer.gamma_)
    back = found.inverse_transform(found.transform(X))
    np.testing.assert_allclose(back, peer.inverse_transform(peer.transform(X)), rtol=1e-6)


@pytest.mark.usefixtures("approximate")
@pytest.mark.parametrize("kernel", ["rbf", "poly", "laplacian"])
@pytest.mark.parametrize("max_error", [0.1, 0.02])
def test_the_error_stays_below_max_error(kernel, max_error):
    X = load_digits().data / 16
    exact = Peer(5, kernel="precomputed").fit_transform(values(X, X, kernel, 0.05))
    model = KernelPCA(5, kernel=kernel, gamma=0.05, max_error=max_error).fit(X)
    assert "in the span of" in model.method_
    assert embedding_error(exact, model.transform(X)) <= max_error
    assert model.error_ <= max_error
    assert model.certificate_.embedding.estimate <= max_error


@pytest.mark.usefixtures("approximate")
def test_coordinates_can_be_computed_from_the_attributes_of_an_approximation():
    X = load_digits().data / 16
    model = KernelPCA(3, kernel="rbf", max_error=0.1).fit(X)
    block = values(X, model.X_fit_, "rbf", model.gamma_)
    means = model.model_.system.operator.means
    coefficients = model.eigenvectors_ / np.sqrt(model.eigenvalues_)
    assert len(model.X_fit_) < len(X)
    np.testing.assert_allclose((block - means) @ coefficients, model.transform(X), atol=1e-8)


def test_the_linear_kernel_is_solved_in_the_features():
    X = rows(20_000, 5)
    model = KernelPCA(3).fit(X)
    assert model.error_ == 0
    assert "5 features" in model.method_
    values = np.linalg.eigvalsh(np.cov(X.T, bias=True) * len(X))[::-1][:3]
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-9)


def test_a_warning_is_given_if_max_memory_prevents_max_error():
    X = np.random.default_rng(0).uniform(size=(4_000, 30))
    with pytest.warns(UserWarning, match=r"max_error=0.01 was not reached.*max_memory"):
        model = KernelPCA(5, kernel="rbf", gamma=0.5, max_error=0.01, max_memory=0.01).fit(X)
    assert model.error_ > 0.01
    assert model.transform(X).shape == (4_000, 5)


def test_the_exact_solution_is_computed_if_the_basis_would_be_large():
    X = np.random.default_rng(0).uniform(size=(2_500, 30))
    model = KernelPCA(5, kernel="rbf", gamma=0.5, max_error=0.001).fit(X)
    assert model.method_ == "exact kernel PCA of 2,500 rows"
    assert model.error_ == 0


@pytest.mark.usefixtures("approximate")
def test_an_explicit_solver_requests_the_exact_solution():
    X = rows(1_500)
    for solver in ("dense", "arpack", "randomized"):
        assert KernelPCA(2, kernel="rbf", eigen_solver=solver).fit(X).error_ == 0


def test_integer_weights_are_equivalent_to_repeated_rows():
    X, weights = rows(200), np.arange(200) % 3
    weighted = KernelPCA(3, kernel="rbf", gamma=0.02).fit(X, sample_weight=weights)
    repeated = KernelPCA(3, kernel="rbf", gamma=0.02).fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(weighted.transform(X), repeated.transform(X), atol=1e-8)


# ------------------------------------------------------------------ parameters


def test_gamma_can_be_the_name_of_a_bandwidth_rule():
    X = rows()
    named = KernelPCA(2, kernel="rbf", gamma="median").fit(X)
    given = KernelPCA(2, kernel=Gaussian("median")).fit(X)
    assert named.gamma_ == given.gamma_ > 0
    np.testing.assert_array_equal(named.transform(X), given.transform(X))


@pytest.mark.parametrize("share", [0.3, 0.8, 0.95])
def test_a_share_of_the_variance_determines_the_number_of_components(share):
    X = load_digits().data[:800] / 16
    model = KernelPCA(share, kernel="rbf", gamma=0.01).fit(X)
    explained = np.cumsum(model.explained_variance_ratio_)
    assert explained[-1] >= share
    assert len(explained) == 1 or explained[-2] < share


@pytest.mark.parametrize("n", [300, 6_000])
def test_the_largest_gap_can_determine_the_number_of_components(n):
    X = make_blobs(n, 3, centers=5, cluster_std=0.05, center_box=(-30, 30), random_state=1)[0]
    assert KernelPCA("auto", kernel="rbf", gamma=0.05).fit(X).transform(X).shape == (n, 4)


def test_the_default_number_of_components_is_limited_with_a_warning():
    X = rows(3_000, 3)
    with pytest.warns(UserWarning, match="only the first 100 components"):
        model = KernelPCA(kernel="rbf", gamma=0.5).fit(X)
    assert model.transform(X[:5]).shape == (5, 100)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_error": 0}, "max_error must be a number between 0 and 1"),
        ({"max_error": 1.5}, "max_error must be a number between 0 and 1"),
        ({"max_memory": -1}, "max_memory must be a positive number"),
        ({"n_components": 0}, "n_components must be an integer of at least 1"),
        ({"n_components": 1.5}, "n_components must be a number between 0 and 1"),
        ({"n_components": "many"}, "n_components must be a positive integer"),
        ({"kernel": "rfb"}, "kernel must be one of"),
        ({"kernel": "poly", "gamma": "median"}, 'requires kernel="rbf"'),
        ({"kernel": "rbf", "gamma": "mean"}, "gamma must be one of"),
        ({"eigen_solver": "fast"}, "eigen_solver must be one of"),
        ({"kernel": "precomputed"}, "square kernel matrix, got shape"),
    ],
)
def test_invalid_parameters_are_rejected_before_any_work(options, message):
    model = KernelPCA(**{"n_components": 2, **options})
    with pytest.raises(ValueError, match=message):
        model.fit(rows())
    assert not [name for name in vars(model) if name.endswith("_")]


def test_a_gap_is_required_for_an_automatic_number_of_components():
    X = np.eye(40)
    with pytest.raises(ValueError, match='n_components="auto" requires a gap'):
        KernelPCA("auto", kernel="rbf").fit(X)


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_a_smaller_error_is_not_suggested_if_the_eigenvalues_are_exact(kernel):
    with pytest.raises(ValueError, match=r"the first 20 eigenvalues are equal\. Set") as caught:
        KernelPCA("auto", kernel=kernel).fit(np.eye(40))
    assert "max_error" not in str(caught.value)


@pytest.mark.usefixtures("approximate")
def test_a_smaller_error_is_suggested_if_an_approximation_has_no_gap():
    X = np.kron(np.eye(21), np.linspace(0.9, 1.1, 140)[:, None])  # 20 equal eigenvalues
    with pytest.raises(ValueError, match=r"first 20 eigenvalues overlap.*or decrease max_error"):
        KernelPCA("auto", kernel="rbf", gamma=0.5, max_error=0.1).fit(X)


def test_a_smaller_error_is_suggested_if_the_intervals_of_eigenvalues_overlap():
    low, high = np.array([0.9, 0.8, 0.7]), np.array([1.1, 0.95, 0.85])
    with pytest.raises(ValueError, match=r"first 3 eigenvalues overlap.*or decrease max_error"):
        largest_gap(low, high)
    assert largest_gap(low, high - [0, 0, 0.1]) == 2


def test_kernels_that_are_not_positive_definite_are_reported():
    X = np.random.default_rng(0).normal(size=(60, 3))
    with pytest.raises(ValueError, match=r"k\(x, x\) is -\d"):
        KernelPCA(2, kernel=lambda x, y: -(x @ y)).fit(X)
    with pytest.raises(ValueError, match="significant negative eigenvalues"):
        KernelPCA(59, kernel=lambda x, y: abs(x[0] - y[0]) + float(x @ x == y @ y)).fit(X)


def test_the_check_for_negative_eigenvalues_can_be_interrupted(monkeypatch):
    """SciPy's solver would hold the GIL, so that Ctrl-C has to wait."""
    calls = []
    monkeypatch.setattr(_precomputed, "interruptible", lambda f, A: calls.append(f) or f(A))
    with pytest.raises(ValueError, match="significant negative eigenvalues"):
        KernelPCA(3, kernel="precomputed").fit(np.diag([1.0, 1.0, -2.0]))
    assert calls == [np.linalg.eigvalsh]


def test_text_in_a_column_is_reported_with_its_location():
    table = pd.DataFrame({"height": [1.0, 2.0], "town": ["Aix", "Ulm"]})
    with pytest.raises(ValueError, match="column 'town' contains text, such as 'Aix' in row 0"):
        KernelPCA(1).fit(table)
    with pytest.raises(ValueError, match="column 1 contains text, such as 'x' in row 1"):
        KernelPCA(1).fit([["1", "2"], ["3", "x"]])


# ------------------------------------------------------------------ precomputed kernels


def test_a_precomputed_matrix_gives_the_same_results_as_its_kernel():
    X, new = rows(), rows(20, seed=1)
    given = KernelPCA(3, kernel="precomputed").fit(values(X, X, "rbf", 0.02))
    named = KernelPCA(3, kernel="rbf", gamma=0.02).fit(X)
    block = values(new, X, "rbf", 0.02)
    np.testing.assert_allclose(given.eigenvalues_, named.eigenvalues_, rtol=1e-8)
    expected = np.abs(named.transform(new))
    np.testing.assert_allclose(np.abs(given.transform(block)), expected, atol=1e-8)
    with pytest.raises(ValueError, match="20 features"):
        given.transform(block[:, :20])


# ------------------------------------------------------------------ beyond scikit-learn


@pytest.mark.usefixtures("approximate")
def test_the_error_of_a_stream_stays_below_max_error():
    X = rows(2_000)
    model = KernelPCA(3, kernel="rbf", gamma=0.02, max_error=0.05)
    for chunk in np.array_split(X, 4):
        model.partial_fit(chunk)
    exact = KernelPCA(3, kernel="rbf", gamma=0.02, eigen_solver="dense").fit(X).transform(X)
    assert embedding_error(exact, model.transform(X)) < 0.05
    assert model.error_ == pytest.approx(model.certificate_.embedding.limit)
    assert model.error_ < 0.1


@pytest.mark.usefixtures("approximate")
def test_a_stream_that_drifts_away_from_its_first_chunk_is_reported():
    X = rows(2_000)
    model = KernelPCA(3, kernel="rbf", gamma=0.02, max_error=0.05)
    for chunk in np.array_split(X[np.argsort(X[:, 0])], 4):
        model.partial_fit(chunk)
    with pytest.warns(UserWarning, match=r"max_error=0\.05 was not reached for all rows: the"):
        model.transform(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the warning is issued only once
        model.transform(X)
        assert model.error_ > 0.05


def test_inner_products_of_features_equal_kernel_values():
    X = rows(200)
    model = KernelPCA(3, kernel="rbf", gamma=0.02).fit(X)
    features = model.feature_map(X)
    expected = values(X, X, "rbf", 0.02)
    np.testing.assert_allclose(features @ features.T, expected, atol=1e-6)


@pytest.mark.usefixtures("approximate")
@pytest.mark.parametrize("kernel", ["rbf", "poly", "laplacian"])
def test_features_of_an_approximation_are_projections_of_new_rows(kernel):
    X = load_digits().data / 16
    train, new = X[:1400], X[1400:]
    # max_error does not limit the error of kernel values, but a smaller one makes the basis larger.
    model = KernelPCA(5, kernel=kernel, gamma=0.05, max_error=0.05).fit(train)
    basis, features = model.X_fit_, model.feature_map(new)
    assert features.shape == (397, len(basis))
    assert len(basis) < 1400
    block, own = values(new, basis, kernel, 0.05), values(basis, basis, kernel, 0.05)
    products = features @ features.T
    np.testing.assert_allclose(products, block @ np.linalg.solve(own, block.T), atol=1e-8)
    exact = values(new, new, kernel, 0.05)
    assert np.linalg.norm(exact - products) < 0.05 * np.linalg.norm(exact)
    assert np.linalg.eigvalsh(exact - products)[0] > -1e-8


def test_features_of_an_exact_model_reproduce_the_kernel_at_training_rows_only():
    X, new = rows(200), rows(50, seed=1)
    model = KernelPCA(3, kernel="rbf", gamma=0.02).fit(X)
    known, found = model.feature_map(X), model.feature_map(new)
    np.testing.assert_allclose(found @ known.T, values(new, X, "rbf", 0.02), atol=1e-6)
    lengths = np.square(found).sum(axis=1)
    assert lengths.max() <= 1 + 1e-6
    assert lengths.min() < 0.999


def test_a_grid_search_without_labels_finds_a_reasonable_gamma():
    angles = np.random.default_rng(0).uniform(0, 2, size=(300, 1)) * np.arange(1, 6)
    X = np.hstack([np.sin(angles), np.cos(angles)])
    search = GridSearchCV(KernelPCA(2, kernel="rbf"), {"gamma": [1e-6, 0.1, 1000.0]}, cv=3)
    assert search.fit(X).best_params_ == {"gamma": 0.1}


@pytest.mark.parametrize("n", [300, 4_000])
def test_a_model_file_contains_the_whole_estimator(tmp_path, n):
    X = make_moons(n, noise=0.05, random_state=0)[0]
    model = KernelPCA(2, kernel="rbf", gamma=2.0, fit_inverse_transform=True).fit(X)
    save(model, tmp_path / "model.rskpca")
    same = load(tmp_path / "model.rskpca")
    np.testing.assert_array_equal(same.transform(X), model.transform(X))
    Z = model.transform(X[:5])
    np.testing.assert_array_equal(same.inverse_transform(Z), model.inverse_transform(Z))
    assert (same.error_, same.method_) == (model.error_, model.method_)


def test_identical_rows_have_no_components():
    X = np.ones((10, 3))
    assert KernelPCA(2, kernel="rbf").fit_transform(X).shape == (10, 2)
    assert KernelPCA(kernel="rbf").fit_transform(X).shape == (10, 0)
    assert not KernelPCA(2, kernel="rbf").fit(X).eigenvalues_.any()


def test_float32_rows_give_float32_coordinates():
    X = rows().astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert KernelPCA(2, kernel="rbf").fit(X).transform(X).dtype == np.float32


# ------------------------------------------------------------------ merging


def test_models_on_the_same_points_can_be_merged():
    X = rows(400)
    parts = [KernelPCA(3, kernel="linear").fit(part) for part in (X[:150], X[150:])]
    merged, whole = merge(*parts), KernelPCA(3, kernel="linear").fit(X)
    np.testing.assert_allclose(merged.eigenvalues_, whole.eigenvalues_, rtol=1e-9)
    assert (merged.error_, merged.method_) == (whole.error_, whole.method_)


def test_incompatible_models_cannot_be_merged(approximate):
    X = rows(3_000)
    model = KernelPCA(3, kernel="rbf", gamma=0.02)
    first, second = (clone(model).fit(part) for part in (X[:1500], X[1500:]))
    with pytest.raises(ValueError, match=r"landmarks=first.shared_landmarks_.*of a KernelPCA"):
        merge(first, second)
    with pytest.raises(ValueError, match="same kernel"):
        merge(first, KernelPCA(3, kernel="poly").fit(X[:1500]))
    exact = KernelPCA(3, kernel="rbf", eigen_solver="dense").fit(X[:100])
    with pytest.raises(ValueError, match="merge cannot continue a fit that did not keep sums"):
        merge(exact, exact)
    matrix = KernelPCA(2, kernel="precomputed").fit(np.eye(5))
    with pytest.raises(AttributeError, match="model_ is not available"):
        merge(matrix, matrix)


def test_rare_rows_outside_the_sample_are_not_overlooked():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6_000, 3)) * 1e-3
    X[:5] = rng.normal(size=(5, 3)) * 5
    exact = KernelPCA(3, kernel="rbf", gamma=1.0, eigen_solver="dense").fit(X)
    model = KernelPCA(3, kernel="rbf", gamma=1.0).fit(X)
    assert embedding_error(exact.transform(X), model.transform(X)) <= 0.02
    few = KernelPCA(3, kernel="rbf", gamma=1.0, max_memory=0.1)
    with pytest.warns(UserWarning, match="was not reached"):
        few.fit(X)
    assert few.error_ > 0.3


# ------------------------------------------------------------------ unusual input


def test_coordinates_with_constant_components_can_be_inverted():
    X = rows(60, 2) @ np.ones((2, 5))
    model = KernelPCA(4, fit_inverse_transform=True).fit(X)
    assert model.inverse_transform(model.transform(X)).shape == X.shape
    with pytest.raises(ValueError, match="X must have 4 columns"):
        model.inverse_transform(X)


def test_a_refit_without_an_inverse_discards_the_previous_one():
    model = KernelPCA(2, kernel="rbf", fit_inverse_transform=True).fit(rows())
    model.set_params(fit_inverse_transform=False).fit(rows(30))
    assert not hasattr(model, "dual_coef_")


def test_a_stream_can_continue_with_small_chunks_and_fewer_components():
    X = rows(400)
    model = KernelPCA(5, kernel="rbf", gamma=0.02).partial_fit(X)
    assert model.partial_fit(X[:2]).transform(X).shape == (400, 5)
    assert model.set_params(n_components=2).partial_fit(X).transform(X).shape == (400, 2)
    with pytest.raises(ValueError, match="cannot change the kernel"):
        model.set_params(kernel="poly").partial_fit(X)


@pytest.mark.filterwarnings("ignore:Only 3 of the 6 requested components")
def test_the_number_of_components_of_a_stream_does_not_depend_on_the_last_chunk():
    X = np.repeat(rows(4), 30, axis=0)
    model = KernelPCA(6, kernel="rbf", gamma=0.02).partial_fit(X)
    np.testing.assert_array_equal(model.eigenvalues_ > 0, [True] * 3 + [False] * 3)
    assert model.partial_fit(X[:2]).transform(X).shape == (120, 6)
    assert len(model.explained_variance_ratio_) == model.eigenvectors_.shape[1] == 6


@pytest.mark.parametrize("requested", [0.5, "auto"])
def test_precomputed_kernels_give_the_same_number_of_components(requested):
    X = rows() * [9, 5, 3, 1]
    named = KernelPCA(requested).fit(X).eigenvalues_
    given = KernelPCA(requested, kernel="precomputed").fit(X @ X.T).eigenvalues_
    np.testing.assert_allclose(given, named, rtol=1e-8)


def test_identical_rows_with_many_columns_have_no_components():
    assert not KernelPCA(2, kernel="rbf").fit_transform(np.ones((6_000, 100))).any()


def test_a_mean_far_from_the_origin_costs_little_accuracy():
    X = np.random.default_rng(0).normal(size=(1_500, 5)) * [5, 4, 3, 2, 1]
    exact = KernelPCA(2).fit(X).transform(X)
    assert embedding_error(exact, KernelPCA(2).fit(X + 1e6).transform(X + 1e6)) < 1e-3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "sigmoid"}, "is not positive definite, and exact kernel PCA"),
        ({"kernel": "rbf", "n_components": 150}, "is not estimated for n_components=150"),
    ],
)
def test_exact_solutions_that_exceed_the_memory_limit_are_rejected(options, message):
    X = np.random.default_rng(0).normal(size=(3_000, 4))
    with pytest.raises(ValueError, match=message):
        KernelPCA(**{"n_components": 3, "max_memory": 0.05, **options}).fit(X)


def test_linear_models_reconstruct_most_of_the_variance_of_new_rows():
    rng = np.random.default_rng(0)
    scale = [9, 5, 3, 0.1, 0.1]
    model = KernelPCA(3).fit(rng.normal(size=(500, 5)) * scale)
    assert model.score(rng.normal(size=(100, 5)) * scale) > 0.95
    with pytest.raises(ValueError, match="all rows of X are equal"):
        model.score(np.ones((3, 5)))
