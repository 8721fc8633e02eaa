"""``rskpca demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.text import Text
from sklearn.datasets import load_digits

from .._core.atomic import atomic_write
from ..data import open_source
from ..embedding import ReducedSetKernelPCA
from .fit import fitted, reported
from .paths import named, writable
from .summary import next_lines
from .voice import Voice

EXAMPLES = """
  rskpca demo
  rskpca demo --folder somewhere
"""


def demo(
    *,
    folder: Annotated[Path, typer.Option(help="Where to write; it is made.")] = Path("rskpca-demo"),
    voice: Voice,
) -> None:
    """Fit handwritten digits, write a report, and say what to try next."""
    folder.mkdir(exist_ok=True)
    data = writable(folder / "digits.parquet")
    with named(data):
        _write_digits(data)
    source = open_source(data, ids="digit")
    with voice.progress(source, data) as bar:
        model = ReducedSetKernelPCA(3, bandwidth=80.0, refine="nystrom")
        summary = fitted(model, source, folder / "digits.rskpca", bar, data.name)
        summary = reported(summary, source, folder / "digits.html", "digit", bar)
    intro = Text("1,797 handwritten digits of 8 x 8 pixels, from scikit-learn.", "dim")
    voice.tell(summary.to_dict(), intro, summary, next_lines(_next(folder)))


def _write_digits(path: Path) -> None:
    from ..data import pyarrow_for

    pa = pyarrow_for("the demo")
    import pyarrow.parquet as pq

    images, labels = load_digits(return_X_y=True)
    names = [f"row {i} column {j}" for i in range(8) for j in range(8)]
    columns = dict(zip(names, np.ascontiguousarray(images.T), strict=True))
    table = pa.table({**columns, "digit": [f"digit {label}" for label in labels]})
    with atomic_write(path) as unfinished:
        pq.write_table(table, unfinished)


def _next(folder: Path) -> dict[str, str]:
    data, model = folder / "digits.parquet", folder / "digits.rskpca"
    return {
        "open": f"{folder / 'digits.html'} in a browser",
        "before a run": f"rskpca plan {data} --exclude digit",
        "fewer centers": f"rskpca fit {data} --exclude digit --bandwidth 120 -r 3",
        "against scikit-learn": f"rskpca compare {data} --exclude digit",
        "what it knows": f"rskpca certify {model} {data}",
        "your own data": "rskpca fit yours.parquet --report report.html",
    }
