"""Describe the public API: names, signatures, methods and documented attributes.

``python tools/public_api.py`` prints the difference from tests/api/public_api.txt, and ``--write``
records the current API in that file. The public names are those on the API page.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from numpydoc.docscrape import ClassDoc
from sklearn.utils._metadata_requests import RequestMethod
from sklearn.utils.metaestimators import available_if

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "tests" / "api" / "public_api.txt"
sys.path.insert(0, str(ROOT / "docs"))

_ConditionalMethod = type(available_if(bool)(bool))


def describe_api() -> str:
    """Return one line per public name, method and attribute."""
    pages: Any = importlib.import_module("api_pages")
    lines = []
    for module, names in pages.names_by_module().items():
        lines.append(f"{module} ({'provisional' if module in pages.PROVISIONAL else 'stable'})")
        for name in names:
            lines += [f"  {line}" for line in _describe(name, _find(module, name))]
        lines.append("")
    return "\n".join(lines)


def difference(recorded: str, current: str) -> str:
    """Return a unified diff of the recorded and the current API, or "" if they are equal."""
    return "\n".join(
        difflib.unified_diff(
            recorded.splitlines(), current.splitlines(), "recorded", "current", lineterm="", n=2
        )
    )


def _find(module: str, name: str) -> Any:
    return vars(importlib.import_module(module)).get(name) or getattr(
        importlib.import_module(module), name
    )


def _describe(name: str, value: Any) -> Iterator[str]:
    if inspect.isclass(value):
        yield f"class {name}{_signature(value)}"
        yield from (f"  {line}" for line in sorted(_members(value)))
    elif callable(value):
        yield f"{name}{_signature(value)}"
    else:
        yield f"{name}: {type(value).__name__}"


def _members(cls: type) -> Iterator[str]:
    """Yield the public methods and attributes that the package defines or documents."""
    documented = ClassDoc(cls, config={"show_class_members": False})["Attributes"]
    names = {name for entry in documented for name in entry.name.split(", ")}
    own = [base for base in cls.__mro__ if base.__module__.startswith("rskpca")]
    names.update(name for base in own for name in vars(base) if not name.startswith("_"))
    for name in names:
        member = inspect.getattr_static(cls, name, None)
        if callable(member) or isinstance(member, classmethod | staticmethod):
            yield f".{name}{_signature(getattr(cls, name))}"
        elif isinstance(member, _ConditionalMethod):
            yield f".{name}{_signature(member.fn)}"
        elif not isinstance(member, RequestMethod):  # set_fit_request, from scikit-learn
            yield f".{name}"


def _signature(function: Callable[..., Any]) -> str:
    """Return the parameters with their defaults, without annotations."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return "(...)"
    bare = [
        p.replace(
            annotation=p.empty, default=p.default if p.default is p.empty else _Value(p.default)
        )
        for p in parameters
        if p.name != "self"
    ]
    return str(inspect.Signature(bare))


class _Value:
    """A default whose repr is the same on every machine and Python version."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __repr__(self) -> str:
        simple = isinstance(self._value, bool | int | float | str | tuple | None)
        return repr(self._value) if simple else type(self._value).__name__


def main() -> int:
    """Print the difference from the recorded API, or record the current one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="record the current API")
    current = describe_api()
    if parser.parse_args().write:
        RECORD.write_text(current, encoding="utf-8")
        return 0
    changes = difference(RECORD.read_text(encoding="utf-8"), current)
    print(changes or "The public API is unchanged.")
    return bool(changes)


if __name__ == "__main__":
    sys.exit(main())
