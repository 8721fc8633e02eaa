"""Test that rows can be added to, removed from and merged into landmark models."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from rskpca import KernelPCANovelty, NystromKernelPCA, merge
from rskpca._core.subspace import Subspace
from rskpca.baselines import WeightedNystromKernelPCA
from rskpca.spectral.means import Basis
from tests import datasets
from tests.dense import assert_equal_up_to_sign
from tests.states import fitted_state

X = datasets.blobs(3_000, 6)
PARTS = np.array_split(X, 4)
WEIGHTS = np.random.default_rng(1).integers(0, 4, size=len(X)) * 0.5
MEANS = NystromKernelPCA(3, bandwidth=4.0, landmarks="means", n_centers=30, n_axes=4)


def shared(n_components=3, **parameters):
    """Return an unfitted model on means in a subspace, which models of several parts can share."""
    basis = clone(MEANS).fit(X).shared_landmarks_
    assert basis.subspace is not None
    return NystromKernelPCA(n_components, bandwidth=4.0, landmarks=basis, **parameters)


def assert_same(model, expected):
    np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-9)
    assert_equal_up_to_sign(model.transform(X), expected.transform(X), 1e-8)
    assert model.model_.reduced_set.n_samples == expected.model_.reduced_set.n_samples


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["rows", "weights"])
@pytest.mark.parametrize("center", [True, False])
def test_forgetting_rows_equals_a_fit_to_the_remaining_rows(weights, center):
    first, rest = (None, None) if weights is None else (weights[:800], weights[800:])
    model = shared(center=center).fit(X, sample_weight=weights)
    model.forget(X[:500], sample_weight=None if first is None else first[:500])
    model.forget(X[500:800], sample_weight=None if first is None else first[500:])
    expected = shared(center=center).fit(X[800:], sample_weight=rest)
    assert_same(model, expected)
    kept = {row.tobytes() for row in X[800:]}
    assert {row.tobytes() for row in model.model_.reduced_set.sample.rows} <= kept
    stated, wanted = model.certificate_.embedding, expected.certificate_.embedding
    assert stated.estimate == pytest.approx(wanted.estimate, rel=0.5)


def test_forgotten_rows_can_be_added_again():
    model, expected = shared().fit(X), shared().fit(X)
    assert_same(model.forget(X[::3]).partial_fit(X[::3]), expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_merged_models_equal_a_fit_to_all_rows(dtype):
    parts = [shared().fit(part.astype(dtype)) for part in PARTS]
    states = [fitted_state(part) for part in parts]
    model, expected = merge(*parts), shared().fit(X.astype(dtype))
    tolerance = 1e-8 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=tolerance / 10)
    assert_equal_up_to_sign(model.transform(X), expected.transform(X), tolerance)
    assert model.model_.reduced_set.n_samples == len(X)
    assert len(model.model_.reduced_set.sample) == 2_000
    assert [fitted_state(part) for part in parts] == states
    assert repr(model) == repr(parts[0])


def test_merging_is_associative_and_the_result_can_be_updated():
    a, b, c, d = (shared().fit(part) for part in PARTS)
    left, right = merge(merge(a, b), c), merge(a, merge(b, c))
    assert_same(left, right)
    assert left.model_.reduced_set.sample == right.model_.reduced_set.sample
    left.partial_fit(PARTS[3]).forget(PARTS[0])
    assert_same(left, merge(b, c, d))


def test_the_error_of_a_merged_model_covers_the_error_of_a_single_fit():
    whole = shared().fit(X)
    stated = merge(*(shared().fit(part) for part in PARTS)).certificate_.embedding
    assert stated.estimate == pytest.approx(whole.certificate_.embedding.estimate, rel=0.5)
    assert whole.certificate_.embedding.estimate <= stated.limit


def test_landmarks_may_be_shared_as_an_array():
    given = clone(MEANS).fit(X)
    parts = [given.set_params(n_centers=30), shared().fit(X)]
    parts.append(NystromKernelPCA(3, bandwidth=4.0, landmarks=given.landmarks_).fit(X))
    assert_same(merge(*parts), merge(parts[1], parts[1], parts[1]))


def test_a_detector_can_forget_and_merge():
    detector = KernelPCANovelty(shared())
    parts = [clone(detector).partial_fit(part) for part in PARTS]
    expected = clone(detector).partial_fit(X)
    merged = merge(*parts)
    np.testing.assert_allclose(merged.score_samples(X), expected.score_samples(X), atol=1e-9)
    merged.forget(PARTS[0])
    expected = clone(detector).partial_fit(np.concatenate(PARTS[1:]))
    np.testing.assert_allclose(merged.score_samples(X), expected.score_samples(X), atol=1e-9)


def test_merging_preserves_feature_names():
    frames = [pd.DataFrame(part, columns=list("abcdef")) for part in PARTS]
    assert list(merge(*(shared().fit(frame) for frame in frames)).feature_names_in_) == [*"abcdef"]


# --------------------------------------------------------------------- invalid input


def assert_unchanged(model, message, *arguments, **options):
    before = fitted_state(model)
    with pytest.raises(ValueError, match=message):
        model.forget(*arguments, **options)
    assert fitted_state(model) == before


def test_removing_too_much_is_rejected():
    model = shared().fit(X[:100])
    assert_unchanged(model, "rows of weight 101 would be removed, but the total", X[:101])
    assert_unchanged(model, "no rows would be left; create a new estimator", X[:100])
    assert_unchanged(model, "rows of weight 200 would be removed", X[:100], sample_weight=2.0)


def test_models_with_different_landmarks_cannot_be_merged():
    models = [clone(MEANS).fit(part) for part in PARTS]
    with pytest.raises(ValueError, match=r"same landmarks.*landmarks=first\.shared_landmarks_"):
        merge(*models)
    other = shared().set_params(bandwidth=3.0)
    with pytest.raises(ValueError, match="same kernel"):
        merge(shared().fit(X), other.fit(X))


def test_models_without_sums_can_neither_forget_nor_be_merged():
    models = [NystromKernelPCA(2, bandwidth=4.0, landmarks=X[:9], extension="data").fit(X)] * 2
    with pytest.raises(AttributeError) as error:
        _ = models[0].forget
    assert 'forget requires extension="landmarks"' in str(error.value.__cause__)
    with pytest.raises(ValueError, match="merge cannot continue a fit that did not keep sums"):
        merge(*models)
    weighted = [WeightedNystromKernelPCA(2, bandwidth=4.0, n_centers=9).fit(X)] * 2
    assert not hasattr(weighted[0], "forget")
    with pytest.raises(ValueError, match="merge cannot continue a fit that did not keep sums"):
        merge(*weighted)


def test_shared_landmarks_with_other_features_are_reported():
    with pytest.raises(ValueError, match="landmarks must have 5 features, like the data, got 6"):
        shared().fit(X[:, :5])
    subspace = Subspace(np.zeros(3), np.eye(3)[:, :1])
    with pytest.raises(ValueError, match="points must have 3 features, like the subspace, got 2"):
        Basis(np.zeros((4, 2)), subspace)
