"""Print the lowest version of each dependency in pyproject.toml, as constraints for pip."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

_FLOOR = re.compile(r"([\w.-]+)(?:\[[^\]]*\])?>=([\w.]+)")


def lowest(pyproject: Path) -> list[str]:
    """Return one constraint such as ``numpy==1.26`` per dependency with a lower bound."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    named = [*project["dependencies"], *(d for extra in ("all", *extras) for d in extras[extra])]
    found = [_FLOOR.fullmatch(dependency) for dependency in named]
    return sorted({f"{match[1]}=={match[2]}" for match in found if match})


if __name__ == "__main__":
    print("\n".join(lowest(Path(__file__).parents[1] / "pyproject.toml")))
