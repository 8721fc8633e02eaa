"""``rskpca demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.text import Text
from sklearn.datasets import load_digits

from .fit import fit
from .modelling import Modelling
from .paths import whole, writable
from .reading import Reading
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
    _write_digits(data)
    model, report = folder / "digits.rskpca", folder / "digits.html"
    intro = "1,797 handwritten digits of 8 x 8 pixels, from scikit-learn."
    voice_to_people = not (voice.json or voice.quiet)
    if voice_to_people:
        voice.tell({}, Text(intro, "dim"))
    settings = Modelling(components=6, bandwidth=60.0)
    fit(
        data=data, output=model, report=report, color="digit", modelling=settings,
        reading=Reading(), voice=voice,
    )  # fmt: skip
    if voice_to_people:
        voice.tell({}, "", next_lines(_next(folder)))


def _write_digits(path: Path) -> None:
    from ..sources._arrow import pyarrow_for

    pa = pyarrow_for("the demo")
    import pyarrow.parquet as pq

    images, labels = load_digits(return_X_y=True)
    names = [f"row {i} column {j}" for i in range(8) for j in range(8)]
    columns = dict(zip(names, np.ascontiguousarray(images.T), strict=True))
    table = pa.table({**columns, "digit": [f"digit {label}" for label in labels]})
    with whole(path) as unfinished:
        pq.write_table(table, unfinished)


def _next(folder: Path) -> dict[str, str]:
    data, model = folder / "digits.parquet", folder / "digits.rskpca"
    return {
        "open": f"{folder / 'digits.html'} in a browser",
        "before a run": f"rskpca plan {data} --exclude digit",
        "against scikit-learn": f"rskpca compare {data} --exclude digit",
        "what it knows": f"rskpca certify {model} {data}",
        "your own data": "rskpca fit yours.parquet --report report.html",
    }
