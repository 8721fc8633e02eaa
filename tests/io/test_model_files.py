"""Test that a loaded model is bitwise equal to the saved one and continues in the same way."""

import inspect
import os
import stat

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

import rskpca
from rskpca import Gaussian, ReducedSetKernelPCA, ShadowDensity, WindowDensity, load, save
from rskpca.io import describe
from rskpca.io._schema import CLASSES
from tests.io.cases import CASES, data
from tests.io.equality import differences

ANSWERS = ("transform", "predict", "score_samples", "decision_function")
posix_permissions = pytest.mark.skipif(os.name == "nt", reason="requires POSIX permissions")


def save_and_load(model, folder):
    save(model, folder / "model.rskpca")
    return load(folder / "model.rskpca")


def answers(model, X):
    """Return everything that a model computes for the given rows."""
    found = {name: getattr(model, name)(X) for name in ANSWERS if hasattr(model, name)}
    if hasattr(model, "inverse_transform") and getattr(model, "fit_inverse_transform", True):
        found["inverse_transform"] = model.inverse_transform(found["transform"])
    learned = [n for n in dir(model) if n.endswith("_") and not n.startswith("_")]
    return {**found, **{name: getattr(model, name, None) for name in learned}}


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("name", CASES)
def test_a_loaded_model_is_bitwise_equal_to_the_saved_model(name, dtype, tmp_path):
    X, new = data(dtype)
    model = CASES[name](X)
    loaded = save_and_load(model, tmp_path)
    assert differences(model, loaded) == []
    if hasattr(model, "n_features_in_"):
        assert differences(answers(model, new), answers(loaded, new)) == []
    assert differences(model, loaded) == []  # after both have been solved


@pytest.mark.parametrize("name", CASES)
def test_a_loaded_model_can_be_saved_again(name, tmp_path):
    model = CASES[name](data()[0])
    save(model, tmp_path / "first")
    save(load(tmp_path / "first"), tmp_path / "second")
    assert os.path.getsize(tmp_path / "first") == os.path.getsize(tmp_path / "second")
    assert differences(load(tmp_path / "second"), model) == []


def test_every_public_class_has_a_case():
    """A new estimator must be allowed in model files and must have a case."""
    X, _ = data()
    covered = {type(make(X)).__name__ for make in CASES.values()}
    public = {name for name in rskpca.__all__ if inspect.isclass(getattr(rskpca, name))}
    fitted = {n for n in public if issubclass(getattr(rskpca, n), BaseEstimator)}
    values = {"ReducedSet", "Certificate"}
    assert (fitted | values) - covered == {"RadialKernel"}  # RadialKernel contains a function
    assert public == fitted | values


def test_every_allowed_class_occurs_in_a_case(tmp_path):
    seen = set()
    for make in CASES.values():
        save(make(data()[0]), tmp_path / "model")
        contents = (tmp_path / "model").read_bytes()
        seen |= {name for name in CLASSES if f'"{name}":'.encode() in contents}
    assert seen == set(CLASSES)


STREAMS = [
    *(name for name in CASES if "stream" in name),
    "shadow", "kernel pca", "shadow, weights", "shadow, warm", "window", "window, every row",
    "window, weights", "fading", "kernel pca, window", "kernel pca, fading",
]  # fmt: skip
MERGED = [name for name in CASES if "merged" in name]


@pytest.mark.parametrize("name", STREAMS)
def test_a_loaded_stream_continues_with_bitwise_equal_results(name, tmp_path):
    X, new = data()
    model = CASES[name](X)
    loaded = save_and_load(model, tmp_path)
    for stream in (model, loaded):
        stream.partial_fit(new)
        if hasattr(stream, "forget") and name != "shadow, weights":
            stream.forget(X[-10:])
        stream.partial_fit(X[:30])
    assert differences(model, loaded) == []
    assert differences(answers(model, X), answers(loaded, X)) == []


@pytest.mark.parametrize("name", MERGED)
def test_a_loaded_merged_model_can_continue_but_cannot_forget(name, tmp_path):
    X, new = data()
    model = CASES[name](X)
    loaded = save_and_load(model, tmp_path)
    for merged in (model, loaded):
        with pytest.raises(ValueError, match="this model was merged"):
            merged.forget(X[:10])
        merged.partial_fit(new)
    assert differences(model, loaded) == []
    assert differences(answers(model, X), answers(loaded, X)) == []


def test_a_warm_start_uses_the_loaded_centers(tmp_path):
    X, new = data()
    model = CASES["shadow, warm"](X)
    loaded = save_and_load(model, tmp_path)
    assert differences(model.fit(new), loaded.fit(new)) == []
    cold = ShadowDensity(Gaussian(4.0)).fit(new)
    assert not np.array_equal(loaded.reduced_set_.centers, cold.reduced_set_.centers)


@pytest.mark.parametrize("name", ["window, stream", "fading, stream"])
def test_a_stream_of_mixed_precision_continues_with_bitwise_equal_results(name, tmp_path):
    X, new = data()
    for first, then in [(np.float32, np.float64), (np.float64, np.float32)]:
        model = CASES[name](X.astype(first)).partial_fit(new.astype(then))
        loaded = save_and_load(model, tmp_path)
        assert loaded.reduced_set_ == model.reduced_set_
        assert loaded.reduced_set_.centers.dtype == np.float64
        for stream in (model, loaded):
            stream.partial_fit(X.astype(then))
        assert differences(model, loaded) == []
        assert loaded.reduced_set_ == model.reduced_set_


def test_expired_centers_are_not_stored(tmp_path):
    """The search structure of the stream in memory still contains expired centers."""
    X = np.random.default_rng(0).uniform(0, 100, size=(6000, 2)) + np.arange(6000)[:, None] / 99
    model = WindowDensity(2000, ShadowDensity(Gaussian(4.0), sample_size=0)).partial_fit(X[:4000])
    aging = model._stream_.aging
    loaded = save_and_load(model, tmp_path)
    assert len(loaded._stream_.aging.opened) == np.count_nonzero(aging.alive) < len(aging.opened)
    assert loaded.partial_fit(X[4000:]).reduced_set_ == model.partial_fit(X[4000:]).reduced_set_


def test_feature_names_and_output_settings_are_stored(tmp_path):
    X, new = (pd.DataFrame(part, columns=["a", "b", "ü"]) for part in data())
    model = ReducedSetKernelPCA(2, bandwidth=4.0).fit(X).set_output(transform="pandas")
    loaded = save_and_load(model, tmp_path)
    pd.testing.assert_frame_equal(loaded.transform(new), model.transform(new))
    with pytest.raises(ValueError, match="feature names"):
        loaded.transform(new.rename(columns={"a": "z"}))


def test_centers_are_stored_once_and_shared(tmp_path):
    loaded = save_and_load(ReducedSetKernelPCA(2, bandwidth=4.0).fit(data()[0]), tmp_path)
    assert loaded.eigensystem_.centers is loaded.reduced_set_.centers
    assert not loaded.reduced_set_.weights.flags.writeable


SOLVED = [
    "kernel pca", "kernel pca, window", "kernel pca, fading", "diffusion maps", "nystrom",
    "nystrom, data", "sparse",
]  # fmt: skip


@pytest.mark.parametrize("name", SOLVED)
def test_a_loaded_model_shares_objects_with_its_estimator(name, tmp_path, monkeypatch):
    model = CASES[name](data()[0])
    loaded = save_and_load(model, tmp_path)
    monkeypatch.setattr(type(loaded), "_solve", None)  # raises if anything is solved again
    points = loaded._landmarks_ if "nystrom" in name else loaded.density_.reduced_set_
    assert loaded.model_.reduced_set is points
    assert loaded.model_.kernel is loaded.kernel_
    assert loaded.model_.evaluated is loaded.model_.system
    assert (loaded.model_.known is points) == (name != "nystrom, data")


def test_a_dict_can_contain_models_numbers_and_strings(tmp_path):
    X, _ = data()
    checkpoint = {
        "model": ShadowDensity(Gaussian(4.0)).fit(X),
        "position": 2**63,
        "files": [("a.npy", 1.5), None, True],
        "special": (np.nan, -np.inf, -0.0, np.float32(0.1), np.int64(-1), np.bool_(True)),
        "fortran": np.asfortranarray(X),
        "empty": np.empty((0, 3)),
        "swapped": X.astype(">f4").astype("<f4"),
    }
    loaded = save_and_load(checkpoint, tmp_path)
    assert differences(checkpoint, loaded) == []
    assert loaded["fortran"].flags.f_contiguous


def test_big_endian_and_strided_arrays_are_stored(tmp_path):
    X, _ = data()
    loaded = save_and_load(
        [X.astype(">f8"), X[::2, ::-1], X.reshape(-1, 2, 2, 3)[:, :, 1]], tmp_path
    )
    np.testing.assert_array_equal(loaded[0], X)
    np.testing.assert_array_equal(loaded[1], X[::2, ::-1])
    np.testing.assert_array_equal(loaded[2], X.reshape(-1, 2, 2, 3)[:, :, 1])
    assert all(array.dtype == np.float64 for array in loaded)


def test_the_header_describes_the_model(tmp_path):
    X, _ = data()
    model = ReducedSetKernelPCA(2, bandwidth=4.0).fit(X)
    save(model, tmp_path / "model")
    found = describe(tmp_path / "model")
    assert (found.class_name, found.n_features) == ("ReducedSetKernelPCA", 3)
    assert (found.n_centers, found.rskpca) == (model.n_centers_, rskpca.__version__)
    assert found.n_bytes == os.path.getsize(tmp_path / "model")
    assert found.created.tzinfo is not None
    save(ShadowDensity(), tmp_path / "model")
    assert describe(tmp_path / "model").n_centers is None


def test_saving_replaces_an_existing_file_and_leaves_no_temporary_files(tmp_path):
    path = tmp_path / "model"
    save(Gaussian(1.0), path)
    (tmp_path / "link").symlink_to(path)
    save(Gaussian(2.0), tmp_path / "link")
    assert load(path).bandwidth == 2.0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link", "model"]


@posix_permissions
def test_a_new_file_has_the_default_mode(tmp_path):
    save(Gaussian(1.0), tmp_path / "model")
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / "model").stat().st_mode) == 0o666 & ~mask


@posix_permissions
def test_the_mode_of_a_replaced_file_is_preserved(tmp_path):
    path = tmp_path / "model"
    save(Gaussian(1.0), path)
    path.chmod(0o640)
    save(Gaussian(2.0), path)
    assert load(path).bandwidth == 2.0
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.skipif(os.name == "nt", reason="requires named pipes and devices")
def test_devices_pipes_and_folders_are_never_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "pipe", tmp_path / "folder", "/dev/null"):
        before = os.stat(path)
        with pytest.raises(OSError, match=r"Not a regular file|Is a directory"):
            save(Gaussian(1.0), path)
        assert (os.stat(path).st_ino, os.stat(path).st_mode) == (before.st_ino, before.st_mode)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder", "pipe"]


@pytest.mark.parametrize("failing", ["write", "fsync", "replace"])
def test_a_failed_write_leaves_the_old_file_unchanged(failing, tmp_path, monkeypatch):
    path = tmp_path / "model"
    save(Gaussian(1.0), path)

    def full(*arguments):
        raise OSError(28, "No space left on device")

    if failing == "write":
        monkeypatch.setattr("rskpca.io._container._raw", full)
    else:
        monkeypatch.setattr(f"os.{failing}", full)
    with pytest.raises(OSError, match="No space left"):
        save(ShadowDensity(Gaussian(4.0)).fit(data()[0]), path)
    monkeypatch.undo()
    assert load(path).bandwidth == 1.0
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


def test_a_missing_folder_or_file_raises_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        save(Gaussian(1.0), tmp_path / "nowhere" / "model")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing")


@pytest.mark.parametrize("name", ["shadow", "kmeans", "normalized cut"])
def test_labels_can_be_deleted_before_saving(name, tmp_path):
    X, new = data()
    model = CASES[name](X)
    whole = answers(model, new)
    del getattr(model, "density_", model).labels_
    loaded = save_and_load(model, tmp_path)
    assert differences(model, loaded) == []
    answer = "predict" if hasattr(model, "predict") else "score_samples"
    np.testing.assert_array_equal(getattr(loaded, answer)(new), whole[answer])
