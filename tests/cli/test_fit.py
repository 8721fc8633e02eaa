"""fit: the model is that of the library, and what is printed is true."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rskpca import (
    DiffusionMaps,
    Gaussian,
    Laplacian,
    LaplacianEigenmaps,
    NormalizedCut,
    ReducedSetKernelPCA,
    ShadowDensity,
    load,
)

from .cases import FEATURES, FRAME, ROWS, done, failed, numbers, run

X = FRAME[FEATURES]
NAMES = "x*,Height in m"


def test_the_model_is_that_of_the_library(folder):
    done("fit", "table.csv", "--columns", NAMES)
    model, whole = load("table.rskpca"), ReducedSetKernelPCA(5, kernel=Gaussian()).fit(X)
    assert model.reduced_set_ == whole.reduced_set_
    np.testing.assert_array_equal(model.transform(X), whole.transform(X))


@pytest.mark.parametrize(
    ("options", "estimator"),
    [
        ("-r 2 --ell 6", ReducedSetKernelPCA(2, kernel=Gaussian(), ell=6.0)),
        ("--ell inf", ReducedSetKernelPCA(5, kernel=Gaussian(), ell=np.inf)),
        ("--bandwidth 2 --refine",
         ReducedSetKernelPCA(5, kernel=Gaussian(2.0), refine="nystrom")),
        ("--bandwidth 2 --refine --small",
         ReducedSetKernelPCA(5, kernel=Gaussian(2.0), basis="auto", refine="nystrom")),
        ("--bandwidth 2 --small --method diffusion-maps",
         DiffusionMaps(5, kernel=Gaussian(2.0), basis="auto")),
        ("--kernel laplacian", ReducedSetKernelPCA(5, kernel=Laplacian())),
        ("--tol 0.1",
         ReducedSetKernelPCA(5, kernel=Gaussian(), density=ShadowDensity(ell="auto", tol=0.1))),
        ("--max-centers 20",
         ReducedSetKernelPCA(5, kernel=Gaussian(), density=ShadowDensity(max_centers=20))),
        ("--method diffusion-maps", DiffusionMaps(5, kernel=Gaussian())),
        ("--method laplacian-eigenmaps", LaplacianEigenmaps(5, kernel=Gaussian())),
        ("--method normalized-cut -r 3", NormalizedCut(3, kernel=Gaussian())),
    ],
)  # fmt: skip
def test_options_are_parameters(folder, options, estimator):
    told = numbers("fit", "data.parquet", "-x", "id,cover", *options.split())
    model, whole = load("data.rskpca"), estimator.fit(X)
    assert repr(model) == repr(estimator)
    assert model.reduced_set_ == whole.reduced_set_
    np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-9)
    assert told["centers"] == whole.n_centers_
    assert told["rows"] == len(X)


def test_the_scale_is_kept_in_the_model(folder):
    told = numbers("fit", "table.csv", "-c", NAMES, "--standardize", "-o", "m.rskpca")
    whole = make_pipeline(StandardScaler(), ReducedSetKernelPCA(5, kernel=Gaussian())).fit(X)
    np.testing.assert_allclose(load("m.rskpca").transform(X), whole.transform(X), atol=1e-9)
    assert told["standardized"]
    assert told["feature_names"] == FEATURES


@pytest.mark.parametrize("data", ["rows.npy", "parts"])
def test_arrays_and_folders(folder, data):
    told = numbers("fit", data, "-o", "m.rskpca")
    assert told["rows"] == len(X)
    assert isinstance(told["rows"], int)
    assert told["features"] == 4
    assert told["feature_names"] == (None if data == "rows.npy" else FEATURES)


def test_columns_without_names_are_numbers(folder):
    done("fit", "rows.npy", "-c", "0,3")
    whole = ReducedSetKernelPCA(5).fit(ROWS[:, [0, 3]])
    assert load("rows.rskpca").reduced_set_ == whole.reduced_set_


def test_what_is_told_is_true(folder):
    told = numbers("fit", "data.parquet", "-x", "id,cover", "--report", "r.html")
    model = load("data.rskpca")
    np.testing.assert_allclose(told["eigenvalues"], model.eigenvalues_)
    np.testing.assert_allclose(told["explained_variance_ratio"], model.explained_variance_ratio_)
    assert told["certificate"]["likely"] == model.certificate_.to_dict()["likely"]
    assert told["bandwidth"] == model.kernel_.scale
    assert told["ell"] == pytest.approx(4.0)
    assert set(told["seconds"]) == {"read and fit", "report"}
    assert (told["model"], told["report"]) == ("data.rskpca", "r.html")


def test_people_are_told_the_same(folder):
    text = done("fit", "data.parquet", "-x", "id,cover", "--report", "r.html")
    model = load("data.rskpca")
    for part in ("600 rows x 4 features", f"{model.n_centers_:,} centers", "5 components",
                 "data.rskpca", "r.html", "x 1, x 2, x 3, Height in m",
                 "rskpca transform data.rskpca data.parquet"):  # fmt: skip
        assert part in text
    verdict = numbers("inspect", "data.rskpca")["verdict"]
    assert verdict["headline"][:60] in text
    assert "\x1b" not in text


def test_the_report_is_coloured_by_a_column_that_is_no_feature(folder):
    done("fit", "table.csv", "-x", "id,cover", "--color", "town", "--report", "r.html")
    page = (folder / "r.html").read_text()
    assert "town" in page
    assert "Aix" in page
    assert list(load("table.rskpca").feature_names_in_) == FEATURES


def test_numbers_of_a_table_of_text_colour_as_numbers(folder):
    given = {}

    def write(model, rows, path, *, color, **options):
        given.update(color)
        path.touch()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rskpca.report.write", write)
        for name in ("cover", "town"):
            done("fit", "table.csv", "-x", "id,town,cover", "--color", name, "--report", "r.html")
    np.testing.assert_array_equal(given["cover"], np.arange(600) % 3)
    assert set(given["town"]) == {"Aix", "Ulm"}


def test_a_column_that_decides_alone_is_named(folder):
    result = run("fit", "data.parquet", "-x", "cover")
    assert result.stderr == (
        "note: column 'id' has 100% of the variance of all features, and so decides alone what is "
        "near. Leave it out with --exclude, or give --standardize.\n"
    )
    assert run("fit", "data.parquet", "-x", "cover", "-q").stderr == ""
    np.save("wide.npy", ROWS * [1, 1, 1e4, 1])
    assert run("fit", "wide.npy").stderr.startswith("note: column 2 has ")
    assert run("fit", "wide.npy", "--standardize").stderr == ""


def test_like_takes_settings_bandwidth_and_scale(folder):
    done("fit", "monday.parquet", "-s", "-r", "3", "--ell", "5")
    done("fit", "tuesday.parquet", "--like", "monday.rskpca")
    first, second = load("monday.rskpca"), load("tuesday.rskpca")
    assert second[-1].kernel_.same_as(first[-1].kernel_)
    assert second[-1].n_components == 3
    assert second[-1].density_.ell_ == 5.0
    np.testing.assert_array_equal(second[0].mean_, first[0].mean_)
    assert second[-1].reduced_set_.n_samples == 300


def test_a_checkpoint_gives_the_model_back(folder):
    first = numbers("fit", "data.parquet", "-x", "id,cover", "--checkpoint", "note")
    again = numbers("fit", "data.parquet", "-x", "id,cover", "--checkpoint", "note")
    assert again["eigenvalues"] == first["eigenvalues"]
    line = failed("fit", "data.parquet", "-x", "id,cover", "--checkpoint", "note", "--ell", "3")
    assert "was made with another estimator" in line


def test_quiet_is_quiet(folder):
    assert done("fit", "data.parquet", "-x", "id,cover", "--quiet") == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--tol 0.1 --ell 4", "give --ell or --tol, not both"),
        ("--refine --method diffusion-maps", "only --method kernel-pca takes it"),
        ("--components 0", "'--components'"),
        ("--like m.rskpca --max-centers 9", "--max-centers is the model's own"),
        ("--method kernel-pac", "kernel-pac"),
        ("--elll 4", "--ell"),
    ],
)
def test_options_that_do_not_go_together(folder, options, message):
    result = run("fit", "rows.npy", *options.split())
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert not list(folder.glob("*.rskpca"))
