"""Which file is taken, and that only the published values pass."""

import shutil
from dataclasses import replace
from unittest.mock import create_autospec

import numpy as np
import pytest
import sklearn.datasets
from sklearn.utils import Bunch

from experiments import data
from experiments.data import MissingDataError, WrongDataError, sources, store
from experiments.data.dataset import Published, content
from experiments.data.sources import Files, OpenML
from experiments.data.tables import label_last

TEXT = b" 1 6 2\n 3 4 1\n 5 0 1\n"


@pytest.fixture
def places(tmp_path, monkeypatch):
    """An empty folder and an empty cache."""
    folder, cache = tmp_path / "folder", tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setenv("RSKPCA_DATA", str(folder))
    monkeypatch.setenv("RSKPCA_CACHE", str(cache))
    return folder, cache


@pytest.fixture
def small(tmp_path):
    """A data set of three rows that is published as a file."""
    (tmp_path / "small.txt").write_bytes(TEXT)
    known = replace(
        data.describe("german"),
        name="small",
        shape=(3, 2),
        classes={1: 2, 2: 1},
        sources=(Files(((tmp_path / "small.txt").as_uri(),), label_last),),
    )
    return replace(known, content_sha256=content(known.published(*label_last(TEXT)), known))


def save(path, X, y):
    np.savez(path, X=np.array(X), y=np.array(y, np.uint8))


RIGHT = [[1, 6], [3, 4], [5, 0]], [2, 1, 1]


def test_downloads_parses_checks_and_keeps(places, small):
    found = store.find(small, download=True)
    np.testing.assert_array_equal(found.X, RIGHT[0])
    np.testing.assert_array_equal(found.y, RIGHT[1])
    again = store.find(replace(small, sources=()), download=False)  # from the cache
    np.testing.assert_array_equal(again.X, found.X)
    assert again.X.dtype == np.uint8
    assert [path.name for path in places[1].iterdir()] == ["small.npz"]


def test_the_folder_comes_before_the_cache(places, small):
    folder, cache = places
    cache.mkdir()
    (cache / "small.npz").write_bytes(b"never read")
    save(folder / "small.npz", *RIGHT)
    np.testing.assert_array_equal(store.find(small, download=False).y, RIGHT[1])


@pytest.mark.parametrize(
    ("X", "y", "what"),
    [
        ([[1, 6], [3, 4], [5, 1]], [2, 1, 1], "sha256 of the values"),
        ([[3, 4], [1, 6], [5, 0]], [1, 2, 1], "sha256 of the values"),
        ([[1, 6], [3, 4]], [2, 1], "shape"),
        ([[1, 6], [3, 4], [5, 0]], [2, 2, 1], "rows of each class"),
        ([[1.5, 6], [3, 4], [5, 0]], [2, 1, 1], "no uint8"),
        ([[257, 6], [3, 4], [5, 0]], [2, 1, 1], "no uint8"),
    ],
)
def test_other_values_are_refused(places, small, X, y, what):
    save(places[0] / "small.npz", X, y)
    with pytest.raises(WrongDataError, match=what):
        store.find(small, download=True)


@pytest.mark.parametrize("text", [b"", b"PK\x03\x04 cut off", b"no archive"])
def test_a_broken_file_is_refused(places, small, text):
    (places[0] / "small.npz").write_bytes(text)
    with pytest.raises(WrongDataError, match=r"small\.npz cannot be read.*Remove it"):
        store.find(small, download=True)


def test_a_file_without_classes_is_refused(places, small):
    np.savez(places[0] / "small.npz", X=np.array(RIGHT[0]))
    with pytest.raises(WrongDataError, match="cannot be read as arrays X and y"):
        store.find(small, download=True)


def test_a_changed_download_is_refused_and_not_kept(places, small, tmp_path):
    (tmp_path / "small.txt").write_bytes(TEXT.replace(b"6", b"7"))
    with pytest.raises(MissingDataError, match="sha256 of the values"):
        store.find(small, download=True)
    assert not places[1].exists()


def test_the_next_source_serves_where_one_fails(places, small, monkeypatch):
    def unreachable(number):
        raise OSError(f"no route to {number}")

    monkeypatch.setattr(sources, "read_openml", unreachable)
    both = replace(small, sources=(OpenML(7), *small.sources))
    assert len(store.find(both, download=True).X) == 3
    with pytest.raises(MissingDataError, match="no route to 7"):
        store.find(replace(small, name="other", sources=(OpenML(7),)), download=True)


def test_openml_names_the_classes_otherwise(monkeypatch):
    monkeypatch.setattr(sources, "read_openml", lambda _: (np.eye(2), np.array(["h", "g"])))
    X, y = OpenML(1, {"g": 0, "h": 1}).fetch()
    np.testing.assert_array_equal(X, np.eye(2))
    np.testing.assert_array_equal(y, [1, 0])


def test_openml_is_asked_in_scikit_learns_words(monkeypatch):
    fetch = create_autospec(sklearn.datasets.fetch_openml)
    fetch.return_value = Bunch(data=[[1.0, 2.0]], target=["3"])
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    X, y = OpenML(32).fetch()
    assert fetch.call_args.kwargs["data_id"] == 32
    np.testing.assert_array_equal(X, [[1.0, 2.0]])
    np.testing.assert_array_equal(y, [3])


def test_missing_data_say_where_to_get_them(places):
    with pytest.raises(MissingDataError) as caught:
        data.load("german", download=False)
    message = str(caught.value)
    for part in ("https://doi.org/10.24432/C5NC77", "RSKPCA_DATA", str(places[0]), str(places[1])):
        assert part in message


def test_without_the_variable_only_the_cache_is_looked_at(places, monkeypatch):
    monkeypatch.delenv("RSKPCA_DATA")
    assert store.places("german") == [places[1] / "german.npz"]


def test_the_cache_is_the_platforms(monkeypatch, tmp_path):
    monkeypatch.delenv("RSKPCA_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert store.cache() == tmp_path / "rskpca"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(store.sys, "platform", "darwin")
    assert store.cache().parts[-3:] == ("Library", "Caches", "rskpca")


def test_rows_in_any_order_have_one_content(small):
    loose = replace(small, any_order=True)
    data_ = Published(np.array(RIGHT[0]), np.array(RIGHT[1]), np.zeros(3, bool))
    turned = Published(data_.X[::-1], data_.y[::-1], data_.is_test)
    assert content(data_, loose) == content(turned, loose)
    assert content(data_, small) != content(turned, small)
    other = Published(data_.X, data_.y[::-1], data_.is_test)
    assert content(data_, loose) != content(other, loose)


def test_an_unknown_name_suggests_one():
    with pytest.raises(ValueError, match="Do you mean 'german'"):
        data.load("germn")


@pytest.mark.parametrize("name", data.NAMES)
def test_the_files_at_hand_are_the_published_ones(name):
    """By the sha256 of the file and by that of the values."""
    try:
        found = data.published(name, download=False)
    except MissingDataError as error:
        pytest.skip(str(error))
    dataset = data.describe(name)
    dataset.check(found, name)
    assert found.is_test.sum() == (0 if dataset.n_train is None else len(found.X) - dataset.n_train)


def test_the_paper_takes_part_of_pendigits_and_pixels_in_the_unit_interval(places, tmp_path):
    shutil.rmtree(places[0])
    for name, low, high in (("usps", 0.0, 1.0), ("yale", 0.0, 60 / 255)):
        used = data.describe(name).use(
            Published(np.array([[-1.0 if name == "usps" else 0.0], [1.0]]), np.array([3, 4]), None)
        )
        np.testing.assert_allclose(used.X[:, 0], [low, high])
    part = data.describe("pendigits").use(
        Published(np.arange(6).reshape(3, 2), np.array([7, 8, 9]), np.array([False, True, True]))
    )
    np.testing.assert_array_equal(part.X, [[2, 3], [4, 5]])
    np.testing.assert_array_equal(part.y, [8, 9])
