"""Test that streams in a state that no rows could have produced are rejected."""

import numpy as np
import pytest

from tests.io.forge import ForgedFile

_WINDOW = ("model", "WindowDensity")
_WINDOW_STREAM = (*_WINDOW, "_stream_", "WindowStream")
_WINDOW_COVER = (*_WINDOW_STREAM, "aging", "AgingCover")
_ROWS = (*_WINDOW_STREAM, "rows", "WindowRows")
_FADING = ("model", "FadingDensity")
_FADING_STREAM = (*_FADING, "_stream_", "FadingStream")
_FADING_COVER = (*_FADING_STREAM, "aging", "AgingCover")
_FADING_SAMPLE = (*_FADING_STREAM, "sample", "RowSample")
_STATISTICS = (*_FADING_STREAM, "statistics", "Statistics")

TREES = {
    "no rows": ((*_WINDOW_COVER, "n_rows"), 0, "n_rows must be at least 1"),
    "a different number of rows": ((*_WINDOW_COVER, "n_rows"), 121, "last must contain"),
    "too many rows": ((*_WINDOW_COVER, "n_rows"), 2**62, "n_rows must be at most 2305843009213693"),
    "no patience": ((*_WINDOW_COVER, "patience"), 0, "patience must be at least 1"),
    "too much patience": ((*_WINDOW_COVER, "patience"), 2**63, "patience must be at most"),
    "a fractional patience": ((*_WINDOW_COVER, "patience"), 59.5, "patience must be of type int"),
    "a larger window": ((*_WINDOW_COVER, "patience"), 61, "rows must be the last 61 rows, got 60"),
    "no radius": ((*_WINDOW_COVER, "radius"), None, "radius must be of type float"),
    "a smaller radius": ((*_WINDOW_COVER, "radius"), 1e-9, "squared must be at most the square"),
    "no cover": ((*_WINDOW_STREAM, "aging"), None, "aging must be of type AgingCover"),
    "an unknown field": ((*_WINDOW_STREAM, "_cover"), 1, "unknown attribute _cover"),
    "no stream": ((*_WINDOW, "_stream_"), None, "_stream_ must be of type WindowStream"),
    "another stream": (
        (*_WINDOW, "_stream_"), {"Plain": {}}, "_stream_ must be of type WindowStream",
    ),
    "no homes": ((*_WINDOW, "_homes_"), ..., "_homes_ is missing"),
    "a derived attribute": ((*_WINDOW, "_set_"), None, "unknown attribute _set_"),
    "more features": ((*_WINDOW, "n_features_in_"), 4, "has 3 features, but n_features_in_ is 4"),
    "a half-life of zero": ((*_FADING_STREAM, "half_life"), 0.0, "half_life must be positive"),
    "a different half-life": ((*_FADING_STREAM, "half_life"), 9.0, "a half-life of 9 rows"),
    "a huge half-life": ((*_FADING_STREAM, "half_life"), 1e308, "infinity to integer"),
    "a negative loss": ((*_FADING_STREAM, "lost"), -1.0, "lost must be at least 0"),
    "a different patience": ((*_FADING_COVER, "patience"), 721, "a half-life of 30 rows, got 721"),
    "a row without a center": ((*_FADING_COVER, "n_rows"), 121, "row number of the last row"),
    "another class in place of a sample": (
        (*_WINDOW_STREAM, "sample"), {"Plain": {}}, "sample must be of type",
    ),
    "missing statistics": ((*_STATISTICS, "scatter"), ..., "scatter is missing"),
}  # fmt: skip


def read_case(saved, path):
    return ForgedFile.parse(saved("window" if path[1] == "WindowDensity" else "fading"))


@pytest.mark.parametrize("name", TREES)
def test_an_invalid_stream_is_rejected(name, saved, assert_rejected):
    path, new, message = TREES[name]
    file = read_case(saved, path)
    file.replace(path, new)
    assert_rejected(file.to_bytes(), message)


VALUES = {
    "a home that is far too large": ((*_ROWS, "homes"), -1, 2**40, "or of an earlier row"),
    "a later home": ((*_ROWS, "homes"), 0, 61, "or of an earlier row"),
    "a negative home": ((*_ROWS, "homes"), 0, -1, "or of an earlier row"),
    "a home that is not a center": ((*_ROWS, "homes"), -1, 118, "a row that opened a center"),
    "no weights": ((*_ROWS, "weights"), slice(None), 0.0, "last row of each center"),
    "a negative weight": ((*_ROWS, "weights"), 3, -1.0, "weights must be at least 0"),
    "weights that overflow": ((*_ROWS, "weights"), slice(None), 1e308, "WindowDensity: "),
    "a negative distance": ((*_ROWS, "squared"), 3, -1.0, "squared must be at least 0"),
    "a distance beyond the radius": ((*_ROWS, "squared"), 3, 1e9, "squared must be at most"),
    "NaN in the rows": ((*_ROWS, "X"), 0, np.nan, "X must be finite"),
    "a negative opening row": ((*_WINDOW_COVER, "opened"), 0, -1, "ascending order"),
    "equal opening rows": ((*_WINDOW_COVER, "opened"), 1, 0, "ascending order"),
    "a late opening row": ((*_WINDOW_COVER, "opened"), -1, 2**62, "opened up to 119"),
    "a later last row": ((*_WINDOW_COVER, "last"), 0, 2**62, "opened up to 119"),
    "a negative last row": ((*_WINDOW_COVER, "last"), 0, -(2**63), "opened up to 119"),
    "the last row of another center": ((*_WINDOW_COVER, "last"), 0, 62, "last row of each center"),
    "infinity in the centers": ((*_WINDOW_COVER, "centers"), 0, np.inf, "must be finite"),
    "a label that is too large": (
        (*_WINDOW, "_homes_"),
        0,
        120,
        "_homes_ must contain indices",
    ),
    "a label that is too small": (
        (*_WINDOW, "_homes_"),
        0,
        -2,
        "_homes_ must contain indices",
    ),
    "a negative sum": ((*_STATISTICS, "weights"), 0, -1.0, "weights must be at least 0"),
    "a sum of zero": ((*_STATISTICS, "weights"), 0, 0.0, "all centers must have positive"),
    "a sum that overflows": ((*_STATISTICS, "weights"), 0, 1e308, "FadingDensity: overflow"),
    "NaN in the sums": ((*_STATISTICS, "displacement"), 0, np.nan, "must be finite"),
    "an expired center": ((*_WINDOW_COVER, "last"), 0, 59, "expired centers are not stored"),
    "a sampled label that is too large": (
        (*_FADING_SAMPLE, "labels"),
        0,
        2**40,
        "indices of the centers, or -1",
    ),
    "a sampled label that is too small": (
        (*_FADING_SAMPLE, "labels"),
        0,
        -2,
        "indices of the centers, or -1",
    ),
    "equal last rows": ((*_FADING_COVER, "last"), slice(None), 119, "a different row"),
}


@pytest.mark.parametrize("name", VALUES)
def test_invalid_numbers_in_a_stream_are_rejected(name, saved, assert_rejected):
    path, places, value, message = VALUES[name]
    assert_rejected(read_case(saved, path).with_numbers(path, places, value).to_bytes(), message)


SHAPES = {
    "rows": ((*_ROWS, "homes"), "the same number of rows"),
    "cover": ((*_WINDOW_COVER, "opened"), "opened must have shape"),
    "statistics": ((*_STATISTICS, "weights"), "one number per center"),
}


@pytest.mark.parametrize("name", SHAPES)
def test_inconsistent_parts_of_a_stream_are_rejected(name, saved, assert_rejected):
    path, message = SHAPES[name]
    file = read_case(saved, path)
    index = file.index_of(path)
    file.header["arrays"][index][1][0] -= 1
    file.arrays[index] = file.arrays[index][:-8]
    assert_rejected(file.to_bytes(), message)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ([1, 3], "sample must be empty"),
        ([0, 2], "rows must have 3 features, like the centers, got 2"),
    ],
)
def test_a_window_with_an_invalid_sample_is_rejected(shape, message, saved, assert_rejected):
    """The stored sample of a window is empty, because rows are sampled from the window itself."""
    file = ForgedFile.parse(saved("window"))
    sample = (*_WINDOW_STREAM, "sample", "RowSample")
    for name in ("rows", "weights", "labels", "keys"):
        index, size = file.index_of((*sample, name)), shape if name == "rows" else shape[:1]
        file.header["arrays"][index][1] = size
        dtype = file.header["arrays"][index][0]
        file.arrays[index] = np.ones(size, dtype=dtype).tobytes()
    assert_rejected(file.to_bytes(), message)
