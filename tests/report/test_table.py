"""Test that the columns of a report keep the values of the rows."""

import numpy as np
import pytest

from rskpca.report.table import Column, row_bytes
from tests.report.pages import decode

RNG = np.random.default_rng(0)
NUMBERS = {
    "pixels": RNG.integers(0, 256, 5000) / 255,
    "integers": RNG.integers(-5000, 5000, 100_000),
    "floats": RNG.normal(size=5000),
    "single precision": RNG.normal(size=5000).astype(np.float32),
    "times": 1.7e9 + RNG.normal(size=5000),
    "missing": np.where(RNG.random(5000) < 0.5, np.nan, RNG.normal(size=5000)),
    "constant": np.ones(5000),
}


@pytest.mark.parametrize("values", NUMBERS.values(), ids=NUMBERS)
def test_numbers_are_kept(values):
    column = Column.of("a", "feature", values)
    found = decode(column.to_dict())
    if column.levels is None and column.values.dtype == np.float32:
        np.testing.assert_array_equal(found, values.astype(np.float32))
        assert np.nanmax(np.abs(found - values)) <= 1e-6 * np.ptp(values[np.isfinite(values)])
    else:
        np.testing.assert_array_equal(found, values)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["b", "a", "b"], ["b", "a", "b"]),
        ([True, False, True], ["True", "False", "True"]),
        (np.array(["x", None, float("nan")], dtype=object), ["x", "", ""]),
    ],
)
def test_text_and_booleans_are_categories(values, expected):
    column = Column.of("a", "given", values)
    assert column.categorical
    assert decode(column.to_dict()).tolist() == expected


def test_integers_are_categories_only_if_few_of_them_are_distinct():
    assert Column.of("a", "given", np.arange(100) % 10).categorical
    assert not Column.of("a", "given", np.arange(100) % 11).categorical
    assert not Column.of("a", "given", np.array([0.5, 1.0] * 9)).categorical


def test_columns_with_few_distinct_values_take_one_byte_per_row():
    columns = [Column.of("a", "feature", NUMBERS[name]) for name in ("pixels", "floats", "times")]
    assert row_bytes(columns) == 1 + 4 + 8


def test_head_keeps_only_the_levels_of_its_rows():
    names = np.array([f"row {k}" for k in range(1000)])
    column = Column.of("a", "given", names).head(10)
    assert len(column.levels) == 10
    assert decode(column.to_dict()).tolist() == names[:10].tolist()
