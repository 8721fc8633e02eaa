"""Measure which small changes to the code the tests detect.

``python tools/mutation.py spectral certificate`` changes one operator, comparison or constant at a
time, and runs the tests that belong to the package. A change that no test detects is printed; it
indicates a missing test, unless the changed code is equivalent. ``--sample 100`` tries 100 random
changes, and ``--only eigensystem`` only those to the named modules. ``--own`` runs only the test
file of each module, which is fast and gives a lower bound. POSIX only.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import random
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "rskpca"
SECONDS = 600  # CPU time per change; a change that causes an endless loop counts as detected
TESTS = {
    "_core": ["tests/_core"],
    "spectral": ["tests/spectral"],
    "certificate": ["tests/certificate"],
}
SWAPS: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult, ast.MatMult: ast.Mult, ast.Mod: ast.Add,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn,
    ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And, ast.USub: ast.UAdd, ast.Not: ast.UAdd,
}  # fmt: skip


# ------------------------------------------------------------------ changes


def mutants(source: str) -> Iterator[tuple[int, str, ast.Module]]:
    """Yield the line, a description and the syntax tree of each change."""
    tree = ast.parse(source)
    for number, node in enumerate(_code(tree)):
        for change in range(_count_changes(node)):
            changed = copy.deepcopy(tree)
            target = list(_code(changed))[number]
            before = ast.unparse(target)
            _change(target, change)
            yield target.lineno, f"{before}  ->  {ast.unparse(target)}", changed


def _code(tree: ast.AST) -> Iterator[Any]:
    """Yield the expressions that Python evaluates, without annotations, messages and imports."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list") or isinstance(tree, ast.Raise):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.expr):
                yield child
            if isinstance(child, ast.AST) and not _is_type_checking(child):
                yield from _code(child)


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _count_changes(node: ast.expr) -> int:
    if isinstance(node, ast.BinOp | ast.UnaryOp | ast.BoolOp):
        return int(type(node.op) in SWAPS)
    if isinstance(node, ast.Compare):
        return len(node.ops)
    return int(isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float))


def _change(node: Any, change: int) -> None:
    if isinstance(node, ast.Compare):
        node.ops[change] = SWAPS[type(node.ops[change])]()
    elif isinstance(node, ast.Constant):
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1
    else:
        node.op = SWAPS[type(node.op)]()


# ------------------------------------------------------------------ running the tests


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Import one module from a changed syntax tree."""

    def __init__(self, name: str, path: Path, tree: ast.Module) -> None:
        self._name, self._path = name, path
        self._code = compile(ast.fix_missing_locations(tree), str(path), "exec")

    def find_spec(self, name: str, *_: Any) -> importlib.machinery.ModuleSpec | None:
        if name != self._name:
            return None
        spec = importlib.util.spec_from_file_location(name, self._path)
        assert spec
        spec.loader = self
        return spec

    def exec_module(self, module: Any) -> None:
        exec(self._code, vars(module))


def detected(path: Path, tree: ast.Module, tests: list[str]) -> bool:
    """Return True if a test fails in a child process that imports the changed module."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        os._exit(_run_tests(path, tree, tests))
    _, status = os.waitpid(child, 0)
    return status != 0


def _run_tests(path: Path, tree: ast.Module, tests: list[str]) -> int:
    import pytest

    with open(os.devnull, "w") as null:
        os.dup2(null.fileno(), 1)
        os.dup2(null.fileno(), 2)
    name = ".".join(("rskpca", *path.relative_to(PACKAGE).with_suffix("").parts))
    sys.meta_path.insert(0, _Finder(name, path, tree))
    options = ["-x", "-q", "-n0", "-p", "no:cacheprovider", "-m", "not slow"]
    return int(pytest.main([*options, *tests]))


def preload() -> None:
    """Import the dependencies once, so that every child process starts with them."""
    # Not hypothesis: pytest warns about plugins that are imported before it.
    for name in ("numba", "pandas", "polars", "scipy.stats", "sklearn.cluster", "sklearn.pipeline"):
        importlib.import_module(name)
    assert "rskpca" not in sys.modules


def tests_of(path: Path, part: str, own_only: bool) -> list[str]:
    """Return the tests of a part: those of the module first, or only those."""
    own = ROOT / "tests" / part / f"test_{path.stem}.py"
    if not own.is_file():
        return [] if own_only else TESTS[part]
    return [str(own), *([] if own_only else TESTS[part])]


def measure(part: str, options: argparse.Namespace) -> dict[str, int]:
    """Try the changes to one part of the package and return the counts."""
    found = [
        (path, tests_of(path, part, options.own), *mutant)
        for path in sorted((PACKAGE / part).glob("*.py"))
        if not path.stem.startswith("__") and tests_of(path, part, options.own)
        if not options.only or path.stem in options.only
        for mutant in mutants(path.read_text())
    ]
    tried = random.Random(0).sample(found, min(options.sample or len(found), len(found)))
    for path, tests in {path: tests for path, tests, *_ in tried}.items():
        if detected(path, ast.parse(path.read_text()), tests):
            sys.exit(f"The tests {' '.join(tests)} fail on the unchanged code, or take too long.")
        if not options.own:
            break  # these tests are the same for all modules
    missed = 0
    for path, tests, line, change, tree in tried:
        if detected(path, tree, tests):
            print(".", end="", file=sys.stderr, flush=True)
        else:
            missed += 1
            print(f"{path.relative_to(ROOT)}:{line}: {change}", flush=True)
    print(f"{part}: {len(tried) - missed} of {len(tried)} changes detected ({len(found)} in all)")
    return {"changes": len(found), "tried": len(tried), "detected": len(tried) - missed}


def main() -> None:
    """Measure the given parts and write the counts to mutation.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="+", choices=list(TESTS))
    parser.add_argument("--sample", type=int, help="number of changes to try per part")
    parser.add_argument("--only", nargs="+", help="names of modules, such as eigensystem")
    parser.add_argument("--own", action="store_true", help="run only the module's own tests")
    options = parser.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    os.environ["OMP_NUM_THREADS"] = "1"
    preload()
    counts = {part: measure(part, options) for part in options.parts}
    Path("mutation.json").write_text(json.dumps(counts, indent=1) + "\n")


if __name__ == "__main__":
    main()
