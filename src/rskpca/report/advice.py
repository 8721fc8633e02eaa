"""What to try next: rules from the numbers of a fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..planning.advice import HARDLY, LITTLE, WELL, compressing_bandwidth, landmarks
from ..planning.discovery import Forecast, forecast
from ..planning.report import percent
from ..planning.retention import enough_rows
from .subject import Subject
from .verdict import GREEN, Verdict

_MUCH_ROOM = 0.02  # an error of this share of every eigenvalue leaves room for fewer centers
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


def _sharper(subject: Subject, verdict: Verdict) -> Iterator[Advice]:
    """Ell up, or the data themselves in the operator, where the certificate is not green."""
    if verdict.colour not in ("amber", "red"):
        return
    wanted = GREEN * verdict.components[-1].value
    count = len(verdict.components)
    if not _is_exact(subject):
        yield Advice(
            "Two scales, for a much smaller error",
            "The reduced set chooses a few points, and a second reading of the data puts the "
            "data themselves in the operator. Errors are then far below those of the reduced "
            "set alone, as a rule below 1%, and the model is smaller.",
            f'ReducedSetKernelPCA({count}, basis="auto", refine="nystrom")',
        )
        yield Advice(
            "Ell up",
            f"For the last eigenvalue to be known to {percent(GREEN)} the error must be below "
            f"{wanted:.2g}. Let ell grow until its estimate is.{_at_larger_ell(subject)}",
            f'ReducedSetKernelPCA({count}, density=ShadowDensity(ell="auto", tol={wanted:.2g}))',
        )
    else:
        yield Advice(
            "A larger basis",
            "All that is missing is what the basis cannot hold; a larger one holds more.",
            f'ReducedSetKernelPCA({count}, basis=0.5, refine="nystrom")',
        )


def _is_exact(subject: Subject) -> bool:
    certificate = subject.certificate
    return certificate is not None and any(level.name == "exact" for level in certificate.levels)


def _at_larger_ell(subject: Subject) -> str:
    curve = subject.retention
    if curve.ell is None:
        return ""
    ell, m = curve.ells[-1], curve.n_centers[-1]
    return f" At ell = {ell:g} about {m:,.0f} centers are kept ({percent(m / curve.n_samples)})."


def _other_centers(subject: Subject, verdict: Verdict) -> Iterator[Advice]:
    """Without a certificate a comparison is all there is."""
    if verdict.colour != "none":
        return
    curve = subject.retention
    if curve.ell is not None:
        ell = 1.4 * curve.ell
        yield Advice(
            "Ell up, and compare",
            f"At ell = {ell:g} about {curve.at(ell):,.0f} centers are kept. If pictures and "
            "eigenvalues stay as they are, ell is large enough; if so, try a smaller one.",
            f"ell={ell:g}",
        )
    elif hasattr(subject.embedding, "landmarks_"):
        yield Advice(
            "A model that knows its error",
            "Rayleigh-Ritz on centers of the reduced set is as accurate as landmarks are, and "
            "has a certificate.",
            f'ReducedSetKernelPCA({len(subject.embedding.eigenvalues_)}, basis="auto", '
            'refine="nystrom")',
        )


def _little_compression(subject: Subject, verdict: Verdict) -> Iterator[Advice]:
    """A wider kernel, or landmarks."""
    ell = subject.ell
    if ell is None or not np.isfinite(ell) or subject.kept <= LITTLE:
        return
    probe = _Probe(subject)
    how = "hardly" if subject.kept > HARDLY else "little"
    wider = compressing_bandwidth(probe, ell)
    if wider is not None:
        yield Advice(
            "A larger bandwidth",
            f"The data compress {how}: {percent(subject.kept)} of the rows are kept. With this "
            f"bandwidth about {percent(WELL)} are, at the same ell. Only if it suits the task: "
            "a wider kernel sees coarser shapes.",
            f"bandwidth={wider:.3g}",
        )
    enough = landmarks(probe)
    yield Advice(
        "Landmarks",
        f"Or keep the bandwidth: about {enough:,} landmarks are enough for "
        f"{probe.n_components} components.",
        f"NystromKernelPCA({probe.n_components}, n_centers={enough})",
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
    ell = 0.7 * curve.ell
    yield Advice(
        "Ell down",
        f"Every eigenvalue is known to {percent(_MUCH_ROOM)} or better. At ell = {ell:g} about "
        f"{curve.at(ell):,.0f} centers would do instead of {subject.n_centers:,}.",
        f"ell={ell:g}",
    )


def _smaller(subject: Subject, verdict: Verdict) -> Iterator[Advice]:
    """Fewer points for new rows."""
    embedding = subject.embedding
    points = len(embedding.basis_)
    if getattr(embedding, "basis", "none") is not None or points < _MANY_POINTS:
        return
    yield Advice(
        "A smaller basis",
        f"Each new row costs {points:,} kernel values. With a basis chosen from the centers it "
        "costs fewer, and the added error is small against the one that is there.",
        'basis="auto"',
    )


def _components(subject: Subject, verdict: Verdict) -> Iterator[Advice]:
    """More, or fewer, components."""
    ratio = getattr(subject.embedding, "explained_variance_ratio_", None)
    lost = [k + 1 for k, c in enumerate(verdict.components) if c.low <= 0]
    if lost and lost[0] > 1:
        yield Advice(
            "Fewer components",
            f"From component {lost[0]} on the error may be as large as the eigenvalue.",
            f"n_components={lost[0] - 1}",
        )
    elif ratio is not None and len(ratio) > 1 and ratio[-1] > 0.5 * ratio[0]:
        yield Advice(
            "More components",
            f"The last component still holds {percent(float(ratio[-1]))} of the variance, the "
            f"first {percent(float(ratio[0]))}: the spectrum has not fallen yet.",
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
            f"bandwidth={scale / 2:.3g}",
        )
    elif len(ratio) > 1 and ratio.sum() < _NARROW:
        yield Advice(
            "A larger bandwidth, to see more in few components",
            f"All {len(ratio)} components hold {percent(float(ratio.sum()))} of the variance: "
            "for so narrow a kernel rows have little in common.",
            f"bandwidth={2 * scale:.3g}",
        )
