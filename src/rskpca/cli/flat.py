"""Options in bundles: a parameter that is a dataclass stands for one option a field."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints


def flattened(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function with the fields of its bundles as parameters.

    Parameters
    ----------
    function : callable
        With annotations; some of its parameters may be dataclasses of annotated options.

    Returns
    -------
    callable
        Takes keywords alone.
    """
    hints = get_type_hints(function, include_extras=True)
    bundles: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}

    def run(**values: Any) -> Any:
        for name, kind in bundles.items():
            values[name] = kind(**{field.name: values.pop(field.name) for field in fields(kind)})
        return function(**values)

    parameters = list(_parameters(function, hints, bundles))
    run.__name__, run.__doc__ = function.__name__, function.__doc__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def _parameters(
    function: Callable[..., Any], hints: dict[str, Any], bundles: dict[str, Any]
) -> Iterator[inspect.Parameter]:
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name not in bundles:
            yield parameter.replace(kind=_KEYWORD, annotation=hints[parameter.name])
            continue
        kind = bundles[parameter.name]
        own = get_type_hints(kind, include_extras=True)
        for field in fields(kind):
            yield inspect.Parameter(
                field.name, _KEYWORD, default=field.default, annotation=own[field.name]
            )


_KEYWORD = inspect.Parameter.KEYWORD_ONLY
