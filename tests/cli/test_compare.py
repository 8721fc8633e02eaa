"""compare: the numbers are those of the methods, and nobody has an advantage."""

import subprocess

import numpy as np
import pytest

from rskpca import Gaussian, ReducedSetKernelPCA, ShadowDensity
from rskpca.baselines.methods import METHODS, embedding_error
from rskpca.cli import compare as compare_module
from rskpca.cli import comparison, contenders, memory

from .cases import FEATURES, FRAME, ROWS, done, numbers

KERNEL = Gaussian().resolve(ROWS, None, 0)


def test_all_rows_where_exact_kernel_pca_can_take_them(folder, short_contest):
    told = numbers("compare", "table.csv", "-c", "x*,Height in m", "-o", "c.png")
    assert told["all"] == []
    methods = {line["method"]: line for line in told["sample"]}
    assert len(methods) == 6
    assert {line["rows"] for line in told["sample"]} == {480}
    assert methods["KernelPCA"]["error"] < 1e-6
    assert methods["KernelPCA"]["points"] == 480
    for one in ("rskpca", "rskpca --small --refine"):  # each has one of scikit-learn's of its size
        size = methods[one]["points"]
        assert methods[f"Nystroem + PCA, {size}"]["points"] == size
    assert methods["Nystroem + PCA, 100"]["points"] == 100
    assert methods["rskpca --small --refine"]["error"] < methods["rskpca"]["error"]
    assert {line["megabytes"] for line in told["sample"]} == {480 * 4 * 8.0}
    assert (folder / "c.png").stat().st_size > 10_000


def test_more_rows_than_that(folder, short_contest, monkeypatch):
    monkeypatch.setattr(compare_module, "_SAMPLE", 200)
    monkeypatch.setattr(compare_module, "_HELD_OUT", 100)
    told = numbers("compare", "rows.npy", "--rows", "500", "-s", "-r", "3", "--ell", "3")
    assert {line["rows"] for line in told["sample"]} == {200}
    assert {line["rows"] for line in told["all"]} == {500}
    assert all(line["error"] is None for line in told["all"])
    assert {line["megabytes"] for line in told["sample"]} == {200 * 4 * 8.0}
    assert {line["megabytes"] for line in told["all"]} == {500 * 4 * 8.0}
    assert "KernelPCA" not in {line["method"] for line in told["all"]}
    text = done("compare", "rows.npy", "--rows", "500")
    for part in (
        "the same 200 rows for all", "500 rows", "KernelPCA was not run on 500 rows",
        "5 components about the mean", "error: of 100 rows that nobody was fitted to",
    ):  # fmt: skip
        assert part in text


def test_everything_is_drawn(folder, short_contest, monkeypatch):
    """A panel for points, error, both times and memory, with a dot for each, KernelPCA too."""
    seen = []
    monkeypatch.setattr(comparison.pyplot(), "close", seen.append)
    told = numbers("compare", "rows.npy", "-o", "c.svg")
    (figure,) = seen
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles == ["points", "error", "fit", "embed 1,000 rows", "memory of the fit"]
    for ax in figure.axes:
        (dots,) = (c for c in ax.collections if len(c.get_offsets()) == len(told["sample"]))
        assert ax.texts[-1].get_text()
        assert ax.get_xlim()[0] < dots.get_offsets()[:, 0].min()
    points = figure.axes[0].collections[-1].get_offsets()[:, 0]
    np.testing.assert_array_equal(points, [line["points"] for line in told["sample"]])
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names == [line["method"] for line in told["sample"]]
    monkeypatch.undo()
    comparison.pyplot().close(figure)


def test_no_more_points_than_can_be_decomposed_and_that_is_said(monkeypatch):
    monkeypatch.setattr(contenders, "MOST_LANDMARKS", 20)
    monkeypatch.setattr(comparison, "MOST_LANDMARKS", 20)
    entered = contenders.contenders(4.0, 3, KERNEL, ROWS, exact=False)
    assert [one.size for one in entered[2:]] == [20]
    result = contenders.Result(entered[0], len(ROWS), points=70)
    said = comparison.remarks(comparison.Terms(1.0, 3, 9), [result], [])
    assert "Nystroem was run with 20 points where rskpca has 70 centers" in said[-1]


def test_errors_and_sizes_are_those_of_the_methods():
    train, test = ROWS[:400], ROWS[400:]
    m = ShadowDensity(KERNEL).fit(train).reduced_set_.n_centers
    entered = contenders.contenders(4.0, 3, KERNEL, train, exact=True)
    exact = ReducedSetKernelPCA(3, kernel=KERNEL, ell=np.inf).fit(train).transform(test)
    np.testing.assert_array_equal(contenders.exact_coordinates(3, KERNEL, train, test), exact)
    told = []
    results = contenders.contest(entered, 3, KERNEL, train, test, exact=exact, told=told.append)
    ours = ReducedSetKernelPCA(3, kernel=KERNEL, ell=4.0).fit(train)
    assert results[0].error == pytest.approx(embedding_error(exact, ours.transform(test)))
    assert results[0].points == m
    seeds = [METHODS["sklearn-nystroem"].make(3, KERNEL, m, random_state=s) for s in range(3)]
    errors = [embedding_error(exact, s.fit(train).transform(test)) for s in seeds]
    (same,) = (one for one in results if one.contender.title == f"Nystroem + PCA, {m}")
    assert same.error == pytest.approx(np.median(errors))
    turns = told[len(entered) :]
    assert turns == [c.title for c in entered] * contenders.ROUNDS


def test_the_embedding_error_does_not_see_axes():
    Z = np.random.default_rng(0).normal(size=(50, 3))
    turned = Z @ np.random.default_rng(1).normal(size=(3, 3))
    assert embedding_error(Z, turned) < 1e-12
    assert embedding_error(Z, Z[:, :2]) > 0.3


def test_memory_is_that_of_the_fit(tmp_path):
    """A kernel matrix of 1,500 rows is 18 MB."""
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).normal(size=(1500, 2)))
    order = {"method": "sklearn-kpca", "n_components": 2, "size": None, "bandwidth": 2.0}
    assert 18 < memory.peak(order, tmp_path / "rows.npy") < 200


def test_a_fit_that_memory_is_too_small_for(tmp_path, monkeypatch):
    order = {"method": "sklearn-kpca", "n_components": 2, "size": None, "bandwidth": 2.0}
    killed = subprocess.CompletedProcess([], -9, "", "")
    monkeypatch.setattr(memory.subprocess, "run", lambda *_, **__: killed)
    with pytest.raises(MemoryError, match=r"sklearn-kpca could not be fitted .*take fewer rows"):
        memory.peak(order, tmp_path / "nothing.npy")


def test_features_of_the_file_are_compared(folder, short_contest, monkeypatch):
    """Excluded columns have no part in it."""
    seen = []
    original = compare_module.contest

    def noted(entered, r, kernel, train, test, **rest):
        seen.append((kernel.scale, train.shape[1]))
        return original(entered[:1], r, kernel, train, test, **rest)

    monkeypatch.setattr(compare_module, "contest", noted)
    numbers("compare", "data.parquet", "-x", "id,cover")
    expected = Gaussian().resolve(FRAME[FEATURES].to_numpy(), None, 0).scale
    assert seen == [(expected, 4)]
