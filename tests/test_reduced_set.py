"""Test ReducedSet: validation, immutability, merging and coarsening."""

import copy
import pickle
from dataclasses import FrozenInstanceError, replace
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rskpca import Gaussian, ReducedSet, ShadowDensity
from tests import datasets

C = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
W = np.array([3.0, 1.0, 0.5])


def shadow(X, radius=0.5, **kwargs):
    return ShadowDensity(Gaussian(4 * radius), ell=4.0).fit(X, **kwargs).reduced_set_


# ------------------------------------------------------------------------- the object


def test_attributes_and_derived_values_are_available():
    s = ReducedSet(C, W, radius=0.25)
    assert (s.n_centers, s.n_features, s.n_samples, s.radius) == (3, 2, 4.5, 0.25)
    assert repr(s) == "ReducedSet(3 centers for 4.5 points, 2 features, radius 0.25)"
    assert "unknown" in repr(ReducedSet(C, W))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"centers": np.empty((0, 2)), "weights": np.empty(0)}, "centers must have shape"),
        ({"centers": np.zeros(3)}, "centers must have shape"),
        ({"centers": np.empty((3, 0))}, "centers must have shape"),
        ({"centers": C * np.nan}, "centers must be finite"),
        ({"centers": C + np.inf}, "centers must be finite"),
        ({"centers": C * 1j}, "centers"),
        ({"centers": [["a", "b"]] * 3}, "centers|string"),
        ({"weights": W[:2]}, r"weights must have one number per center, shape \(3,\)"),
        ({"weights": W[:, None]}, r"weights must have one number per center"),
        ({"weights": W * 0}, "weights must be positive"),
        ({"weights": -W}, "weights must be finite and non-negative"),
        ({"weights": W * np.nan}, "weights must be finite"),
        ({"weights": W * 1j}, "weights"),
        ({"n_samples": 5.0}, r"weights must sum to n_samples=5\.0, got 4\.5"),
        ({"n_samples": np.nan}, "weights must sum to n_samples"),
        ({"radius": -1.0}, r"radius must be None or non-negative, got -1\.0"),
        ({"radius": np.nan}, "radius must be None or non-negative, got nan"),
        ({"spacing": -1.0}, "spacing must be None or non-negative"),
        ({"displacement": W[:1]}, "displacement must have one number per center"),
        ({"scatter": -W}, "scatter must be finite and non-negative"),
    ],
)
def test_invalid_arguments_are_rejected(change, message):
    with pytest.raises(ValueError, match=message):
        ReducedSet(**{"centers": C, "weights": W, **change})


@pytest.mark.parametrize("name", ["centers", "weights", "radius", "n_samples", "displacement"])
def test_a_reduced_set_is_frozen(name):
    with pytest.raises(FrozenInstanceError):
        setattr(ReducedSet(C, W), name, None)


@pytest.mark.parametrize("name", ["centers", "weights", "displacement", "scatter"])
def test_arrays_are_read_only(name):
    array = getattr(shadow(datasets.blobs(50, 2)), name)
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1.0


def test_arrays_are_copied_if_the_caller_can_write_to_them():
    centers, weights = C.copy(), W.copy()
    s = ReducedSet(centers, weights)
    centers[:], weights[:] = 9.0, 9.0
    np.testing.assert_array_equal(s.centers, C)
    np.testing.assert_array_equal(s.weights, W)


def test_arrays_are_copied_if_a_read_only_view_has_a_writable_base():
    centers = C.copy()
    view = centers.view()
    view.flags.writeable = False
    s = ReducedSet(view, W)
    centers[:] = 9.0
    np.testing.assert_array_equal(s.centers, C)


def test_the_flags_of_the_input_are_not_modified():
    centers = C.copy()
    ReducedSet(centers, W)
    assert centers.flags.writeable


@pytest.mark.parametrize(
    ("given_dtype", "kept"),
    [(np.float32, np.float32), (np.float64, np.float64), (np.int64, np.float64)],
)
def test_centers_keep_floating_dtypes_and_integers_become_float64(given_dtype, kept):
    s = ReducedSet(C.astype(given_dtype), W.astype(np.float32))
    assert s.centers.dtype == kept
    assert s.weights.dtype == np.float64


def test_equality_is_bitwise():
    s = shadow(datasets.blobs(50, 2))
    assert s == copy.deepcopy(s) == pickle.loads(pickle.dumps(s))
    assert s != replace(s, weights=np.nextafter(s.weights, 1e9))
    assert s != replace(s, scatter=None, displacement=None)
    assert s != replace(s, centers=s.centers.astype(np.float32))
    assert s != "something else"


@pytest.mark.parametrize("name", ["displacement", "scatter"])
def test_displacement_and_scatter_must_be_given_together(name):
    with pytest.raises(ValueError, match="displacement and scatter must be given together"):
        ReducedSet(np.zeros((1, 1)), np.ones(1), **{name: np.ones(1)})


# ------------------------------------------------------------------------------ merge


def nearest(X, s):
    return np.sqrt(((X[:, None] - s.centers) ** 2).sum(axis=2))


def test_merging_adds_weights_and_keeps_the_spacing():
    a, b = shadow(datasets.blobs(300, 2)), shadow(datasets.blobs(200, 2, seed=1))
    merged = a.merge(b)
    assert merged.n_samples == 500
    assert merged.weights.sum() == 500
    assert merged.spacing == 0.5
    gaps = nearest(merged.centers, merged) + 9 * np.eye(merged.n_centers)
    assert gaps.min() >= 0.5
    assert merged.n_centers < a.n_centers + b.n_centers


def assign_through_merges(X, parts):
    """Return the center of each row after all merges by following the weights."""
    densities = [ShadowDensity(Gaussian(2.0), ell=4.0).fit(part) for part in parts]
    sets = [density.reduced_set_ for density in densities]
    homes = [density.reduced_set_.centers[density.labels_] for density in densities]
    return sets, homes


def center_after_merge(home, before, merged, spacing):
    """Return the first center within the spacing, or the point itself if there is none."""
    distances = np.sqrt(((home[:, None] - before.centers) ** 2).sum(axis=2))
    within = distances < spacing
    first = np.where(within.any(axis=1), within.argmax(axis=1), -1)
    return np.where(first[:, None] >= 0, before.centers[first], home)


@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(2, 80), st.integers(2, 80))
@settings(max_examples=60)
def test_merged_bounds_are_valid_for_the_data(seed, d, n_first, n_second):
    X = 1.5 * np.random.default_rng(seed).normal(size=(n_first + n_second, d))
    (a, b), (home_a, home_b) = assign_through_merges(X, (X[:n_first], X[n_first:]))
    merged = a.merge(b)
    homes = np.concatenate([home_a, center_after_merge(home_b, a, merged, 0.5)])
    distances = np.linalg.norm(X - homes, axis=1)
    assert distances.max() <= merged.radius * (1 + 1e-12)
    assert merged.radius < a.radius + b.radius
    which = np.argmin(nearest(homes, merged), axis=1)
    np.testing.assert_array_equal(merged.centers[which], homes)
    np.testing.assert_array_equal(merged.weights, np.bincount(which))
    true_displacement = np.bincount(which, weights=distances)
    true_scatter = np.bincount(which, weights=distances**2)
    assert np.all(merged.displacement >= true_displacement * (1 - 1e-12))
    assert np.all(merged.scatter >= true_scatter * (1 - 1e-12))
    assert np.all(merged.displacement <= merged.weights * merged.radius * (1 + 1e-12))


def test_bounds_of_a_tree_of_eight_sets_are_valid_for_the_data():
    X = datasets.blobs(2000, 2)
    level = [shadow(part) for part in np.array_split(X, 8)]
    radii = [level[0].radius]
    while len(level) > 1:
        level = [a.merge(b) for a, b in zip(level[::2], level[1::2], strict=True)]
        radii.append(max(s.radius for s in level))
    (tree,) = level
    assert tree.n_samples == 2000
    assert np.all(np.diff(radii) > 0)
    assert tree.radius < 4 * 0.5  # each of the three levels adds less than one spacing
    assert nearest(X, tree).min(axis=1).max() <= tree.radius
    true = np.sum(nearest(X, tree).min(axis=1) ** 2)
    assert tree.scatter.sum() >= true
    assert tree.spacing == 0.5


def test_sequential_merging_at_most_doubles_the_radius():
    """Each part is moved only once, when it is merged into the growing set."""
    parts = [shadow(part) for part in np.array_split(datasets.blobs(2000, 2), 8)]
    assert reduce(ReducedSet.merge, parts).radius < 2 * 0.5


def test_no_centers_are_merged_without_a_spacing():
    merged = ReducedSet(C, W).merge(ReducedSet(C, W))
    assert merged.n_centers == 6
    assert merged.radius is merged.spacing is merged.displacement is merged.scatter is None


def test_merging_exact_sets_gives_an_exact_set():
    X = datasets.blobs(40, 2)
    a, b = (ShadowDensity(Gaussian(1.0), ell=np.inf).fit(x).reduced_set_ for x in (X[:15], X[15:]))
    merged = a.merge(b)
    np.testing.assert_array_equal(merged.centers, X)
    assert merged.radius == 0
    assert not merged.scatter.any()


def test_the_smaller_spacing_is_used():
    X = datasets.blobs(400, 2)
    fine, coarse = shadow(X[:200], 0.2), shadow(X[200:], 1.0)
    for merged in (fine.merge(coarse), coarse.merge(fine)):
        assert merged.spacing == 0.2
        assert merged.radius >= 1.0
        assert nearest(X, merged).min(axis=1).max() <= merged.radius


def test_merging_float32_with_float64_gives_float64():
    X = datasets.blobs(60, 2)
    a, b = shadow(X[:30].astype(np.float32)), shadow(X[30:])
    assert a.merge(b).centers.dtype == b.merge(a).centers.dtype == np.float64
    assert a.merge(a).centers.dtype == np.float32


def test_merging_modifies_neither_set():
    a, b = shadow(datasets.blobs(60, 2)), shadow(datasets.blobs(60, 2, seed=1))
    before = copy.deepcopy((a, b))
    a.merge(b)
    assert (a, b) == before


def test_sets_with_different_features_cannot_be_merged():
    with pytest.raises(ValueError, match="cannot merge sets with 2 and 3 features"):
        ReducedSet(C, W).merge(ReducedSet(np.zeros((1, 3)), [1.0]))


def test_only_reduced_sets_can_be_merged():
    with pytest.raises(TypeError, match="other must be a ReducedSet, got ndarray"):
        ReducedSet(C, W).merge(C)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_a_copy_is_read_only(again):
    s = again(shadow(datasets.blobs(50, 2)))
    for array in (s.centers, s.weights, s.displacement, s.scatter, s.residue):
        assert not array.flags.writeable


# ------------------------------------------------------------------------- coarsening


def test_coarsening_merges_each_center_into_the_first_within_the_spacing():
    s = ReducedSet(
        np.array([[0.0], [1.0], [2.5], [3.0]]), np.array([1.0, 2.0, 3.0, 4.0]), 0.25, spacing=0.5,
        displacement=np.full(4, 0.1), scatter=np.full(4, 0.02),
    )  # fmt: skip
    coarse, labels = s.coarsen(1.5)
    np.testing.assert_array_equal(labels, [0, 0, 1, 1])
    np.testing.assert_array_equal(coarse.centers, [[0.0], [2.5]])
    np.testing.assert_array_equal(coarse.weights, [3.0, 7.0])
    assert (coarse.radius, coarse.spacing, coarse.n_samples) == (1.25, 1.5, 10.0)
    np.testing.assert_allclose(coarse.displacement, [0.2 + 2 * 1.0, 0.2 + 4 * 0.5])
    np.testing.assert_allclose(
        coarse.scatter, [0.04 + 2 * 0.1 + 2.0, 0.04 + 2 * 0.5 * 0.1 + 4 * 0.25]
    )


def test_coarsening_leaves_unknown_bounds_unknown():
    coarse, _ = ReducedSet(C, W).coarsen(1.5)
    assert coarse.n_centers == 2
    assert coarse.radius is coarse.displacement is coarse.scatter is None


@pytest.mark.parametrize("spacing", [0, -1.0, np.nan, np.inf, None])
def test_coarsening_requires_a_spacing(spacing):
    with pytest.raises(ValueError, match="spacing must be a positive, finite number"):
        ReducedSet(C, W).coarsen(spacing)
