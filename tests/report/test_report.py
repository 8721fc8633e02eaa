"""Test that the report file is self-contained and has the right content."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rskpca import (
    KernelPCA,
    KernelPCANovelty,
    NormalizedCut,
    NystromKernelPCA,
    ReducedSetKernelPCA,
    ShadowDensity,
    report,
)
from rskpca import model as model_module
from rskpca.report import subject
from tests.plotting.cases import MODELS, X
from tests.report.pages import Page, values

EVIL = "</script><img src=x onerror=alert(1)>\u2028&amp;'\"${1}{{ 1 }}"


def page_of(model, rows, **options) -> Page:
    return Page(report.build(model, rows, **options))


def trace(figure, name: str):
    return next(trace for trace in figure["data"] if trace.get("name") == name)


@pytest.fixture(scope="module")
def model():
    return ReducedSetKernelPCA(4, ell=3.0).fit(X)


@pytest.fixture(scope="module")
def page(model):
    y = np.where(X[:, 0] > 0, "right", "left")
    return page_of(model, X, color={"side": y}, title="Blobs", seconds={"fit": 0.25})


# ---------------------------------------------------------------------------------- content


@pytest.mark.parametrize("unfitted", MODELS, ids=repr)
def test_a_report_can_be_built_for_every_model(unfitted):
    page = page_of(clone(unfitted).fit(X), X)
    figures = page.figures
    assert len(values(trace(figures["spectrum"], "this model")["y"])) == 3
    assert page.coordinates()[0].shape == (600, 3)
    assert len(page.names("feature")) == 3
    assert ("has no error certificate" in page.text) <= ("certificate" not in figures)


def test_the_numbers_in_the_report_match_the_model(page, model):
    figures = page.figures
    assert values(trace(figures["retention"], "this model")["y"]) == [model.n_centers_]
    eigenvalues = values(trace(figures["spectrum"], "this model")["y"])
    np.testing.assert_allclose(eigenvalues, model.eigenvalues_ / 600, rtol=1e-6)
    bars = trace(figures["spectrum"], "95% interval")
    ends = np.stack([values(bars["base"]), values(bars["base"]) + values(bars["y"])], axis=1)
    expected = model.certificate_.likely / 600
    shown = expected > 0  # zero cannot be shown on a logarithmic axis
    np.testing.assert_allclose(ends[shown], expected[shown], rtol=1e-6)


def test_the_certificate_is_shown_as_one_sentence_and_one_figure(page, model):
    embedding = model.certificate_.embedding
    bar, dot = page.figures["certificate"]["data"]
    np.testing.assert_allclose(values(bar["x"]), embedding, rtol=1e-6)
    np.testing.assert_allclose(values(dot["x"]), embedding[:1], rtol=1e-6)
    assert "root-mean-square error of all rows" in page.text
    unknown = ReducedSetKernelPCA(2, density=ShadowDensity(sample_size=0)).fit(X)
    found = page_of(unknown, X)
    assert found.figures["certificate"] == found.figures["spectrum"]
    assert found.text.count("The bars are guaranteed to contain the eigenvalues") == 2


def test_the_embedding_shows_rows_with_their_ids_and_all_centers(page, model):
    rows, centers = page.coordinates()
    ids = page.embedding["ids"]
    assert sorted(ids) == list(range(600))
    np.testing.assert_allclose(rows, model.transform(X)[ids], atol=1e-6)
    np.testing.assert_array_equal(page.column("side") == "right", X[ids, 0] > 0)
    order = np.argsort(-model.reduced_set_.weights, kind="stable")
    expected = model.transform(model.reduced_set_.centers)[order]
    np.testing.assert_allclose(centers, expected, atol=1e-6)
    weights = values(page.embedding["centers"]["weights"])
    np.testing.assert_array_equal(weights, model.reduced_set_.weights[order])
    assert page.names()[0].startswith("component 1 (")
    assert page.names("given", "feature") == ["side", "feature 1", "feature 2", "feature 3"]
    assert page.first_color() == "side"


def test_features_keep_their_values(page):
    for j in range(3):
        shown = page.column(f"feature {j + 1}")
        np.testing.assert_array_equal(shown, X[page.embedding["ids"], j].astype(np.float32))


def test_ids_are_given_or_taken_from_the_index_of_a_frame(model):
    names = np.array([f"row {k}" for k in range(600)])
    page = page_of(model, X, ids=names)
    places = [int(name.split()[1]) for name in page.embedding["ids"]]
    np.testing.assert_allclose(page.coordinates()[0], model.transform(X)[places], atol=1e-6)
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"], index=names)
    assert page_of(model, frame).embedding["ids"] == page.embedding["ids"]


def test_ids_have_a_name(model):
    pd = pytest.importorskip("pandas")
    numbers = np.arange(600)
    frame = pd.DataFrame(X)
    for options, rows, name in [
        ({}, frame.set_axis(numbers[::-1]), "id"),
        ({}, frame.set_axis(numbers + 1), "id"),
        ({}, X, "row"),
        ({}, frame, "row"),
        ({}, frame.rename_axis("key"), "key"),
        ({}, frame.set_axis(numbers.astype(str)), "id"),
        ({"ids": numbers}, X, "id"),
        ({"ids": pd.Series(numbers, name="key")}, X, "key"),
        ({"ids": {"key": numbers}}, X, "key"),
    ]:
        page = page_of(model, rows, **options)
        assert page.embedding["id_name"] == name
        assert ("Search row numbers and labels" in str(page.tags)) == (name == "row")
        assert page.embedding["ids_are_rows"] == (name == "row")
    with pytest.raises(ValueError, match="ids must have one column, got 2"):
        report.build(model, X, ids={"a": numbers, "b": numbers})


def test_ids_named_row_are_not_called_row_numbers(model):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X)
    for page in (
        page_of(model, X, ids={"row": np.arange(600)}),
        page_of(model, X, ids=pd.Series(np.arange(600), name="row")),
        page_of(model, frame.rename_axis("row")),
    ):
        assert page.embedding["id_name"] == "row"
        assert not page.embedding["ids_are_rows"]
        assert "Search ids and labels" in str(page.tags)


def test_the_text_describes_the_model(page, model):
    assert "Blobs" in page.text
    assert f"{model.n_centers_} centers" in page.text
    assert "fit 0.25 s" in page.text
    assert repr(model) in page.text


def test_the_file_is_small_and_self_contained(model):
    html = report.build(model, X)
    assert len(html.encode()) < 8e6
    page = Page(html)
    assert not [attrs for _, attrs in page.tags if attrs.get("src") or attrs.get("href")]
    policy = next(a["content"] for t, a in page.tags if t == "meta" and "http-equiv" in a)
    assert policy.startswith("default-src 'none'")
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL).group(1)
    assert "url(" not in style
    assert "@import" not in style


def test_clusters_are_shown_as_colors():
    page = page_of(NormalizedCut(2, bandwidth=2.0).fit(X), X)
    assert page.first_color() == "cluster"
    assert page.embedding["axes"][0] == 1  # the first eigenfunction is constant


def test_novelty_scores_are_shown_as_colors():
    detector = KernelPCANovelty().fit(X)
    page = page_of(detector, X)
    assert page.first_color() == "novelty score"
    expected = detector.decision_function(X)[page.embedding["ids"]]
    np.testing.assert_allclose(page.column("novelty score"), expected, atol=1e-6)


def test_estimated_errors_are_shown_as_colors(model, monkeypatch):
    page = page_of(model, X)
    assert "The estimated error of a row is" in page.text
    expected = model.row_error(X).coordinates[page.embedding["ids"]]
    np.testing.assert_allclose(page.column("estimated error"), expected, rtol=1e-5)
    exact = page_of(ReducedSetKernelPCA(2, ell=np.inf).fit(X), X)
    density = ShadowDensity(sample_size=0)
    unknown = page_of(ReducedSetKernelPCA(2, density=density).fit(X), X)
    for other in (exact, unknown):
        assert "estimated error" not in other.names()
        assert "The estimated error of a row" not in other.text
    refined = ReducedSetKernelPCA(2, ell=2.0, refine="nystrom").fit(X)
    assert "estimated error" in page_of(refined, X).names()
    monkeypatch.setattr(subject, "_PROJECTION_WORK", 1.0)
    assert "estimated error" not in page_of(refined, X).names()


def test_errors_are_estimated_only_for_some_rows_if_there_are_many(model, monkeypatch):
    monkeypatch.setattr(subject, "_FEWEST_DRAWN", 50)
    monkeypatch.setattr(subject, "_MAX_ERRORS", 70)
    page = page_of(model, X)
    shown = page.column("estimated error")
    expected = model.row_error(X[page.embedding["ids"]]).coordinates
    np.testing.assert_allclose(shown[:70], expected[:70], rtol=1e-5)
    assert np.isnan(shown[70:]).all()


def test_a_feature_is_not_replaced_by_the_estimated_error(model):
    page = page_of(model, X, feature_names=["estimated error", "b", "c"])
    expected = X[page.embedding["ids"], 0]
    np.testing.assert_allclose(page.column("estimated error"), expected, rtol=1e-5)


def test_the_report_starts_with_the_summary_of_the_certificate(page, model):
    summary, limit = model.certificate_.summary, model.certificate_.embedding.limit
    assert page.text.count(summary) == 2  # above the embedding and with the certificate
    assert (
        f"{100 * model.certificate_.embedding.estimate:.2g}% error of the coordinates" in page.text
    )
    color = "green" if limit <= 0.05 else "amber"
    assert ("p", {"class": f"verdict line {color}"}) in page.tags
    assert ("div", {"class": f"verdict {color}"}) in page.tags


def test_a_tile_shows_estimated_errors_and_tiny_errors():
    rows = np.random.default_rng(0).normal(size=(3000, 2))
    fitted = ReducedSetKernelPCA(3).fit(rows)
    estimate, limit = (f"{100 * value:.2g}%" for value in fitted.certificate_.embedding)
    tile = f"{estimate} estimated error of the coordinates; at most {limit} (95% confidence)"
    assert tile in page_of(fitted, rows).text
    exact = page_of(ReducedSetKernelPCA(2, ell=np.inf).fit(X), X)
    assert "< 0.01% error of the coordinates, measured on all rows" in exact.text


def test_a_sample_can_represent_all_rows(model):
    page = page_of(model, X[:100], n_rows=12_345)
    assert "12,345" in page.text
    assert "used in this report 100 rows" in page.text
    assert "are predicted from 100 rows" in page.text
    assert len(page.embedding["ids"]) == 100


def test_large_data_are_sampled(monkeypatch):
    monkeypatch.setattr(subject, "MAX_ROWS", 2000)
    rows = np.random.default_rng(0).normal(size=(3000, 2))
    page = page_of(ReducedSetKernelPCA(2, bandwidth=0.4, ell=6.0).fit(rows), rows)
    assert "used in this report 2,000 random rows" in page.text
    assert len(set(page.embedding["ids"])) == 2000


def test_fewer_rows_are_drawn_if_each_row_is_expensive_to_embed(model, monkeypatch):
    monkeypatch.setattr(subject, "_FEWEST_DRAWN", 50)
    work = model.basis_.size + subject._KERNEL_WORK * len(model.basis_)
    monkeypatch.setattr(subject, "_WORK", 70 * work)
    page = page_of(model, X, color={"c": X[:, 0]})
    assert len(page.embedding["ids"]) == len(page.column("c")) == 70
    assert "all 600 rows, 70 of them shown in the plots" in page.text
    monkeypatch.setattr(subject, "_WORK", 1.0)
    assert "shows 50 random rows" in page_of(model, X).text


def test_fewer_rows_and_features_are_drawn_if_they_take_up_too_much_space(monkeypatch):
    wide = np.random.default_rng(0).normal(size=(400, 60)) * np.arange(1, 61)
    fitted = ReducedSetKernelPCA(2).fit(wide)
    monkeypatch.setattr(subject, "_FEWEST_DRAWN", 100)
    monkeypatch.setattr(subject, "_TABLE_BYTES", 200 * (4 * 60 + 4 * 3))
    assert 180 <= len(page_of(fitted, wide).embedding["ids"]) <= 200
    monkeypatch.setattr(subject, "MAX_FEATURES", 10)
    page = page_of(fitted, wide)
    assert page.names("feature") == [f"feature {j}" for j in range(51, 61)]
    assert "Of 60 features, the 10 with the largest spread are included." in page.text


def test_features_are_shown_in_their_original_units():
    fitted = make_pipeline(StandardScaler(), ReducedSetKernelPCA(2)).fit(100 + X)
    page = page_of(fitted, 100 + X)
    np.testing.assert_allclose(page.column("feature 1"), 100 + X[page.embedding["ids"], 0])
    assert list(page.embedding["centers"]["columns"]) == ["0", "1"]


def test_data_frame_column_names_are_preserved_in_pipelines():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    fitted = make_pipeline(StandardScaler(), ReducedSetKernelPCA(2)).fit(frame)
    page = page_of(fitted, frame, color="b")
    assert page.first_color() == "b"
    assert page.names("feature") == ["a", "b", "c"]
    series = page_of(fitted, frame, color=frame["a"] > 0)
    assert series.first_color() == "a"
    assert set(series.column("a")) == {"False", "True"}
    plain = ReducedSetKernelPCA(2).fit(X)
    assert page_of(plain, frame).names("feature") == ["a", "b", "c"]


def test_eigenvalues_from_landmarks_are_divided_by_the_number_of_rows():
    fitted = NystromKernelPCA(2, n_centers=30).fit(X)
    spectrum = page_of(fitted, X[:200], n_rows=600).figures["spectrum"]
    eigenvalues = values(trace(spectrum, "this model")["y"])
    np.testing.assert_allclose(eigenvalues, fitted.eigenvalues_ / 600, rtol=1e-6)
    assert spectrum["layout"]["yaxis"]["title"]["text"] == "eigenvalue / n"


def test_the_default_title_for_a_detector_is_its_class_name():
    page = page_of(KernelPCANovelty().fit(X), X)
    assert page.text.startswith("Kernel PCA Novelty Kernel PCA Novelty ReducedSetKernelPCA, 600")


def test_one_feature_and_one_component_are_sufficient():
    page = page_of(ReducedSetKernelPCA(1).fit(X[:, :1]), X[:, :1])
    axes = [page.embedding["columns"][k]["kind"] for k in page.embedding["axes"]]
    assert axes[0] == "component"


@pytest.mark.parametrize("shell", [False, True], ids=["Python", "shell"])
def test_next_steps_are_shell_commands_or_python_code(model, shell):
    def as_command(changes):
        return f"rskpca fit data.csv --tol {changes['tol']:g}" if "tol" in changes else ""

    page = page_of(model, X, **({"as_command": as_command} if shell else {}))
    assert ("rskpca fit data.csv --tol 0.05" in page.text) == shell
    assert "ReducedSetKernelPCA(" in page.text  # suggestions without a command


def test_there_is_no_section_of_next_steps_without_any(monkeypatch, model):
    assert "Next steps" in page_of(model, X).text
    monkeypatch.setattr("rskpca.report.writing.suggest", lambda *_: ())
    page = page_of(model, X)
    assert "Next steps" not in page.text
    assert "part-next" not in [attributes.get("id") for _, attributes in page.tags]


@pytest.mark.parametrize(
    "unfitted", [NystromKernelPCA(2, n_centers=30), KernelPCA(2, kernel="rbf")], ids=repr
)
def test_models_without_a_resolution_have_no_retention_curve(unfitted):
    page = page_of(clone(unfitted).fit(X), X)
    assert "retention" not in page.figures
    assert "Centers kept" not in page.text


def test_the_header_says_that_the_features_are_standardized(model):
    pipeline = make_pipeline(StandardScaler(), ReducedSetKernelPCA(2)).fit(X)
    assert ", standardized Embedding" in page_of(pipeline, X).text
    assert ", standardized" not in page_of(model, X).text


def test_an_unknown_error_is_not_drawn():
    moons = make_moons(5000, noise=0.05, random_state=0)[0]
    page = page_of(NormalizedCut(2).fit(moons), moons)
    assert "The error of the coordinates and of the labels is unknown" in page.text
    assert "root-mean-square" not in page.text
    assert "estimated error" not in page.text


def test_the_certificate_is_computed_once_per_fit(monkeypatch):
    calls = []
    original = model_module.certify

    def count(*args, **options):
        calls.append(options)
        return original(*args, **options)

    monkeypatch.setattr(model_module, "certify", count)
    fitted = ReducedSetKernelPCA(2).fit(X)
    report.build(fitted, X)
    report.build(fitted, X)
    assert len(calls) == 1


def test_two_reports_on_the_same_model_have_the_same_figures(model):
    assert page_of(model, X).scripts[0] == page_of(model, X).scripts[0]


def test_lists_of_rows_are_accepted():
    fitted = NystromKernelPCA(2, n_centers=10).fit(X[:50])
    assert len(page_of(fitted, X[:50].tolist()).embedding["ids"]) == 50


# ------------------------------------------------------------------------------- user input


def test_user_provided_text_is_escaped(model):
    page = page_of(
        model, X, title=EVIL, color={EVIL: [EVIL, "b"] * 300}, seconds={EVIL: 1.0},
        feature_names=[EVIL, "b", "c"],
    )  # fmt: skip
    tags = [tag for tag, _ in page.tags]
    assert tags.count("script") == 3  # the data, plotly and the page's own script
    assert "img" not in tags
    assert EVIL in page.texts  # the title is shown unchanged
    assert set(page.column(EVIL)) == {EVIL, "b"}
    assert re.fullmatch(r"[\w+/=]*", page.scripts[0])  # base64


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"color": [1, 2]}, r"one value per row of X, shape \(600,\), got shape \(2,\)"),
        (
            {"ids": [1, 2]},
            r"ids must have one value per row of X, shape \(600,\), got shape \(2,\)",
        ),
        ({"color": "height"}, "is not a feature; choose from feature 1"),
        ({"feature_names": ["a"]}, "3 names"),
        ({"seconds": {"fit": -1}}, r"seconds\['fit'\]"),
        ({"n_rows": 0}, "n_rows must be a positive"),
    ],
)
def test_errors_name_the_argument(model, options, message):
    with pytest.raises(ValueError, match=message):
        report.build(model, X, **options)


def test_densities_unfitted_models_and_single_rows_raise_an_error(model):
    with pytest.raises(NotFittedError):
        report.build(ReducedSetKernelPCA(2), X)
    with pytest.raises(TypeError, match="is a density"):
        report.build(ShadowDensity().fit(X), X)
    with pytest.raises(ValueError, match="at least two rows"):
        report.build(model, X[:1])


# ------------------------------------------------------------------------- files and imports


def test_a_failed_write_leaves_the_old_file_unchanged(model, tmp_path, monkeypatch):
    path = report.write(model, X, tmp_path / "r.html")
    before = path.read_text(encoding="utf-8")
    assert before.startswith("<!doctype html>")

    def raise_disk_full(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "replace", raise_disk_full)
    with pytest.raises(OSError, match="no space"):
        report.write(model, X, path, title="another")
    assert path.read_text(encoding="utf-8") == before
    assert [file.name for file in tmp_path.iterdir()] == ["r.html"]


@pytest.mark.skipif(os.name == "nt", reason="requires named pipes")
def test_a_pipe_is_not_replaced_and_the_error_says_why(model, tmp_path):
    os.mkfifo(tmp_path / "pipe.html")
    with pytest.raises(OSError, match="Not a regular file; choose another name"):
        report.write(model, None, tmp_path / "pipe.html")  # raised before the rows are used
    assert (tmp_path / "pipe.html").is_fifo()
    assert list(tmp_path.iterdir()) == [tmp_path / "pipe.html"]


def test_a_missing_folder_raises_an_error_before_any_work(model, tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        report.write(model, None, tmp_path / "missing" / "r.html")
    with pytest.raises(IsADirectoryError, match="pass a file name"):
        report.write(model, None, tmp_path)


def test_the_error_for_a_missing_package_contains_the_install_command():
    code = (
        "import sys\n"
        "from rskpca import report\n"
        "for package in ('plotly', 'jinja2'):\n"
        "    sys.modules[package] = None\n"
        "    try: report.build(None, None)\n"
        "    except ImportError as error: print(package, error)\n"
        "    del sys.modules[package]"
    )
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    for package, line in zip(("plotly", "jinja2"), run.stdout.splitlines(), strict=True):
        assert line.startswith(package)
        assert 'pip install ".[report]" in a checkout' in line


def test_importing_the_report_module_imports_neither_plotly_nor_jinja2():
    names = {"plotly", "jinja2", "matplotlib"}
    code = f"import rskpca.report, sys; sys.exit(bool({names} & set(sys.modules)))"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_light_color_maps_to_one_dark_color():
    from rskpca.report.style import COLORS, TO_DARK

    assert all(TO_DARK[light] == dark for light, dark in COLORS.values())
