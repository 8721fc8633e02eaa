"""Test that the tables in the documentation agree with the result files."""

import pytest

from benchmarks import frontier, frontier_plot
from benchmarks.pages import DOCS, find_pages, update_tables


@pytest.mark.parametrize("page", find_pages(), ids=lambda page: page.name)
def test_tables_are_up_to_date(page):
    assert page.read_text() == update_tables(page.read_text()), (
        "The tables are outdated. Run python -m benchmarks.pages."
    )


def test_the_frontier_table_is_up_to_date():
    found = [frontier.STORE.read(name) for name in frontier.CASES]
    found = [one for one in found if one is not None]
    for make in (frontier_plot.make_table, frontier_plot.make_recommended_table):
        assert make(found) in (DOCS / "comparison.md").read_text(), (
            "The frontier tables are outdated. Run python -m benchmarks.frontier_plot."
        )
