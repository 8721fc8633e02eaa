"""Test that the API page is complete, pages are linked, and arguments and formulas are valid."""

import ast
import importlib.util
import inspect
import re
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

import pytest

import rskpca
import rskpca.spectral

DOCS = Path(__file__).parents[1] / "docs"


def load_module(name):
    """Import a module from the docs folder."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("site") / "api.rst"
    load_module("api_pages").write_api(path)
    return path.read_text().splitlines()


def test_every_public_name_is_on_the_api_page_exactly_once(page):
    for name in (*rskpca.__all__, *rskpca.spectral.__all__):
        assert page.count(f"   {name}") == 1


def test_names_imported_in_the_guide_are_on_the_api_page(page):
    pages = "".join(path.read_text() for path in DOCS.glob("*.md"))
    imports = re.findall(r"^from (rskpca[\w.]*) import (.+)$", pages, flags=re.MULTILINE)
    names = {name for _, some in imports for name in re.findall(r"\w+", some)}
    modules = {"dask", "plotting", "report", "scaling"}
    assert {name for name in names - modules if f"   {name}" not in page} == set()


def test_arguments_in_the_guide_exist():
    """DiffusionMaps, for example, has no ``graph``."""
    calls = [call for path in DOCS.glob("*.md") for call in calls_in(path.read_text("utf-8"))]
    assert len(calls) > 100
    for name, arguments in calls:
        assert arguments <= set(inspect.signature(getattr(rskpca, name)).parameters), name


def calls_in(text: str) -> list[tuple[str, set[str]]]:
    """Return the public names that are called in Python code, with their keyword arguments."""
    found = []
    for code in re.findall(r"^```python[^\n]*\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL):
        found += public_calls(code)
    for code in re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text):
        with suppress(SyntaxError):  # inline code need not be Python
            found += public_calls(code)
    return found


def public_calls(code: str) -> list[tuple[str, set[str]]]:
    return [
        (node.func.id, {keyword.arg for keyword in node.keywords if keyword.arg})
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in rskpca.__all__
    ]


def test_a_call_with_an_unknown_argument_is_found():
    calls = calls_in("`DiffusionMaps(2, graph=5)` or\n```python\nZ = plan(X, seed=0)\n```\n")
    assert sorted(calls) == [("DiffusionMaps", {"graph"}), ("plan", {"seed"})]


def test_every_density_is_on_the_page_about_methods():
    text = (DOCS / "methods.md").read_text()
    densities = [name for name in rskpca.__all__ if name.endswith("Density")]
    assert [name for name in densities if f"`{name}" not in text] == []


def test_every_page_is_in_a_table_of_contents():
    contents = [block for page in ("index", "guide") for block in toctrees(DOCS / f"{page}.md")]
    listed = {re.sub(r".*<(.*)>", r"\1", line) for block in contents for line in block.split("\n")}
    pages = {path.stem for path in DOCS.glob("*.md")} - {"index"}
    assert {name for name in listed if name} - {"api", "gallery/index"} == pages


def toctrees(path: Path) -> list[str]:
    blocks = re.findall(r"```\{toctree\}\n(.*?)```", path.read_text(), flags=re.DOTALL)
    return [re.sub(r"^:.*\n", "", block, flags=re.MULTILINE) for block in blocks]


def test_a_subscript_of_an_accented_letter_is_not_rendered_below_it():
    mathml = load_module("math_pages").mathml
    tags = [node.tag for node in ElementTree.fromstring(mathml(r"\bar K_n")).iter()]
    assert tags == ["math", "msub", "mover", "mi", "mo", "mi"]
    assert "munderover" in mathml(r"\sum_{j=1}^m w_j", as_block=True)


def test_every_formula_can_be_rendered():
    mathml = load_module("math_pages").mathml
    formulas = [tex for path in DOCS.glob("*.md") for tex in formulas_of(path.read_text())]
    assert len(formulas) > 100
    for tex in formulas:
        assert mathml(tex).startswith("<math")


def formulas_of(text: str) -> list[str]:
    prose = re.sub(r"^```.*?^```|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)
    return [one or two for one, two in re.findall(r"\$\$(.+?)\$\$|\$(.+?)\$", prose, re.DOTALL)]
