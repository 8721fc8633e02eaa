"""Test that fitting in blocks agrees with a single fit to within the certified errors."""

from functools import reduce

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from rskpca import (
    DiffusionMaps,
    Gaussian,
    KernelPCANovelty,
    KMeansDensity,
    Laplacian,
    LaplacianEigenmaps,
    NormalizedCut,
    NystromKernelPCA,
    ReducedSet,
    ReducedSetKernelPCA,
    ShadowDensity,
)
from rskpca.certificate.hilbert_schmidt import measure
from rskpca.density.blocks import Counts
from rskpca.embedding.blocks import BlockFit, median_seeds
from rskpca.spectral import Moments
from tests import datasets
from tests.states import fitted_state

X = datasets.blobs(3000, 3)
PARTS = np.array_split(X, 12)
ESTIMATORS = [
    ShadowDensity(Gaussian(5.0), ell=3.0),
    ReducedSetKernelPCA(3, bandwidth=5.0, ell=3.0),
    ReducedSetKernelPCA(3, bandwidth=5.0, ell=3.0, basis=40),
    ReducedSetKernelPCA(3, density=ShadowDensity(Laplacian(5.0), ell=3.0), center=False),
    DiffusionMaps(2, bandwidth=5.0, ell=3.0),
    LaplacianEigenmaps(2, bandwidth=5.0, ell=3.0),
    NormalizedCut(4, bandwidth=5.0, ell=3.0),
    KernelPCANovelty(ReducedSetKernelPCA(3, bandwidth=5.0, ell=3.0)),
    KernelPCANovelty(),
]


def fitted(estimator, parts=PARTS, sample=X):
    fit = BlockFit.of(estimator, sample)
    merged = reduce(ReducedSet.merge, map(fit.shadow.cover, parts))
    counts = reduce(Counts.merge, [fit.shadow.count(merged.centers, part) for part in parts])
    reduced_set = fit.shadow.join(merged, counts)
    moments = fit.moments(reduced_set)
    if moments is not None:
        moments = reduce(Moments.merge, [moments.add(part) for part in parts])
    return fit.fitted(reduced_set, moments)


REFINED = ReducedSetKernelPCA(3, bandwidth=5.0, ell=3.0, refine="nystrom", basis=40)


@pytest.mark.parametrize("estimator", [REFINED, KernelPCANovelty(REFINED)])
@pytest.mark.parametrize("added", [0, 6, 13])
def test_refinement_in_blocks_requires_the_moments_of_all_rows(estimator, added):
    model = clone(estimator).fit(X[:500])
    before, fit = fitted_state(model), BlockFit.of(model, X)
    reduced_set = fit.shadow.cover(X)
    moments = fit.moments(reduced_set)
    for part in [*PARTS, PARTS[0]][:added]:
        moments = moments.add(part)
    with pytest.raises(ValueError, match=r"the total weight of all rows, 3000, got"):
        fit.fitted(reduced_set, moments if added else None)
    assert fitted_state(model) == before


def test_unexpected_moments_are_rejected():
    fit = BlockFit.of(ReducedSetKernelPCA(3, bandwidth=5.0, ell=3.0), X)
    reduced_set = fit.shadow.cover(X)
    moments = BlockFit.of(clone(REFINED), X).moments(reduced_set).add(X)
    with pytest.raises(ValueError, match=r"moments must be None unless"):
        fit.fitted(reduced_set, moments)


def test_the_sample_is_validated():
    bad = X[:9].copy()
    bad[3, 1] = np.nan
    for rows, message in ((bad, "contains NaN"), (X[:0], "0 sample"), (X[0], "1D array")):
        with pytest.raises(ValueError, match=message):
            BlockFit.of(ReducedSetKernelPCA(3), rows)
    with pytest.raises(ValueError, match=r"sample_weight must have one number per row"):
        BlockFit.of(ReducedSetKernelPCA(3), X[:9], np.ones(8))
    found = BlockFit.of(ReducedSetKernelPCA(3), X[:9].tolist())
    assert found.kernel.bandwidth == BlockFit.of(ReducedSetKernelPCA(3), X[:9]).kernel.bandwidth


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_fitting_one_block_equals_streaming_one_chunk(estimator):
    found, expected = fitted(clone(estimator), [X]), clone(estimator).partial_fit(X)
    for method in ("transform", "predict", "score_samples"):
        if hasattr(expected, method):
            np.testing.assert_array_equal(getattr(found, method)(X), getattr(expected, method)(X))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_a_model_fitted_in_blocks_can_continue_as_a_stream(estimator):
    model = fitted(clone(estimator), PARTS[:10])
    rows = np.concatenate(PARTS[10:])
    model.partial_fit(rows).forget(PARTS[0]).forget(rows)
    left = getattr(model, "embedding_", model).reduced_set_
    assert left.n_samples == sum(map(len, PARTS[1:10]))


def test_refinement_in_blocks_equals_refinement_in_one_pass():
    model = fitted(ReducedSetKernelPCA(3, bandwidth=5.0, ell=3.0, refine="nystrom", basis=40))
    twin = fitted(ReducedSetKernelPCA(3, bandwidth=5.0, ell=3.0, basis=40)).refine_on(X)
    np.testing.assert_allclose(model.eigenvalues_, twin.eigenvalues_, rtol=1e-12)
    np.testing.assert_allclose(model.transform(X), twin.transform(X), atol=1e-10)
    assert [level.name for level in model.certificate_.levels] == [
        level.name for level in twin.certificate_.levels
    ]


def pair(center):
    estimator = ReducedSetKernelPCA(3, bandwidth=5.0, ell=3.0, center=center)
    return clone(estimator).fit(X), fitted(clone(estimator))


@pytest.mark.parametrize("center", [True, False])
def test_operators_and_eigenvalues_agree_to_within_both_certificates(center):
    here, there = pair(center)
    both = here.certificate_, there.certificate_
    left, right = here.reduced_set_, there.reduced_set_
    apart = measure(here.kernel_, left.centers, right, left.weights, center=center)
    assert apart > 0
    for name in ("a priori", "a posteriori", "sample"):
        assert apart <= sum(c.level(name).operator for c in both)
    shift = np.abs(both[0].eigenvalues - both[1].eigenvalues)
    for kind in ("certain", "likely"):
        widths = [np.ptp(getattr(c, kind), axis=1) for c in both]
        assert (shift <= sum(widths)).all()
    assert both[0].level("a priori") == both[1].level("a priori")


def test_eigenspaces_agree_to_within_both_certificates():
    models = pair(center=False)
    systems = [model.eigensystem_ for model in models]
    axes = [system.coefficients * np.sqrt(system.eigenvalues) for system in systems]
    inner = axes[0].T @ models[0].kernel_(systems[0].centers, systems[1].centers) @ axes[1]
    allowed = sum(model.certificate_.likely_angles for model in models)
    assert np.isfinite(allowed[0])
    for D in np.flatnonzero(np.isfinite(allowed)) + 1:
        cosine = np.linalg.svd(inner[:D, :D], compute_uv=False)[-1]
        assert np.degrees(np.arccos(min(cosine, 1.0))) <= allowed[D - 1]


def test_the_bandwidth_comes_from_the_sample():
    model = fitted(ReducedSetKernelPCA(3, ell=3.0), sample=X[::3])
    assert model.kernel_.bandwidth == ReducedSetKernelPCA(3, ell=3.0).fit(X[::3]).kernel_.bandwidth


@pytest.mark.parametrize(
    ("estimator", "needed"),
    [
        (ReducedSetKernelPCA(3), True),
        (ReducedSetKernelPCA(3, bandwidth=2.0), False),
        (ReducedSetKernelPCA(3, gamma=2.0), False),
        (ReducedSetKernelPCA(3, density=ShadowDensity(Gaussian(2.0))), False),
        (ReducedSetKernelPCA(3, density=ShadowDensity()), True),
        (ReducedSetKernelPCA(3, kernel="rbf", density=ShadowDensity("gaussian")), True),
        (ShadowDensity(), True),
        (ShadowDensity(Gaussian(2.0)), False),
        (KernelPCANovelty(), True),
    ],
)
def test_a_sample_is_required_only_for_a_median_bandwidth(estimator, needed):
    assert bool(median_seeds(estimator)) is needed


@pytest.mark.parametrize(
    ("estimator", "seeds"),
    [
        (ShadowDensity(random_state=2), [2]),
        (ShadowDensity("gaussian", random_state=2), [2]),
        (ReducedSetKernelPCA(3, random_state=1), [1]),
        (ReducedSetKernelPCA(3, random_state=1, density=ShadowDensity("rbf", random_state=2)), [1]),
        (KernelPCANovelty(ReducedSetKernelPCA(3, random_state=1)), [1]),
    ],
)
def test_the_sample_is_drawn_with_the_seed_of_the_estimator_that_owns_the_kernel(estimator, seeds):
    assert median_seeds(estimator) == seeds


@pytest.mark.parametrize(
    "estimator",
    [
        ReducedSetKernelPCA(3, density=KMeansDensity(20)),
        NystromKernelPCA(3, landmarks=20),
        KernelPCANovelty(NystromKernelPCA(3, landmarks=20)),
        KMeansDensity(20),
        "kernel PCA",
    ],
)
def test_estimators_that_cannot_be_merged_are_rejected(estimator):
    with pytest.raises(TypeError, match=r"cannot be fitted in blocks\. Use a Shad"):
        BlockFit.of(estimator, X)


def test_a_failed_fit_leaves_the_model_unchanged():
    model = NormalizedCut(4, bandwidth=5.0, ell=3.0).fit(X)
    before = fitted_state(model)
    model.set_params(n_clusters=900)
    with pytest.raises(ValueError, match=r"n_clusters must be at most .* got 900"):
        fitted(model)
    assert fitted_state(model) == before


def test_the_estimator_is_unfitted_until_the_last_step():
    estimator = ReducedSetKernelPCA(3, bandwidth=5.0)
    BlockFit.of(estimator, X)
    with pytest.raises(Exception, match="not fitted"):
        check_is_fitted(estimator)


def test_labels_are_unavailable_after_a_fit_in_blocks():
    with pytest.raises(AttributeError, match="after forget, merge or a fit in blocks"):
        fitted(NormalizedCut(4, bandwidth=5.0, ell=3.0)).labels_  # noqa: B018
