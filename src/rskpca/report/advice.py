"""What to try next: rules from the numbers of a fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from .._format import percent
from ..density import FadingDensity, ShadowDensity, WindowDensity
from ..kernels import RadialKernel
from ..planning.advice import HARDLY, LITTLE, WELL, landmarks
from ..planning.retention import Forecast, enough_rows, forecast
from .subject import Subject, public_class
from .verdict import GREEN, Verdict

_MUCH_ROOM = 0.02  # an error of this share of every eigenvalue leaves room for fewer centers
_UP, _DOWN = 1.4, 0.7  # of an ell
_NARROW, _WIDE = 0.1, 0.9  # of the variance, in all components and in the first
_MANY_POINTS = 1000
_PROBED = 2000


class Advice(NamedTuple):
    """Something to try, why, and how it is written."""

    title: str
    why: str
    code: str = ""


def advise(subject: Subject, verdict: Verdict) -> list[Advice]:
    """Whatever applies, the most useful first."""
    rules = (_sharper, _other_centers, _little_compression, _coarser, _smaller, _components, _width)
    return [advice for rule in rules for advice in rule(subject, verdict)]


def _changed(embedding: Any, **params: Any) -> str:
    """The model with some parameters changed, as it is written."""
    made = clone(embedding).set_params(**params)
    return " ".join(repr(public_class(made)(**made.get_params(deep=False))).split())


def _with_shadow(embedding: Any, ell: float | str, tol: float | None = None) -> str:
    """The model with another ell, wherever its ell stands."""
    params = embedding.get_params()
    if params["density"] is None and tol is None:
        return _changed(embedding, ell=ell)
    place = "density__density" if "density__density" in params else "density"
    density = ShadowDensity() if params[place] is None else clone(params[place])
    density.set_params(ell=ell, tol=tol, max_centers=None)
    return _changed(embedding, **{"ell": None, place: density})


def _with_bandwidth(embedding: Any, bandwidth: float) -> str:
    """The model with another bandwidth, wherever its kernel stands."""
    value, params = float(f"{bandwidth:.3g}"), embedding.get_params()
    wanted = clone(embedding.kernel_).set_params(bandwidth=value)
    names = ("kernel", "density__kernel", "density__density__kernel")
    own = [name for name in names if params.get(name) is not None]
    if own in ([], ["kernel"]) and not isinstance(params["kernel"], RadialKernel):
        return _changed(embedding, bandwidth=value, gamma=None)
    return _changed(embedding, **dict.fromkeys(own, wanted))


def _sharper(subject: Subject, verdict: Verdict) -> Iterator[Advice]:
    """What narrows the certificate, where it is not green."""
    if verdict.colour not in ("amber", "red"):
        return
    if not _is_exact(subject):
        yield _second_reading(subject)
        yield from _smaller_error(subject, verdict)
    elif len(subject.embedding.basis_) < subject.n_centers:
        yield Advice(
            "All centers as the basis",
            "All that is missing is what the basis cannot hold, and the certificate counts the "
            f"whole of it. All {subject.n_centers:,} centers hold more; a new row then costs as "
            "many kernel values.",
            _changed(subject.embedding, basis=None),
        )
    else:
        yield from _more_centers(subject)


def _is_exact(subject: Subject) -> bool:
    certificate = subject.certificate
    return certificate is not None and any(level.name == "exact" for level in certificate.levels)


def _second_reading(subject: Subject) -> Advice:
    """The data themselves in the operator."""
    passing = isinstance(subject.embedding.density_, WindowDensity | FadingDensity)
    return Advice(
        "Read the data a second time",
        "So far each row counts as if it were at its center. A second reading puts the rows "
        "themselves in: then only what the centers cannot hold is missing, and the certificate "
        "always holds, without an estimate. It costs about as many kernel values as "
        f"{'this window' if passing else 'all rows'} times {subject.n_centers:,} centers.",
        "model.refine_on(rows)  # the rows that count now"
        if passing
        else _changed(subject.embedding, basis=None, refine="nystrom"),
    )


def _smaller_error(subject: Subject, verdict: Verdict) -> Iterator[Advice]:
    """Ell as the error wants it."""
    if subject.ell is None:
        return
    wanted = float(f"{GREEN * verdict.components[-1].value:.2g}")
    curve = subject.retention
    yield Advice(
        "Ell up, until the error is small",
        f"For the last eigenvalue to be known to {percent(GREEN)} the error must be below "
        f"{wanted:g}. This lets ell grow until its estimate is. How far that is shows only "
        f"then: at ell = {curve.ells[-1]:.3g} it is about {curve.n_centers[-1]:,.0f} centers, "
        f"{percent(curve.n_centers[-1] / curve.n_samples)} of the rows.",
        _with_shadow(subject.embedding, "auto", wanted),
    )


def _more_centers(subject: Subject) -> Iterator[Advice]:
    """A larger span."""
    if subject.ell is None or not np.isfinite(subject.ell):
        return
    ell = float(f"{_UP * subject.ell:.3g}")
    yield Advice(
        "Ell up",
        "All that is missing is what the centers cannot hold; more of them hold more. At "
        f"ell = {ell:g} there are about {subject.retention.at(ell):,.0f}.",
        _with_shadow(subject.embedding, ell),
    )


def _other_centers(subject: Subject, verdict: Verdict) -> Iterator[Advice]:
    """Without a certificate a comparison is all there is."""
    if verdict.colour != "none":
        return
    curve = subject.retention
    if curve.ell is not None:
        ell = float(f"{_UP * curve.ell:.3g}")
        yield Advice(
            "Ell up, and compare",
            f"At ell = {ell:g} about {curve.at(ell):,.0f} centers are kept. If pictures and "
            "eigenvalues stay as they are, the ell of this model is large enough, and a smaller "
            "one may be.",
            _with_shadow(subject.embedding, ell),
        )
    elif hasattr(subject.embedding, "landmarks_"):
        yield Advice(
            "A model that knows its error",
            "Rayleigh-Ritz on centers of the reduced set is as accurate as landmarks are, and "
            "has a certificate.",
            f"ReducedSetKernelPCA({len(subject.embedding.eigenvalues_)}, "
            f'kernel={subject.embedding.kernel_!r}, refine="nystrom")',
        )


def _little_compression(subject: Subject, verdict: Verdict) -> Iterator[Advice]:
    """A wider kernel, or landmarks."""
    ell = subject.ell
    if ell is None or not np.isfinite(ell) or subject.kept <= LITTLE:
        return
    how = "hardly" if subject.kept > HARDLY else "little"
    why = f"The data compress {how}: {percent(subject.kept)} of the rows are kept."
    found = _ell_that_keeps(subject, WELL)
    if found is not None:
        wider = float(f"{subject.embedding.kernel_.scale * ell / found:.3g}")
        yield Advice(
            "A larger bandwidth, for fewer centers",
            f"{why} With a bandwidth of {wider:g} about {percent(WELL)} are, at the same ell. "
            "Only if it suits the task: a wider kernel sees coarser shapes, and fewer centers "
            "are less accurate, so that the certificate gets wider.",
            _with_bandwidth(subject.embedding, wider),
        )
    if hasattr(subject.embedding, "explained_variance_ratio_"):
        yield from _landmarks(subject, why)


def _ell_that_keeps(subject: Subject, share: float) -> float | None:
    """Where the curve says that this share is kept; None where it keeps more everywhere.

    Centers go by the radius, the bandwidth over ell: the curve of one bandwidth over ell is that
    of one ell over bandwidths.
    """
    curve = subject.retention
    logs, wanted = np.log(curve.n_centers), np.log(share * curve.n_samples)
    return None if logs[0] > wanted else float(np.exp(np.interp(wanted, logs, np.log(curve.ells))))


def _landmarks(subject: Subject, why: str) -> Iterator[Advice]:
    probe = _Probe(subject)
    enough = landmarks(probe)
    if enough < HARDLY * subject.n_centers:
        yield Advice(
            "Landmarks",
            f"{why} With the same bandwidth about {enough:,} landmarks are enough for "
            f"{probe.n_components} components; such a model has no certificate.",
            f"NystromKernelPCA({probe.n_components}, kernel={probe.kernel!r}, n_centers={enough})",
        )


class _Probe:
    """A sample of the rows, for the rules of :mod:`rskpca.planning.advice`."""

    def __init__(self, subject: Subject) -> None:
        some = min(_PROBED, enough_rows(subject.rows.shape[1]))
        self.rows = subject.rows[:some]
        self.n_samples = max(round(subject.n_rows), len(self.rows))
        self.n_components = len(subject.embedding.eigenvalues_)
        self.kernel = subject.embedding.kernel_

    def centers(self, radius: float) -> Forecast:
        return forecast(self.rows, radius, self.n_samples, np.random.RandomState(0))


def _coarser(subject: Subject, verdict: Verdict) -> Iterator[Advice]:
    """Ell down, where the certificate has room."""
    curve = subject.retention
    room = verdict.components and max(c.off for c in verdict.components) <= _MUCH_ROOM
    if not room or curve.ell is None or _is_exact(subject):
        return
    ell = float(f"{_DOWN * curve.ell:.3g}")
    yield Advice(
        "Ell down",
        f"Every eigenvalue is known to {percent(_MUCH_ROOM)} or better. At ell = {ell:g} about "
        f"{curve.at(ell):,.0f} centers stand in for {subject.n_centers:,}; the certificate of that "
        "model says whether they are enough.",
        _with_shadow(subject.embedding, ell),
    )


def _smaller(subject: Subject, verdict: Verdict) -> Iterator[Advice]:
    """Fewer points for new rows."""
    embedding = subject.embedding
    points = len(embedding.basis_)
    if getattr(embedding, "basis", "none") is not None or points < _MANY_POINTS:
        return
    if verdict.colour in ("amber", "red"):  # first the error, then the speed
        return
    certified = (
        " The certificate gets wider: it counts all that the basis does not hold."
        if verdict.components
        else ""
    )
    yield Advice(
        "A smaller basis, for fast new rows",
        f"Each new row costs {points:,} kernel values. With a basis chosen from the centers it "
        f"costs fewer, and the added error is small.{certified}",
        _changed(embedding, basis="auto"),
    )


def _components(subject: Subject, verdict: Verdict) -> Iterator[Advice]:
    """More, or fewer, components."""
    ratio = getattr(subject.embedding, "explained_variance_ratio_", None)
    lost = [k + 1 for k, c in enumerate(verdict.components) if c.low <= 0]
    if lost and lost[0] > 1:
        yield Advice(
            "Fewer components",
            f"From component {lost[0]} on the error may be as large as the eigenvalue.",
            _changed(subject.embedding, n_components=lost[0] - 1),
        )
    elif ratio is not None and len(ratio) > 1 and ratio[-1] > 0.5 * ratio[0]:
        yield Advice(
            "More components",
            f"The last component still holds {percent(float(ratio[-1]))} of the variance, the "
            f"first {percent(float(ratio[0]))}: the spectrum has not fallen yet. Smaller "
            "eigenvalues are known less well.",
            f"n_components={2 * len(ratio)}",
        )


def _width(subject: Subject, verdict: Verdict) -> Iterator[Advice]:
    """A kernel that sees one thing only, or nothing in common."""
    ratio = getattr(subject.embedding, "explained_variance_ratio_", None)
    if ratio is None:
        return
    scale = subject.embedding.kernel_.scale
    if ratio[0] > _WIDE:
        yield Advice(
            "A smaller bandwidth",
            f"The first component holds {percent(float(ratio[0]))} of the variance: so wide a "
            "kernel is nearly linear and hides what lies within groups.",
            _with_bandwidth(subject.embedding, scale / 2),
        )
    elif len(ratio) > 1 and ratio.sum() < _NARROW:
        yield Advice(
            "A larger bandwidth, to see more in few components",
            f"All {len(ratio)} components hold {percent(float(ratio.sum()))} of the variance: "
            "for so narrow a kernel rows have little in common.",
            _with_bandwidth(subject.embedding, 2 * scale),
        )
