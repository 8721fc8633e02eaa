"""Which model: the options that make an estimator."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from .. import (
    DiffusionMaps,
    Gaussian,
    Laplacian,
    LaplacianEigenmaps,
    NormalizedCut,
    ReducedSetKernelPCA,
    ShadowDensity,
)
from ..kernels import RadialKernel
from .models import last_step, loaded


class Kernel(StrEnum):
    """Radial kernels by name."""

    gaussian = "gaussian"
    laplacian = "laplacian"


class Method(StrEnum):
    """Embeddings by name."""

    kernel_pca = "kernel-pca"
    diffusion_maps = "diffusion-maps"
    laplacian_eigenmaps = "laplacian-eigenmaps"
    normalized_cut = "normalized-cut"


_KERNELS = {Kernel.gaussian: Gaussian, Kernel.laplacian: Laplacian}
_CLASSES: dict[Method, Any] = {
    Method.kernel_pca: ReducedSetKernelPCA,
    Method.diffusion_maps: DiffusionMaps,
    Method.laplacian_eigenmaps: LaplacianEigenmaps,
    Method.normalized_cut: NormalizedCut,
}

Components = Annotated[
    int,
    typer.Option("--components", "-r", min=1, help="Components, or clusters of normalized-cut."),
]
Bandwidth = Annotated[
    float | None, typer.Option(help="Of the kernel; else the median distance.", show_default=False)
]
Standardize = Annotated[
    bool, typer.Option("--standardize", "-s", help="Scale features to mean 0, variance 1.")
]


@dataclass(frozen=True)
class Modelling:  # numpydoc ignore=PR01
    """The options of ``fit``."""

    components: Components = 5
    ell: Annotated[
        float | None, typer.Option(help="Fineness: 3 coarse, 4 usual, 5 fine, inf exact.")
    ] = None
    tol: Annotated[
        float | None, typer.Option(help="The error wanted, such as 0.02, in place of --ell.")
    ] = None
    bandwidth: Bandwidth = None
    kernel: Annotated[Kernel, typer.Option(help="Shape of the kernel.")] = Kernel.gaussian
    method: Annotated[Method, typer.Option(help="Embedding.")] = Method.kernel_pca
    refine: Annotated[
        bool, typer.Option("--refine", help="Read the data twice: a much smaller error.")
    ] = False
    small: Annotated[
        bool, typer.Option("--small", help="Two scales: fewer points, a faster transform.")
    ] = False
    standardize: Standardize = False
    max_centers: Annotated[
        int | None, typer.Option(min=2, help="Bounds memory: coarser when it is reached.")
    ] = None
    like: Annotated[
        Path | None,
        typer.Option(metavar="MODEL", help="Settings, bandwidth, scale of a fitted model."),
    ] = None

    def estimator(self) -> Any:
        """Not fitted; a pipeline if features are standardized."""
        if self.like is not None:
            self._refuse_others()
            return _like(loaded(self.like))
        made = _CLASSES[self.method](self.components, **self._fineness(), **self._accuracy())
        return make_pipeline(StandardScaler(), made) if self.standardize else made

    def asked_kernel(self) -> RadialKernel:
        """With a number for its bandwidth, or "median"."""
        return _KERNELS[self.kernel]("median" if self.bandwidth is None else self.bandwidth)

    def _refuse_others(self) -> None:
        """An error for options beside ``--like``, which nobody would read."""
        for field in fields(self):
            if field.name != "like" and getattr(self, field.name) != field.default:
                option = f"--{field.name.replace('_', '-')}"
                raise typer.BadParameter(f"{option} is the model's own.", param_hint="--like")

    def _fineness(self) -> dict[str, Any]:
        """Kernel and density, or ell alone."""
        if self.tol is not None and self.ell is not None:
            raise typer.BadParameter("give --ell or --tol, not both.", param_hint="--tol")
        kernel = self.asked_kernel()
        if self.tol is None and self.max_centers is None:
            return {"kernel": kernel, "ell": self.ell}
        ell: Any = "auto" if self.tol is not None else self.ell or 4.0
        return {
            "kernel": kernel,
            "density": ShadowDensity(ell=ell, tol=self.tol, max_centers=self.max_centers),
        }

    def _accuracy(self) -> dict[str, str]:
        if self.refine and self.method is not Method.kernel_pca:
            raise typer.BadParameter("only --method kernel-pca takes it.", param_hint="--refine")
        scales = {"basis": "auto"} if self.small else {}
        return scales | ({"refine": "nystrom"} if self.refine else {})


def _like(model: Any) -> Any:
    """An estimator with the parameters of a model, and with its kernel as it is fitted."""
    last = last_step(model)
    if not hasattr(last, "kernel_") or not hasattr(last, "density_"):
        raise TypeError(f"--like takes a fitted embedding on a density, got {last!r}.")
    density = clone(last.density_).set_params(kernel=None)
    if getattr(last.density_, "ell_", None) is not None:
        density.set_params(ell=last.density_.ell_, tol=None)
    estimator = clone(last).set_params(
        kernel=last.kernel_, gamma=None, bandwidth=None, ell=None, density=density
    )
    if not isinstance(model, Pipeline):
        return estimator
    (name, scaler), (last_name, _) = model.steps
    return Pipeline([(name, FrozenEstimator(scaler)), (last_name, estimator)])
