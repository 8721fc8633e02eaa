"""Test the verdicts on claims with synthetic results whose outcome is known."""

import json

import pytest

from experiments import claims, generic, results, summary
from experiments.claims import CLAIMS, theory
from experiments.claims.claim import Verdict
from experiments.table02 import PAPER
from tests.experiments.quick import quick_settings, run_experiment

REPRODUCED, PARTLY, NOT, NOT_RUN = Verdict
ELLS = (3.0, 3.5, 4.0, 4.8, 5.0)
RUNS = 4
SHADOW = {"fit": 1.0, "embed": 1.0, "transform": 1.0, "embedding_error": 1.0,
          "eigenvalue_error": 1.0, "same_rows_error": 1.0, "same_rows_eigenvalue_error": 1.0,
          "accuracy": 0.9, "m": 5, "n": 100}  # fmt: skip


def find(text, results, *, today=False):
    """Return the finding for the only claim that contains this text."""
    (claim,) = [claim for claim in CLAIMS if text in claim.text]
    return claim.find(results, today=today)


def filter_rows(rows, keep):
    """Return the rows for which ``keep(method, ell, run)`` is true."""
    kept = [i for i, at in enumerate(zip(*(rows[k] for k in ("method", "ell", "run")), strict=True))
            if keep(*at)]  # fmt: skip
    return {name: [values[i] for i in kept] for name, values in rows.items()}


def table_with_one_run_today(field, first, others, theirs):
    """Return a table in which the current method was run only once.

    The shadow method has the value ``first`` in that run and ``others`` in all other runs.
    """
    rows = filter_rows(
        make_table()["rows"], lambda m, ell, run: m != "sklearn-nystroem" or run == 0
    )
    for i, (method, run) in enumerate(zip(rows["method"], rows["run"], strict=True)):
        if method == "shadow":
            rows[field][i] = first if run == 0 else others
        if method == "sklearn-nystroem":
            rows[field][i] = theirs
    return {"rows": rows}


def make_table(**changes):
    """Return a table in which all methods equal the shadow method except for ``changes``.

    Each change is a dictionary of values or functions of ell. The runs differ slightly.
    """
    exact = ("kpca", "kpca-dense", "sklearn-kpca")
    others = (
        "subsampled",
        "nystrom",
        "wnystrom",
        "sklearn-nystroem",
        "kmeans",
        "paring",
        "herding",
    )
    rows = []
    for method in ("shadow", *others, *exact):
        for ell in (None,) if method in exact else ELLS:
            values = SHADOW | changes.get(method.replace("-", "_"), {})
            for run in range(RUNS):
                jitter = 1 + 1e-3 * (-1) ** run
                row = {k: (v(ell) if callable(v) else v) * jitter for k, v in values.items()}
                rows.append({"method": method, "ell": ell, "run": run} | row | {"n": 100})
    return {"rows": summary.to_columns(rows)}


def verdicts(text, results):
    """Return the verdicts (a) and (b) on the only claim that contains this text."""
    both = (find(text, results, today=today) for today in (False, True))
    return tuple(None if one is None else one.verdict for one in both)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (2.0, REPRODUCED),
        (0.5, NOT),
        (lambda ell: 2.0 if ell < 4.5 else 0.5, PARTLY),
        (lambda ell: 2.0 if ell < 4 else 0.5, NOT),
    ],
)
def test_the_verdict_depends_on_whether_subsampling_is_the_worst_method(error, expected):
    found = dict.fromkeys(("fig02", "fig03"), make_table(subsampled={"embedding_error": error}))
    assert verdicts("Subsampled KPCA performs worse", found) == (expected, None)


@pytest.mark.parametrize(
    ("from_ell", "expected"), [(3.0, REPRODUCED), (4.0, PARTLY), (5.0, NOT), (9.0, NOT)]
)
def test_the_verdict_depends_on_the_ell_from_which_nystrom_is_worse(from_ell, expected):
    errors = {"embedding_error": lambda ell: 2.0 if ell >= from_ell else 0.5}
    found = {"fig03": make_table(nystrom=errors, sklearn_nystroem=errors)}
    assert verdicts("pendigits: the embedding of ShDE+RSKPCA is better", found) == (
        expected,
        expected,
    )


@pytest.mark.parametrize(("at", "expected"), [({5.0}, PARTLY), (set(ELLS), NOT)])
def test_a_claim_is_partly_reproduced_if_it_fails_only_at_the_largest_ell(at, expected):
    errors = {"embedding_error": lambda ell: 0.5 if ell in at else 2.0}
    found = {"fig03": make_table(nystrom=errors, sklearn_nystroem=errors)}
    text = "pendigits: the embedding of ShDE+RSKPCA is better"
    assert verdicts(text, found) == (expected, expected)
    ours = find(text, found).ours
    assert f"at {5 - len(at)} of 5 values of ell" in ours
    assert ("not at the largest" in ours) == (expected == PARTLY)


def test_embedding_errors_are_compared_over_shared_runs():
    # Over all four runs, our mean would be 1.5 and smaller than theirs.
    found = {"fig03": table_with_one_run_today("embedding_error", 3.0, 1.0, 2.0)}
    finding = find("pendigits: the embedding of ShDE+RSKPCA is better", found, today=True)
    assert finding.verdict == NOT
    assert "(1 run), and at 0 of 4 from ell = 3.2 onward;" in finding.ours
    assert "error 1.5 times" in finding.ours


def test_equal_errors_count_as_no_worse():
    found = {"fig02": make_table(sklearn_nystroem={"embedding_error": 0.9})}
    assert verdicts("german: the embedding of ShDE+RSKPCA is no worse", found) == (REPRODUCED, NOT)


def test_one_ell_is_not_enough_to_reproduce_a_claim():
    rows = filter_rows(make_table()["rows"], lambda method, ell, run: ell != 4.8)
    text = "german: the embedding of ShDE+RSKPCA is no worse"
    assert verdicts(text, {"fig02": {"rows": rows}}) == (PARTLY, PARTLY)


def test_an_analysis_of_variance_requires_two_runs():
    rows = make_table()["rows"]
    once = [i for i, run in enumerate(rows["run"]) if run == 0]
    found = {"fig02": {"rows": {k: [v[i] for i in once] for k, v in rows.items()}}}
    assert verdicts("german: the embedding of ShDE+RSKPCA is better", found)[0] == NOT_RUN


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        (lambda ell: 6 - ell, REPRODUCED),
        (lambda ell: 60 - ell, NOT),
        (lambda ell: ell, NOT),
        (lambda ell: 1.5 - (ell - 3), NOT),  # from 0.5 above KPCA to 1.5 below it
        (lambda ell: 0.2 + (ell - 3) / 3, REPRODUCED),  # approaches KPCA from below
    ],
)
def test_the_verdict_depends_on_whether_errors_approach_those_of_kpca(errors, expected):
    found = dict.fromkeys(("fig02", "fig03"), make_table(shadow={"embedding_error": errors}))
    assert verdicts("approaches the KPCA baseline", found) == (expected, None)


@pytest.mark.parametrize(
    ("best", "expected"),
    [
        (0.51, REPRODUCED),
        (0.49, NOT),
        (lambda ell: 0.51 if ell < 4.9 else 0.49, PARTLY),
        (lambda ell: 0.51 if ell < 4.2 else 0.49, NOT),
    ],
)
@pytest.mark.parametrize("method", ["nystrom", "wnystrom", "subsampled"])
def test_a_method_is_accurate_if_its_error_is_within_twice_the_best(method, best, expected):
    errors = {"same_rows_error": best, "same_rows_eigenvalue_error": best}
    found = dict.fromkeys(("fig02", "fig03"), make_table(**{method: errors}))
    assert verdicts("approximates eigenvalues", found) == (expected, None)


def test_a_method_is_not_accurate_just_because_another_is_worse():
    names = "same_rows_error", "same_rows_eigenvalue_error"
    bad, good = (dict.fromkeys(names, v) for v in (2.0, 0.1))
    found = dict.fromkeys(("fig02", "fig03"), make_table(subsampled=bad, nystrom=good))
    assert verdicts("approximates eigenvalues", found) == (NOT, None)


def test_the_claimed_speedup_is_judged_for_training_and_testing():
    slow, slower = {"fit": 12.0, "transform": 4.0}, {"fit": 30.0, "transform": 2.0}
    found = {"fig02": make_table(kpca=slow, kpca_dense=slower, sklearn_kpca=slow)}
    assert verdicts("the training time of KPCA", found) == (REPRODUCED, REPRODUCED)
    assert verdicts("the testing time of KPCA", found) == (NOT, NOT)
    found = {"fig04": make_table(kpca=slow, kpca_dense={"fit": 30.0}, sklearn_kpca={"fit": 2.0})}
    # For classification, the training time includes embedding the training rows.
    assert verdicts("the training time of KPCA", found) == (PARTLY, NOT)


def test_the_verdict_depends_on_whether_training_is_faster_than_kpca():
    slow = {"fit": 3.0}
    found = dict.fromkeys(("fig02", "fig03"), make_table(kpca=slow, kpca_dense=slow))
    assert verdicts("trains faster than KPCA", found) == (REPRODUCED, NOT)
    found = dict.fromkeys(("fig02", "fig03"), make_table(kpca_dense=slow, sklearn_kpca=slow))
    assert verdicts("trains faster than KPCA", found) == (PARTLY, NOT)


def test_the_fit_of_exact_kernel_pca_includes_the_training_coordinates():
    slow = {"fit": 5.0, "embed": 90.0}  # 2.5 and 47 times as slow as our method
    found = dict.fromkeys(("fig04", "fig05"), make_table(kpca=slow, sklearn_kpca={"fit": 100.0}))
    assert find("significant training speed-ups", found, today=True).ours == "usps 2.5; yale 2.5"
    assert "47.5 (Lanczos)" in find("significant training speed-ups", found).ours
    assert verdicts("the training time of KPCA", found)[1] == NOT


def test_training_times_are_compared_over_shared_runs():
    found = dict.fromkeys(("fig04", "fig05"), table_with_one_run_today("fit", 3.0, 1.0, 2.0))
    finding = find("trains faster than Nystrom", found, today=True)
    assert finding.verdict == NOT
    assert "1.33 (usps, 1 run)" in finding.ours


def test_training_time_is_compared_with_weighted_nystrom():
    text, figures = "training time of RSKPCA compares favorably", ("fig02", "fig03", "fig04")
    slow, fast = make_table(wnystrom={"fit": 3.0}), make_table(wnystrom={"fit": 0.5})
    assert verdicts(text, dict.fromkeys(figures, slow) | {"fig05": slow}) == (REPRODUCED, None)
    assert verdicts(text, dict.fromkeys(figures, slow) | {"fig05": fast}) == (PARTLY, None)
    assert verdicts(text, dict.fromkeys(figures, fast) | {"fig05": fast}) == (NOT, None)


def test_training_can_be_slower_than_nystrom_but_faster_including_the_embedding():
    both = make_table(nystrom={"fit": 0.5, "embed": 3.0}, sklearn_nystroem={"fit": 9.0})
    found = dict.fromkeys(("fig02", "fig03", "fig04", "fig05"), both)
    assert verdicts("trains slower than Nystrom", found) == (REPRODUCED, NOT)
    assert verdicts("trains faster than Nystrom", found) == (REPRODUCED, REPRODUCED)


@pytest.mark.parametrize(
    ("accuracy", "expected"),
    [(0.905, REPRODUCED), (0.95, NOT), (lambda ell: 0.95 if ell < 4 else 0.9, PARTLY)],
)
def test_accuracy_within_one_percentage_point_is_competitive(accuracy, expected):
    found = dict.fromkeys(("fig04", "fig05"), make_table(wnystrom={"accuracy": accuracy}))
    assert verdicts("accuracy of ShDE+RSKPCA is competitive", found) == (expected, REPRODUCED)


def test_accuracies_are_compared_over_shared_runs():
    found = dict.fromkeys(
        ("fig04", "fig05"), table_with_one_run_today("accuracy", 0.90, 0.95, 0.93)
    )
    finding = find("accuracy of ShDE+RSKPCA is competitive", found, today=True)
    assert finding.verdict == NOT
    assert "usps 90% at ell = 3, 90% at ell = 5" in finding.ours
    assert "at most 3.00 points behind" in finding.ours
    assert "(scikit-learn: 5 values of ell, 1 run)" in finding.ours


def test_competitiveness_is_judged_at_every_measured_ell():
    rows = make_table(nystrom={"accuracy": lambda ell: 0.95 if ell == 3.5 else 0.9})["rows"]
    few = {
        "rows": filter_rows(
            rows, lambda method, ell, run: method != "wnystrom" or ell in (3.0, 5.0)
        )
    }
    finding = find("accuracy of ShDE+RSKPCA is competitive", dict.fromkeys(("fig04", "fig05"), few))
    assert finding.verdict == PARTLY
    assert "competitive at 4 of 5 (usps), 4 of 5 (yale) values of ell" in finding.ours
    assert "Nystrom: 5 values of ell, 4 runs; WNystrom: 2 values of ell, 4 runs" in finding.ours


@pytest.mark.parametrize(
    ("m", "expected"),
    [(9.0, REPRODUCED), (11.0, NOT), (lambda ell: 2.4 * ell, PARTLY), (lambda ell: 2.6 * ell, NOT)],
)
def test_the_verdict_depends_on_the_share_of_retained_data(m, expected):
    found = {"fig06": {"usps": make_table(shadow={"m": m})}}
    assert verdicts("Less than 10% of usps", found) == (expected, None)


def test_better_reduced_sets_are_expected_to_help_at_small_ell_and_to_cost_more():
    better = {"accuracy": lambda ell: 0.95 if ell < 4 else 0.9, "fit": 5.0}
    found = dict.fromkeys(("fig07", "fig08"), make_table(kmeans=better))
    assert verdicts("The quality of the reduced set influences", found) == (REPRODUCED, None)
    assert verdicts("Schemes with better accuracy are costlier", found) == (REPRODUCED, None)
    assert verdicts("Evaluation speed-up is the same", found) == (REPRODUCED, None)
    found = dict.fromkeys(
        ("fig07", "fig08"), make_table(herding={"accuracy": 0.95, "transform": 3.0})
    )
    assert verdicts("The quality of the reduced set influences", found) == (NOT, None)
    assert verdicts("Schemes with better accuracy are costlier", found) == (NOT, None)
    assert verdicts("Evaluation speed-up is the same", found) == (NOT, None)


@pytest.mark.parametrize(
    ("times", "expected"), [(1.1, REPRODUCED), (1.9, PARTLY), (0.6, PARTLY), (0.4, NOT), (2.1, NOT)]
)
def test_testing_times_of_reduced_sets_are_expected_to_be_equal(times, expected):
    other = {scheme: {"transform": times} for scheme in ("kmeans", "paring", "herding")}
    found = dict.fromkeys(("fig07", "fig08"), make_table(**other))
    assert verdicts("Evaluation speed-up is the same", found) == (expected, None)


def make_bounds(printed, measured=0.1, unproved=0.5):
    row = {"printed": printed, "measured": measured, "unproved": unproved}
    names = ("mmd", "eigenvalues", "operator", "eigenspaces")
    return {"bounds": {"sets": {"german": {"rows": [dict.fromkeys(names, row)]}}}}


def test_theorems_are_judged_from_the_printed_and_measured_values(monkeypatch):
    for number in "123":  # constructed data violate the printed bounds
        assert verdicts(f"Theorem 5.{number}", make_bounds(0.2)) == (PARTLY, None)
        assert verdicts(f"Theorem 5.{number}", make_bounds(0.05)) == (NOT, None)
    monkeypatch.setitem(theory.COUNTEREXAMPLES, "mmd", lambda: 1.0)
    assert verdicts("Theorem 5.1", make_bounds(0.2)) == (REPRODUCED, None)
    assert verdicts("Theorem 5.4", make_bounds(0.2)) == (REPRODUCED, None)
    assert verdicts("Theorem 5.4", make_bounds(None)) == (PARTLY, None)  # the condition is not met
    assert verdicts("Theorem 5.4", make_bounds(None, unproved=0.05)) == (NOT, None)
    assert "1 of 1 points on german;" in find("Theorem 5.1", make_bounds(0.2)).ours


def test_rules_state_what_is_measured():
    rules = {claim.text.partition(":")[0]: claim.rule for claim in CLAIMS}
    for number in "1234":
        rule = rules[f"Theorem 5.{number}"]
        assert "every second ell" in rule
        assert "3,500 of its 9,298 rows" in rule
    costs = [claim.rule for claim in CLAIMS if claim.needs == ("table02",)]
    assert costs
    assert all("the order holds as an upper bound" in rule for rule in costs)


def test_time_and_storage_are_judged_from_the_measured_exponents():
    as_printed = {
        method: {
            size: {
                "seconds": cost.time_exponents[i],
                "stored": cost.space_exponents[i],
                "transform": cost.space_exponents[i],
            }
            for i, size in enumerate("nm")
        }
        for method, cost in PAPER.items()
    }
    found = {"table02": {"exponents": as_printed}}
    assert verdicts("ShDE+RSKPCA trains in", found) == (REPRODUCED, None)
    as_printed["shadow"]["m"]["seconds"] = 1.3
    assert verdicts("ShDE+RSKPCA trains in", found) == (PARTLY, None)  # an upper bound only
    as_printed["shadow"]["n"]["seconds"] = 1.4
    assert verdicts("ShDE+RSKPCA trains in", found) == (NOT, None)
    assert verdicts("ShDE+RSKPCA stores", found) == (REPRODUCED, None)
    assert verdicts("ShDE+RSKPCA embeds a new point in O(m)", found) == (REPRODUCED, None)
    as_printed["shadow"]["n"]["transform"] = 0.5
    assert verdicts("ShDE+RSKPCA embeds a new point in O(m)", found) == (NOT, None)
    del as_printed["shadow"]["n"]["transform"]
    assert verdicts("ShDE+RSKPCA embeds a new point in O(m)", found) == (NOT_RUN, None)


def test_the_claim_in_the_abstract_combines_other_claims():
    slow = {"fit": 3.0, "embed": 3.0, "embedding_error": 2.0}
    all_good = make_table(nystrom=slow, wnystrom=slow, sklearn_nystroem=slow)
    found = dict.fromkeys(("fig02", "fig03", "fig04", "fig05"), all_good)
    text = "compares favorably to the Nystrom"
    assert verdicts(text, found) == (REPRODUCED, REPRODUCED)
    assert verdicts(text, found | {"fig02": make_table()})[0] == PARTLY
    assert find(text, found).ours.startswith("of the 7 comparisons below: 7 reproduced")
    assert find(text, found, today=True).ours.startswith("of the 4 comparisons below: 4 reproduced")
    clustered = found | {"fig05": make_table(nystrom=slow, sklearn_nystroem=slow)}
    assert verdicts(text, clustered) == (PARTLY, REPRODUCED)  # WNystrom is equally fast here


def test_the_summary_is_not_reproduced_if_no_comparison_is():
    """Three partly reproduced comparisons do not make the summary partly reproduced."""
    partly = {"embedding_error": lambda ell: 2.0 if ell >= 4.5 else 0.5, "fit": 0.1, "embed": 0.1}
    figures = ("fig02", "fig03", "fig04", "fig05")
    found = dict.fromkeys(figures, make_table(sklearn_nystroem=partly | {"accuracy": 0.95}))
    assert verdicts("compares favorably to the Nystrom", found)[1] == NOT


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0.5, REPRODUCED), (2.0, NOT), (lambda ell: 0.5 if ell < 4.5 else 2.0, PARTLY)],
)
def test_the_verdict_depends_on_whether_subsampling_trains_faster(seconds, expected):
    found = dict.fromkeys(("fig02", "fig03"), make_table(subsampled={"fit": seconds}))
    assert verdicts("Subsampled KPCA trains faster", found) == (expected, None)


@pytest.mark.parametrize(
    ("accuracy", "expected"),
    [(0.904, REPRODUCED), (0.906, NOT), (0.8, REPRODUCED)],
)
def test_half_a_point_of_accuracy_is_a_minimal_loss(accuracy, expected):
    found = dict.fromkeys(("fig04", "fig05"), make_table(kpca={"accuracy": accuracy}))
    assert verdicts("minimal performance loss", found) == (expected, None)


def test_the_overall_time_is_compared_with_every_nystrom_method():
    text, figures = "Competitive overall speed-ups", ("fig04", "fig05")
    equal = dict.fromkeys(figures, make_table())
    assert verdicts(text, equal) == (REPRODUCED, REPRODUCED)
    fast = {"fit": 0.5, "embed": 0.5, "transform": 0.5}
    found = dict.fromkeys(figures, make_table(nystrom=fast, sklearn_nystroem=fast))
    assert verdicts(text, found) == (PARTLY, NOT)  # competitive with WNystrom only


def make_generic(seconds, error=0.05):
    """Return results with training times by ell, where exact kernel PCA takes 10 seconds."""
    rows = [{"ell": ell, "m": 5, "seconds": seconds(ell), "error": error} for ell in generic.ELLS]
    found = {"n": 100, "exact": {"kpca": 10.0, "sklearn-kpca": 12.0}, "rows": rows}
    return {"generic": {"sets": {"german": found, "usps": found}}}


def test_a_generic_ell_must_be_fast_and_accurate():
    text = "ell can be set to a generic value"
    assert verdicts(text, make_generic(lambda ell: ell)) == (REPRODUCED, None)
    assert verdicts(text, make_generic(lambda ell: 6.0)) == (NOT, None)
    assert verdicts(text, make_generic(lambda ell: ell, error=0.2)) == (NOT, None)
    one = make_generic(lambda ell: ell)
    one["generic"]["sets"]["usps"] = make_generic(lambda ell: 6.0)["generic"]["sets"]["usps"]
    assert verdicts(text, one) == (PARTLY, None)


def test_a_large_ell_is_inefficient_if_training_takes_longer_than_at_five():
    text = "ell > 5 generally results in a loss"
    assert verdicts(text, make_generic(lambda ell: ell**2)) == (REPRODUCED, None)
    assert verdicts(text, make_generic(lambda ell: 1.0)) == (NOT, None)
    assert verdicts(text, make_generic(lambda ell: 1.0 + (ell > 6))) == (PARTLY, None)


@pytest.mark.parametrize("theorem", theory.COUNTEREXAMPLES)
def test_constructed_data_violate_the_printed_bounds(theorem):
    assert 0 <= theory.COUNTEREXAMPLES[theorem]() < 1


def test_claims_without_results_are_marked_as_not_run(tmp_path):
    numbers, path = run_experiment("claims", quick_settings(tmp_path))
    assert {row["a"]["verdict"] for row in numbers["claims"]} == {NOT_RUN}
    assert len(numbers["claims"]) == len(CLAIMS)
    text = path.read_text()
    assert text.count("**not run**") == sum(1 + (claim.judge_today is not None) for claim in CLAIMS)


def test_claims_are_judged_from_the_available_results(tmp_path):
    settings = quick_settings(tmp_path, command="python -m experiments fig06 --quick")
    numbers = {name: make_table() for name in ("german", "pendigits", "usps", "yale")}
    results.write(settings.result("fig06"), results.describe_run("fig06", settings, 1.0, numbers))
    found, path = run_experiment("claims", settings)
    ran = [row["text"] for row in found["claims"] if row["a"]["verdict"] != NOT_RUN]
    assert ran == [
        "Less than 10% of usps is retained for ell in [3, 5]",
        "Less than 10% of yale is retained for ell in [3, 5]",
    ]
    text = path.read_text()
    assert "python -m experiments fig06 --quick" in text
    assert "2 (quick, not meaningful)" in text
    assert "| fig02 | not run |" in text


def test_the_page_depends_only_on_the_result_files(tmp_path):
    settings = quick_settings(tmp_path)
    first, path = run_experiment("claims", settings)
    before = path.read_text()
    assert run_experiment("claims", settings)[1].read_text() == before
    assert json.loads(json.dumps(first)) == first


def test_every_claim_states_its_rule():
    for claim in CLAIMS:
        assert "eproduced" in claim.rule
        assert claim.needs
        assert set(claim.needs) <= set(claims.SOURCES)
    assert len({claim.text for claim in CLAIMS}) == len(CLAIMS)
