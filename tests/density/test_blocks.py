"""Test fitting in blocks, which merges covers and counts the rows within the radius."""

import pickle
from dataclasses import replace
from functools import reduce

import numpy as np
import pytest

from rskpca import Gaussian, ReducedSet, ShadowDensity
from rskpca._core import reference
from rskpca.density.blocks import Counts, ShadowBlocks
from tests import datasets

X = datasets.blobs(2000, 3)
DENSITY = ShadowDensity(Gaussian(6.0), ell=4.0)


def fit_blocks(density=DENSITY, rows=X):
    return ShadowBlocks.of(density, density.kernel, rows[:0])


def first_within(rows, centers, radius):
    """Return the first center within the radius of each row, using all squared distances."""
    squared = np.stack([reference.squared_distances(rows, c) for c in centers], axis=1)
    near = squared < radius * radius
    assert near.any(axis=1).all()
    labels = near.argmax(axis=1)
    return labels, squared[np.arange(len(rows)), labels]


def merge_blocks(shadow, parts, weights=None):
    weights = [None] * len(parts) if weights is None else weights
    covers = [shadow.cover(*pair) for pair in zip(parts, weights, strict=True)]
    merged = reduce(ReducedSet.merge, [cover for cover in covers if cover is not None])
    counts = [shadow.count(merged.centers, *pair) for pair in zip(parts, weights, strict=True)]
    return merged, shadow.join(merged, reduce(Counts.merge, counts))


def test_fitting_one_block_equals_algorithm_2():
    """Only the sample differs, because the hash depends on the whole block."""
    found, expected = fit_blocks().cover(X), replace(DENSITY.fit(X).reduced_set_, sample=None)
    again = merge_blocks(fit_blocks(), [X])[1]
    assert replace(found, sample=None) == replace(again, sample=None) == expected
    assert found.sample == again.sample
    assert_sampled(found, X)


@pytest.mark.parametrize("n_blocks", [2, 7, 40])
def test_every_row_is_counted_once_at_the_first_center_within_the_radius(n_blocks):
    shadow = fit_blocks()
    merged, found = merge_blocks(shadow, np.array_split(X, n_blocks))
    labels, squared = first_within(X, found.centers, shadow.radius)
    np.testing.assert_array_equal(found.weights, np.bincount(labels))
    np.testing.assert_allclose(found.scatter, np.bincount(labels, squared), rtol=1e-12)
    np.testing.assert_allclose(
        found.displacement, np.bincount(labels, np.sqrt(squared)), rtol=1e-12
    )
    assert found.n_samples == len(X)
    assert found.radius == found.spacing == shadow.radius < merged.radius


def test_rows_not_covered_by_a_merged_center_become_centers():
    merged, found = merge_blocks(fit_blocks(), np.array_split(X, 40))
    assert found.n_centers > merged.n_centers
    np.testing.assert_array_equal(found.centers[: merged.n_centers], merged.centers)
    gaps = np.stack([reference.squared_distances(found.centers, c) for c in found.centers])
    assert gaps[np.triu_indices(len(gaps), 1)].min() >= found.spacing**2


def assert_sampled(found, rows, size=2000):
    """Check that sampled rows are distinct and labeled with the first center within the radius."""
    sample = found.sample
    assert len(sample) == min(size, len(rows))
    assert len({row.tobytes() for row in sample.rows}) == len(sample)
    assert {row.tobytes() for row in sample.rows} <= {row.tobytes() for row in rows}
    labels, _ = first_within(sample.rows, found.centers, found.radius)
    np.testing.assert_array_equal(sample.labels, labels)


@pytest.mark.parametrize("n_blocks", [2, 7, 40])
@pytest.mark.parametrize("size", [30, 2000])
def test_the_samples_of_all_blocks_are_merged(n_blocks, size):
    shadow = fit_blocks(ShadowDensity(Gaussian(6.0), ell=4.0, sample_size=size))
    merged, found = merge_blocks(shadow, np.array_split(X, n_blocks))
    assert_sampled(found, X, size)
    np.testing.assert_array_equal(merged.sample.rows, found.sample.rows)
    np.testing.assert_array_equal(merged.sample.keys, found.sample.keys)


def test_the_order_in_which_counts_are_merged_does_not_matter():
    shadow = fit_blocks(ShadowDensity(Gaussian(6.0), ell=4.0, sample_size=30))
    merged, expected = merge_blocks(shadow, np.array_split(X, 7))
    counts = [shadow.count(merged.centers, part) for part in np.array_split(X, 7)]
    found = shadow.join(merged, reduce(Counts.merge, counts[::-1]))
    assert found.sample.relabel(np.arange(found.n_centers)) == found.sample
    np.testing.assert_array_equal(found.sample.rows, expected.sample.rows)


def test_estimates_from_merged_samples_are_unbiased():
    weights = np.random.default_rng(0).random(len(X))
    expected, found = weights @ np.sin(X[:, 0]), []
    parts, shares = np.array_split(X, 7), np.array_split(weights, 7)
    for seed in range(80):
        density = ShadowDensity(Gaussian(6.0), ell=2.0, sample_size=60, random_state=seed)
        sample = merge_blocks(fit_blocks(density), parts, shares)[1].sample
        found.append(np.sin(sample.rows[:, 0]) @ (sample.weights / sample.probabilities))
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - expected) < 4 * error
    assert error < 0.02 * weights.sum()


def test_no_sample_is_kept_if_the_size_is_zero():
    shadow = fit_blocks(ShadowDensity(Gaussian(6.0), ell=4.0, sample_size=0))
    assert all(found.sample is None for found in merge_blocks(shadow, np.array_split(X, 7)))


def test_integer_weights_are_equivalent_to_repeated_rows():
    repeats = np.random.default_rng(0).integers(0, 4, len(X))
    cuts = [300, 301, 1500]
    parts, weights = np.split(X, cuts), np.split(repeats.astype(float), cuts)
    repeated = [np.repeat(part, w.astype(int), axis=0) for part, w in zip(parts, weights)]  # noqa: B905
    shadow = fit_blocks()
    weighted, expected = merge_blocks(shadow, parts, weights)[1], merge_blocks(shadow, repeated)[1]
    np.testing.assert_array_equal(weighted.centers, expected.centers)
    np.testing.assert_array_equal(weighted.weights, expected.weights)
    sample = weighted.sample
    assert sample.weights.sum() == expected.n_samples  # all rows with positive weight are sampled
    np.testing.assert_array_equal(
        sample.labels, first_within(sample.rows, weighted.centers, 1.5)[0]
    )


def test_fractional_weights_remain_accurate_when_all_other_rows_are_forgotten():
    weights = np.random.default_rng(0).uniform(0.1, 3.0, len(X))
    shadow = fit_blocks()
    _, found = merge_blocks(shadow, np.array_split(X, 9), np.array_split(weights, 9))
    assert found.weights.sum() == pytest.approx(weights.sum(), rel=1e-14)
    density = ShadowDensity(Gaussian(6.0), ell=4.0).adopt(X, shadow.kernel, found)
    density.forget(X[1:], sample_weight=weights[1:])
    assert density.reduced_set_.n_centers == 1
    assert density.reduced_set_.n_samples == pytest.approx(weights[0], rel=1e-14)


def test_a_merged_model_can_continue_as_a_stream():
    shadow = fit_blocks()
    _, found = merge_blocks(shadow, np.array_split(X[:1500], 6))
    density = ShadowDensity(Gaussian(6.0), ell=4.0).adopt(X, shadow.kernel, found)
    assert density.ell_ == pytest.approx(4.0)
    density.partial_fit(X[1500:]).forget(X[1500:])
    np.testing.assert_array_equal(density.reduced_set_.weights, found.weights)
    np.testing.assert_allclose(density.reduced_set_.scatter, found.scatter, atol=1e-9)
    density.forget(X[1:1500])
    np.testing.assert_array_equal(density.reduced_set_.centers, X[:1])


def test_a_merged_model_cannot_forget_rows():
    shadow = fit_blocks()
    merged, _ = merge_blocks(shadow, np.array_split(X, 6))
    density = ShadowDensity(Gaussian(6.0), ell=4.0).adopt(X, shadow.kernel, merged, merged=True)
    with pytest.raises(ValueError, match=r"this model was merged.*Nothing was changed"):
        density.forget(X[:5])
    assert density.fit(X).forget(X[:5]).reduced_set_.n_samples == len(X) - 5


def test_blocks_may_be_empty_or_have_zero_weight():
    shadow = fit_blocks()
    parts = [X[:0], X[:900], X[900:900], X[900:], X[:10]]
    weights = [np.ones(len(part)) for part in parts]
    weights[-1][:] = 0
    assert shadow.cover(parts[0]) is None
    assert shadow.cover(parts[-1], weights[-1]) is None
    assert merge_blocks(shadow, parts, weights)[1] == merge_blocks(shadow, [X[:900], X[900:]])[1]


def test_float32_data_remain_float32_and_mixed_dtypes_become_float64():
    shadow, single = fit_blocks(), X.astype(np.float32)
    assert merge_blocks(shadow, np.array_split(single, 3))[1].centers.dtype == np.float32
    _, mixed = merge_blocks(shadow, [single[:700], X[700:]])
    assert mixed.centers.dtype == np.float64
    first_within(np.concatenate([single[:700].astype(float), X[700:]]), mixed.centers, 1.5)


def test_steps_do_not_modify_their_arguments():
    shadow = fit_blocks()
    merged, _ = merge_blocks(shadow, np.array_split(X, 4))
    counts = [shadow.count(merged.centers, part) for part in np.array_split(X, 4)]
    before = pickle.dumps((counts, merged, shadow))
    shadow.join(merged, reduce(Counts.merge, counts))
    assert pickle.dumps((counts, merged, shadow)) == before


def test_centers_without_rows_are_dropped():
    shadow = fit_blocks()
    merged, expected = merge_blocks(shadow, [X])
    centers = np.concatenate([merged.centers[:1] + 1e3, merged.centers])
    more = ReducedSet(centers, np.full(len(centers), len(X) / len(centers)), 1.5, len(X))
    found = shadow.join(more, shadow.count(centers, X))
    np.testing.assert_array_equal(found.centers, expected.centers)
    np.testing.assert_array_equal(found.weights, expected.weights)


def test_blocks_that_differ_between_the_passes_are_rejected():
    shadow = fit_blocks()
    merged = shadow.cover(X)
    with pytest.raises(ValueError, match=r"weight of 2000 when they were covered, but 1990 when"):
        shadow.join(merged, shadow.count(merged.centers, X[10:]))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"ell": "auto", "tol": 0.05}, r'ell="auto" requires all rows in memory'),
        ({"ell": np.inf}, r"ell=inf keeps every row"),
        ({"max_centers": 50}, r"max_centers=50 is enforced row by row"),
        ({"warm_start": True}, r"warm_start=True starts from the previous fit"),
        ({"sample_size": -1}, r"sample_size must be an integer"),
        ({"ell": 0}, r"ell must be a positive number"),
    ],
)
def test_parameters_that_do_not_support_blocks_are_rejected(parameters, message):
    with pytest.raises(ValueError, match=message):
        fit_blocks(ShadowDensity(Gaussian(6.0), **parameters))


def test_a_tolerance_determines_the_radius():
    density = ShadowDensity(Gaussian(6.0), tol=0.2)
    assert fit_blocks(density).radius == density.fit(X).reduced_set_.radius


def test_invalid_rows_are_reported_with_their_number():
    shadow, bad = fit_blocks(), X[:20].copy()
    bad[13, 1] = np.nan
    with pytest.raises(ValueError, match=r"row 13 contains NaN or infinity"):
        shadow.cover(bad)
    with pytest.raises(ValueError, match=r"every block must have 3 features, got one with 2"):
        shadow.cover(X[:, :2])
    with pytest.raises(ValueError, match=r"sample_weight must have one number per row"):
        shadow.cover(X[:20], np.ones(19))
