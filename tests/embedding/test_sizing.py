"""Test the search for a basis, and the number of rows from which errors are estimated."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from rskpca import Gaussian, KernelPCA, NystromKernelPCA
from rskpca.baselines.methods import embedding_error
from rskpca.certificate.sampled import Analysis
from rskpca.embedding import _sizing
from rskpca.embedding._sizing import BasisSearch, Level, Tried, error_limit
from rskpca.pairs import Estimate
from rskpca.row_sample import RowSample
from rskpca.value_kernels import RowKernel
from tests import datasets

KERNEL = Gaussian(4.0)


def search(
    X, weights=None, *, max_error=0.02, rules=("means", "rpcholesky"), kernel=KERNEL, **options
):
    options = {"center": True, "rules": rules, "random_state": 0, **options}
    return BasisSearch(kernel, (X, weights), 3, max_error=max_error, **options)


@pytest.fixture
def rows():
    return datasets.blobs(3_000, 5)


@pytest.fixture
def fits(monkeypatch):
    """Return a list to which the sizes of all models fitted to all rows are appended."""
    found, fit_basis = [], NystromKernelPCA.fit_basis

    def record(self, rows, kernel, basis, sample=None):
        found.append(len(basis))
        return fit_basis(self, rows, kernel, basis, sample)

    monkeypatch.setattr(NystromKernelPCA, "fit_basis", record)
    return found


def test_errors_are_estimated_from_rows_on_which_bases_are_tried(rows, monkeypatch):
    monkeypatch.setattr(_sizing, "SIZE", 200)
    monkeypatch.setattr(_sizing, "_TRIAL_ROWS", 900)
    found = search(rows)
    assert (len(found._trial), len(found.sample)) == (900, 200)
    np.testing.assert_array_equal(found.sample.rows, found._trial.rows[:200])
    assert found.sample == RowSample.of(rows, np.ones(3_000), None, 0, 200)


def test_the_sample_of_few_rows_has_the_usual_size(rows):
    found = search(rows[:300])
    assert found.sample == RowSample.of(rows[:300], np.ones(300), None, 0)
    model = NystromKernelPCA(3, kernel=KERNEL, landmarks="auto", max_error=0.1).fit(rows[:300])
    model.partial_fit(rows)
    assert len(model.model_.reduced_set.sample) == 2_000


def test_the_first_model_of_many_rows_is_accurate_enough(fits, monkeypatch):
    monkeypatch.setattr(_sizing, "_TRIAL_ROWS", 2_000)
    X = datasets.blobs(12_000, 5)
    model = KernelPCA(3, kernel=Gaussian(2.0), max_error=0.001).fit(X)
    assert model.error_ <= 0.001
    assert len(fits) == 1


@pytest.mark.parametrize(("n_trial", "rel"), [(3_000, 1e-6), (2_000, 0.05)])
@pytest.mark.parametrize("kind", ["plain", "weighted", "float32", "sparse"])
def test_trials_predict_the_certificate_of_all_rows(rows, kind, n_trial, rel, monkeypatch):
    monkeypatch.setattr(_sizing, "_TRIAL_ROWS", n_trial)
    X = {"float32": np.float32, "sparse": csr_array}.get(kind, np.asarray)(rows)
    weights = np.arange(3_000) % 3 + 1.0 if kind == "weighted" else None
    found = search(X, weights)
    found._thorough = True
    basis = found._choose("means", 30)
    model = NystromKernelPCA(3, kernel=KERNEL, landmarks=basis).fit(X, sample_weight=weights)
    expected = model.certificate_.embedding
    tried = found._try(basis).error
    assert tried.estimate == pytest.approx(expected.estimate, rel=rel)
    assert tried.limit == pytest.approx(expected.limit, rel=rel)


def test_rows_replace_means_where_they_are_more_accurate():
    X = datasets.load("skin", 40)
    options = {"center": True, "max_error": 1e-5, "random_state": 0}
    found = BasisSearch(Gaussian(130.0), (X, None), 5, rules=("means", "rpcholesky"), **options)
    means, pivots = (found._try(found._choose(rule, 100)) for rule in ("means", "rpcholesky"))
    assert pivots.error.estimate < means.error.estimate / 2
    assert found._best(100).basis.kind == "rows"
    assert found.rules == ["rpcholesky"]


def test_rows_are_not_tried_where_means_are_more_accurate(rows, monkeypatch):
    found, tried = search(rows, max_error=1e-5), []
    monkeypatch.setattr(found, "_try", lambda basis, fit=found._try: tried.append(1) or fit(basis))
    assert found._best(40).residual > 0.03
    assert len(tried) == 1
    assert found.rules == ["means", "rpcholesky"]


class Recorded:
    """Replaces the analysis of a model: returns given limits, one per number of rows."""

    def __init__(self, limits, n_rows=3_000):
        self.limits, self.rows, self.sample = limits, [], range(n_rows)

    def __call__(self, *parts, values=None, span=None, images=None):
        self.rows.append(parts[4] if len(parts) > 4 else None)
        return self

    def embedding_limit(self, confidence, *, fast):
        limit = self.limits[len(self.rows) - 1]
        return Estimate(limit / 2, limit)


@pytest.mark.parametrize(
    ("limits", "seconds", "used"),
    [
        ([0.009], None, [250]),  # small enough
        ([0.03, 0.009], None, [250, 600]),  # undecided, then small enough
        ([0.07], None, [250]),  # too large even if it is six times too large
        ([0.03, 0.018, 0.012], None, [250, 600, None]),
        ([0.03], lambda limit: 0.01 * (limit > 0.01), [250]),  # the next step takes 10 ms
        ([0.03, 0.015], lambda limit: 0.07 * (limit > 0.01), [250, 600]),
        ([0.03, 0.015, 0.012], lambda limit: 1.0 * (limit > 0.01), [250, 600, None]),
        ([0.9], lambda limit: math.inf, [250]),  # the next step is the same in any case
        ([1.0, 0.01], lambda limit: 1.0 * (limit > 0.01), [250, 600]),  # could be any value
    ],
)
def test_more_rows_are_used_only_if_this_can_save_time(rows, limits, seconds, used, monkeypatch):
    model = NystromKernelPCA(3, kernel=KERNEL, landmarks=30).fit(rows).model_
    recorded = Recorded(limits)
    monkeypatch.setattr(Analysis, "of", recorded)
    assert _sizing._judge(model, 0.01, seconds=seconds)[0].limit == limits[-1]
    assert recorded.rows == used


@pytest.mark.parametrize("n_rows", [200, 250, 600])
def test_no_level_is_tried_twice_with_the_same_rows(rows, n_rows, monkeypatch):
    model = NystromKernelPCA(3, kernel=KERNEL, landmarks=30).fit(rows[:n_rows]).model_
    recorded = Recorded([0.03], n_rows=n_rows)
    monkeypatch.setattr(Analysis, "of", recorded)
    assert error_limit(model, 0.01).limit == 0.03


def levels_of(rows, n_rows, first=0):
    """Return the levels used for a model of these rows, as if there were ``n_rows`` of them."""
    model = NystromKernelPCA(3, kernel=KERNEL, landmarks=30).fit(rows).model_
    found = _sizing._levels(model, n_rows, first)
    assert [index for index, _ in found] == sorted(index for index, _ in found)
    return [(level.rows, level.exact) for _, level in found]


PAIRS = [(250, False), (600, False), (None, False)]


def test_levels_are_skipped_if_better_ones_take_hardly_more_time(rows):
    assert levels_of(rows, 0) == PAIRS
    assert levels_of(rows, 3_000) == [(250, True), (1_000, True), (None, True)]
    assert levels_of(rows, 1_000_000) == [*PAIRS, (None, True)]


def test_levels_that_did_not_suffice_are_not_tried_again(rows):
    assert levels_of(rows, 1_000_000, first=1) == [*PAIRS[1:], (None, True)]
    assert levels_of(rows, 1_000_000, first=5) == [(None, True)]
    assert levels_of(rows, 0, first=5) == [(None, False)]


def estimate(found, basis, X):
    """Return the error that a search estimates for a basis, and the true error."""
    model = NystromKernelPCA(3, kernel=KERNEL, landmarks=basis).fit(X)
    exact = NystromKernelPCA(3, kernel=KERNEL, n_centers=600).fit(X)
    return found.error(model.model_), embedding_error(exact.transform(X), model.transform(X))


@pytest.mark.parametrize("n_known", [12_000, 4_000])
def test_the_operator_is_computed_from_all_rows_or_not_at_all(n_known, monkeypatch):
    X, seen = datasets.blobs(12_000, 5), []
    found = search(X[:n_known], max_error=1e-6)
    judge = _sizing._judge

    def record(model, wanted, *, data, **options):
        seen.append(data)
        return judge(model, wanted, data=data, **options)

    monkeypatch.setattr(_sizing, "_judge", record)
    monkeypatch.setattr(_sizing, "LEVELS", (Level(None), Level(1_500, True)))
    error, true = estimate(found, found._choose("means", 40), X)
    assert [data is None for data in seen] == [n_known < 12_000]
    assert true < error.limit < 2 * true


def test_the_error_of_a_few_rows_is_measured_instead_of_estimated(rows):
    X = rows[:900]
    model = NystromKernelPCA(3, kernel=KERNEL, landmarks="means", n_centers=30).fit(X).model_
    estimate, limit = error_limit(model, 1e-9)
    exact = KernelPCA(3, kernel=KERNEL, eigen_solver="dense").fit_transform(X)
    true = embedding_error(exact, model.embed(X))
    assert estimate == pytest.approx(true, rel=1e-6)
    assert true < limit < 1.01 * true


def test_kernel_functions_are_tried_on_few_rows_and_assumed_to_be_slow(rows):
    slow = search(rows, rules=("rpcholesky",))
    slow.kernel = RowKernel(lambda x, y: float(x @ y))
    assert slow._moments_seconds(100) > 100 * search(rows)._moments_seconds(100)
    assert len(_sizing._samples(slow.kernel, rows, None, 0)[0]) == 2_000
    assert len(_sizing._samples(KERNEL, rows, None, 0)[0]) == 3_000


def test_an_alternative_is_used_if_too_many_points_are_needed():
    X = np.random.default_rng(0).normal(size=(3_000, 30))
    options = {"max_error": 1e-4, "most": 60}
    assert search(X, **options, alternative=0.1)._find(25) is None
    assert search(X, **options)._find(25) is not None


def test_any_random_state_is_accepted(rows):
    for random_state in (np.random.RandomState(3), None):
        found = search(rows, random_state=random_state)
        assert len(found.find()) >= 25


def test_a_basis_that_is_much_larger_than_necessary_is_shrunk(rows, monkeypatch):
    found = search(rows, max_error=0.02)
    found._tried = [Tried(20, 0.2, 1.0), Tried(200, 0.002, 1.0)]
    monkeypatch.setattr(found, "_seconds", lambda size, n_rows=None: size * (1 if n_rows else 100))
    limits = {}

    def record(basis):
        limits[len(basis)] = 0.03 if len(limits) == 0 else 0.01
        return _sizing.Candidate(Estimate(0.0, limits[len(basis)]), 0.0, basis, 1.0)

    monkeypatch.setattr(found, "_try", record)
    shrunk = found._shrink(found._choose("means", 200))
    first, second = limits  # the first trial failed
    assert 20 < first < second < 200
    assert len(shrunk) == second


def test_a_basis_is_not_shrunk_if_trials_take_as_long_as_fits(rows, monkeypatch):
    found = search(rows, max_error=0.02)
    found._tried = [Tried(20, 0.2, 1.0), Tried(60, 0.002, 1.0)]
    monkeypatch.setattr(found, "_try", None)
    basis = found._choose("means", 60)
    assert found._shrink(basis) is basis


@pytest.mark.parametrize(
    ("tried", "rate"),
    [
        ([(50, 0.4), (100, 0.1)], 2.0),
        ([(50, 0.16), (100, 0.04), (200, 0.01)], 2.0),
        ([(100, 0.1), (200, 0.099)], 0.5),  # clipped
        ([(100, 0.01), (200, 0.02)], 1.3),  # a larger error of a larger basis is due to chance
        ([(100, 0.01)], 1.3),
        ([(100, 0.01), (200, 0.0)], 5.0),  # a measured error can be 0
    ],
)
def test_the_rate_is_fitted_to_all_errors(tried, rate):
    assert _sizing._rate([Tried(*each, rate=1.3) for each in tried], 0.0) == pytest.approx(rate)


def test_the_errors_of_similar_sizes_hardly_change_the_expected_rate():
    rates = [_sizing._rate([Tried(100, 0.1, 1.3), Tried(n, 1_000 / n**2, 1.3)]) for n in (110, 300)]
    assert rates[0] == pytest.approx(1.3, abs=0.05)
    assert rates[1] == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize(("n_features", "low", "high"), [(3, 2, 5), (6, 1.1, 2), (30, 0.5, 1.1)])
def test_errors_are_expected_to_decrease_faster_in_fewer_dimensions(n_features, low, high):
    X = np.random.default_rng(0).random((1_000, n_features)) * (12 / n_features) ** 0.5
    model = NystromKernelPCA(3, kernel=Gaussian(1.0), landmarks="means", n_centers=50).fit(X)
    assert low <= _sizing._expected_rate(model.model_) <= high


def test_the_expected_rate_is_limited():
    X = np.repeat(datasets.blobs(3, 2), 20, axis=0)
    model = NystromKernelPCA(1, kernel=KERNEL, landmarks=X[::20][:2]).fit(X).model_
    for share, rate in ((0.0, 5.0), (1.0, 1.0)):  # of the trace, outside the span of the basis
        system = replace(model.system, residual=share * model.system.trace)
        assert _sizing._expected_rate(replace(model, system=system)) == rate


def test_a_size_that_is_expected_to_suffice_is_tried(rows):
    found = search(rows, max_error=0.01, most=100, alternative=1.0)
    assert found._grow([Tried(25, 0.5, 4.0)]) == 71
    assert found._grow([Tried(25, 0.5, 1.0)]) is None


def test_slow_models_are_judged_by_more_rows(rows, monkeypatch):
    monkeypatch.setattr(_sizing, "SIZE", 200)
    monkeypatch.setattr(_sizing, "_MORE_ROWS", 400)
    options = {"kernel": KERNEL, "landmarks": "auto", "max_error": 0.1}
    for seconds, n_sampled in ((3.0, 200), (0.0, 400)):
        monkeypatch.setattr(_sizing, "_LONG", seconds)
        model = NystromKernelPCA(3, **options).fit(rows).model_
        assert model.reduced_set.sample == RowSample.of(rows, np.ones(3_000), None, 0, n_sampled)


def test_a_basis_is_not_chosen_from_rows_that_judge_it(monkeypatch):
    X = np.random.default_rng(0).normal(size=(20_000, 3))
    found = search(X)
    chosen = found._choose("rpcholesky", 50).points
    assert len(found._trial) == 8_000
    assert set(map(bytes, chosen)) <= set(map(bytes, found._trial.rows[4_000:]))
    assert not set(map(bytes, chosen)) & set(map(bytes, found.sample.rows))


@pytest.mark.parametrize("n_distinct", [4, 20])
def test_fewer_distinct_rows_than_points_suffice(n_distinct):
    X = np.repeat(datasets.blobs(n_distinct, 5), 30, axis=0)
    assert len(search(X).find()) == n_distinct
    model = KernelPCA(3, kernel="rbf", gamma=0.02).partial_fit(X)
    assert len(model.X_fit_) == n_distinct


def test_a_basis_that_misses_grows_at_most_to_a_size_that_sufficed(rows, monkeypatch):
    found = search(rows, max_error=0.01)
    found._tried = [Tried(20, 0.2, 1.0), Tried(60, 0.001, 1.0), Tried(30, 0.009, 1.0)]
    basis = found._choose("means", 30)
    model = NystromKernelPCA(3, kernel=KERNEL, landmarks=basis).fit(rows).model_
    monkeypatch.setattr(found, "_choose_size", lambda size, model: found._choose("means", size))
    assert len(found.enlarge(basis, model, Estimate(0.05, 0.1))) == 60


def test_samples_are_extended_without_computing_values_again(rows, monkeypatch):
    monkeypatch.setattr(_sizing, "SIZE", 200)
    monkeypatch.setattr(_sizing, "_MORE_ROWS", 400)
    monkeypatch.setattr(_sizing, "_LONG", 0.0)
    found = search(rows)
    found._values[0].leading(200)
    sample = found.sample_for(30)
    assert (len(sample), sample.size) == (400, 400)
    assert found._values[1].n_rows == 200
    found.kernel = RowKernel(lambda x, y: float(x @ y))
    found._trial = found.sample
    assert found.sample_for(30) is found.sample


@pytest.mark.parametrize(
    ("n_features", "low", "high"), [(1, 1e-10, 1e-4), (3, 1e-3, 0.1), (30, 0.3, 1)]
)
def test_few_rows_span_less_in_more_dimensions(n_features, low, high):
    X = np.random.default_rng(0).random((1_000, n_features)) * (12 / n_features) ** 0.5
    assert low <= search(X, kernel=Gaussian(1.0))._outside <= high


def test_the_first_basis_is_smaller_if_few_rows_span_the_others():
    X = np.random.default_rng(0).random((4_000, 12))
    spread, narrow = (search(X * scale, kernel=Gaussian(1.0))._guess() for scale in (1.0, 0.1))
    assert 3 * narrow < spread


@pytest.mark.parametrize("n_rows", [1, 40])
def test_too_few_rows_do_not_show_how_much_they_span(n_rows):
    assert search(datasets.blobs(n_rows, 3))._outside == 1.0


def test_equal_rows_span_each_other():
    assert search(np.ones((300, 3)))._outside == pytest.approx(0, abs=1e-9)
