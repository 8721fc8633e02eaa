"""Streams that no rows could have left: an error, and no place beyond an array."""

import numpy as np
import pytest

from tests.io.forge import Forged

_WINDOW = ("model", "WindowDensity")
_WINDOW_STREAM = (*_WINDOW, "_stream_", "WindowStream")
_WINDOW_COVER = (*_WINDOW_STREAM, "aging", "AgingCover")
_ROWS = (*_WINDOW_STREAM, "rows", "Rows")
_FADING = ("model", "FadingDensity")
_FADING_STREAM = (*_FADING, "_stream_", "FadingStream")
_FADING_COVER = (*_FADING_STREAM, "aging", "AgingCover")
_SUMS = (*_FADING_STREAM, "sums", "Sums")

STREAM_TREES = {
    "no rows": ((*_WINDOW_COVER, "n_rows"), 0, "n_rows must be an integer of at least 1"),
    "other rows": ((*_WINDOW_COVER, "n_rows"), 121, "last must be a row of late|last row of each"),
    "rows without end": ((*_WINDOW_COVER, "n_rows"), 2**62, "at most 2305843009213693952"),
    "no patience": ((*_WINDOW_COVER, "patience"), 0, "patience must be a whole number"),
    "patience without end": ((*_WINDOW_COVER, "patience"), 2**63, "patience must have a value of"),
    "half a row": ((*_WINDOW_COVER, "patience"), 59.5, "patience must be a whole number"),
    "a larger window": ((*_WINDOW_COVER, "patience"), 61, "rows must be the last 61, got 60"),
    "no radius": ((*_WINDOW_COVER, "radius"), None, "radius must be a number"),
    "a smaller radius": ((*_WINDOW_COVER, "radius"), 1e-9, "squared must be within the radius"),
    "no cover": ((*_WINDOW_STREAM, "aging"), None, "aging must be of AgingCover"),
    "a field too many": ((*_WINDOW_STREAM, "_cover"), 1, "nothing is known of _cover"),
    "no stream": ((*_WINDOW, "_stream_"), None, "_stream_ must be of WindowStream"),
    "no homes": ((*_WINDOW, "_homes_"), ..., "_homes_ must be there"),
    "a reduced set": ((*_WINDOW, "_set_"), None, "nothing is known of _set_"),
    "other features": ((*_WINDOW, "n_features_in_"), 4, "d is 3 here and 4 elsewhere"),
    "no half-life": ((*_FADING_STREAM, "half_life"), 0.0, "half_life must have a positive"),
    "another half-life": ((*_FADING_STREAM, "half_life"), 9.0, "not that of a half-life of 9"),
    "an endless half-life": ((*_FADING_STREAM, "half_life"), 1e308, "infinity to integer"),
    "a loss below zero": ((*_FADING_STREAM, "lost"), -1.0, "lost must be a number of at least 0"),
    "another patience": ((*_FADING_COVER, "patience"), 721, "not that of a half-life of 30"),
    "a row without a center": ((*_FADING_COVER, "n_rows"), 121, "last row must have a center"),
    "no sums": ((*_SUMS, "scatter"), ..., "scatter must be there"),
}


@pytest.mark.parametrize("name", STREAM_TREES)
def test_a_stream_that_is_not_sound_is_refused(name, saved, refuse):
    path, new, message = STREAM_TREES[name]
    file = Forged.of(saved("window" if path[1] == "WindowDensity" else "fading"))
    file.replace(path, new)
    refuse(file.sealed(), message)


STREAM_VALUES = {
    "a home far away": ((*_ROWS, "homes"), -1, 2**40, "rows that came before"),
    "a home to come": ((*_ROWS, "homes"), 0, 61, "rows that came before"),
    "a home below none": ((*_ROWS, "homes"), 0, -1, "rows that came before"),
    "a home that is no center": ((*_ROWS, "homes"), -1, 118, "rows that opened a center"),
    "a row of no weight": ((*_ROWS, "weights"), slice(None), 0.0, "last row of each center"),
    "a negative weight": ((*_ROWS, "weights"), 3, -1.0, "weights must have no negative"),
    "weights beyond all": ((*_ROWS, "weights"), slice(None), 1e308, "WindowDensity: "),
    "a negative distance": ((*_ROWS, "squared"), 3, -1.0, "squared must have no negative"),
    "a distance beyond the radius": ((*_ROWS, "squared"), 3, 1e9, "squared must be within"),
    "no number in the rows": ((*_ROWS, "X"), 0, np.nan, "X must be finite"),
    "a center opened before the first": ((*_WINDOW_COVER, "opened"), 0, -1, "ascending"),
    "a center opened twice": ((*_WINDOW_COVER, "opened"), 1, 0, "ascending"),
    "a center opened at last": ((*_WINDOW_COVER, "opened"), -1, 2**62, "none before opened"),
    "a last row to come": ((*_WINDOW_COVER, "last"), 0, 2**62, "last must be numbers of the 120"),
    "a last row before the first": ((*_WINDOW_COVER, "last"), 0, -(2**63), "last must be numbers"),
    "a last row of another": ((*_WINDOW_COVER, "last"), 0, 62, "last row of each center"),
    "no number in the centers": ((*_WINDOW_COVER, "centers"), 0, np.inf, "must be finite"),
    "a label of a row to come": ((*_WINDOW, "_homes_"), 0, 120, "_homes_ must be numbers of the"),
    "a label below none": ((*_WINDOW, "_homes_"), 0, -2, "_homes_ must be numbers of the 120"),
    "a negative sum": ((*_SUMS, "weights"), 0, -1.0, "weights must have no negative"),
    "a sum of nothing": ((*_SUMS, "weights"), 0, 0.0, "weights must be positive"),
    "a sum beyond all": ((*_SUMS, "weights"), 0, 1e308, "FadingDensity: overflow"),
    "no sum": ((*_SUMS, "displacement"), 0, np.nan, "displacement must be finite"),
    "a center that is gone": ((*_WINDOW_COVER, "last"), 0, 59, "or the center is gone"),
    "one row for all": ((*_FADING_COVER, "last"), slice(None), 119, "a row of its own"),
}


@pytest.mark.parametrize("name", STREAM_VALUES)
def test_numbers_that_no_stream_has_are_refused(name, saved, refuse):
    path, places, value, message = STREAM_VALUES[name]
    case = "window" if path[1] == "WindowDensity" else "fading"
    refuse(Forged.of(saved(case)).with_numbers(path, places, value).sealed(), message)


SHAPES = {
    "rows": ((*_ROWS, "homes"), "n is"),
    "cover": ((*_WINDOW_COVER, "opened"), "m is"),
    "sums": ((*_SUMS, "weights"), "m is"),
}


@pytest.mark.parametrize("name", SHAPES)
def test_parts_of_a_stream_must_agree(name, saved, refuse):
    path, message = SHAPES[name]
    file = Forged.of(saved("window" if path[1] == "WindowDensity" else "fading"))
    place = file.array_of(path)
    file.header["arrays"][place][1][0] -= 1
    file.arrays[place] = file.arrays[place][:-8]
    refuse(file.sealed(), message)
