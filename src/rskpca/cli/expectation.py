"""Predict the time, size and error of the default fit by starting it.

The landmarks are chosen from a sample of the rows, exactly as in the fit. Only the pass over all
rows is left out; its time is extrapolated from a sample.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.text import Text

from .._format import percent, seconds_in_words
from ..data import Source
from ..io import save
from ..scaling.fitting import prepare
from .files import size_of
from .rows import sample

_ROWS = 20_000  # for the time per row and the error


@dataclass(frozen=True)
class Expectation:
    """What the default fit will need, and how accurate it will be."""

    n_samples: int
    n_features: int
    bandwidth: float
    landmarks: int
    seconds: float
    model_size: str
    error: float | None
    error_limit: float | None
    max_error: float

    def __rich__(self) -> Text:
        text = Text(f"{self.n_samples:,} rows x {self.n_features} features", "bold")
        text.append(f", bandwidth {self.bandwidth:.4g}\n", "default")
        text.append(
            f"The fit takes about {seconds_in_words(self.seconds)}. The model has "
            f"{self.landmarks:,} landmarks and {self.model_size}.",
            "default",
        )
        if self.error is not None and self.error_limit is not None:
            missed = self.error_limit > self.max_error
            goal = f", more than the {percent(self.max_error)} asked for" if missed else ""
            text.append(
                f" Its coordinates are expected to differ from those of exact kernel PCA by "
                f"{percent(self.error)} (at most {percent(self.error_limit)}){goal}.",
                "default",
            )
        return text


def expect(estimator: Any, source: Source) -> Expectation:
    """Choose the landmarks for a source, and measure a fit to a sample of its rows."""
    start = time.perf_counter()
    model = prepare(estimator, source)
    chosen = time.perf_counter()
    block = sample(source, _ROWS)
    read = time.perf_counter()
    model.partial_fit(block.rows, sample_weight=block.weights)
    passed = time.perf_counter()
    certificate = model.model_.certificate
    solved = time.perf_counter()
    n_samples = source.counted()
    # Reading and computing overlap.
    whole_pass = max((passed - read) * n_samples / len(block.rows), read - chosen)
    found = None if certificate is None else certificate.embedding
    return Expectation(
        n_samples=n_samples,
        n_features=source.n_features,
        bandwidth=model.kernel_.scale,
        landmarks=model.n_centers_,
        seconds=chosen - start + whole_pass + solved - passed,
        model_size=_size(model),
        error=None if found is None else found.estimate,
        error_limit=None if found is None else found.limit,
        max_error=estimator.max_error,
    )


def _size(model: Any) -> str:
    """Return the size of the model file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.rskpca"
        save(model, path)
        return size_of(path)
