"""Test a complete plan: its numbers, advice, table, figure and errors."""

import json
import subprocess
import sys
from dataclasses import FrozenInstanceError, replace

import matplotlib as mpl
import numpy as np
import pytest

from rskpca import Gaussian, Laplacian, ReducedSetKernelPCA, plan
from rskpca._format import bytes_in_words, percent, seconds_in_words
from rskpca.planning import Plan, PlannedFit, cost
from rskpca.planning.result import HEADER
from tests import datasets

X = datasets.blobs(20_000, 3)


@pytest.fixture(scope="module", autouse=True)
def _use_small_probes():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cost, "PROBE_CENTERS", 400)
        patch.setattr(cost, "PROBE_DENSE", 100)
        yield


@pytest.fixture(scope="module")
def planned():
    return plan(X, ell=3.7)


def make_scattered():
    return np.random.default_rng(0).normal(size=(2000, 20))


# ------------------------------------------------------------------------- the numbers


def test_the_predicted_number_of_centers_increases_with_ell(planned):
    assert [fit.ell for fit in planned.fits] == [3.0, 3.5, 3.7, 4.0, 4.5, 5.0]
    assert planned.asked.ell == planned.ell == 3.7
    assert planned.n_sampled == 1000
    for fit in planned.fits:
        model = ReducedSetKernelPCA(2, ell=fit.ell).partial_fit(X)
        assert abs(fit.n_centers / model.n_centers_ - 1) < 0.3
        assert fit.low <= model.n_centers_ <= fit.high
        assert min(fit.seconds, fit.memory, fit.displacement, fit.operator_error) > 0
    for errors in zip(*((f.operator_error, f.embedding_error) for f in planned.fits), strict=True):
        assert errors[-1] < errors[0] < 0.2
    assert np.all(np.diff([fit.n_centers for fit in planned.fits]) >= 0)


def test_the_same_seed_gives_the_same_numbers(planned):
    def without_times(plan):
        return [replace(fit, seconds=0.0) for fit in plan.fits]

    assert without_times(plan(X, ell=3.7)) == without_times(planned)


def test_a_file_and_an_array_give_the_same_plan(planned, tmp_path):
    np.save(tmp_path / "data.npy", X)
    from_file = plan(tmp_path / "data.npy", ell=3.7)
    assert [f.n_centers for f in from_file.fits] == [f.n_centers for f in planned.fits]


def test_the_centers_of_small_data_are_counted():
    small = datasets.blobs(400, 2)
    fit = plan(small, Gaussian(2.0)).asked
    exact = ReducedSetKernelPCA(2, kernel=Gaussian(2.0)).partial_fit(small).n_centers_
    assert fit.low == fit.n_centers == fit.high == exact


def test_the_plan_uses_the_same_kernel_as_the_fit():
    found = plan(X, Laplacian(3.0), sample=500)
    assert found.kernel.scale == 3.0
    assert "Laplacian(3)" in str(found)


def test_the_input_is_not_modified():
    before = X.copy()
    before.flags.writeable = False
    plan(before, sample=200)
    np.testing.assert_array_equal(before, X)


# ------------------------------------------------------------------------------ advice


def test_no_changes_are_advised_for_compressible_data(planned):
    assert len(planned.advice) == 1
    assert "centers" in planned.advice[0]


def test_the_advice_offers_alternatives_for_incompressible_data():
    found = plan(make_scattered(), ell=5.0, sample=200)
    text = " ".join(found.advice)
    assert "will not compress at bandwidth" in text
    assert "larger bandwidth" in text
    assert "Nystrom" in text
    wider = float(text.split("it suits the task: at ")[1].split(",")[0])
    again = plan(make_scattered(), Gaussian(wider), ell=5.0, sample=200)
    assert again.asked.n_centers <= 0.12 * again.n_samples


@pytest.mark.slow
def test_mnist_does_not_compress_at_the_median_bandwidth():
    X = datasets.load("mnist")[:8000]
    found = plan(X)
    assert any("will not compress" in sentence for sentence in found.advice)
    seen = ReducedSetKernelPCA(2).partial_fit(X).n_centers_
    assert abs(found.asked.n_centers / seen - 1) < 0.3


@pytest.mark.slow
@pytest.mark.parametrize("rows", [581_012, 464_809])
def test_the_number_of_centers_for_covtype_is_predicted(rows):
    X = datasets.load("covtype")[:, :10]
    X = X[np.random.default_rng(0).permutation(len(X))[:rows]] if rows < len(X) else X
    for fit in plan(X).fits[::2]:
        seen = ReducedSetKernelPCA(2, ell=fit.ell).partial_fit(X).n_centers_
        assert abs(fit.n_centers / seen - 1) < 0.3


# ---------------------------------------------------------------- the table and the figure


def test_the_table_and_the_dictionary_contain_the_numbers(planned):
    lines = str(planned).splitlines()
    assert lines[0].startswith("20,000 x 3, Gaussian(")
    assert lines[2].split() == " ".join(HEADER).split()
    assert len(lines) == 3 + 6 + 1 + 1
    assert repr(planned).startswith("Plan(20,000 rows, ell=3.7: about ")
    numbers = json.loads(json.dumps(planned.to_dict()))
    assert numbers["fits"][2]["n_centers"] == planned.asked.n_centers
    assert numbers["bandwidth"] == planned.kernel.scale
    assert numbers["advice"] == list(planned.advice)


def test_the_html_table_highlights_the_requested_ell(planned):
    html = planned._repr_html_()
    assert html.count("<tr") == 7
    assert html.count("bold") == 1
    assert f"{planned.asked.n_centers:,}" in html


def test_a_plan_is_frozen(planned):
    with pytest.raises(FrozenInstanceError):
        planned.ell = 5.0


def test_the_figure_shows_the_curve_its_interval_and_the_requested_ell(planned):
    mpl.use("agg")
    ax = planned.plot()
    curve = ax.get_lines()[0]
    expected = [100 * fit.n_centers / 20_000 for fit in planned.fits]
    np.testing.assert_allclose(curve.get_ydata(), expected)
    assert len(ax.collections) == 1
    assert f"{planned.asked.n_centers:,} centers" in ax.texts[0].get_text()
    other = ax.figure.add_subplot(111)
    assert planned.plot(other) is other
    mpl.pyplot.close(ax.figure)


def test_planning_does_not_import_matplotlib():
    code = (
        "import numpy as np, rskpca, sys;"
        "rskpca.planning.cost.PROBE_DENSE = rskpca.planning.cost.PROBE_CENTERS = 100;"
        "rskpca.plan(np.random.default_rng(0).normal(size=(400, 2)));"
        "sys.exit('matplotlib' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0123, "12 ms"), (0.0996, "0.1 s"), (2.34, "2.3 s"), (150, "2 min"), (9000, "2.5 h")],
)
def test_seconds_are_formatted_in_a_suitable_unit(seconds, text):
    assert seconds_in_words(seconds) == text


def test_bytes_and_shares_are_formatted_with_few_digits():
    assert bytes_in_words(12.3e6) == "12 MB"
    assert bytes_in_words(1.25e9) == "1.2 GB"
    assert percent(0.00055) == "0.055%"
    assert percent(0.925) == "92.5%"


def test_the_advice_mentions_that_the_matrix_is_not_stored():
    from rskpca.planning.advice import advise

    class Large:
        rows, n_samples, n_components, kernel = X[:100], 10**7, 5, Gaussian(1.0)

    fit = PlannedFit(4.0, 20_000, 19_000, 21_000, 1.0, 1.0, 0.1, 0.1)
    assert "not stored" in advise(Large(), fit)[-1]
    assert isinstance(plan(X, sample=200), Plan)


# ---------------------------------------------------------------------- invalid input


@pytest.mark.parametrize("ell", [0, -1.0, np.nan, np.inf, "4", None])
def test_an_invalid_ell_is_rejected(ell):
    with pytest.raises(ValueError, match="ell must be a positive, finite number"):
        plan(X, ell=ell)


@pytest.mark.parametrize("n_components", [0, 1.5, None])
def test_an_invalid_n_components_is_rejected(n_components):
    with pytest.raises(ValueError, match="n_components must be an integer"):
        plan(X, n_components=n_components)


def test_an_unknown_kernel_is_rejected():
    with pytest.raises(ValueError, match='kernel must be "rbf"'):
        plan(X, "cosine")
