"""Load thousands of corrupted files; ``python -m tests.io.fuzz --count 100000`` tries more."""

from pathlib import Path

import pytest

from tests.io import fuzz, mutations

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def report():
    with fuzz.scratch_folder() as folder:
        return fuzz.run(2000, seed=7, folder=Path(folder))


def test_a_corrupted_file_is_rejected_or_contains_a_valid_model(report):
    assert report.failures == []


def test_all_mutations_are_tried_and_have_various_outcomes(report):
    tried = {mutation for mutation, _ in report.by_mutation}
    assert tried == {mutation.__name__ for mutation in mutations.ALL}
    assert report.outcomes["rejected"] > 1000
    assert report.outcomes["a different valid model"] > 50
