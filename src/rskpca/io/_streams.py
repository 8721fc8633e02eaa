"""The state of streams whose rows pass, and what it must be like.

A file has no centers that are gone, and all rows of a window in one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..density._aging import AgingCover
from ..density._recent import WindowRows, append, column, concatenate
from ..density.fading import FadingStream, patience
from ..density.window import WindowStream
from ..reduced_set import Statistics
from ._entries import EstimatorEntry, estimator, value
from ._fields import (
    Field,
    array,
    doubles,
    every,
    floats,
    having,
    maybe,
    number,
    thing,
    whole,
)
from ._parts import fitted_kernel
from .errors import refuse

# Differences of these stay within 64 bits.
_MOST_ROWS = 2**61
_LONGEST_PATIENCE = 2**62

_not_negative = having("no negative number", lambda values: (values >= 0).all())


def _at_most(high: int) -> Field:
    return having(f"a value of at most {high}", lambda number: number <= high)


# ------------------------------------------------------------------ centers


def _cover_values(aging: AgingCover) -> dict[str, Any]:
    """Centers in the dtype of the rows, which holds them."""
    names = "radius", "patience", "n_rows", "opened", "last", "centers"
    return {name: getattr(aging, name) for name in names}


def _cover(cls: Any, values: dict[str, Any]) -> Any:
    numbers = {name: int(values[name]) for name in ("patience", "n_rows")}
    return cls.restored(**{**values, **numbers})


def _centers_of_rows(aging: AgingCover) -> None:
    """Rows open centers one after another, and none of these is gone."""
    opened, last = aging.opened, aging.last
    if opened[0] < 0 or not (np.diff(opened) > 0).all():
        refuse("opened must be numbers of rows, ascending")
    if not ((opened <= last) & (last < aging.n_rows)).all():
        refuse(f"last must be numbers of the {aging.n_rows} rows, none before opened")
    if len(np.unique(last)) != len(last):
        refuse("last must be a row of its own for each center")
    if not aging.alive.all():
        refuse("last must be a row of late, or the center is gone")


_numbers = array("q", "m")
_AGING = value(
    AgingCover,
    {
        "radius": number(0),
        "patience": every(whole(1), _at_most(_LONGEST_PATIENCE)),
        "n_rows": every(whole(1), _at_most(_MOST_ROWS)),
        "opened": _numbers,
        "last": _numbers,
        "centers": floats("m", "d"),
    },
    take=_cover_values,
    build=_cover,
    settle=_centers_of_rows,
)
_CENTERS = thing("AgingCover", m="m", d="d")
_SPECTRUM = maybe(thing("Spectrum", d="d"))


# ------------------------------------------------------------------ windows


def _window_values(stream: WindowStream) -> dict[str, Any]:
    settled = stream.compacted()
    return {
        "aging": settled.aging,
        "rows": concatenate(settled.segments),
        "spectrum": settled.spectrum,
    }


def _window(cls: Any, values: dict[str, Any]) -> Any:
    return cls(values["aging"], values["spectrum"], append((), values["rows"]))


def _rows_of_centers(stream: WindowStream) -> None:
    """The window is full, and its rows are those of the centers."""
    aging = stream.compacted().aging
    weights, homes = column(stream.segments, "weights"), column(stream.segments, "homes")
    wanted = min(aging.n_rows, aging.patience)
    if len(weights) != wanted:
        refuse(f"rows must be the last {wanted}, got {len(weights)}")
    numbers = aging.n_rows - wanted + np.arange(wanted)
    if not ((homes >= 0) & (homes <= numbers)).all():
        refuse("homes must be numbers of rows that came before")
    here = weights > 0
    places = np.minimum(np.searchsorted(aging.opened, homes[here]), len(aging.opened) - 1)
    if not np.array_equal(aging.opened[places], homes[here]):
        refuse("homes must be numbers of rows that opened a center")
    last = np.full(len(aging.opened), -1)
    last[places] = numbers[here]
    if not np.array_equal(last, aging.last):
        refuse("last must be the last row of each center")
    if not (column(stream.segments, "squared") <= aging.radius * aging.radius).all():
        refuse(f"squared must be within the radius of {aging.radius:g}")


# ------------------------------------------------------------------ fading


def _fading_values(stream: FadingStream) -> dict[str, Any]:
    settled = stream.compacted()
    names = "aging", "spectrum", "half_life", "statistics", "lost"
    return {name: getattr(settled, name) for name in names}


def _fading(cls: Any, values: dict[str, Any]) -> Any:
    numbers = {name: float(values[name]) for name in ("half_life", "lost")}
    return cls.restored(**{**values, **numbers})


def _fades(stream: FadingStream) -> None:
    """The last row counts, and the half-life says when centers go."""
    if stream.aging.last.max() != stream.aging.n_rows - 1:
        refuse("the last row must have a center")
    if stream.aging.patience != patience(stream.half_life):
        refuse(f"patience is not that of a half-life of {stream.half_life:g}")


# ------------------------------------------------------------------ densities


def _answers(density: Any) -> None:
    """What was counted makes a reduced set, and rows have a center that was opened."""
    if density.density is not None:
        density._check_density(density.density)
    if not hasattr(density, "n_features_in_"):
        return
    homes, n_rows = density._homes_, density._stream_.aging.n_rows
    if homes is not None and not ((homes >= -1) & (homes < n_rows)).all():
        refuse(f"_homes_ must be numbers of the {n_rows} rows, or -1")
    with np.errstate(over="raise", invalid="raise"):
        _ = density.reduced_set_


def passing(cls: type, stream: type) -> EstimatorEntry:
    """An entry for a density on such a stream."""
    learnt = {
        "kernel_": fitted_kernel,
        "ell_": number(0, infinite=True),
        "_stream_": thing(stream.__name__, m="m", d="d"),
        "_homes_": maybe(array("q", "n")),
    }
    return estimator(cls, learnt, settle=_answers)


STREAMS = (
    _AGING,
    value(
        WindowRows,
        {
            "X": floats("n", "d"),
            "weights": every(doubles("n"), _not_negative),
            "homes": array("q", "n"),
            "squared": every(doubles("n"), _not_negative),
        },
    ),
    value(
        WindowStream,
        {"aging": _CENTERS, "rows": thing("WindowRows", d="d"), "spectrum": _SPECTRUM},
        take=_window_values,
        build=_window,
        settle=_rows_of_centers,
    ),
    value(
        Statistics,
        {
            "weights": every(doubles("m"), _not_negative),
            "residue": doubles("m"),
            "displacement": doubles("m"),
            "scatter": doubles("m"),
        },
    ),
    value(
        FadingStream,
        {
            "aging": _CENTERS,
            "spectrum": _SPECTRUM,
            "half_life": every(number(0), having("a positive half-life", lambda h: h > 0)),
            "statistics": thing("Statistics", m="m"),
            "lost": number(0),
        },
        take=_fading_values,
        build=_fading,
        settle=_fades,
    ),
)
