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
# Modules that may change in any minor version; stability.md explains what this means.
PROVISIONAL = frozenset(
    f"rskpca.{name}"
    for name in (
        "baselines", "density", "density.blocks", "embedding", "embedding.blocks", "model",
        "planning", "spectral",
    )
)  # fmt: skip
_NOTE = "*Provisional: these names can change in any minor version.* See :doc:`stability`."


def write_api(path: Path) -> None:
    """Write the API page if its content has changed."""
    text = "\n".join(
        [
            *_title("API", "="),
            "Everything below is public. :doc:`stability` says what can change and when.",
            "",
            *_sections(),
        ]
    )
    if not path.is_file() or path.read_text() != text:
        path.write_text(text)


def _sections() -> list[str]:
    lines: list[str] = []
    for part, names in _by_part().items():
        lines += _section(HEADINGS.get(part, part.capitalize()), "rskpca", names)
    for name, names in names_by_module().items():
        if name != "rskpca":
            lines += _section(f"{MODULES[name][0]}: ``{name}``", name, names)
    return lines


def names_by_module() -> dict[str, list[str]]:
    """Return the public names of each public module; a name is listed once."""
    found = {"rskpca": sorted(rskpca.__all__)}
    for name, (_, public) in MODULES.items():
        found[name] = public or sorted(set(import_module(name).__all__) - set(rskpca.__all__))
    return found


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
    note = [_NOTE, ""] if module in PROVISIONAL else []
    return [*_title(heading, "-"), *note, f".. currentmodule:: {module}", "", *table]


def _title(text: str, line: str) -> list[str]:
    return [text, line * len(text), ""]
