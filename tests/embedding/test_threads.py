"""Test that several threads can safely update and use the same estimator."""

import copy
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from rskpca import (
    DiffusionMaps,
    FadingDensity,
    Gaussian,
    KernelPCA,
    KernelPCANovelty,
    NystromKernelPCA,
    ReducedSetKernelPCA,
    ShadowDensity,
    WindowDensity,
    load,
    save,
)
from rskpca.density.window import WindowStream
from rskpca.embedding import drop_in
from rskpca.embedding._sizing import full_error
from rskpca.model import FittedModel
from tests import datasets

ROWS = datasets.blobs(6000, 2)
CHUNKS = np.split(ROWS, 60)
SHADOW = ShadowDensity(Gaussian(4.0), ell=3.0)
STREAMS = {
    "shadow": SHADOW,
    "window": WindowDensity(10_000, SHADOW),
    "fading": FadingDensity(1e9, SHADOW),
    "kernel PCA": ReducedSetKernelPCA(3, density=SHADOW),
    "window PCA": ReducedSetKernelPCA(3, density=WindowDensity(10_000, SHADOW)),
    "nystrom": NystromKernelPCA(3, bandwidth=4.0, n_centers=30),
    "drop-in": KernelPCA(3, kernel=Gaussian(4.0)),
    "novelty": KernelPCANovelty(ReducedSetKernelPCA(3, density=SHADOW)),
}


@pytest.fixture(params=STREAMS)
def stream(request):
    return clone(STREAMS[request.param]).partial_fit(CHUNKS[0])


def total_weight(estimator):
    """Return the number of rows that an estimator has counted."""
    if isinstance(estimator, NystromKernelPCA):
        return estimator._moments_.total
    if isinstance(estimator, KernelPCANovelty | KernelPCA):
        return total_weight(estimator.embedding_)
    return estimator.reduced_set_.n_samples


@pytest.fixture
def frequent_switches():
    """Switch between threads often, so that unprotected updates would overlap."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("frequent_switches")
def test_no_rows_are_lost_if_several_threads_add_them(stream):
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(stream.partial_fit, CHUNKS[1:]))
    assert total_weight(stream) == pytest.approx(len(ROWS), rel=1e-5)


@pytest.mark.usefixtures("frequent_switches")
@pytest.mark.parametrize("name", ["shadow", "window", "kernel PCA", "window PCA", "novelty"])
def test_rows_can_be_added_and_removed_at_the_same_time(name):
    stream = clone(STREAMS[name]).partial_fit(ROWS[:3000])

    def replace(pair):
        stream.partial_fit(pair[0])
        stream.forget(pair[1])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(replace, zip(CHUNKS[30:], CHUNKS[:30], strict=True)))
    assert total_weight(stream) == 3000


@pytest.mark.parametrize("name", ["kernel PCA", "window PCA", "nystrom", "novelty"])
def test_a_solution_that_becomes_outdated_while_it_is_computed_is_not_stored(name, monkeypatch):
    """Rows arrive after the summary has been read and before the solution is stored."""
    stream = clone(STREAMS[name]).partial_fit(CHUNKS[0])
    solver = type(stream.embedding_ if name == "novelty" else stream)
    solve = solver._solve

    def solve_during_an_update(self, summary):
        monkeypatch.setattr(solver, "_solve", solve)
        model = solve(self, summary)
        stream.partial_fit(CHUNKS[1] + 3.0)
        return model

    monkeypatch.setattr(solver, "_solve", solve_during_an_update)
    _ = stream.model_
    expected = clone(STREAMS[name]).partial_fit(CHUNKS[0]).partial_fit(CHUNKS[1] + 3.0)
    np.testing.assert_array_equal(stream.model_.eigenvalues, expected.model_.eigenvalues)
    assert stream.model_.offset == expected.model_.offset


def test_an_error_that_becomes_outdated_while_it_is_computed_is_not_stored(monkeypatch):
    """Rows that the points of the approximation do not represent arrive before it is stored."""
    stream = clone(STREAMS["drop-in"]).partial_fit(CHUNKS[0])

    def estimate_during_an_update(model):
        monkeypatch.setattr(drop_in, "full_error", full_error)
        error = full_error(model)
        stream.partial_fit(CHUNKS[1] + 20.0)
        return error

    monkeypatch.setattr(drop_in, "full_error", estimate_during_an_update)
    assert stream.error_ < 0.02  # of the rows before the update
    with pytest.warns(UserWarning, match=r"max_error=0\.02 was not reached for all rows"):
        stream.transform(CHUNKS[0])
    with pytest.warns(UserWarning, match="was not reached for all rows"):
        expected = clone(stream).partial_fit(CHUNKS[0]).partial_fit(CHUNKS[1] + 20.0).error_
    assert stream.error_ == expected > 0.02


@pytest.mark.filterwarnings("ignore:Only 3 of the 4 requested components")
@pytest.mark.filterwarnings("ignore:max_error=0.02 was not reached for all rows")
def test_the_number_of_columns_does_not_change_if_rows_arrive_during_transform(monkeypatch):
    """With the new rows, a component that had no variance becomes positive."""
    few = np.repeat([[3.0, 0.0], [0.0, 3.0], [1.0, 2.0], [5.0, 5.0]], 30, axis=0)
    stream = KernelPCA(4, kernel=Gaussian(2.0)).partial_fit(few)
    embed = FittedModel.embed

    def embed_during_an_update(model, X):
        monkeypatch.setattr(FittedModel, "embed", embed)
        Z = embed(model, X)
        stream.partial_fit(CHUNKS[0])
        return Z

    monkeypatch.setattr(FittedModel, "embed", embed_during_an_update)
    Z = stream.transform(few)
    assert Z.shape == (120, 4)
    assert not Z[:, 3].any()
    assert stream.eigenvalues_[3] > 0


def test_an_estimated_error_is_copied_and_saved_with_its_model(tmp_path):
    stream = clone(STREAMS["drop-in"]).partial_fit(CHUNKS[0])
    error = stream.error_
    save(stream, tmp_path / "stream")
    copies = copy.copy(stream), copy.deepcopy(stream), pickle.loads(pickle.dumps(stream))
    for same in (*copies, load(tmp_path / "stream")):
        assert same._error_ == error
        assert same.partial_fit(CHUNKS[1])._error_ is None
    assert stream.partial_fit(CHUNKS[1]).error_ != error
    assert copy.copy(stream)._error_ == stream.error_


def test_a_reduced_set_that_becomes_outdated_while_it_is_computed_is_not_stored(monkeypatch):
    density = WindowDensity(10_000, SHADOW).partial_fit(CHUNKS[0])
    compute = WindowStream.reduced_set

    def compute_during_an_update(stream):
        monkeypatch.setattr(WindowStream, "reduced_set", compute)
        reduced_set = compute(stream)
        density.partial_fit(CHUNKS[1])
        return reduced_set

    monkeypatch.setattr(WindowStream, "reduced_set", compute_during_an_update)
    assert density.reduced_set_.n_samples == 100
    assert density.reduced_set_.n_samples == 200


@pytest.mark.parametrize("n_components", [5, 200])
def test_results_are_bitwise_equal_for_any_number_of_threads_with_up_to_1024_centers(n_components):
    X = datasets.blobs(1000, 5)
    models = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            models.append(ReducedSetKernelPCA(n_components, bandwidth=4.0, ell=np.inf).fit(X))
    one, two = models
    assert one.n_centers_ == 1000
    assert one.reduced_set_ == two.reduced_set_
    np.testing.assert_array_equal(one.eigenvalues_, two.eigenvalues_)
    np.testing.assert_array_equal(one.transform(X), two.transform(X))


def test_fitted_models_can_be_used_in_other_processes():
    models = [stream.fit(ROWS[:500]) for stream in map(clone, STREAMS.values())]
    embeddings = [model for model in models if hasattr(model, "transform")]
    new = datasets.blobs(50, 2, seed=9)
    found = joblib.Parallel(2, backend="loky")(
        joblib.delayed(model.transform)(new) for model in embeddings
    )
    for model, Z in zip(embeddings, found, strict=True):
        np.testing.assert_allclose(Z, model.transform(new), atol=1e-14)


@pytest.mark.parametrize(
    "estimator",
    [
        NystromKernelPCA(5, landmarks="means", n_centers=200),
        ReducedSetKernelPCA(5, ell=3.0, refine="nystrom"),
        DiffusionMaps(3, bandwidth=6.0, ell=2.0),  # at most 1,024 centers
    ],
    ids=["means", "refined", "walk"],
)
def test_estimated_errors_are_bitwise_equal_for_any_number_of_threads(estimator):
    X = datasets.blobs(4_000, 8)
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            certificate = clone(estimator).fit(X).certificate_
            found.append((*certificate.embedding, *np.ravel(certificate.eigenvalues)))
    np.testing.assert_array_equal(*found)


def test_fast_limits_are_bitwise_equal_for_any_number_of_threads():
    X = datasets.blobs(4_000, 8)
    limits = set()
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            model = NystromKernelPCA(5, landmarks="means", n_centers=200).fit(X).model_
            limits.add(model.analysis.embedding_limit(0.95, fast=True))
    assert len(limits) == 1
