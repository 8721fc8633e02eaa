"""Where rows come from: the options of every command that reads data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import numpy as np
import typer

from ..data import Block, Source, open_source
from ..scaling._columns import check_columns
from .models import known_features
from .paths import existing

DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="File or folder: .parquet .arrow .feather .csv .npy .npz .h5 .zarr",
        show_default=False,
        readable=False,  # it is checked where it is opened
    ),
]

_UNNAMED = (".npy", ".npz", ".h5", ".hdf5", ".zarr")
_HEAD = 1 << 18  # bytes
_ESCAPED = {"\\t": "\t", "tab": "\t"}


@dataclass(frozen=True)
class Reading:  # numpydoc ignore=PR01
    """Which columns, and how a file is read."""

    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns",
            "-c",
            metavar="NAMES",
            help="Features: names, 'x*' or numbers, with commas.",
        ),
    ] = None
    exclude: Annotated[
        list[str] | None,
        typer.Option("--exclude", "-x", metavar="NAMES", help="Columns to leave out."),
    ] = None
    weight: Annotated[
        str | None, typer.Option(metavar="NAME", help="The column of row weights.")
    ] = None
    delimiter: Annotated[
        str | None, typer.Option(metavar="CHAR", help="Of a .csv; told from its first line.")
    ] = None
    decimal: Annotated[
        str | None, typer.Option(metavar="CHAR", help="Decimal point of a .csv, such as ','.")
    ] = None
    dataset: Annotated[
        str | None, typer.Option(metavar="NAME", help="The array in a .npz, .h5 or .zarr.")
    ] = None

    skip_missing: Annotated[
        bool,
        typer.Option("--skip-missing", help="Leave out rows with a missing or infinite value."),
    ] = False

    def open(
        self,
        data: Path,
        *,
        ids: Sequence[str] = (),
        color: str | None = None,
        known: Sequence[str] | None = None,
    ) -> Source:
        """The rows, not yet read.

        Parameters
        ----------
        data : Path
            A file or a folder.
        ids : sequence of str, default=()
            Columns to carry through.
        color : str, default=None
            One more, for a picture.
        known : sequence of str, default=None
            Features of a model, for when the options name none.

        Returns
        -------
        Source
            An error names the file, the column and the fix.
        """
        columns: Any = None if not self.columns else _listed(self.columns)
        if columns is None and known is not None and data.suffix.lower() not in _UNNAMED:
            columns = list(known)
        try:
            return open_source(
                existing(data, "file or folder"),
                columns=columns,
                ids=[*ids] if color is None else [*ids, color],
                weight=self.weight,
                exclude=_listed(self.exclude or ()),
                skip_missing=self.skip_missing,
                **self._options(),
            )
        except ValueError as error:
            if color is None or not str(error).startswith("ids: "):
                raise
            raise ValueError(str(error).replace("ids: ", "color: ", 1)) from error

    def open_for(self, model: Any, data: Path, **options: Any) -> Source:
        """The rows for a fitted model, which has the same features; see :meth:`open`."""
        source = self.open(data, known=known_features(model), **options)
        check_columns(model, source)
        return source

    def as_options(self, without: Sequence[str] = ()) -> str:
        """What was given, as it is written on a command line."""
        found = ""
        for field in (field for field in fields(self) if field.name not in without):
            value, option = getattr(self, field.name), f" --{field.name.replace('_', '-')}"
            for item in value if isinstance(value, list) else [value] if value else []:
                found += option if item is True else f"{option} {quote(item)}"
        return found

    def _options(self) -> dict[str, Any]:
        given = {
            "delimiter": self.delimiter and _ESCAPED.get(self.delimiter, self.delimiter),
            "decimal": self.decimal,
            "dataset": self.dataset,
        }
        return {name: value for name, value in given.items() if value is not None}


def _listed(names: Sequence[str]) -> list[str]:
    """Names of all options, each of which may hold several, with commas between."""
    return [name.strip() for names_ in names for name in names_.split(",") if name.strip()]


def expected_rows(data: Path) -> int | None:
    """About how many lines a file of text has, or a folder of them, from the first few."""
    files = [data] if data.is_file() else list(data.glob("*.csv"))
    if not files or files[0].suffix.lower() != ".csv":
        return None
    with files[0].open("rb") as file:
        head = file.read(_HEAD)
    lines = max(head.count(b"\n"), 1)
    return round(sum(file.stat().st_size for file in files) * lines / max(len(head), 1))


def some_rows(source: Source, count: int, seed: int = 0) -> Block:
    """At most so many rows, drawn at random from all over, in their order."""
    total = source.counted()
    chosen = np.random.default_rng(seed).choice(total, min(count, total), replace=False)
    return source.take_block(np.sort(chosen))
