"""The parts of a model that a file may hold, and what they must be like."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import numpy as np
from scipy.spatial import KDTree

from .. import kernels, spectral
from .._core.fourier import round_up_pairs
from .._core.partition import Partition
from ..baselines.sparse import SparseModel
from ..certificate import Certificate
from ..certificate.levels import Level
from ..model import FittedModel
from ..reduced_set import ReducedSet
from ..spectral.neighbours import NeighbourGraph
from ..spectrum import Spectrum
from ._entries import estimator, value
from ._fields import (
    Field,
    Sizes,
    array,
    doubles,
    every,
    flag,
    floats,
    having,
    is_of,
    maybe,
    number,
    numbers_by_name,
    same_everywhere,
    sequence,
    text,
    thing,
    whole,
)
from .errors import refuse

_MOST_ROWS = 1e150  # whose square is finite

fitted_kernel = every(
    thing("Gaussian", "Laplacian"),
    having("a number for its bandwidth", lambda kernel: kernel.scale),
)


def _operator(value: Any, sizes: Sizes) -> None:
    thing("Plain", "FittedCentered", "Shifted", "FittedMarkov")(value, sizes)
    if not is_of(value, "Plain"):
        sizes.tie("m", sizes.of(value)["m"])


def _loop(value: Any, sizes: Sizes) -> None:
    """A number a center, or 0 for all."""
    if np.ndim(value):
        doubles("m")(value, sizes)
    elif value != 0:
        refuse(f"must be 0 or an array, got {value!r:.60}")


_SYSTEM: dict[str, Field] = {
    "kernel": fitted_kernel,
    "operator": _operator,
    "centers": floats("m", "d"),
    "coefficients": floats("m", "r"),
    "eigenvalues": every(floats("r"), having("no eigenvalue of zero", np.all)),
    "functions": floats("m", "r"),
    "trace": number(),
    "residual": number(),
    "exact": flag,
    "graph": maybe(thing("NeighbourGraph", m="m", d="d")),
}


def _graph_values(graph: NeighbourGraph) -> dict[str, Any]:
    """The tree is made again from its points."""
    return {
        "kernel": graph.kernel,
        "points": np.asarray(graph.tree.data),
        "reach": graph.reach,
        "nearest": graph.nearest,
    }


def _graph(cls: Any, values: dict[str, Any]) -> Any:
    return cls(values["kernel"], KDTree(values["points"]), values["reach"], values["nearest"])


def _nearest(value: Any, sizes: Sizes) -> None:
    whole(1)(value, sizes)
    if value > sizes.found["m"]:
        refuse(f"must be at most the {sizes.found['m']} centers, got {value}")


def _few_pairs(graph: NeighbourGraph) -> None:
    """No more neighbours than a fit would allow; a cut-off is one number."""
    if graph.nearest is not None:
        graph.refuse_many(graph.nearest * graph.tree.n, graph.nearest)
        return
    if not same_everywhere(graph.reach):
        refuse("a cut-off is the same for all centers")
    graph.refuse_far(graph.tree, float(graph.reach[0]))


def _projections(moments: spectral.Moments) -> None:
    """Sums of b(x) with ||b(x)||^2 <= kappa: a solver that they are given to trusts that."""
    n, kappa = moments.total, moments.kernel.kappa
    largest = max(np.abs(moments.first).max() * math.sqrt(kappa), np.abs(moments.second).max())
    if not (n < _MOST_ROWS and largest <= 1.001 * n * kappa):
        refuse("first and second are no sums of projections")


walk = having("the operator of a walk", lambda system: is_of(system.operator, "FittedMarkov"))

_MODEL: dict[str, Field] = {
    "kernel": fitted_kernel,
    "reduced_set": thing("ReducedSet", d="d"),
    "system": thing("EigenSystem", d="d", r="r"),
    "evaluated": thing("EigenSystem", d="d", r="r"),
    "scale": floats("r"),
    "certified": flag,
    "landmarks": flag,
    "known": thing("ReducedSet", d="d"),
    "partition": maybe(thing("Partition", r="r")),
    "offset": maybe(number()),
    "time": maybe(number(0, infinite=True)),
}


def _model_fields(model: Any) -> dict[str, Any]:
    return {f.name: vars(model)[f.name] for f in fields(model) if f.init}


PARTS = (
    value(
        Spectrum,
        {
            "turns": every(
                doubles(2, "p", "d"),
                having("whole tiles of pairs", lambda t: t.shape[1] == round_up_pairs(t.shape[1])),
            ),
            "origin": doubles("d"),
            "sums": array("D", 4, "p"),
            "kernel": fitted_kernel,
        },
    ),
    value(
        ReducedSet,
        {
            "centers": floats("m", "d"),
            "weights": doubles("m"),
            "radius": maybe(number(0)),
            "n_samples": number(0),
            "spacing": maybe(number(0)),
            "displacement": maybe(doubles("m")),
            "scatter": maybe(doubles("m")),
            "residue": doubles("m"),
            "spectrum": maybe(thing("Spectrum", d="d")),
        },
        optional={"lost": number(0)},
    ),
    value(spectral.Plain, {}),
    value(
        spectral.FittedCentered,
        {"shares": doubles("m"), "means": doubles("m"), "mean": number(), "cost": number()},
    ),
    value(spectral.Shifted, {"means": doubles("m"), "shares": doubles("m")}),
    value(
        spectral.FittedMarkov,
        {
            "pull": doubles("m"),
            "reach": every(doubles("m"), having("a positive reach", lambda s: (s > 0).all())),
            "loop": _loop,
            "n_isolated": whole(0),
        },
    ),
    value(spectral.EigenSystem, _SYSTEM),
    value(FittedModel, _MODEL, take=_model_fields),
    value(
        SparseModel,
        {**_MODEL, "kept_weights": doubles("k"), "noise": number(0)},
        take=_model_fields,
    ),
    value(
        spectral.Moments,
        {
            "kernel": fitted_kernel,
            "basis": floats("b", "d"),
            "columns": doubles("b", "b"),
            "total": number(0),
            "first": doubles("b"),
            "second": doubles("b", "b"),
        },
        settle=_projections,
    ),
    value(
        Level,
        {
            "name": text,
            "mmd": maybe(number(infinite=True)),
            "operator": maybe(number(infinite=True)),
            "eigenvalue": maybe(number(infinite=True)),
            "confidence": number(0),
            "meaning": text,
            "missing": text,
            "estimate": maybe(numbers_by_name),
        },
    ),
    value(
        Certificate,
        {
            "levels": sequence(tuple, thing("Level")),
            "confidence": number(0),
            "centered": flag,
            "n_samples": number(0),
            "n_centers": whole(1, "m"),
            "radius": maybe(number(0)),
            "ell": maybe(number(0, infinite=True)),
            "eigenvalues": floats("r"),
            "certain": floats("r", 2),
            "likely": floats("r", 2),
            "certain_angles": floats("r", finite=False),
            "likely_angles": floats("r", finite=False),
            "rayleigh": maybe(floats("r")),
        },
    ),
    value(Partition, {"directions": doubles("r", "k"), "offsets": doubles("k"), "absolute": flag}),
    value(
        NeighbourGraph,
        {
            "kernel": fitted_kernel,
            "points": doubles("m", "d"),
            "reach": doubles("m"),
            "nearest": maybe(_nearest),
        },
        take=_graph_values,
        build=_graph,
        settle=_few_pairs,
    ),
    estimator(kernels.Gaussian, {}),
    estimator(kernels.Laplacian, {}),
)
