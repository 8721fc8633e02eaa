"""Test the report in a real browser: its tabs, menus, figures and themes."""

import numpy as np
import pytest

from rskpca import DiffusionMaps, Gaussian, ReducedSetKernelPCA, WindowDensity, report
from tests.datasets import blobs
from tests.report.browser import PROGRAM, Browser

pytest.importorskip("tornado")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed"),
]
EVIL = "<img src=x onerror='window.harmed=1'>"
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    X = blobs(500, 3)
    sides = np.where(X[:, 0] > 0, EVIL, "left")
    options = {"color": {EVIL: sides}, "title": EVIL, "feature_names": [EVIL, "b", "c"]}
    report.write(ReducedSetKernelPCA(4).fit(X), X, folder / "certified.html", **options)
    report.write(DiffusionMaps(2).fit(X[:, :1]), X[:, :1], folder / "walk.html")
    exact = ReducedSetKernelPCA(2, ell=np.inf).fit(X[:40])
    report.write(exact, X[:40], folder / "exact.html")
    window = ReducedSetKernelPCA(2, kernel=Gaussian(2.0), density=WindowDensity(200)).fit(X)
    report.write(window, X, folder / "window.html")
    report.write(ReducedSetKernelPCA(2).fit(X), X[:300], folder / "sampled.html", n_rows=500)
    return folder


@pytest.fixture(scope="module")
def page():
    with Browser() as browser:
        yield browser


def press(page, tab: str) -> None:
    page.run(f"document.getElementById('tab-{tab}').click()")
    page.settle()


def choose(page, menu: str, index: int) -> None:
    page.run(
        f"(() => {{ const menu = document.getElementById('{menu}'); menu.value = {index};"
        "menu.dispatchEvent(new Event('change')); })()"
    )
    page.settle()


def count(page, figure: str, kind: str = "path.point") -> int:
    return page.run(f"document.querySelectorAll('#figure-{figure} {kind}').length")


def label(page, figure: str, axis: str) -> str:
    return page.run(f"document.querySelector('#figure-{figure} .{axis}title').textContent")


def visible_parts(page) -> list[str]:
    script = "[...document.querySelectorAll('section')].filter(s => s.offsetHeight).map(s => s.id)"
    return [name.removeprefix("part-") for name in page.run(script)]


@pytest.mark.parametrize(
    ("name", "size", "dark"),
    [
        ("certified", DESK, False),
        ("certified", PHONE, True),
        ("walk", DESK, True),
        ("walk", PHONE, False),
    ],
    ids=["desktop", "phone, dark", "walk, dark", "walk, phone"],
)
def test_every_tab_opens_without_errors(page, folder, name, size, dark):
    page.open(folder / f"{name}.html", **size, dark=dark)
    for tab in ("overview", "embedding", "spectrum", "density", "certificate", "next"):
        press(page, tab)
        assert visible_parts(page) == [tab]
        assert page.run("document.documentElement.scrollWidth") <= size["width"]
    assert page.errors() == []
    assert {url.partition(":")[0] for url in page.requests()} <= {"file", "data", "blob"}
    assert page.run("window.harmed === undefined && !document.querySelector('img')")


def test_all_figures_are_drawn(page, folder):
    page.open(folder / "certified.html", **DESK)
    assert count(page, "retention") == 6
    press(page, "embedding")
    figures = "JSON.parse(document.getElementById('figures').textContent)"
    centers = page.run(f"{figures}.embedding.columns[0].centers.length")
    assert count(page, "embedding") == 500 + centers
    press(page, "spectrum")
    assert count(page, "spectrum") == 4
    assert count(page, "spectrum", ".bars .point") == 8
    press(page, "density")
    assert count(page, "density", ".contour") == 2
    press(page, "certificate")
    assert count(page, "levels") == 9


def test_menus_change_the_figures(page, folder):
    page.open(folder / "certified.html", **DESK)
    press(page, "embedding")
    assert label(page, "embedding", "x").startswith("component 1")
    choose(page, "embedding-x", 2)
    assert label(page, "embedding", "x").startswith("component 3")
    legend = "document.querySelector('#figure-embedding .legend').textContent"
    assert EVIL[:20] in page.run(legend)
    choose(page, "embedding-color", 2)
    assert "left" not in page.run(legend)
    assert count(page, "embedding", ".colorbar") == 1
    press(page, "density")
    before = label(page, "density", "x"), label(page, "density", "y")
    choose(page, "density-view", 2)
    assert (label(page, "density", "x"), label(page, "density", "y")) != before


def test_hovering_over_a_point_shows_its_coordinates(page, folder):
    page.open(folder / "certified.html", **DESK)
    press(page, "embedding")
    choose(page, "embedding-color", 2)
    page.run("void Plotly.Fx.hover('figure-embedding', [{curveNumber: 0, pointNumber: 5}])")
    page.settle()
    text = page.run("document.querySelector('#figure-embedding .hoverlayer').textContent")
    assert text.startswith("c: ")
    assert "component 1" in text
    assert "component 2" in text


def test_the_theme_follows_the_system_until_it_is_switched(page, folder):
    page.open(folder / "certified.html", **DESK, dark=True)
    paper = "getComputedStyle(document.querySelector('.card')).backgroundColor"
    ink = "document.querySelector('#figure-retention .xtitle').style.fill"
    dark = page.run(paper), page.run(ink)
    page.run("document.getElementById('theme').click()")
    page.settle()
    light = page.run(paper), page.run(ink)
    assert light[0] == "rgb(255, 255, 255)"
    assert light[1] != dark[1]
    page.run("document.getElementById('theme').click()")
    page.settle()
    assert (page.run(paper), page.run(ink)) == dark


def test_tabs_can_be_opened_with_the_keyboard_and_by_url(page, folder):
    page.open(folder / "certified.html", **DESK)
    page.run("document.getElementById('tab-overview').focus()")
    for _ in range(2):
        page.send("Input.dispatchKeyEvent", type="keyDown", key="ArrowRight")
    page.settle()
    assert visible_parts(page) == ["spectrum"]
    assert page.run("location.hash") == "#spectrum"
    assert page.run("document.activeElement.id") == "tab-spectrum"
    page.run("location.hash = '#density'")
    page.settle()
    assert visible_parts(page) == ["density"]
    assert page.run("scrollY") == 0
    assert page.run("document.querySelectorAll('[aria-selected=true]').length") == 1


def test_the_window_can_be_resized(page, folder):
    """When a phone is rotated, the color bar moves from the side to the bottom or back."""
    page.open(folder / "walk.html", **DESK)
    press(page, "embedding")
    for width in (320, 1280, 640, 1280, 200, 660):
        page.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=700,
            deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        page.settle()
        press(page, "spectrum")
        press(page, "embedding")
    assert page.errors() == []
    assert count(page, "embedding", ".colorbar") == 1


def test_an_exact_model_has_no_intervals_to_draw(page, folder):
    page.open(folder / "exact.html", **DESK)
    for tab in ("spectrum", "certificate"):
        press(page, tab)
    assert page.errors() == []
    assert count(page, "spectrum", ".bars .point") == 0
    assert "hidden by the dots" in page.run("document.getElementById('spectrum-words').textContent")


def test_the_caption_distinguishes_counted_from_predicted_numbers(page, folder):
    caption = "document.getElementById('retention-words').textContent"
    page.open(folder / "certified.html", **DESK)
    assert "were also counted" in page.run(caption)
    legend = "document.querySelector('#figure-retention .legend').textContent"
    assert page.run(legend).startswith("counted")
    page.open(folder / "sampled.html", **DESK)
    assert "are predicted from 300 rows" in page.run(caption)
    assert "predicted" in page.run(legend)
    page.open(folder / "window.html", **DESK)
    assert "were counted on 200 random rows" in page.run(caption)


def test_a_menu_with_one_option_is_hidden(page, folder):
    page.open(folder / "walk.html", **DESK)
    press(page, "density")
    assert page.run("document.getElementById('density-view').offsetHeight") == 0
    page.open(folder / "certified.html", **DESK)
    press(page, "density")
    assert page.run("document.getElementById('density-view').offsetHeight") > 0


def test_the_screenshot_for_the_documentation_can_be_taken(folder, tmp_path):
    from matplotlib import image

    from benchmarks.report_picture import HEIGHT, WIDTH, photograph

    photograph(folder / "certified.html", tmp_path / "report.png")
    picture = image.imread(tmp_path / "report.png")
    assert picture.shape[:2] == (HEIGHT, 2 * WIDTH)
    assert picture[:, :WIDTH, :3].mean() > 0.8  # light theme
    assert picture[:, WIDTH:, :3].mean() < 0.3  # dark theme


def test_printing_shows_all_parts(page, folder):
    page.open(folder / "certified.html", **DESK)
    page.run("dispatchEvent(new Event('beforeprint'))")
    page.settle()
    assert len(visible_parts(page)) == 6
    assert count(page, "spectrum") == 4
    page.run("dispatchEvent(new Event('afterprint'))")
    assert visible_parts(page) == ["overview"]


def test_the_page_cannot_send_data(page, folder):
    """Only four plotly buttons are shown, and none of them shares the figure."""
    page.open(folder / "certified.html", **DESK)
    titles = page.run(
        "[...document.querySelectorAll('.modebar-btn')].map(b => b.getAttribute('data-title'))"
    )
    assert len(titles) == 4
    assert not any("hare" in title or "loud" in title for title in titles)
    refused = "fetch('https://example.org').then(() => 'sent', () => 'refused')"
    assert page.run(refused) == "refused"
