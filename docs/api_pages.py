"""The page of all public names, made from the package itself."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import rskpca

# The part of the package that defines a name -> the heading that it stands under.
HEADINGS = {
    "embedding": "Embeddings",
    "density": "Reduced sets from data",
    "reduced_set": "The reduced set",
    "kernels": "Kernels",
    "bounds": "Certificates",
    "planning": "Before the run",
    "compression": "Smaller models",
    "scaling": "Data larger than memory",
    "io": "Model files",
    "plotting": "Pictures",
    "report": "Reports",
    "onnx": "Deployment",
}
# Modules whose names are public too, for those who build on them.
MODULES = {
    "rskpca.scaling": "Files and streams of blocks",
    "rskpca.scaling.dask": "Dask",
    "rskpca.plotting": "Pictures",
    "rskpca.density": "Densities to build on",
    "rskpca.embedding": "Embeddings to build on",
    "rskpca.spectral": "Operators and eigensystems",
}


def write_api(path: Path) -> None:
    """Write the page, unless it is there with the same words."""
    text = "\n".join([*_title("API", "="), "Everything below is public.", "", *_sections()])
    if not path.is_file() or path.read_text() != text:
        path.write_text(text)


def _sections() -> list[str]:
    lines: list[str] = []
    for part, names in _by_part().items():
        lines += _section(HEADINGS.get(part, part.capitalize()), "rskpca", names)
    for name, heading in MODULES.items():
        module = _module(name)
        known = set(rskpca.__all__)
        names = sorted(n for n in getattr(module, "__all__", []) if n not in known)
        lines += _section(f"{heading}: ``{name}``", name, names) if names else []
    return lines


def _by_part() -> dict[str, list[str]]:
    """Names of the package by the part that defines them, in the order of the headings."""
    parts: dict[str, list[str]] = {part: [] for part in HEADINGS}
    for name in sorted(rskpca.__all__):
        value = getattr(rskpca, name)
        home = value.__name__ if isinstance(value, ModuleType) else value.__module__
        parts.setdefault(home.split(".")[1], []).append(name)
    return {part: names for part, names in parts.items() if names}


def _module(name: str) -> ModuleType | None:
    parent = name.rpartition(".")[0]
    there = (parent == "rskpca" or parent in sys.modules) and find_spec(name) is not None
    return import_module(name) if there else None


def _section(heading: str, module: str, names: list[str]) -> list[str]:
    entries = [f"   {name}" for name in names]
    table = [".. autosummary::", "   :toctree: generated", "   :nosignatures:", "", *entries, ""]
    return [*_title(heading, "-"), f".. currentmodule:: {module}", "", *table]


def _title(text: str, line: str) -> list[str]:
    return [text, line * len(text), ""]
