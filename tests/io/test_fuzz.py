"""Thousands of spoilt files; ``python -m tests.io.fuzz --count 100000`` tries more."""

import pytest

from tests.io import fuzz, mutations

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return fuzz.run(2000, seed=7, folder=tmp_path_factory.mktemp("fuzz"))


def test_nothing_but_an_error_or_a_sound_model_comes_of_a_spoilt_file(report):
    assert report.failures == []


def test_every_way_to_spoil_a_file_was_tried_and_some_were_refused(report):
    tried = {mutation for mutation, _ in report.by_mutation}
    assert tried == {mutation.__name__ for mutation in mutations.ALL}
    assert report.outcomes["refused"] > 1000
    assert report.outcomes["another sound model"] > 50
