"""Test that compare measures every method in the same way and reports correct numbers."""

import os
import subprocess

import numpy as np
import pytest

from rskpca import Gaussian, ReducedSetKernelPCA, ShadowDensity
from rskpca.baselines.methods import METHODS, embedding_error
from rskpca.cli import comparison
from rskpca.cli.comparison import Comparison, Entry, Task

from .cases import FEATURES, FRAME, ROWS, json_of, output_of

TASK = Task(3, Gaussian().resolve(ROWS, None, 0))


def test_all_methods_run_on_the_same_rows_if_kernel_pca_can_handle_them(folder, short_comparison):
    numbers = json_of("compare", "table.csv", "-c", "x*,Height in m", "-o", "c.png")
    assert numbers["all"] == []
    methods = {line["method"]: line for line in numbers["sample"]}
    assert len(methods) == 6
    assert {line["rows"] for line in numbers["sample"]} == {480}
    assert methods["KernelPCA"]["error"] < 1e-6
    assert methods["KernelPCA"]["points"] == 480
    for name in ("rskpca", "rskpca --small --refine"):  # Nystroem also runs at the same size
        size = methods[name]["points"]
        assert methods[f"Nystroem + PCA, {size}"]["points"] == size
    assert methods["Nystroem + PCA, 100"]["points"] == 100
    assert methods["rskpca --small --refine"]["error"] < methods["rskpca"]["error"]
    assert {line["megabytes"] for line in numbers["sample"]} == {480 * 4 * 8.0}
    assert (folder / "c.png").stat().st_size > 10_000


def test_kernel_pca_is_excluded_when_more_rows_are_compared(folder, short_comparison, monkeypatch):
    monkeypatch.setattr(comparison, "SAMPLE", 200)
    monkeypatch.setattr(comparison, "HELD_OUT", 100)
    numbers = json_of("compare", "rows.npy", "--rows", "500", "-s", "-r", "3", "--ell", "3")
    assert {line["rows"] for line in numbers["sample"]} == {200}
    assert {line["rows"] for line in numbers["all"]} == {500}
    assert all(line["error"] is None for line in numbers["all"])
    assert {line["megabytes"] for line in numbers["sample"]} == {200 * 4 * 8.0}
    assert {line["megabytes"] for line in numbers["all"]} == {500 * 4 * 8.0}
    assert "KernelPCA" not in {line["method"] for line in numbers["all"]}
    text = " ".join(output_of("compare", "rows.npy", "--rows", "500").split())
    for part in (
        "rows.npy: 200 rows", "rows.npy: 500 rows", "KernelPCA was not run on 500 rows",
        "5 components", "100 held-out rows",
    ):  # fmt: skip
        assert part in text


def test_the_figure_has_one_panel_per_column_and_one_dot_per_method(
    folder, short_comparison, monkeypatch
):
    figures = []
    monkeypatch.setattr(comparison.import_pyplot(), "close", figures.append)
    lines = json_of("compare", "rows.npy", "-o", "c.svg")["sample"]
    (figure,) = figures
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles == ["points", "error", "fit", "embed 1,000 rows", "memory"]
    for ax in figure.axes:
        assert len(ax.collections) == len(ax.texts) == len(lines)
        assert all(text.get_text() for text in ax.texts)
        dots = [dot.get_offsets()[0, 0] for dot in ax.collections]
        assert ax.get_xlim()[0] < min(dots) <= max(dots) < ax.get_xlim()[1]
    points = [dot.get_offsets()[0, 0] for dot in figure.axes[0].collections]
    np.testing.assert_array_equal(points, [line["points"] for line in lines])
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names == [line["method"] for line in lines]
    monkeypatch.undo()
    comparison.import_pyplot().close(figure)


def test_the_number_of_landmarks_is_limited_and_a_remark_mentions_the_limit(monkeypatch):
    monkeypatch.setattr(comparison, "MAX_LANDMARKS", 20)
    entries = comparison.enter(TASK, 4.0, ROWS, exact=False)
    assert [entry.size for entry in entries[2:]] == [20]
    entries[0].points = 70
    remarks = comparison.remarks(Comparison(TASK, 9, entries, []))
    assert "Nystroem was limited to 20 points where rskpca has 70 centers" in remarks[-1]


def test_reported_errors_and_sizes_match_the_methods():
    train, test = ROWS[:400], ROWS[400:]
    r, kernel = TASK
    m = ShadowDensity(kernel).fit(train).reduced_set_.n_centers
    exact = ReducedSetKernelPCA(r, kernel=kernel, ell=np.inf).fit(train).transform(test)
    entries = comparison.enter(TASK, 4.0, train, exact=True)
    titles = [entry.title for entry in entries]
    for seed in range(3):
        for entry in entries:
            entry.measure(TASK, train, test, exact, seed)
    ours = ReducedSetKernelPCA(r, kernel=kernel, ell=4.0).fit(train)
    numbers = entries[0].to_dict()
    assert numbers["error"] == pytest.approx(embedding_error(exact, ours.transform(test)))
    assert numbers["points"] == m
    seeds = [METHODS["sklearn-nystroem"].make(r, kernel, m, random_state=s) for s in range(3)]
    errors = [embedding_error(exact, s.fit(train).transform(test)) for s in seeds]
    nystroem = entries[titles.index(f"Nystroem + PCA, {m}")]
    assert nystroem.to_dict()["error"] == pytest.approx(np.median(errors))


def test_measurements_alternate_between_methods_after_a_warm_up(monkeypatch):
    monkeypatch.setattr(comparison, "peak_memory", lambda *_: 0.0)
    steps = []
    entries = comparison.enter(TASK, 4.0, ROWS[:200], exact=True)
    comparison.measure(entries, TASK, ROWS[:200], ROWS[200:], None, steps.append)
    titles = [entry.title for entry in entries]
    memory = [f"measuring the memory of {title}" for title in titles]
    assert steps == titles * (1 + comparison.ROUNDS) + memory


def test_the_embedding_error_is_invariant_to_linear_maps():
    Z = np.random.default_rng(0).normal(size=(50, 3))
    turned = Z @ np.random.default_rng(1).normal(size=(3, 3))
    assert embedding_error(Z, turned) < 1e-12
    assert embedding_error(Z, Z[:, :2]) > 0.3


@pytest.mark.skipif(os.name == "nt", reason="requires /proc or getrusage")
def test_peak_memory_includes_the_fit(tmp_path):
    """The kernel matrix of 1,500 rows occupies 18 MB."""
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).normal(size=(1500, 2)))
    entry, task = Entry("KernelPCA", "sklearn-kpca", None), Task(2, Gaussian(2.0))
    assert 18 < comparison.peak_memory(entry, task, tmp_path / "rows.npy") < 200


def test_a_fit_that_runs_out_of_memory_suggests_fewer_rows(tmp_path, monkeypatch):
    killed = subprocess.CompletedProcess([], -9, "", "")
    monkeypatch.setattr(comparison.subprocess, "run", lambda *_, **__: killed)
    with pytest.raises(MemoryError, match=r"KernelPCA could not be fitted .*use fewer --rows"):
        comparison.peak_memory(Entry("KernelPCA", "sklearn-kpca", None), TASK, tmp_path / "r.npy")


def test_excluded_columns_are_not_compared(folder, short_comparison):
    numbers = json_of("compare", "data.parquet", "-x", "id,cover")
    bandwidth = Gaussian().resolve(FRAME[FEATURES].to_numpy(), None, 0).scale
    assert numbers["bandwidth"] == bandwidth
    assert {line["megabytes"] for line in numbers["sample"]} == {480 * 4 * 8.0}
