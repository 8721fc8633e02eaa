"""Test that the fit command fits the same model as the library and describes it correctly."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rskpca import (
    DiffusionMaps,
    Gaussian,
    KernelPCA,
    Laplacian,
    LaplacianEigenmaps,
    NormalizedCut,
    NystromKernelPCA,
    ReducedSetKernelPCA,
    ShadowDensity,
    load,
)
from rskpca.baselines.methods import embedding_error
from rskpca.cli.options import Reading
from rskpca.cli.rows import open_rows
from rskpca.model import unwrap
from rskpca.report import writing
from tests.report.pages import Page

from .cases import FEATURES, FRAME, ROWS, N, error_of, json_of, output_of, run

X = FRAME[FEATURES]
NAMES = "x*,Height in m"


ON_LANDMARKS = NystromKernelPCA(5, landmarks="auto", max_error=0.02)


@pytest.mark.parametrize(
    ("options", "estimator"),
    [
        ("", KernelPCA(5, kernel=Gaussian("median"), max_error=0.02)),
        ("-r 2 --max-error 0.1 --bandwidth 2",
         KernelPCA(2, kernel=Gaussian(2.0), max_error=0.1)),
        ("--kernel laplacian", KernelPCA(5, kernel=Laplacian("median"), max_error=0.02)),
    ],
)  # fmt: skip
def test_kernel_pca_is_fitted_to_a_target_error(folder, options, estimator):
    numbers = json_of("fit", "table.csv", "--columns", NAMES, *options.split())
    model, exact = load("table.rskpca"), estimator.fit(X)
    assert repr(model) == repr(estimator)
    assert model.model_.kernel.same_as(exact.model_.kernel)
    assert embedding_error(exact.transform(X), model.transform(X)) <= model.error_
    assert model.error_ <= estimator.max_error
    assert (numbers["method"], numbers["description"]) == ("KernelPCA", model.method_)
    assert numbers["rows"] == len(X)
    assert numbers["certificate"]["embedding"]["limit"] <= estimator.max_error


@pytest.mark.parametrize(
    ("options", "estimator"),
    [
        ("-r 2 --ell 6", ReducedSetKernelPCA(2, kernel="gaussian", ell=6.0)),
        ("--ell inf", ReducedSetKernelPCA(5, kernel="gaussian", ell=np.inf)),
        ("--method reduced-set", ReducedSetKernelPCA(5, kernel="gaussian")),
        ("--bandwidth 2 --refine",
         ReducedSetKernelPCA(5, kernel="gaussian", bandwidth=2.0, refine="nystrom")),
        ("--bandwidth 2 --small --method diffusion-maps",
         DiffusionMaps(5, kernel="gaussian", bandwidth=2.0, basis="auto")),
        ("--max-error 0.1 --method reduced-set",
         ReducedSetKernelPCA(5, kernel="gaussian", density=ShadowDensity(ell="auto", tol=0.1))),
        ("--max-centers 20",
         ReducedSetKernelPCA(5, kernel="gaussian", density=ShadowDensity(max_centers=20))),
        ("--method diffusion-maps", DiffusionMaps(5, kernel="gaussian")),
        ("--method laplacian-eigenmaps", LaplacianEigenmaps(5, kernel="gaussian")),
        ("--method normalized-cut -r 3", NormalizedCut(3, kernel="gaussian")),
    ],
)  # fmt: skip
def test_options_set_the_estimator_parameters(folder, options, estimator):
    numbers = json_of("fit", "data.parquet", "-x", "id,cover", *options.split())
    model, whole = load("data.rskpca"), estimator.fit(X)
    assert repr(model) == repr(estimator)
    np.testing.assert_array_equal(model.reduced_set_.centers, whole.reduced_set_.centers)
    np.testing.assert_array_equal(model.reduced_set_.weights, whole.reduced_set_.weights)
    np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-9)
    assert numbers["centers"] == whole.n_centers_
    assert numbers["rows"] == len(X)


@pytest.mark.parametrize("options", ["", "--ell 4", "--ell 4 --refine", "--standardize"])
def test_a_small_model_has_the_same_coordinates(folder, options):
    given = ("fit", "data.parquet", "-x", "id,cover", "--bandwidth", "2", *options.split())
    output_of(*given, "-o", "whole.rskpca")
    output_of(*given, "--small", "-o", "small.rskpca")
    whole, small = load("whole.rskpca").transform(X), load("small.rskpca").transform(X)
    if "ell" in options:  # --small also chooses a smaller basis, which can change the signs
        np.testing.assert_allclose(np.abs(small), np.abs(whole), atol=0.05)
    else:
        np.testing.assert_allclose(small, whole, atol=1e-12)
    sizes = [(folder / f"{name}.rskpca").stat().st_size for name in ("small", "whole")]
    assert sizes[0] < sizes[1] / 4
    output_of("transform", "small.rskpca", "data.parquet", "-o", "z.npy")
    np.testing.assert_allclose(np.load("z.npy"), small, atol=1e-12)


def test_thirty_rows_are_fitted_exactly(folder):
    X[:30].to_csv("thirty.csv", index=False)
    numbers = json_of("fit", "thirty.csv")
    exact = ReducedSetKernelPCA(5, ell=np.inf).fit(X[:30])
    np.testing.assert_allclose(numbers["eigenvalues"], exact.eigenvalues_, rtol=1e-9)


def test_the_rows_per_cluster_are_printed(folder):
    arguments = ("fit", "rows.npy", "--method", "normalized-cut", "-r", "3")
    sizes = json_of(*arguments)["cluster_sizes"]
    assert sum(sizes) == N
    labels = load("rows.rskpca").predict(ROWS)
    assert np.abs(np.bincount(labels) - sizes).max() < 0.05 * N
    assert f"Rows per cluster (numbered from 0): {sizes[0]:.0f} (" in output_of(*arguments)


def test_the_numbers_after_the_bars_have_a_heading(folder):
    assert (
        "Share of the variance explained by each component, and the relative error of its "
        "eigenvalue:" in output_of("fit", "rows.npy")
    )
    walk = output_of("fit", "rows.npy", "--method", "diffusion-maps")
    assert "Eigenvalue of each component, and its relative error:" in walk


def test_a_replaced_model_is_mentioned(folder):
    assert "replaced" not in output_of("fit", "rows.npy")
    assert "replaced" in output_of("fit", "rows.npy")
    assert json_of("fit", "rows.npy")["replaced"] == ["rows.rskpca"]


def test_the_saved_model_includes_the_scaler(folder):
    numbers = json_of("fit", "table.csv", "-c", NAMES, "--standardize", "-o", "m.rskpca")
    whole = make_pipeline(StandardScaler(), clone(ON_LANDMARKS)).fit(X)
    np.testing.assert_allclose(load("m.rskpca").transform(X), whole.transform(X), atol=1e-9)
    assert numbers["standardized"]
    assert numbers["feature_names"] == FEATURES


@pytest.mark.parametrize("data", ["rows.npy", "parts"])
def test_models_can_be_fitted_to_arrays_and_folders(folder, data):
    numbers = json_of("fit", data, "-o", "m.rskpca")
    assert numbers["rows"] == len(X)
    assert isinstance(numbers["rows"], int)
    assert numbers["features"] == 4
    assert numbers["feature_names"] == (None if data == "rows.npy" else FEATURES)


def test_unnamed_columns_are_selected_by_number(folder):
    output_of("fit", "rows.npy", "-c", "0,3", "--ell", "4")
    whole = ReducedSetKernelPCA(5).fit(ROWS[:, [0, 3]])
    assert load("rows.rskpca").reduced_set_ == whole.reduced_set_


def test_the_json_output_describes_the_model(folder):
    arguments = ("-x", "id,cover", "--ell", "4", "--report", "r.html")
    numbers = json_of("fit", "data.parquet", *arguments)
    model = load("data.rskpca")
    np.testing.assert_allclose(numbers["eigenvalues"], model.eigenvalues_)
    ratio = numbers["explained_variance_ratio"]
    np.testing.assert_allclose(ratio, model.explained_variance_ratio_)
    assert numbers["certificate"]["likely"] == model.certificate_.to_dict()["likely"]
    assert numbers["bandwidth"] == model.kernel_.scale
    assert numbers["ell"] == pytest.approx(4.0)
    assert set(numbers["seconds"]) == {"fit", "report"}
    assert (numbers["model"], numbers["report"]) == ("data.rskpca", "r.html")


def test_the_panel_describes_the_model(folder):
    text = output_of("fit", "data.parquet", "-x", "id,cover", "--report", "r.html")
    model = load("data.rskpca")
    for part in ("600 rows x 4 features", f"{len(model.X_fit_):,} landmarks", "5 components",
                 f"Method: {model.method_}", "data.rskpca", "r.html", "x 1, x 2, x 3, Height in m",
                 "rskpca transform data.rskpca data.parquet"):  # fmt: skip
        assert part in text
    verdict = json_of("inspect", "data.rskpca")["verdict"]
    assert verdict["headline"][:60] in text
    assert "\x1b" not in text


def test_the_report_can_be_colored_by_a_column_that_is_not_a_feature(folder):
    output_of("fit", "table.csv", "-x", "id,cover", "--color", "town", "--report", "r.html")
    page = Page((folder / "r.html").read_text())
    assert set(page.column("town")) == {"Aix", "Ulm"}
    assert list(load("table.rskpca").feature_names_in_) == FEATURES


def test_a_text_column_that_contains_numbers_is_used_as_a_numeric_color(folder, monkeypatch):
    given = {}

    def build(model, rows, *, color, **options):
        given.update(color)
        return writing.Page("", "")

    monkeypatch.setattr("rskpca.cli.modeling.build_page", build)
    for name in ("cover", "town"):
        arguments = ("-x", "id,town,cover", "--color", name, "--report", "r.html")
        output_of("fit", "table.csv", *arguments)
    np.testing.assert_array_equal(given["cover"], np.arange(600) % 3)
    assert set(given["town"]) == {"Aix", "Ulm"}


@pytest.mark.parametrize("command", ["fit", "plan"])
def test_columns_that_are_probably_not_features_are_reported(folder, command):
    np.save("wide.npy", ROWS * [1, 1, 1e4, 1])
    assert run(command, "wide.npy").stderr == (
        "note: column 2 accounts for more than 99% of the total variance, so it alone determines "
        "which rows are close; use --standardize, or leave it out with --exclude 2.\n"
    )
    assert run(command, "wide.npy", "-q").stderr == ""
    assert run(command, "wide.npy", "--standardize").stderr == ""
    X.assign(t=2 * np.arange(N)[::-1]).to_csv("timed.csv", index=False)
    assert run(command, "timed.csv").stderr == (
        "note: column 't' decreases with every row; if it is an id, leave it out with --exclude "
        "t.\n"
    )


@pytest.mark.parametrize("command", ["fit", "plan", "compare"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_row_numbers_are_left_out_with_a_note(folder, command, ending, short_comparison):
    frame = X.assign(row=np.arange(N)[::-1] + 17, n=np.arange(1, N + 1), income=1e4 * X["x 1"])
    write = frame.to_csv if ending == "csv" else frame.to_parquet
    write(f"counted.{ending}", index=False)
    assert run(command, f"counted.{ending}").stderr == (
        "note: left out row numbers ('row' and 'n'); to use them as features, add --include "
        "row,n.\n"
        "note: column 'income' accounts for more than 99% of the total variance, so it alone "
        "determines which rows are close; use --standardize, or leave it out with --exclude "
        "income.\n"
    )


def test_an_unnamed_column_of_row_numbers_can_be_included(folder):
    X.assign(n=np.arange(1, N + 1)).to_csv("indexed.csv")
    assert run("fit", "indexed.csv").stderr == (
        "note: left out row numbers (the unnamed column and 'n'); to use them as features, add "
        "--include n --include ''.\n"
    )
    output_of("fit", "indexed.csv", "--include", "n", "--include", "", "-s")
    assert list(unwrap(load("indexed.rskpca")).columns) == ["", *FEATURES, "n"]
    output_of("fit", "indexed.csv", "--exclude", "", "--exclude", "n")
    assert list(unwrap(load("indexed.rskpca")).columns) == FEATURES


def test_a_list_without_names_is_empty(folder):
    X.to_csv("indexed.csv")
    reading = Reading(exclude=[",", " , ", " ", "x 1"], include=["", ","])
    assert list(open_rows(reading, Path("indexed.csv")).feature_names) == ["", *FEATURES[1:]]
    reading = Reading(columns=[","])
    assert list(open_rows(reading, Path("indexed.csv")).feature_names) == FEATURES


def test_row_numbers_can_be_included(folder):
    X.assign(row=np.arange(N), n=np.arange(N)).to_csv("counted.csv", index=False)
    result = run("fit", "counted.csv", "--include", "row", "-s")
    assert list(unwrap(load("counted.rskpca")).columns) == [*FEATURES, "row"]
    assert result.stderr.startswith("note: left out row numbers ('n');")
    assert "rskpca transform counted.rskpca counted.csv -o" in result.stdout
    output_of("transform", "counted.rskpca", "counted.csv", "-o", "z.npy")
    assert json_of("fit", "counted.csv", "-c", "x 1,n", "-s")["feature_names"] == ["x 1", "n"]
    line = error_of("fit", "counted.csv", "--include", "m")
    assert line == "error: --include: 'counted.csv' has no feature 'm'."
    line = error_of("fit", "counted.csv", "--include", "n", "-c", "n", code=2)
    assert "--include: cannot be combined with --columns." in line


def test_row_numbers_are_used_if_there_are_no_other_features(folder):
    pd.DataFrame({"n": np.arange(N)}).to_csv("numbers.csv", index=False)
    assert json_of("fit", "numbers.csv")["feature_names"] == ["n"]


def test_row_numbers_are_recognized_if_rows_are_skipped(folder):
    X.mask(X > 2).assign(n=np.arange(N)).to_csv("holes.csv", index=False)
    numbers = json_of("fit", "holes.csv", "--skip-missing")
    assert numbers["left_out"] == {"n": "counter"}
    assert numbers["skipped_rows"] > 0


@pytest.mark.parametrize("command", ["fit", "plan"])
def test_constant_columns_are_reported(folder, command):
    pd.concat([X, X]).assign(c=3.5).to_csv("one.csv", index=False)
    assert run(command, "one.csv").stderr == (
        "note: column 'c' is constant in the first 1,000 rows; constant columns have no effect.\n"
    )
    np.save("many.npy", np.hstack([ROWS, np.ones((N, 5))]))
    assert run(command, "many.npy").stderr == (
        "note: columns 4, 5, 6 and 2 more are constant; constant columns have no effect.\n"
    )


def test_non_numeric_columns_are_left_out_with_a_note(folder):
    frame = X.assign(
        town=FRAME["town"], name=[f"n{i}" for i in range(N)], new=np.arange(N) % 2 == 0,
        day=pd.date_range("2024-01-01", periods=N), price=["?"] + (N - 1) * ["3.5"],
    )  # fmt: skip
    for file in ("mixed.csv", "mixed.parquet"):
        write = frame.to_csv if file.endswith("csv") else frame.to_parquet
        write(file, index=False)
        result = run("fit", file, "--json")
        assert json.loads(result.stdout)["feature_names"] == [*FEATURES, "new"]
        assert set(json.loads(result.stdout)["left_out"]) == {"town", "name", "day", "price"}
        assert run("fit", file).stderr == (
            "note: left out 'town' (2 groups), 'name' (text), 'day' (dates) and 'price' (numbers, "
            "but also '?'), because features must be numbers; --color town shows the groups in a "
            "report.\n"
        )
    result = run("fit", "mixed.parquet", "--color", "day", "--report", "r.html")
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("options", ["--ell 5", "--max-error 0.1 --method reduced-set"])
def test_the_like_option_copies_the_settings_the_bandwidth_and_the_scaling(folder, options):
    output_of("fit", "monday.parquet", "-s", "-r", "3", *options.split())
    output_of("fit", "tuesday.parquet", "--like", "monday.rskpca")
    first, second = (unwrap(load(f"{day}.rskpca")) for day in ("monday", "tuesday"))
    assert second.kernel.same_as(first.kernel)
    assert len(second.model.eigenvalues) == 3
    assert second.model.ell == pytest.approx(first.model.ell)
    probe = X[:5] + 1
    np.testing.assert_array_equal(second.prepare(probe), first.prepare(probe))
    assert second.reduced_set.n_samples == 300


def test_a_finished_checkpoint_returns_the_same_model(folder):
    first = json_of("fit", "data.parquet", "-x", "id,cover", "--checkpoint", "note")
    again = json_of("fit", "data.parquet", "-x", "id,cover", "--checkpoint", "note")
    assert again["eigenvalues"] == first["eigenvalues"]
    line = error_of("fit", "data.parquet", "-x", "id,cover", "--checkpoint", "note", "-r", "3")
    assert "'note'" in line


def test_the_quiet_option_suppresses_all_output(folder):
    assert output_of("fit", "data.parquet", "-x", "id,cover", "--quiet") == ""


def test_a_numeric_header_is_reported_and_can_be_overridden(folder):
    pd.DataFrame(ROWS).to_csv("numbers.csv", index=False)
    result = run("fit", "numbers.csv", "--json")
    assert json.loads(result.stdout)["rows"] == N
    (note,) = result.stderr.splitlines()
    assert note.startswith("note: the first line of 'numbers.csv' was read as column names (0, 1, ")
    assert note.endswith("; use --no-header if it is a row of numbers.")
    assert json_of("fit", "numbers.csv", "--header")["rows"] == N
    assert json_of("fit", "numbers.csv", "--no-header")["rows"] == N + 1
    assert "transform numbers.rskpca numbers.csv --no-header" in output_of(
        "fit", "numbers.csv", "--no-header"
    )


def test_suggested_commands_can_be_run_for_names_that_start_with_a_dash(folder):
    FRAME[FEATURES].to_csv("-x.csv", index=False)
    printed = output_of("fit", "./-x.csv")
    assert "rskpca transform ./-x.rskpca ./-x.csv -o ./-x-embedded.parquet" in printed
    assert "-o ./-x.html" in printed
    assert "rskpca fit ./-x.csv --report ./-x.html" in output_of("plan", "--", "-x.csv")
