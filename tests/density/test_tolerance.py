"""Test how ell is chosen for a given tolerance."""

from functools import cache

import numpy as np
import pytest

from rskpca import (
    Gaussian,
    Laplacian,
    RadialKernel,
    ReducedSetKernelPCA,
    ShadowDensity,
    WindowDensity,
)
from rskpca._validation import FewComponentsWarning
from rskpca.certificate import hilbert_schmidt, mmd
from rskpca.density.tolerance import radius_of_bound
from rskpca.pairs import FeaturePairs
from tests import datasets

X = datasets.blobs(1500, 3)
KERNELS = [
    Gaussian(3.0),
    Laplacian(3.0),
    RadialKernel(lambda s: 2 / (1 + s), 2, 3.0, monotone=True),
]
IDS = ["Gaussian", "Laplacian", "Cauchy"]
MEASURED = {"mmd": mmd.measure, "operator": hilbert_schmidt.measure}
BOUND = {"mmd": mmd.bound, "operator": hilbert_schmidt.centered_bound}


@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
@pytest.mark.parametrize("error", ["mmd", "operator"])
@pytest.mark.parametrize("tol", [1e-3, 0.05, 0.5])
def test_the_chosen_ell_inverts_the_bound(kernel, error, tol):
    radius = radius_of_bound(kernel, tol, error)
    assert BOUND[error](kernel, radius=radius) == pytest.approx(tol, rel=1e-6)
    assert BOUND[error](kernel, radius=radius) <= tol


@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
@pytest.mark.parametrize("error", ["mmd", "operator"])
def test_the_error_is_within_the_tolerance(kernel, error):
    density = ShadowDensity(kernel, tol=0.2, error=error).fit(X)
    s = density.reduced_set_
    assert density.ell_ == pytest.approx(3.0 / s.radius)
    assert MEASURED[error](kernel, X, s) <= 0.2


@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
@pytest.mark.parametrize("center", [True, False])
def test_the_error_is_within_the_tolerance_with_centering(kernel, center):
    density = ShadowDensity(tol=0.5)
    model = ReducedSetKernelPCA(2, kernel=kernel, density=density, center=center).fit(X[:300])
    assert model.certificate_.level("a priori").operator <= 0.5


@pytest.mark.parametrize("tol", [1e-3, 0.05, 0.5])
def test_a_lipschitz_constant_alone_is_sufficient(tol):
    """The profile may drop as far as the Lipschitz constant allows between sampled radii."""
    kernel = RadialKernel(lambda s: 2 / (1 + s), 2, 3.0, lipschitz=3 * np.sqrt(3) / 4)
    radius = radius_of_bound(kernel, tol, "mmd")
    assert 0.5 * tol**2 <= mmd.bound(kernel, radius=radius) <= tol


@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
@pytest.mark.parametrize("error", ["mmd", "operator"])
@pytest.mark.parametrize("tol", [0.02, 0.1])
def test_automatic_ell_meets_the_tolerance_with_nearly_the_fewest_centers(kernel, error, tol):
    tol *= kernel.kappa  # errors are proportional to the kernel
    density = ShadowDensity(kernel, "auto", tol=tol, error=error, sample_size=300).fit(X)
    s = density.reduced_set_
    assert limit(kernel, s, error) <= tol
    others = limits_for_many_ells(KERNELS.index(kernel), error)
    assert s.n_centers <= 1.5 * min(count for count, found in others if found <= tol)
    assert (
        s.n_centers
        < 0.7 * ShadowDensity(kernel, tol=tol, error=error).fit(X).reduced_set_.n_centers
    )


@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
@pytest.mark.parametrize("error", ["mmd", "operator"])
def test_the_error_never_exceeds_the_tolerance_if_all_rows_are_sampled(kernel, error):
    rows = X[:700]
    density = ShadowDensity(kernel, "auto", tol=0.1, error=error).fit(rows)
    assert MEASURED[error](kernel, rows, density.reduced_set_) <= 0.1


@pytest.mark.parametrize("error", ["mmd", "operator"])
def test_automatic_ell_meets_the_tolerance_for_most_samples(error):
    rows, ratios = X[:800], []
    for seed in range(60):
        density = ShadowDensity(
            Gaussian(3.0), "auto", tol=0.1, error=error, sample_size=300, random_state=seed
        )
        ratios.append(MEASURED[error](Gaussian(3.0), rows, density.fit(rows).reduced_set_) / 0.1)
    assert np.mean(np.array(ratios) <= 1) >= 0.88  # 0.95 minus 2.5 standard deviations
    assert np.median(ratios) > 0.7


@cache
def reduced_sets_for_many_ells(index):
    ells = np.geomspace(1, 20, 120)
    return [ShadowDensity(KERNELS[index], e, sample_size=300).fit(X).reduced_set_ for e in ells]


@cache
def limits_for_many_ells(index, error):
    """Return the number of centers and the upper limit of the error for each ell."""
    sets = reduced_sets_for_many_ells(index)
    return [(s.n_centers, limit(KERNELS[index], s, error)) for s in sets]


def limit(kernel, s, error):
    points = s.centers[s.sample.labels]
    pairs = FeaturePairs.of(kernel, s.sample, None, points, s.n_samples)
    found = pairs.mmd(0.95) if error == "mmd" else pairs.operator(0.95, center=False)
    return found.limit


def test_automatic_ell_keeps_every_distinct_row_if_necessary():
    rows = np.concatenate([X[:100], X[:100]])
    density = ShadowDensity(Gaussian(3.0), "auto", tol=2e-6).fit(rows)
    assert density.reduced_set_.n_centers == 100


def test_automatic_ell_does_not_depend_on_how_rows_are_stored():
    expected = ShadowDensity(Gaussian(3.0), "auto", tol=0.05, sample_size=200).fit(X)
    for rows in (np.asfortranarray(X), X.tolist()):
        found = ShadowDensity(Gaussian(3.0), "auto", tol=0.05, sample_size=200).fit(rows)
        assert found.reduced_set_ == expected.reduced_set_


def test_automatic_ell_respects_weights_and_is_constant_within_a_stream():
    weights = np.random.default_rng(0).integers(0, 3, len(X))
    density = ShadowDensity(Gaussian(3.0), "auto", tol=0.05, sample_size=3000)
    weighted = density.fit(X, sample_weight=weights).reduced_set_
    repeated = density.fit(np.repeat(X, weights, axis=0)).reduced_set_
    np.testing.assert_array_equal(weighted.centers, repeated.centers)
    np.testing.assert_array_equal(weighted.weights, repeated.weights)
    assert weighted.sample.weights.sum() == repeated.sample.weights.sum() == weights.sum()
    stream = ShadowDensity(Gaussian(3.0), "auto", tol=0.05).partial_fit(X[:700])
    ell, radius = stream.ell_, stream.reduced_set_.radius
    stream.partial_fit(X[700:])
    assert (stream.ell_, stream.reduced_set_.radius) == (ell, radius)


class Jump:
    """Kernel profile with a jump at zero."""

    def __call__(self, s):
        return np.where(np.asarray(s) == 0, 1.0, 0.5 * np.exp(-s))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"tol": 0.0}, "tol must be a positive, finite number, got 0.0"),
        ({"tol": -1}, "tol must be a positive"),
        ({"tol": np.nan}, "tol must be a positive"),
        ({"tol": "small"}, "tol must be a positive"),
        ({"tol": 0.1, "error": "hs"}, 'must be one of "embedding", "operator", "mmd", got \'hs\''),
        ({"tol": 0.1, "error": "embedding"}, 'estimated from the data; set ell="auto" and tol'),
        ({"ell": "auto", "tol": 0.1, "error": "embedding"}, "requires a density inside"),
        ({"ell": "auto", "tol": 0.1, "sample_size": 99}, "at least 100 rows; got sample_size=99"),
        ({"tol": 0.1, "ell": 3.0}, "both given"),
        ({"ell": "auto"}, "set tol"),
        ({"ell": "automatic", "tol": 0.1}, "ell must be a positive number"),
        ({"tol": 1e-12}, "smallest guaranteed error is 2e-09, which requires a center for every"),
        ({"tol": 3.0}, "is met by any choice of centers"),
        ({"ell": "auto", "tol": 1e-7}, "smallest valid tol is 1e-06, which requires a center for"),
        ({"ell": "auto", "tol": 0.1, "sample_size": 0}, "but sample_size is 0"),
        (
            {"tol": 0.5, "kernel": RadialKernel(Jump(), 2, 1.0, monotone=True)},
            "guaranteed error is 1.41, ",
        ),
        ({"tol": 0.5, "kernel": RadialKernel(Jump(), 2, 1.0)}, "Set monotone=True"),
    ],
)
def test_invalid_input_is_reported(parameters, message):
    density = ShadowDensity(**{"kernel": Gaussian(3.0), **parameters})
    with pytest.raises(ValueError, match=message):
        density.fit(X)
    assert not hasattr(density, "reduced_set_")


# ------------------------------------------------------------------ the error of the coordinates


def embedding(tol=0.05, n_components=3, *, density=None, error=None, **options):
    shadow = ShadowDensity(ell="auto", tol=tol, error=error, sample_size=500)
    density = shadow if density is None else density(shadow)
    return ReducedSetKernelPCA(n_components, kernel=Gaussian(3.0), density=density, **options)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize(
    "options", [{}, {"basis": "auto"}, {"basis": "auto", "refine": "nystrom"}], ids=str
)
def test_an_embedding_bounds_the_error_of_its_coordinates(options, center):
    model = embedding(center=center, **options).fit(X)
    found = model.certificate_.embedding.limit
    assert 0.02 < found <= 0.05
    coarser = ReducedSetKernelPCA(
        3,
        kernel=Gaussian(3.0),
        density=ShadowDensity(ell=model.density_.ell_ / 1.1, sample_size=500),
        center=center,
        **options,
    ).fit(X)
    assert coarser.certificate_.embedding.limit > found
    if not options:
        finer = embedding(tol=0.02, center=center).fit(X)
        assert finer.certificate_.embedding.limit <= 0.02
        assert finer.n_centers_ > model.n_centers_


@pytest.mark.parametrize("error", ["operator", "mmd"])
def test_an_embedding_can_still_bound_the_other_errors(error):
    model = embedding(error=error).fit(X)
    alone = ShadowDensity(Gaussian(3.0), "auto", tol=0.05, error=error, sample_size=500).fit(X)
    assert model.reduced_set_ == alone.reduced_set_
    assert embedding(error="embedding").fit(X).reduced_set_ == embedding().fit(X).reduced_set_


def test_the_operator_error_determines_ell_if_all_components_are_kept():
    alone = ShadowDensity(Gaussian(3.0), "auto", tol=0.05, sample_size=500).fit(X)
    assert embedding(n_components=None).fit(X).reduced_set_ == alone.reduced_set_
    with pytest.raises(ValueError, match="at most 100 components"):
        embedding(n_components=None, error="embedding").fit(X)


def test_streams_and_windows_bound_the_error_of_the_coordinates():
    stream = embedding().partial_fit(X[:1000])
    assert stream.density_.ell_ == embedding().fit(X[:1000]).density_.ell_
    assert stream.certificate_.embedding.limit <= 0.05
    window = embedding(density=lambda shadow: WindowDensity(1000, density=shadow))
    assert window.fit(X[:1000]).density_.ell_ == stream.density_.ell_


def test_the_search_for_ell_ends_if_every_distinct_row_is_a_center():
    rows = np.repeat(X[:4], 100, axis=0)
    with pytest.warns(FewComponentsWarning):
        model = embedding(n_components=5).fit(rows)
    assert model.n_centers_ == 4


@pytest.mark.parametrize("inside", [True, False])
def test_data_that_do_not_compress_are_reported(inside):
    rows = np.random.default_rng(0).random((6000, 30))
    density = ShadowDensity(ell="auto", tol=0.001)
    estimator = ReducedSetKernelPCA(3, density=density) if inside else density
    with pytest.raises(ValueError, match="the data do not compress") as caught:
        estimator.fit(rows)
    assert 'NystromKernelPCA(landmarks="means")' in str(caught.value)
