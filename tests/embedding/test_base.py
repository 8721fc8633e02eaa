"""Test the streaming and validation code that all embeddings share."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import NotFittedError

from rskpca import Gaussian, ReducedSetKernelPCA, ShadowDensity, WindowDensity
from rskpca.density import BaseDensity
from tests import datasets
from tests.states import fitted_state

X_GOOD = datasets.blobs(200, 3)
NEW = datasets.blobs(30, 3, seed=4)


def make(n_components=3, **parameters):
    return ReducedSetKernelPCA(n_components, **{"bandwidth": 3.0, **parameters})


@pytest.fixture
def fitted():
    """Yield a fitted model and check afterwards that it has not changed."""
    model = make().fit(X_GOOD)
    before, coordinates = fitted_state(model), model.transform(NEW)
    yield model
    assert fitted_state(model) == before
    np.testing.assert_array_equal(model.transform(NEW), coordinates)


# ---------------------------------------------------------------------------- streams


@given(
    cuts=st.lists(st.integers(20, 199), max_size=5, unique=True),
    ask_between=st.booleans(),
    weighted=st.booleans(),
    ell=st.sampled_from([2.0, 4.0, np.inf]),
)
@settings(max_examples=25)
def test_any_chunking_is_bitwise_equal_to_a_single_fit(cuts, ask_between, weighted, ell):
    weights = np.random.default_rng(0).random(200) if weighted else None
    whole = make(ell=ell).fit(X_GOOD, sample_weight=weights)
    stream = make(ell=ell)
    for rows in np.split(np.arange(200), sorted(cuts)):
        part = None if weights is None else weights[rows]
        stream.partial_fit(X_GOOD[rows], sample_weight=part)
        if ask_between and stream.n_centers_ > 5:
            stream.transform(NEW)
    assert stream.reduced_set_ == whole.reduced_set_
    np.testing.assert_array_equal(stream.transform(NEW), whole.transform(NEW))
    np.testing.assert_array_equal(stream.eigenvalues_, whole.eigenvalues_)


@pytest.mark.parametrize("first", [X_GOOD[:2], X_GOOD[[0, 0]]], ids=["few", "equal"])
def test_a_stream_may_start_with_few_rows(first):
    """Having too few components matters only when results are requested."""
    X = np.concatenate([first, X_GOOD[2:]])
    stream = make().partial_fit(first).partial_fit(X[2:])
    np.testing.assert_array_equal(stream.transform(NEW), make().fit(X).transform(NEW))


def test_a_pickled_stream_can_continue():
    stream = make().partial_fit(X_GOOD[:100])
    stream = pickle.loads(pickle.dumps(stream)).partial_fit(X_GOOD[100:])
    np.testing.assert_array_equal(stream.transform(NEW), make().fit(X_GOOD).transform(NEW))


def test_the_first_chunk_determines_the_bandwidth():
    stream = ReducedSetKernelPCA(2).partial_fit(X_GOOD[:100])
    bandwidth = stream.kernel_.bandwidth
    assert stream.partial_fit(10 * X_GOOD[100:]).kernel_.bandwidth == bandwidth


def test_forgetting_the_second_half_leaves_the_first_half():
    model = make(ell=2.0).fit(X_GOOD)
    model.forget(X_GOOD[100:])
    s = model.reduced_set_
    assert s.n_samples == 100
    nearest = np.sqrt(((X_GOOD[:100, None] - s.centers) ** 2).sum(axis=2)).min(axis=1)
    assert nearest.max() < s.radius
    density = ShadowDensity(Gaussian(3.0), ell=2.0).fit(X_GOOD).forget(X_GOOD[100:])
    assert s == density.reduced_set_
    assert not np.allclose(model.transform(NEW), make(ell=2.0).fit(X_GOOD).transform(NEW))


def test_adding_and_forgetting_rows_restores_the_model():
    """The rows are assigned to existing centers, which remain."""
    model = make().fit(X_GOOD)
    expected = model.transform(NEW)
    model.partial_fit(X_GOOD[:50]).forget(X_GOOD[:50])
    np.testing.assert_allclose(model.transform(NEW), expected, atol=1e-10)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (X_GOOD[:5] + 1e3, "5 of 5 rows are not in any shadow"),
        (np.repeat(X_GOOD[:1], 500, axis=0), "would be removed"),
        (X_GOOD, "no rows would be left"),
        (X_GOOD * np.nan, "NaN"),
        (X_GOOD[:, :2], "2 features"),
    ],
)
def test_forgotten_rows_must_have_been_fitted(fitted, rows, message):
    with pytest.raises(ValueError, match=message):
        fitted.forget(rows)


@pytest.mark.parametrize(
    ("rows", "weights", "message"),
    [
        (X_GOOD * np.nan, None, "NaN"),
        (X_GOOD[:, :2], None, "2 features"),
        (X_GOOD[:0], None, "0 sample"),
        (X_GOOD, np.full(200, -1.0), "sample_weight must be non-negative"),
        (X_GOOD, np.ones(3), "sample_weight"),
    ],
)
def test_a_rejected_chunk_leaves_the_model_unchanged(fitted, rows, weights, message):
    with pytest.raises(ValueError, match=message):
        fitted.partial_fit(rows, sample_weight=weights)


class FixedDensity(BaseDensity):
    """Density with the first rows as equally weighted centers; it does not support streaming."""

    def __init__(self, kernel=None, random_state=None):
        self.kernel = kernel
        self.random_state = random_state

    def fit(self, X, y=None, sample_weight=None):
        from rskpca import ReducedSet

        self.kernel_ = self.kernel
        self.reduced_set_ = ReducedSet(X[:50], np.full(50, len(X) / 50))
        return self


def test_any_density_is_accepted():
    model = make(density=FixedDensity()).fit(X_GOOD)
    expected = make(ell=np.inf).fit(X_GOOD[:50])
    np.testing.assert_allclose(model.eigenvalues_, 4 * expected.eigenvalues_, rtol=1e-10)


@pytest.mark.parametrize("verb", ["partial_fit", "forget"])
def test_a_density_that_does_not_support_streaming_is_reported(verb):
    model = make(density=FixedDensity()).fit(X_GOOD)
    with pytest.raises(AttributeError) as error:
        getattr(model, verb)(X_GOOD)
    assert f"FixedDensity does not support {verb}. Use a ShadowDensity" in str(
        error.value.__cause__
    )
    model.set_params(density=None)  # takes effect at the next fit
    assert not hasattr(model, verb)
    assert hasattr(model.fit(X_GOOD), verb)


# ----------------------------------------------------------------- invalid data and weights


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.where(np.arange(600).reshape(200, 3) == 7, np.nan, X_GOOD), "contains NaN"),
        (np.where(np.arange(600).reshape(200, 3) == 7, -np.inf, X_GOOD), "contains infinity"),
        (X_GOOD[:0], "0 sample"),
        (X_GOOD[:1], r"1 sample\(s\).*minimum of 2"),
        (X_GOOD[:, :0], "0 feature"),
        (X_GOOD[:, 0], "Expected 2D array, got 1D"),
        (X_GOOD.astype(complex), "Complex data not supported"),
        ([["a", "b"], ["c", "d"]], "must contain numbers, but column"),
        (np.ones((10, 3)), "the kernel cannot distinguish"),
    ],
)
def test_invalid_data_are_rejected(fitted, X, message):
    with pytest.raises(ValueError, match=message):
        fitted.fit(X)


@pytest.mark.parametrize("verb", ["fit", "transform", "partial_fit", "forget"])
def test_sparse_data_are_rejected_with_a_suggested_fix_if_the_density_is_dense(verb):
    fitted = ReducedSetKernelPCA(2, kernel=Gaussian(2.0), density=WindowDensity(50)).fit(X_GOOD)
    with pytest.raises(TypeError, match=r"[Ss]parse.*toarray\(\)"):
        getattr(fitted, verb)(sparse.csr_matrix(X_GOOD))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (NEW[:, :2], "X has 2 features, but ReducedSetKernelPCA is expecting 3 features"),
        (NEW * np.nan, "contains NaN"),
        (NEW + np.inf, "contains infinity"),
        (NEW[:0], "0 sample"),
        (NEW[0], "Expected 2D array"),
        (NEW.astype(complex), "Complex data not supported"),
        (NEW.astype(str).astype(object) + "x", "must contain numbers, but column"),
    ],
)
def test_transform_rejects_invalid_points(fitted, X, message):
    with pytest.raises(ValueError, match=message):
        fitted.transform(X)


@pytest.mark.parametrize("verb", ["transform", "forget"])
def test_methods_require_a_fitted_model(verb):
    with pytest.raises(NotFittedError, match="ReducedSetKernelPCA instance is not fitted yet"):
        getattr(make(), verb)(X_GOOD)


@pytest.mark.parametrize(
    "name", ["reduced_set_", "eigenvalues_", "n_centers_", "basis_", "explained_variance_ratio_"]
)
def test_fitted_attributes_require_a_fitted_model(name):
    with pytest.raises(NotFittedError):
        getattr(make(), name)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros(200), "sample_weight must have a positive sum"),
        (np.arange(200) - 1.0, r"sample_weight must be non-negative, got a minimum of -1\.0"),
        (np.full(200, np.nan), "sample_weight must be finite"),
        (np.ones(199), r"sample_weight.*shape \(200,\).*\(199,\)"),
        (["a"] * 200, "sample_weight must contain numbers"),
    ],
)
def test_invalid_weights_are_reported(fitted, weights, message):
    with pytest.raises(ValueError, match=message):
        fitted.fit(X_GOOD, sample_weight=weights)


# --------------------------------------------------------------------- invalid parameters


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        *[({"n_components": n}, f"n_components must be an integer.*got {n!r}")
          for n in (0, -1, 1.5, "2", True)],
        *[({"ell": ell}, f"ell must be a positive number or np.inf, got {ell!r}")
          for ell in (0, -1.0, np.nan, "4")],
        *[({"bandwidth": b}, f"bandwidth must be a positive, finite number, got {b!r}")
          for b in (0, -1.0, np.nan, np.inf)],
        ({"bandwidth": "mean"}, 'bandwidth must be a positive number or one of "median"'),
        *[({"gamma": g, "bandwidth": None}, f"gamma must be a positive, finite number, got {g!r}")
          for g in (0, -1.0, np.nan, np.inf)],
        ({"gamma": 0.5}, r"gamma=0\.5 and bandwidth=.* cannot be combined"),
        ({"kernel": Gaussian(1.0)}, r"gamma and bandwidth.*Gaussian\(bandwidth=1\.0\)"),
        ({"kernel": Gaussian(1.0), "gamma": 2.0, "bandwidth": None}, "gamma and bandwidth"),
        ({"kernel": Gaussian(-1.0), "bandwidth": None}, r"bandwidth.*got -1\.0"),
        ({"kernel": "linear"}, "or a kernel object such as Gaussian\\(2.0\\), got 'lin"),
        ({"ell": 3.0, "density": ShadowDensity()}, r"ell=3\.0 cannot be combined with density"),
        ({"density": ShadowDensity(ell=-2.0)}, r"ell must be.*got -2\.0"),
    ],
)  # fmt: skip
def test_invalid_parameters_are_reported_without_side_effects(fitted, parameters, message):
    parameters = {"bandwidth": 3.0, **parameters}
    with pytest.raises(ValueError, match=message):
        fitted.set_params(**parameters).fit(X_GOOD)


@pytest.mark.parametrize("density", ["shadow", 3, ShadowDensity])
def test_density_must_be_a_density_estimator(fitted, density):
    with pytest.raises(TypeError, match="density must be a density estimator"):
        fitted.set_params(density=density).fit(X_GOOD)


def test_the_median_bandwidth_of_identical_rows_is_undefined():
    with pytest.raises(ValueError, match=r'"median" rule for the bandwidth requires distinct rows'):
        ReducedSetKernelPCA(2).fit(np.ones((10, 2)))


@pytest.mark.parametrize("n", [50, 512])
def test_a_kernel_that_cannot_distinguish_the_points_is_rejected(n):
    with pytest.raises(ValueError, match="the kernel cannot distinguish"):
        make(2, bandwidth=1e12, ell=np.inf).fit(datasets.blobs(n, 3))


# -------------------------------------------------------- fewer components than requested


def test_a_warning_explains_why_there_are_fewer_components_than_requested():
    X = np.array([[0.0], [0.1], [5.0], [10.0], [5.1]])
    with pytest.warns(UserWarning, match="Only 2 of the 10 requested .* more than 3 centers"):
        model = make(10, bandwidth=3.0, ell=4.0).fit(X)
    assert model.transform(X).shape == (5, 2)
    assert len(model.get_feature_names_out()) == 2
    with pytest.warns(UserWarning, match=r"Only 3 of the 10 requested components"):
        model = make(10, bandwidth=3.0, ell=4.0, center=False).fit(X)
    assert model.transform(X).shape == (5, 3)


def test_n_components_none_keeps_every_component_without_a_warning():
    model = make(None, bandwidth=1.0).fit(X_GOOD[:90])
    assert len(model.eigenvalues_) == model.n_centers_ - 1  # centering removes one component
    uncentered = make(None, bandwidth=1.0, center=False).fit(X_GOOD[:90])
    assert len(uncentered.eigenvalues_) == model.n_centers_


def test_n_components_none_is_limited_with_a_warning():
    X = np.random.default_rng(0).uniform(size=(300, 3))
    for options in ({}, {"refine": "nystrom"}):
        unlimited = make(None, bandwidth=0.5, ell=np.inf, **options)
        with pytest.warns(UserWarning, match=r"keeps only the first 100 of up to 300 components"):
            model = unlimited.fit(X)
        few = make(100, bandwidth=0.5, ell=np.inf, **options).fit(X)
        np.testing.assert_allclose(model.eigenvalues_, few.eigenvalues_, rtol=1e-9)


def test_a_single_feature_is_sufficient():
    Z = make(2).fit_transform(X_GOOD[:, :1])
    assert Z.shape == (200, 2)
    assert np.isfinite(Z).all()


def test_two_rows_are_sufficient():
    Z = make(1).fit_transform(np.array([[0.0], [5.0]]))
    np.testing.assert_allclose(Z[0], -Z[1])
