"""Test the values, constants, bandwidths and names of kernels."""

import math
import pickle
from contextlib import contextmanager

import numpy as np
import pytest
from scipy.integrate import quad
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA as Peer
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel

from rskpca import (
    DiffusionMaps,
    Gaussian,
    KernelPCA,
    KernelPCANovelty,
    Laplacian,
    NystromKernelPCA,
    RadialKernel,
    ReducedSetKernelPCA,
    ShadowDensity,
)
from rskpca._core.reconstruction import count_components, held_out_errors
from rskpca._core.sampling import RULES, median_distance
from rskpca.kernels import as_kernel, intrinsic_dimension, sklearn_kernel
from rskpca.model import unwrap
from tests import datasets
from tests.dense import log_kernel


@pytest.mark.parametrize("family", [Gaussian, Laplacian])
def test_kernel_values_equal_the_formula(family):
    X, Y = datasets.blobs(40, 3), datasets.blobs(30, 3, seed=1)
    kernel = family(1.7)
    np.testing.assert_allclose(kernel(X, Y), np.exp(log_kernel(kernel, X, Y)), atol=1e-14)
    np.testing.assert_allclose(kernel(X), kernel(X, X), atol=0)


def test_gamma_has_the_same_meaning_as_in_scikit_learn():
    X = datasets.blobs(40, 3)
    np.testing.assert_allclose(Gaussian.from_gamma(0.3)(X), rbf_kernel(X, gamma=0.3), atol=1e-13)
    assert Gaussian.from_gamma(0.3).gamma == pytest.approx(0.3, rel=1e-15)
    assert Gaussian(4.0).gamma == 1 / 16
    assert Laplacian.from_gamma(0.5).bandwidth == 2.0


@pytest.mark.parametrize("family", [Gaussian, Laplacian])
def test_logarithms_match_the_values_and_do_not_underflow(family):
    squared = np.array([0.0, 1e-9, 1.0, 4e4])
    kernel = family(1.5)
    logs = kernel.log_evaluate(kernel.sign * squared / kernel.scale**2)
    np.testing.assert_allclose(
        np.exp(logs), kernel.evaluate(kernel.sign * squared / kernel.scale**2), rtol=1e-13
    )
    assert logs[-1] == pytest.approx(-((200 / 1.5) ** kernel.power), rel=1e-14)


@pytest.mark.parametrize("kernel", [Gaussian(0.7), Laplacian(0.7), Gaussian(5), Laplacian(5.0)])
def test_kappa_and_the_lipschitz_constant_are_sharp(kernel):
    r = np.linspace(0, 20, 200_001)
    values = kernel.evaluate(kernel.sign * r**2 / kernel.scale**2)
    slopes = np.abs(np.diff(values) / np.diff(r))
    assert kernel.kappa == values.max() == 1.0
    assert slopes.max() <= kernel.lipschitz_constant * (1 + 1e-9)
    assert slopes.max() == pytest.approx(kernel.lipschitz_constant, rel=1e-3)


@pytest.mark.parametrize("family", [Gaussian, Laplacian])
@pytest.mark.parametrize("d", [1, 2, 3, 7])
def test_the_log_integral_matches_numerical_integration(family, d):
    kernel = family(1.0)
    area = 2 * math.pi ** (d / 2) / math.gamma(d / 2)
    radial, _ = quad(lambda r: r ** (d - 1) * float(kernel.profile(r**kernel.power)), 0, np.inf)
    assert kernel.log_integral(d) == pytest.approx(math.log(area * radial), abs=1e-8)


def test_a_custom_profile_can_reproduce_the_gaussian():
    X = datasets.blobs(30, 2)
    custom = RadialKernel(lambda s: np.exp(-s), power=2, bandwidth=1.3)
    np.testing.assert_allclose(custom(X), Gaussian(1.3)(X), atol=1e-15)
    assert custom.lipschitz_constant is None


@pytest.mark.parametrize("power", [0.5, 1.0, 1.5, 2.0, 3.0])
def test_any_positive_power_is_supported(power):
    squared = np.array([0.0, 0.25, 1.0, 9.0])
    kernel = RadialKernel(lambda s: 1 / (1 + s), power, 2.0)
    expected = 1 / (1 + (np.sqrt(squared) / 2) ** power)
    np.testing.assert_allclose(
        kernel.evaluate(kernel.sign * squared / kernel.scale**2), expected, rtol=1e-14
    )


@pytest.mark.parametrize("kernel", [Gaussian(), Laplacian(2.0), RadialKernel(np.cos, 2.0, 1.0)])
def test_kernels_can_be_cloned_and_pickled(kernel):
    assert clone(kernel).get_params() == kernel.get_params()
    assert pickle.loads(pickle.dumps(kernel)).get_params() == kernel.get_params()


# ------------------------------------------------------------------------- bandwidth


def test_the_global_random_state_is_not_modified():
    X = datasets.blobs(3000, 2)
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    median_distance(X)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_resolve_does_not_modify_the_kernel():
    kernel = Gaussian()
    kernel.resolve(datasets.blobs(20, 2))
    assert kernel.bandwidth == "median"


# -------------------------------------------------------------------------- invalid input


@contextmanager
def suppress_if_mentioned(kind, word):
    try:
        yield
    except kind as error:
        if word not in str(error):
            raise


@pytest.mark.parametrize("bad", [0, -1.0, np.nan, np.inf, "mean", None, [1.0], True, 1j])
@pytest.mark.parametrize("family", [Gaussian, Laplacian])
def test_an_invalid_bandwidth_is_reported(family, bad):
    with pytest.raises(ValueError, match="bandwidth") as error:
        family(bad).resolve(datasets.blobs(10, 2))
    assert repr(bad) in str(error.value)


@pytest.mark.parametrize("bandwidth", [1e-200, 1e200])
@pytest.mark.parametrize("family", [Gaussian, Laplacian])
def test_an_extreme_bandwidth_works_or_is_rejected(family, bandwidth):
    X = datasets.blobs(10, 2)
    values = None
    with suppress_if_mentioned(ValueError, "bandwidth"):
        values = family(bandwidth)(X * bandwidth)
    if values is not None:
        np.testing.assert_allclose(values, family(1.0)(X), atol=1e-13)


@pytest.mark.parametrize("bad", [0, -2.0, np.nan, np.inf, "1"])
def test_an_invalid_gamma_is_reported(bad):
    with pytest.raises(ValueError, match="gamma") as error:
        as_kernel("rbf", gamma=bad)
    assert repr(bad) in str(error.value)


@pytest.mark.parametrize("bad", [0, -2.0, np.nan, None])
def test_an_invalid_power_is_reported(bad):
    with pytest.raises(ValueError, match="power"):
        RadialKernel(np.exp, bad, 1.0).resolve(datasets.blobs(10, 2))


@pytest.mark.parametrize("bad", ["linear", "RBF", "", 0, 3, False])
def test_an_unknown_kernel_is_reported(bad):
    with pytest.raises(ValueError, match='kernel must be "rbf"') as error:
        as_kernel(bad)
    assert repr(bad) in str(error.value)


@pytest.mark.parametrize("name", ["linear", "poly", "sigmoid", "cosine"])
@pytest.mark.parametrize("family", [ShadowDensity, ReducedSetKernelPCA, NystromKernelPCA])
def test_the_error_for_a_kernel_of_scikit_learn_gives_the_call_to_use(family, name):
    X = datasets.blobs(200, 3)
    with pytest.raises(
        ValueError, match=rf"pass kernel=rskpca.*\({name!r}".replace("'", '"')
    ) as error:
        family(kernel=name).fit(X)
    call = str(error.value).split("pass kernel=rskpca.kernels.")[1].split(" without")[0]
    kernel = eval(call, {"sklearn_kernel": sklearn_kernel, "X": X})
    assert kernel.same_as(sklearn_kernel(name, n_features=3))
    if name != "sigmoid":  # not positive definite
        family(kernel=kernel).fit(X)


def test_the_suggested_call_contains_gamma():
    with pytest.raises(ValueError, match=r'sklearn_kernel\("poly", gamma=0.5, n_features'):
        ReducedSetKernelPCA(2, kernel="poly", gamma=0.5).fit(datasets.blobs(40, 3))


def test_classes_for_radial_kernels_suggest_a_class_that_accepts_others():
    with pytest.raises(ValueError, match=r'use KernelPCA\(kernel="poly"\), or pass rskpca'):
        DiffusionMaps(2, kernel="poly").fit(datasets.blobs(40, 3))


def test_kernels_can_be_specified_by_name():
    assert isinstance(as_kernel(None), Gaussian)
    assert isinstance(as_kernel("rbf"), Gaussian)
    assert isinstance(as_kernel("gaussian"), Gaussian)
    assert isinstance(as_kernel("laplacian"), Laplacian)
    assert as_kernel("rbf", gamma=0.25).bandwidth == 2.0
    assert as_kernel("laplacian", bandwidth=3.0).bandwidth == 3.0
    kernel = Laplacian(1.0)
    assert as_kernel(kernel) is kernel


def test_gamma_and_bandwidth_are_mutually_exclusive():
    with pytest.raises(ValueError, match=r"gamma=0\.5 and bandwidth=2\.0 cannot be combined"):
        as_kernel("rbf", gamma=0.5, bandwidth=2.0)


@pytest.mark.parametrize("extra", [{"gamma": 0.5}, {"bandwidth": 2.0}])
def test_a_kernel_object_cannot_be_combined_with_a_bandwidth(extra):
    with pytest.raises(ValueError, match=r"gamma and bandwidth.*Gaussian\(bandwidth=1\.0\)"):
        as_kernel(Gaussian(1.0), **extra)


def test_arrays_with_different_numbers_of_features_are_rejected():
    with pytest.raises(ValueError, match=r"Y must have 3 features, like X, got 2"):
        Gaussian(1.0)(np.zeros((2, 3)), np.zeros((2, 2)))


def test_a_profile_of_the_squared_distance_may_have_a_cusp():
    X = datasets.blobs(100, 3)
    cusp = RadialKernel(lambda s: np.exp(-np.sqrt(s)), 2.0, 1.5)
    np.testing.assert_allclose(cusp(X), Laplacian(1.5)(X), atol=1e-13)


@pytest.mark.parametrize("bad", [3, math.exp, lambda s: s / 0.5, lambda s: s + np.nan])
def test_an_invalid_profile_is_reported(bad):
    with pytest.raises(ValueError, match="profile") as error:
        RadialKernel(bad, 2.0, 1.0).resolve(datasets.blobs(10, 2))
    assert "profile" in str(error.value)


def test_the_default_bandwidth_is_the_median_distance():
    X = datasets.blobs(100, 3)
    assert Gaussian().resolve(X).bandwidth == median_distance(X)


# ------------------------------------------------------------------ feature space


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Laplacian(2.0)])
def test_drop_is_accurate_for_small_distances(kernel):
    r = np.array([0.0, 1e-12, 1e-3, 1.0, 50.0])
    expected = -np.expm1(-((r / 2.0) ** kernel.power))
    np.testing.assert_allclose(kernel.drop(r), expected, rtol=1e-14)
    custom = RadialKernel(lambda s: np.exp(-s), kernel.power, 2.0)
    np.testing.assert_allclose(custom.drop(r), expected, atol=1e-15)


@pytest.mark.parametrize(
    "kernel",
    [Gaussian(2.0), Laplacian(2.0), RadialKernel(np.cos, 1.0, 3.0, lipschitz=1.0)],
)
def test_the_squared_kernel_equals_the_square_of_the_kernel(kernel):
    X = np.random.default_rng(0).normal(size=(20, 3))
    squared = kernel.squared()
    np.testing.assert_allclose(squared(X), kernel(X) ** 2, atol=1e-14)
    r = np.linspace(0, 10, 10_001)
    slope = np.abs(np.diff(squared.drop(r))).max() / 1e-3
    assert slope <= squared.lipschitz_constant * (1 + 1e-9)


@pytest.mark.parametrize("slope", [-1, 0, np.nan, np.inf, "a", True])
def test_an_invalid_lipschitz_constant_is_reported(slope):
    with pytest.raises(ValueError, match="lipschitz must be a positive, finite number"):
        RadialKernel(lambda s: np.exp(-s), 2.0, 1.0, lipschitz=slope)(np.zeros((1, 1)))


@pytest.mark.parametrize("slope", [1e-9, 0.99 * Gaussian.lipschitz])
def test_a_lipschitz_constant_that_is_too_small_is_rejected(slope):
    sharp = RadialKernel(lambda s: np.exp(-s), 2.0, 3.0, lipschitz=Gaussian.lipschitz)
    assert sharp(np.zeros((1, 1))) == 1
    with pytest.raises(ValueError, match=r"lipschitz must be at least 0\.8577"):
        RadialKernel(lambda s: np.exp(-s), 2.0, 3.0, lipschitz=slope)(np.zeros((1, 1)))


def test_the_monotone_argument_is_checked_against_the_profile():
    with pytest.raises(ValueError, match="monotone must be True or False, got 'yes'"):
        RadialKernel(lambda s: np.exp(-s), 2.0, 1.0, monotone="yes")(np.zeros((1, 1)))
    with pytest.raises(ValueError, match="monotone must be False for a profile that increases"):
        RadialKernel(np.cos, 1.0, 1.0, monotone=True)(np.zeros((1, 1)))


def test_a_profile_that_is_not_finite_far_away_is_reported():
    kernel = RadialKernel(lambda s: np.exp(s) / np.exp(2 * s), power=2, bandwidth=1.0)
    message = r"profile must be finite .* NaN or infinite at a distance of 31\.6 bandwidths"
    with pytest.raises(ValueError, match=message):
        ReducedSetKernelPCA(2, kernel=kernel).fit(datasets.blobs(100, 2))


# ------------------------------------------------------------------ bandwidth rules


def sheet(n, d, seed=0):
    """Return a flat sheet of dimension d in five dimensions."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(5, d)))[0]
    return rng.uniform(size=(n, d)) @ axes.T


@pytest.mark.parametrize("d", [1, 2])  # in more dimensions, most of 1,000 rows are near the edge
def test_the_slope_of_the_kernel_sum_is_the_dimension_of_a_sheet(d):
    assert intrinsic_dimension(sheet(3000, d)) == pytest.approx(d, abs=0.35)


def test_the_slope_rule_maximizes_the_derivative_of_the_log_kernel_sum():
    X = sheet(300, 2)

    def slope(sigma, step=1e-4):
        sums = [np.log(Gaussian(sigma * np.exp(h))(X).sum()) for h in (-step, step)]
        return (sums[1] - sums[0]) / (2 * step)

    found = Gaussian("slope").resolve(X).scale
    assert slope(found) == pytest.approx(intrinsic_dimension(X), rel=1e-5)
    assert all(slope(found * factor) < slope(found) for factor in (0.5, 0.8, 1.25, 2.0))


def test_the_neighbor_rule_is_a_multiple_of_a_quantile_of_neighbor_distances():
    X = sheet(500, 2)
    distances = np.sort(np.linalg.norm(X[:, None] - X, axis=2), axis=1)[:, 5]
    expected = 0.8 * np.quantile(distances, 0.95, method="inverted_cdf")
    assert Gaussian("neighbors").resolve(X).scale == pytest.approx(expected, rel=1e-12)


def reconstruction_error(X, sigma, n_components):
    """Return the relative error of held-out rows that scikit-learn reconstructs."""
    order, total = np.random.RandomState(0).permutation(len(X)), 0.0
    for i in (0, 1):
        known, new = X[order[i::2]], X[order[1 - i :: 2]]
        model = Peer(n_components, kernel="rbf", gamma=sigma**-2, eigen_solver="dense").fit(known)
        Z = model.transform(known)
        gamma, alpha = 1 / (2 * Z.var(axis=0).sum()), 1e-3 * len(known)
        ridge = KernelRidge(alpha=alpha, kernel="rbf", gamma=gamma).fit(
            Z, known - known.mean(axis=0)
        )
        found = known.mean(axis=0) + ridge.predict(model.transform(new))
        total += np.square(new - found).sum()
    return total / np.square(X - X.mean(axis=0)).sum()


def test_reconstruction_errors_equal_those_of_scikit_learn():
    X = np.unique(load_digits().data[:200], axis=0)
    scales = np.array([20.0, 50.0, 100.0])
    expected = [reconstruction_error(X, sigma, 10) for sigma in scales]
    np.testing.assert_allclose(held_out_errors(X, np.ones(len(X)), scales), expected, rtol=1e-8)


def test_the_reconstruction_rule_takes_the_smallest_bandwidth_close_to_the_smallest_error():
    X = np.unique(load_digits().data[:300], axis=0)
    scales = median_distance(X) * 2.0 ** np.arange(-3, 2.5, 0.5)
    errors = np.array([reconstruction_error(X, sigma, 10) for sigma in scales])
    expected = scales[errors <= 1.05 * errors.min()].min()
    assert Gaussian("reconstruction").resolve(X).scale == pytest.approx(expected, rel=1e-12)


def test_the_components_for_reconstruction_explain_less_than_90_percent_of_the_variance():
    assert count_components(np.array([0.5, 0.3, 0.2])) == 2
    assert count_components(np.array([0.99, 0.01])) == 1
    assert count_components(np.ones(64)) == 10


def test_the_reconstruction_rule_prefers_a_wide_kernel_for_linear_structure():
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(500, 3)) @ rng.normal(size=(3, 20)) + 0.01 * rng.normal(size=(500, 20))
    sphere = rng.normal(size=(500, 3))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    ratios = [
        Gaussian("reconstruction").resolve(X).scale / median_distance(X) for X in (plane, sphere)
    ]
    assert ratios[0] >= 2
    assert 0.2 < ratios[1] < 1


def test_the_reconstruction_rule_falls_back_to_the_median():
    rng = np.random.default_rng(0)
    few, noise, names = rng.normal(size=(19, 3)), rng.normal(size=(60, 2000)), np.eye(40)
    for X in (few, noise, names):
        assert Gaussian("reconstruction").resolve(X).scale == median_distance(X)


@pytest.mark.parametrize(
    "make",
    [
        lambda rule: KernelPCA(2, kernel="rbf", gamma=rule),
        lambda rule: ReducedSetKernelPCA(2, bandwidth=rule),
        lambda rule: NystromKernelPCA(2, bandwidth=rule),
        lambda rule: DiffusionMaps(2, bandwidth=rule),
        lambda rule: KernelPCANovelty(bandwidth=rule),
    ],
)
@pytest.mark.parametrize("rule", RULES)
def test_every_embedding_accepts_every_bandwidth_rule(make, rule):
    X = datasets.blobs(200, 3)
    assert unwrap(make(rule).fit(X)).model.kernel.scale == Gaussian(rule).resolve(X).scale


@pytest.mark.parametrize("rule", ["slope", "reconstruction"])
def test_a_bandwidth_rule_reports_squared_distances_that_overflow(rule):
    X = datasets.blobs(50, 2)
    X[0] = 1e200
    with pytest.raises(ValueError, match=r"squared distances .* overflow.*set bandwidth"):
        Gaussian(rule).resolve(X)


@pytest.mark.parametrize("rule", ["neighbors", "slope", "reconstruction"])
@pytest.mark.parametrize("n", [30, 700])
def test_integer_weights_are_equivalent_to_repeated_rows_in_a_bandwidth_rule(rule, n):
    rng = np.random.default_rng(n)
    X, weights = rng.normal(size=(n, 2)), rng.integers(0, 4, size=n).astype(float)
    repeated = Gaussian(rule).resolve(np.repeat(X, weights.astype(int), axis=0))
    assert Gaussian(rule).resolve(X, weights).scale == pytest.approx(repeated.scale, rel=1e-12)


@pytest.mark.parametrize("rule", ["neighbors", "slope", "reconstruction"])
def test_a_bandwidth_rule_scales_with_the_data_and_ignores_copies(rule):
    X = sheet(400, 2)
    found = Gaussian(rule).resolve(X).scale
    assert Gaussian(rule).resolve(8 * X).scale == pytest.approx(8 * found, rel=1e-9)
    lattice = np.random.default_rng(0).integers(0, 3, size=(500, 2)).astype(float)
    assert 0.3 < Gaussian(rule).resolve(lattice).scale < 3


@pytest.mark.parametrize("rule", RULES)
def test_a_bandwidth_rule_requires_distinct_rows(rule):
    with pytest.raises(ValueError, match=rf'"{rule}" rule.*equal.*Set bandwidth'):
        Gaussian(rule).resolve(np.ones((5, 2)))
    with pytest.raises(ValueError, match=rf'bandwidth="{rule}" requires at least two rows'):
        Gaussian(rule).resolve(np.ones((1, 2)))


def test_the_error_for_an_unknown_bandwidth_rule_lists_the_known_rules():
    with pytest.raises(ValueError, match='"slope", "reconstruction", got \'mean\''):
        Gaussian("mean").resolve(np.eye(3))
