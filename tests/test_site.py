"""The page of all public names has all of them."""

import importlib.util
import re
from pathlib import Path

import pytest

import rskpca
import rskpca.spectral

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    spec = importlib.util.spec_from_file_location("api_pages", DOCS / "api_pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    path = tmp_path_factory.mktemp("site") / "api.rst"
    module.write_api(path)
    return path.read_text().splitlines()


def test_every_public_name_is_on_the_page_once(page):
    for name in (*rskpca.__all__, *rskpca.spectral.__all__):
        assert page.count(f"   {name}") == 1


def test_names_that_the_guide_imports_are_on_the_page(page):
    pages = "".join(path.read_text() for path in DOCS.glob("*.md"))
    imports = re.findall(r"^from (rskpca[\w.]*) import (.+)$", pages, flags=re.MULTILINE)
    names = {name for _, some in imports for name in re.findall(r"\w+", some)}
    modules = {"dask", "plotting", "report", "scaling"}
    assert {name for name in names - modules if f"   {name}" not in page} == set()


def test_pages_and_contents_name_each_other():
    contents = [block for page in ("index", "guide") for block in toctrees(DOCS / f"{page}.md")]
    named = {re.sub(r".*<(.*)>", r"\1", line) for block in contents for line in block.split("\n")}
    there = {path.stem for path in DOCS.glob("*.md")} - {"index"}
    assert {name for name in named if name} - {"api", "gallery/index"} == there


def toctrees(path: Path) -> list[str]:
    blocks = re.findall(r"```\{toctree\}\n(.*?)```", path.read_text(), flags=re.DOTALL)
    return [re.sub(r"^:.*\n", "", block, flags=re.MULTILINE) for block in blocks]
