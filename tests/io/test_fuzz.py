"""Thousands of spoilt files; ``python -m tests.io.fuzz --count 100000`` tries more."""

from pathlib import Path

import pytest

from tests.io import fuzz, mutations

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def report():
    with fuzz.scratch() as folder:
        return fuzz.run(2000, seed=7, folder=Path(folder))


def test_nothing_but_an_error_or_a_sound_model_comes_of_a_spoilt_file(report):
    assert report.failures == []


def test_every_way_to_spoil_a_file_was_tried_and_some_were_refused(report):
    tried = {mutation for mutation, _ in report.by_mutation}
    assert tried == {mutation.__name__ for mutation in mutations.ALL}
    assert report.outcomes["refused"] > 1000
    assert report.outcomes["another sound model"] > 50
