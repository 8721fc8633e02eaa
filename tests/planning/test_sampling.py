"""Test the sample that plan draws from arrays, files and other sources."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rskpca.data import open_source
from rskpca.planning.plan import draw_sample, sample_size

X = np.arange(40_000.0).reshape(20_000, 2)  # sorted


def draw(data, size=None, seed=0):
    return draw_sample(data, size, np.random.RandomState(seed))


def write_file(folder, kind):
    path = folder / f"data.{kind}"
    if kind == "npy":
        np.save(path, X)
    elif kind == "npz":
        np.savez(path, X=X, y=np.zeros(3))
    elif kind == "csv":
        pd.DataFrame(X, columns=["a", "b"]).to_csv(path, index=False)
    else:
        pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1]}), path, row_group_size=3000)
    return path


@pytest.mark.parametrize("kind", ["npy", "npz", "csv", "parquet"])
def test_a_file_and_an_array_give_the_same_rows(tmp_path, kind):
    path = write_file(tmp_path, kind)
    for given in (path, str(path)):
        rows, n_samples = draw(given)
        assert n_samples == 20_000
        np.testing.assert_array_equal(rows, draw(X)[0])


def test_a_csv_file_without_column_names_is_read(tmp_path):
    np.savetxt(tmp_path / "data.csv", X, delimiter=",")
    rows, n_samples = draw(tmp_path / "data.csv")
    assert n_samples == 20_000
    np.testing.assert_array_equal(rows, draw(X)[0])


@pytest.mark.parametrize("convert", [pd.DataFrame, np.ndarray.tolist], ids=["frame", "list"])
def test_data_frames_and_lists_are_accepted(convert):
    np.testing.assert_array_equal(draw(convert(X))[0], draw(X)[0])


def test_the_sample_has_5_percent_of_the_rows_and_covers_the_whole_range():
    rows, _ = draw(X)
    assert len(rows) == 1000
    assert len(np.unique(rows[:, 0])) == 1000
    assert abs(rows[:, 0].mean() - 20_000) < 2_000
    assert rows[:, 0].min() < 400 < 39_600 < rows[:, 0].max()


@pytest.mark.parametrize(
    ("n_samples", "n_features", "size"),
    [(10**7, 3, 20_000), (10**6, 784, 2258), (10**6, 10**6, 1000), (10_992, 16, 549), (50, 2, 500)],
)
def test_the_default_sample_size_depends_on_the_rows_and_features(n_samples, n_features, size):
    assert sample_size(n_samples, n_features) == size


def test_all_rows_of_small_data_are_used_in_order():
    np.testing.assert_array_equal(draw(X[:300])[0], X[:300])
    assert len(draw(X, 150)[0]) == 150


def test_float32_data_remain_float32_and_integers_become_float64():
    assert draw(X.astype(np.float32))[0].dtype == np.float32
    assert draw(X.astype(np.int16))[0].dtype == np.float64


def test_the_error_names_the_file_that_cannot_be_read(tmp_path):
    with pytest.raises(ValueError, match=r"cannot read 'data.txt'.*\.npy, \.npz, \.csv, \.csv\.gz"):
        draw(tmp_path / "data.txt")


def test_sources_and_functions_are_accepted():
    np.testing.assert_array_equal(draw(open_source(X, columns=[1]))[0], draw(X)[0][:, 1:])
    np.testing.assert_array_equal(draw(lambda: np.array_split(X, 9))[0], draw(X)[0])


def test_an_iterator_that_can_be_read_only_once_is_rejected():
    with pytest.raises(ValueError, match=r"can be read only once.*Pass a function"):
        draw(iter([X]))


@pytest.mark.parametrize("size", [0, -5, 2.5, "all", True])
def test_an_invalid_sample_size_is_rejected(size):
    with pytest.raises(ValueError, match="sample must be an integer of at least 1"):
        draw(X, size)


def test_a_sample_of_fewer_than_100_rows_is_rejected():
    with pytest.raises(ValueError, match=r"sample must be at least 100 .* got 99"):
        draw(X, 99)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (X[:, 0], r"shape \(20000,\).*two dimensions"),
        (X[:1], r"1 sample\(s\).*minimum of 2"),
        (np.full((30, 2), np.nan), "value in row 0 .*column 0, of the array is NaN"),
        (X.astype(complex), "complex numbers"),
    ],
)
def test_invalid_arrays_are_rejected(data, message):
    with pytest.raises(ValueError, match=message):
        draw(data)
