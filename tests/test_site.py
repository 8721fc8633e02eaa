"""The page of all public names has all of them."""

import importlib.util
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


def test_pages_of_the_site_are_in_its_contents():
    contents = (DOCS / "index.md").read_text() + (DOCS / "guide.md").read_text()
    words = set(contents.replace("<", " ").replace(">", " ").split())
    assert {path.stem for path in DOCS.glob("*.md")} - {"index"} <= words
