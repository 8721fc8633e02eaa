"""Suggestions for a fitted model, based on its verdict and its retention curve."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .._format import percent
from ..certificate.sampled import MOST_COMPONENTS
from ..density import FadingDensity, ShadowDensity, WindowDensity
from ..density.forecast import Forecast
from ..kernels import RadialKernel
from ..model import FittedEstimator, FittedModel
from ..row_sample import SIZE as ROW_SAMPLE_SIZE
from .advice import HARDLY, LITTLE, Suggestion, alternatives, rounded
from .retention import Retention
from .verdict import GREEN, GREEN_EIGENVALUE, Verdict, has_unknown_error, judge

Array = NDArray[np.floating]

# Below this error, fewer centers may suffice. The error grows roughly as the square of the radius,
# so the next smaller ell doubles it.
_ROOM = 0.01
_UP, _DOWN = 1.4, 0.7  # factors for ell to try next
_NARROW, _WIDE = 0.1, 0.9  # fractions of the variance in all components, and in the first alone
_MANY_POINTS = 1000  # kernel values per new row above which a smaller basis is useful


def suggest(
    fitted: FittedEstimator, rows: Array | None = None, retention: Retention | None = None
) -> tuple[Suggestion, ...]:
    """Suggest what to try next with a fitted model, starting with the most useful change."""
    fit = _Fit(fitted, judge(fitted.model), retention)
    rules = [
        _estimate,
        _tie,
        _smaller_error,
        _fewer_centers,
        _smaller_basis,
        _components,
        _bandwidth,
    ]
    # Some suggestions need a forecast based on a sample of the fitted rows after preprocessing.
    if retention is not None and rows is not None:
        rules[3:3] = [_comparison, lambda fit: _less_data(fit, _Sample(fit, retention, rows))]
    return tuple(suggestion for rule in rules for suggestion in rule(fit))


@dataclass(frozen=True, eq=False)
class _Fit:
    """A fitted model with its verdict and, if known, its retention curve."""

    fitted: FittedEstimator
    verdict: Verdict
    retention: Retention | None

    @property
    def model(self) -> FittedModel:
        return self.fitted.model

    @property
    def params(self) -> dict[str, Any]:
        return self.fitted.embedding.get_params()

    @property
    def ell(self) -> float | None:
        """Return the ell of the model if it is finite, else None."""
        ell = self.model.ell
        return ell if ell is not None and np.isfinite(ell) else None

    @property
    def is_inaccurate(self) -> bool:
        return self.verdict.color in ("amber", "red")

    def outlook(self, ell: float) -> str:
        """Return a sentence on the number of centers at another ell, or "" if there is no curve."""
        if self.retention is None:
            return ""
        return f" At ell = {ell:g}, about {self.retention.at(ell):,.0f} centers would be kept."

    def change(self, title: str, reason: str, **params: Any) -> Suggestion:
        """Suggest other parameters for the embedding itself."""
        return Suggestion(title, reason, self.code(params), params)

    def code(self, params: Mapping[str, Any]) -> str:
        """Return Python code for the embedding with other parameters."""
        changed = clone(self.fitted.embedding).set_params(**params)
        text = " ".join(repr(changed).split())
        return text.replace(type(changed).__name__, self.fitted.name, 1)

    def with_ell(self, title: str, reason: str, ell: float | str, **tol: float) -> Suggestion:
        """Suggest another ell for the embedding, its density, or the density of a window."""
        params = self.params
        changes: dict[str, Any] = {"ell": ell}
        if params["density"] is not None or tol:
            where = "density__density" if "density__density" in params else "density"
            density = ShadowDensity() if params[where] is None else clone(params[where])
            density.set_params(ell=ell, tol=tol.get("tol"), max_centers=None, error=None)
            if tol and not density.sample_size:  # the estimate needs a row sample
                density.set_params(sample_size=ROW_SAMPLE_SIZE)
            changes = {"ell": None, where: density}
        return Suggestion(title, reason, self.code(changes), tol or {"ell": ell})

    def with_bandwidth(self, title: str, reason: str, bandwidth: float) -> Suggestion:
        """Suggest another bandwidth, using the parameter that currently defines it."""
        value, params = rounded(bandwidth), self.params
        names = ("kernel", "density__kernel", "density__density__kernel")
        held = [name for name in names if params.get(name) is not None]
        named = held in ([], ["kernel"]) and not isinstance(params["kernel"], RadialKernel)
        changes: dict[str, Any] = {"gamma": None} if named else {}
        if named and "bandwidth" in params:
            changes["bandwidth"] = value
        else:
            kernel = clone(self.model.kernel).set_params(bandwidth=value)
            changes |= dict.fromkeys(held, kernel)
        return Suggestion(title, reason, self.code(changes), {"bandwidth": value})


class _Sample:
    """Sampled rows that implement :class:`Data`, with a retention curve as the forecast."""

    def __init__(self, fit: _Fit, retention: Retention, rows: Array) -> None:
        self.rows, self.retention = rows, retention
        self.n_samples = max(round(retention.n_samples), len(rows))
        self.n_components = len(fit.model.eigenvalues)
        self.kernel = fit.model.kernel

    def centers(self, radius: float) -> Forecast:
        value = self.retention.at(self.kernel.scale / radius)
        return Forecast(value, value, value)


def _estimate(fit: _Fit) -> Iterator[Suggestion]:
    """Suggest keeping a row sample, if the density supports it."""
    if fit.verdict.components and fit.params.get("density__sample_size") == 0:
        yield fit.change(
            "An estimate of the error",
            f"With a sample of {ROW_SAMPLE_SIZE:,} rows, the certificate estimates the error of "
            "the coordinates, which is often much smaller than the guaranteed bounds suggest.",
            density__sample_size=ROW_SAMPLE_SIZE,
        )


def _tie(fit: _Fit) -> Iterator[Suggestion]:
    """Suggest a number of components that does not separate nearly equal eigenvalues."""
    certificate = fit.model.certificate
    if certificate is None or certificate.better_components is None:
        return
    r, better = len(certificate.eigenvalues), certificate.better_components
    yield fit.change(
        "More components" if better > r else "Fewer components",
        f"Components {r} and {r + 1} have nearly equal eigenvalues, so the choice between them is "
        f"arbitrary. With {better} components, the error is at least three times smaller.",
        n_components=better,
    )


def _smaller_error(fit: _Fit) -> Iterator[Suggestion]:
    """Suggest ways to reduce the error."""
    if not fit.is_inaccurate or fit.model.landmarks:  # max_error determines the landmarks
        return
    model = fit.model
    scale = fit.fitted.bandwidth
    if model.certificate is not None and has_unknown_error(model.certificate):
        if scale is not None:
            yield fit.with_bandwidth(
                "A larger bandwidth, to estimate the error",
                "With this bandwidth, the random walk connects too few of the sampled rows.",
                2 * scale,
            )
    elif not model.is_kernel_pca:
        reason = "Rows then move less when they are replaced by their centers."
        yield from _scale_ell(fit, _UP, "A larger ell", reason)
    elif not model.system.exact:
        yield _second_pass(fit)
        yield from _tolerance(fit)
    elif len(model.basis) < model.n_centers:
        yield fit.change(
            "All centers as the basis",
            "Only the part of the data outside the span of the basis is missing, and using all "
            f"{model.n_centers:,} centers reduces it. Each new row then requires "
            f"{model.n_centers:,} kernel values.",
            basis=None,
        )
    else:
        yield from _scale_ell(
            fit,
            _UP,
            "A larger ell",
            "Only the part of the data outside the span of the centers is missing, and more "
            "centers reduce it.",
        )


def _scale_ell(fit: _Fit, factor: float, title: str, reason: str) -> Iterator[Suggestion]:
    """Suggest another ell, and describe its effect."""
    if fit.ell is not None:
        ell = rounded(factor * fit.ell)
        yield fit.with_ell(title, f"{reason}{fit.outlook(ell)}", ell)


def _second_pass(fit: _Fit) -> Suggestion:
    """Suggest using the rows themselves in the eigenproblem."""
    expiring = isinstance(fit.params.get("density"), WindowDensity | FadingDensity)
    title = "A second pass over the data"
    reason = (
        "So far, each row is replaced by its center. A second pass uses the rows themselves: then "
        "only their part outside the span of the centers is missing, and the error is usually much "
        "smaller. It requires one kernel value for each pair of a row"
        f"{' of the window' if expiring else ''} and one of the "
        f"{fit.model.n_centers:,} centers."
    )
    if expiring:
        code = "model.refine_on(rows)  # the current rows"
        return Suggestion(title, reason, code, {"refine": "nystrom"})
    return fit.change(title, reason, basis=None, refine="nystrom")


def _tolerance(fit: _Fit) -> Iterator[Suggestion]:
    """Suggest increasing ell until the error is small enough."""
    if fit.model.ell is None or not fit.model.is_kernel_pca:
        return
    tol, purpose = _target(fit)
    largest = "" if fit.retention is None else fit.outlook(rounded(fit.retention.ells[-1]))
    yield fit.with_ell(
        "A larger ell, until the error is small",
        f"{purpose}. The number of centers this requires is known only after the fit.{largest}",
        "auto",
        tol=tol,
    )


def _target(fit: _Fit) -> tuple[float, str]:
    """Return the error at which the model becomes green, and a sentence that explains it."""
    if len(fit.model.eigenvalues) <= MOST_COMPONENTS:
        return GREEN, (
            "With this density, ell increases until the error of the coordinates is at most "
            f"{percent(GREEN)} with 95% confidence"
        )
    tol = float(f"{GREEN_EIGENVALUE * fit.verdict.components[-1].value:.2g}")
    return tol, (
        f"To know the last eigenvalue to within {percent(GREEN_EIGENVALUE)}, the error of the "
        f"operator must be below {tol:g}. With this density, ell increases until it is"
    )


def _comparison(fit: _Fit) -> Iterator[Suggestion]:
    """Suggest a comparison for models without a certificate."""
    model = fit.model
    if fit.verdict.color != "none":
        return
    if model.landmarks:
        yield Suggestion(
            "A model with an error certificate",
            "Rayleigh-Ritz on the centers of a reduced set is as accurate as landmarks, and has a "
            "certificate.",
            f"ReducedSetKernelPCA({len(model.eigenvalues)}, kernel={model.kernel!r}, "
            'refine="nystrom")',
        )
    else:
        yield from _scale_ell(
            fit,
            _UP,
            "A larger ell, to compare",
            "If plots and eigenvalues stay the same, the current ell is large enough, and a "
            "smaller one may suffice.",
        )


def _less_data(fit: _Fit, sample: _Sample) -> Iterator[Suggestion]:
    """Suggest a wider kernel or landmarks for data that compress little."""
    model = fit.model
    kept = model.n_centers / sample.retention.n_samples
    if fit.ell is None or kept <= LITTLE:
        return
    why = f"{percent(kept)} of the rows are kept. "
    for other in alternatives(sample, fit.ell):
        if "bandwidth" in other.changes:
            yield fit.with_bandwidth(other.title, why + other.reason, other.changes["bandwidth"])
        elif model.is_kernel_pca and other.changes["n_centers"] < HARDLY * model.n_centers:
            yield Suggestion(other.title, why + other.reason, other.code, other.changes)


def _fewer_centers(fit: _Fit) -> Iterator[Suggestion]:
    """Suggest a smaller ell if the errors are well below the target."""
    model, error = fit.model, fit.verdict.error
    if error is not None and error <= _ROOM and not model.system.exact:
        yield from _scale_ell(
            fit,
            _DOWN,
            "A smaller ell",
            f"The error of the coordinates is below {percent(_ROOM)}, so fewer than "
            f"{model.n_centers:,} centers may suffice; check the new certificate.",
        )


def _smaller_basis(fit: _Fit) -> Iterator[Suggestion]:
    """Suggest fewer points for embedding new rows if the error is small."""
    points = len(fit.model.basis)
    if fit.params.get("basis", "unknown") is not None or points < _MANY_POINTS or fit.is_inaccurate:
        return
    included = " The certificate includes it."
    yield fit.change(
        "A smaller basis, for faster embedding of new rows",
        f"Each new row requires {points:,} kernel values. A basis chosen from the centers requires "
        f"fewer and adds little error.{included if fit.verdict.components else ''}",
        basis="auto",
    )


def _components(fit: _Fit) -> Iterator[Suggestion]:
    """Suggest more or fewer components."""
    ratio = fit.model.explained_variance_ratio
    lost = [k for k, c in enumerate(fit.verdict.components) if c.low <= 0]
    if any(_tie(fit)):
        return
    if lost and lost[0] > 0:
        yield fit.change(
            "Fewer components",
            f"Starting with component {lost[0] + 1}, the error may be as large as the eigenvalue.",
            n_components=lost[0],
        )
    elif ratio is not None and len(ratio) > 1 and ratio[-1] > 0.5 * ratio[0]:
        yield Suggestion(
            "More components",
            f"The last component still explains {percent(float(ratio[-1]))} of the variance, and "
            f"the first {percent(float(ratio[0]))}: the eigenvalues have not decayed yet. Smaller "
            "eigenvalues are less accurate.",
            f"n_components={2 * len(ratio)}",
            {"n_components": 2 * len(ratio)},
        )


def _bandwidth(fit: _Fit) -> Iterator[Suggestion]:
    """Suggest another bandwidth if the kernel is nearly linear or nearly diagonal."""
    ratio, scale = fit.model.explained_variance_ratio, fit.fitted.bandwidth
    if ratio is None or scale is None or "kernel" not in fit.params:
        return
    if ratio[0] > _WIDE:
        yield fit.with_bandwidth(
            "A smaller bandwidth",
            f"The first component explains {percent(float(ratio[0]))} of the variance: a kernel "
            "this wide is nearly linear and hides the structure within groups.",
            scale / 2,
        )
    elif len(ratio) > 1 and ratio.sum() < _NARROW:
        yield fit.with_bandwidth(
            "A larger bandwidth, for more variance in few components",
            f"All {len(ratio)} components together explain {percent(float(ratio.sum()))} of the "
            "variance: with a kernel this narrow, rows have little in common.",
            2 * scale,
        )
