"""Printed bounds, corrected bounds and measured values for the theorems of section 5.

The paper has no such figure. The bounds are valid for every data set, so large data sets are
subsampled to a size at which all pairs of rows can be compared.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rskpca import Gaussian, ReducedSet, ShadowDensity
from rskpca._core import gram
from rskpca.certificate import Level, eigenspaces, eigenvalues, hilbert_schmidt, mmd
from rskpca.pairs import FeaturePairs

from . import protocol, style
from .data.dataset import Floats
from .experiment import SEED, Experiment, Results, Settings
from .workers import Part, run

MAX_ROWS = 3_500
CONFIDENCE = 0.95
N_LEADING = 1  # D of Theorem 5.4; the eigengap is largest there

Values = dict[str, float | None]


class Theorem(NamedTuple):
    """A row of panels: the theorem and the quantity that it bounds."""

    title: str
    quantity: str


THEOREMS = {
    "mmd": Theorem("Theorem 5.1", "MMD"),
    "eigenvalues": Theorem("Theorem 5.2", r"$(\sum_i (\lambda_i - \bar\lambda_i)^2)^{1/2}$"),
    "operator": Theorem("Theorem 5.3", r"$\|K_n - \bar K_n\|_{\mathrm{HS}}$"),
    "eigenspaces": Theorem(
        f"Theorem 5.4, D = {N_LEADING}", r"$\|P^D(K_n) - P^D(\bar K_n)\|_{\mathrm{HS}}$"
    ),
}


def compute(settings: Settings) -> Results:
    """Return bounds and measured values for each available data set, with one row per ell."""
    return protocol.compute_available(
        protocol.TABLE1, settings.quick, partial(_measure_all, settings)
    )


def _measure_all(settings: Settings, names: list[str]) -> Results:
    parts = [Part(f"bounds-{name}", measure, (name,)) for name in names]
    found = run("bounds", parts, settings)
    return {"confidence": CONFIDENCE, "sets": dict(zip(names, found, strict=True))}


def measure(settings: Settings, name: str) -> Results:
    """Return bounds and measured values for all four theorems on one data set."""
    data = protocol.dataset(name, settings.quick)
    exact = Exact.of(protocol.TABLE1[name].kernel, _subsample(data.X))
    rows = [exact.compare(ell) for ell in protocol.ells(settings, every=2)]
    subsample = f"{len(exact.X):,} of {len(data.X):,} rows" if len(exact.X) < len(data.X) else ""
    note = "; ".join(part for part in (data.note, subsample) if part)
    return {"n": len(exact.X), "note": note, "gap": exact.gap, "rows": rows}


def _subsample(X: Floats) -> Floats:
    order = np.random.default_rng(SEED).permutation(len(X))
    return X[np.sort(order[:MAX_ROWS])]


class Exact(NamedTuple):
    """Exact kernel PCA, with the eigenvalues of K / n without and with centering."""

    kernel: Gaussian
    X: Floats
    plain: Floats
    centered: Floats

    @classmethod
    def of(cls, kernel: Gaussian, X: Floats) -> Exact:
        """Decompose the n x n kernel matrix."""
        data = ReducedSet(X, np.ones(len(X)))
        return cls(kernel, X, *(spectrum(kernel, data, center) for center in (False, True)))

    @property
    def gap(self) -> float:
        """Eigengap lambda_D - lambda_{D+1}."""
        return float(self.plain[N_LEADING - 1] - self.plain[N_LEADING])

    def compare(self, ell: float) -> Results:
        """Return bounds and measured values at one ell."""
        found = ShadowDensity(self.kernel, ell).fit(self.X).reduced_set_
        limit = _limits(self.kernel, found)
        return {
            "ell": ell,
            "m": found.n_centers,
            "mmd": self._mmd(ell, found, limit),
            "eigenvalues": self._eigenvalues(ell, found, limit),
            "operator": self._operator(ell, found, limit),
            "eigenspaces": self._eigenspaces(ell, found, limit),
        }

    def _mmd(self, ell: float, found: ReducedSet, limit: Level) -> Values:
        return {
            "printed": mmd.bound(self.kernel, ell),
            "from_data": mmd.from_sums(self.kernel, found),
            "limit": limit.mmd,
            "measured": mmd.measure(self.kernel, self.X, found),
        }

    def _eigenvalues(self, ell: float, found: ReducedSet, limit: Level) -> Values:
        """Compare all n eigenvalues; the operator error is a bound (Hoffman-Wielandt)."""
        return {
            "printed": eigenvalues.bound(self.kernel, ell, printed=True),
            "corrected": eigenvalues.bound(self.kernel, ell),
            "from_data": eigenvalues.from_sums(self.kernel, found),
            "limit": limit.operator,
            "measured": _distance(self.plain, spectrum(self.kernel, found, False)),
            "centered": _distance(self.centered, spectrum(self.kernel, found, True)),
        }

    def _operator(self, ell: float, found: ReducedSet, limit: Level) -> Values:
        return {
            "printed": hilbert_schmidt.bound(self.kernel, ell, printed=True),
            "corrected": hilbert_schmidt.sharp_bound(self.kernel, ell),
            "from_data": hilbert_schmidt.from_sums(self.kernel, found),
            "limit": limit.operator,
            "measured": hilbert_schmidt.measure(self.kernel, self.X, found),
            "centered": hilbert_schmidt.measure(self.kernel, self.X, found, center=True),
        }

    def _eigenspaces(self, ell: float, found: ReducedSet, limit: Level) -> Values:
        """Compare projections; ``printed`` is None if the condition of Theorem 5.4 fails."""
        worst = hilbert_schmidt.bound(self.kernel, ell)
        displaced = hilbert_schmidt.from_sums(self.kernel, found)
        return {
            "printed": eigenspaces.bound(self.kernel, self.gap, ell),
            "unproved": None if worst is None else 2 * worst / self.gap,
            "from_data": _projection_bound(displaced, self.gap),
            "limit": _projection_bound(limit.operator, self.gap),
            "measured": eigenspaces.measure(self.kernel, self.X, found, N_LEADING),
        }


def spectrum(kernel: Gaussian, points: ReducedSet, center: bool) -> Floats:
    """Return all eigenvalues of the weighted kernel matrix divided by n, descending."""
    K = gram.gram(kernel, points.centers, points.centers)
    share = points.weights / points.n_samples
    if center:
        mean = K @ share
        K += share @ mean - mean - mean[:, None]
    root = np.sqrt(share)
    return np.linalg.eigvalsh(root[:, None] * K * root)[::-1]


def _distance(exact: Floats, reduced: Floats) -> float:
    """Return the distance between two spectra, the shorter one padded with zeros."""
    difference = exact.copy()
    difference[: len(reduced)] -= reduced
    return float(np.linalg.norm(difference))


def _limits(kernel: Gaussian, found: ReducedSet) -> Level:
    """Return the limits estimated from pairs of sampled rows."""
    assert found.sample is not None
    points = found.centers[found.sample.labels]
    pairs = FeaturePairs.of(kernel, found.sample, None, points, found.n_samples)
    operator = pairs.operator(CONFIDENCE, center=False).limit
    return Level("sample", pairs.mmd(CONFIDENCE).limit, operator, operator, CONFIDENCE, "")


def _projection_bound(error: float | None, gap: float) -> float | None:
    """Return the Davis-Kahan bound on ||P - P-bar||_HS, or None if it does not apply."""
    sine = None if error is None else eigenspaces.davis_kahan(error, gap)
    return None if sine is None else float(np.sqrt(2) * sine)


LOOKS: dict[str, dict[str, Any]] = {
    "printed": {"label": "bound, as printed", "color": "#D55E00", "linestyle": "-"},
    "unproved": {
        "label": "same formula, condition not met", "color": "#D55E00", "linestyle": ":",
    },
    "corrected": {"label": "bound, corrected", "color": "#000000", "linestyle": (0, (6, 2))},
    "from_data": {
        "label": "bound from measured displacements", "color": "#E69F00",
        "linestyle": (0, (4, 1, 1, 1)),
    },
    "limit": {"label": "95% limit from sampled rows", "color": "#009E73", "marker": "^"},
    "measured": {"label": "measured", "color": "#0072B2", "marker": "o"},
    "centered": {
        "label": "measured, centered", "color": "#0072B2", "marker": "o",
        "markerfacecolor": "white", "linestyle": (0, (1, 1)),
    },
}  # fmt: skip


def draw(numbers: Results, path: Path) -> None:
    """Draw one row of panels per theorem and one column per data set."""
    sets = numbers["sets"]
    shape = len(THEOREMS), len(sets)
    with style.figure(path, *shape, size=(2.9, 2.3), sharex=True, sharey="row") as (figure, panels):
        for (key, theorem), row in zip(THEOREMS.items(), panels, strict=True):
            for ax, (name, found) in zip(row, sets.items(), strict=True):
                _draw_panel(ax, found["rows"], key)
                ax.set_title(f"{theorem.title}: {name}, n = {found['n']:,}", loc="left")
            row[0].set_ylabel(theorem.quantity)
        for ax in panels[-1]:
            ax.set_xlabel(style.ELL)
        style.add_legend(figure, panels, columns=4, note=_note(sets))


def _draw_panel(ax: Any, rows: list[Results], key: str) -> None:
    ells = [row["ell"] for row in rows]
    for name, look in LOOKS.items():
        values = [row[key].get(name) for row in rows]
        if any(value is not None for value in values):
            shown = [np.nan if value is None else value for value in values]
            ax.plot(ells, shown, **({"markersize": 4, "linewidth": 1.3} | look))
    ax.set_yscale("log")


def _note(sets: Results) -> str:
    notes = [f"{name}: {found['note']}" for name, found in sets.items() if found["note"]]
    first = "The kernel is at most 1, so all values are dimensionless"
    return " ".join(f"{note}." for note in [first, *notes])


EXPERIMENTS = {
    "bounds": Experiment(
        "bounds and measured values for all theorems", compute, draw, "pictures/bounds.png"
    )
}
