"""The report of a model and its data, for the commands that write one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from .. import report
from ..data import Source
from ..report.subject import LOOKED_AT
from .paths import named
from .reading import some_rows

Colour = Annotated[
    str | None,
    typer.Option("--color", metavar="NAME", help="Column to colour by; no feature, unless named."),
]


def write_report(
    model: Any,
    source: Source,
    path: Path,
    *,
    color: str | None,
    title: str,
    seconds: Mapping[str, float] | None = None,
) -> Path:
    """Draw a sample of the rows, and write the report of it.

    Parameters
    ----------
    model : estimator
        Fitted.
    source : Source
        Its data, with the column ``color`` among those that are carried through.
    path : Path
        Of the report.
    color : str or None
        The column.
    title : str
        Of the page.
    seconds : mapping of str to float, default=None
        What took how long.

    Returns
    -------
    Path
        Of the report.
    """
    block = some_rows(source, LOOKED_AT)
    colors = None if color is None else {color: _values(block.ids[color], source)}
    with named(path):
        return report.write(
            model,
            block.rows,
            path,
            color=colors,
            title=title,
            seconds=seconds,
            n_rows=source.counted(),
            feature_names=source.feature_names,
        )


def _values(column: NDArray[Any], source: Source) -> NDArray[Any]:
    """What a row is coloured by: cells of text that are all numbers, as numbers."""
    if not source.ids_are_text:
        return column
    try:
        return np.where(column == "", "nan", column).astype(np.float64)
    except ValueError:
        return column
