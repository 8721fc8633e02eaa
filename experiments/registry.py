"""Every experiment by name, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

from .settings import Settings

Results = dict[str, Any]


@dataclass(frozen=True)
class Experiment:
    """Numbers, and what is drawn of them.

    ``compute`` makes the numbers, as what JSON can hold; ``draw`` makes the file ``product``
    below the output folder from nothing but them. A ``derived`` one is made from the results of
    others, in no time, and so is always made anew.
    """

    title: str
    compute: Callable[[Settings], Results]
    draw: Callable[[Results, Path], None]
    product: str
    derived: bool = False


MODULES = {
    "fig01": "fig01",
    "fig02": "eigenembedding",
    "fig03": "eigenembedding",
    "fig04": "classification",
    "fig05": "classification",
    "fig06": "retained",
    "fig07": "classification",
    "fig08": "classification",
    "table02": "table02",
    "bounds": "bounds",
    "claims": "claims",
}


def experiment(name: str) -> Experiment:
    """The experiment of that name; its module is imported now."""
    found: Experiment = import_module(f"experiments.{MODULES[name]}").EXPERIMENTS[name]
    return found


def chosen(names: list[str]) -> list[str]:
    """The names in the order in which they run; a wrong one is refused, with a suggestion."""
    for name in names:
        if name not in MODULES and name != "all":
            near = get_close_matches(name, MODULES, n=1)
            hint = f"; do you mean {near[0]}?" if near else ""
            raise ValueError(f"no experiment {name!r}{hint} There are {', '.join(MODULES)}.")
    return list(MODULES) if "all" in names else [name for name in MODULES if name in names]
