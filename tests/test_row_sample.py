"""Test that the row sample is unbiased, exact under all updates, and equal for any chunks."""

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rskpca import Gaussian, ReducedSet, ReducedSetKernelPCA, ShadowDensity
from rskpca._core import reference
from rskpca._core.compiled_sample import find_small_keys
from rskpca.row_sample import RowSample, salt_of
from tests import datasets

X = datasets.blobs(400, 3)
ONES = np.ones(len(X))
LABELS = np.arange(len(X))  # each row is its own center
MOST_SALT = 2**64 - 1


def sample_of(rows=X, weights=None, labels=None, *, size=50, salt=7):
    weights = np.ones(len(rows)) if weights is None else weights
    labels = np.arange(len(rows)) if labels is None else labels
    return RowSample.empty(rows, size, salt).add(rows, weights, labels)


# ------------------------------------------------------------------ the hash


def test_the_reference_is_splitmix64():
    """The first outputs for the seed 1234567 are published with the generator."""
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [reference.splitmix64(1234567, i) for i in range(3)] == expected


@given(
    salt=st.integers(0, MOST_SALT),
    start=st.integers(0, 2**61),
    weights=st.lists(st.sampled_from([0.0, 1e-200, 0.3, 1.0, 7.0, 1e200]), max_size=40),
    threshold=st.sampled_from([1e-3, 0.5, 3.0, math.inf]),
)
@settings(max_examples=200, deadline=None)
def test_the_compiled_keys_equal_those_of_the_reference(salt, start, weights, threshold):
    weights = np.array(weights, dtype=float)
    indices, keys = np.empty(len(weights), dtype=np.intp), np.empty(len(weights))
    count = find_small_keys(np.uint64(salt), start, weights, threshold, indices, keys)
    expected = reference.sample_keys(salt, start, weights)
    np.testing.assert_array_equal(indices[:count], np.flatnonzero(expected < threshold))
    np.testing.assert_allclose(keys[:count], expected[expected < threshold], rtol=1e-15)


def test_hashes_are_uniform_and_independent_of_neighboring_numbers():
    weights, indices, keys = np.ones(100_000), np.empty(100_000, dtype=np.intp), np.empty(100_000)
    for salt in (0, 1, MOST_SALT):
        assert find_small_keys(np.uint64(salt), 0, weights, math.inf, indices, keys) == 100_000
        u = np.exp(-keys)
        counts = np.histogram(u, bins=50, range=(0, 1))[0]
        assert ((counts - 2000) ** 2 / 2000).sum() < 100  # 49 degrees of freedom: 5 deviations
        for lag in (1, 2, 64):
            assert abs(np.corrcoef(u[:-lag], u[lag:])[0, 1]) < 5 / math.sqrt(100_000)


def test_the_salt_depends_on_the_row_and_the_random_state_but_not_on_the_dtype():
    rows = np.array([[0.0, 1.5], [0.0, 2.5]])
    salts = {salt_of(rows[i : i + 1], seed) for i in range(2) for seed in range(3)}
    assert len(salts) == 6
    assert all(0 <= salt <= MOST_SALT for salt in salts)
    assert salt_of(rows[:1].astype(np.float32), 0) == salt_of(rows[:1], 0)
    assert salt_of(-rows[:1] * [1, -1], 0) == salt_of(rows[:1], 0)  # -0.0 equals 0.0


# ------------------------------------------------------------------ chunks and size


@given(
    seed=st.integers(0, 2**32),
    n=st.integers(1, 300),
    size=st.integers(1, 40),
    cuts=st.lists(st.integers(0, 300), max_size=6),
    weighting=st.sampled_from([None, "zeros", "whole", "fractional", "huge range"]),
)
@settings(max_examples=100, deadline=None)
def test_the_sample_consists_of_the_smallest_keys_for_any_chunks(seed, n, size, cuts, weighting):
    rng = np.random.default_rng(seed)
    rows, salt = rng.normal(size=(n, 2)), int(rng.integers(2**63))
    weights = {
        None: np.ones(n),
        "zeros": rng.integers(0, 2, n).astype(float),
        "whole": rng.integers(0, 9, n).astype(float),
        "fractional": rng.random(n),
        "huge range": 10.0 ** rng.integers(-150, 150, n),
    }[weighting]
    sample = RowSample.empty(rows, size, salt)
    for part in np.split(np.arange(n), sorted(set(cuts) & set(range(n)))):
        sample = sample.add(rows[part], weights[part], part)
    keys = reference.sample_keys(salt, 0, weights)
    order = np.argsort(keys, kind="stable")
    order = order[np.isfinite(keys[order])]
    chosen = order[:size]
    np.testing.assert_array_equal(sample.labels, chosen)
    np.testing.assert_array_equal(sample.rows, rows[chosen])
    np.testing.assert_array_equal(sample.weights, weights[chosen])
    np.testing.assert_allclose(sample.keys, keys[chosen], rtol=1e-15)
    expected = keys[order[size]] if len(order) > size else math.inf
    assert sample.threshold == pytest.approx(expected, rel=1e-15)
    assert sample.position == n
    assert sample == sample_of(rows, weights, size=size, salt=salt)


def test_long_chunks_give_the_same_sample_as_short_ones():
    """Long chunks are hashed in several steps."""
    rows = np.arange(100_000.0)[:, None]
    whole = sample_of(rows, size=300)
    parts = RowSample.empty(rows, 300, 7)
    for part in np.split(np.arange(100_000), [10, 5000, 70_000]):
        parts = parts.add(rows[part], np.ones(len(part)), part)
    assert parts == whole
    np.testing.assert_array_equal(
        whole.labels, np.argsort(reference.sample_keys(7, 0, np.ones(100_000)))[:300]
    )


@pytest.mark.parametrize(("d", "size"), [(3, 2000), (10_000, 1677), (100_000, 200)])
def test_the_size_is_bounded_for_very_many_features(d, size):
    assert RowSample.empty(np.empty((0, d)), 2000, 0).size == size
    assert RowSample.empty(np.empty((0, d)), 10, 0).size == 10
    assert RowSample.empty(np.empty((0, d)), 0, 0) is None


def test_the_number_of_rows_never_exceeds_the_size():
    sample, rng = RowSample.empty(X, 50, 3), np.random.default_rng(0)
    for n in (30, 30, 400, 1, 400):
        part = rng.integers(len(X), size=n)
        sample = sample.add(X[part], rng.random(n), part)
        assert len(sample) <= 50
    assert len(sample.merge(sample_of(size=80), LABELS)) <= 50
    assert len(sample_of(size=80).merge(sample, LABELS)) <= 50


# ------------------------------------------------------------------ estimates


RNG = np.random.default_rng(1)
POPULATION = RNG.normal(size=(120, 2))
WEIGHTS = np.exp(1.5 * RNG.normal(size=120))
ROWS = np.arange(120)
MORE = RNG.normal(size=(60, 2))


def added(salt):
    return sample_of(POPULATION, WEIGHTS, size=25, salt=salt)


def merged(salt):
    first = sample_of(POPULATION[:70], WEIGHTS[:70], size=40, salt=salt)
    second = sample_of(POPULATION[70:], WEIGHTS[70:], size=25, salt=salt // 3 + 1)
    return first.merge(second, np.arange(70, 120))


def shortened(salt):
    return sample_of(POPULATION, WEIGHTS, size=60, salt=salt).head(25)


def reduced(salt):
    """Remove rows that were added earlier; their labels are out of range."""
    rows, weights = np.concatenate([MORE, POPULATION]), np.concatenate([np.ones(60), WEIGHTS])
    both = sample_of(rows, weights, np.r_[np.full(60, 500), ROWS], size=35, salt=salt)
    return both.remove(MORE, np.ones(60), WEIGHTS.sum())


def relabeled(salt):
    """Drop rows whose center was removed."""
    rows, weights = np.concatenate([MORE, POPULATION]), np.concatenate([np.ones(60), WEIGHTS])
    both = sample_of(rows, weights, np.r_[np.full(60, 120), ROWS], size=35, salt=salt)
    return both.relabel(np.r_[ROWS, -1])


def scaled(salt):
    whole = RowSample.empty(POPULATION, 25, salt)
    whole = whole.add(POPULATION[:60], WEIGHTS[:60] * 4, ROWS[:60]).scale(0.25)
    return whole.add(POPULATION[60:], WEIGHTS[60:], ROWS[60:])


@pytest.mark.parametrize("make", [added, merged, shortened, reduced, relabeled, scaled])
def test_estimates_of_sums_over_rows_and_over_pairs_are_unbiased(make):
    values = WEIGHTS * (1 + np.sin(POPULATION[:, 0]))
    pairs = np.outer(WEIGHTS, WEIGHTS) * np.exp(-((POPULATION[:, :1] - POPULATION[:, 0]) ** 2))
    np.fill_diagonal(pairs, 0)
    found = []
    for salt in np.random.default_rng(0).integers(2**63, size=1500).tolist():
        sample = make(salt)
        inverse = 1 / sample.probabilities
        own = sample.labels
        np.testing.assert_array_equal(sample.rows, POPULATION[own])
        np.testing.assert_allclose(sample.weights, WEIGHTS[own], rtol=1e-15)
        found.append([values[own] @ inverse, inverse @ pairs[np.ix_(own, own)] @ inverse])
    expected = np.array([values.sum(), pairs.sum()])
    error = np.std(found, axis=0) / math.sqrt(len(found))
    assert np.all(np.abs(np.mean(found, axis=0) - expected) < 4.5 * error)
    assert np.all(error < 0.02 * expected)  # otherwise the test has no power


def test_a_sample_of_all_rows_has_no_sampling_error():
    sample = sample_of(size=len(X))
    np.testing.assert_array_equal(sample.probabilities, 1.0)
    assert sample.threshold == math.inf
    np.testing.assert_array_equal(np.sort(sample.labels), LABELS)


def test_heavy_rows_are_always_kept():
    weights = ONES.copy()
    weights[::100] = 1e9
    for salt in range(50):
        sample = sample_of(weights=weights, salt=salt)
        assert set(LABELS[::100]) <= set(sample.labels)
        np.testing.assert_allclose(sample.probabilities[sample.weights > 1], 1.0, rtol=1e-12)


# ------------------------------------------------------------------ operations


def test_merging_is_associative_and_commutative_except_for_the_hash():
    parts = [sample_of(X[i::3], labels=LABELS[i::3], salt=i, size=40) for i in range(3)]
    a, b, c = parts
    left, right = a.merge(b, LABELS).merge(c, LABELS), a.merge(b.merge(c, LABELS), LABELS)
    assert left == right == c.merge(a, LABELS).merge(b, LABELS)
    assert len(left) == 40
    assert a.merge(None, LABELS) is None


def test_merging_maps_the_labels_of_the_other_sample_and_keeps_the_smaller_size():
    a, b = sample_of(X[:200], size=300, salt=1), sample_of(X[200:], size=90, salt=2)
    found = a.merge(b, np.arange(200, 400))
    assert found.size == len(found) == 90
    np.testing.assert_array_equal(found.rows, X[found.labels])
    assert found.threshold <= b.threshold


def test_a_merged_sample_continues_with_the_numbers_of_the_first():
    a, b = sample_of(X[:200], size=60, salt=1), sample_of(X[200:300], size=60, salt=2)
    once = a.merge(b, np.arange(200, 300)).add(X[300:], ONES[300:], LABELS[300:])
    late = a.add(X[300:], ONES[300:], LABELS[300:]).merge(b, np.arange(200, 300))
    assert once == late
    assert once.position == late.position == 300


def test_the_head_equals_a_smaller_sample():
    assert sample_of(size=80).head(30) == sample_of(size=30)
    short = sample_of(size=80)
    assert short.head(80) is short
    assert sample_of(X[:20]).head(30) == sample_of(X[:20])


@pytest.mark.parametrize("size", [1, 8, 9])
def test_the_head_of_a_sample_with_equal_keys_leaves_out_all_of_them(size):
    merged = sample_of().merge(sample_of(), LABELS)  # every key occurs twice
    shorter = merged.head(size)
    assert len(shorter) == size // 2 * 2
    assert shorter.threshold == merged.keys[size]


@pytest.mark.parametrize(("heaviest", "n_searches"), [(1.0, 1), (1e9, 2)])
def test_a_guessed_threshold_does_not_change_the_sample(heaviest, n_searches, monkeypatch):
    weights = np.append(heaviest, ONES[1:])
    expected = RowSample.empty(X, 50, 7)._search(weights, math.inf)
    searches, search = [], RowSample._search
    record = lambda self, *args: searches.append(args) or search(self, *args)  # noqa: E731
    monkeypatch.setattr(RowSample, "_search", record)
    found = sample_of(weights=weights)
    assert len(searches) == n_searches
    np.testing.assert_array_equal(found.labels, expected[0][np.argsort(expected[1])])
    assert found.threshold == expected[2]


def test_scaling_changes_weights_but_not_probabilities():
    weights = np.random.default_rng(0).random(len(X))
    sample = sample_of(weights=weights)
    found = sample.scale(8.0)
    np.testing.assert_array_equal(found.rows, sample.rows)
    np.testing.assert_array_equal(found.probabilities, sample.probabilities)
    assert found == sample_of(weights=8 * weights)


@pytest.mark.parametrize(("factor", "n_left"), [(2.0**-300, 300), (2.0**-1000, 0), (0.0, 0)])
def test_rows_whose_weight_becomes_zero_are_left_out(factor, n_left):
    weights = np.where(LABELS < 100, 1.0, 1e200)
    sample = sample_of(weights=weights, size=len(X))
    for _ in range(4):
        sample = sample.scale(factor)
        assert (sample.weights > 0).all()
        assert np.isfinite(sample.keys).all()
    np.testing.assert_array_equal(np.sort(sample.labels), LABELS[len(X) - n_left :])


def test_relabeling_maps_labels_and_drops_rows_without_a_center():
    labels = np.where(LABELS % 2, LABELS // 2, -1)
    found, sample = sample_of().relabel(labels), sample_of()
    kept = sample.labels % 2 == 1
    np.testing.assert_array_equal(found.rows, sample.rows[kept])
    np.testing.assert_array_equal(found.labels, sample.labels[kept] // 2)
    assert found.threshold == sample.threshold


def test_removing_rows_leaves_the_others_with_the_same_threshold():
    sample = sample_of()
    found = sample.remove(X[:150], ONES[:150], 250.0)
    kept = sample.labels >= 150
    np.testing.assert_array_equal(found.rows, sample.rows[kept])
    np.testing.assert_array_equal(found.keys, sample.keys[kept])
    assert found.threshold == sample.threshold
    later = found.add(X[:150], ONES[:150], LABELS[:150])  # numbered starting at 400
    assert len(later) <= 50
    assert later.threshold <= sample.threshold


def test_removing_rows_one_by_one_equals_removing_them_at_once():
    weights = np.random.default_rng(0).random(len(X)) + 0.1
    once = sample_of(weights=weights).remove(X[:200], weights[:200], weights[200:].sum())
    step = sample_of(weights=weights)
    for i in range(200):
        step = step.remove(X[i : i + 1], weights[i : i + 1], weights[i + 1 :].sum())
    assert step == once


@pytest.mark.parametrize("size", [50, 400])
@pytest.mark.parametrize("one_by_one", [True, False])
@pytest.mark.parametrize("change", ["rounded", "shifted", "weights"])
def test_the_sample_is_lost_if_rows_are_not_recognized(size, one_by_one, change):
    rows, weights = {
        "rounded": (X.astype(np.float32), ONES),
        "shifted": (X + 1e-9, ONES),
        "weights": (X, 1.001 * ONES),
    }[change]
    sample = sample_of(size=size)
    for part in np.array_split(LABELS[:390], 390 if one_by_one else 1):
        if sample is not None:
            sample = sample.remove(rows[part], weights[part], 399.0 - part[-1])
    assert sample is None


@pytest.mark.parametrize("size", [1000, 1500])
def test_the_sample_is_lost_if_it_is_unknown_which_copies_were_sampled(size):
    copies = np.concatenate([datasets.blobs(2000, 3)] * 2)
    sample = sample_of(copies, size=size)
    assert sample.remove(copies[:2000], np.ones(2000), 2000.0) is None


@pytest.mark.parametrize("chunk", [1, 5, 100])
def test_forgetting_copies_a_few_at_a_time_does_not_bias_the_sample(chunk):
    """One copy of each of many rows is forgotten; the sampled copy may be another one."""
    rows = np.repeat(datasets.blobs(2000, 3), 10, axis=0)
    sample, total = sample_of(rows, size=400), 20_000.0
    for part in np.array_split(np.arange(0, 20_000, 10), 2000 // chunk):
        total -= len(part)
        sample = sample.remove(rows[part], np.ones(len(part)), total)
        if sample is None:
            break
        assert sample.removed - sample.expected < 20  # 5% of the sample
    assert sample is None


def test_forgetting_distinct_rows_one_by_one_keeps_the_sample():
    for salt in range(20):
        sample = sample_of(size=100, salt=salt)
        for i in range(300):
            sample = sample.remove(X[i : i + 1], ONES[:1], 399.0 - i)
        assert sample.removed == 100 - len(sample)
        assert sample.expected == pytest.approx(
            300 * sample_of(salt=salt, size=100).probabilities[0]
        )


def test_removing_all_copies_of_a_row_is_exact():
    rows = np.concatenate([X, X])
    sample = sample_of(rows, size=100)
    gone = np.concatenate([X[:100], X[:100]])
    found = sample.remove(gone, np.ones(200), 600.0)
    kept = sample.labels % 400 >= 100
    np.testing.assert_array_equal(found.labels, sample.labels[kept])


def test_negative_zeros_and_the_dtype_do_not_matter_when_removing_rows():
    rows = np.round(X).astype(np.float32)
    found = sample_of(rows, size=400).remove(np.where(rows == 0, -0.0, rows)[:50], ONES[:50], 350.0)
    assert len(found) == 350
    assert found.rows.dtype == np.float32


def test_operations_do_not_modify_the_sample():
    sample = sample_of()
    before = pickle.dumps(sample)
    sample.add(X, ONES, LABELS)
    sample.merge(sample_of(salt=1), LABELS)
    sample.remove(X[:150], ONES[:150], 250.0)
    sample.relabel(LABELS - 100)
    sample.scale(3.0)
    sample.head(5)
    assert pickle.dumps(sample) == before
    with pytest.raises(ValueError, match="read-only"):
        sample.rows[0] = 0


def test_samples_are_equal_if_they_contain_the_same_rows():
    sample = sample_of()
    assert pickle.loads(pickle.dumps(sample)) == sample == sample_of()
    assert sample != sample_of(salt=8)
    assert sample != sample_of(size=49)
    assert sample != sample_of(labels=LABELS[::-1])
    assert sample != replace(sample, threshold=2 * sample.threshold)
    assert sample != sample_of(X + 1e-9)
    assert sample != 1
    with pytest.raises(TypeError, match="unhashable"):
        hash(sample)


def test_invalid_samples_are_rejected():
    sample = sample_of()
    with pytest.raises(ValueError, match="keys must have shape"):
        replace(sample, keys=sample.keys[1:])
    with pytest.raises(ValueError, match="keys must be ascending"):
        replace(sample, keys=sample.keys[::-1].copy())
    with pytest.raises(ValueError, match="below the threshold"):
        replace(sample, threshold=float(sample.keys[-1]))


# ------------------------------------------------------------------ densities


def shadow(**options):
    return ShadowDensity(Gaussian(3.0), 3.0, **options)


@pytest.mark.parametrize("size", [50, 2000])
@pytest.mark.parametrize("weighted", [False, True])
def test_streaming_and_forgetting_give_the_same_sample_as_a_batch(size, weighted):
    weights = np.random.default_rng(0).random(len(X)) + 0.1 if weighted else ONES
    batch = shadow(sample_size=size).fit(X, sample_weight=weights)
    stream = shadow(sample_size=size)
    for rows in np.array_split(LABELS, 7):
        stream.partial_fit(X[rows], sample_weight=weights[rows])
    found, expected = stream.reduced_set_.sample, batch.reduced_set_.sample
    assert found == expected
    assert len(found) == min(size, len(X))
    salt = salt_of(X[:1], 0)
    assert found == sample_of(X, weights, batch.labels_, size=size, salt=salt)
    stream.partial_fit(X[:50] + 0.01).forget(X[:50] + 0.01)
    assert set(map(tuple, stream.reduced_set_.sample.rows)) <= set(map(tuple, X))
    if size > len(X):
        assert stream.reduced_set_.sample == expected


def test_labels_of_the_sample_are_those_of_the_rows():
    density = shadow(sample_size=100).fit(X)
    sample = density.reduced_set_.sample
    rows = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in sample.rows]
    np.testing.assert_array_equal(sample.labels, density.labels_[rows])
    density.forget(X[:200])
    s = density.reduced_set_
    assert np.linalg.norm(s.sample.rows - s.centers[s.sample.labels], axis=1).max() < s.radius


@pytest.mark.parametrize("one_by_one", [True, False])
def test_forgetting_rounded_rows_drops_the_sample_as_the_certificate_reports(one_by_one):
    model = ReducedSetKernelPCA(2, density=shadow(sample_size=100)).fit(X)
    assert model.certificate_.embedding is not None
    for rows in np.array_split(X[:380].astype(np.float32), 380 if one_by_one else 1):
        model.forget(rows)
    assert model.reduced_set_.sample is None
    assert model.certificate_.embedding is None
    assert "no row sample was kept" in model.certificate_.level("sample").missing


def test_the_random_state_determines_the_sample():
    one, same, other = (
        shadow(sample_size=50, random_state=seed).fit(X).reduced_set_.sample for seed in (1, 1, 2)
    )
    assert one == same != other


def test_merging_with_a_set_without_a_sample_drops_the_sample():
    s = shadow().fit(X).reduced_set_
    bare = replace(s, sample=None)
    assert s.merge(bare).sample is None
    assert bare.merge(s).sample is None


def test_a_sample_size_of_zero_keeps_none():
    off = shadow(sample_size=0).fit(X).partial_fit(X).forget(X[:5])
    assert off.reduced_set_.sample is None
    for size in (-1, 2.5, "many"):
        with pytest.raises(ValueError, match="sample_size must be an integer of at least 0"):
            shadow(sample_size=size).fit(X)


def test_a_sample_of_other_features_or_centers_is_rejected():
    sample = sample_of(size=20)
    with pytest.raises(ValueError, match="sample has 3 features, but centers have 2"):
        ReducedSet(X[:, :2], ONES, sample=sample)
    with pytest.raises(ValueError, match="indices of the centers"):
        ReducedSet(X[:5], ONES[:5], sample=sample)
