"""``rskpca compare``: ours against scikit-learn's, on the user's own data."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.text import Text
from sklearn.preprocessing import StandardScaler

from .._core.atomic import atomic_write
from ..kernels import Gaussian
from .comparison import Terms, drawn, remarks, table
from .contenders import Array, Contender, Result, contenders, contest, exact_coordinates
from .memory import peak
from .modelling import Bandwidth, Components, Standardize
from .paths import named, writable
from .progress import Bar
from .reading import DataFile, Reading, some_rows
from .voice import Voice

EXAMPLES = """
  rskpca compare data.parquet
  rskpca compare data.csv --exclude name --standardize --rows 500000 -o compare.png
"""
_SAMPLE, _HELD_OUT = 4000, 1000  # rows that exact kernel PCA is no trouble for
_PICTURES = (".png", ".svg", ".pdf")


def compare(
    *,
    data: DataFile,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The picture: .png .svg .pdf")
    ] = Path("compare.png"),
    rows: Annotated[int, typer.Option(min=100, help="Rows at most, held in memory.")] = 100_000,
    components: Components = 5,
    ell: Annotated[float, typer.Option(help="Of rskpca.")] = 4.0,
    bandwidth: Bandwidth = None,
    standardize: Standardize = False,
    reading: Reading,
    voice: Voice,
) -> None:
    """Time, memory, size and error of rskpca and of scikit-learn on your own rows."""
    writable(output, [data], _PICTURES)
    source = reading.open(data)
    with voice.progress(source, data) as bar:
        found: Array = some_rows(source, rows).rows
        if standardize:
            found = StandardScaler().fit_transform(found)
        kernel = Gaussian("median" if bandwidth is None else bandwidth).resolve(found, None, 0)
        match = _Match(found, kernel, components, ell, bar)
        sampled, everything = match.sampled(), match.everything()
        bar.stage("drawing")
        with named(output), atomic_write(output) as unfinished:
            drawn(data.name, sampled, everything, unfinished)
    numbers = {
        "components": components,
        "held_out_rows": len(match.test),
        "sample": [result.to_dict() for result in sampled],
        "all": [result.to_dict() for result in everything],
        "bandwidth": kernel.scale,
        "skipped_rows": source.n_skipped,
        "picture": output,
    }
    terms = Terms(kernel.scale, components, len(match.test))
    shown = _shown(data.name, terms, sampled, everything)
    voice.tell(numbers, "", *shown, Text.assemble(("  picture  ", "dim"), (str(output), "bold")))


@dataclass
class _Match:
    """The rows in a random order, of which the first few are for exact kernel PCA too."""

    rows: Array
    kernel: Gaussian
    n_components: int
    ell: float
    bar: Bar

    def __post_init__(self) -> None:
        self.rows = np.random.default_rng(0).permutation(self.rows)
        held_out = min(_HELD_OUT, len(self.rows) // 5)
        self.test = self.rows[:held_out]
        self.train = self.rows[held_out:][:_SAMPLE]

    def sampled(self) -> list[Result]:
        """Everybody on rows that exact kernel PCA can do."""
        self.bar.stage("exact kernel PCA of a sample")
        exact = exact_coordinates(self.n_components, self.kernel, self.train, self.test)
        return self._with_memory(self._contest(self.train, exact, "a sample"), self.train)

    def everything(self) -> list[Result]:
        """Those that can take all rows; empty where the sample is all."""
        if not self._has_more:
            return []
        return self._with_memory(self._contest(self.rows, None, "all rows"), self.rows)

    @property
    def _has_more(self) -> bool:
        return len(self.rows) > len(self.train) + len(self.test)

    def _contest(self, rows: Array, exact: Array | None, of: str) -> list[Result]:
        self.bar.stage(f"sizes, {of}")
        r, kernel = self.n_components, self.kernel
        entered = contenders(self.ell, r, kernel, rows, exact=exact is not None)

        def told(title: str) -> None:
            self.bar.stage(f"{title}, {of}")

        return contest(entered, r, kernel, rows, self.test, exact=exact, told=told)

    def _with_memory(self, results: list[Result], rows: Array) -> list[Result]:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rows.npy"
            np.save(file, rows)
            for result in results:
                self.bar.stage(f"memory of {result.contender.title}")
                result.memory = peak(self._order(result.contender), file)
        return results

    def _order(self, contender: Contender) -> dict[str, Any]:
        return {
            "method": contender.method,
            "n_components": self.n_components,
            "size": contender.size,
            "bandwidth": self.kernel.scale,
        }


def _shown(name: str, terms: Terms, sampled: list[Result], everything: list[Result]) -> list[Any]:
    count = sampled[0].n_rows
    title = f"{name}: the same {count:,} rows for all"
    shown = [table(title, sampled), ""]
    if everything:
        shown += [table(f"{everything[0].n_rows:,} rows", everything), ""]
    return [*shown, *(Text(f"• {remark}") for remark in remarks(terms, sampled, everything)), ""]
