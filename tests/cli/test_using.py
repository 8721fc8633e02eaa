"""Test the commands transform, inspect, certify, report, merge, plan and demo."""

import re
import time
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from rskpca import KernelPCA, KernelPCANovelty, load, merge, plan, save
from rskpca.cli import modeling
from rskpca.cli.modeling import Expectation
from rskpca.cli.rows import count_dominant, id_texts
from rskpca.data import Block
from rskpca.io import describe
from tests.report.pages import Page

from .cases import FEATURES, FRAME, ROWS, error_of, json_of, output_of, run

X = FRAME[FEATURES]


@pytest.fixture
def model(folder):
    output_of("fit", "data.parquet", "-x", "id,cover", "--method", "reduced-set")
    return load("data.rskpca")


@pytest.mark.parametrize("data", ["data.parquet", "table.csv"])
@pytest.mark.parametrize("out", ["z.parquet", "z.csv"])
def test_ids_are_copied_without_rounding(folder, model, data, out):
    numbers = json_of("transform", "data.rskpca", data, "--id", "id", "-o", out)
    found = pd.read_parquet(out) if out.endswith("parquet") else pd.read_csv(out)
    pd.testing.assert_series_equal(found.pop("id"), FRAME["id"])
    np.testing.assert_allclose(found, model.transform(X), atol=1e-12)
    assert numbers["output"] == out
    assert numbers["rows"] == len(X)


@pytest.mark.parametrize("out", ["z.parquet", "z.csv"])
def test_features_from_a_csv_file_can_be_copied(folder, out):
    frame = FRAME[FEATURES].assign(card=FRAME["cover"] == 1, code=FRAME["cover"].map("00{}".format))
    frame.to_csv("cards.csv", index=False, sep=";", decimal=",")
    output_of("fit", "cards.csv", "-c", "x*,card", "--method", "reduced-set")
    ids = ("--id", "card", "--id", "x 1", "--id", "code")
    output_of("transform", "cards.rskpca", "cards.csv", *ids, "-o", out)
    read = pd.read_parquet if out.endswith("parquet") else partial(pd.read_csv, dtype={"code": str})
    found = read(out)[["card", "x 1", "code"]]
    pd.testing.assert_frame_equal(found, frame[["card", "x 1", "code"]], check_dtype=False)
    assert [dtype.kind for dtype in found.dtypes[:2]] == ["b", "f"]


def test_transform_reads_and_writes_arrays(folder, model):
    assert "600 rows" in output_of("transform", "data.rskpca", "rows.npy", "-o", "z.npy")
    np.testing.assert_allclose(np.load("z.npy"), model.transform(X), atol=1e-12)
    line = error_of("transform", "data.rskpca", "data.parquet", "--id", "id", "-o", "z.npy")
    assert ".npy" in line


def test_the_output_is_named_after_the_data(folder, model):
    output_of("transform", "data.rskpca", "data.parquet")
    assert len(pd.read_parquet("data-embedded.parquet")) == len(X)
    assert "must end in .npy, .parquet or .csv" in error_of(
        "transform", "data.rskpca", "data.parquet", "-o", "z.txt"
    )


def test_transform_can_write_cluster_labels(folder, model):
    output_of(
        "fit", "data.parquet", "-x", "id,cover", "--method", "normalized-cut", "-r", "3", "-o", "c"
    )
    output_of("transform", "c", "data.parquet", "--labels", "-o", "labels.csv")
    np.testing.assert_array_equal(pd.read_csv("labels.csv")["label"], load("c").predict(X))
    line = error_of("transform", "data.rskpca", "data.parquet", "--labels", "-o", "labels.csv")
    assert line == "error: ReducedSetKernelPCA has no labels; remove --labels."


def test_inspect_describes_the_file_and_the_model(folder, model):
    numbers = json_of("inspect", "data.rskpca")
    assert numbers["file"]["class_name"] == "ReducedSetKernelPCA"
    assert numbers["file"]["n_centers"] == numbers["centers"] == model.n_centers_
    assert numbers["file"]["created"] == str(describe("data.rskpca").created)
    assert numbers["feature_names"] == FEATURES
    text = output_of("inspect", "data.rskpca")
    assert f"{model.n_centers_} centers" in text
    assert "by rskpca" in text


def test_densities_and_detectors_can_be_inspected(folder, model):
    save(model.density_, "density.rskpca")
    assert "ShadowDensity, 4 features" in output_of("inspect", "density.rskpca")
    save(KernelPCANovelty().fit(ROWS), "novelty.rskpca")
    assert json_of("inspect", "novelty.rskpca")["rows"] == len(X)
    output_of("transform", "novelty.rskpca", "rows.npy", "--labels", "-o", "z.npy")
    line = error_of("transform", "novelty.rskpca", "rows.npy")
    assert line == "error: a novelty detector has no coordinates; use --labels."
    assert "ShadowDensity" in error_of("transform", "density.rskpca", "rows.npy")


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_kernel_pca_with_any_kernel_can_be_used(folder, kernel):
    fitted = KernelPCA(3, kernel=kernel).fit(X)
    save(fitted, "any.rskpca")
    numbers = json_of("inspect", "any.rskpca")
    assert (numbers["method"], numbers["description"]) == ("KernelPCA", fitted.method_)
    assert numbers["bandwidth"] == (2.0 if kernel == "rbf" else None)
    assert fitted.method_ in output_of("inspect", "any.rskpca")
    output_of("transform", "any.rskpca", "table.csv", "-o", "z.npy")
    np.testing.assert_allclose(np.load("z.npy"), fitted.transform(X), atol=1e-12)
    output_of("report", "any.rskpca", "table.csv")
    page = (folder / "report.html").read_text()
    assert f"{kernel if kernel != 'rbf' else 'Gaussian'} kernel" in page
    assert "Centers kept" not in page
    for data in ((), ("table.csv", "--rows", "300")):
        assert "guaranteed interval" in output_of("certify", "any.rskpca", *data)


def test_a_model_with_a_precomputed_kernel_cannot_be_inspected(folder):
    save(KernelPCA(2, kernel="precomputed").fit(np.eye(9)), "matrix.rskpca")
    line = error_of("inspect", "matrix.rskpca")
    assert "matrix.rskpca: model_ is not available (method: exact kernel PCA of a precomp" in line


def test_certify_prints_the_certificate(folder, model):
    assert json_of("certify", "data.rskpca") == model.certificate_.to_dict()
    numbers = json_of("certify", "data.rskpca", "--confidence", "0.9")
    assert numbers == model.certify(confidence=0.9).to_dict()
    text = output_of("certify", "data.rskpca")
    for level in model.certificate_.levels:
        assert level.name in text
    assert model.certificate_.summary in " ".join(text.split())


@pytest.mark.parametrize("scale", [(), ("--standardize",)])
def test_certify_measures_the_error_on_given_rows(folder, scale):
    output_of("fit", "table.csv", "-c", "x*", "--ell", "4", *scale)
    numbers = json_of("certify", "table.rskpca", "table.csv", "--rows", "600")
    fitted, rows = load("table.rskpca"), FRAME[["x 1", "x 2", "x 3"]]
    whole = fitted[-1].certify(fitted[0].transform(rows)) if scale else fitted.certify(rows)
    assert numbers["levels"][-1]["name"] == "measured"
    assert numbers["levels"][-1]["operator"] == pytest.approx(whole.level("measured").operator)


def test_certify_mentions_the_sampling_error(folder, model):
    text = " ".join(output_of("certify", "data.rskpca", "data.parquet", "--rows", "100").split())
    assert "Measured on 100 of 600 rows. Sampling alone adds up to about 0.1" in text
    assert "To measure all rows, use --rows 600." in text
    measured = model.certify(X[::6]).level("measured")
    assert measured.mmd > model.certificate_.level("sample").mmd  # consistent with the note
    assert "Sampling" not in output_of("certify", "data.rskpca", "data.parquet")


@pytest.mark.parametrize("method", ["diffusion-maps", "laplacian-eigenmaps", "normalized-cut"])
def test_random_walks_are_certified(folder, method):
    output_of("fit", "rows.npy", "--method", method, "--bandwidth", "3")
    name = method.replace("-", " ").replace("laplacian", "Laplacian")
    assert f"exact {name}" in " ".join(output_of("certify", "rows.rskpca").split())
    numbers = json_of("inspect", "rows.rskpca")
    assert numbers["certificate"]["method"] == name
    assert numbers["verdict"]["color"] != "none"


def test_a_report_can_be_written_after_the_fit(folder, model):
    line = output_of("report", "data.rskpca", "table.csv", "--color", "town", "--title", "Hills")
    page = (folder / "report.html").read_text()
    assert "report.html" in line
    assert "<title>Hills" in page
    assert "Ulm" in Page(page).column("town")


@pytest.mark.parametrize("scale", [(), ("--standardize",)])
def test_models_on_the_same_landmarks_can_be_merged(folder, scale):
    output_of("fit", "monday.parquet", *scale)
    output_of("fit", "tuesday.parquet", "--like", "monday.rskpca")
    numbers = json_of("merge", "monday.rskpca", "tuesday.rskpca", "-o", "week.rskpca")
    parts = [load(f"{day}.rskpca") for day in ("monday", "tuesday")]
    lasts = [part[-1] if scale else part for part in parts]
    lasts[0] = lasts[0].embedding_
    np.testing.assert_array_equal(lasts[0].landmarks_, lasts[1].landmarks_)
    np.testing.assert_allclose(numbers["eigenvalues"], merge(*lasts).eigenvalues_, rtol=1e-9)
    assert numbers["rows"] == len(X)


@pytest.mark.parametrize("scale", [(), ("--standardize",)])
def test_models_fitted_to_parts_can_be_merged(folder, scale):
    output_of("fit", "monday.parquet", "--ell", "4", *scale)
    output_of("fit", "tuesday.parquet", "--like", "monday.rskpca")
    numbers = json_of("merge", "monday.rskpca", "tuesday.rskpca", "-o", "week.rskpca")
    parts = [load(f"{day}.rskpca") for day in ("monday", "tuesday")]
    lasts = [part[-1] if scale else part for part in parts]
    week = load("week.rskpca")
    assert (week[-1] if scale else week).reduced_set_ == merge(*lasts).reduced_set_
    assert numbers["rows"] == len(X)
    output_of("transform", "week.rskpca", "data.parquet", "-o", "z.npy")


def test_merging_incompatible_models_suggests_the_like_option(folder):
    output_of("fit", "monday.parquet")
    output_of("fit", "tuesday.parquet")
    line = error_of("merge", "monday.rskpca", "tuesday.rskpca")
    assert "cannot be merged because they have different bandwidths" in line
    output_of("fit", "tuesday.parquet", "-s")
    line = error_of("merge", "monday.rskpca", "tuesday.rskpca")
    assert "cannot be merged because they have different scalings" in line
    assert line.endswith("fit 'tuesday.rskpca' with --like monday.rskpca.")


def test_plan_prints_the_same_plan_as_the_library(folder):
    numbers = json_of("plan", "rows.npy", "--ell", "3", "--plot", "plan.png")
    whole = plan(ROWS, ell=3.0)
    assert [fit["n_centers"] for fit in numbers["fits"]] == [fit.n_centers for fit in whole.fits]
    expected = whole.advice[0].split(" The fit takes")[0]  # the predicted times differ
    assert numbers["advice"][0].startswith(expected)
    text = " ".join(output_of("plan", "rows.npy", "--ell", "3").split())
    assert expected in text
    assert (folder / "plan.png").stat().st_size > 5000


@pytest.mark.parametrize("options", ["", "--ell 4"])
def test_the_recommended_command_follows_the_notes(folder, options):
    frame = FRAME[FEATURES].assign(n=np.arange(len(FRAME)), income=1e4 * FRAME["x 1"])
    frame.to_csv("mixed.csv", index=False)
    numbers = json_of("plan", "mixed.csv", *options.split())
    command = " ".join(["rskpca fit mixed.csv", *options.split(), "--standardize"])
    assert numbers["command"] == f"{command} --report mixed.html"
    assert numbers["n_features"] == 5
    assert numbers["bandwidth"] < 10
    numbers = json_of("plan", "mixed.csv", "--bandwidth", "1e4", *options.split())
    assert "--standardize" not in numbers["command"]


@pytest.mark.parametrize(
    ("deviations", "count"),
    [
        ([10, 1], 1),  # 99% in one column
        ([3, 1, 1, 1], 0),
        ([4, 1, 1, 1], 0),  # 84%
        ([6, 1, 1, 1], 0),  # 92% in a quarter of the columns, but similar deviations
        ([6, 1, 1, 0.5, 0, 0.5], 1),
        ([30, 20, 3, 3, 3, 3, 3, 1], 2),
        ([30, 20, 3, 3, 3, 3, 3], 0),  # two of seven columns are more than a quarter
        ([5, 0], 0),
    ],
)
def test_few_columns_dominate_if_their_variance_is_much_larger(deviations, count):
    assert count_dominant(np.square(np.array(deviations, dtype=float))) == count


def test_plan_standardizes_if_few_columns_dominate(folder):
    frame = FRAME[FEATURES].assign(a=0.5 * FRAME["x 3"], b=FRAME["x 2"] + 1, c=FRAME["x 1"] - 1)
    frame = frame.assign(income=1e4 * FRAME["x 1"], balance=2e4 * FRAME["x 2"])
    frame.to_csv("mixed.csv", index=False)
    result = run("plan", "mixed.csv")
    assert result.stderr == (
        "note: columns 'balance' and 'income' account for more than 99% of the total variance, so "
        "they alone determine which rows are close; use --standardize.\n"
    )
    assert "rskpca fit mixed.csv --standardize --report" in result.stdout


def test_plan_recommends_a_command_and_predicts_its_result(folder):
    numbers = json_of("plan", "data.parquet", "-x", "id,cover", "-s", "--max-error", "0.05")
    assert numbers["command"] == (
        "rskpca fit data.parquet --exclude id,cover --max-error 0.05 --standardize "
        "--report data.html"
    )
    fitted = json_of(*numbers["command"].split()[1:])
    assert numbers["landmarks"] == fitted["centers"]
    assert numbers["bandwidth"] == pytest.approx(fitted["bandwidth"])
    embedding = fitted["certificate"]["embedding"]
    assert numbers["error"] == pytest.approx(embedding["estimate"], rel=0.5)
    assert 0 < numbers["seconds"] < 60
    size = float(numbers["model_size"].split()[0]) * 1000
    assert size == pytest.approx((folder / "data.rskpca").stat().st_size, rel=0.1)
    text = " ".join(output_of("plan", "table.csv", "-x", "town,id", "-x", "cover").split())
    assert f"The model has {numbers['landmarks']} landmarks" in text or "landmarks and" in text
    assert "rskpca fit table.csv --exclude town,id --exclude cover --report table.html" in text


@pytest.mark.parametrize(
    ("error", "limit", "text"),
    [
        (0.0, 1.3e-5, "by less than 0.01%."),
        (5e-5, 1.3e-4, "by less than 0.01% (at most 0.013%)."),
        (0.01, 0.012, "by 1% (at most 1.2%)."),
        (0.5, 1.2, "by 50%, and possibly by 100% or more, more than the requested 2%."),
        (2.0, 3.0, "by 100% or more, more than the requested 2%."),
    ],
)
def test_plan_formats_errors_like_fit(error, limit, text):
    expected = Expectation(9, 2, False, 1.0, 5, 1.0, "1 kB", error, limit, max_error=0.02)
    assert str(expected.__rich__()).endswith(f"differ from those of exact kernel PCA {text}")


def test_tiny_errors_of_eigenvalues_are_not_printed_in_scientific_notation(folder):
    text = output_of("fit", "rows.npy", "--bandwidth", "100")
    assert re.search(r"% +rounding error", text)
    assert re.search(r"% +less than 0.01%", text)
    assert not re.search(r"\de-\d", text)


def test_the_demo_writes_a_model_and_a_report(folder):
    numbers = json_of("demo")
    assert numbers["rows"] == 1797
    assert (folder / "rskpca-demo" / "digits.html").stat().st_size < 8e6
    text = output_of("demo", "--folder", "again")
    assert "rskpca compare again/digits.parquet --exclude digit" in text
    page = Page((folder / "again" / "digits.html").read_text())
    assert "digit 7" in page.column("digit")


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (np.array([1.5, np.nan]), ["1.5", ""]),
        (np.array(["2024-01-31", "NaT"], "datetime64[D]"), ["2024-01-31", ""]),
        (np.array([3, "NaT"], "timedelta64[s]"), ["0:00:03", ""]),
        (np.array(["a", None, np.nan, "nan"], object), ["a", "", "", "nan"]),
        (np.array([2**53 + 1]), ["9007199254740993"]),
    ],
    ids=["numbers", "dates", "durations", "text", "integers"],
)
def test_missing_ids_are_empty_text(values, texts):
    block = Block(0, np.zeros((len(values), 1)), None, {"key": values})
    assert id_texts(block, "key") == texts


def test_compiling_is_not_part_of_the_predicted_time(folder, monkeypatch):
    calls = []

    def record(name, function):
        def run(*args):
            calls.append(name)
            return function(*args)

        return run

    clock = SimpleNamespace(perf_counter=record("clock", time.perf_counter))
    monkeypatch.setattr(modeling, "prepare", record("prepare", modeling.prepare))
    monkeypatch.setattr(modeling, "time", clock)
    text = output_of("plan", "rows.npy")
    assert calls[:4] == ["prepare", "clock", "prepare", "clock"]
    assert "does not include the time for the report" in text


def test_equal_first_rows_can_be_planned(folder):
    np.save("sorted.npy", np.concatenate([np.ones((1000, 4)), ROWS, ROWS]))
    assert json_of("plan", "sorted.npy")["n_samples"] == 1000 + 2 * len(ROWS)
