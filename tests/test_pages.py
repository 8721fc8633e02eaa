"""The generated tables in docs match the result files."""

import pytest

from benchmarks.pages import pages, rendered


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_tables_are_up_to_date(page):
    assert page.read_text() == rendered(page.read_text()), "run python -m benchmarks.pages"
