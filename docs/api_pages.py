"""Generate the API page from the public names of the package."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

import rskpca

# Section headings by the subpackage that defines a name.
HEADINGS = {
    "embedding": "Embeddings",
    "density": "Reduced sets from data",
    "reduced_set": "The reduced set",
    "kernels": "Kernels",
    "certificate": "Certificates",
    "planning": "Planning",
    "io": "Model files",
}
# Headings and names of other public modules; an empty list selects all names in __all__.
MODULES: dict[str, tuple[str, list[str]]] = {
    "rskpca.scaling": ("Data larger than memory", []),
    "rskpca.data": ("Data sources", ["Block", "Source", "open_source"]),
    "rskpca.scaling.dask": ("Dask", []),
    "rskpca.io": ("Model file details", []),
    "rskpca.baselines": ("Baselines", []),
    "rskpca.planning": ("Planning details", []),
    "rskpca.model": ("The fitted model", ["FittedModel", "FittedEstimator", "unwrap"]),
    "rskpca.onnx": ("Deployment", []),
    "rskpca.plotting": ("Plots", []),
    "rskpca.report": ("The report", []),
    "rskpca.density": ("Base classes for densities", []),
    "rskpca.embedding": ("Base classes for embeddings", []),
    "rskpca.spectral": ("Operators and eigensystems", []),
    "rskpca.embedding.blocks": ("Distributed fits", ["BlockFit"]),
    "rskpca.density.blocks": ("Summaries of blocks", ["Counts", "ShadowBlocks"]),
}


def write_api(path: Path) -> None:
    """Write the API page if its content has changed."""
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
    """Group the top-level names by the subpackage that defines them, in the order of HEADINGS."""
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
