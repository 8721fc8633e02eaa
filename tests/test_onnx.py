"""Test that ONNX graphs give the same results in onnxruntime as the models do in Python."""

import json
import sys

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from onnx.reference import ReferenceEvaluator
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

import rskpca
from rskpca import (
    DiffusionMaps,
    KernelPCA,
    KernelPCANovelty,
    LaplacianEigenmaps,
    NormalizedCut,
    NystromKernelPCA,
    RadialKernel,
    ReducedSetKernelPCA,
    select_reduced_set,
)
from rskpca.baselines import (
    SparseKernelPCA,
    SubsampledKernelPCA,
    WeightedNystromKernelPCA,
    compress_map,
)
from rskpca.kernels import as_kernel
from rskpca.onnx import to_onnx
from rskpca.spectral import FittedOperator, solve
from tests import datasets

TOLERANCE = {"float32": 1e-5, "float64": 1e-10}
DTYPES = list(TOLERANCE)
KERNELS = ["gaussian", "laplacian"]

MODELS = {
    "plain": lambda **k: ReducedSetKernelPCA(4, center=False, **k),
    "centered": lambda **k: ReducedSetKernelPCA(4, **k),
    "exact": lambda **k: ReducedSetKernelPCA(4, ell=np.inf, **k),
    "two scales": lambda **k: ReducedSetKernelPCA(4, basis="auto", **k),
    "refined": lambda **k: ReducedSetKernelPCA(4, refine="nystrom", **k),
    "many refined": lambda **k: ReducedSetKernelPCA(40, refine="nystrom", **k),
    "nystrom": lambda **k: NystromKernelPCA(4, landmarks=100, **k),
    "nystrom not centered": lambda **k: NystromKernelPCA(4, landmarks=50, center=False, **k),
    "nystrom through data": lambda **k: NystromKernelPCA(4, landmarks=50, extension="data", **k),
    "weighted nystrom": lambda **k: WeightedNystromKernelPCA(4, n_centers=30, **k),
    "subsampled": lambda **k: SubsampledKernelPCA(4, n_centers=50, **k),
    "sparse": lambda **k: SparseKernelPCA(4, n_centers=20, **k),
    "diffusion 0": lambda **k: DiffusionMaps(4, alpha=0.0, **k),
    "diffusion 1/2": lambda **k: DiffusionMaps(4, alpha=0.5, t=2.5, **k),
    "diffusion 1": lambda **k: DiffusionMaps(4, t="auto", **k),
    "diffusion on a basis": lambda **k: DiffusionMaps(4, basis="auto", **k),
    "laplacian": lambda **k: LaplacianEigenmaps(4, **k),
    "laplacian with self-affinity": lambda **k: LaplacianEigenmaps(4, self_affinity=True, **k),
    "laplacian on a basis": lambda **k: LaplacianEigenmaps(4, basis=60, **k),
    "laplacian of neighbors": lambda **k: LaplacianEigenmaps(4, graph=12, **k),
    "laplacian with a cut-off": lambda **k: LaplacianEigenmaps(4, graph=7.0, **k),
    "cut": lambda **k: NormalizedCut(3, **k),
    "cut by rotation": lambda **k: NormalizedCut(3, assign_labels="discretize", graph=20, **k),
    "cut by pivots": lambda **k: NormalizedCut(3, assign_labels="cluster_qr", basis=60, **k),
    "drop-in": lambda **k: KernelPCA(4, kernel=as_kernel(**k), max_error=0.05),
    "novelty": lambda **k: KernelPCANovelty(ReducedSetKernelPCA(8, **k)),
}


def train(dtype="float64", shift=0.0):
    return (datasets.blobs(300, 3) + shift).astype(dtype)


def rows(dtype="float64", shift=0.0):
    """Return new points, and training points, which have a center at distance zero."""
    both = np.vstack([datasets.blobs(60, 3, seed=9), datasets.blobs(300, 3)[:60]])
    return (both + shift).astype(dtype)


def run_graph(graph, X) -> dict[str, np.ndarray]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(graph.SerializeToString(), options)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": X}), strict=True))


def metadata(graph) -> dict[str, str]:
    return {entry.key: entry.value for entry in graph.metadata_props}


def assert_same_results(model, X):
    """Compare the graph with the model in the dtype of X."""
    tolerance = TOLERANCE[X.dtype.name]
    for method, got in run_graph(to_onnx(model, dtype=X.dtype), X).items():
        expected = getattr(model, method)(X)
        if method == "predict":
            np.testing.assert_array_equal(got, expected)
            continue
        assert got.shape == expected.shape
        assert got.dtype == X.dtype
        np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance * np.abs(expected).max())


def assert_near_float64(model, X):
    """Compare coordinates with float64 results, relative to the size of each component."""
    got = run_graph(to_onnx(model, dtype=X.dtype), X)["transform"]
    expected = model.transform(X.astype(np.float64))
    error, size = np.abs(got - expected).max(axis=0), np.abs(expected).max(axis=0)
    assert np.all(error <= TOLERANCE[X.dtype.name] * size)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", MODELS)
def test_every_model_gives_the_same_results_as_in_python(name, kernel, dtype):
    model = MODELS[name](kernel=kernel).fit(train(dtype))
    assert_same_results(model, rows(dtype))
    if hasattr(model, "transform"):
        assert_near_float64(model, rows(dtype))


@pytest.mark.parametrize("compress", [select_reduced_set, compress_map])
@pytest.mark.parametrize("dtype", DTYPES)
def test_compressed_models_give_the_same_results_as_in_python(compress, dtype):
    model = ReducedSetKernelPCA(3).fit(train(dtype))
    assert_same_results(compress(model, 15), rows(dtype))


# --------------------------------------------------------------------------------- accuracy


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("shift", [1e3, 1e6])
@pytest.mark.parametrize("name", ["centered", "laplacian", "novelty"])
def test_results_are_accurate_for_data_far_from_the_origin(name, shift, kernel, dtype):
    model = MODELS[name](kernel=kernel).fit(train(dtype, shift))
    assert_same_results(model, rows(dtype, shift))


def far_clumps(dtype):
    """Return clumps of unit size a thousand apart, within which the product form cancels."""
    X = train() + 1000 * (np.arange(300) % 3)[:, None]
    return X.astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_results_are_accurate_for_clumps_a_thousand_bandwidths_apart(kernel, dtype):
    """The error of ``transform`` itself is 2e-5 in float32."""
    X = far_clumps(dtype)
    assert_near_float64(ReducedSetKernelPCA(4, kernel=kernel, bandwidth=1.0).fit(X), X)


def test_the_product_form_alone_is_not_accurate_enough(monkeypatch):
    X = far_clumps("float64")
    model = ReducedSetKernelPCA(4, kernel="laplacian", bandwidth=1.0).fit(X)
    from rskpca.onnx import kernel_values

    def unsplit(x, c, grid, offset):
        squares = kernel_values._squares
        return kernel_values._product(x, squares(x), c, squares(c))

    monkeypatch.setattr(kernel_values, "_split_product", unsplit)
    Z = model.transform(X)
    assert np.abs(run_graph(to_onnx(model, dtype=X.dtype), X)["transform"] - Z).max() > 1e-9


def test_graphs_compute_in_float32_if_it_is_accurate_enough():
    X = train("float32")
    assert metadata(to_onnx(ReducedSetKernelPCA(2).fit(X)))["arithmetic"] == "float32"
    cancelling = ReducedSetKernelPCA(40, refine="nystrom").fit(X)
    for model in (cancelling, LaplacianEigenmaps(2, graph=9).fit(X)):
        assert metadata(to_onnx(model))["arithmetic"] == "float64"
    double = ReducedSetKernelPCA(2).fit(X.astype(np.float64))
    assert metadata(to_onnx(double, dtype=np.float64))["arithmetic"] == "float64"


@pytest.mark.parametrize("dtype", DTYPES)
def test_points_far_from_all_centers_get_the_same_results_as_in_python(dtype):
    X = train(dtype)
    far = np.array([[1e3, 0, 0], [1e30, -1e30, 0], [np.finfo(dtype).max] * 3], dtype)
    for model in (ReducedSetKernelPCA(2).fit(X), KernelPCANovelty().fit(X)):
        assert_same_results(model, far)
    found = run_graph(to_onnx(DiffusionMaps(2).fit(X), dtype=dtype), far)
    np.testing.assert_array_equal(found["transform"], 0)


@pytest.mark.parametrize("name", ["centered", "diffusion 1", "laplacian of neighbors"])
def test_a_row_with_nan_has_nan_coordinates(name):
    X = rows()
    X[3, 1] = np.nan
    found = run_graph(to_onnx(MODELS[name]().fit(train()), dtype=X.dtype), X)["transform"]
    assert np.isnan(found[3]).all()
    assert np.isfinite(np.delete(found, 3, axis=0)).all()


# --------------------------------------------------------------------------------- subspaces


def means(n_centers=30, **options):
    return NystromKernelPCA(4, landmarks="means", n_centers=n_centers, n_axes=6, **options)


LONG = {
    "means": means,
    "means not centered": lambda **k: means(center=False, **k),
    "novelty": lambda **k: KernelPCANovelty(means(**k)),
    "scaled": lambda **k: make_pipeline(StandardScaler(), means(**k)),
}


def long_rows(dtype="float64", shift=0.0, seed=0):
    """Return rows with 20 features whose variances decrease."""
    return (datasets.blobs(200, 20, seed=seed) * 0.8 ** np.arange(20) + shift).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("shift", [0.0, 1e3])
@pytest.mark.parametrize("name", LONG)
def test_models_in_a_subspace_give_the_same_results_as_in_python(name, shift, kernel, dtype):
    model = LONG[name](kernel=kernel).fit(long_rows(dtype, shift))
    assert_same_results(model, np.vstack([long_rows(dtype, shift, seed) for seed in (0, 1)]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_rows_in_the_subspace_are_accurate(kernel, dtype):
    """The distance of a center from the subspace, and from itself, is zero."""
    model = means(kernel=kernel).fit(long_rows(dtype))
    X = model.basis_.astype(dtype)
    assert_same_results(model, X)
    assert_near_float64(model, X)


@pytest.mark.parametrize("kernel", KERNELS)
def test_clumps_in_a_subspace_far_from_each_other_are_accurate(kernel):
    X = long_rows() + 1000 * (np.arange(200) % 3)[:, None]
    assert_near_float64(means(kernel=kernel, bandwidth=3.0).fit(X), X)


def test_compressed_models_in_a_subspace_give_the_same_results_as_in_python():
    small = select_reduced_set(means(60).fit(long_rows()), 20)
    assert small.eigensystem_.subspace is not None
    assert_same_results(small, long_rows(seed=1))


def test_a_graph_of_a_model_in_a_subspace_stores_coordinates_instead_of_points():
    model = means(100).fit(long_rows())
    graph = to_onnx(model, dtype=np.float64)
    sizes = [np.prod(tensor.dims) for tensor in graph.graph.initializer]
    n, d, width, r = *model.basis_.shape, 7, 4  # six axes and the distance from their span
    assert sorted(sizes)[-3:] == sorted([n * width, n * r, d * width])


# --------------------------------------------------------------------------------- walks


@pytest.mark.parametrize("graph", [None, 4, 2.0])
@pytest.mark.filterwarnings("ignore:The affinities")
def test_eigenfunctions_with_negative_eigenvalues_are_extended(graph):
    X = datasets.blobs(12, 2)
    model = LaplacianEigenmaps(9, bandwidth=2.0, ell=np.inf, graph=graph).fit(X)
    assert (model.eigenvalues_ < 0).any()
    assert_same_results(model, np.vstack([X, X + 0.01]))


def test_centers_may_have_a_weight_below_one():
    X = train()
    weights = np.random.default_rng(0).uniform(0.05, 1.5, size=len(X))
    model = LaplacianEigenmaps(3).fit(X, sample_weight=weights)
    assert np.ptp(model.eigensystem_.operator.loop) > 0
    assert_same_results(model, rows())


@pytest.mark.parametrize("graph", [5, 3, 1.0, 2**0.5])
@pytest.mark.filterwarnings("ignore:The affinities")
def test_ties_between_neighbors_on_a_lattice_are_broken_as_in_python(graph):
    side = np.arange(7.0)
    X = np.array([(x, y) for x in side for y in side]) + 1000.1
    model = LaplacianEigenmaps(3, bandwidth=1.5, ell=np.inf, graph=graph).fit(X)
    assert_same_results(model, np.vstack([X, X + 0.5]))


@pytest.mark.parametrize("basis", [None, 30])
def test_distant_points_are_assigned_to_the_cluster_of_the_nearest_center(basis):
    X = train()
    model = NormalizedCut(3, basis=basis).fit(X)
    far = np.vstack([1e4 * X[:40], rows()])
    found = run_graph(to_onnx(model, dtype=np.float64), far)
    np.testing.assert_array_equal(found["predict"], model.predict(far))
    np.testing.assert_array_equal(found["transform"][:40], 0)


# --------------------------------------------------------------------------------- graphs


KINDS = ["centered", "diffusion 1", "laplacian", "laplacian of neighbors", "cut", "novelty"]


@pytest.mark.parametrize("name", [*KINDS, "laplacian with a cut-off", "cut by pivots"])
def test_a_graph_accepts_any_number_of_rows(name):
    graph = to_onnx(MODELS[name]().fit(train()), dtype=np.float64)
    for count in (0, 1):
        found = run_graph(graph, rows()[:count])
        assert {len(values) for values in found.values()} == {count}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", KINDS)
def test_a_graph_uses_standard_operators_and_tensors_of_at_most_two_dimensions(name, kernel):
    graph = to_onnx(MODELS[name](kernel=kernel).fit(train()))
    onnx.checker.check_model(graph, full_check=True)
    assert [(o.domain, o.version) for o in graph.opset_import] == [("", 18)]
    assert all(node.domain == "" for node in graph.graph.node)
    inferred = onnx.shape_inference.infer_shapes(graph, strict_mode=True, data_prop=True)
    shapes = [value.type.tensor_type.shape.dim for value in inferred.graph.value_info]
    assert shapes
    assert max(len(shape) for shape in shapes) <= 2


def test_the_points_are_stored_only_once():
    model = ReducedSetKernelPCA(2, bandwidth=1.0).fit(datasets.blobs(500, 40))
    size = to_onnx(model, dtype=np.float64).ByteSize()
    assert model.basis_.nbytes < size < 1.1 * model.basis_.nbytes + 10_000


@pytest.mark.parametrize("name", KINDS)
def test_the_reference_runtime_gives_the_same_results(name):
    graph, X = to_onnx(MODELS[name]().fit(train()), dtype=np.float64), rows()
    found = run_graph(graph, X)
    theirs = ReferenceEvaluator(graph).run(list(found), {"X": X})
    for ours, other in zip(found.values(), theirs, strict=True):
        np.testing.assert_allclose(ours, other, atol=1e-12 * np.abs(other).max())


def test_the_metadata_describe_the_model():
    X = pd.DataFrame(train(), columns=["height", "width", "Straße"])
    graph = to_onnx(ReducedSetKernelPCA(2, bandwidth=3.0).fit(X))
    about = metadata(graph)
    assert about["rskpca_version"] == graph.producer_version == rskpca.__version__
    assert about["class"] == "ReducedSetKernelPCA"
    assert about["kernel"] == "Gaussian(bandwidth=3.0)"
    assert json.loads(about["feature_names"]) == list(X.columns)
    assert "feature_names" not in metadata(to_onnx(ReducedSetKernelPCA(2).fit(train())))


# --------------------------------------------------------------------------------- scalers


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "scalers",
    [
        [StandardScaler()],
        [StandardScaler(with_mean=False)],
        [StandardScaler(with_std=False)],
        [RobustScaler()],
        [MaxAbsScaler()],
        [MinMaxScaler((-2, 3))],
        ["passthrough", StandardScaler(), RobustScaler()],
    ],
    ids=str,
)
def test_the_graph_includes_the_scalers_of_a_pipeline(scalers, dtype):
    stretch = np.array([1.0, 100.0, 0.01])
    pipeline = make_pipeline(*scalers, ReducedSetKernelPCA(3)).fit(stretch * train(dtype, 5.0))
    assert_same_results(pipeline, (stretch * rows(dtype, 5.0)).astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shift", [1e3, 1e6])
def test_results_are_accurate_for_scaled_data_far_from_the_origin(shift, dtype):
    pipeline = make_pipeline(StandardScaler(), ReducedSetKernelPCA(3)).fit(train(dtype, shift))
    assert_same_results(pipeline, rows(dtype, shift))


def test_feature_names_come_from_the_first_step_of_a_pipeline():
    X = pd.DataFrame(train(), columns=["a", "b", "c"])
    pipeline = make_pipeline(StandardScaler(), ReducedSetKernelPCA(2)).fit(X)
    assert json.loads(metadata(to_onnx(pipeline))["feature_names"]) == ["a", "b", "c"]


# --------------------------------------------------------------------------------- errors


def test_a_user_defined_kernel_is_rejected():
    kernel = RadialKernel(lambda s: 1 / (1 + s), power=2, bandwidth=2.0)
    with pytest.raises(TypeError, match=r"Gaussian and Laplacian.*RadialKernel"):
        to_onnx(ReducedSetKernelPCA(2, kernel=kernel).fit(train()))


def test_kernels_without_a_bandwidth_and_empty_components_are_refused():
    with pytest.raises(TypeError, match=r"Gaussian and Laplacian.*NamedKernel"):
        to_onnx(KernelPCA(2, kernel="poly").fit(train()))
    rank_one = np.repeat(np.eye(2, 3), 30, axis=0)
    with pytest.raises(ValueError, match="Set remove_zero_eig=True"):
        to_onnx(KernelPCA(2, kernel="rbf").fit(rank_one))


@pytest.mark.parametrize("model", [ReducedSetKernelPCA(2), KernelPCANovelty()])
def test_an_unfitted_model_is_rejected(model):
    with pytest.raises(NotFittedError):
        to_onnx(model)


@pytest.mark.parametrize("dtype", [np.float16, "int32", "no dtype", None])
def test_unsupported_dtypes_are_rejected(dtype):
    with pytest.raises(ValueError, match=r"dtype must be numpy\.float32 or numpy\.float64"):
        to_onnx(ReducedSetKernelPCA(2).fit(train()), dtype=dtype)


@pytest.mark.parametrize("model", [PCA(2), "model.onnx", rskpca.ShadowDensity()])
def test_unsupported_models_are_rejected(model):
    with pytest.raises(TypeError, match="must be a fitted rskpca embedding"):
        to_onnx(model)


def test_a_pipeline_without_a_model_is_rejected():
    with pytest.raises(TypeError, match=r"must be a fitted rskpca embedding.*Pipeline"):
        to_onnx(Pipeline([("nothing", "passthrough")]))


class Half(FittedOperator):
    """A user-defined operator that returns k(x, y) / 2."""

    def fit(self, gram, weights):
        return self

    def apply(self, block, X, C):
        return block / 2


class HalfKernelPCA(ReducedSetKernelPCA):
    def _solve_centers(self, kernel, reduced_set):
        return solve(Half(), kernel, reduced_set, self.n_components)


class Flipped(ReducedSetKernelPCA):
    def transform(self, X):
        return -super().transform(X)


class Renamed(ReducedSetKernelPCA):
    """A subclass that changes nothing."""


@pytest.mark.parametrize("kind", [HalfKernelPCA, Flipped])
def test_user_defined_methods_and_operators_are_rejected(kind):
    model = kind(2, center=False).fit(train())
    with pytest.raises(TypeError, match=f"only rskpca classes, but {kind.__name__}"):
        to_onnx(model)
    assert_same_results(Renamed(2).fit(train()), rows())


def test_pipelines_with_other_steps_are_rejected():
    pipeline = make_pipeline(PCA(2), ReducedSetKernelPCA(2)).fit(train())
    with pytest.raises(TypeError, match=r"StandardScaler.*PCA.*to_onnx\(pipeline\[-1\]\)"):
        to_onnx(pipeline)
    clipped = make_pipeline(MinMaxScaler(clip=True), ReducedSetKernelPCA(2)).fit(train())
    with pytest.raises(ValueError, match="clip=False"):
        to_onnx(clipped)


def test_the_error_without_onnx_names_the_extra_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r'pip install "\.\[onnx\]"'):
        to_onnx(ReducedSetKernelPCA(2).fit(train()))


def test_a_model_that_exceeds_the_format_size_limit_is_rejected(monkeypatch):
    monkeypatch.setattr("rskpca.onnx.graph._MAX_BYTES", 1000)
    with pytest.raises(ValueError, match=r"limited to 2 GB.*basis"):
        to_onnx(ReducedSetKernelPCA(2).fit(train()))
