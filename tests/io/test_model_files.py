"""What is loaded is what was saved, to the last bit, and goes on as it would have."""

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


def again(model, folder):
    save(model, folder / "model.rskpca")
    return load(folder / "model.rskpca")


def answers(model, X):
    """All that a model says of rows."""
    found = {name: getattr(model, name)(X) for name in ANSWERS if hasattr(model, name)}
    if hasattr(model, "inverse_transform"):
        found["inverse_transform"] = model.inverse_transform(found["transform"])
    learnt = [n for n in dir(model) if n.endswith("_") and not n.startswith("_")]
    return {**found, **{name: getattr(model, name, None) for name in learnt}}


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("name", CASES)
def test_a_model_comes_back_with_the_same_bits(name, dtype, tmp_path):
    X, new = data(dtype)
    model = CASES[name](X)
    loaded = again(model, tmp_path)
    assert differences(model, loaded) == []
    if hasattr(model, "n_features_in_"):
        assert differences(answers(model, new), answers(loaded, new)) == []
    assert differences(model, loaded) == []  # and solves the same


@pytest.mark.parametrize("name", CASES)
def test_what_is_loaded_can_be_saved_again_as_it_was(name, tmp_path):
    model = CASES[name](data()[0])
    save(model, tmp_path / "first")
    save(load(tmp_path / "first"), tmp_path / "second")
    assert os.path.getsize(tmp_path / "first") == os.path.getsize(tmp_path / "second")
    assert differences(load(tmp_path / "second"), model) == []


def test_every_public_class_has_a_case():
    """A new estimator needs an entry in the registry, and a case."""
    X, _ = data()
    covered = {type(make(X)).__name__ for make in CASES.values()}
    public = {name for name in rskpca.__all__ if inspect.isclass(getattr(rskpca, name))}
    fitted = {n for n in public if issubclass(getattr(rskpca, n), BaseEstimator)}
    values = {"ReducedSet", "Certificate"}
    assert (fitted | values) - covered == {"RadialKernel"}  # which holds a function
    assert public == fitted | values


def test_every_entry_of_the_registry_is_in_a_case(tmp_path):
    seen = set()
    for make in CASES.values():
        save(make(data()[0]), tmp_path / "model")
        seen |= {name for name in CLASSES if f'"{name}":'.encode() in file_bytes(tmp_path)}
    assert seen == set(CLASSES)


def file_bytes(folder):
    return (folder / "model").read_bytes()


STREAMS = [
    *(name for name in CASES if "stream" in name),
    "shadow", "kernel pca", "shadow, weights", "shadow, warm", "window", "window, every row",
    "window, weights", "fading", "kernel pca, window", "kernel pca, fading",
]  # fmt: skip
MERGED = [name for name in CASES if "merged" in name]


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_goes_on_bit_for_bit(name, tmp_path):
    X, new = data()
    model = CASES[name](X)
    loaded = again(model, tmp_path)
    for stream in (model, loaded):
        stream.partial_fit(new)
        if hasattr(stream, "forget") and name != "shadow, weights":
            stream.forget(X[-10:])
        stream.partial_fit(X[:30])
    assert differences(model, loaded) == []
    assert differences(answers(model, X), answers(loaded, X)) == []


@pytest.mark.parametrize("name", MERGED)
def test_a_merged_model_goes_on_and_still_refuses_to_forget(name, tmp_path):
    X, new = data()
    model = CASES[name](X)
    loaded = again(model, tmp_path)
    for merged in (model, loaded):
        with pytest.raises(ValueError, match="this model was merged"):
            merged.forget(X[:10])
        merged.partial_fit(new)
    assert differences(model, loaded) == []
    assert differences(answers(model, X), answers(loaded, X)) == []


def test_a_warm_start_starts_from_the_loaded_centers(tmp_path):
    X, new = data()
    model = CASES["shadow, warm"](X)
    loaded = again(model, tmp_path)
    assert differences(model.fit(new), loaded.fit(new)) == []
    cold = ShadowDensity(Gaussian(4.0)).fit(new)
    assert not np.array_equal(loaded.reduced_set_.centers, cold.reduced_set_.centers)


@pytest.mark.parametrize("name", ["window, stream", "fading, stream"])
def test_a_stream_of_both_precisions_goes_on_bit_for_bit(name, tmp_path):
    X, new = data()
    for first, then in [(np.float32, np.float64), (np.float64, np.float32)]:
        model = CASES[name](X.astype(first)).partial_fit(new.astype(then))
        loaded = again(model, tmp_path)
        assert loaded.reduced_set_ == model.reduced_set_
        assert loaded.reduced_set_.centers.dtype == np.float64
        for stream in (model, loaded):
            stream.partial_fit(X.astype(then))
        assert differences(model, loaded) == []
        assert loaded.reduced_set_ == model.reduced_set_


def test_centers_that_are_gone_are_not_stored(tmp_path):
    """A stream whose search still holds them."""
    X = np.random.default_rng(0).uniform(0, 100, size=(6000, 2)) + np.arange(6000)[:, None] / 99
    model = WindowDensity(2000, ShadowDensity(Gaussian(4.0), n_frequencies=0)).partial_fit(X[:4000])
    aging = model._stream_.aging
    loaded = again(model, tmp_path)
    assert len(loaded._stream_.aging.opened) == np.count_nonzero(aging.alive) < len(aging.opened)
    assert loaded.partial_fit(X[4000:]).reduced_set_ == model.partial_fit(X[4000:]).reduced_set_


def test_names_of_features_and_the_output_are_kept(tmp_path):
    X, new = (pd.DataFrame(part, columns=["a", "b", "ü"]) for part in data())
    model = ReducedSetKernelPCA(2, bandwidth=4.0).fit(X).set_output(transform="pandas")
    loaded = again(model, tmp_path)
    pd.testing.assert_frame_equal(loaded.transform(new), model.transform(new))
    with pytest.raises(ValueError, match="feature names"):
        loaded.transform(new.rename(columns={"a": "z"}))


def test_the_centers_are_stored_once_and_shared_again(tmp_path):
    loaded = again(ReducedSetKernelPCA(2, bandwidth=4.0).fit(data()[0]), tmp_path)
    assert loaded.eigensystem_.centers is loaded.reduced_set_.centers
    assert not loaded.reduced_set_.weights.flags.writeable


def test_models_beside_numbers_and_words(tmp_path):
    X, _ = data()
    checkpoint = {
        "model": ShadowDensity(Gaussian(4.0)).fit(X),
        "position": 2**63,
        "files": [("a.npy", 1.5), None, True],
        "odd": (np.nan, -np.inf, -0.0, np.float32(0.1), np.int64(-1), np.bool_(True)),
        "turned": np.asfortranarray(X),
        "empty": np.empty((0, 3)),
        "swapped": X.astype(">f4").astype("<f4"),
    }
    loaded = again(checkpoint, tmp_path)
    assert differences(checkpoint, loaded) == []
    assert loaded["turned"].flags.f_contiguous


def test_arrays_of_the_other_byte_order_and_parts_of_arrays(tmp_path):
    X, _ = data()
    loaded = again([X.astype(">f8"), X[::2, ::-1], X.reshape(-1, 2, 2, 3)[:, :, 1]], tmp_path)
    np.testing.assert_array_equal(loaded[0], X)
    np.testing.assert_array_equal(loaded[1], X[::2, ::-1])
    np.testing.assert_array_equal(loaded[2], X.reshape(-1, 2, 2, 3)[:, :, 1])
    assert all(array.dtype == np.float64 for array in loaded)


def test_the_header_tells_of_the_model(tmp_path):
    X, _ = data()
    model = ReducedSetKernelPCA(2, bandwidth=4.0).fit(X)
    save(model, tmp_path / "model")
    said = describe(tmp_path / "model")
    assert (said.class_name, said.n_features) == ("ReducedSetKernelPCA", 3)
    assert (said.n_centers, said.rskpca) == (model.n_centers_, rskpca.__version__)
    assert said.n_bytes == os.path.getsize(tmp_path / "model")
    assert said.created.tzinfo is not None
    save(ShadowDensity(), tmp_path / "model")
    assert describe(tmp_path / "model").n_centers is None


def test_a_file_takes_the_place_of_another_and_leaves_nothing_beside(tmp_path):
    path = tmp_path / "model"
    save(Gaussian(1.0), path)
    (tmp_path / "link").symlink_to(path)
    save(Gaussian(2.0), tmp_path / "link")
    assert load(path).bandwidth == 2.0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link", "model"]
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask


@pytest.mark.parametrize("failing", ["write", "fsync", "replace"])
def test_a_full_disk_leaves_the_old_file(failing, tmp_path, monkeypatch):
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


def test_a_folder_that_is_not_there_is_said(tmp_path):
    with pytest.raises(FileNotFoundError):
        save(Gaussian(1.0), tmp_path / "nowhere" / "model")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing")


@pytest.mark.parametrize("name", ["shadow", "kmeans", "normalized cut"])
def test_labels_may_be_left_out(name, tmp_path):
    X, new = data()
    model = CASES[name](X)
    whole = answers(model, new)
    del getattr(model, "density_", model).labels_
    loaded = again(model, tmp_path)
    assert differences(model, loaded) == []
    answer = "predict" if hasattr(model, "predict") else "score_samples"
    np.testing.assert_array_equal(getattr(loaded, answer)(new), whole[answer])
