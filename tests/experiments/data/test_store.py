"""Test how data files are found and checked against the published values."""

import shutil
from dataclasses import replace
from unittest.mock import create_autospec

import numpy as np
import pytest
import sklearn.datasets
from sklearn.utils import Bunch

from experiments import data
from experiments.data import MissingDataError, WrongDataError, sources, store
from experiments.data.dataset import Published, hash_content
from experiments.data.formats import parse_label_last
from experiments.data.sources import Files, OpenML

TEXT = b" 1 6 2\n 3 4 1\n 5 0 1\n"


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Return an empty folder and an empty cache."""
    folder, cache = tmp_path / "folder", tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setenv("RSKPCA_DATA", str(folder))
    monkeypatch.setenv("RSKPCA_CACHE", str(cache))
    return folder, cache


@pytest.fixture
def small(tmp_path):
    """Return a data set with three rows that is published as a text file."""
    (tmp_path / "small.txt").write_bytes(TEXT)
    dataset = replace(
        data.get_dataset("german"),
        name="small",
        shape=(3, 2),
        classes={1: 2, 2: 1},
        sources=(Files(((tmp_path / "small.txt").as_uri(),), parse_label_last),),
    )
    published = dataset.convert(*parse_label_last(TEXT))
    return replace(dataset, content_sha256=hash_content(published, dataset))


def save(path, X, y):
    np.savez(path, X=np.array(X), y=np.array(y, np.uint8))


CORRECT = [[1, 6], [3, 4], [5, 0]], [2, 1, 1]


def test_a_download_is_parsed_checked_and_cached(folders, small):
    found = store.find(small, download=True)
    np.testing.assert_array_equal(found.X, CORRECT[0])
    np.testing.assert_array_equal(found.y, CORRECT[1])
    again = store.find(replace(small, sources=()), download=False)  # now from the cache
    np.testing.assert_array_equal(again.X, found.X)
    assert again.X.dtype == np.uint8
    assert [path.name for path in folders[1].iterdir()] == ["small.npz"]


def test_the_folder_takes_precedence_over_the_cache(folders, small):
    folder, cache = folders
    cache.mkdir()
    (cache / "small.npz").write_bytes(b"never read")
    save(folder / "small.npz", *CORRECT)
    np.testing.assert_array_equal(store.find(small, download=False).y, CORRECT[1])


@pytest.mark.parametrize(
    ("X", "y", "what"),
    [
        ([[1, 6], [3, 4], [5, 1]], [2, 1, 1], "sha256 of the values"),
        ([[3, 4], [1, 6], [5, 0]], [1, 2, 1], "sha256 of the values"),
        ([[1, 6], [3, 4]], [2, 1], "shape"),
        ([[1, 6], [3, 4], [5, 0]], [2, 2, 1], "class counts"),
        ([[1.5, 6], [3, 4], [5, 0]], [2, 1, 1], "uint8 cannot represent"),
        ([[257, 6], [3, 4], [5, 0]], [2, 1, 1], "uint8 cannot represent"),
    ],
)
def test_unexpected_values_raise_an_error(folders, small, X, y, what):
    save(folders[0] / "small.npz", X, y)
    with pytest.raises(WrongDataError, match=what):
        store.find(small, download=True)


@pytest.mark.parametrize("text", [b"", b"PK\x03\x04 truncated", b"not an archive"])
def test_an_unreadable_file_raises_an_error(folders, small, text):
    (folders[0] / "small.npz").write_bytes(text)
    with pytest.raises(WrongDataError, match=r"small\.npz cannot be read.*Remove it"):
        store.find(small, download=True)


def test_a_file_without_classes_raises_an_error(folders, small):
    np.savez(folders[0] / "small.npz", X=np.array(CORRECT[0]))
    with pytest.raises(WrongDataError, match="cannot be read as arrays X and y"):
        store.find(small, download=True)


def test_a_changed_download_raises_an_error_and_is_not_cached(folders, small, tmp_path):
    (tmp_path / "small.txt").write_bytes(TEXT.replace(b"6", b"7"))
    with pytest.raises(MissingDataError, match="sha256 of the values"):
        store.find(small, download=True)
    assert not folders[1].exists()


def test_the_next_source_is_tried_if_one_fails(folders, small, monkeypatch):
    def unreachable(number):
        raise OSError(f"no route to {number}")

    monkeypatch.setattr(sources, "read_openml", unreachable)
    both = replace(small, sources=(OpenML(7), *small.sources))
    assert len(store.find(both, download=True).X) == 3
    with pytest.raises(MissingDataError, match="no route to 7"):
        store.find(replace(small, name="other", sources=(OpenML(7),)), download=True)


def test_openml_labels_are_mapped_to_integers(monkeypatch):
    monkeypatch.setattr(sources, "read_openml", lambda _: (np.eye(2), np.array(["h", "g"])))
    X, y = OpenML(1, {"g": 0, "h": 1}).fetch()
    np.testing.assert_array_equal(X, np.eye(2))
    np.testing.assert_array_equal(y, [1, 0])


def test_openml_is_accessed_with_valid_arguments(monkeypatch):
    fetch = create_autospec(sklearn.datasets.fetch_openml)
    fetch.return_value = Bunch(data=[[1.0, 2.0]], target=["3"])
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    X, y = OpenML(32).fetch()
    assert fetch.call_args.kwargs["data_id"] == 32
    np.testing.assert_array_equal(X, [[1.0, 2.0]])
    np.testing.assert_array_equal(y, [3])


def test_the_error_explains_where_to_get_missing_data(folders):
    with pytest.raises(MissingDataError) as caught:
        data.load("german", download=False)
    message = str(caught.value)
    for part in (
        "https://doi.org/10.24432/C5NC77",
        "RSKPCA_DATA",
        str(folders[0]),
        str(folders[1]),
    ):
        assert part in message


def test_only_the_cache_is_searched_without_the_environment_variable(folders, monkeypatch):
    monkeypatch.delenv("RSKPCA_DATA")
    assert store.candidate_paths("german") == [folders[1] / "german.npz"]


def test_the_cache_is_in_the_standard_folder_for_the_platform(monkeypatch, tmp_path):
    monkeypatch.delenv("RSKPCA_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert store.cache_folder() == tmp_path / "rskpca"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(store.sys, "platform", "darwin")
    assert store.cache_folder().parts[-3:] == ("Library", "Caches", "rskpca")


def test_the_content_hash_ignores_the_row_order_on_request(small):
    unordered = replace(small, any_order=True)
    rows = Published(np.array(CORRECT[0]), np.array(CORRECT[1]), np.zeros(3, bool))
    reversed_rows = Published(rows.X[::-1], rows.y[::-1], rows.is_test)
    assert hash_content(rows, unordered) == hash_content(reversed_rows, unordered)
    assert hash_content(rows, small) != hash_content(reversed_rows, small)
    other = Published(rows.X, rows.y[::-1], rows.is_test)
    assert hash_content(rows, unordered) != hash_content(other, unordered)


def test_an_unknown_name_raises_an_error_with_a_suggestion():
    with pytest.raises(ValueError, match="Did you mean 'german'"):
        data.load("germn")


@pytest.mark.parametrize("name", data.DATASETS)
def test_local_files_equal_the_published_files(name):
    """The checksums of the file and of its values must both match."""
    try:
        found = data.load_published(name, download=False)
    except MissingDataError as error:
        pytest.skip(str(error))
    dataset = data.get_dataset(name)
    dataset.check(found, name)
    assert found.is_test.sum() == (0 if dataset.n_train is None else len(found.X) - dataset.n_train)


def test_data_are_prepared_as_in_the_paper(folders, tmp_path):
    shutil.rmtree(folders[0])
    for name, low, high in (("usps", 0.0, 1.0), ("yale", 0.0, 60 / 255)):
        X, _ = data.get_dataset(name).prepare(
            Published(np.array([[-1.0 if name == "usps" else 0.0], [1.0]]), np.array([3, 4]), None)
        )
        np.testing.assert_allclose(X[:, 0], [low, high])
    X, y = data.get_dataset("pendigits").prepare(
        Published(np.arange(6).reshape(3, 2), np.array([7, 8, 9]), np.array([False, True, True]))
    )
    np.testing.assert_array_equal(X, [[2, 3], [4, 5]])
    np.testing.assert_array_equal(y, [8, 9])
