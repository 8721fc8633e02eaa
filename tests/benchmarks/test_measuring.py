"""Test benchmark timings, targets and tables, and the competing cover implementations."""

import itertools
import os
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.cluster import SpectralClustering
from sklearn.manifold import SpectralEmbedding

from benchmarks import cover, frontier, manifold, means_speed, peers, timing
from benchmarks.rows import Row, Wanted, format_table, ratio
from benchmarks.timing import Timed, process_memory, run_python, time_interleaved
from rskpca import Gaussian
from rskpca.baselines.methods import Method
from tests.datasets import blobs


def test_contenders_are_timed_alternately(monkeypatch):
    clock = _Clock(monkeypatch)
    timed = time_interleaved({"a": clock.call("a", [1.0]), "b": clock.call("b", [2.0])}, 2)
    assert "".join(clock.calls) == "abpapbpapb"  # p is a pause
    assert timed == {"a": (1.0, "a"), "b": (2.0, "b")}


def test_without_a_warm_up_round_every_call_is_timed(monkeypatch):
    clock = _Clock(monkeypatch)
    timed = time_interleaved({"a": clock.call("a", [0.03, 0.01, 0.02])}, 3, warm=False)
    assert timed["a"].seconds == pytest.approx(0.02)
    assert "".join(clock.calls) == "papapa"


def test_short_calls_are_repeated_and_the_first_time_is_ignored(monkeypatch):
    clock = _Clock(monkeypatch)
    assert timing.time_repeated(clock.call("a", [0.09, 0.01, 0.02, 0.05])).seconds == pytest.approx(
        0.02
    )
    assert "".join(clock.calls) == "paaaa"


class _Clock:
    """A clock that advances only during calls and pauses, which it records."""

    def __init__(self, monkeypatch):
        self.now, self.calls = 0.0, []
        given = {"perf_counter": lambda: self.now, "sleep": lambda _: self.calls.append("p")}
        monkeypatch.setattr(timing, "time", SimpleNamespace(**given))

    def call(self, name, seconds):
        """Return a function whose calls last for the given times in turn."""
        durations = itertools.cycle(seconds)

        def run():
            self.now += next(durations)
            self.calls.append(name)
            return name

        return run


def test_a_fresh_process_returns_the_json_value_on_its_last_line():
    assert run_python("-c", "print('text'); print([1, 2.5])") == [1, 2.5]
    code = "import os; print(os.environ['N'])"
    assert run_python("-c", code, environment={"N": "[3]"}) == [3]


@pytest.mark.skipif(os.name == "nt", reason="requires /proc or getrusage")
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


def test_the_normalized_cut_equals_the_formula():
    rng = np.random.default_rng(0)
    W = rng.random((12, 12))
    W, labels = W + W.T, rng.integers(0, 3, 12)
    expected = 0.0
    for c in range(3):
        own = labels == c
        expected += W[np.ix_(own, ~own)].sum() / W[own].sum()
    assert manifold.normalized_cut(W, labels) == pytest.approx(expected)


def test_a_peer_is_fitted_with_its_fastest_setting(monkeypatch):
    X, kernel = blobs(60, 2), Gaussian(2.0)
    tried = []

    def fastest(method, n_rows, fit, rounds):
        tried.extend(fit(setting) for setting in method.settings(n_rows))
        return method.settings(n_rows)[-1]

    monkeypatch.setattr(Method, "fastest", fastest)
    fit = peers.fit_fastest("sklearn-kpca", X, 2, kernel)
    assert {model.eigen_solver for model in tried} == {"arpack", "randomized", "dense"}
    assert fit().eigen_solver == "dense"
    assert peers.describe(fit).startswith("eigen_solver=dense")
    landmarks = peers.fit_fastest("sklearn-nystroem", X, 2, kernel, 30)()
    assert landmarks[0].n_components == 30


@pytest.mark.parametrize("peer", [SpectralClustering(2), SpectralEmbedding(1, affinity="rbf")])
def test_spectral_methods_of_scikit_learn_use_the_faster_solver(peer, monkeypatch):
    seconds = {"arpack": 2.0, "lobpcg": 1.0}
    monkeypatch.setattr(
        manifold, "time_interleaved", lambda calls, rounds: {s: Timed(seconds[s], 0) for s in calls}
    )
    assert manifold.with_fastest_solver(peer, blobs(60, 2)).eigen_solver == "lobpcg"
