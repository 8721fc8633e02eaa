"""``python -m benchmarks.report_picture``: draw ``docs/images/report.png`` from covtype.

The report is opened in headless chromium, once in light and once in dark mode, and two screenshots
are placed side by side.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from matplotlib import image

from experiments.data import load_published
from rskpca import ReducedSetKernelPCA, report

from .fit import N

TARGET = Path(__file__).parents[1] / "docs" / "images" / "report.png"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTH, HEIGHT = 1000, 800
SHOTS = {"overview": (), "embedding": ("--blink-settings=preferredColorScheme=0",)}
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


def photograph(page: Path, target: Path) -> None:
    """Save screenshots of two parts of a report side by side, in light and in dark mode."""
    with tempfile.TemporaryDirectory() as folder:
        shots = [
            _take_screenshot(page, part, Path(folder), *flags) for part, flags in SHOTS.items()
        ]
        image.imsave(target, np.hstack([image.imread(shot)[..., :3] for shot in shots]))


def _take_screenshot(page: Path, part: str, folder: Path, *flags: str) -> Path:
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        raise FileNotFoundError(f"Install one of {', '.join(BROWSERS)} to take screenshots.")
    shot = folder / f"{part}.png"
    command = [
        program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
        "--no-first-run", "--disable-dev-shm-usage", "--hide-scrollbars",
        f"--user-data-dir={folder / 'profile'}", f"--window-size={WIDTH},{HEIGHT}",
        "--virtual-time-budget=4000", f"--screenshot={shot}", *flags, f"{page.as_uri()}#{part}",
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return shot


if __name__ == "__main__":
    main()
