"""The page of all public names, made from the package itself."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

import rskpca

# The part of the package that defines a name -> the heading that it stands under.
HEADINGS = {
    "embedding": "Embeddings",
    "density": "Reduced sets from data",
    "reduced_set": "The reduced set",
    "kernels": "Kernels",
    "certificate": "Certificates",
    "planning": "Before the run",
    "io": "Model files",
}
# Modules whose names are public too: a heading, and the names if not all of its own.
MODULES: dict[str, tuple[str, list[str]]] = {
    "rskpca.scaling": ("Data larger than memory", []),
    "rskpca.data": ("Rows in files", ["Block", "Source", "open_source"]),
    "rskpca.scaling.dask": ("Dask", []),
    "rskpca.io": ("Model files in detail", []),
    "rskpca.baselines": ("Methods to compare with", []),
    "rskpca.onnx": ("Deployment", []),
    "rskpca.plotting": ("Pictures", []),
    "rskpca.report": ("Reports", []),
    "rskpca.density": ("Densities to build on", []),
    "rskpca.embedding": ("Embeddings to build on", []),
    "rskpca.spectral": ("Operators and eigensystems", []),
    "rskpca.embedding.blocks": ("Fits in blocks", ["BlockFit"]),
    "rskpca.density.blocks": ("What blocks add up to", ["Counts", "ShadowBlocks"]),
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
    for name, (heading, public) in MODULES.items():
        names = public or sorted(set(import_module(name).__all__) - set(rskpca.__all__))
        lines += _section(f"{heading}: ``{name}``", name, names)
    return lines


def _by_part() -> dict[str, list[str]]:
    """Names of the package by the part that defines them, in the order of the headings."""
    parts: dict[str, list[str]] = {part: [] for part in HEADINGS}
    for name in sorted(rskpca.__all__):
        value = getattr(rskpca, name)
        home = value.__name__ if isinstance(value, ModuleType) else value.__module__
        parts.setdefault(home.split(".")[1], []).append(name)
    return {part: names for part, names in parts.items() if names}


def _section(heading: str, module: str, names: list[str]) -> list[str]:
    entries = [f"   {name}" for name in names]
    table = [".. autosummary::", "   :toctree: generated", "   :nosignatures:", "", *entries, ""]
    return [*_title(heading, "-"), f".. currentmodule:: {module}", "", *table]


def _title(text: str, line: str) -> list[str]:
    return [text, line * len(text), ""]
