"""transform, inspect, certify, report, merge, plan and demo."""

import numpy as np
import pandas as pd
import pytest

from rskpca import KernelPCANovelty, load, merge, plan, save
from rskpca.io import describe

from .cases import FEATURES, FRAME, ROWS, done, failed, numbers

X = FRAME[FEATURES]


@pytest.fixture
def model(folder):
    done("fit", "data.parquet", "-x", "id,cover")
    return load("data.rskpca")


@pytest.mark.parametrize("data", ["data.parquet", "table.csv"])
@pytest.mark.parametrize("out", ["z.parquet", "z.csv"])
def test_ids_are_carried_through_to_the_last_digit(folder, model, data, out):
    told = numbers("transform", "data.rskpca", data, "--id", "id", "-o", out)
    found = pd.read_parquet(out) if out.endswith("parquet") else pd.read_csv(out)
    text = (data, out) == ("table.csv", "z.parquet")  # keys of a .csv file stay as written
    np.testing.assert_array_equal(found.pop("id"), FRAME["id"].astype(str if text else int))
    np.testing.assert_allclose(found, model.transform(X), atol=1e-12)
    assert told["output"] == out
    assert told["rows"] == len(X)


def test_arrays_in_and_out(folder, model):
    assert "600 rows" in done("transform", "data.rskpca", "rows.npy", "-o", "z.npy")
    np.testing.assert_allclose(np.load("z.npy"), model.transform(X), atol=1e-12)
    line = failed("transform", "data.rskpca", "data.parquet", "--id", "id", "-o", "z.npy")
    assert "a .npy file holds numbers alone" in line


def test_the_output_has_a_name_of_its_own(folder, model):
    done("transform", "data.rskpca", "data.parquet")
    assert len(pd.read_parquet("data-embedded.parquet")) == len(X)
    assert "must end in .npy, .parquet, .csv" in failed(
        "transform", "data.rskpca", "data.parquet", "-o", "z.txt"
    )


def test_labels_of_clusters(folder, model):
    done(
        "fit", "data.parquet", "-x", "id,cover", "--method", "normalized-cut", "-r", "3", "-o", "c"
    )
    done("transform", "c", "data.parquet", "--labels", "-o", "labels.csv")
    np.testing.assert_array_equal(pd.read_csv("labels.csv")["label"], load("c").predict(X))
    line = failed("transform", "data.rskpca", "data.parquet", "--labels", "-o", "labels.csv")
    assert "'data.rskpca' holds a ReducedSetKernelPCA, which cannot predict; leave out" in line


def test_inspect_says_what_is_in_a_file(folder, model):
    told = numbers("inspect", "data.rskpca")
    assert told["file"]["class_name"] == "ReducedSetKernelPCA"
    assert told["file"]["n_centers"] == told["centers"] == model.n_centers_
    assert told["file"]["created"] == str(describe("data.rskpca").created)
    assert told["feature_names"] == FEATURES
    text = done("inspect", "data.rskpca")
    assert f"{model.n_centers_} centers" in text
    assert "by rskpca" in text


def test_inspect_takes_any_model(folder, model):
    save(model.density_, "density.rskpca")
    assert "ShadowDensity, 4 features" in done("inspect", "density.rskpca")
    save(KernelPCANovelty().fit(ROWS), "novelty.rskpca")
    assert numbers("inspect", "novelty.rskpca")["rows"] == len(X)
    done("transform", "novelty.rskpca", "rows.npy", "--labels", "-o", "z.npy")
    assert "which cannot transform; try --labels" in failed(
        "transform", "novelty.rskpca", "rows.npy"
    )


def test_certify_is_the_certificate(folder, model):
    assert numbers("certify", "data.rskpca") == model.certificate_.to_dict()
    told = numbers("certify", "data.rskpca", "--confidence", "0.9")
    assert told == model.certify(confidence=0.9).to_dict()
    text = done("certify", "data.rskpca")
    for level in model.certificate_.levels:
        assert level.name in text


@pytest.mark.parametrize("scale", [(), ("--standardize",)])
def test_certify_measures_on_rows(folder, scale):
    done("fit", "table.csv", "-c", "x*", *scale)
    told = numbers("certify", "table.rskpca", "table.csv", "--rows", "600")
    fitted, rows = load("table.rskpca"), FRAME[["x 1", "x 2", "x 3"]]
    whole = fitted[-1].certify(fitted[0].transform(rows)) if scale else fitted.certify(rows)
    assert told["levels"][-1]["name"] == "measured"
    assert told["levels"][-1]["operator"] == pytest.approx(whole.level("measured").operator)


def test_what_a_draw_adds_is_said(folder, model):
    """With fewer rows than were fitted, what is measured is in part the draw."""
    text = " ".join(done("certify", "data.rskpca", "data.parquet", "--rows", "100").split())
    assert "Measured on 100 of 600 rows. The draw alone makes up to about 0.1 of it" in text
    assert "--rows 600 measures all" in text
    measured = model.certify(X[::6]).level("measured")
    assert measured.mmd > model.certificate_.level("spectral").mmd  # as it says
    assert "The draw" not in done("certify", "data.rskpca", "data.parquet")


def test_models_without_a_certificate_say_so(folder):
    done("fit", "rows.npy", "--method", "diffusion-maps")
    assert "DiffusionMaps has no certificate" in failed("certify", "rows.rskpca")
    assert "No certificate" in done("inspect", "rows.rskpca")


def test_a_report_later(folder, model):
    line = done("report", "data.rskpca", "table.csv", "--color", "town", "--title", "Hills")
    page = (folder / "report.html").read_text()
    assert "report.html" in line
    assert "<title>Hills" in page
    assert "Ulm" in page


@pytest.mark.parametrize("scale", [(), ("--standardize",)])
def test_merged_models(folder, scale):
    done("fit", "monday.parquet", *scale)
    done("fit", "tuesday.parquet", "--like", "monday.rskpca")
    told = numbers("merge", "monday.rskpca", "tuesday.rskpca", "-o", "week.rskpca")
    parts = [load(f"{day}.rskpca") for day in ("monday", "tuesday")]
    lasts = [part[-1] if scale else part for part in parts]
    week = load("week.rskpca")
    assert (week[-1] if scale else week).reduced_set_ == merge(*lasts).reduced_set_
    assert told["rows"] == len(X)
    done("transform", "week.rskpca", "data.parquet", "-o", "z.npy")


def test_what_cannot_be_merged_says_how_it_could(folder):
    done("fit", "monday.parquet")
    done("fit", "tuesday.parquet")
    assert "--bandwidth" in failed("merge", "monday.rskpca", "tuesday.rskpca")
    done("fit", "tuesday.parquet", "-s")
    line = failed("merge", "monday.rskpca", "tuesday.rskpca")
    assert "standardized otherwise" in line
    assert "--like monday.rskpca" in line


def test_plan_is_the_plan(folder):
    told = numbers("plan", "rows.npy", "--ell", "3", "--plot", "plan.png")
    whole = plan(ROWS, ell=3.0)
    assert [fit["n_centers"] for fit in told["fits"]] == [fit.n_centers for fit in whole.fits]
    assert told["advice"][0].split(" stand for")[0] == whole.advice[0].split(" stand for")[0]
    assert (folder / "plan.png").stat().st_size > 5000


def test_plan_says_what_to_run_next(folder):
    text = done("plan", "table.csv", "-x", "town,id", "-x", "cover", "-s")
    assert "600 x 4" in text
    command = "rskpca fit table.csv --exclude town,id --exclude cover --standardize --report"
    assert command in text


def test_the_demo_runs_and_what_it_says_next_does_too(folder):
    told = numbers("demo")
    assert told["rows"] == 1797
    assert (folder / "rskpca-demo" / "digits.html").stat().st_size < 8e6
    text = done("demo", "--folder", "again")
    assert "rskpca compare again/digits.parquet --exclude digit" in text
    assert "digit 7" in (folder / "again" / "digits.html").read_text()
