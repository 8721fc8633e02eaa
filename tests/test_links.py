"""Test that relative links in the Markdown files of the repository lead to existing files."""

import re

import pytest

from tests.test_docs import ROOT

GENERATED = ("docs/api.rst", "docs/gallery/", "docs/generated/")
_LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")


def pages():
    ignored = {".venv", ".nox", "node_modules", "build", "dist"}
    found = (path.relative_to(ROOT) for path in ROOT.rglob("*.md"))
    return sorted(path for path in found if not ignored & set(path.parts))


@pytest.mark.parametrize("page", pages(), ids=str)
def test_relative_links_lead_to_existing_files(page):
    text = re.sub(r"^```.*?^```", "", (ROOT / page).read_text("utf-8"), flags=re.M | re.S)
    targets = {(ROOT / page).parent / link for link in _LINK.findall(text)}
    missing = {str(t.resolve().relative_to(ROOT)) for t in targets if not t.exists()}
    assert not [name for name in missing if not name.startswith(GENERATED)]
