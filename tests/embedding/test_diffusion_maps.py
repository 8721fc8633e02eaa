"""Test DiffusionMaps against the diffusion map of the quantized data and known solutions."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.datasets import make_swiss_roll

from rskpca import DiffusionMaps, Gaussian, Laplacian
from tests import datasets, dense
from tests.embedding import walks
from tests.embedding.invariants import EmbeddingInvariants
from tests.embedding.walks import N_COMPONENTS, quantized, split


class TestInvariants(EmbeddingInvariants):
    def make(self, n_components=4, **parameters):
        return DiffusionMaps(n_components, **{"t": "auto", **parameters})


# ------------------------------------------------------------------------- the oracle


def expected_coordinates(exact, functions, t):
    """Return lambda^t psi, where psi has unit variance under the stationary distribution."""
    return functions * np.sqrt(exact.degrees.sum()) * exact.eigenvalues**t


def assert_equals_diffusion_map(model, exact, X, new, t):
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues, atol=1e-10)
    training = expected_coordinates(exact, exact.functions, t)
    walks.assert_equal(model.transform(exact.X), training, exact)
    walks.assert_equal(
        model.transform(new), expected_coordinates(exact, exact.extend(new), t), exact
    )


@pytest.mark.parametrize("name", walks.DATA)
@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("ell", [2.5, 4.0, np.inf])
def test_the_result_equals_the_diffusion_map_of_the_quantized_data(name, alpha, ell):
    X, new, bandwidth = split(name)
    t = 2.5
    model = DiffusionMaps(N_COMPONENTS, bandwidth=bandwidth, ell=ell, alpha=alpha, t=t).fit(X)
    assert model.n_centers_ == len(X) if ell == np.inf else model.n_centers_ < len(X)
    exact = dense.Markov(Gaussian(bandwidth), quantized(model), N_COMPONENTS, alpha)
    assert_equals_diffusion_map(model, exact, X, new, t)


def test_other_kernels_are_supported():
    X, new, bandwidth = split("digits")
    model = DiffusionMaps(N_COMPONENTS, kernel=Laplacian(bandwidth)).fit(X)
    exact = dense.Markov(Laplacian(bandwidth), quantized(model), N_COMPONENTS, 1.0)
    assert_equals_diffusion_map(model, exact, X, new, 1)


def test_integer_weights_are_equivalent_to_repeated_rows():
    X, new = datasets.blobs(300, 3), datasets.blobs(60, 3, seed=1)
    weights = np.random.default_rng(0).integers(0, 4, size=300)
    for ell in (3.0, np.inf):
        one, other = (DiffusionMaps(3, bandwidth=4.0, ell=ell) for _ in range(2))
        one.fit(X, sample_weight=weights)
        other.fit(np.repeat(X, weights, axis=0))
        np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_, rtol=1e-10)
        np.testing.assert_allclose(one.transform(new), other.transform(new), atol=1e-9)


def test_the_scale_of_the_weights_does_not_matter():
    X = datasets.blobs(300, 3)
    one = DiffusionMaps(3, bandwidth=4.0).fit(X)
    tenth = DiffusionMaps(3, bandwidth=4.0).fit(X, sample_weight=np.full(300, 0.1))
    np.testing.assert_allclose(tenth.transform(X), one.transform(X), atol=1e-9)


def test_a_stream_equals_a_single_fit():
    X, new, bandwidth = split("swiss roll")
    stream = DiffusionMaps(3, bandwidth=bandwidth)
    for part in np.array_split(X, 5):
        stream.partial_fit(part)
    whole = DiffusionMaps(3, bandwidth=bandwidth).fit(X)
    np.testing.assert_array_equal(stream.transform(new), whole.transform(new))


# -------------------------------------------------------------- time and distance


def test_coordinates_have_variance_lambda_to_the_2t_under_the_stationary_distribution():
    X, _, bandwidth = split("swiss roll")
    model = DiffusionMaps(4, bandwidth=bandwidth, t=1.5).fit(X)
    s = model.reduced_set_
    Z = model.transform(s.centers)
    K = model.kernel_(s.centers)
    u = s.weights / (K @ s.weights)
    stationary = u * (K @ u) / np.sum(u * (K @ u))
    second = Z.T @ (stationary[:, None] * Z)
    np.testing.assert_allclose(second, np.diag(model.eigenvalues_**3), atol=1e-10)
    np.testing.assert_allclose(stationary @ Z, 0, atol=1e-10)


def test_diffusion_distances_compare_the_walks_after_t_steps():
    """With all eigenpairs, the sum over components equals the sum over points."""
    X = datasets.blobs(12, 2)
    model = DiffusionMaps(11, bandwidth=2.0, ell=np.inf, alpha=0.5, t=3).fit(X)
    A = np.exp(dense.log_kernel(Gaussian(2.0), X, X))
    A /= np.sqrt(np.outer(A.sum(axis=1), A.sum(axis=1)))
    P, stationary = A / A.sum(axis=1)[:, None], A.sum(axis=1) / A.sum()
    walked = np.linalg.matrix_power(P, 3) / np.sqrt(stationary)
    expected = np.linalg.norm(walked[:, None] - walked, axis=2)
    np.testing.assert_allclose(model.diffusion_distance(X), expected, atol=1e-6)
    np.testing.assert_allclose(model.diffusion_distance(X[:3], X), expected[:3], atol=1e-6)


def test_diffusion_distances_keep_the_dtype():
    X, new, bandwidth = split("digits")
    model = DiffusionMaps(3, bandwidth=bandwidth).fit(X.astype(np.float32))
    model.set_output(transform="pandas")
    D = model.diffusion_distance(new.astype(np.float32)[:5], X.astype(np.float32)[:7])
    assert D.dtype == np.float32
    assert D.shape == (5, 7)


def test_the_automatic_time_makes_the_truncated_components_small():
    X, _, bandwidth = split("swiss roll")
    model = DiffusionMaps(3, bandwidth=bandwidth, t="auto").fit(X)
    more = DiffusionMaps(4, bandwidth=bandwidth).fit(X).eigenvalues_
    assert (more[3] / more[0]) ** model.t_ == pytest.approx(0.1)
    same = DiffusionMaps(3, bandwidth=bandwidth, t=model.t_).fit(X)
    np.testing.assert_array_equal(same.transform(X), model.transform(X))


def test_the_automatic_time_is_one_if_no_components_are_truncated():
    X = datasets.blobs(5, 2)
    assert DiffusionMaps(4, bandwidth=2.0, ell=np.inf, t="auto").fit(X).t_ == 1.0


@pytest.mark.parametrize("t", [3, "auto", -3])
def test_a_time_set_after_fit_takes_effect_at_the_next_fit(t):
    X = datasets.blobs(100, 2)
    model = DiffusionMaps(2, bandwidth=2.0, t=1).fit(X)
    Z = model.transform(X)
    np.testing.assert_array_equal(model.set_params(t=t).transform(X), Z)
    assert model.t_ == 1.0


# ---------------------------------------------------------------------- known solutions


def harmonics_explained(model, angles):
    """Return the share of the variance of cos and sin that the coordinates explain."""
    Z, wanted = model.transform(datasets.on_circle(angles)), datasets.on_circle(angles)
    left = wanted - Z @ np.linalg.lstsq(Z, wanted, rcond=None)[0]
    return 1 - np.sum(left**2) / np.sum(wanted**2)


def test_only_alpha_one_recovers_the_harmonics_of_an_unevenly_sampled_circle():
    X = datasets.on_circle(datasets.uneven_circle(20_000))
    even = np.linspace(-np.pi, np.pi, 360, endpoint=False)
    explained = [
        harmonics_explained(DiffusionMaps(2, bandwidth=0.2, alpha=alpha).fit(X), even)
        for alpha in (1.0, 0.0)
    ]
    assert explained[0] > 0.998
    assert explained[1] < 0.7


def test_the_first_coordinate_of_a_swiss_roll_is_its_arc_length():
    X, length = datasets.swiss_roll(10_000)
    Z = DiffusionMaps(1, bandwidth=2.0, ell=3.0).fit_transform(X)
    assert abs(spearmanr(Z[:, 0], length).statistic) > 0.999
    assert abs(np.corrcoef(Z[:, 0], length)[0, 1]) > 0.99


# -------------------------------------------------------------------------- invalid input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 1.5}, r"alpha must be a number from 0 to 1, got 1\.5"),
        ({"alpha": -0.1}, "alpha must be"),
        ({"alpha": "1"}, "alpha must be"),
        ({"alpha": np.nan}, "alpha must be"),
        ({"t": -1}, r't must be a number of at least 0, got -1\. Use "auto"'),
        ({"t": np.inf}, "t must be"),
        ({"t": "long"}, "t must be"),
        ({"t": np.array([1, 2])}, "t must be"),
        ({"n_components": 0}, "n_components must be"),
        ({"n_components": None}, "n_components must be"),
    ],
)
def test_invalid_parameters_are_reported(parameters, message):
    with pytest.raises(ValueError, match=message):
        DiffusionMaps(**parameters).fit(datasets.blobs(50, 2))


def three_distant_groups():
    X = datasets.blobs(100, 2)
    return np.concatenate([X + np.array(shift) for shift in ([0, 0], [1e3, 0], [0, 2e3])])


def test_a_disconnected_graph_is_reported_with_the_bandwidth_that_connects_it():
    X = three_distant_groups()
    with pytest.warns(UserWarning, match="3 pieces") as record:
        DiffusionMaps(3, bandwidth=2.0).fit(X)
    bandwidth = float(str(record[0].message).split("bandwidth=")[1].split()[0])
    assert 1900 < bandwidth < 2000
    DiffusionMaps(1, bandwidth=bandwidth).fit(X)  # pytest would turn a warning into an error


@pytest.mark.filterwarnings("ignore:The affinities split the centers")
@pytest.mark.parametrize("seed", range(3))
def test_the_constant_function_is_omitted_for_disconnected_graphs(seed):
    """With two pieces, there is one coordinate, with zero mean and one value per piece."""
    order = np.random.default_rng(seed).permutation(200)
    X = three_distant_groups()[:200][order]
    Z = DiffusionMaps(1, bandwidth=2.0, ell=np.inf).fit_transform(X)[:, 0]
    near = order < 100
    np.testing.assert_allclose(Z[near], -1.0, atol=1e-8)
    np.testing.assert_allclose(Z[~near], 1.0, atol=1e-8)


def test_the_warning_gives_a_lower_bound_if_there_may_be_more_pieces():
    with pytest.warns(UserWarning, match="at least 3 pieces") as record:
        DiffusionMaps(1, bandwidth=2.0).fit(three_distant_groups())
    assert record[0].filename == __file__


def test_points_far_from_every_center_are_reported():
    model = DiffusionMaps(2, bandwidth=2.0).fit(datasets.blobs(100, 2))
    with pytest.warns(UserWarning, match="1 of 2 rows have coordinates 0, because they are far"):
        Z = model.transform(np.array([[0.0, 0.0], [1e5, 0.0]]))
    np.testing.assert_array_equal(Z[1], 0)


def test_the_warning_distinguishes_distant_rows_from_rows_with_vanishing_components():
    X = datasets.blobs(100, 2)
    with pytest.warns(UserWarning, match="at least 4 pieces"):
        model = DiffusionMaps(2, bandwidth=1e-5).fit(X)
    with pytest.warns(UserWarning, match=r"near centers at which all 2 components are zero"):
        Z = model.transform(X)
    assert np.count_nonzero(Z.any(axis=1)) >= 2


def test_identical_points_are_rejected():
    with pytest.raises(ValueError, match="the kernel cannot distinguish"):
        DiffusionMaps(1, bandwidth=1.0).fit(np.ones((20, 2)))


def test_the_default_bandwidth_recovers_the_arc_length_of_a_swiss_roll():
    X, angle = make_swiss_roll(4000, random_state=2)
    length = angle * np.sqrt(1 + angle**2) + np.arcsinh(angle)
    found = DiffusionMaps(1).fit(X).transform(X)[:, 0]
    assert abs(spearmanr(found, length).statistic) > 0.99
