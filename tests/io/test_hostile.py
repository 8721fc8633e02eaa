"""Files that are cut short, altered, or made to do harm: an error that says what is wrong."""

import os
import threading
import tracemalloc
import zipfile

import numpy as np
import pytest
from scipy.spatial import KDTree

from rskpca import Gaussian, load, save
from rskpca.io import ModelFileError, describe
from rskpca.io._container import DIGEST, LONGEST_HEADER, PREFIX
from rskpca.spectral.neighbours import NeighbourGraph
from tests.io.cases import CASES, data
from tests.io.forge import Forged, resealed

# ------------------------------------------------------------------ bytes


def test_every_length_that_is_too_short_is_refused(saved, refuse):
    whole = saved("gaussian")
    for length in range(len(whole)):
        refuse(whole[:length], "too few|cut short|not a model file")
    refuse(whole + b"\0", "cut short, or added to")


def test_every_byte_that_is_changed_is_seen(saved, refuse):
    whole = saved("gaussian")
    for place in range(len(whole)):
        altered = bytearray(whole)
        altered[place] ^= 1 << place % 8
        refuse(bytes(altered), None)


def test_other_files_are_not_models(refuse, tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("zeros", bytes(10**7))
    refuse((tmp_path / "bomb.zip").read_bytes(), "not a model file of rskpca")
    refuse(b"", "0 bytes are too few")


def test_a_newer_format_says_to_upgrade(saved, refuse):
    file = Forged.of(saved("gaussian"))
    file.version = 2
    refuse(file.sealed(), "format is 2, and this rskpca reads up to 1.*upgrade")
    refuse(file.sealed(), "upgrade", by=describe)
    file.version = 0
    refuse(file.sealed(), "no format 0")


def test_what_is_no_file_is_not_read(tmp_path):
    with pytest.raises(IsADirectoryError):
        load(tmp_path)
    with pytest.raises(ModelFileError, match="no regular file"):
        load("/dev/zero")


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path):
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
    assert "no regular file" in str(errors[0])


# ------------------------------------------------------------------ the header


def in_header(text):
    return b'{"a":' + text + b"}"


HEADERS = {
    "no JSON": (b"{", "no JSON"),
    "a list": (b"[]", "no JSON object"),
    "not ASCII": ('{"a":"ü"}'.encode(), "no JSON"),
    "a key twice": (b'{"a":1,"a":1}', "twice"),
    "nan": (in_header(b"NaN"), "NaN, which is no JSON"),
    "infinity": (in_header(b"-Infinity"), "-Infinity, which is no JSON"),
    "a large number": (in_header(b"1e999"), "the number 1e999"),
    "many digits": (in_header(b"9" * 5000), "the number 999"),
    "deep": (b"[" * 10**6, "no JSON"),
    "deep objects": (b'{"a":' * 10**5, "no JSON"),
    "no arrays": (b"{}", "no list of arrays"),
    "no keys": (b'{"arrays":[]}', "its header must have"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_that_is_not_sound_is_refused(name, refuse):
    header, message = HEADERS[name]
    contents = Forged(header, []).sealed()
    refuse(contents, message)
    refuse(contents, message, by=describe)


def test_a_header_cannot_be_longer_than_the_file_or_than_allowed(refuse, saved):
    whole = saved("gaussian")
    for length in (len(whole), 2**32 - 1, len(whole) - PREFIX.size - DIGEST + 1):
        magic, version, _, total = PREFIX.unpack_from(whole)
        refuse(
            resealed(PREFIX.pack(magic, version, length, total) + whole[PREFIX.size : -DIGEST]),
            "no header of",
        )
    refuse(Forged(b" " * (LONGEST_HEADER + 1), []).sealed(), "no header of")


FIELDS = {
    "class": [(1, "class must be a string"), ("Laplacian", "says Laplacian, but holds a Gaussian")],
    "rskpca": [(None, "rskpca must be a string")],
    "created": [("yesterday", "created must be a date"), (7, "created must be a string")],
    "n_features": [(0, "n_features must be"), ("3", "n_features must be"), (3, "other sizes")],
    "n_centers": [(True, "n_centers must be"), (2, "other sizes")],
    "more": [(1, "its header must have")],
}


@pytest.mark.parametrize("name", FIELDS)
def test_a_header_that_does_not_tell_the_truth_is_refused(name, saved, refuse):
    for wrong, message in FIELDS[name]:
        file = Forged.of(saved("gaussian"))
        file.header[name] = wrong
        refuse(file.sealed(), message)


LAYOUTS = {
    "negative": (["<f8", [-1], "C", True], "no array of shape"),
    "absurd": (["<f8", [2**47], "C", True], "would take"),
    "beyond": (["<f8", [2**48], "C", True], "no array of shape"),
    "overflowing": (["<f8", [2**40, 2**40], "C", True], "no array of shape"),
    "none, but wide": (["<f8", [0, 2**47, 2**47], "C", True], "no array of shape"),
    "a fraction": (["<f8", [1.0], "C", True], "no array of shape"),
    "a truth": (["<f8", [True], "C", True], "no array of shape"),
    "many axes": (["<f8", [1] * 5, "C", True], "no array of shape"),
    "objects": (["|O8", [1], "C", True], "no array of dtype"),
    "other order of bytes": ([">f8", [1], "C", True], "no array of dtype"),
    "structured": ([[["a", "<f8"]], [1], "C", True], "no array of dtype"),
    "order": (["<f8", [1], "A", True], "no array of order"),
    "writeable": (["<f8", [1], "C", 1], "writeable"),
    "short": (["<f8", [1]], "four things"),
    "number": (3, "four things"),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_arrays_that_cannot_be_are_refused_before_memory_is_taken(name, saved, refuse):
    layout, message = LAYOUTS[name]
    file = Forged.of(saved())
    file.header["arrays"].append(layout)
    contents = file.sealed()
    assert peak_of(lambda: refuse(contents, message)) < 2**20


def peak_of(function):
    """The most bytes that were held."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_sparse_file_as_long_as_it_says_takes_no_memory_before_its_header_is_right(
    refuse, saved, tmp_path
):
    """Ten gigabytes that are not on the disk."""
    path = tmp_path / "sparse"
    whole = bytearray(saved("gaussian"))
    whole[16:24] = (10**10).to_bytes(8, "little")
    path.write_bytes(whole)
    os.truncate(path, 10**10)
    with pytest.raises(ModelFileError, match="arrays would take"):
        load(path)


# ------------------------------------------------------------------ the tree


_MODEL = ("model", "ReducedSetKernelPCA")
_SYSTEM = (*_MODEL, "_system_", "EigenSystem")
_SET = (*_MODEL, "density_", "ShadowDensity", "reduced_set_", "ReducedSet")
_SHADOW = (*_MODEL, "density_", "ShadowDensity")

TREES = {
    "a class of Python": (_MODEL[:1], {"os.system": {"command": "true"}}, "no model file has"),
    "a builtin": (_MODEL[:1], {"eval": ["1"]}, "no model file has, 'eval'"),
    "two tags": (_MODEL[:1], {"tuple": [], "dict": {}}, "one tag"),
    "no tag": (_MODEL[:1], {}, "one tag"),
    "no values": (_MODEL, [1], "holds no values"),
    "an array that is not there": ((*_SYSTEM, "centers", "array"), 99, "no array 99"),
    "an array before the first": ((*_SYSTEM, "centers", "array"), -1, "no array -1"),
    "an array that is a truth": ((*_SYSTEM, "centers", "array"), True, "no array True"),
    "another array": ((*_SYSTEM, "centers", "array"), 2, "centers must have the shape"),
    "a number for an array": ((*_SYSTEM, "centers"), 3.0, "centers must be an array"),
    "names for an array": ((*_SYSTEM, "centers"), {"names": ["a"]}, "centers must be an array"),
    "names that are none": ((*_SYSTEM, "centers"), {"names": [1]}, "must be names"),
    "a scalar that is an array": ((*_SYSTEM, "trace"), {"scalar": 0}, "must be one number"),
    "a float that is none": ((*_SYSTEM, "trace"), {"float": "1"}, "is no number"),
    "nan": ((*_SYSTEM, "trace"), {"float": "nan"}, "trace must be a number"),
    "infinity": ((*_SYSTEM, "trace"), {"float": "inf"}, "trace must be finite"),
    "a tuple that is none": ((*_SYSTEM, "trace"), {"tuple": 1}, "is no tuple"),
    "a missing field": ((*_SYSTEM, "functions"), ..., "functions must be there"),
    "a field too many": ((*_SYSTEM, "__class__"), 1, "nothing is known of __class__"),
    "a missing attribute": ((*_MODEL, "kernel_"), ..., "kernel_ must be there"),
    "an attribute too many": ((*_MODEL, "transform"), 1, "nothing is known of transform"),
    "another class": ((*_MODEL, "_system_"), {"Plain": {}}, "_system_ must be of EigenSystem"),
    "a kernel without a number": (
        (*_MODEL, "kernel_", "Gaussian", "bandwidth"), "median", "not a number yet",
    ),
    "no operator of kernel PCA": (
        (*_SYSTEM, "operator"),
        {"FittedMarkov": {"pull": {"array": 1}, "reach": {"array": 1}, "loop": 0, "n_isolated": 0}},
        "the operator of a kernel PCA",
    ),
    "a density that is not fitted": (_SHADOW, {"ell": 4.0}, "density_ must be fitted"),
    "a stream without a radius": ((*_SET, "radius"), None, "radius, a spacing"),
    "a negative radius": ((*_SET, "radius"), -1.0, "radius must be a number of at least 0"),
    "weights that sum to less": ((*_SET, "n_samples"), 7.0, "weights must sum to n_samples"),
    "other features": ((*_MODEL, "n_features_in_"), 4, "d is 3 here and 4 elsewhere"),
    "a parameter that fit refuses": ((*_MODEL, "n_components"), "two", "n_components must be"),
}  # fmt: skip


@pytest.mark.parametrize("name", TREES)
def test_a_tree_that_is_no_sound_model_is_refused(name, saved, refuse):
    path, new, message = TREES[name]
    file = Forged.of(saved())
    file.replace(path, new)
    refuse(file.sealed(), message)


VALUES = {
    "no number in the centers": ((*_SET, "centers"), np.nan, "must be finite"),
    "a negative weight": ((*_SET, "weights"), -1.0, "weights must be finite and not negative"),
    "no weight": ((*_SET, "weights"), 0.0, "weights must be positive"),
    "a zero eigenvalue": ((*_SYSTEM, "eigenvalues"), 0.0, "no eigenvalue of zero"),
    "a negative eigenvalue": ((*_SYSTEM, "eigenvalues"), -1.0, "positive eigenvalues"),
    "an infinite coefficient": ((*_SYSTEM, "coefficients"), np.inf, "must be finite"),
    "a label of no center": ((*_SHADOW, "labels_"), 2**40, "places of the"),
    "a label below none": ((*_SHADOW, "labels_"), -2, "places of the"),
}


@pytest.mark.parametrize("name", VALUES)
def test_numbers_that_cannot_be_are_refused(name, saved, refuse):
    path, value, message = VALUES[name]
    refuse(Forged.of(saved()).with_numbers(path, 0, value).sealed(), message)


def test_a_graph_of_more_neighbours_than_centers_is_refused(saved, refuse):
    file = Forged.of(saved("laplacian eigenmaps, nearest"))
    for system in ("_system_", "_solved_"):
        tree = file.header["model"]["LaplacianEigenmaps"][system]
        tree = tree.get("EigenSystem") or tree["Solved"]["shown"]["EigenSystem"]
        tree["graph"]["NeighbourGraph"]["nearest"] = 10**9
    refuse(file.sealed(), "nearest must be at most the")


def test_a_graph_of_more_pairs_than_fit_would_take_is_refused(saved, refuse, monkeypatch):
    contents = saved("laplacian eigenmaps, nearest")
    monkeypatch.setattr("rskpca.spectral.neighbours._MOST_PAIRS", 20)
    refuse(contents, "pairs of neighbors, too many for memory")


def test_neighbours_are_counted_only_where_they_could_be_too_many(monkeypatch):
    def count(self, *arguments):
        raise AssertionError("counted")

    monkeypatch.setattr(KDTree, "count_neighbors", count)
    tree = KDTree(np.zeros((100, 2)))
    NeighbourGraph.refuse_far(tree, 1.0)
    monkeypatch.setattr("rskpca.spectral.neighbours._MOST_PAIRS", 100**2 - 1)
    with pytest.raises(AssertionError, match="counted"):
        NeighbourGraph.refuse_far(tree, 1.0)


def test_pairs_of_frequencies_come_in_whole_tiles(saved, refuse):
    file = Forged.of(saved())
    spectrum = file.header
    for key in (*_SET, "spectrum", "Spectrum"):
        spectrum = spectrum[key]
    for name in ("turns", "sums"):
        place = spectrum[name]["array"]
        dtype, shape, order, _ = layout = file.header["arrays"][place]
        numbers = np.frombuffer(file.arrays[place], dtype=dtype).reshape(shape, order=order)
        file.arrays[place] = np.ascontiguousarray(numbers[:, :7]).tobytes()
        layout[1], layout[2] = [shape[0], 7, *shape[2:]], "C"
    refuse(file.sealed(), "turns must have whole tiles of pairs")


def test_what_is_frozen_stays_so_whatever_the_file_says(saved, tmp_path):
    file = Forged.of(saved())
    for layout in file.header["arrays"]:
        layout[3] = True
    (tmp_path / "model").write_bytes(file.sealed())
    found = load(tmp_path / "model").reduced_set_
    held = [*vars(found).values(), *vars(found.spectrum).values()]
    arrays = [value for value in held if isinstance(value, np.ndarray)]
    assert len(arrays) >= 6
    assert not any(array.flags.writeable for array in arrays)


@pytest.mark.parametrize(
    "config", [{"transform": "x"}, {"x": "pandas"}, {"transform": 1}, "pandas"]
)
def test_settings_are_those_of_set_output(config, saved, refuse):
    file = Forged.of(saved())
    held = {"dict": config} if isinstance(config, dict) else config
    file.header["model"]["ReducedSetKernelPCA"]["_sklearn_output_config"] = held
    refuse(file.sealed(), "_sklearn_output_config must")


def test_features_of_a_pipeline_must_agree(saved, refuse, tmp_path):
    file = Forged.of(saved("pipeline"))
    narrow = CASES["scaler"](data()[0][:, :2])
    save(narrow, tmp_path / "narrow")
    other = Forged.of((tmp_path / "narrow").read_bytes())
    steps = file.header["model"]["Pipeline"]["steps"]
    scaler = other.header["model"]["StandardScaler"]
    for name, held in scaler.items():
        if isinstance(held, dict):
            ((tag, place),) = held.items()
            scaler[name] = {tag: place + len(file.arrays)}
    steps[0]["tuple"][1] = {"StandardScaler": scaler}
    file.arrays += other.arrays
    file.header["arrays"] += other.header["arrays"]
    refuse(file.sealed(), "d is 3 here and 2 elsewhere")


def test_an_array_is_used_and_not_without_end(saved, refuse):
    file = Forged.of(saved("reduced set"))
    file.header["arrays"].append(["|b1", [1], "C", True])
    file.arrays.append(b"\1")
    refuse(file.sealed(), "belong to nothing")
    file.header["model"] = {"dict": {"sets": [file.header["model"]] * 40}}
    file.header.update({"class": "dict", "n_features": None, "n_centers": None})
    refuse(file.sealed(), "used more than 32 times")


def test_an_array_that_many_models_share_is_stored_more_than_once(tmp_path):
    X, _ = data()
    save([X] * 70, tmp_path / "many")
    loaded = load(tmp_path / "many")
    assert len({id(array) for array in loaded}) == 3
    assert all(np.array_equal(array, X) for array in loaded)


def test_a_header_full_of_objects_takes_bounded_time_and_memory(saved, refuse):
    file = Forged.of(saved("gaussian"))
    file.header["model"] = [{"Gaussian": {}}] * 100_000
    file.header["class"] = "list"
    contents = file.sealed()
    assert peak_of(lambda: refuse(contents, "one object too many")) < 2**28


def test_a_deep_tree_is_refused(saved, refuse):
    file = Forged.of(saved("gaussian"))
    for _ in range(40):
        file.header["model"] = [file.header["model"]]
    refuse(file.sealed(), "nested too deep")


def test_a_sound_file_of_another_model_is_that_model(saved, tmp_path):
    """An attacker with the checksum can say other numbers; they are what is loaded."""
    file = Forged.of(saved("gaussian"))
    file.replace(("model", "Gaussian", "bandwidth"), 3.0)
    (tmp_path / "other").write_bytes(file.sealed())
    loaded = load(tmp_path / "other")
    assert isinstance(loaded, Gaussian)
    assert loaded.bandwidth == 3.0
