"""``python -m benchmarks.report_picture``: take the screenshots of a report on covtype.

The report is opened in headless chromium: in light mode with a selection, in dark mode colored by a
feature, and on a phone.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

from experiments.data import load_published
from rskpca import ReducedSetKernelPCA, report
from tests.report.browser import Browser

from .fit import N

TARGET = Path(__file__).parents[1] / "docs" / "images"
WIDE, PHONE = {"width": 1200, "height": 860}, {"width": 390, "height": 844}
_PLOT = "document.querySelector('#stage .nsewdrag').getBoundingClientRect()"
FEATURES = (
    "elevation", "aspect", "slope", "distance to water", "height above water",
    "distance to road", "shade at 9", "shade at noon", "shade at 15", "distance to fire",
)  # fmt: skip
COVER_TYPES = np.array([
    "spruce/fir", "lodgepole pine", "ponderosa pine", "willow", "aspen", "Douglas fir", "krummholz",
])  # fmt: skip


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        photograph(_write_report(Path(folder) / "report.html"), TARGET)


def _write_report(path: Path) -> Path:
    start = time.perf_counter()
    X, y, _ = load_published("covtype", download=False)
    chosen = np.random.default_rng(0).permutation(len(X))[:N]
    rows, types = X[chosen, :10].astype(np.float64), COVER_TYPES[y[chosen] - 1]
    read = time.perf_counter()
    model = ReducedSetKernelPCA(5, ell=5.0, refine="nystrom").fit(rows)
    seconds = {"read": read - start, "fit": time.perf_counter() - read}
    return report.write(
        model, rows, path, color={"forest": types}, title="Forest cover",
        seconds=seconds, feature_names=FEATURES,
    )  # fmt: skip


def photograph(page: Path, folder: Path) -> None:
    """Save screenshots of a report in light and dark mode, and on a phone."""
    with Browser() as browser:
        browser.open(page, **WIDE)
        left, top, width, height = browser.run(f"(r => [r.x, r.y, r.width, r.height])({_PLOT})")
        angles = np.linspace(0, 2 * np.pi, 30)
        x = left + width * (0.14 + 0.09 * np.cos(angles))
        browser.drag(list(zip(x, top + height * (0.28 + 0.2 * np.sin(angles)), strict=True)))
        browser.run("element('show-density').click()")
        browser.screenshot(folder / "report.png")
        browser.open(page, **WIDE, dark=True)
        browser.run("element('embedding-color').value = columns.length - 5; draw('embedding')")
        browser.screenshot(folder / "report_dark.png")
        browser.open(page, **PHONE)
        browser.screenshot(folder / "report_phone.png")


if __name__ == "__main__":
    main()
