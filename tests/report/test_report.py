"""Test that the report file is self-contained and has the right content."""

import base64
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rskpca import (
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

EVIL = "</script><img src=x onerror=alert(1)>\u2028&amp;'\"${1}{{ 1 }}"


class Page(HTMLParser):
    """The elements of an HTML page, its text, and the text of its scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self.inside = ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = tag

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside not in ("script", "style"):
            self.texts.append(data)
        elif self.inside == "script":
            self.scripts.append(data)

    @property
    def figures(self):
        return json.loads(self.scripts[0])

    @property
    def embedding(self):
        return self.figures["embedding"]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def color_names(self) -> list[str]:
        return [figure["layout"]["meta"] for figure in self.embedding["colors"]]


def page_of(model, rows, **options) -> Page:
    return Page(report.build(model, rows, **options))


def trace(figure, name: str):
    return next(trace for trace in figure["data"] if trace.get("name") == name)


def values(array):
    """Return an array that plotly has encoded as a list or in base64."""
    if isinstance(array, list):
        return np.array(array)
    return np.frombuffer(base64.b64decode(array["bdata"]), array["dtype"])


def columns(embedding, kind: str):
    return np.array([column[kind] for column in embedding["columns"]]).T


@pytest.fixture(scope="module")
def model():
    return ReducedSetKernelPCA(4, ell=3.0).fit(X)


@pytest.fixture(scope="module")
def page(model):
    y = np.where(X[:, 0] > 0, "right", "left")
    return page_of(model, X, color={"side": y}, title="Blobs", seconds={"fit": 0.25})


# ---------------------------------------------------------------------------------- content


@pytest.mark.parametrize("unfitted", MODELS, ids=repr)
def test_every_model_can_be_reported(unfitted):
    page = page_of(clone(unfitted).fit(X), X)
    figures = page.figures
    assert len(values(trace(figures["spectrum"], "this model")["y"])) == 3
    assert columns(page.embedding, "rows").shape == (600, 6)
    assert len(figures["density"]) == 3
    assert ("has no error certificate" in page.text) == ("levels" not in figures)


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
    assert figures["levels"]["layout"]["yaxis"]["ticktext"][:2] == ["a priori", "a posteriori"]


def test_the_embedding_shows_rows_with_their_colors_and_all_centers(page, model):
    embedding = page.embedding
    rows, centers = columns(embedding, "rows"), columns(embedding, "centers")
    expected = model.transform(X)
    nearest = np.abs(expected[:, None, 0] - rows[:, 0]).argmin(axis=0)
    np.testing.assert_allclose(rows[:, :4], expected[nearest], atol=1e-6)
    right = trace(embedding["colors"][0], "right")["customdata"]
    np.testing.assert_array_equal(np.isin(np.arange(600), right), X[nearest, 0] > 0)
    order = np.argsort(-model.reduced_set_.weights, kind="stable")
    expected = model.transform(model.reduced_set_.centers)[order]
    np.testing.assert_allclose(centers[:, :4], expected, atol=1e-6)
    assert embedding["columns"][0]["name"].startswith("component 1 (")
    assert set(page.color_names()) >= {"side", "feature 1"}


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
    assert page.color_names()[0] == "cluster"
    assert page.embedding["first"][0] == 1  # the first eigenfunction is constant


def test_novelty_scores_are_shown_as_colors():
    detector = KernelPCANovelty().fit(X)
    page = page_of(detector, X)
    assert page.color_names()[0] == "novelty score"
    scores = values(page.embedding["colors"][0]["data"][0]["marker"]["color"])
    expected = detector.decision_function(X)
    np.testing.assert_allclose(np.sort(scores), np.sort(expected), atol=1e-6)


def test_estimated_errors_are_shown_as_colors(model, monkeypatch):
    page = page_of(model, X)
    assert page.color_names()[-1] == "estimated error"
    assert "The color “estimated error” shows" in page.text
    shown = values(page.embedding["colors"][-1]["data"][0]["marker"]["color"])
    np.testing.assert_allclose(np.sort(shown), np.sort(model.row_error(X).coordinates), rtol=1e-5)
    exact = page_of(ReducedSetKernelPCA(2, ell=np.inf).fit(X), X)
    density = ShadowDensity(sample_size=0)
    unknown = page_of(ReducedSetKernelPCA(2, density=density).fit(X), X)
    for other in (exact, unknown):
        assert "estimated error" not in other.color_names()
        assert "“estimated error”" not in other.text
    refined = ReducedSetKernelPCA(2, ell=2.0, refine="nystrom").fit(X)
    assert page_of(refined, X).color_names()[-1] == "estimated error"
    monkeypatch.setattr(subject, "_PROJECTION_WORK", 1.0)
    assert "estimated error" not in page_of(refined, X).color_names()


def test_a_feature_is_not_replaced_by_the_estimated_error(model):
    page = page_of(model, X, feature_names=["estimated error", "b", "c"])
    shown = values(page.embedding["colors"][0]["data"][0]["marker"]["color"])
    np.testing.assert_allclose(np.sort(shown), np.sort(X[:, 0]), rtol=1e-5)


def test_the_report_starts_with_the_summary_of_the_certificate(page, model):
    summary, limit = model.certificate_.summary, model.certificate_.embedding.limit
    assert page.text.count(summary) == 2  # in the overview and with the certificate
    assert (
        f"{100 * model.certificate_.embedding.estimate:.2g}% error of the coordinates" in page.text
    )
    color = "green" if limit <= 0.05 else "amber"
    assert ("div", {"class": f"verdict {color}"}) in page.tags


def test_errors_that_are_estimated_or_tiny_have_a_tile():
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
    assert len(columns(page.embedding, "rows")) == 100


def test_large_data_are_sampled_and_only_the_heaviest_centers_are_drawn():
    rows = np.random.default_rng(0).normal(size=(9000, 2))
    fitted = ReducedSetKernelPCA(2, bandwidth=0.4, ell=6.0).fit(rows)
    assert fitted.n_centers_ > 1000
    page = page_of(fitted, rows)
    assert "8,000 random rows, 3,000 of them shown in the plots" in page.text
    assert len(columns(page.embedding, "rows")) == 3000
    assert len(columns(page.embedding, "centers")) == 1000
    weights = np.sort(fitted.reduced_set_.weights)[::-1]
    np.testing.assert_allclose(page.embedding["centers"]["customdata"], weights[:1000])


def test_fewer_rows_are_drawn_if_each_row_is_expensive_to_embed(model, monkeypatch):
    monkeypatch.setattr(subject, "_FEWEST_DRAWN", 50)
    monkeypatch.setattr(subject, "_WORK", 70 * model.basis_.size)
    page = page_of(model, X, color={"c": X[:, 0]})
    assert len(columns(page.embedding, "rows")) == 70
    assert len(values(page.embedding["colors"][0]["data"][0]["marker"]["color"])) == 70
    assert "all 600 rows, 70 of them shown in the plots" in page.text
    monkeypatch.setattr(subject, "_WORK", 1.0)
    assert "uses 50 random rows" in page_of(model, X).text


def test_data_frame_column_names_are_preserved_in_pipelines():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    fitted = make_pipeline(StandardScaler(), ReducedSetKernelPCA(2)).fit(frame)
    page = page_of(fitted, frame, color="b")
    assert page.color_names() == ["b", "a", "c", "estimated error"]
    names = {figure["layout"]["meta"]["name"] for figure in page.figures["density"]}
    assert names == {"a and b", "a and c", "b and c"}
    series = page_of(fitted, frame, color=frame["a"] > 0).embedding["colors"][0]
    assert {trace["name"] for trace in series["data"]} == {"False", "True"}
    plain = ReducedSetKernelPCA(2).fit(X)
    assert page_of(plain, frame).color_names() == ["a", "b", "c", "estimated error"]


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
    assert page.embedding["first"] == [0, 1]
    assert [trace["name"] for trace in page.figures["density"][0]["data"]] == [
        "centers", "rows", "reduced set",
    ]  # fmt: skip


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
    assert len(columns(page_of(fitted, X[:50].tolist()).embedding, "rows")) == 50


# ------------------------------------------------------------------------------- user input


def test_user_provided_text_is_escaped(model):
    page = page_of(
        model, X, title=EVIL, color={EVIL: [EVIL, "b"] * 300}, seconds={EVIL: 1.0},
        feature_names=[EVIL, "b", "c"],
    )  # fmt: skip
    tags = [tag for tag, _ in page.tags]
    assert tags.count("script") == 3
    assert "img" not in tags
    assert EVIL in page.texts  # the title is shown unchanged
    names = [trace["name"] for trace in page.embedding["colors"][0]["data"]]
    assert any(name.startswith("&lt;/script&gt;&lt;img") for name in names)
    assert "\u2028" not in page.scripts[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"color": [1, 2]}, r"one value per row of X, shape \(600,\), got shape \(2,\)"),
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
