"""Measure the structure of the package: size, inheritance and the path of a row.

``python tools/structure.py`` measures this checkout. To compare it with another one, pass the
``src`` folder of the other checkout with ``--src DIR``.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import re
import sys
from pathlib import Path

# Modules that implement sections 2 to 5 of the paper, excluding streams, baselines and extras.
PAPER = (
    "kernels.py", "reduced_set.py", "model.py", "certificate/", "bounds/", "spectral/",
    "density/_base.py", "density/_batch.py", "density/_counting.py", "density/_rows.py",
    "density/_sums.py", "density/shadow.py", "density/kmeans.py", "density/herding.py",
    "density/paring.py", "density/parzen.py", "density/uniform.py",
    "embedding/_base.py", "embedding/_certified.py", "embedding/_principal.py",
    "embedding/_markov.py", "embedding/_walk.py", "embedding/kernel_pca.py",
    "embedding/diffusion_maps.py", "embedding/laplacian_eigenmaps.py",
    "embedding/normalized_cut.py",
)  # fmt: skip


def measure_source(package: Path) -> dict[str, object]:
    """Count files, lines and functions."""
    lines: dict[str, int] = {}
    functions: list[tuple[int, str]] = []
    duck_typing = 0
    for path in sorted(package.rglob("*.py")):
        text, name = path.read_text(), str(path.relative_to(package))
        lines[name] = text.count("\n")
        duck_typing += len(re.findall(r"\b(?:hasattr|getattr)\(", text))
        functions += [(_code_lines(n), f"{name}:{n.name}") for n in _functions(ast.parse(text))]
    total = sum(lines.values())
    paper = sum(n for name, n in lines.items() if name.startswith(PAPER))
    longest = max(lines, key=lambda name: lines[name])
    return {
        "files": len(lines),
        "lines": total,
        "paper's method": f"{paper / total:.0%}",
        "hasattr + getattr": duck_typing,
        "longest file": f"{longest} ({lines[longest]})",
        "longest function": "{1} ({0})".format(*max(functions)),
    }


def _functions(tree: ast.Module) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def _code_lines(function: ast.FunctionDef) -> int:
    """Return the number of lines in a function, without its docstring and signature."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0  # type: ignore[operator]


def measure_calls() -> dict[str, object]:
    """Count the functions and files of the package that a fit and a transform execute."""
    from sklearn.datasets import load_digits

    rskpca = importlib.import_module("rskpca")
    X = load_digits().data
    model = rskpca.ReducedSetKernelPCA(3, bandwidth=30.0)
    model.fit(X).transform(X)
    found: dict[str, object] = {}
    for name, call in (("fit", lambda: model.fit(X)), ("transform", lambda: model.transform(X))):
        seen = _trace(call, str(Path(rskpca.__file__).parent))
        found[f"functions executed by {name}"] = len(seen)
        found[f"files executed by {name}"] = len({file for file, _ in seen})
    own = [c.__name__ for c in type(model).__mro__ if c.__module__.startswith("rskpca")]
    found["own classes in the MRO"] = f"{len(own)} ({', '.join(own)})"
    found["public names"] = len(rskpca.__all__)
    return found


def _trace(call: object, package: str) -> set[tuple[str, str]]:
    """Run a call and return the named functions of the package that it executes."""
    seen: set[tuple[str, str]] = set()

    def note(frame, event, argument):  # type: ignore[no-untyped-def]
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(package):
            name = code.co_qualname
            if not code.co_name.startswith("<"):
                seen.add((code.co_filename, name))

    sys.setprofile(note)
    try:
        call()  # type: ignore[operator]
    finally:
        sys.setprofile(None)
    return seen


def main() -> None:
    """Print the measurements as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--src", type=Path, default=Path(__file__).parent.parent / "src")
    source = parser.parse_args().src.resolve()
    sys.path.insert(0, str(source))
    print(json.dumps({**measure_source(source / "rskpca"), **measure_calls()}, indent=1))


if __name__ == "__main__":
    main()
