"""Test benchmark timings, targets and tables, and the competing cover implementations."""

import numpy as np
import pytest

from benchmarks import cover, frontier, means_speed
from benchmarks.rows import Row, Wanted, format_table, ratio
from benchmarks.timing import Timed, process_memory, run_python, time_interleaved
from tests.datasets import blobs


def test_contenders_are_timed_in_alternation():
    calls = []
    contenders = {name: lambda name=name: calls.append(name) or name for name in "ab"}
    timed = time_interleaved(contenders, 2)
    assert "".join(calls) == "ababab"
    assert {name: t.result for name, t in timed.items()} == {"a": "a", "b": "b"}


def test_a_fresh_process_returns_the_json_value_on_its_last_line():
    assert run_python("-c", "print('text'); print([1, 2.5])") == [1, 2.5]
    code = "import os; print(os.environ['N'])"
    assert run_python("-c", code, environment={"N": "[3]"}) == [3]


def test_current_memory_is_at_most_the_peak_memory():
    assert 0 < process_memory("VmRSS") <= process_memory("VmHWM")


@pytest.mark.parametrize(
    ("wanted", "stand_in", "met"),
    [
        (None, "", None),
        (Wanted(">=", 2.0), "", True),
        (Wanted("<", 2.0), "", False),
        (Wanted("<", 2.0), "usps is missing", None),
    ],
)
def test_targets_are_not_checked_on_substitute_data(wanted, stand_in, met):
    assert Row("case", 2.0, "x", wanted, stand_in=stand_in).met is met


def test_a_ratio_divides_the_slow_time_by_the_fast_time():
    timed = {"a": Timed(0.5, None), "b": Timed(2.0, None)}
    row = ratio("case", timed, "a", "b", at_least=5)
    assert row.seen == 4.0
    assert row.met is False
    assert "MISS" in format_table([row], with_targets=True)
    assert "MISS" not in format_table([row], with_targets=False)


@pytest.mark.parametrize("radius", [0.3, 1.0, 5.0])
def test_all_cover_implementations_agree(radius):
    X = blobs(500, 3)
    labels = cover.compute_cover(X, radius)
    np.testing.assert_array_equal(cover.numpy_cover(X, radius), labels)
    np.testing.assert_array_equal(cover.tuned_numpy_cover(X, radius), labels)


@pytest.mark.parametrize("enough", [10, 26, 95, 100, 333, 999])
def test_the_smallest_sufficient_size_is_found_within_ten_percent(enough):
    size = means_speed.smallest_size(lambda m: enough / m, 1.0, 1000)
    assert enough <= size <= max(1.1 * enough, means_speed.FEWEST)


def test_the_largest_size_is_returned_if_none_suffices():
    assert means_speed.smallest_size(lambda m: 1.0, 0.5, 70) == 70


def test_the_lower_envelope_contains_only_undominated_points():
    values = [(1.0, 0.5), (2.0, 0.6), (3.0, 0.1), (3.0, 0.2), (4.0, 0.0)]
    points = [{"fit": fit, "error": error} for fit, error in values]
    envelope = frontier.lower_envelope(points, "fit")
    assert [(p["fit"], p["error"]) for p in envelope] == [(1.0, 0.5), (3.0, 0.1), (4.0, 0.0)]
    assert frontier.cheapest(points, 0.15, "fit") == points[2]
    assert frontier.cheapest(points[:2], 0.15, "fit") is None
