"""A fitted model on a screen: what it is of, how wrong it is, where it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from .._format import percent, seconds_in_words
from ..plotting.models import ell_of, feature_names, n_samples_of, points_of, split
from ..report.subject import Subject
from ..report.verdict import Verdict, judge
from .models import known_features
from .paths import size_in_words

COLOURS = {"green": "green", "amber": "yellow", "red": "red", "none": "dim"}
_SIGNS = {"green": "✓", "amber": "!", "red": "✕", "none": "?"}
_BAR = 30
_SHOWN = 8  # components
_NAMED = 72  # characters of names of features


@dataclass(frozen=True)
class Summary:
    """What is told of a model.

    Attributes
    ----------
    model : Any
        Fitted; an embedding, or a pipeline that ends in one.
    name : str
        Of its data, or of its file.
    seconds : dict
        What took how long.
    files : dict
        What was written, by what it is.
    """

    model: Any
    name: str
    seconds: Mapping[str, float]
    files: Mapping[str, Path]

    @cached_property
    def embedding(self) -> Any:
        """Behind a scaler, if there is one."""
        return split(self.model)[1]

    @cached_property
    def verdict(self) -> Verdict:
        """The certificate in words. Centers stand in for rows, of which they are some."""
        embedding = self.embedding
        centers = points_of(embedding).centers
        names = feature_names(embedding)
        return judge(Subject(self.model, embedding, centers, {}, names, self.n_rows, {}))

    @property
    def n_rows(self) -> float:
        """How many rows were fitted."""
        return n_samples_of(self.embedding) or float(len(points_of(self.embedding).centers))

    @property
    def dominant(self) -> tuple[int, float]:
        """The feature with most of the variance, and its share."""
        found = points_of(self.embedding)
        mean = np.average(found.centers, axis=0, weights=found.weights)
        variances = np.average((found.centers - mean) ** 2, axis=0, weights=found.weights)
        j = int(np.argmax(variances))
        return j, float(variances[j] / variances.sum())

    def to_dict(self) -> dict[str, Any]:
        """The same for machines."""
        embedding, verdict = self.embedding, self.verdict
        ratio = getattr(embedding, "explained_variance_ratio_", None)
        certified = hasattr(embedding, "certify")
        return {
            **{what: str(path) for what, path in self.files.items()},
            "method": type(embedding).__name__,
            "rows": int(self.n_rows) if float(self.n_rows).is_integer() else self.n_rows,
            "features": embedding.n_features_in_,
            "feature_names": known_features(self.model),
            "centers": len(points_of(embedding).centers),
            "kernel": type(embedding.kernel_).__name__,
            "bandwidth": embedding.kernel_.scale,
            "ell": ell_of(embedding),
            "standardized": self.embedding is not self.model,
            "eigenvalues": embedding.eigenvalues_,
            "explained_variance_ratio": ratio,
            "verdict": {"colour": verdict.colour, "headline": verdict.headline},
            "certificate": embedding.certificate_.to_dict() if certified else None,
            "seconds": dict(self.seconds),
        }

    def __rich__(self) -> RenderableType:
        parts = [self._what(), Text(), judged(self.verdict), Text(), self._components()]
        if self.files:
            parts += [Text(), self._written()]
        return Panel(
            Group(*parts),
            title=Text(self.name, "bold"),
            title_align="left",
            subtitle=self._took(),
            subtitle_align="right",
            padding=(1, 2),
            border_style=COLOURS[self.verdict.colour],
        )

    def _what(self) -> RenderableType:
        embedding = self.embedding
        m, kernel = len(points_of(embedding).centers), embedding.kernel_
        line = Text("", style="default")
        line.append(f"{self.n_rows:,.10g} rows x {embedding.n_features_in_} features", "bold")
        line.append("  →  ")
        line.append(f"{m:,} centers", "bold cyan").append(f" ({percent(m / self.n_rows)})")
        if len(embedding.basis_) != m:
            line.append("  →  ").append(f"{len(embedding.basis_):,} of them", "bold cyan")
        line.append("  →  ").append(f"{len(embedding.eigenvalues_)} components", "bold")
        how = f"\n{type(embedding).__name__}, {type(kernel).__name__} kernel of bandwidth "
        line.append(how + f"{kernel.scale:.4g}{self._fineness()}", "dim")
        names = known_features(self.model)
        return line if names is None else line.append(f"\nof {listed(names)}", "dim")

    def _fineness(self) -> str:
        ell = ell_of(self.embedding)
        said = "" if ell is None else f", ell {ell:.3g}"
        return said + (", standardized" if self.embedding is not self.model else "")

    def _took(self) -> str | None:
        took = [f"{name} {seconds_in_words(value)}" for name, value in self.seconds.items()]
        return ", ".join(took) if took else None

    def _components(self) -> RenderableType:
        """Shares of the variance as bars, and how well each eigenvalue is known."""
        embedding = self.embedding
        shares = getattr(embedding, "explained_variance_ratio_", None)
        values = embedding.eigenvalues_ if shares is None else shares
        table = Table.grid(padding=(0, 2))
        for k, value in enumerate(values[:_SHOWN]):
            bar = "━" * max(1, round(_BAR * float(value) / float(values[0])))
            share = f"{value:.3g}" if shares is None else percent(float(value))
            table.add_row(f"{k + 1}", Text(bar, "cyan"), share, self._known(k), style="default")
        if len(values) > _SHOWN:
            table.add_row("", Text(f"and {len(values) - _SHOWN} more", "dim"))
        return table

    def _known(self, k: int) -> Text:
        components = self.verdict.components
        if k >= len(components):
            return Text()
        off = components[k].off
        known = f"± {percent(off)}" if off < 1 else "not known"
        return Text(known, COLOURS[components[k].colour])

    def _written(self) -> RenderableType:
        table = Table.grid(padding=(0, 2))
        for what, path in self.files.items():
            table.add_row(
                Text(what, "dim"), Text(str(path), "bold"), Text(size_in_words(path), "dim"),
                style="default",
            )  # fmt: skip
        return table


def listed(names: Sequence[str]) -> str:
    """The first few."""
    shown = [name for name, end in zip(names, _ends(names), strict=True) if end <= _NAMED]
    left = len(names) - len(shown)
    return ", ".join(shown) + (f" and {left} more" if left else "")


def _ends(names: Sequence[str]) -> Iterable[int]:
    """Where each would end, one after the other."""
    return accumulate(len(name) + 2 for name in names)


def judged(verdict: Verdict) -> RenderableType:
    """The verdict with its sign, and what it rests on."""
    colour = COLOURS[verdict.colour]
    table = Table.grid(padding=(0, 1))
    table.add_row(
        Text(_SIGNS[verdict.colour], f"bold {colour}"), Text(verdict.headline, f"bold {colour}")
    )
    table.add_row("", Text(" ".join(verdict.sentences), "default"))
    return table


def next_lines(commands: Mapping[str, str]) -> Text:
    """What to run next, and why; no command is broken in two, so that it can be copied."""
    width = max(map(len, commands))
    lines = [
        Text.assemble((f"  {why:{width}}  ", "dim"), (command, "bold"))
        for why, command in commands.items()
    ]
    return Text("\n", no_wrap=True).join(lines)
