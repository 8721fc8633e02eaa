"""Test that the public API is the recorded one."""

import ast
import importlib.util
from pathlib import Path

import rskpca
from tests.test_docs import ROOT

_SPEC = importlib.util.spec_from_file_location("public_api", ROOT / "tools" / "public_api.py")
public_api = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(public_api)


def test_the_public_api_is_the_recorded_one():
    recorded = public_api.RECORD.read_text(encoding="utf-8")
    changes = public_api.difference(recorded, public_api.describe_api())
    assert not changes, (
        f"The public API changed:\n{changes}\n"
        "If this is intended, run 'make api' and add a fragment to changelog.d."
    )


def test_type_checkers_and_the_lazy_import_know_every_public_name():
    tree = ast.parse(Path(rskpca.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    imported = [alias.name for node in block.body for alias in node.names]
    assert sorted(imported) == sorted(rskpca._MODULE_OF) == sorted(rskpca.__all__)


def test_a_changed_default_is_shown_with_both_signatures():
    changes = public_api.difference("class A(x=1)\n  .fit(X)", "class A(x=2)\n  .fit(X)")
    assert changes.splitlines()[-3:] == ["-class A(x=1)", "+class A(x=2)", "   .fit(X)"]


def test_signatures_omit_annotations_and_addresses():
    def function(self, x: int, *, y: object = public_api) -> None: ...

    assert public_api._signature(function) == "(x, *, y=module)"
