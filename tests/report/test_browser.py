"""Test the report in a real browser: selecting, searching, exporting, and its tabs and themes."""

import csv

import numpy as np
import pytest
from matplotlib.path import Path as Polygon

from rskpca import (
    DiffusionMaps,
    Gaussian,
    NystromKernelPCA,
    ReducedSetKernelPCA,
    WindowDensity,
    report,
)
from tests.datasets import blobs
from tests.report.browser import PROGRAM, Browser

pytest.importorskip("tornado")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed"),
]
EVIL = "<img src=x onerror='window.harmed=1'>"
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
TABS = ("embedding", "components", "certificate", "model")
X = blobs(500, 3)
NAMES = np.array([f"row {k}" for k in range(500)])
MODEL = ReducedSetKernelPCA(4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    sides = np.where(X[:, 0] > 0, EVIL, "left, or not")
    heights = np.where(X[:, 1] > 0, X[:, 1], np.nan)
    options = {
        "color": {EVIL: sides, "height": heights}, "title": EVIL, "ids": NAMES,
        "feature_names": [EVIL + "1", "b", "c"],
    }  # fmt: skip
    report.write(MODEL.fit(X), X, folder / "certified.html", **options)
    report.write(DiffusionMaps(2).fit(X[:, :1]), X[:, :1], folder / "walk.html")
    exact = ReducedSetKernelPCA(2, ell=np.inf).fit(X[:40])
    report.write(exact, X[:40], folder / "exact.html")
    window = ReducedSetKernelPCA(2, kernel=Gaussian(2.0), density=WindowDensity(200)).fit(X)
    report.write(window, X, folder / "window.html")
    report.write(ReducedSetKernelPCA(2).fit(X), X[:300], folder / "sampled.html", n_rows=500)
    report.write(NystromKernelPCA(2, n_centers=30).fit(X), X, folder / "landmarks.html")
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


def click(page, selector: str) -> None:
    page.run(f"document.querySelector('{selector}').click()")
    page.settle()


def text(page, name: str) -> str:
    return page.run(f"document.getElementById('{name}').textContent")


def count(page, figure: str, kind: str = "path.point") -> int:
    return page.run(f"document.querySelectorAll('#figure-{figure} {kind}').length")


def label(page, figure: str, axis: str) -> str:
    return page.run(f"document.querySelector('#figure-{figure} .{axis}title').textContent")


def visible_parts(page) -> list[str]:
    script = "[...document.querySelectorAll('section')].filter(s => s.offsetHeight).map(s => s.id)"
    return [name.removeprefix("part-") for name in page.run(script)]


def selected_ids(page) -> set[str]:
    return set(page.run("selected.map(row => ids[row])"))


def place_of_rows(page):
    """Return the screen positions of all rows, in the order of X."""
    script = (
        "(() => { const [x, y] = shownColumns(), [ax, ay] = axesInPixels();"
        "const { left, top } = stage.getBoundingClientRect();"
        "return ids.map((_, k) => [left + ax.of(x.numbers[k]), top + ay.of(y.numbers[k])]) })()"
    )
    found = dict(zip(page.run("ids"), page.run(script), strict=True))
    return np.array([found[name] for name in NAMES])


def ellipse(page, share: float = 0.42, corners: int = 24):
    """Return the corners of a lasso in the middle of the plot."""
    script = (
        "(() => { const r = document.querySelector('#stage .nsewdrag').getBoundingClientRect();"
        "return [r.left, r.top, r.width, r.height] })()"
    )
    left, top, width, height = page.run(script)
    angles = np.linspace(0, 2 * np.pi, corners)
    x = left + width * (0.5 + share * np.cos(angles))
    return list(zip(x, top + height * (0.5 + share * np.sin(angles)), strict=True))


# ------------------------------------------------------------------------ selecting rows


def test_the_lasso_selects_the_rows_inside_it(page, folder):
    page.open(folder / "certified.html", **DESK)
    places, corners = place_of_rows(page), ellipse(page)
    page.drag(corners)
    inside = Polygon(corners).contains_points(places)
    assert 20 < inside.sum() < 480
    assert selected_ids(page) == set(NAMES[inside])
    share = f"{100 * inside.mean():.3g}"
    assert text(page, "selection-words").startswith(f"{inside.sum()} rows selected, {share[:2]}")
    assert NAMES[inside][0] in text(page, "selection-ids")
    assert page.errors() == []


def test_a_box_selects_and_shift_adds_to_the_selection(page, folder):
    page.open(folder / "certified.html", **DESK)
    places = place_of_rows(page)
    click(page, "[name=mode][value=box]")
    (left, top), (right, bottom) = places.min(axis=0), places.max(axis=0)
    middle = (left + right) / 2
    page.drag([(left - 3, top - 3), (left + 20, top + 20), (middle, bottom + 3)])
    first = selected_ids(page)
    assert first == set(NAMES[places[:, 0] < middle])
    page.drag([(middle, top - 3), (middle + 20, top + 20), (right + 3, bottom + 3)], modifiers=8)
    assert selected_ids(page) == set(NAMES)
    page.send("Input.dispatchKeyEvent", type="keyDown", key="Escape")
    page.settle()
    assert selected_ids(page) == set()
    assert text(page, "selection-words") == "No rows selected"


def test_hidden_groups_are_not_selected(page, folder):
    page.open(folder / "certified.html", **DESK)
    page.run("void Plotly.restyle('figure-embedding', { visible: 'legendonly' }, [0])")
    page.settle()
    page.drag(ellipse(page, 0.49))
    assert len(set(page.run("selected.map(row => columns[4].levels[columns[4].codes[row]])"))) == 1


def test_the_summary_lists_the_features_that_differ_most(page, folder):
    page.open(folder / "certified.html", **DESK)
    page.drag(ellipse(page))
    own = np.isin(NAMES, list(selected_ids(page)))
    scores = (X[own].mean(axis=0) - X[~own].mean(axis=0)) / X.std(axis=0)
    found = page.run("differences(selected).map(d => [d.column.name, d.score, d.own, d.rest])")
    features = {name: numbers for name, *numbers in found if name != "height"}
    sizes = [abs(score) for _, score, *_ in found]
    assert sizes == sorted(sizes, reverse=True)
    for j, name in enumerate([EVIL + "1", "b", "c"]):
        expected = [scores[j], X[own, j].mean(), X[~own, j].mean()]
        np.testing.assert_allclose(features[name], expected, rtol=1e-4)
    left = (X[own, 0] <= 0).mean()
    shares = text(page, "selection-levels")
    assert f"left, or not {100 * left:.3g}"[:-1] in shares or left in (0, 1)


def test_search_finds_ids_and_labels(page, folder):
    page.open(folder / "certified.html", **DESK)

    def search(words: str) -> set[str]:
        page.run(f"document.getElementById('search-text').value = {words!r}")
        click(page, "#search button")
        return selected_ids(page)

    assert search("ROW 7") == {"row 7"}
    assert search("row 7, row 12,nothing") == {"row 7", "row 12"}
    assert search("onerror") == set(NAMES[X[:, 0] > 0])
    assert search("nowhere") == set()
    assert "No row shown here has the id or label “nowhere”" in text(page, "selection-words")
    assert search("") == set()


def test_the_exported_selection_equals_the_rows(page, folder, tmp_path):
    page.open(folder / "certified.html", **DESK)
    page.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    page.drag(ellipse(page))
    click(page, "#export")
    page.wait_for(lambda: (tmp_path / "selection.csv").exists())
    with open(tmp_path / "selection.csv", newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert {line["id"] for line in lines} == selected_ids(page)
    rows = [int(line["id"].split()[1]) for line in lines]
    features = [[line[EVIL + "1"], line["b"], line["c"]] for line in lines]
    np.testing.assert_array_equal(np.float32(features), np.float32(X[rows]))
    components = [[line[name] for name in line if name.startswith("component")] for line in lines]
    np.testing.assert_allclose(np.float64(components), MODEL.transform(X[rows]), atol=1e-6)
    sides = np.where(X[rows, 0] > 0, EVIL, "left, or not")
    assert [line[EVIL] for line in lines] == sides.tolist()
    assert [line["height"] == "" for line in lines] == (X[rows, 1] <= 0).tolist()


def test_a_click_selects_a_row_and_hovering_shows_its_columns(page, folder):
    page.open(folder / "certified.html", **DESK)
    page.run("document.querySelector('#hover-columns').value = 7")
    target = place_of_rows(page)[13]
    move = {"x": target[0], "y": target[1]}
    page.send("Input.dispatchMouseEvent", type="mouseMoved", **move)
    page.wait_for(lambda: page.run("!tip.hidden"))
    shown = text(page, "tip")
    assert shown.startswith("row ")
    assert "component 1" in shown
    assert "component 2" in shown
    hovered = page.run("tip.firstChild.textContent")
    for kind in ("mousePressed", "mouseReleased"):
        page.send("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **move)
    page.wait_for(lambda: selected_ids(page) == {hovered})


# ------------------------------------------------------------------- density and components


def direct_density(points, weights, x, y):
    """Sum Gaussians at the points, as a readable reference for the density on the page."""
    n, mean = len(points), np.average(points, axis=0, weights=weights)
    spread = np.sqrt(np.average((points - mean) ** 2, axis=0, weights=weights))
    width = 0.5 * spread * n ** (-1 / 6)
    bumps = [
        np.exp(-0.5 * ((grid - points[:, [k]]) / width[k]) ** 2) / width[k] / np.sqrt(2 * np.pi)
        for k, grid in enumerate((x, y))
    ]
    return np.einsum("k,kj,ki->ji", weights, bumps[1], bumps[0])


def test_the_plotted_density_represents_all_rows(page, folder):
    page.open(folder / "certified.html", **DESK)
    script = "(t => [t.x, t.y, t.z.map(line => [...line])])(densityTrace(columns[0], columns[1]))"
    x, y, z = (np.array(part) for part in page.run(script))
    centers = MODEL.transform(MODEL.reduced_set_.centers)[:, :2]
    expected = direct_density(centers, MODEL.reduced_set_.weights, x, y)
    np.testing.assert_allclose(z, expected, atol=1e-3 * expected.max())
    click(page, "#show-density")
    assert f"all 500 rows, estimated from {MODEL.n_centers_} centers" in text(page, "density-words")
    assert count(page, "embedding", ".contour") == 1
    page.open(folder / "landmarks.html", **DESK)
    click(page, "#show-density")
    assert "density of the 500 rows shown here" in text(page, "density-words")


def test_centers_can_be_shown_and_hidden(page, folder):
    page.open(folder / "certified.html", **DESK)
    assert count(page, "embedding") == 0  # rows are drawn by WebGL
    click(page, "#show-centers")
    assert count(page, "embedding") == MODEL.n_centers_
    click(page, "#show-centers")
    assert count(page, "embedding") == 0


def test_components_are_explained_by_correlations_and_extreme_rows(page, folder):
    page.open(folder / "certified.html", **DESK)
    press(page, "components")
    choose(page, "component", 1)
    Z = MODEL.transform(X)[:, 1]
    found = dict(page.run("drivers(columns[1]).map(d => [d.column.name, d.value])"))
    for j, name in enumerate([EVIL + "1", "b", "c"]):
        np.testing.assert_allclose(found[name], np.corrcoef(Z, X[:, j])[0, 1], atol=1e-5)
    known = X[:, 1] > 0  # the other heights are missing
    expected = np.corrcoef(Z[known], X[known, 1])[0, 1]
    np.testing.assert_allclose(found["height"], expected, atol=1e-5)
    order = np.argsort(Z)
    ends = {"low-end": order[:5], "high-end": order[:-6:-1]}
    for name, rows in ends.items():
        script = f"[...document.querySelectorAll('#{name} tbody button')].map(b => b.textContent)"
        assert page.run(script) == NAMES[rows].tolist()
    click(page, "#low-end tbody button")
    assert visible_parts(page) == ["embedding"]
    assert selected_ids(page) == {NAMES[order[0]]}


def test_clicking_a_feature_name_colors_the_embedding(page, folder):
    page.open(folder / "certified.html", **DESK)
    press(page, "components")
    name = page.run("document.querySelector('#drivers button').textContent")
    click(page, "#drivers button")
    assert visible_parts(page) == ["embedding"]
    assert page.run("shownColumns()[2].name") == name


# ------------------------------------------------------------------- speed


def test_50_000_points_are_lassoed_in_less_than_100_ms_per_frame(page, tmp_path):
    rows = np.random.default_rng(0).normal(size=(50_000, 2)) * (1, 0.5)
    fitted = ReducedSetKernelPCA(2, ell=3.0).fit(rows)
    path = report.write(fitted, rows, tmp_path / "large.html", color={"half": rows[:, 0] > 0})
    assert path.stat().st_size < 8e6
    page.open(path, **DESK)
    assert page.run("ids.length") == 50_000
    corners = ellipse(page, 0.45, 40)
    before = page.main_thread_seconds()
    page.drag(corners)
    lassoed = (page.main_thread_seconds() - before) / len(corners)
    assert page.run("selected.length") > 10_000
    click(page, "[name=mode][value=pan]")
    before = page.main_thread_seconds()
    page.drag([(x, y) for x, y in zip(range(500, 580, 2), range(500, 540), strict=True)])
    moved = (page.main_thread_seconds() - before) / 40
    # The CPU time of the main thread does not depend on other processes.
    assert lassoed < 0.1
    assert moved < 0.1
    assert page.errors() == []


# ------------------------------------------------------------------- tabs, menus and themes


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
    next_steps = ("next",) if name == "walk" else ()  # there are no suggestions for the other model
    for tab in (*TABS, *next_steps):
        press(page, tab)
        assert visible_parts(page) == [tab]
        assert page.run("document.documentElement.scrollWidth") <= size["width"]
    assert page.errors() == []
    assert {url.partition(":")[0] for url in page.requests()} <= {"file", "data", "blob"}
    assert page.run("window.harmed === undefined && !document.querySelector('img')")


def test_all_figures_are_drawn(page, folder):
    page.open(folder / "certified.html", **DESK)
    assert count(page, "embedding", ".gl-canvas") > 0
    sizes = page.run("document.getElementById('figure-embedding').data.map(t => t.x.length)")
    assert sum(sizes) == 500
    press(page, "components")
    assert count(page, "spectrum") == 4
    assert count(page, "spectrum", ".bars .point") == 8
    press(page, "certificate")
    assert count(page, "certificate") == 1
    press(page, "model")
    assert count(page, "retention") == 6


def test_menus_change_the_figures(page, folder):
    page.open(folder / "certified.html", **DESK)
    assert label(page, "embedding", "x").startswith("component 1")
    choose(page, "embedding-x", 2)
    assert label(page, "embedding", "x").startswith("component 3")
    legend = "document.querySelector('#figure-embedding .legend')?.textContent ?? ''"
    assert EVIL[:20] in page.run(legend)
    choose(page, "embedding-color", 9)
    assert "left" not in page.run(legend)
    assert count(page, "embedding", ".colorbar") == 1
    choose(page, "embedding-color", 5)  # a column with missing values
    assert "missing" in page.run(legend)
    names = page.run("columns.map(column => column.name)")
    options = "[...document.querySelectorAll('#embedding-color option')].map(o => o.textContent)"
    assert page.run(options) == names


def test_the_theme_follows_the_system_until_it_is_switched(page, folder):
    page.open(folder / "certified.html", **DESK, dark=True)
    paper = "getComputedStyle(document.querySelector('.card')).backgroundColor"
    ink = "document.querySelector('#figure-embedding .xtitle').style.fill"
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
    page.run("document.getElementById('tab-embedding').focus()")
    for _ in range(2):
        page.send("Input.dispatchKeyEvent", type="keyDown", key="ArrowRight")
    page.settle()
    assert visible_parts(page) == ["certificate"]
    assert page.run("location.hash") == "#certificate"
    assert page.run("document.activeElement.id") == "tab-certificate"
    page.run("location.hash = '#model'")
    page.settle()
    assert visible_parts(page) == ["model"]
    assert page.run("scrollY") == 0
    assert page.run("document.querySelectorAll('[aria-selected=true]').length") == 1


def test_the_window_can_be_resized(page, folder):
    """When a phone is rotated, the color bar moves from the side to the bottom or back."""
    page.open(folder / "walk.html", **DESK)
    for width in (320, 1280, 640, 1280, 200, 660):
        page.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=700,
            deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        page.settle()
        press(page, "components")
        press(page, "embedding")
    assert page.errors() == []
    assert count(page, "embedding", ".colorbar") == 1


def test_an_exact_model_has_no_intervals_to_draw(page, folder):
    page.open(folder / "exact.html", **DESK)
    press(page, "components")
    assert page.errors() == []
    assert count(page, "spectrum", ".bars .point") == 0
    assert "hidden by the dots" in page.run("document.getElementById('spectrum-words').textContent")


def test_the_caption_distinguishes_counted_from_predicted_numbers(page, folder):
    caption = "document.getElementById('retention-words').textContent"
    page.open(folder / "certified.html", **DESK)
    assert "were also counted" in page.run(caption)
    legend = "document.querySelector('#figure-retention .legend').textContent"
    press(page, "model")
    assert page.run(legend).startswith("counted")
    page.open(folder / "sampled.html", **DESK)
    assert "are predicted from 300 rows" in page.run(caption)
    press(page, "model")
    assert "predicted" in page.run(legend)
    page.open(folder / "window.html", **DESK)
    assert "were counted on 200 random rows" in page.run(caption)


def test_the_screenshots_for_the_documentation_can_be_taken(folder, tmp_path):
    from matplotlib import image

    from benchmarks.report_picture import WIDE, photograph

    photograph(folder / "certified.html", tmp_path)
    light, dark, phone = (
        image.imread(tmp_path / f"{name}.png")[..., :3]
        for name in ("report", "report_dark", "report_phone")
    )
    assert light.shape[:2] == dark.shape[:2] == (WIDE["height"], WIDE["width"])
    assert light.mean() > 0.8
    assert dark.mean() < 0.3
    assert phone.shape[0] > phone.shape[1]


def test_printing_shows_all_parts(page, folder):
    page.open(folder / "certified.html", **DESK)
    page.run("dispatchEvent(new Event('beforeprint'))")
    page.settle()
    assert len(visible_parts(page)) == len(TABS)
    assert count(page, "spectrum") == 4
    page.run("dispatchEvent(new Event('afterprint'))")
    assert visible_parts(page) == ["embedding"]


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
