"""Test that truncated, altered or malicious files are rejected with an explanation."""

import os
import threading
import tracemalloc
import zipfile

import numpy as np
import pytest
from scipy.spatial import KDTree

from rskpca import Gaussian, load, save
from rskpca.io import ModelFileError, describe
from rskpca.io._container import DIGEST, MAX_HEADER, PREFIX, VERSION
from rskpca.spectral.neighbours import NeighbourGraph
from tests.io import golden
from tests.io.cases import CASES, data
from tests.io.forge import ForgedFile, add_checksum

# ------------------------------------------------------------------ bytes


def test_truncated_and_extended_files_are_rejected(saved, assert_rejected):
    whole = saved("gaussian")
    for length in range(len(whole)):
        assert_rejected(whole[:length], "too few|truncated|not a model file")
    assert_rejected(whole + b"\0", "truncated or extended")


def test_every_changed_byte_is_detected(saved, assert_rejected):
    whole = saved("gaussian")
    for place in range(len(whole)):
        altered = bytearray(whole)
        altered[place] ^= 1 << place % 8
        assert_rejected(bytes(altered), None)


def test_files_of_other_types_are_rejected(assert_rejected, tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("zeros", bytes(10**7))
    assert_rejected((tmp_path / "bomb.zip").read_bytes(), "not an rskpca model file")
    assert_rejected(b"", "a file of 0 bytes is too short")


def test_the_error_for_a_newer_format_suggests_an_upgrade(saved, assert_rejected):
    file = ForgedFile.parse(saved("gaussian"))
    file.version = VERSION + 1
    assert_rejected(
        file.to_bytes(), "format version 4, but this version of rskpca reads.*upgrade rskpca"
    )
    assert_rejected(file.to_bytes(), "upgrade", by=describe)
    file.version = 0
    assert_rejected(file.to_bytes(), "invalid format version 0")


@pytest.mark.skipif(os.name == "nt", reason="requires /dev/zero")
def test_directories_and_devices_are_not_read(tmp_path):
    with pytest.raises(IsADirectoryError):
        load(tmp_path)
    with pytest.raises(ModelFileError, match="not a regular file"):
        load("/dev/zero")


@pytest.mark.skipif(os.name == "nt", reason="requires named pipes")
def test_a_named_pipe_without_a_writer_does_not_block(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    errors = []

    def run():
        try:
            load(tmp_path / "pipe")
        except ModelFileError as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(timeout=10)
    assert "not a regular file" in str(errors[0])


# ------------------------------------------------------------------ the header


def in_header(text):
    return b'{"a":' + text + b"}"


HEADERS = {
    "incomplete": (b"{", "not valid JSON"),
    "list": (b"[]", "not a JSON object"),
    "not ASCII": ('{"a":"ü"}'.encode(), "not valid JSON"),
    "duplicate key": (b'{"a":1,"a":1}', "duplicate key"),
    "NaN": (in_header(b"NaN"), "invalid number NaN"),
    "infinity": (in_header(b"-Infinity"), "invalid number -Infinity"),
    "large float": (in_header(b"1e999"), "invalid number 1e999"),
    "large integer": (in_header(b"18446744073709551616"), "invalid number 18446744073709551616"),
    "many digits": (in_header(b"9" * 5000), "invalid number 999"),
    "deep lists": (b"[" * 10**6, "not valid JSON"),
    "deep objects": (b'{"a":' * 10**5, "not valid JSON"),
    "no arrays": (b"{}", "not contain a list of arrays"),
    "no keys": (b'{"arrays":[]}', "the header must have"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_an_invalid_header_is_rejected(name, assert_rejected):
    header, message = HEADERS[name]
    contents = ForgedFile(header, []).to_bytes()
    assert_rejected(contents, message)
    assert_rejected(contents, message, by=describe)


def test_a_header_longer_than_the_file_or_the_maximum_is_rejected(assert_rejected, saved):
    whole = saved("gaussian")
    for length in (len(whole), 2**32 - 1, len(whole) - PREFIX.size - DIGEST + 1):
        magic, version, _, total = PREFIX.unpack_from(whole)
        prefix = PREFIX.pack(magic, version, length, total)
        assert_rejected(
            add_checksum(prefix + whole[PREFIX.size : -DIGEST]), "invalid header length"
        )
    assert_rejected(ForgedFile(b" " * (MAX_HEADER + 1), []).to_bytes(), "invalid header length")


FIELDS = {
    "class": [
        (1, "class must be"),
        ("Laplacian", "a Laplacian, but the model is a Gaussian"),
    ],
    "rskpca": [(None, "rskpca must be")],
    "created": [("yesterday", "created must be a date"), (7, "created must be")],
    "n_features": [(0, "n_features must be"), ("3", "n_features must be"), (3, "does not match")],
    "n_centers": [(True, "n_centers must be"), (2, "does not match")],
    "more": [(1, "the header must have")],
}


@pytest.mark.parametrize("name", FIELDS)
def test_an_invalid_header_field_is_rejected(name, saved, assert_rejected):
    for wrong, message in FIELDS[name]:
        file = ForgedFile.parse(saved("gaussian"))
        file.header[name] = wrong
        assert_rejected(file.to_bytes(), message)


LAYOUTS = {
    "negative size": (["<f8", [-1], "C", True], "invalid array shape"),
    "large": (["<f8", [2**47], "C", True], "arrays require"),
    "too large": (["<f8", [2**48], "C", True], "invalid array shape"),
    "overflow": (["<f8", [2**40, 2**40], "C", True], "invalid array shape"),
    "empty but wide": (["<f8", [0, 2**47, 2**47], "C", True], "invalid array shape"),
    "float size": (["<f8", [1.0], "C", True], "invalid array shape"),
    "boolean size": (["<f8", [True], "C", True], "invalid array shape"),
    "many axes": (["<f8", [1] * 5, "C", True], "invalid array shape"),
    "objects": (["|O8", [1], "C", True], "unsupported dtype"),
    "big-endian": ([">f8", [1], "C", True], "unsupported dtype"),
    "structured": ([[["a", "<f8"]], [1], "C", True], "unsupported dtype"),
    "order": (["<f8", [1], "A", True], "invalid array order"),
    "writeable": (["<f8", [1], "C", 1], "writeable"),
    "short": (["<f8", [1]], "an array must have a dtype"),
    "number": (3, "an array must have a dtype"),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_an_invalid_array_is_rejected_before_memory_is_allocated(name, saved, assert_rejected):
    layout, message = LAYOUTS[name]
    file = ForgedFile.parse(saved())
    file.header["arrays"].append(layout)
    contents = file.to_bytes()
    assert peak_memory(lambda: assert_rejected(contents, message)) < 2**20


def peak_memory(function):
    """Return the peak number of allocated bytes."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_no_memory_is_allocated_for_a_sparse_file_before_its_header_is_checked(saved, tmp_path):
    """The file claims to contain ten gigabytes but occupies almost no disk space."""
    path = tmp_path / "sparse"
    whole = bytearray(saved("gaussian"))
    whole[16:24] = (10**10).to_bytes(8, "little")
    path.write_bytes(whole)
    os.truncate(path, 10**10)
    with pytest.raises(ModelFileError, match="arrays require"):
        load(path)


# ------------------------------------------------------------------ the tree


_MODEL = ("model", "ReducedSetKernelPCA")
_FIELDS = (*_MODEL, "model_", "dict")
_SYSTEM = (*_FIELDS, "system", "EigenSystem")
_SHADOW = (*_MODEL, "density_", "ShadowDensity")
_SET = (*_SHADOW, "reduced_set_", "ReducedSet")
_SAMPLE = (*_SET, "sample", "RowSample")
_WALK = {"pull": {"array": 1}, "reach": {"array": 1}, "loop": 0.0, "n_isolated": 0}

TREES = {
    "a Python class": (_MODEL[:1], {"os.system": {"command": "true"}}, "'os.system' with"),
    "a builtin": (_MODEL[:1], {"eval": ["1"]}, "is invalid: 'eval' with content"),
    "two tags": (_MODEL[:1], {"tuple": [], "dict": {}}, "one tag"),
    "no tag": (_MODEL[:1], {}, "one tag"),
    "no values": (_MODEL, [1], "must be a mapping of names"),
    "a missing array": ((*_SYSTEM, "centers", "array"), 99, "array 99 does not exist"),
    "a negative array index": ((*_SYSTEM, "centers", "array"), -1, "array -1 does not exist"),
    "a boolean array index": ((*_SYSTEM, "centers", "array"), True, "array True does not exist"),
    "another array": ((*_SYSTEM, "centers", "array"), 2, "centers must have shape"),
    "a number instead of an array": ((*_SYSTEM, "centers"), 3.0, "centers must be of type"),
    "names instead of an array": (
        (*_SYSTEM, "centers"), {"names": ["a"]}, "centers must be of type",
    ),
    "invalid names": ((*_SYSTEM, "centers"), {"names": [1]}, "is invalid: 'names'"),
    "an array instead of a scalar": ((*_SYSTEM, "trace"), {"scalar": 0}, "a single number"),
    "an invalid float": ((*_SYSTEM, "trace"), {"float": "1"}, "invalid: 'float' with content '1'"),
    "NaN": ((*_SYSTEM, "trace"), {"float": "nan"}, "trace must be of type float, got nan"),
    "infinity": ((*_SYSTEM, "trace"), {"float": "inf"}, "trace must be finite"),
    "an invalid tuple": ((*_SYSTEM, "trace"), {"tuple": 1}, "is invalid: 'tuple'"),
    "a missing field": ((*_SYSTEM, "functions"), ..., "functions is missing"),
    "an unknown field": ((*_SYSTEM, "__class__"), 1, "unknown attribute __class__"),
    "a missing attribute": ((*_MODEL, "kernel_"), ..., "kernel_ is missing"),
    "an unknown attribute": ((*_MODEL, "transform"), 1, "unknown attribute transform"),
    "a derived attribute": ((*_MODEL, "_solved_"), None, "unknown attribute _solved_"),
    "another class": ((*_FIELDS, "system"), {"Plain": {}}, "system must be of type EigenSystem"),
    "a missing model field": ((*_FIELDS, "scale"), ..., "scale is missing"),
    "an unknown model field": ((*_FIELDS, "_cache"), 1, "unknown attribute _cache"),
    "a list instead of a model": ((*_MODEL, "model_"), [], "model_ must be of type"),
    "an unresolved kernel": (
        (*_MODEL, "kernel_", "Gaussian", "bandwidth"), "median", "resolved only when",
    ),
    "a random walk": (
        (*_SYSTEM, "operator"), {"FittedMarkov": _WALK}, "must not be a random walk",
    ),
    "an unfitted density": (_SHADOW, {"ell": 4.0}, "density_ must be fitted"),
    "a stream without a radius": ((*_SET, "radius"), None, "a radius, a spacing"),
    "a negative radius": ((*_SET, "radius"), -1.0, "radius must be at least 0"),
    "an incorrect sum of weights": ((*_SET, "n_samples"), 7.0, "weights must sum to n_samples"),
    "more features": ((*_MODEL, "n_features_in_"), 4, "has 3 features, but n_features_in_ is 4"),
    "an invalid parameter": ((*_MODEL, "n_components"), "two", "n_components must be"),
    "a sample of no rows": ((*_SAMPLE, "size"), 0, "size must be at least 1"),
    "a sample of more rows than its size": ((*_SAMPLE, "size"), 119, "has 120 rows, more than"),
    "a huge sample": ((*_SAMPLE, "size"), 2**62, "size must be at most"),
    "a fractional size": ((*_SAMPLE, "size"), 200.0, "size must be of type int"),
    "a negative salt": ((*_SAMPLE, "salt"), -1, "salt must be at least 0"),
    "a negative position": ((*_SAMPLE, "position"), -1, "position must be at least 0"),
    "a huge position": ((*_SAMPLE, "position"), 2**62, "position must be at most"),
    "a small threshold": ((*_SAMPLE, "threshold"), 1e-9, "below the threshold"),
    "no threshold": ((*_SAMPLE, "threshold"), None, "threshold must be of type float"),
    "a threshold of NaN": ((*_SAMPLE, "threshold"), {"float": "nan"}, "must be of type float"),
    "sums in place of a sample": (
        (*_SET, "sample"), {"Spectrum": {}}, "is invalid: 'Spectrum' with",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TREES)
def test_an_invalid_tree_is_rejected(name, saved, assert_rejected):
    path, new, message = TREES[name]
    file = ForgedFile.parse(saved())
    file.replace(path, new)
    assert_rejected(file.to_bytes(), message)


VALUES = {
    "NaN in the centers": ((*_SET, "centers"), np.nan, "centers must be finite"),
    "a negative weight": ((*_SET, "weights"), -1.0, "weights must be at least 0"),
    "a zero weight": ((*_SET, "weights"), 0.0, "weights must be positive"),
    "an absurd displacement": ((*_SET, "displacement"), 1e300, "than the radius allows"),
    "an absurd scatter": ((*_SET, "scatter"), 1e300, "than the radius allows"),
    "a zero eigenvalue": ((*_SYSTEM, "eigenvalues"), 0.0, "All eigenvalues must be nonzero"),
    "a negative eigenvalue": ((*_SYSTEM, "eigenvalues"), -1.0, "PCA model must be positive"),
    "an infinite coefficient": ((*_SYSTEM, "coefficients"), np.inf, "coefficients must be finite"),
    "a label that is too large": ((*_SHADOW, "labels_"), 2**40, "labels_ must contain indices"),
    "a label that is too small": ((*_SHADOW, "labels_"), -2, "labels_ must contain indices"),
    "NaN in a sampled row": ((*_SAMPLE, "rows"), np.nan, "rows must be finite"),
    "a sampled label that is too large": ((*_SAMPLE, "labels"), 2**40, "indices of the centers"),
    "a negative sampled label": ((*_SAMPLE, "labels"), -1, "indices of the centers"),
    "a negative key": ((*_SAMPLE, "keys"), -1.0, "keys must be at least 0"),
    "a key out of order": ((*_SAMPLE, "keys"), 30.0, "keys must be ascending"),
    "an infinite key": ((*_SAMPLE, "keys"), np.inf, "keys must be finite"),
    "a sampled row without weight": ((*_SAMPLE, "weights"), 0.0, "must be positive"),
    "a sampled row of too much weight": ((*_SAMPLE, "weights"), 1e9, "do not match their weights"),
}


@pytest.mark.parametrize("name", VALUES)
def test_invalid_numbers_are_rejected(name, saved, assert_rejected):
    path, value, message = VALUES[name]
    assert_rejected(ForgedFile.parse(saved()).with_numbers(path, 0, value).to_bytes(), message)


SHAPES = {
    "centers": ("kernel pca", (*_SET, "weights"), "weights must have one number per center"),
    "scale": ("kernel pca", (*_FIELDS, "scale"), "system must have 1 components"),
    "eigenvalues": ("kernel pca", (*_SYSTEM, "eigenvalues"), "eigenvalues must have shape"),
    "operator": (
        "kernel pca", (*_SYSTEM, "operator", "FittedCentered", "means"), "means must have shape",
    ),
    "moments": (
        "nystrom", ("model", "NystromKernelPCA", "_moments_", "Moments", "first"),
        "first must have shape",
    ),
    "partition": (
        "normalized cut",
        ("model", "NormalizedCut", "model_", "dict", "partition", "Partition", "offsets"),
        "offsets must have one entry",
    ),
    "sample": ("kernel pca", (*_SAMPLE, "keys"), "keys must have shape"),
    "certificate": (
        "certificate", ("model", "Certificate", "likely_angles"), "likely_angles must have shape",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_inconsistent_arrays_are_rejected(name, saved, assert_rejected):
    case, path, message = SHAPES[name]
    file = ForgedFile.parse(saved(case))
    index = len(file.arrays)
    dtype, (size, *rest), *flags = file.header["arrays"][file.index_of(path)]
    shorter = np.frombuffer(file.arrays[file.index_of(path)], dtype=dtype)
    shorter = shorter[: (size - 1) * max(1, *rest, 1)]
    file.arrays.append(shorter.tobytes())
    file.header["arrays"].append([dtype, [size - 1, *rest], *flags])
    file.replace((*path, "array"), index)
    assert_rejected(file.to_bytes(), message)


WALKS = {
    "partition": ("normalized cut", "NormalizedCut", "partition", "the model has no partition"),
    "time": ("diffusion maps", "DiffusionMaps", "time", "the model has no diffusion time"),
}


@pytest.mark.parametrize("name", WALKS)
def test_a_random_walk_without_its_result_is_rejected(name, saved, assert_rejected):
    case, cls, field, message = WALKS[name]
    file = ForgedFile.parse(saved(case))
    file.replace(("model", cls, "model_", "dict", field), None)
    assert_rejected(file.to_bytes(), message)


def test_a_graph_with_more_neighbors_than_centers_is_rejected(saved, assert_rejected):
    file = ForgedFile.parse(saved("laplacian eigenmaps, nearest"))
    system = ("model", "LaplacianEigenmaps", "model_", "dict", "system", "EigenSystem")
    file.replace((*system, "graph", "NeighbourGraph", "nearest"), 10**9)
    assert_rejected(file.to_bytes(), "nearest must be between 1 and")


def test_a_graph_with_more_pairs_than_fit_accepts_is_rejected(saved, assert_rejected, monkeypatch):
    contents = saved("laplacian eigenmaps, nearest")
    monkeypatch.setattr("rskpca.spectral.neighbours._MOST_PAIRS", 20)
    assert_rejected(contents, "pairs of neighbors, more than the limit")


def test_neighbors_are_counted_only_if_there_could_be_too_many(monkeypatch):
    def count(self, *arguments):
        raise AssertionError("counted")

    monkeypatch.setattr(KDTree, "count_neighbors", count)
    tree = KDTree(np.zeros((100, 2)))
    NeighbourGraph.refuse_far(tree, 1.0)
    monkeypatch.setattr("rskpca.spectral.neighbours._MOST_PAIRS", 100**2 - 1)
    with pytest.raises(AssertionError, match="counted"):
        NeighbourGraph.refuse_far(tree, 1.0)


def test_a_file_cannot_make_frozen_arrays_writeable(saved, tmp_path):
    file = ForgedFile.parse(saved())
    for layout in file.header["arrays"]:
        layout[3] = True
    (tmp_path / "model").write_bytes(file.to_bytes())
    found = load(tmp_path / "model").reduced_set_
    held = [*vars(found).values(), *vars(found.sample).values()]
    arrays = [value for value in held if isinstance(value, np.ndarray)]
    assert len(arrays) >= 9
    assert not any(array.flags.writeable for array in arrays)


@pytest.mark.parametrize(
    "config", [{"transform": "x"}, {"x": "pandas"}, {"transform": 1}, "pandas"]
)
def test_invalid_set_output_settings_are_rejected(config, saved, assert_rejected):
    file = ForgedFile.parse(saved())
    held = {"dict": config} if isinstance(config, dict) else config
    file.header["model"]["ReducedSetKernelPCA"]["_sklearn_output_config"] = held
    assert_rejected(file.to_bytes(), "_sklearn_output_config must")


def test_pipeline_steps_with_different_features_are_rejected(saved, assert_rejected, tmp_path):
    file = ForgedFile.parse(saved("pipeline"))
    narrow = CASES["scaler"](data()[0][:, :2])
    save(narrow, tmp_path / "narrow")
    other = ForgedFile.parse((tmp_path / "narrow").read_bytes())
    steps = file.header["model"]["Pipeline"]["steps"]
    scaler = other.header["model"]["StandardScaler"]
    for name, held in scaler.items():
        if isinstance(held, dict):
            ((tag, index),) = held.items()
            scaler[name] = {tag: index + len(file.arrays)}
    steps[0]["tuple"][1] = {"StandardScaler": scaler}
    file.arrays += other.arrays
    file.header["arrays"] += other.header["arrays"]
    assert_rejected(file.to_bytes(), "has 2 features, but n_features_in_ is 3")


def test_unused_and_overused_arrays_are_rejected(saved, assert_rejected):
    file = ForgedFile.parse(saved("reduced set"))
    file.header["arrays"].append(["|b1", [1], "C", True])
    file.arrays.append(b"\1")
    assert_rejected(file.to_bytes(), "unused arrays")
    file.header["model"] = {"dict": {"sets": [file.header["model"]] * 40}}
    file.header.update({"class": "dict", "n_features": None, "n_centers": None})
    assert_rejected(file.to_bytes(), "used more than 32 times")


def test_an_array_that_is_used_many_times_is_stored_more_than_once(tmp_path):
    X, _ = data()
    save([X] * 70, tmp_path / "many")
    loaded = load(tmp_path / "many")
    assert len({id(array) for array in loaded}) == 3
    assert all(np.array_equal(array, X) for array in loaded)


def test_a_header_with_many_objects_is_rejected_with_limited_memory(saved, assert_rejected):
    file = ForgedFile.parse(saved("gaussian"))
    file.header["model"] = [{"Gaussian": {}}] * 100_000
    file.header["class"] = "list"
    contents = file.to_bytes()
    assert (
        peak_memory(lambda: assert_rejected(contents, "exceeds the limit of 10,000 objects"))
        < 2**28
    )


def test_a_deeply_nested_tree_is_rejected(saved, assert_rejected):
    file = ForgedFile.parse(saved("gaussian"))
    for _ in range(40):
        file.header["model"] = [file.header["model"]]
    assert_rejected(file.to_bytes(), "nested too deeply")


def test_a_valid_forged_file_is_loaded(saved, tmp_path):
    """The checksum is not a signature, so a forged file with valid numbers is accepted."""
    file = ForgedFile.parse(saved("gaussian"))
    file.replace(("model", "Gaussian", "bandwidth"), 3.0)
    (tmp_path / "other").write_bytes(file.to_bytes())
    loaded = load(tmp_path / "other")
    assert isinstance(loaded, Gaussian)
    assert loaded.bandwidth == 3.0


def test_a_pipeline_with_a_cache_is_rejected(saved, assert_rejected):
    """A cache would write files."""
    file = ForgedFile.parse(saved("pipeline"))
    file.replace(("model", "Pipeline", "memory"), "cache")
    assert_rejected(file.to_bytes(), "memory and transform_input must be None")


# ------------------------------------------------------------------ earlier format versions


def test_an_invalid_version_1_tree_is_rejected(assert_rejected):
    whole = golden.FIRST.read_bytes()
    path = ("model", "dict", "kernel pca", "ReducedSetKernelPCA")
    for name, new in (("_system_", {"EigenSystem": 1}), ("_system_", 7), ("density_", None)):
        file = ForgedFile.parse(whole)
        file.replace((*path, name), new)
        assert_rejected(file.to_bytes(), "not valid in format version 1")
    file = ForgedFile.parse(whole)
    file.replace((*path, "_system_", "EigenSystem", "trace"), {"float": "nan"})
    assert_rejected(file.to_bytes(), "trace must be of type float")


def test_version_1_classes_are_rejected_in_a_version_2_file(assert_rejected):
    file = ForgedFile.parse(golden.FIRST.read_bytes())
    file.version = 2
    assert_rejected(file.to_bytes(), "lost is missing")


def test_an_invalid_version_2_tree_is_rejected(assert_rejected):
    file = ForgedFile.parse(golden.VERSION_2.read_bytes())
    model, _ = file.find(("model", "dict", "window", "tuple"))
    density = model["ReducedSetKernelPCA"]["density_"]["WindowDensity"]
    del density["_stream_"]["WindowStream"]["spectrum"]
    assert_rejected(file.to_bytes(), "not valid in format version 2")


def test_version_2_classes_are_rejected_in_a_version_3_file(assert_rejected):
    file = ForgedFile.parse(golden.VERSION_2.read_bytes())
    file.version = VERSION
    assert_rejected(file.to_bytes(), "unknown attribute (n_frequencies|spectrum)")
