"""The report as a file: what is in it, and what never is."""

import base64
import json
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
from rskpca.report import subject, writing
from tests.plotting.cases import MODELS, X

EVIL = "</script><img src=x onerror=alert(1)>\u2028&amp;'\"${1}"


class Page(HTMLParser):
    """The elements of a page, its words, and the texts of its scripts."""

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
    def numbers(self):
        return json.loads(self.scripts[0])

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.texts).split())


def unpacked(array):
    return np.frombuffer(base64.b64decode(array["f4"]), "<f4").reshape(array["shape"])


@pytest.fixture(scope="module")
def model():
    return ReducedSetKernelPCA(4, ell=3.0).fit(X)


@pytest.fixture(scope="module")
def page(model):
    y = np.where(X[:, 0] > 0, "right", "left")
    return Page(report.build(model, X, color={"side": y}, title="Blobs", seconds={"fit": 0.25}))


# ------------------------------------------------------------------------------ what is in it


@pytest.mark.parametrize("unfitted", MODELS, ids=repr)
def test_every_model_has_a_report(unfitted):
    page = Page(report.build(clone(unfitted).fit(X), X))
    numbers = page.numbers
    assert len(numbers["spectrum"]["values"]) == 3
    assert numbers["embedding"]["rows"]["shape"] == [600, 6]
    assert len(numbers["density"]["views"]) == 3
    assert ("No certificate" in page.words) == (numbers["levels"] is None)


def test_the_numbers_are_those_of_the_model(page, model):
    numbers = page.numbers
    kept = numbers["retention"]
    assert kept["kept"] == model.n_centers_
    assert kept["centers"][kept["ells"].index(kept["ell"])] == model.n_centers_
    np.testing.assert_allclose(numbers["spectrum"]["values"], model.eigenvalues_ / 600, rtol=1e-6)
    np.testing.assert_allclose(
        numbers["spectrum"]["likely"], model.certificate_.likely / 600, rtol=1e-6
    )
    assert [level["name"] for level in numbers["levels"]][:2] == ["a priori", "a posteriori"]


def test_the_picture_shows_rows_with_their_colours_and_all_centers(page, model):
    embedding = page.numbers["embedding"]
    rows, centers = unpacked(embedding["rows"]), unpacked(embedding["centers"])
    expected = model.transform(X)
    nearest = np.abs(expected[:, None, 0] - rows[:, 0]).argmin(axis=0)
    np.testing.assert_allclose(rows[:, :4], expected[nearest], atol=1e-6)
    color = embedding["colors"][0]
    side = np.array(color["names"])[unpacked(color["values"]).astype(int)]
    np.testing.assert_array_equal(side == "right", X[nearest, 0] > 0)
    order = np.argsort(-model.reduced_set_.weights, kind="stable")
    placed = model.transform(model.reduced_set_.centers)[order]
    np.testing.assert_allclose(centers[:, :4], placed, atol=1e-6)
    assert embedding["axes"][0].startswith("component 1 (")
    assert {color["name"] for color in embedding["colors"]} >= {"side", "feature 1"}


def test_the_words_say_what_was_done(page, model):
    assert "Blobs" in page.words
    assert f"{model.n_centers_} centers" in page.words
    assert "fit 0.25 s" in page.words
    assert repr(model) in page.words


def test_it_is_below_eight_megabytes_and_asks_for_nothing(model):
    html = report.build(model, X)
    assert len(html.encode()) < 8e6
    page = Page(html)
    assert not [attrs for _, attrs in page.tags if attrs.get("src") or attrs.get("href")]
    policy = next(a["content"] for t, a in page.tags if t == "meta" and "http-equiv" in a)
    assert policy.startswith("default-src 'none'")
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL).group(1)
    assert "url(" not in style
    assert "@import" not in style


def test_clusters_and_scores_are_colours():
    fitted = NormalizedCut(2, bandwidth=2.0).fit(X)
    numbers = Page(report.build(fitted, X)).numbers
    assert numbers["embedding"]["colors"][0]["name"] == "cluster"
    assert numbers["embedding"]["start"][0] == 1  # the first function is constant


def test_a_sample_stands_for_all_rows(model):
    page = Page(report.build(model, X[:100], n_rows=12_345))
    assert "12,345" in page.words
    assert "looked at in this report 100 rows" in page.words
    assert page.numbers["embedding"]["rows"]["shape"][0] == 100
    assert page.numbers["retention"]["n"] == 12_345


def test_big_data_are_drawn_by_a_sample_and_by_the_heaviest_centers():
    rows = np.random.default_rng(0).normal(size=(9000, 2))
    fitted = ReducedSetKernelPCA(2, bandwidth=0.4, ell=6.0).fit(rows)
    assert fitted.n_centers_ > 1000
    page = Page(report.build(fitted, rows))
    assert "8,000 rows, chosen at random; 3,000 of them in the pictures" in page.words
    numbers = page.numbers
    assert numbers["embedding"]["rows"]["shape"][0] == 3000
    assert numbers["embedding"]["centers"]["shape"][0] == 1000
    weights = np.sort(fitted.reduced_set_.weights)[::-1]
    np.testing.assert_allclose(unpacked(numbers["embedding"]["weights"]), weights[:1000])


def test_fewer_rows_are_drawn_where_each_costs_much(model, monkeypatch):
    monkeypatch.setattr(subject, "_FEWEST", 50)
    monkeypatch.setattr(subject, "_WORK", 70 * model.basis_.size)
    page = Page(report.build(model, X, color={"c": X[:, 0]}))
    assert page.numbers["embedding"]["rows"]["shape"][0] == 70
    assert page.numbers["embedding"]["colors"][0]["values"]["shape"] == [70]
    assert "all 600 rows; 70 of them in the pictures" in page.words
    monkeypatch.setattr(subject, "_WORK", 1.0)
    assert Page(report.build(model, X)).numbers["density"]["rows"] == 50


def test_frames_and_pipelines_keep_their_names():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    fitted = make_pipeline(StandardScaler(), ReducedSetKernelPCA(2)).fit(frame)
    numbers = Page(report.build(fitted, frame, color="b")).numbers
    names = [color["name"] for color in numbers["embedding"]["colors"]]
    assert names == ["b", "a", "c"]
    assert {name for view in numbers["density"]["views"] for name in view["names"]} == set("abc")
    series = Page(report.build(fitted, frame, color=frame["a"] > 0)).numbers
    assert series["embedding"]["colors"][0]["names"] == ["False", "True"]


def test_eigenvalues_of_landmarks_are_divided_too():
    fitted = NystromKernelPCA(2, n_centers=30).fit(X)
    numbers = Page(report.build(fitted, X[:200], n_rows=600)).numbers
    np.testing.assert_allclose(numbers["spectrum"]["values"], fitted.eigenvalues_ / 600, rtol=1e-6)
    assert numbers["spectrum"]["label"] == "eigenvalue / n"


def test_a_detector_goes_by_its_own_name():
    page = Page(report.build(KernelPCANovelty().fit(X), X))
    assert page.words.startswith("Kernel PCA Novelty Kernel PCA Novelty ReducedSetKernelPCA of")


def test_one_feature_and_one_component():
    fitted = ReducedSetKernelPCA(1).fit(X[:, :1])
    numbers = Page(report.build(fitted, X[:, :1])).numbers
    assert numbers["embedding"]["start"] == [0, 1]
    assert len(numbers["density"]["views"][0]["grid"]) == 1


def test_the_certificate_is_asked_for_once(model, monkeypatch):
    asked = []
    original = type(model)._certificate

    def counting(self, confidence, **data):
        asked.append(confidence)
        return original(self, confidence, **data)

    monkeypatch.setattr(type(model), "_certificate", counting)
    report.build(model, X)
    assert asked == [0.95]


def test_the_same_twice(model):
    assert Page(report.build(model, X)).scripts[0] == Page(report.build(model, X)).scripts[0]


# ------------------------------------------------------------------------------ what never is


def test_words_of_the_user_stay_words(model):
    html = report.build(
        model, X, title=EVIL, color={EVIL: [EVIL, "b"] * 300}, seconds={EVIL: 1.0},
        feature_names=[EVIL, "b", "c"],
    )  # fmt: skip
    page = Page(html)
    tags = [tag for tag, _ in page.tags]
    assert tags.count("script") == 3
    assert "img" not in tags
    assert page.texts[page.texts.index(EVIL)]  # the title, whole
    assert EVIL in page.numbers["embedding"]["colors"][0]["names"]
    assert "\u2028" not in page.scripts[0]


# ------------------------------------------------------------------------------ files


def test_it_is_written_whole_or_not_at_all(model, tmp_path, monkeypatch):
    path = report.write(model, X, tmp_path / "r.html")
    before = path.read_text(encoding="utf-8")
    assert before.startswith("<!doctype html>")

    def full_disk(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr(writing.os, "replace", full_disk)
    with pytest.raises(OSError, match="no space"):
        report.write(model, X, path, title="another")
    assert path.read_text(encoding="utf-8") == before
    assert [file.name for file in tmp_path.iterdir()] == ["r.html"]


def test_a_place_that_is_not_there_is_an_error_before_any_work(model, tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder"):
        report.write(model, None, tmp_path / "missing" / "r.html")
    with pytest.raises(IsADirectoryError, match="name a file"):
        report.write(model, None, tmp_path)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"color": [1, 2]}, r"one value a row of X, shape \(600,\), got shape \(2,\)"),
        ({"color": "height"}, "is the name of no feature; there are feature 1"),
        ({"feature_names": ["a"]}, "3 names"),
        ({"seconds": {"fit": -1}}, r"seconds\['fit'\]"),
        ({"n_rows": 0}, "n_rows must be a positive"),
    ],
)
def test_bad_arguments_are_named(model, options, words):
    with pytest.raises(ValueError, match=words):
        report.build(model, X, **options)


def test_models_that_cannot_be_shown(model):
    with pytest.raises(NotFittedError):
        report.build(ReducedSetKernelPCA(2), X)
    with pytest.raises(TypeError, match="is a density"):
        report.build(ShadowDensity().fit(X), X)
    with pytest.raises(ValueError, match="at least two rows"):
        report.build(model, X[:1])


def test_without_plotly_it_says_where_to_get_it(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(ImportError, match=r'pip install "rskpca\[report\]"'):
        report.build(model, X)


def test_the_report_imports_plotly_late():
    code = "import rskpca.report, sys; sys.exit(bool({'plotly', 'matplotlib'} & set(sys.modules)))"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_lists_are_rows_too(model):
    fitted = NystromKernelPCA(2, n_centers=10).fit(X[:50])
    assert Page(report.build(fitted, X[:50].tolist())).numbers["retention"]["n"] == 50
