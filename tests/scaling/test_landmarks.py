"""Test that landmark models of files and streams equal those of data in memory."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rskpca import KernelPCANovelty, NystromKernelPCA, ShadowDensity, scaling
from rskpca.data import open_source
from rskpca.embedding import landmark_blocks
from rskpca.io import load
from tests import datasets
from tests.data.cases import KINDS, make_input
from tests.dense import assert_equal_up_to_sign

RNG = np.random.default_rng(0)
X = datasets.blobs(3_000, 6) @ RNG.normal(size=(6, 6))
SORTED = X[np.argsort(X[:, 0])]  # the first block is not representative
ESTIMATORS = [
    NystromKernelPCA(3, landmarks="means", n_centers=40),
    NystromKernelPCA(3, landmarks="means", n_centers=40, n_axes=3, center=False),
    NystromKernelPCA(3, landmarks=40),
    NystromKernelPCA(3, landmarks="rpcholesky", n_centers=40, bandwidth=9.0),
    NystromKernelPCA(3, landmarks="means", max_error=0.01),
    NystromKernelPCA(3, landmarks="auto", max_error=0.05, random_state=3),
    NystromKernelPCA(3, landmarks=ShadowDensity(ell=2.0)),
    NystromKernelPCA(3, landmarks=X[::100]),
]
MEANS, SEARCHED = ESTIMATORS[0], ESTIMATORS[4]
LIKE_ITERATORS = {kind for kind in KINDS if kind.startswith("iterator")}


def assert_same(model, expected, rows=SORTED):
    np.testing.assert_array_equal(model.landmarks_, expected.landmarks_)
    np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-9)
    assert_equal_up_to_sign(model.model_.embed(rows), expected.model_.embed(rows), 1e-8)
    assert model.model_.reduced_set.sample == expected.model_.reduced_set.sample


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_the_model_of_a_source_equals_that_of_fit(estimator):
    expected = clone(estimator).fit(SORTED)
    for block_rows in (3_000, 701):
        model = scaling.fit(estimator, open_source(SORTED, block_rows=block_rows))
        assert_same(model, expected)
        assert repr(model) == repr(estimator)
    assert "landmarks_" not in vars(estimator)


@pytest.mark.parametrize("kind", sorted(set(KINDS) - LIKE_ITERATORS))
def test_every_kind_of_input_gives_the_same_landmarks(tmp_path, kind):
    rows = SORTED[:, :3].copy()
    model = scaling.fit(MEANS, make_input(kind, tmp_path, rows))
    assert_same(model, clone(MEANS).fit(rows), rows)


def test_single_precision_is_preserved():
    single = SORTED.astype(np.float32)
    estimator = NystromKernelPCA(3, landmarks=40)
    model, expected = scaling.fit(estimator, single), clone(estimator).fit(single)
    np.testing.assert_array_equal(model.landmarks_, expected.landmarks_)
    assert model.landmarks_.dtype == model.transform(single).dtype == np.float32


@pytest.mark.parametrize("estimator", [MEANS, SEARCHED], ids=repr)
@pytest.mark.parametrize("unit", [1.0, 0.37])
def test_a_weight_column_is_used_as_the_sample_weight(estimator, unit):
    weights = RNG.integers(0, 4, size=len(X)) * unit
    weights[100:300] = 0  # blocks with zero weight
    frame = pd.DataFrame(SORTED, columns=list("abcdef")).assign(count=weights)
    model = scaling.fit(estimator, open_source(frame, weight="count", block_rows=50))
    assert_same(model, clone(estimator).fit(SORTED, sample_weight=weights))


def test_landmarks_are_chosen_from_all_rows():
    model = scaling.fit(MEANS, open_source(SORTED, block_rows=200))
    once = scaling.fit(MEANS, open_source(iter(np.array_split(SORTED, 15)), block_rows=200))
    assert model.landmarks_[:, 0].max() > 0.5 * SORTED[-1, 0]
    assert once.landmarks_[:, 0].max() <= SORTED[199, 0] + 1e-9
    assert model.certificate_.embedding.limit < once.certificate_.embedding.estimate


def test_detectors_and_pipelines_use_the_same_landmarks():
    source = open_source(SORTED, block_rows=500)
    detector = scaling.fit(KernelPCANovelty(MEANS), source)
    expected = KernelPCANovelty(MEANS).fit(SORTED)
    scores = expected.score_samples(SORTED)
    np.testing.assert_allclose(detector.score_samples(SORTED), scores, atol=1e-9)
    pipeline = make_pipeline(StandardScaler(), SEARCHED)
    model, expected = scaling.fit(pipeline, source), clone(pipeline).fit(SORTED)
    Z = expected.transform(SORTED)
    assert_equal_up_to_sign(model.transform(SORTED), Z, 1e-7)


def test_the_model_can_be_updated():
    model = scaling.fit(MEANS, SORTED)
    model.forget(SORTED[:1_000]).partial_fit(SORTED[:1_000])
    assert_equal_up_to_sign(model.transform(X), clone(MEANS).fit(SORTED).transform(X), 1e-8)


def test_landmarks_are_chosen_from_a_limited_number_of_candidates(monkeypatch):
    monkeypatch.setattr(landmark_blocks, "_CANDIDATE_VALUES", 6)
    monkeypatch.setattr(landmark_blocks, "_FEWEST_CANDIDATES", 700)
    source, taken = open_source(SORTED, block_rows=500), []
    take = source.take
    source.take = lambda rows: taken.append(len(rows)) or take(rows)
    model = scaling.fit(SEARCHED, source)
    assert model.certificate_.embedding.limit <= 0.01
    assert taken[0] == 1_000  # for the median
    assert set(taken[1:]) == {700}
    assert model.model_.reduced_set.n_samples == 3_000


# --------------------------------------------------------------------- a target error


@pytest.fixture
def too_few(monkeypatch):
    """Make the first search return only every eighth landmark that it finds."""
    find = landmark_blocks.choose_landmarks

    def choose(estimator, rows):
        chosen = find(estimator, rows)
        basis = landmark_blocks.Basis(chosen.landmarks.points[::8], chosen.landmarks.subspace)
        return landmark_blocks.with_basis(chosen, basis)

    monkeypatch.setattr("rskpca.scaling.fitting.choose_landmarks", choose)


@pytest.mark.usefixtures("too_few")
def test_another_pass_reaches_an_error_that_the_first_pass_missed():
    seen = []
    source = open_source(SORTED, block_rows=1_000)
    model = scaling.fit(SEARCHED, source, progress=lambda rows, n_centers: seen.append(rows))
    assert model.certificate_.embedding.limit <= 0.01
    assert len(seen) >= 6
    assert seen[:6] == [1_000, 2_000, 3_000, 1_000, 2_000, 3_000]
    assert model.model_.reduced_set.n_samples == 3_000


class StoppedError(Exception):
    pass


@pytest.mark.usefixtures("too_few")
@pytest.mark.parametrize("stop", [0, 1, 3, 4, 5])
def test_a_fit_with_several_passes_resumes_from_a_checkpoint(tmp_path, stop):
    source, saved, seen = open_source(SORTED, block_rows=1_000), tmp_path / "checkpoint", []

    def watch(rows, n_centers):
        seen.append(rows)
        if len(seen) == stop + 1:
            raise StoppedError

    options = {"checkpoint": saved, "checkpoint_every": 0}
    with pytest.raises(StoppedError):
        scaling.fit(SEARCHED, source, progress=watch, **options)
    kept = load(saved)["model"].landmarks
    assert isinstance(kept, landmark_blocks.Basis)
    model = scaling.fit(SEARCHED, source, progress=watch, **options)
    expected = scaling.fit(SEARCHED, source)
    np.testing.assert_array_equal(model.landmarks_, expected.landmarks_)
    np.testing.assert_array_equal(model.eigenvalues_, expected.eigenvalues_)
    assert repr(model) == repr(SEARCHED)
    again = scaling.fit(
        SEARCHED, source, progress=lambda *_: pytest.fail("the data were read again"), **options
    )
    np.testing.assert_array_equal(again.eigenvalues_, expected.eigenvalues_)


def test_a_target_error_that_a_single_pass_misses_gives_a_warning():
    source = open_source(iter(np.array_split(SORTED, 15)), block_rows=200)
    with pytest.warns(UserWarning, match=r"max_error=0\.01 was not reached.*first block"):
        scaling.fit(SEARCHED, source)


def test_a_target_error_that_no_basis_reaches_gives_a_warning(monkeypatch):
    monkeypatch.setattr("rskpca.embedding._sizing._MOST", 30)
    estimator = clone(SEARCHED).set_params(max_error=1e-4)
    with pytest.warns(UserWarning, match=r"max_error=0\.0001 was not reached with the largest"):
        model = scaling.fit(estimator, SORTED)
    assert model.n_centers_ == 30


# --------------------------------------------------------------------- invalid input


def test_too_many_landmarks_are_reported():
    for landmarks in ("means", "uniform", "rpcholesky"):
        estimator = NystromKernelPCA(2, landmarks=landmarks, n_centers=3_001)
        with pytest.raises(ValueError, match="n_centers must be at most 3000"):
            scaling.fit(estimator, SORTED)
    constant = np.ones((500, 3))
    with pytest.raises(ValueError, match=r"but the sampled rows have only 1 distinct|are equal"):
        scaling.fit(NystromKernelPCA(2, bandwidth=1.0, landmarks="means", n_centers=9), constant)
