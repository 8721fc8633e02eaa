"""Which columns are features, which one is the weight, and which are carried through."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from numbers import Integral
from typing import Any

from ._table import Field, Picked, Table

_SHOWN = 12


def pick(table: Table, columns: Any, ids: Any, weight: Any, exclude: Any = ()) -> Picked:
    """The positions that names, patterns or numbers of columns mean."""
    _check_names(table)
    carried = tuple(_found(table, column, "ids") for column in _listed(ids))
    weighing = None if weight is None else _found(table, weight, "weight")
    left_out = {j for column in _listed(exclude) for j in _matches(table, column, set(), "exclude")}
    index = {j for j, field in enumerate(table.fields) if field.is_index}
    apart = {*carried, weighing, *left_out, *index}
    if columns is None:
        features = tuple(j for j in range(len(table.fields)) if j not in apart)
    else:
        found = (_matches(table, column, apart, "columns") for column in _listed(columns))
        features = tuple(dict.fromkeys(j for places in found for j in places if j not in left_out))
    _check_numbers(table, features if weighing is None else (*features, weighing))
    if not features:
        raise ValueError(f"{table.where} leaves no column of features.")
    picked = Picked(features, carried, weighing)
    table.check(picked)
    return picked


def _listed(columns: Any) -> Sequence[Any]:
    return [columns] if isinstance(columns, str | Integral) else list(columns)


def _check_names(table: Table) -> None:
    names = [field.name for field in table.fields if field.name is not None]
    twice = sorted({repr(name) for name in names if names.count(name) > 1}) if names else []
    if twice:
        raise ValueError(f"{table.where} has several columns {', '.join(twice)}; rename them.")


def _found(table: Table, column: Any, argument: str) -> int:
    """The one column of this name, or of this number where columns have no names."""
    places = [j for j, field in enumerate(table.fields) if field.name == column]
    if not places and _is_position(table, column):
        places = [int(column)]
    if column is None or not places:
        raise ValueError(f"{argument}: {table.where} has no column {column!r}; {_known(table)}")
    return places[0]


def _is_position(table: Table, column: Any) -> bool:
    number = isinstance(column, Integral) and not isinstance(column, bool)
    number = number or (isinstance(column, str) and column.isdecimal())
    unnamed = all(field.name is None for field in table.fields)
    return number and unnamed and 0 <= int(column) < len(table.fields)


def _matches(table: Table, column: Any, apart: set[int | None], argument: str) -> list[int]:
    """Columns of this name, else those that match the pattern; those apart only by name."""
    names = [field.name for field in table.fields]
    if isinstance(column, str) and column not in names:
        places = [
            j
            for j, name in enumerate(names)
            if isinstance(name, str) and fnmatchcase(name, column) and j not in apart
        ]
        if places:
            return places
    return [_found(table, column, argument)]


def _known(table: Table) -> str:
    names = [field.name for field in table.fields if field.name is not None]
    if not names:
        return f"its {len(table.fields)} columns have no names: give numbers from 0."
    shown = ", ".join(map(repr, names[:_SHOWN]))
    return f"it has {shown}{' and others' if len(names) > _SHOWN else ''}."


def _check_numbers(table: Table, columns: Sequence[int]) -> None:
    words = [label(table.fields, j) for j in columns if table.fields[j].dtype is None]
    if words:
        raise ValueError(
            f"columns {', '.join(words)} hold no numbers; turn them into numbers, or leave them "
            "out with exclude=, carry them through with ids=, or name those to read with columns= "
            f"({table.where})."
        )


def label(fields: Sequence[Field], j: int) -> str:
    """How an error names a column: by its name, else by its number."""
    return str(j) if fields[j].name is None else repr(fields[j].name)
