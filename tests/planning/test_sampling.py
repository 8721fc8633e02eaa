"""Rows from all over, of arrays and of files."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rskpca.data import open_source
from rskpca.planning import sampling

X = np.arange(40_000.0).reshape(20_000, 2)  # sorted


def draw(data, size=None, seed=0):
    return sampling.draw(data, size, np.random.RandomState(seed))


def written(path, kind):
    path = path / f"data.{kind}"
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
def test_a_file_gives_the_rows_of_the_array(tmp_path, kind):
    path = written(tmp_path, kind)
    for given in (path, str(path)):
        drawn = draw(given)
        assert drawn.n_samples == 20_000
        np.testing.assert_array_equal(drawn.rows, draw(X).rows)


def test_a_table_without_names_is_read_too(tmp_path):
    np.savetxt(tmp_path / "data.csv", X, delimiter=",")
    assert draw(tmp_path / "data.csv").n_samples == 20_000
    np.testing.assert_array_equal(draw(tmp_path / "data.csv").rows, draw(X).rows)


def test_frames_and_lists_are_arrays():
    np.testing.assert_array_equal(draw(pd.DataFrame(X)).rows, draw(X).rows)
    np.testing.assert_array_equal(draw(X.tolist()).rows, draw(X).rows)


def test_a_twentieth_of_the_rows_from_all_over():
    rows = draw(X).rows
    assert len(rows) == 1000
    assert len(np.unique(rows[:, 0])) == 1000
    assert abs(rows[:, 0].mean() - 20_000) < 2_000
    assert rows[:, 0].min() < 400 < 39_600 < rows[:, 0].max()


@pytest.mark.parametrize(
    ("n_samples", "n_features", "size"),
    [(10**7, 3, 20_000), (10**6, 784, 2258), (10**6, 10**6, 1000), (10_992, 16, 549), (50, 2, 500)],
)
def test_how_many_rows_are_looked_at(n_samples, n_features, size):
    assert sampling._size(n_samples, n_features) == size


def test_few_rows_are_all_taken():
    np.testing.assert_array_equal(draw(X[:300]).rows, X[:300])
    assert len(draw(X, 150).rows) == 150


def test_float32_stays():
    assert draw(X.astype(np.float32)).rows.dtype == np.float32
    assert draw(X.astype(np.int16)).rows.dtype == np.float64


def test_what_cannot_be_opened_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"cannot read 'data.txt'.*\.npy, \.npz, \.csv, \.parquet"):
        draw(tmp_path / "data.txt")


def test_a_source_and_a_function_are_drawn_from():
    np.testing.assert_array_equal(draw(open_source(X, columns=[1])).rows, draw(X).rows[:, 1:])
    np.testing.assert_array_equal(draw(lambda: np.array_split(X, 9)).rows, draw(X).rows)


def test_an_iterator_that_ends_is_refused():
    with pytest.raises(ValueError, match=r"can be read only once.*give a function"):
        draw(iter([X]))


@pytest.mark.parametrize("size", [0, -5, 2.5, "all", True])
def test_a_bad_sample_is_named(size):
    with pytest.raises(ValueError, match="sample must be a whole number of at least 1"):
        draw(X, size)


def test_a_sample_that_says_nothing_is_refused():
    with pytest.raises(ValueError, match=r"sample=99 rows are too few.*at least 100"):
        draw(X, 99)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (X[:, 0], r"shape \(20000,\).*two dimensions"),
        (X[:1], r"1 sample\(s\).*minimum of 2"),
        (np.full((30, 2), np.nan), "row 0 of the array.*column 0, holds NaN"),
        (X.astype(complex), "complex numbers"),
    ],
)
def test_bad_arrays_are_refused(data, message):
    with pytest.raises(ValueError, match=message):
        draw(data)
