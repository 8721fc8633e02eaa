"""Test merge, which combines models fitted to separate data."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from rskpca import (
    DiffusionMaps,
    FadingDensity,
    Gaussian,
    KernelPCANovelty,
    KMeansDensity,
    LaplacianEigenmaps,
    NormalizedCut,
    ReducedSetKernelPCA,
    ShadowDensity,
    WindowDensity,
    merge,
)
from tests import datasets
from tests.density.naive import NaiveStream
from tests.states import fitted_state

X_ALL = datasets.blobs(900, 2)
PARTS = np.split(X_ALL, 3)


def shadow(**options):
    return ShadowDensity(Gaussian(2.0), ell=4.0, **options)


def merge_with_dictionary(first, others, radius):
    """Return centers and weights after assigning each center to the first one within the radius."""
    centers = [*first.centers.values()]
    weights = [*first.sums()[0]]
    for other in others:
        fixed = len(centers)
        for center, weight in zip(other.centers.values(), other.sums()[0], strict=True):
            near = (i for i in range(fixed) if NaiveStream.squared(center, centers[i]) < radius**2)
            i = next(near, len(centers))
            if i == len(centers):
                centers.append(center)
                weights.append(0.0)
            weights[i] += weight
    return np.array(centers), np.array(weights)


@given(
    seed=st.integers(0, 2**32),
    sizes=st.lists(st.integers(2, 60), min_size=2, max_size=4),
    share_forgotten=st.floats(0, 0.9),
    more=st.integers(1, 50),
)
@settings(max_examples=60, deadline=None)
def test_adding_forgetting_and_merging_equal_a_dictionary_of_centers(
    seed, sizes, share_forgotten, more
):
    rng = np.random.default_rng(seed)
    models, naive, rows = [], [], []
    for n in sizes:
        X = 1.5 * rng.normal(size=(n, 2))
        gone = rng.random(n) < share_forgotten
        gone[-1] = False
        models.append(shadow().partial_fit(X[: n // 2 + 1]).partial_fit(X[n // 2 :]))
        models[-1].forget(X[n // 2 : n // 2 + 1])  # this row is in both parts
        naive.append(NaiveStream(0.5).add(X))
        if gone.any():
            models[-1].forget(X[gone])
            naive[-1].forget(X[gone])
        rows.append(X[~gone])
    merged = merge(*models)
    s = merged.reduced_set_
    centers, weights = merge_with_dictionary(naive[0], naive[1:], 0.5)
    np.testing.assert_array_equal(s.centers, centers)
    np.testing.assert_array_equal(s.weights, weights)
    kept = np.concatenate(rows)
    assert s.n_samples == len(kept)
    assert max_distance(kept, s.centers) <= s.radius <= 2 * 0.5
    X = 1.5 * rng.normal(size=(more, 2))
    merged.partial_fit(X)
    s = merged.reduced_set_
    assert s.n_samples == len(kept) + more
    assert max_distance(np.concatenate([kept, X]), s.centers) <= s.radius
    np.testing.assert_array_equal(s.centers[: len(centers)], centers)


def max_distance(X, centers):
    return np.sqrt(((X[:, None] - centers) ** 2).sum(axis=2)).min(axis=1).max()


def test_merging_in_any_grouping_preserves_the_weight_the_spacing_and_the_cover():
    a, b, c = (shadow().fit(part) for part in PARTS)
    left, right = merge(merge(a, b), c).reduced_set_, merge(a, merge(b, c)).reduced_set_
    assert merge(a, b, c).reduced_set_ == left
    assert left.n_samples == right.n_samples == 900
    assert left.spacing == right.spacing == 0.5
    np.testing.assert_array_equal(left.sample.rows, right.sample.rows)
    np.testing.assert_array_equal(left.sample.keys, right.sample.keys)
    for s, most in ((left, 2), (right, 3)):
        assert max_distance(X_ALL, s.centers) <= s.radius <= most * 0.5
        distances = np.linalg.norm(s.sample.rows - s.centers[s.sample.labels], axis=1)
        assert distances.max() <= s.radius
        assert len(s.sample) == 900


def test_the_sample_of_merged_models_represents_all_data():
    merged = [merge(*(shadow(sample_size=60, random_state=seed).fit(part) for part in PARTS))
              for seed in range(100)]  # fmt: skip
    samples = [density.reduced_set_.sample for density in merged]
    assert {len(sample) for sample in samples} == {60}
    found = [np.sin(s.rows[:, 0]) @ (s.weights / s.probabilities) for s in samples]
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - np.sin(X_ALL[:, 0]).sum()) < 4 * error
    assert error < 0.02 * len(X_ALL)


def test_distant_data_are_merged_into_the_same_set_in_any_grouping():
    far = [part + 100 * i for i, part in enumerate(PARTS)]
    a, b, c = (shadow(sample_size=0).fit(part) for part in far)
    left, right = merge(merge(a, b), c).reduced_set_, merge(a, merge(b, c)).reduced_set_
    assert left == right == shadow(sample_size=0).fit(np.concatenate(far)).reduced_set_


def test_merging_exact_models_gives_an_exact_model():
    exact = [ReducedSetKernelPCA(3, bandwidth=3.0, ell=np.inf).fit(part) for part in PARTS]
    merged = merge(*exact)
    whole = ReducedSetKernelPCA(3, bandwidth=3.0, ell=np.inf).fit(X_ALL)
    np.testing.assert_allclose(merged.transform(X_ALL), whole.transform(X_ALL), atol=1e-9)


@pytest.mark.parametrize("center", [True, False])
def test_the_certificate_of_a_merged_model_is_valid_for_all_data(center):
    models = [ReducedSetKernelPCA(3, bandwidth=2.0, center=center).fit(part) for part in PARTS]
    certificate = merge(*models).certify(X_ALL)
    measured = certificate.level("measured")
    for name in ("a priori", "a posteriori", "sample"):
        level = certificate.level(name)
        assert measured.operator <= level.operator
        assert measured.mmd <= level.mmd


def set_of(model):
    return getattr(model, "embedding_", model).reduced_set_


@pytest.mark.parametrize(
    "make",
    [
        lambda: shadow(),
        lambda: ReducedSetKernelPCA(3, bandwidth=2.0),
        lambda: ReducedSetKernelPCA(3, bandwidth=2.0, basis=20),
        lambda: DiffusionMaps(3, bandwidth=2.0),
        lambda: LaplacianEigenmaps(3, bandwidth=2.0),
        lambda: NormalizedCut(3, bandwidth=2.0),
        lambda: KernelPCANovelty(ReducedSetKernelPCA(3, bandwidth=2.0)),
    ],
)
def test_every_model_can_be_merged_and_updated(make):
    models = [make().fit(part) for part in PARTS]
    before = [fitted_state(model) for model in models]
    merged = merge(*models)
    assert type(merged) is type(models[0])
    assert [fitted_state(model) for model in models] == before
    verb = next(v for v in ("predict", "transform", "score_samples") if hasattr(merged, v))
    getattr(merged, verb)(X_ALL)
    expected = merge(*(shadow().fit(part) for part in PARTS)).reduced_set_
    assert set_of(merged) == expected
    assert set_of(merged).n_samples == 900
    merged.partial_fit(X_ALL[:100])
    assert set_of(merged).n_samples == 1000
    with pytest.raises(ValueError, match=r"forget: this model was merged.*Nothing was changed"):
        merged.forget(X_ALL[:1])
    assert getattr(merged, verb)(X_ALL[:7]).shape[0] == 7


def test_a_fit_after_a_merge_can_forget_rows():
    model = merge(*(shadow().fit(part) for part in PARTS)).fit(X_ALL).forget(X_ALL[:5])
    assert model.reduced_set_.n_samples == 895


def test_different_kernels_are_rejected_with_a_suggested_fix():
    models = [ReducedSetKernelPCA(2).fit(part) for part in PARTS]
    kernel = re.escape(repr(models[0].kernel_))
    with pytest.raises(ValueError, match=rf"same kernel.*model 1.*such as kernel={kernel}"):
        merge(*models)


@pytest.mark.parametrize(
    ("others", "error", "message"),
    [
        ([], ValueError, "at least two fitted models"),
        ([DiffusionMaps(2, bandwidth=2.0).fit(X_ALL)], TypeError, "same class"),
        ([ReducedSetKernelPCA(2, bandwidth=2.0)], NotFittedError, "not fitted"),
        ([ReducedSetKernelPCA(2, bandwidth=2.0).fit(X_ALL[:, :1])], ValueError, "same features"),
        (
            [ReducedSetKernelPCA(2, bandwidth=2.0).fit(pd.DataFrame(X_ALL, columns=["a", "b"]))],
            ValueError,
            r"model 0 has 2 without names and model 1 has \['a', 'b'\]",
        ),
        (["model"], TypeError, "str cannot be merged"),
    ],
)
def test_incompatible_models_are_rejected(others, error, message):
    first = ReducedSetKernelPCA(2, bandwidth=2.0).fit(X_ALL)
    with pytest.raises(error, match=message):
        merge(first, *others)


@pytest.mark.parametrize(
    "density", [KMeansDensity(5), WindowDensity(50), FadingDensity(50.0)], ids=lambda d: repr(d)
)
def test_only_shadow_densities_can_be_merged(density):
    models = [ReducedSetKernelPCA(2, bandwidth=2.0, density=density).fit(part) for part in PARTS]
    with pytest.raises(TypeError, match=f"{type(density).__name__} cannot be merged"):
        merge(*models)


def test_a_refined_model_is_rejected_with_a_suggested_fix():
    models = [ReducedSetKernelPCA(2, bandwidth=2.0, refine="nystrom").fit(p) for p in PARTS]
    with pytest.raises(ValueError, match=r"which merge does not support.*refine_on"):
        merge(*models)


def test_merging_preserves_feature_names():
    frames = [pd.DataFrame(part, columns=["a", "b"]) for part in PARTS]
    merged = merge(*(ReducedSetKernelPCA(2, bandwidth=2.0).fit(frame) for frame in frames))
    assert list(merged.feature_names_in_) == ["a", "b"]
    with pytest.raises(ValueError, match="feature names"):
        merged.transform(frames[0][["b", "a"]])
