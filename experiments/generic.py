"""Training time and error of the shadow method for ell within and above the paper's range.

The paper recommends ell = 4 in general and states that training is inefficient for ell > 5, but it
shows only ell = 3 to 5. Speed-ups are relative to the fastest exact kernel PCA.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rskpca.baselines.methods import embedding_error

from . import contenders, style
from .experiment import Experiment, Results, Settings
from .protocol import TABLE1, compute_available, dataset, random_split, time_once
from .workers import Part, run

ELLS = (3.0, 4.0, 5.0, 6.0, 7.0, 8.0)
ROUNDS = 3
EXACT = ("kpca", "sklearn-kpca")


def compute(settings: Settings) -> Results:
    """Return one row per available data set and ell."""
    return compute_available(TABLE1, settings.quick, partial(_measure_all, settings))


def _measure_all(settings: Settings, names: list[str]) -> Results:
    parts = [Part(f"generic-{name}", measure, (name,)) for name in names]
    return {"sets": dict(zip(names, run("generic", parts, settings), strict=True))}


def measure(settings: Settings, name: str) -> Results:
    """Return the times and errors on one split of a data set."""
    data, setup = dataset(name, settings.quick), TABLE1[name]
    split = random_split(len(data.X), 0)
    train, test = data.X[split.train], data.X[split.test]
    contenders.warm_up(train.shape[1], "shadow", *EXACT)
    rounds = 1 if settings.quick else ROUNDS
    make = partial(contenders.make_fastest, rank=setup.rank, kernel=setup.kernel, seed=0, X=train)
    exact = {method: _fit(make(method, size=None), train, rounds) for method in EXACT}
    expected = exact["kpca"][0].transform(test)
    rows = []
    for ell in ELLS:
        model, seconds = _fit(make("shadow", size=ell), train, rounds)
        error = embedding_error(expected, model.transform(test))
        rows.append({"ell": ell, "m": model.n_centers_, "seconds": seconds, "error": error})
    return {
        "n": len(train),
        "note": data.note,
        "exact": {method: seconds for method, (_, seconds) in exact.items()},
        "rows": rows,
    }


def _fit(model: Any, X: Any, rounds: int) -> tuple[Any, float]:
    """Return the fitted model and the median time of a fit."""
    fits = [time_once(model.fit, X) for _ in range(rounds)]
    return fits[0].value, float(np.median([fit.seconds for fit in fits]))


def speedups(found: Results) -> dict[float, float]:
    """Return the training speed-up over the fastest exact method, by ell."""
    fastest = min(found["exact"].values())
    return {row["ell"]: fastest / row["seconds"] for row in found["rows"]}


def draw(numbers: Results, path: Path) -> None:
    """Draw the speed-up and the error vs. ell, with one line per data set."""
    with style.figure(path, 1, 2, size=(4.0, 3.0)) as (figure, panels):
        for name, found in numbers["sets"].items():
            times = speedups(found)
            panels[0][0].plot(list(times), list(times.values()), marker="o", label=name)
            errors = [row["error"] for row in found["rows"]]
            panels[0][1].plot(list(times), errors, marker="o", label=name)
        panels[0][0].axhline(1, color="0.5", linewidth=0.8, linestyle=":")
        panels[0][0].set(ylabel="training speed-up over exact kernel PCA", yscale="log")
        panels[0][1].set(ylabel="relative error of the embedding", yscale="log")
        for ax in panels[0]:
            ax.set_xlabel(style.ELL)
        style.add_titles(panels, ["Training", "Error, same training rows"])
        style.add_legend(figure, panels, note="One split per data set, uncentered, one thread.")


EXPERIMENTS = {
    "generic": Experiment(
        "time and error for ell from 3 to 8", compute, draw, "pictures/generic.png"
    )
}
