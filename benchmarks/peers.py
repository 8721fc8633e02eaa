"""Fits of other packages with the solver and number of threads that are fastest on these rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from rskpca import RadialKernel
from rskpca.baselines.methods import METHODS, Setting

from .datasets import Floats


def fit_fastest(
    name: str,
    X: Floats,
    n_components: int,
    kernel: RadialKernel,
    size: float | None = None,
    *,
    rounds: int = 2,
    warm: bool = True,
) -> Callable[[], Any]:
    """Return a call without arguments that fits a registered method with its fastest setting.

    With ``warm``, each setting is fitted to a few rows first.
    """
    method = METHODS[name]

    def fit(setting: Setting, rows: Floats = X, size: float | None = size) -> Any:
        return method.make(n_components, kernel, size).set_params(**setting).fit(rows)

    if warm:
        for setting in method.settings(len(X)):
            fit(setting, X[:500], size and min(size, 100))
    return partial(fit, method.fastest(len(X), fit, rounds))


def describe(call: Callable[[], Any]) -> str:
    """Return the setting of a call, such as "eigen_solver=arpack"."""
    (setting,) = call.args  # type: ignore[attr-defined]
    chosen = {name.rpartition("__")[2]: value for name, value in setting.items()}
    return ", ".join(f"{name}={value}" for name, value in chosen.items() if value is not None)
