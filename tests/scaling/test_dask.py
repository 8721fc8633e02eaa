"""Test results, graphs and errors for Dask collections with single-machine schedulers."""

import pickle
import sys

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.utils import key_split
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rskpca import (
    DiffusionMaps,
    Gaussian,
    KernelPCANovelty,
    LaplacianEigenmaps,
    NormalizedCut,
    NystromKernelPCA,
    ReducedSetKernelPCA,
    ShadowDensity,
)
from rskpca.density import _counting
from rskpca.embedding.blocks import BlockFit
from rskpca.scaling.dask import fit, predict, score_samples, transform
from tests import datasets
from tests.density.test_blocks import first_within
from tests.states import fitted_state

X = datasets.blobs(3000, 3)
BLOCKS = da.from_array(X, chunks=(170, 3))
FRAME = pd.DataFrame(X, columns=["a", "b", "c"], index=np.arange(5000, 8000))
PARTITIONS = dd.from_pandas(FRAME, npartitions=7)
ESTIMATOR = ReducedSetKernelPCA(3, ell=3.0)
BANDWIDTH = {
    ReducedSetKernelPCA: {"bandwidth": 0.5},
    DiffusionMaps: {"bandwidth": 0.5},
    NormalizedCut: {"bandwidth": 0.5},
}


@pytest.fixture(autouse=True)
def _local_scheduler():
    with dask.config.set(scheduler="synchronous"):
        yield


def reduced_set_of(model):
    return getattr(model, "embedding_", model).reduced_set_


def without_lengths(array):
    """Return the same array with unknown block lengths."""
    columns = [f"x{i}" for i in range(array.shape[1])]
    return dd.from_dask_array(array, columns=columns).to_dask_array()


@pytest.mark.parametrize(
    "estimator", [ReducedSetKernelPCA(2), KernelPCANovelty(), DiffusionMaps(), NormalizedCut(2)]
)
@pytest.mark.parametrize("block_rows", [300, 3000])
def test_blocks_that_do_not_compress_are_rejected_early(monkeypatch, estimator, block_rows):
    monkeypatch.setattr(_counting, "MOST_CENTERS", 400)
    noise = np.random.default_rng(0).uniform(size=(3000, 24))
    read = []
    blocks = da.from_array(noise, chunks=(block_rows, 24)).map_blocks(
        lambda block: read.append(1) or block, meta=noise[:0]
    )
    with pytest.raises(ValueError, match=r"do not compress at this radius: .* rows became centers"):
        fit(clone(estimator).set_params(**BANDWIDTH.get(type(estimator), {})), blocks)
    if block_rows == 300:
        n_passes = 2 if isinstance(estimator, KernelPCANovelty) else 1  # the median needs a pass
        assert len(read) < 10 * n_passes


def test_the_advice_for_blocks_that_do_not_compress_can_be_followed(monkeypatch):
    monkeypatch.setattr(_counting, "MOST_CENTERS", 400)
    noise = da.from_array(np.random.default_rng(0).uniform(size=(3000, 24)), chunks=(300, 24))
    with pytest.raises(ValueError, match=r'NystromKernelPCA\(2, landmarks="auto"\), which needs'):
        fit(ReducedSetKernelPCA(2, bandwidth=0.5), noise)
    fit(NystromKernelPCA(2, bandwidth=2.0, landmarks="auto", max_error=0.5), noise)
    with pytest.raises(ValueError, match="or fit a sample of the rows in memory"):
        fit(DiffusionMaps(2, bandwidth=0.5), noise)


def test_the_settings_of_blocks_are_small_even_if_the_estimator_was_fitted():
    shadow = BlockFit.of(clone(ESTIMATOR).fit(X), X).shadow
    assert len(pickle.dumps(shadow)) < 2_000


def test_a_density_of_blocks_may_have_many_centers(monkeypatch):
    monkeypatch.setattr(_counting, "MOST_CENTERS", 400)
    density = fit(ShadowDensity(Gaussian(0.1), ell=4.0), BLOCKS[:600])
    assert density.reduced_set_.n_centers > 400


def test_all_rows_are_within_epsilon_of_a_center():
    model = fit(clone(ESTIMATOR), BLOCKS)
    found, radius = model.reduced_set_, model.kernel_.bandwidth / 3.0
    labels, _ = first_within(X, found.centers, radius)
    np.testing.assert_array_equal(found.weights, np.bincount(labels))
    assert (found.radius, found.n_samples) == (radius, len(X))


def assert_sampled(found, size=2000):
    """Check that sampled rows are distinct rows of the data, within the radius of their center."""
    rows, known = ({row.tobytes() for row in some} for some in (found.sample.rows, X))
    assert len(found.sample) == len(rows) == min(size, len(X))
    assert rows <= known
    distances = np.linalg.norm(found.sample.rows - found.centers[found.sample.labels], axis=1)
    assert distances.max() < found.radius


def test_the_bandwidth_equals_that_of_a_local_fit():
    model, alone = fit(clone(ESTIMATOR), BLOCKS), clone(ESTIMATOR).fit(X)
    assert model.kernel_.bandwidth == alone.kernel_.bandwidth


@pytest.mark.parametrize("size", [40, 2000, 5000])
def test_the_sample_is_bounded_and_contains_all_rows_if_there_are_few(size):
    density = ShadowDensity(ell=3.0, sample_size=size)
    found = fit(density, BLOCKS).reduced_set_
    assert_sampled(found, size)
    assert (found.sample.threshold == np.inf) == (size == 5000)
    expected = found.sample.weights @ (1 / found.sample.probabilities)
    assert abs(expected - len(X)) <= 5 * len(X) / np.sqrt(size)


def test_the_sample_of_a_cluster_gives_nearly_the_same_certificate():
    model, alone = fit(clone(ESTIMATOR), BLOCKS), clone(ESTIMATOR).fit(X)
    found, expected = model.certify(X), alone.certify(X)
    assert found.embedding.estimate == pytest.approx(expected.embedding.estimate, rel=0.5)
    for certificate in (found, expected):
        measured = certificate.level("measured")
        assert measured.operator <= certificate.level("sample").operator <= 1.25 * measured.operator


@pytest.mark.parametrize("scheduler", ["threads", "synchronous"])
def test_results_do_not_depend_on_the_scheduler(scheduler):
    """The compared results include the row sample."""
    expected = fit(clone(ESTIMATOR), BLOCKS).reduced_set_
    assert expected.sample is not None
    with dask.config.set(scheduler=scheduler, num_workers=3):
        assert fit(clone(ESTIMATOR), BLOCKS).reduced_set_ == expected


@pytest.mark.parametrize(
    "estimator",
    [
        ShadowDensity(ell=3.0),
        ReducedSetKernelPCA(3, ell=3.0, refine="nystrom", basis=30),
        DiffusionMaps(2, ell=3.0),
        LaplacianEigenmaps(2, ell=3.0),
        NormalizedCut(4, ell=3.0),
        KernelPCANovelty(ReducedSetKernelPCA(3, ell=3.0, random_state=4)),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_every_estimator_with_a_shadow_density_can_be_fitted(estimator):
    model, alone = fit(clone(estimator), BLOCKS), clone(estimator).fit(X)
    assert_sampled(reduced_set_of(model))
    assert reduced_set_of(model).n_samples == len(X)
    for function in (transform, predict, score_samples):
        if hasattr(model, function.__name__):
            found, here = function(model, BLOCKS), getattr(model, function.__name__)(X)
            assert found.chunks[0] == BLOCKS.chunks[0]
            np.testing.assert_allclose(found.compute(), here, rtol=1e-9, atol=1e-12)
            theirs = getattr(alone, function.__name__)(X)
            assert np.mean(np.abs(here - theirs)) < 0.05 * np.ptp(theirs)


def test_a_single_pass_keeps_the_larger_radius_of_the_merge_tree():
    once, twice = fit(clone(ESTIMATOR), BLOCKS, one_pass=True), fit(clone(ESTIMATOR), BLOCKS)
    found, epsilon = once.reduced_set_, twice.reduced_set_.radius
    assert epsilon < found.radius <= 3 * epsilon  # 18 blocks are merged in two levels
    assert (found.n_samples, found.spacing) == (len(X), epsilon)
    np.testing.assert_array_equal(found.sample.keys, twice.reduced_set_.sample.keys)
    assert_sampled(found)
    looser, tighter = once.certificate_, twice.certificate_
    assert looser.level("a priori").operator > tighter.level("a priori").operator
    with pytest.raises(ValueError, match="this model was merged"):
        once.forget(X[:1])


def test_the_fitted_model_is_an_ordinary_model():
    model = pickle.loads(pickle.dumps(fit(clone(ESTIMATOR), BLOCKS)))
    assert b"dask" not in pickle.dumps(model)
    before = model.reduced_set_
    model.partial_fit(X[:50]).forget(X[:50])
    np.testing.assert_array_equal(model.reduced_set_.weights, before.weights)
    model.forget(X[1:])
    np.testing.assert_array_equal(model.reduced_set_.centers, X[:1])


def test_integer_weights_are_equivalent_to_repeated_rows():
    repeats = np.random.default_rng(1).integers(0, 4, len(X))
    lengths = tuple(int(part.sum()) for part in np.split(repeats, np.arange(170, 3000, 170)))
    repeated = da.from_array(np.repeat(X, repeats, axis=0), chunks=(lengths, 3))
    expected = fit(clone(ESTIMATOR), repeated)
    for weights in (repeats, da.from_array(repeats, chunks=999), repeats.tolist()):
        model = fit(clone(ESTIMATOR), BLOCKS, sample_weight=weights)
        assert model.kernel_.bandwidth == expected.kernel_.bandwidth
        for name in ("centers", "weights"):
            found, wanted = (getattr(m.reduced_set_, name) for m in (model, expected))
            assert np.all(found == wanted)


def test_fractional_weights_are_supported():
    weights = np.random.default_rng(1).uniform(0, 2, len(X)) * (X[:, 0] > 0)
    model = fit(clone(ESTIMATOR), BLOCKS, sample_weight=da.from_array(weights, chunks=170))
    alone = clone(ESTIMATOR).fit(X, sample_weight=weights)
    assert model.reduced_set_.n_samples == pytest.approx(weights.sum(), rel=1e-14)
    assert model.kernel_.bandwidth == pytest.approx(alone.kernel_.bandwidth, rel=0.1)
    assert (model.reduced_set_.centers[:, 0] > 0).all()


def test_the_bandwidth_is_computed_from_all_rows_if_there_are_few():
    weights = np.random.default_rng(1).uniform(0.5, 2, 90)
    model = fit(clone(ESTIMATOR), BLOCKS[:90].rechunk(20), sample_weight=weights)
    alone = clone(ESTIMATOR).fit(X[:90], sample_weight=weights)
    assert model.kernel_.bandwidth == alone.kernel_.bandwidth


def test_empty_blocks_and_blocks_of_unknown_length_have_no_effect():
    expected = fit(clone(ESTIMATOR), BLOCKS).reduced_set_
    unknown = without_lengths(BLOCKS)
    assert np.isnan(unknown.shape[0])
    assert fit(clone(ESTIMATOR), unknown).reduced_set_ == expected
    filtered = dd.from_pandas(FRAME.assign(row=FRAME.index), npartitions=9)
    filtered = filtered[filtered.row >= 6000][["a", "b", "c"]]
    model, rows = fit(clone(ESTIMATOR), filtered), FRAME[FRAME.index >= 6000]
    assert model.kernel_.bandwidth == clone(ESTIMATOR).fit(rows).kernel_.bandwidth
    assert model.reduced_set_.n_samples == len(rows)
    assert len(transform(model, filtered).compute()) == len(rows)


def test_columns_that_are_split_into_chunks_are_rechunked():
    cut = BLOCKS.rechunk((170, 2))
    model = fit(clone(ESTIMATOR), cut)
    assert model.reduced_set_ == fit(clone(ESTIMATOR), BLOCKS).reduced_set_
    assert transform(model, cut).numblocks == (18, 1)


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_dtypes_equal_those_of_a_local_fit(dtype):
    blocks, rows = (10 * BLOCKS).astype(dtype), (10 * X).astype(dtype)
    model, alone = fit(clone(ESTIMATOR), blocks), clone(ESTIMATOR).fit(rows)
    assert model.reduced_set_.centers.dtype == alone.reduced_set_.centers.dtype
    lazy, here = transform(model, blocks), alone.transform(rows)
    assert lazy.dtype == lazy.compute().dtype == here.dtype


def test_a_data_frame_keeps_its_names_index_and_partitions():
    model = fit(clone(ESTIMATOR), PARTITIONS)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    coordinates = transform(model, PARTITIONS)
    assert list(coordinates.columns) == list(model.get_feature_names_out())
    assert coordinates.npartitions == 7
    found = coordinates.compute()
    pd.testing.assert_index_equal(found.index, FRAME.index)
    np.testing.assert_allclose(found, model.transform(FRAME), atol=1e-12)
    scores = score_samples(model, PARTITIONS).compute()
    pd.testing.assert_index_equal(scores.index, FRAME.index)
    with pytest.raises(ValueError, match="feature names"):
        transform(model, PARTITIONS[["b", "a", "c"]])


def test_weights_for_a_data_frame_may_be_a_series():
    frame = PARTITIONS.assign(w=PARTITIONS.a.abs())
    model = fit(clone(ESTIMATOR), frame[["a", "b", "c"]], sample_weight=frame.w)
    assert model.reduced_set_.n_samples == pytest.approx(FRAME.a.abs().sum(), rel=1e-14)


@pytest.mark.parametrize("kind", ["array", "frame"])
def test_lazy_results_use_the_model_at_the_time_of_the_call(kind):
    rows, collection = (X, BLOCKS) if kind == "array" else (FRAME, PARTITIONS)
    model = fit(ReducedSetKernelPCA(2, bandwidth=4.0, ell=3.0), collection)
    lazy, before = transform(model, collection), model.transform(rows)
    model.partial_fit(rows[:1500] + 5)
    assert np.abs(model.transform(rows) - before).max() > 0.1
    np.testing.assert_allclose(lazy.compute(), before, atol=1e-12)


@pytest.mark.parametrize("walk", [False, True])
def test_pipelines_and_scalers_can_be_applied(walk):
    last = DiffusionMaps(2, ell=3.0, bandwidth=0.5) if walk else ReducedSetKernelPCA(2, ell=3.0)
    pipeline = make_pipeline(StandardScaler(), last).fit(FRAME + 1000)
    for model in (pipeline, StandardScaler().fit(FRAME)):
        found = transform(model, PARTITIONS + 1000)
        assert list(found.columns) == list(model.get_feature_names_out())
        np.testing.assert_allclose(found.compute(), model.transform(FRAME + 1000), atol=1e-9)


def test_a_detector_fitted_to_a_data_frame_does_not_warn():
    """A warning would fail this test, because pytest turns warnings into errors."""
    model = fit(KernelPCANovelty(ReducedSetKernelPCA(3, ell=3.0)), PARTITIONS)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    np.testing.assert_array_equal(predict(model, PARTITIONS).compute(), model.predict(FRAME))


def test_columns_with_different_dtypes_are_promoted():
    frame = FRAME.astype({"a": np.float32, "b": np.float32, "c": np.int16})
    partitions = dd.from_pandas(frame, npartitions=3)
    lazy = transform(fit(clone(ESTIMATOR), partitions), partitions)
    assert list(lazy.dtypes) == list(lazy.compute().dtypes)


def test_the_model_output_may_be_set_to_pandas():
    model = fit(clone(ESTIMATOR), PARTITIONS).set_output(transform="pandas")
    assert transform(model, PARTITIONS).compute().shape == (3000, 3)


def test_transform_is_lazy():
    def fail(block):
        raise AssertionError("computed")

    model = fit(clone(ESTIMATOR), BLOCKS)
    lazy = transform(model, BLOCKS.map_blocks(fail, meta=np.empty((0, 3))))
    with pytest.raises(AssertionError, match="computed"):
        lazy.compute()


def test_tasks_are_named_by_stage():
    seen = set()

    class Watch(dask.callbacks.Callback):
        def _pretask(self, key, graph, state):
            seen.add(key_split(key))

    with Watch():
        fit(ReducedSetKernelPCA(3, ell=3.0, refine="nystrom"), BLOCKS)
    stages = {f"rskpca-{name}" for name in ("sample", "cover", "merge", "count", "join", "refine")}
    assert stages <= seen


class TestErrors:
    def assert_rejected(self, X, message, error=ValueError, estimator=ESTIMATOR, **options):
        model = clone(ESTIMATOR).fit(datasets.blobs(200, 3))
        before = fitted_state(model)
        model.set_params(**estimator.get_params())
        with pytest.raises(error, match=message):
            fit(model, X, **options)
        assert fitted_state(model) == before

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    @pytest.mark.parametrize("bandwidth", ["median", 4.0])
    def test_an_invalid_row_is_reported_with_its_location(self, bad, bandwidth):
        rows = X.copy()
        rows[170 * 4 + 33, 2] = bad
        blocks = da.from_array(rows, chunks=(170, 3))
        estimator = clone(ESTIMATOR).set_params(bandwidth=bandwidth)
        self.assert_rejected(
            blocks, r"block 4: row 33 contains NaN or infinity", estimator=estimator
        )
        model = fit(clone(ESTIMATOR), BLOCKS)
        with pytest.raises(ValueError, match=r"block 4: row 33 contains NaN"):
            transform(model, blocks).compute()
        frame = dd.from_dask_array(blocks, columns=["a", "b", "c"])
        lazy = transform(fit(clone(ESTIMATOR), PARTITIONS), frame)
        for part in (lazy, lazy.partitions[4]):
            with pytest.raises(ValueError, match=r"partition from index 680: row 33 contains NaN"):
                part.compute()

    def test_text_in_a_data_frame_is_rejected(self):
        frame = dd.from_pandas(FRAME.assign(c="word"), npartitions=3)
        self.assert_rejected(frame, r"block [0-2]: could not convert string to float")

    @pytest.mark.parametrize("data", [X, FRAME, [[1.0]], None])
    def test_in_memory_data_are_rejected(self, data):
        self.assert_rejected(data, r"X must be a dask.array or a dask.dataframe", TypeError)

    def test_unsupported_collections_are_rejected(self):
        self.assert_rejected(dask.delayed(X), r"X must be a dask.array", TypeError)
        self.assert_rejected(PARTITIONS.a, r"X must be a dask.array", TypeError)
        self.assert_rejected(
            BLOCKS[:, 0], r"X must have two dimensions and a known number of columns"
        )
        self.assert_rejected(
            BLOCKS.astype(complex), r"X must contain real numbers, got dtype complex128"
        )

    def test_data_without_rows_are_rejected(self):
        self.assert_rejected(BLOCKS[:0], r"X has no row with positive weight")
        self.assert_rejected(BLOCKS, r"X has no row", sample_weight=da.zeros(3000, chunks=170))

    def test_invalid_weights_are_rejected(self):
        self.assert_rejected(BLOCKS, r"shape \(3000,\)", sample_weight=np.ones(2999))
        self.assert_rejected(BLOCKS, r"shape \(3000,\)", sample_weight=da.ones(2999))
        self.assert_rejected(
            BLOCKS, r"one number per row, got 2 dim", sample_weight=da.ones((3000, 1))
        )
        self.assert_rejected(BLOCKS, r"must be non-negative", sample_weight=-np.ones(3000))
        unknown = without_lengths(BLOCKS)
        self.assert_rejected(
            unknown, r"call X.compute_chunk_sizes\(\)", sample_weight=np.ones(3000)
        )
        self.assert_rejected(
            unknown, r"has 2 blocks, but X has 18", sample_weight=da.ones(3000, chunks=1500)
        )
        self.assert_rejected(
            unknown, r"block \d+: sample_weight must have", sample_weight=da.ones(3600, chunks=200)
        )

    def test_invalid_weights_of_a_data_frame_are_rejected(self):
        lengths = r"X.to_dask_array\(lengths=True\)"
        self.assert_rejected(PARTITIONS, lengths, sample_weight=np.ones(3000))
        self.assert_rejected(PARTITIONS, lengths, sample_weight=da.ones(3000, chunks=1500))
        delayed = dask.delayed(np.ones(3000))
        self.assert_rejected(
            BLOCKS, r"sample_weight must be.*got Delayed", TypeError, sample_weight=delayed
        )

    def test_parameters_are_checked_before_any_work(self):
        def fail(block):
            raise AssertionError("computed")

        lazy = BLOCKS.map_blocks(fail, meta=np.empty((0, 3)))
        auto = ShadowDensity(ell="auto", tol=0.1)
        for estimator, message in (
            (ReducedSetKernelPCA(0), "n_components must be"),
            (ReducedSetKernelPCA(2, density=auto), "requires all rows in memory"),
            (ReducedSetKernelPCA(2, ell=np.inf), "keeps every row"),
        ):
            self.assert_rejected(lazy, message, estimator=estimator)
        self.assert_rejected(lazy, "one_pass must be", one_pass=1)
        self.assert_rejected(lazy, "patience must be", patience=0)
        with pytest.raises(TypeError, match="NystromKernelPCA cannot be fitted in blocks"):
            fit(NystromKernelPCA(2, landmarks=5, extension="data"), lazy)

    def test_rows_that_change_between_the_passes_are_reported(self):
        rng = np.random.default_rng(0)

        def other_rows(block):
            return block[: rng.integers(1, len(block))]

        moving = BLOCKS.map_blocks(other_rows, meta=np.empty((0, 3)), chunks=((np.nan,) * 18, 3))
        estimator = ReducedSetKernelPCA(2, bandwidth=4.0)
        self.assert_rejected(moving, r"must contain the same rows every time", estimator=estimator)

    def test_unsuitable_models_are_rejected(self):
        model = fit(clone(ESTIMATOR), BLOCKS)
        with pytest.raises(ValueError, match=r"X has 2 features, but ReducedSetKernelPCA was fitt"):
            transform(model, BLOCKS[:, :2])
        with pytest.raises(TypeError, match=r"ReducedSetKernelPCA has no predict"):
            predict(model, BLOCKS)
        with pytest.raises(Exception, match=r"not fitted"):
            transform(clone(ESTIMATOR), BLOCKS)

    def test_the_error_without_dask_names_the_extra_to_install(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "dask", None)
        with pytest.raises(ImportError, match=r'pip install "\.\[dask\]"'):
            fit(clone(ESTIMATOR), X)


def test_a_density_can_be_fitted_and_applied():
    density = fit(ShadowDensity(Gaussian(4.0), ell=2.0), BLOCKS)
    assert (density.ell_, density.kernel_.bandwidth) == (2.0, 4.0)
    np.testing.assert_allclose(
        score_samples(density, BLOCKS).compute(), density.score_samples(X), rtol=1e-12
    )
